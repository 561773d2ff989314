"""Cycles of buffer dependencies: what has none, what has one, and networkx as the second way to find them."""

from contextlib import suppress
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.lossless.bounces import all_bounces, bounced, cables_between, climbs_once
from netlib.congestion.lossless.deadlocks import round_ways, switch_ring
from netlib.congestion.lossless.dependencies import (
    Dependencies,
    buffer_dependencies,
    in_words,
    shortest_cycle,
    vertex_names,
    ways_on,
)
from netlib.congestion.lossless.lanes import lanes_by_bounce, lanes_by_dateline, lanes_by_global
from netlib.congestion.packets.scenarios import every_way
from netlib.links import Link
from netlib.topology import (
    Fabric,
    clos3,
    dimension_ordered,
    dragonfly,
    ecmp,
    fat_tree,
    leaf_spine,
    minimal,
    one_global,
    one_switch,
    routes,
    torus,
    valiant,
)
from tests.congestion.lossless.small import pairs, walks

LINK = Link(1e-6, 50e9)


def graph(made: Dependencies) -> nx.DiGraph:
    whole = nx.DiGraph()
    whole.add_edges_from(zip(made.before.tolist(), made.after.tolist(), strict=True))
    return whole


def girth(whole: nx.DiGraph) -> float:
    """Length of a shortest cycle, from networkx's distances alone."""
    far = dict(nx.all_pairs_shortest_path_length(whole))
    return min((far[b][a] + 1 for a, b in whole.edges if a in far[b]), default=np.inf)


def is_cycle(made: Dependencies, cycle: np.ndarray) -> bool:
    edges = set(zip(made.before.tolist(), made.after.tolist(), strict=True))
    return all((int(a), int(b)) in edges for a, b in zip(cycle, np.roll(cycle, -1), strict=True))


CLOS = {
    "leaf-spine": lambda: leaf_spine(16, 8, LINK),
    "thin leaf-spine": lambda: leaf_spine(12, 4, LINK, oversubscription=3),
    "fat-tree": lambda: fat_tree(4, LINK),
    "three tiers": lambda: clos3(20, 6, LINK),
}


@pytest.mark.parametrize("name", CLOS)
def test_shortest_ways_on_a_clos_have_no_cycle(name: str) -> None:
    fabric = CLOS[name]()
    src, dst = pairs(fabric.hosts.size)
    for seed in range(3):
        ways = ecmp(routes(fabric), src, dst, qps=2, seed=seed)
        assert climbs_once(fabric, ways).all()
        assert shortest_cycle(buffer_dependencies(fabric, ways)).size == 0


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_ways_that_climb_once_never_make_a_cycle(data: st.DataObject) -> None:
    """Whatever is broken: shortest ways are kept where they climb once, and what is kept has no cycle."""
    fabric = CLOS[data.draw(st.sampled_from(sorted(CLOS)))]()
    trunks = np.unique(np.flatnonzero(fabric.of_kind("trunk")) // 2)
    broken = data.draw(st.lists(st.sampled_from(trunks.tolist()), max_size=3, unique=True))
    left = fabric.without(cables=broken)
    made = routes(left)
    src, dst = pairs(fabric.hosts.size)
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    try:
        ways = minimal(made, src, dst, rng)
    except ValueError:
        return  # a pair without a way
    once = climbs_once(left, ways)
    assert nx.is_directed_acyclic_graph(graph(buffer_dependencies(left, ways[once])))
    assert shortest_cycle(buffer_dependencies(left, ways[once])).size == 0


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 7), st.integers(1, 40), st.integers(0, 10**6), st.booleans())
def test_networkx_finds_the_same_length(n: int, many: int, seed: int, two: bool) -> None:
    rng = np.random.default_rng(seed)
    fabric = torus([n, 3], LINK)
    ways = walks(fabric, many, 4, rng)
    lane = rng.integers(0, 2, ways.shape) if two else 0
    made = buffer_dependencies(fabric, ways, lane)
    cycle = shortest_cycle(made)
    whole = graph(made)
    assert nx.is_directed_acyclic_graph(whole) == (cycle.size == 0)
    assert girth(whole) == (cycle.size or np.inf)
    assert is_cycle(made, cycle)
    if cycle.size:
        assert in_words(made, cycle).count(">") == cycle.size


