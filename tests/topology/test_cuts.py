"""Cuts: the maximum flow of networkx, the formulas of tori and dragonflies, paths counted one by one."""

from itertools import combinations
from math import comb

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import (
    Cables,
    bisection,
    build,
    disjoint_paths,
    distances_to,
    dragonfly,
    dragonfly_plus,
    passes,
    path_count,
    rail_optimised,
    torus,
    worst_half,
)
from tests.topology.random_fabrics import LINK, fabrics, leaf_and_spine, three_tiers


@given(fabrics(), st.data())
def test_the_cut_is_the_maximum_flow_and_separates(fabric, data: st.DataObject) -> None:
    hosts = fabric.hosts.size
    side = np.array(data.draw(st.lists(st.booleans(), min_size=hosts, max_size=hosts)))
    assume(side.any() and not side.all())
    cut = bisection(fabric, side)
    graph = nx.DiGraph()
    graph.add_nodes_from(["from", "to"])
    graph.add_edges_from(("from", int(host)) for host in fabric.hosts[side])  # no capacity: no limit
    graph.add_edges_from((int(host), "to") for host in fabric.hosts[~side])
    for a, b, rate in zip(fabric.source.tolist(), fabric.target.tolist(), fabric.capacity.tolist(), strict=True):
        more = graph.edges[a, b]["capacity"] if graph.has_edge(a, b) else 0
        graph.add_edge(a, b, capacity=more + rate)
    assert cut.bandwidth == pytest.approx(nx.maximum_flow_value(graph, "from", "to"), rel=1e-8)
    assert cut.bandwidth == fabric.capacity[cut.links].sum()
    left = fabric.without(cables=cut.links // 2)
    assert np.all(distances_to(left, fabric.hosts[side], fabric.hosts[~side]) < 0)
    assert np.array_equal(cut.side, side)


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3))
def test_a_torus_is_cut_across_its_longest_side(sides: list[int]) -> None:
    """2 (product of sides) / (longest side) links; half of that where the longest is 2."""
    longest = max(sides)
    assume(longest > 1)
    fabric = torus(sides, LINK)
    cut = bisection(fabric)
    assert cut.side[fabric.source[cut.links]].all()  # links lead from the first half to the second
    assert not cut.side[fabric.target[cut.links]].any()
    assert cut.links.size == np.prod(sides) // longest * (2 if longest > 2 else 1)
    assert cut.bandwidth == cut.links.size * 50e9
    assert cut.side.sum() * longest == np.prod(sides) * (longest // 2)
    assert bisection(torus(sides, LINK, wrap=False)).links.size == np.prod(sides) // longest


@pytest.mark.parametrize(
    ("sides", "links"),
    [((4, 4, 4), 32), ((8, 8, 8), 128), ((16, 16, 16), 512), ((8, 8, 16), 128), ((32, 32), 64), ((4, 4, 256), 32)],
)
def test_bisection_of_pods(sides, links: int) -> None:
    assert bisection(torus(sides, Link(0, 45e9))).links.size == links


@pytest.mark.parametrize("sides", [(4,), (8,), (2, 4), (2, 2, 2)])
def test_no_equal_split_of_a_small_torus_is_narrower(sides) -> None:
    fabric = torus(sides, LINK)
    n = fabric.hosts.size
    cuts = [bisection(fabric, np.isin(range(n), half)).bandwidth for half in combinations(range(n), n // 2)]
    assert min(cuts) == bisection(fabric).bandwidth


@pytest.mark.parametrize(("p", "a", "h"), [(1, 2, 1), (2, 4, 2), (4, 8, 4)])
def test_a_dragonfly_is_cut_between_groups(p: int, a: int, h: int) -> None:
    cut, groups = bisection(dragonfly(p, a, h, LINK)), a * h + 1
    assert cut.links.size == groups**2 // 4
    for fewer in range(2, groups, 3):
        even = dragonfly(p, a, h, LINK, groups=fewer)
        assert bisection(even).links.size <= fewer**2 // 4 * (a * h // (fewer - 1))


def test_a_dragonfly_plus_is_cut_between_groups() -> None:
    assert [bisection(dragonfly_plus(radix, LINK)).links.size for radix in (4, 8)] == [6, 72]
    assert not worst_half(dragonfly_plus(4, LINK, groups=1))[2:].any()  # one group: the first half of the hosts


@pytest.mark.parametrize(("k", "links"), [(2, 1), (4, 8), (8, 64)])
def test_a_fat_tree_has_full_bisection(k: int, links: int) -> None:
    cut = bisection(three_tiers(k))
    assert (cut.links.size, cut.bandwidth) == (links, links * 50e9)
    assert cut.side.tolist() == [True] * (k**3 // 8) + [False] * (k**3 // 8)


def test_rails_are_cut_between_leaves() -> None:
    """Cut by nodes, the halves would meet on every leaf: no byte crosses a spine, and none misses a dead one."""
    rails = rail_optimised(8, 8, 16, LINK)
    ranked = np.arange(64) < 32
    assert np.array_equal(worst_half(rails), rails.label("rail")[rails.hosts] < 4)
    assert bisection(rails).bandwidth == bisection(rails, ranked).bandwidth == 32 * 50e9
    broken = rails.without(vertices=np.flatnonzero(rails.tier == 2)[:1])
    assert (bisection(broken).links.size, bisection(broken, ranked).links.size) == (4 * 6, 32)
    three = rail_optimised(24, 8, 16, LINK)  # three units: one and a half, and the half is four rails
    leaf = three.target[three.of_kind("access")][::2]
    assert np.array_equal(worst_half(three), leaf < np.unique(leaf)[12])


def test_rails_with_nvswitches_are_cut_between_nodes() -> None:
    joined = rail_optimised(8, 8, 16, LINK, inside=Link(0, 450e9))  # between rails the NVSwitches add to the spines
    assert np.array_equal(worst_half(joined), np.arange(64) < 32)
    assert np.array_equal(bisection(joined).side, worst_half(joined))


def test_a_tapered_tree_is_cut_above_its_leaves() -> None:
    cut = bisection(leaf_and_spine(4, 2, 8))  # 2 leaves with 2 uplinks each
    assert cut.links.size == 4
    assert bisection(leaf_and_spine(4, 2, 8, planes=2)).links.size == 8


@given(fabrics(), st.data())
def test_shortest_paths_are_those_that_networkx_lists(fabric, data: st.DataObject) -> None:
    assume(fabric.hosts.size > 1)
    a, b = data.draw(st.permutations(range(fabric.hosts.size)))[:2]
    start, goal = fabric.hosts[[a, b]].tolist()
    inside = passes(fabric)
    inside[[start, goal]] = True
    graph = nx.DiGraph()
    graph.add_nodes_from([start, goal])
    for x, y in zip(fabric.source.tolist(), fabric.target.tolist(), strict=True):
        if inside[x] and inside[y]:
            count = graph.edges[x, y]["capacity"] if graph.has_edge(x, y) else 0
            graph.add_edge(x, y, capacity=count + 1)
    try:
        paths = list(nx.all_shortest_paths(graph, start, goal))
    except nx.NetworkXNoPath:
        paths = []
    ways = sum(int(np.prod([graph.edges[e]["capacity"] for e in nx.utils.pairwise(path)])) for path in paths)
    assert path_count(fabric, a, b) == ways
    assert disjoint_paths(fabric, a, b) == nx.maximum_flow_value(graph, start, goal)


def test_paths_of_known_networks() -> None:
    assert path_count(three_tiers(8), 0, 127) == 16  # one for each core switch
    assert disjoint_paths(three_tiers(8), 0, 127) == 1
    assert disjoint_paths(leaf_and_spine(4, 2, 2, planes=2), 0, 7) == 2
    assert path_count(torus([5, 7], LINK, wrap=False), 0, 34) == comb(10, 4)
    half = 50 * 100 + 50  # half way round both axes: 4 ways to turn, beyond 2^63
    assert path_count(torus([100, 100], LINK), 0, half) == 4 * comb(100, 50)


def test_rates_without_a_common_unit_still_give_the_narrowest_cut() -> None:
    thirds = build(
        "two ways", 4, [0, 3], [0, 1, 1, 0], [Cables([0, 0, 1, 2], [1, 2, 3, 3], Link(0, [1 / 3, 2, 1, 0.7]))]
    )
    assert bisection(thirds).bandwidth == pytest.approx(1 / 3 + 0.7)
    steep = build("steep", 3, [0, 2], [0, 1, 0], [Cables([0, 1], [1, 2], Link(0, [1e15, 1e9 + 1]))])
    assert bisection(steep).bandwidth == 1e9 + 1


def test_islands_have_no_bandwidth_between_them() -> None:
    apart = build("apart", 2, [0, 1], [0, 0], [])
    cut = bisection(apart)
    assert (cut.bandwidth, cut.links.size) == (0, 0)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda f: bisection(f, [True]), r"side has shape \(1,\) and type bool; give True or False for each of the 8"),
        (lambda f: bisection(f, [1] * 8), r"side has shape \(8,\) and type int64"),
        (lambda f: bisection(f, [True] * 8), "side = True for every host leaves the other half empty"),
        (lambda f: bisection(f, [False] * 8), "side = False for every host"),
        (lambda f: path_count(f, 0, 8), "b = 8 is not the rank of a host; give 0 to 7"),
        (lambda f: disjoint_paths(f, -1, 0), "a = -1 is not the rank"),
        (lambda f: disjoint_paths(f, 2, 2), "a = 2 and b = 2 are the same host"),
    ],
)
def test_questions_without_an_answer_are_refused(ask, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        ask(torus([2, 4], LINK))
