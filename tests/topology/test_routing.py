"""Routing: every way is joined, as short as a graph library says, and follows failures."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import (
    Cables,
    build,
    dragonfly,
    dragonfly_plus,
    fat_tree,
    leaf_spine,
    nvl72,
    paths,
    routes,
    torus,
)
from netlib.topology.flows import ranks
from netlib.topology.rails import multi_plane, rail_only, rail_optimised
from netlib.topology.routing import _numbered

LINK = Link(1e-6, 50e9)
INSIDE = Link(1e-7, 450e9)
FABRICS = {
    "leaf-spine": leaf_spine(24, 8, LINK),
    "fat-tree": fat_tree(4, LINK),
    "rails": rail_optimised(6, 2, 8, LINK, inside=INSIDE),
    "dual plane": multi_plane(leaf_spine(16, 8, LINK), 2),
    "dragonfly": dragonfly(2, 2, 1, LINK),
    "dragonfly+": dragonfly_plus(4, LINK),
    "torus": torus([3, 4], LINK),
    "mesh": torus([2, 3, 2], LINK, wrap=False),
}
HOSTS, SWITCHES = 6, 4


def random_fabric(data: st.DataObject):
    """Hosts on random switches, now and then on one another; parallel cables; hosts that forward."""
    size = HOSTS + SWITCHES
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda p: p[0] != p[1])
    a, b = zip(*data.draw(st.lists(ends, min_size=1, max_size=30)), strict=True)
    tier = [0] * HOSTS + [1] * SWITCHES
    forwards = [*data.draw(st.lists(st.booleans(), min_size=HOSTS, max_size=HOSTS)), *[True] * SWITCHES]
    return build("random", size, range(HOSTS), tier, [Cables(a, b, LINK)], forwards=forwards)


def as_graph(fabric, src: int, dst: int) -> nx.Graph:
    """What a message from src to dst may use: no host that does not forward, but its own two."""
    graph = nx.Graph()
    graph.add_nodes_from(range(fabric.vertices))
    graph.add_edges_from(zip(fabric.source.tolist(), fabric.target.tolist(), strict=True))
    shut = set(fabric.hosts.tolist()) - set(np.flatnonzero(fabric.forwards).tolist()) - {src, dst}
    graph.remove_nodes_from(shut)
    return graph


def check_way(fabric, way, src: int, dst: int) -> None:
    way = way[way >= 0]
    if src == dst:
        assert way.size == 0
        return
    assert fabric.source[way[0]] == src
    assert fabric.target[way[-1]] == dst
    assert np.array_equal(fabric.target[way[:-1]], fabric.source[way[1:]])


def check_all(fabric, rng) -> None:
    """Every pair: joined, shortest, and refused exactly where there is no way."""
    found = routes(fabric)
    assert np.array_equal(found.table == -1, (found.hops == 0) | (found.hops == 32_000))  # a group wherever a way is
    for i, src in enumerate(fabric.hosts.tolist()):
        for j, dst in enumerate(fabric.hosts.tolist()):
            graph = as_graph(fabric, src, dst)
            if not nx.has_path(graph, src, dst):
                with pytest.raises(ValueError, match="cannot be reached"):
                    paths(found, [i], [j], lambda hop: rng.integers(hop.count))
                continue
            way = paths(found, [i] * 4, [j] * 4, lambda hop: rng.integers(hop.count))
            assert np.count_nonzero(way[0] >= 0) == nx.shortest_path_length(graph, src, dst)
            assert found.distance(i, j) == nx.shortest_path_length(graph, src, dst)
            for each in way:
                check_way(fabric, each, src, dst)


@settings(max_examples=60)
@given(st.data(), st.integers(0, 99))
def test_ways_are_joined_and_shortest(data, seed) -> None:
    check_all(random_fabric(data), np.random.default_rng(seed))


@pytest.mark.parametrize("name", FABRICS)
def test_the_fabrics_of_the_book(name) -> None:
    check_all(FABRICS[name], np.random.default_rng(0))


@pytest.mark.parametrize("name", ["fat-tree", "dual plane", "torus"])
def test_what_failures_leave(name) -> None:
    fabric = FABRICS[name]
    rng = np.random.default_rng(1)
    check_all(fabric.without(cables=rng.choice(fabric.cables, 4, replace=False)), rng)
    check_all(fabric.without(vertices=[fabric.vertices - 1]), rng)
    check_all(fabric.without(cables=np.arange(fabric.cables)), rng)


def test_all_shortest_ways_are_candidates() -> None:
    """Following every candidate finds as many ways as the graph library counts."""
    for name in ("fat-tree", "leaf-spine", "torus", "dragonfly+"):
        fabric = FABRICS[name]
        found = routes(fabric)
        src, dst = 0, fabric.hosts.size - 1
        want = {
            tuple(each)
            for each in nx.all_shortest_paths(as_graph(fabric, fabric.hosts[src], fabric.hosts[dst]), src, dst)
        }
        rng = np.random.default_rng(0)
        ways = np.unique(paths(found, [src] * 2000, [dst] * 2000, lambda hop, rng=rng: rng.integers(hop.count)), axis=0)
        assert {(src, *fabric.target[way].tolist()) for way in ways} == want


def test_a_host_between_two_hosts_carries_nothing_of_theirs() -> None:
    """From 0 to 2 over the switch or over host 1: equally long, but a host passes nothing on."""
    four = Cables([0, 2, 0, 1], [3, 3, 1, 2], LINK)
    fabric = build("side by side", 4, [0, 1, 2], [0, 0, 0, 1], [four])
    ways = paths(routes(fabric), [0] * 8, [2] * 8, lambda hop: hop.flow % hop.count)
    assert np.unique(ways, axis=0).tolist() == [[0, 3]]
    check_all(fabric, np.random.default_rng(0))


def test_parallel_cables_are_candidates_up_and_down() -> None:
    up = Cables([0, 0, 1, 1, 1], [2, 2, 2, 2, 2], LINK, "access")
    fabric = build("fat host", 3, [0, 1], [0, 0, 1], [up])

    def in_turn(hop):
        for k in range(int(hop.count.max())):
            assert np.array_equal(fabric.source[hop.link(np.minimum(k, hop.count - 1))], hop.vertex)
        return hop.flow % hop.count

    ways = paths(routes(fabric), [0] * 6, [1] * 6, in_turn)
    assert ways.tolist() == [[0, 5], [2, 7], [0, 9], [2, 5], [0, 7], [2, 9]]


def test_choose_sees_where_and_among_what() -> None:
    fabric = FABRICS["leaf-spine"]
    seen = []

    def choose(hop):
        assert np.all(hop.count > 1)
        for k in range(int(hop.count.min())):
            assert np.array_equal(fabric.source[hop.link(np.full_like(hop.count, k))], hop.vertex)
        seen.append(hop.count.tolist())
        return np.zeros_like(hop.count)

    paths(routes(fabric), [0, 1], [23, 2], choose)
    assert seen == [[4]]  # the first flow climbs, the second turns at its leaf


def test_rails_apart_are_refused_in_one_sentence() -> None:
    apart = routes(rail_only(4, 2, 8, LINK, None))
    assert paths(apart, [0], [2], lambda hop: hop.flow % hop.count).shape == (1, 2)
    with pytest.raises(ValueError, match=r"dst = vertex 3 cannot be reached from vertex 0 of rail-only"):
        paths(apart, [0], [3], lambda hop: hop.flow % hop.count)


def test_an_nvswitch_joins_its_own_gpus_only() -> None:
    fabric = FABRICS["rails"]
    ways = paths(routes(fabric), [0, 0, 0], [1, 2, 3], lambda hop: hop.flow % hop.count)
    nvlink = fabric.of_kind("nvlink")
    assert [int(nvlink[way[way >= 0]].sum()) for way in ways] == [2, 0, 0]
    assert np.all(routes(nvl72()).distance(0, np.arange(1, 72)) == 2)


@pytest.mark.parametrize("name", FABRICS)
def test_rows_are_the_same_in_blocks_of_any_size(name, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = routes(FABRICS[name])
    monkeypatch.setitem(routes.__globals__, "_BLOCK", 3)
    parts = routes(FABRICS[name])
    for array in ("table", "first", "count", "place"):
        assert np.array_equal(getattr(whole, array), getattr(parts, array))


def test_big_switches_have_groups_of_more_than_64_links() -> None:
    fabric = leaf_spine(256, 160, LINK)
    found = routes(fabric)
    assert found.count.max() == 80
    ways = paths(found, np.arange(80), np.full(80, 255), lambda hop: hop.flow % hop.count)
    assert np.unique(ways[:, 1]).size == 80


@given(st.integers(1, 4), st.integers(1, 150), st.integers(1, 12), st.integers(0, 99))
def test_equal_sets_share_a_number_at_any_radix(rows, places, columns, seed) -> None:
    """Sets that differ in a single place, wherever it is, are two."""
    rng = np.random.default_rng(seed)
    serves = rng.random((rows, places, columns)) < rng.choice([0.03, 0.5, 0.98])
    twin = serves.copy()
    twin[:, rng.integers(places)] ^= True
    serves = np.concatenate([serves, twin, serves], axis=2)
    number, sets = _numbered(serves)
    for row in range(rows):
        for column in range(3 * columns):
            held = np.flatnonzero(serves[row, :, column])
            assert (number[row, column] >= 0) == bool(held.size)
            if held.size:
                assert np.flatnonzero(sets[number[row, column]]).tolist() == held.tolist()
    met = number[number >= 0]
    assert np.array_equal(np.unique(met), np.arange(len(sets)))
    assert len(sets) == sum(len({c.tobytes() for c in each.T if c.any()}) for each in serves)


@pytest.mark.parametrize(
    ("src", "dst", "says"),
    [
        ([0.5], [1], "src = .* whole numbers"),
        ([[0]], [1], "src"),
        ([0], [99], "dst = 99 is no host's rank; give 0 to 15"),
        ([-1], [0], "src = -1"),
        ([0, 1], [1, 2, 3], "a flow has one of each"),
    ],
)
def test_bad_ranks_are_one_sentence(src, dst, says) -> None:
    with pytest.raises(ValueError, match=says):
        ranks(FABRICS["fat-tree"], src, dst)


def test_no_flows_have_no_ways() -> None:
    none = np.zeros(0, int)
    assert paths(routes(FABRICS["fat-tree"]), none, none, lambda hop: hop.flow).shape == (0, 0)