def test_a_long_list_of_buffers_is_searched_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = torus([9], LINK)
    made = buffer_dependencies(ring, dimension_ordered(ring, *pairs(9)))
    one = shortest_cycle(made)
    monkeypatch.setattr("netlib.congestion.lossless.dependencies._BLOCK", 2)
    assert shortest_cycle(made).size == one.size == 9


@pytest.mark.parametrize(("n", "length"), [(3, 0), (4, 0), (5, 5), (6, 6), (8, 8)])
def test_a_ring_has_a_cycle_once_ways_overlap_all_round(n: int, length: int) -> None:
    """Three chips: one hop each. Four: who goes halfway goes up from even chips only, so no direction closes."""
    ring = torus([n], LINK)
    ways = dimension_ordered(ring, *pairs(n))
    assert shortest_cycle(buffer_dependencies(ring, ways)).size == length
    assert shortest_cycle(buffer_dependencies(ring, ways, lanes_by_dateline(ring, ways))).size == 0


@pytest.mark.parametrize("sides", [[5, 5], [4, 6], [3, 5, 4]])
def test_a_dateline_opens_a_torus_of_any_dimensions(sides: list[int]) -> None:
    fabric = torus(sides, LINK)
    ways = dimension_ordered(fabric, *pairs(fabric.hosts.size))
    made = buffer_dependencies(fabric, ways, lanes_by_dateline(fabric, ways))
    assert made.lanes == 2
    assert shortest_cycle(buffer_dependencies(fabric, ways)).size > 0
    assert shortest_cycle(made).size == 0


def test_a_mesh_needs_no_dateline() -> None:
    mesh = torus([5, 5], LINK, wrap=False)
    ways = dimension_ordered(mesh, *pairs(25))
    assert shortest_cycle(buffer_dependencies(mesh, ways)).size == 0
    assert lanes_by_dateline(mesh, ways).max() == 0


def test_a_dragonfly_needs_two_lanes_and_with_detours_three() -> None:
    fabric = dragonfly(2, 4, 2, LINK)
    src, dst = pairs(fabric.hosts.size)
    rng = np.random.default_rng(0)
    short, detour = one_global(fabric, src, dst, rng), valiant(fabric, src, dst, rng)
    for ways, lanes in ((short, 2), (detour, 3)):
        lane = lanes_by_global(fabric, ways)
        assert lane.max() + 1 == lanes
        assert shortest_cycle(buffer_dependencies(fabric, ways)).size > 0
        assert shortest_cycle(buffer_dependencies(fabric, ways, lane)).size == 0
    first = (short >= 0) & fabric.of_kind("global")[short]
    assert (lanes_by_global(fabric, short)[first] == 0).all(), "the first global cable itself is still in lane 0"
    capped = np.minimum(lanes_by_global(fabric, detour), 1)
    assert shortest_cycle(buffer_dependencies(fabric, detour, capped)).size > 0


def test_a_way_over_a_level_cable_is_not_up_and_down() -> None:
    """A ring of switches has a cycle, and none of its ways ever goes down before it goes up."""
    ring = switch_ring(3, LINK)
    ways = round_ways(ring)
    assert shortest_cycle(buffer_dependencies(ring, ways)).size == 3
    assert not climbs_once(ring, ways).any()
    assert not climbs_once(torus([5], LINK), dimension_ordered(torus([5], LINK), *pairs(5))).any()


def every_bounce(fabric: Fabric, cables: list[int], stale: bool) -> np.ndarray:
    """All shortest ways of a leaf-spine, repaired many times over: nearly every way that a bounce can take."""
    src, dst = pairs(fabric.hosts.size)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(12):
        ways = minimal(routes(fabric), src, dst, rng)
        made = bounced(fabric, ways, cables, rng, stale)
        found.append(np.pad(made, ((0, 0), (0, 24 - made.shape[1])), constant_values=-1))
    return np.concatenate(found)


