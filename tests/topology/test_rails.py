"""Rails, planes and NVSwitches: who meets on which switch, and what stays apart."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import Fabric, clos3, fat_tree, leaf_spine, multi_plane, rail_only, rail_optimised
from netlib.topology.rails import with_nvswitch

LINK, INSIDE = Link(1e-6, 50e9), Link(1e-7, 450e9)


def graph(fabric: Fabric) -> nx.Graph:
    found = nx.Graph()
    found.add_nodes_from(range(fabric.vertices))
    found.add_edges_from(zip(fabric.source[::2].tolist(), fabric.target[::2].tolist(), strict=True))
    return found


def leaf_of(fabric: Fabric) -> np.ndarray:
    mask = fabric.of_kind("access") & (fabric.tier[fabric.source] == 0)
    leaf = np.full(fabric.vertices, -1)
    leaf[fabric.source[mask]] = fabric.target[mask]
    return leaf[fabric.hosts]


@given(st.data())
@settings(deadline=None)
def test_a_rail_of_a_unit_is_one_leaf(data) -> None:
    radix, rails = 2 * data.draw(st.integers(1, 6), "half"), data.draw(st.integers(1, 8), "rails")
    nodes = data.draw(st.integers(1, 40), "nodes")
    inside = data.draw(st.sampled_from([None, INSIDE]), "inside")
    unit = radix // 2
    assume(-(-nodes // unit) * rails <= radix * unit)
    fabric = rail_optimised(nodes, rails, radix, LINK, inside)
    host = np.arange(nodes * rails)
    assert fabric.hosts.tolist() == host.tolist()
    assert fabric.label("node")[host].tolist() == (host // rails).tolist()
    assert fabric.label("rail")[host].tolist() == (host % rails).tolist()
    leaf = leaf_of(fabric)
    assert np.array_equal(fabric.label("rail")[leaf], host % rails)
    groups = {
        tuple(pair) for pair in zip(leaf.tolist(), zip(host // rails // unit, host % rails, strict=True), strict=True)
    }
    assert len(groups) == np.unique(leaf).size == -(-nodes // unit) * rails  # one to one
    assert fabric.degree[fabric.switches].max() <= radix
    assert fabric.tier.max() == (2 if -(-nodes // unit) * rails <= radix else 3)
    if inside is None:
        assert np.all(fabric.degree[host] == 1)
    else:
        assert np.all(fabric.degree[host] == 2)
        boxes = np.flatnonzero((fabric.tier == 0) & ~np.isin(np.arange(fabric.vertices), host))
        assert boxes.size == nodes
        assert np.all(fabric.degree[boxes] == rails)
        ends = fabric.of_kind("nvlink")
        node = fabric.label("node")
        assert np.array_equal(node[fabric.source[ends]], node[fabric.target[ends]])
        assert np.all(fabric.capacity[ends] == 450e9)
        assert not fabric.forwards[boxes].any()
    assert np.all(fabric.label("rail")[(fabric.tier > 1)] == -1)
    assert nx.is_connected(graph(fabric))


def test_oversubscribed_rails_have_larger_units() -> None:
    fabric = rail_optimised(96, 8, 64, LINK, oversubscription=3)
    assert int((fabric.tier == 1).sum()) == 16  # 48 hosts on a leaf
    down = fabric.capacity[fabric.of_kind("access")].sum()
    assert down / fabric.capacity[fabric.of_kind("trunk")].sum() == 3


def test_three_tiers_when_the_spines_have_no_port_left() -> None:
    assert rail_optimised(256, 8, 64, LINK).tier.max() == 2
    larger = rail_optimised(257, 8, 64, LINK)
    assert larger.tier.max() == 3
    assert larger.label("pod")[larger.hosts].max() == 2  # 9 units of 8 leaves in pods of 32


@given(rails=st.integers(1, 5), nodes=st.integers(1, 20), radix=st.sampled_from([4, 6]))
@settings(deadline=None)
def test_rails_alone_meet_only_in_nodes(rails, nodes, radix) -> None:
    assume(nodes <= radix**3 // 4)
    apart = rail_only(nodes, rails, radix, LINK, inside=None)
    parts = list(nx.connected_components(graph(apart)))
    assert len(parts) == rails
    rail = apart.label("rail")
    for part in parts:
        assert len(set(rail[list(part)].tolist())) == 1
    joined = rail_only(nodes, rails, radix, LINK, INSIDE)
    assert nx.is_connected(graph(joined))
    assert joined.cables == apart.cables + nodes * rails
    assert joined.label("node")[joined.hosts].tolist() == (np.arange(nodes * rails) // rails).tolist()
    assert joined.label("rail")[joined.hosts].tolist() == (np.arange(nodes * rails) % rails).tolist()
    assert joined.degree[joined.switches].max() <= radix


@pytest.mark.parametrize("one", [leaf_spine(30, 8, LINK), fat_tree(4, LINK), rail_optimised(12, 4, 8, LINK, INSIDE)])
@pytest.mark.parametrize("planes", [1, 2, 4])
def test_planes_share_hosts_and_nothing_else(one, planes) -> None:
    fabric = multi_plane(one, planes)
    plane, outside = fabric.label("plane"), fabric.of_kind("access", "trunk")
    assert fabric.hosts.size == one.hosts.size
    assert fabric.switches.size == planes * one.switches.size
    switches = (fabric.tier[fabric.source] > 0) & (fabric.tier[fabric.target] > 0)
    assert np.array_equal(plane[fabric.source[switches]], plane[fabric.target[switches]])
    assert np.all(plane[fabric.tier == 0] == -1)
    kept = one.of_kind("access", "trunk")
    assert fabric.capacity[outside].sum() == pytest.approx(one.capacity[kept].sum())
    assert np.array_equal(fabric.capacity[~outside], one.capacity[~kept])  # NVLinks stay single and whole
    for each in range(planes):
        alone = fabric.without(vertices=np.flatnonzero((plane >= 0) & (plane != each)))
        used = alone.of_kind("access", "trunk")
        bare = np.flatnonzero(alone.degree)
        names = {int(v): i for i, v in enumerate(bare)}
        mine = [(names[int(a)], names[int(b)]) for a, b in zip(alone.source[used], alone.target[used], strict=True)]
        base = np.flatnonzero(one.degree)
        theirs = {int(v): i for i, v in enumerate(base)}
        wanted = [(theirs[int(a)], theirs[int(b)]) for a, b in zip(one.source[kept], one.target[kept], strict=True)]
        shift = {a: b for (a, _), (b, _) in zip(mine, wanted, strict=True)}
        assert [(shift[a], shift[b]) for a, b in mine] == wanted  # each plane is the fabric, link by link
    for name in one.labels:
        assert np.array_equal(fabric.label(name)[fabric.hosts], one.label(name)[one.hosts])


def test_a_dead_plane_leaves_half_of_the_bandwidth() -> None:
    dual = multi_plane(clos3(64, 8, LINK), 2)
    left = dual.without(vertices=np.flatnonzero(dual.label("plane") == 0))
    assert nx.is_connected(graph(left).subgraph(np.flatnonzero(left.degree).tolist()))
    assert left.capacity[left.of_kind("access")].sum() == dual.capacity[dual.of_kind("access")].sum() / 2


def test_an_nvswitch_comes_on_any_fabric() -> None:
    fabric = with_nvswitch(fat_tree(4, LINK), np.arange(16) // 8, INSIDE)
    assert fabric.cables == 48 + 16
    assert fabric.label("pod")[-2:].tolist() == [-1, -1]
    assert fabric.label("node")[[0, 15, 16, -2, -1]].tolist() == [0, 1, -1, 0, 1]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: rail_optimised(8193, 8, 64, LINK),
            "nodes = 8193 need 2056 leaves .* give at most 8192",
        ),
        (lambda: rail_optimised(200, 2, 9, LINK, oversubscription=2), "nodes = 200 need 68 leaves .* give at most 24"),
        (lambda: rail_optimised(0, 8, 64, LINK), "nodes = 0 must be a whole number, 1 or more"),
        (lambda: rail_optimised(8, 0, 64, LINK), "rails = 0 must be a whole number, 1 or more"),
        (lambda: rail_optimised(8, 8, 63, LINK), "splits 63 ports into 31.5 down"),
        (lambda: rail_only(8, 8.0, 64, LINK, None), "rails = 8.0 must be a whole number"),
        (lambda: rail_only(70000, 2, 64, LINK, None), "hosts = 70000 do not fit three tiers"),
        (lambda: multi_plane(fat_tree(4, LINK), 0), "planes = 0 must be a whole number, 1 or more"),
    ],
)
def test_what_does_not_fit_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says) as error:
        call()
    assert "\n" not in str(error.value)