def test_one_dead_cable_makes_a_cycle_only_if_packets_come_back_to_the_same_spine() -> None:
    """Every second climb starts below the one spine that lost the cable; no packet climbs into it again."""
    fabric = leaf_spine(8, 4, LINK)
    for cable in np.unique(np.flatnonzero(fabric.of_kind("trunk")) // 2)[:8]:
        ways = every_bounce(fabric, [int(cable)], stale=False)
        assert not climbs_once(fabric, ways).all()
        assert shortest_cycle(buffer_dependencies(fabric, ways)).size == 0
    back = buffer_dependencies(fabric, every_bounce(fabric, [8], stale=True))
    assert in_words(back, shortest_cycle(back)).count("spine 0") in (2, 3)  # down, up, down, up at one spine
    assert shortest_cycle(back).size == 4


def test_two_dead_cables_at_different_spines_make_a_cycle_of_four() -> None:
    """Spine 0 has lost leaf 2, spine 1 has lost leaf 3: two flows that each go up, down, up, down."""
    fabric = leaf_spine(8, 4, LINK)  # hosts 0-7, leaves 8-11, spines 12, 13
    names = vertex_names(fabric)
    link = {(int(a), int(b)): e for e, (a, b) in enumerate(zip(fabric.source, fabric.target, strict=True))}
    dead = [link[12, 10] // 2, link[13, 11] // 2]
    ways = every_bounce(fabric, dead, stale=False)
    made = buffer_dependencies(fabric, ways)
    cycle = shortest_cycle(made)
    assert cycle.size == 4
    two = np.array(
        [[link[a, b] for a, b in pairwise(way)] for way in ([2, 9, 12, 8, 13, 10, 4], [0, 8, 13, 9, 12, 11, 6])]
    )
    least = buffer_dependencies(fabric, two)
    assert in_words(least, np.roll(shortest_cycle(least), 0)).split(" > ")[:-1].count("spine 0") == 1
    assert shortest_cycle(least).size == 4
    assert all(shortest_cycle(buffer_dependencies(fabric, one[None])).size == 0 for one in two)
    assert names[12] == "spine 0"
    assert names[8] == "leaf 0"


def test_a_lane_for_each_bounce_opens_every_circle() -> None:
    """Tagger: two dead cables or stale leaves, bounced once or several times, and all in one lane."""
    fabric = leaf_spine(8, 4, LINK)
    for dead, stale in (([12, 15], False), ([8], True)):
        ways = every_bounce(fabric, dead, stale)
        lane = lanes_by_bounce(fabric, ways)
        assert shortest_cycle(buffer_dependencies(fabric, ways)).size > 0
        assert shortest_cycle(buffer_dependencies(fabric, ways, lane)).size == 0
        assert (lane.max(axis=1) == 0).tolist() == climbs_once(fabric, ways).tolist()


def test_bounced_ways_hold_and_avoid_what_is_dead() -> None:
    fabric = leaf_spine(8, 4, LINK)
    ways = every_bounce(fabric, [8, 13], stale=False)
    assert (ways_on(fabric, ways) == ways).all()
    assert not np.isin(ways[ways >= 0] // 2, [8, 13]).any()
    src, dst = pairs(8)
    last = ways[np.arange(len(ways)), (ways >= 0).sum(axis=1) - 1]
    assert (fabric.target[last] == np.tile(fabric.hosts[dst], 12)).all()
    assert (fabric.source[ways[:, 0]] == np.tile(fabric.hosts[src], 12)).all()


@pytest.mark.parametrize("stale", [False, True])
def test_a_packet_keeps_its_first_spine_until_it_meets_the_dead_cable(stale: bool) -> None:
    fabric = leaf_spine(8, 4, LINK)  # link 16 leads from leaf 0 to spine 0, cable 12 from spine 0 to leaf 2
    for seed in range(12):
        made = bounced(fabric, [[0, 16, 25, 9]], [12], np.random.default_rng(seed), stale)[0]
        assert made[:2].tolist() == [0, 16]
        assert fabric.source[made[2]] == fabric.target[16]
        assert made[made >= 0][-1] == 9
        turned = bounced(fabric, [[0, 16, 25, 9]], [8], np.random.default_rng(seed), stale)[0]
        assert turned.tolist() == [0, 18, 27, 9], "a leaf that has lost its cable up takes the other spine"
    assert set(all_bounces(fabric, [[0, 16, 25, 9]], [12], stale)[:, 1].tolist()) == {16}
    assert all_bounces(fabric, [[0, 16, 25, 9]], [8], stale).tolist() == [[0, 18, 27, 9]]


def turns(fabric: Fabric, ways: np.ndarray) -> set[tuple[int, int]]:
    """Which buffer waits for which."""
    made = buffer_dependencies(fabric, ways)
    return set(zip(made.before.tolist(), made.after.tolist(), strict=True))


@pytest.mark.parametrize("stale", [False, True])
@pytest.mark.parametrize("dead", [[8], [9], [12], [8, 13]])
def test_all_bounces_are_those_that_many_draws_find(dead: list[int], stale: bool) -> None:
    """Every way between leaves, 60 times drawn: no turn that all_bounces lacks, none that it adds; the ends stay."""
    fabric, rng = leaf_spine(8, 4, LINK), np.random.default_rng(0)
    way, _ = every_way(routes(fabric), *(2 * each for each in pairs(4)))
    drawn = set()
    for row in np.repeat(way, 60, axis=0):
        with suppress(ValueError):  # a stale leaf sends some back and forth for ever
            drawn |= turns(fabric, bounced(fabric, row[None], dead, rng, stale))
    tried = all_bounces(fabric, way, dead, stale)
    assert turns(fabric, tried) == drawn
    last = np.arange(len(tried)), (tried >= 0).sum(axis=1) - 1
    there = {(int(a), int(b)) for a, b in zip(tried[:, 0], tried[last], strict=True)}
    assert there == {(int(a), int(b)) for a, b in zip(way[:, 0], way[:, -1], strict=True)}


def test_one_draw_can_miss_the_cycle_that_all_bounces_have() -> None:
    """Two flows each meet a dead cable; each must bounce to the one leaf of two that closes the cycle."""
    fabric = leaf_spine(8, 4, LINK)
    dead = [*cables_between(fabric, "leaf 2", "spine 0"), *cables_between(fabric, "leaf 3", "spine 1")]
    way, _ = every_way(routes(fabric), [0, 2], [4, 6])
    found = [
        shortest_cycle(buffer_dependencies(fabric, bounced(fabric, way, dead, np.random.default_rng(seed)))).size
        for seed in range(20)
    ]
    assert 0 in found
    assert shortest_cycle(buffer_dependencies(fabric, all_bounces(fabric, way, dead))).size == 4


def test_all_bounces_refuse_a_way_without_an_end() -> None:
    """Neither spine has a cable to leaf 1."""
    with pytest.raises(ValueError, match=r"no bounce reaches its goal; give fewer dead cables$"):
        all_bounces(POD, [[0, 16, 21, 5]], [10, 11])
    with pytest.raises(ValueError, match="no way on"):
        all_bounces(POD, [[0, 16, 21, 5]], [8, 9])
    with pytest.raises(ValueError, match="a host's only one"):
        all_bounces(POD, [[0, 16, 21, 5]], [0])


def test_the_count_of_ways_is_kept() -> None:
    star = one_switch(3, LINK)
    made = buffer_dependencies(star, [[0, 3], [0, 3], [2, 5]])
    assert (made.before.tolist(), made.after.tolist(), made.ways.tolist()) == ([0, 2], [3, 5], [2, 1])
    assert in_words(made, shortest_cycle(made)) == "no cycle"
    assert in_words(buffer_dependencies(star, [[0, 3]], [[0, 1]]), [1]) == "host 0 (lane 1) > host 0 (lane 1)"


def test_names_count_within_a_tier() -> None:
    assert vertex_names(fat_tree(4, LINK))[16:18] == ["leaf 0", "leaf 1"]
    assert vertex_names(fat_tree(4, LINK))[-1] == "core 3"
    assert vertex_names(torus([3], LINK)) == ["chip 0", "chip 1", "chip 2"]


STAR = one_switch(3, LINK)
POD = leaf_spine(8, 4, LINK)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: buffer_dependencies(STAR, [0, 3]), "way = '[0, 3]' must be rows"),
        (lambda: buffer_dependencies(STAR, [[0.0, 3.0]]), "must be rows"),
        (lambda: buffer_dependencies(STAR, [[0, 9]]), "outside 0 .. 5"),
        (lambda: buffer_dependencies(STAR, [[-1, 3]]), "has a gap"),
        (lambda: buffer_dependencies(STAR, [[0, 2]]), "do not meet"),
        (lambda: buffer_dependencies(STAR, [[0, 3]], [0, 0]), "lane has shape"),
        (lambda: buffer_dependencies(STAR, [[0, 3]], -1), "lane = -1"),
        (lambda: buffer_dependencies(STAR, [[0, 3]], 16), "lane = 16"),
        (lambda: buffer_dependencies("star", [[0, 3]]), "is not a Fabric"),
        (lambda: lanes_by_dateline(STAR, [[0, 3]]), "give a torus"),
        (lambda: lanes_by_bounce(torus([5], LINK), [[0, 2]]), "one tier"),
        (lambda: lanes_by_global(STAR, "no"), "must be rows"),
        (lambda: bounced(STAR, [[0, 3]], [0], np.random.default_rng(0)), "no two tiers"),
        (lambda: bounced(POD, [[0, 16, 21, 5]], [0], np.random.default_rng(0)), "a host's only one"),
        (lambda: bounced(POD, [[0, 16, 21, 5]], [8, 9], np.random.default_rng(0)), "no way on"),
        (lambda: bounced(POD, [[0, 16, 21, 5]], [99], np.random.default_rng(0)), "cables = 99"),
        (lambda: bounced(POD, [[0, 16, 21, 5]], [20], np.random.default_rng(0)), "link // 2 = 10"),
        (lambda: cables_between(POD, "leaf 9", "spine 0"), "one = 'leaf 9' is no vertex of"),
        (lambda: cables_between(POD, "leaf 0", "spin 0"), "other = 'spin 0' is no vertex of"),
        (
            lambda: cables_between(POD, "leaf 0", "leaf 1"),
            "other = 'leaf 1' has no cable to leaf 0; give one of host 0",
        ),
        (lambda: bounced(POD, [[0, 16, 21, 5]], [10, 11], np.random.default_rng(0), stale=True), "did not arrive"),
        (lambda: in_words(buffer_dependencies(STAR, [[0, 3]]), [99]), "cycle"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def test_a_refusal_offers_stale_only_where_it_was_asked_for() -> None:
    """A packet climbs to spines 0 and 1 in vain: neither has a cable to leaf 1."""
    with pytest.raises(ValueError, match=r"did not arrive; give fewer dead cables$"):
        bounced(POD, [[0, 16, 21, 5]], [10, 11], np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"give fewer dead cables, or stale=False$"):
        bounced(POD, [[0, 16, 21, 5]], [10, 11], np.random.default_rng(0), stale=True)


@pytest.mark.parametrize("fabric", [POD, leaf_spine(16, 8, LINK)], ids=["one cable", "two cables"])
def test_cables_are_found_by_the_names_of_their_ends(fabric) -> None:
    """All pairs of neighbours together find every cable once, in either order of the names."""
    names = vertex_names(fabric)
    ends = {tuple(sorted((int(a), int(b)))) for a, b in zip(fabric.source, fabric.target, strict=True)}
    found = [cables_between(fabric, names[a], names[b]) for a, b in ends]
    assert sorted(np.concatenate(found).tolist()) == list(range(fabric.cables))
    for (a, b), cables in zip(ends, found, strict=True):
        assert cables_between(fabric, names[b], names[a]).tolist() == cables.tolist()
        assert {int(fabric.source[2 * c]) for c in cables} | {int(fabric.target[2 * c]) for c in cables} == {a, b}
