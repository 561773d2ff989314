"""Detours: valid ways, never too long; the loads of torus, dragonfly and rails as closed forms say."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.topology import (
    all_to_all_ledger,
    dimension_ordered,
    dragonfly,
    dragonfly_plus,
    ecmp,
    leaf_spine,
    ledger,
    minimal,
    one_global,
    pxn,
    routes,
    torus,
    valiant,
)
from netlib.topology.rails import rail_only, rail_optimised
from tests.topology.test_routing import INSIDE, LINK, check_way

FLY = dragonfly(2, 4, 2, LINK)
PLUS = dragonfly_plus(4, LINK)
RAILS = rail_optimised(6, 2, 8, LINK, inside=INSIDE)
GRIDS = [torus([4, 4], LINK), torus([3, 2, 5], LINK), torus([2, 3, 4], LINK, wrap=False), torus([7], LINK)]


def pairs(fabric):
    n = fabric.hosts.size
    return tuple(grid.ravel() for grid in np.indices((n, n)))


def globals_of(fabric, ways):
    return np.append(fabric.of_kind("global"), False)[ways].sum(axis=1)


@pytest.mark.parametrize("fabric", [FLY, PLUS, dragonfly(1, 3, 2, LINK, groups=3)], ids=lambda f: f.name)
def test_ways_between_groups(fabric) -> None:
    src, dst = pairs(fabric)
    group = fabric.label("group")[fabric.hosts]
    apart = group[src] != group[dst]
    rng = np.random.default_rng(0)
    straight, bent = one_global(fabric, src, dst, rng), valiant(fabric, src, dst, rng)
    for ways, crossed in ((straight, 1), (bent, 2)):
        assert np.array_equal(globals_of(fabric, ways), crossed * apart)
        for i in range(0, src.size, 13):
            check_way(fabric, ways[i], src[i], dst[i])
    switched = np.count_nonzero(bent >= 0, axis=1) - 2
    assert switched.max() <= 2 * max(3, int(routes(fabric).distance(src, dst).max()) - 2)


def test_valiant_visits_every_third_group_and_neither_end() -> None:
    rng = np.random.default_rng(0)
    ways = valiant(FLY, np.zeros(4000, int), np.full(4000, 71), rng)
    group = FLY.label("group")
    long = np.append(FLY.of_kind("global"), False)[ways]
    into = group[FLY.target[ways[np.arange(4000), np.argmax(long, axis=1)]]]
    counts = np.bincount(into, minlength=9)
    assert counts[0] == counts[8] == 0
    assert np.abs(counts[1:8] / (4000 / 7) - 1).max() < 0.2


def test_what_is_worst_for_minimal_is_nothing_special_for_valiant() -> None:
    """Each group sends to the next: minimal piles 8 flows on one cable of 8, Valiant spreads them over all."""
    src = np.arange(72)
    dst = (src + 8) % 72
    rng = np.random.default_rng(0)
    piled = ledger(FLY, one_global(FLY, src, dst, rng))
    cables = piled.level("global")
    assert piled.bytes[cables].max() == 8
    assert piled.used(cables) == 1 / 8
    spread = ledger(FLY, np.concatenate([valiant(FLY, src, dst, rng) for _ in range(100)]), 0.01)
    assert spread.bytes[cables].max() < 3
    assert spread.bytes[cables].sum() == pytest.approx(2 * piled.bytes[cables].sum())


def test_shortest_by_links_may_take_two_global_cables() -> None:
    src, dst = pairs(FLY)
    rng = np.random.default_rng(0)
    short, straight = minimal(routes(FLY), src, dst, rng), one_global(FLY, src, dst, rng)
    assert globals_of(FLY, short).max() > 1
    assert np.count_nonzero(short >= 0) < np.count_nonzero(straight >= 0)


@pytest.mark.parametrize("fabric", GRIDS, ids=lambda f: f.name)
def test_dimension_order_is_shortest_and_ordered(fabric) -> None:
    src, dst = pairs(fabric)
    ways = dimension_ordered(fabric, src, dst)
    assert np.array_equal(np.count_nonzero(ways >= 0, axis=1), routes(fabric).distance(src, dst))
    at = np.stack([fabric.label(name) for name in fabric.labels])
    for way, s, d in zip(ways, src, dst, strict=True):
        check_way(fabric, way, s, d)
        way = way[way >= 0]
        axis = np.argmax(at[:, fabric.source[way]] != at[:, fabric.target[way]], axis=0)
        assert np.all(np.diff(axis) >= 0)


@pytest.mark.parametrize("sides", [(4,), (8,), (4, 8), (4, 4, 8), (8, 4, 4), (3, 5), (7,)])
def test_a_uniform_all_to_all_on_a_torus_is_the_closed_form(sides) -> None:
    """Along a side of n: N n / 8 flows per link for n divisible by 4, N (n^2 - 1) / 8 n for odd n, all links alike."""
    fabric = torus(sides, LINK)
    load = ledger(fabric, dimension_ordered(fabric, *pairs(fabric))).bytes
    for i, n in enumerate(sides):
        at = fabric.label(f"x{i}")
        mine = at[fabric.source] != at[fabric.target]
        assert load[mine] == pytest.approx(fabric.hosts.size * (n / 8 if n % 2 == 0 else (n * n - 1) / (8 * n)))


def test_dimension_order_does_not_go_round_failures() -> None:
    ring = torus([6], LINK).without(cables=[0])
    with pytest.raises(ValueError, match="lacks the link on from vertex 0"):
        dimension_ordered(ring, [0], [1])
    assert dimension_ordered(ring, [1], [3]).shape == (1, 2)
    assert dimension_ordered(ring, [1], [1]).shape == (1, 0)


def test_pxn_keeps_an_all_to_all_on_its_rails() -> None:
    """8 rails: 1/8 of the bytes of a uniform all-to-all are for the sender's own rail; with PXN all travel on one."""
    nodes, rails = 9, 8
    fabric = rail_optimised(nodes, rails, 16, LINK, inside=INSIDE)
    found = routes(fabric)
    src, dst = pairs(fabric)
    node = src // rails != dst // rails
    src, dst = src[node], dst[node]
    one_unit = src // rails // 8 == dst // rails // 8
    plain, kept = ecmp(found, src, dst), pxn(found, src, dst, ecmp)
    top = np.append(fabric.tier[fabric.target] == 2, False)
    climbs, stays = top[plain].any(axis=1), ~top[kept].any(axis=1)
    assert np.mean(climbs[one_unit]) == 7 / 8
    assert np.all(stays[one_unit])
    assert np.all(~stays[~one_unit])  # the ninth node is in another unit: its rail leaves meet at the spines
    nvlink = np.append(fabric.of_kind("nvlink"), False)
    assert nvlink[plain].sum() == 0
    assert nvlink[kept].any(axis=1).mean() == 7 / 8
    for i in range(0, src.size, 97):
        check_way(fabric, kept[i], src[i], dst[i])


def test_the_ledger_of_an_all_to_all_with_and_without_pxn() -> None:
    fabric = rail_optimised(8, 8, 16, LINK, inside=INSIDE)
    found = routes(fabric)
    plain, kept = all_to_all_ledger(found, 1.0, ecmp), all_to_all_ledger(found, 1.0, partial(pxn, policy=ecmp))
    assert plain.by_level()["trunk", 1, 2] == 64 * 56 * 7 / 8
    assert kept.by_level()["trunk", 1, 2] == 0
    assert kept.by_level()["access", 0, 1] == plain.by_level()["access", 0, 1] == 64 * 56
    assert plain.by_kind()["nvlink"] == 2 * 64 * 7
    assert kept.by_kind()["nvlink"] == 2 * (64 * 7 + 64 * 56 * 7 / 8)


def test_rail_only_needs_pxn() -> None:
    fabric = rail_only(4, 2, 8, LINK, INSIDE)
    found = routes(fabric)
    with pytest.raises(ValueError, match="cannot be reached"):
        ecmp(found, [0], [3])
    way = pxn(found, [0], [3], ecmp)[0]
    check_way(fabric, way, 0, 3)
    held = all_to_all_ledger(found, 1.0, partial(pxn, policy=partial(ecmp, qps=2)))
    assert held.by_level()["access", 0, 1] == 8 * 6


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 999))
def test_pxn_delivers_the_same_bytes(seed) -> None:
    rng = np.random.default_rng(seed)
    fabric = rail_optimised(6, 2, 8, LINK, inside=INSIDE)
    src, dst = rng.integers(12, size=(2, 20))
    size = rng.random(20)
    load = ledger(fabric, pxn(routes(fabric), src, dst, ecmp), size).bytes
    into, out = np.bincount(fabric.target, load, fabric.vertices), np.bincount(fabric.source, load, fabric.vertices)
    some = src != dst
    net = np.bincount(dst[some], size[some], fabric.vertices) - np.bincount(src[some], size[some], fabric.vertices)
    assert into - out == pytest.approx(net)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: valiant(dragonfly(1, 2, 1, LINK, groups=2), [0], [3], np.random.default_rng(0)), "has 2 groups"),
        (lambda: valiant(leaf_spine(8, 4, LINK), [0], [3], np.random.default_rng(0)), "group"),
        (lambda: dimension_ordered(leaf_spine(8, 4, LINK), [0], [3]), "no labels x0"),
        (lambda: pxn(routes(leaf_spine(8, 4, LINK)), [0], [3], ecmp), "no nvlink"),
        (lambda: pxn(routes(replace(RAILS, hosts=RAILS.hosts[:-1])), [10], [1], ecmp), "has no GPU on rail 1"),
        (
            lambda: one_global(
                FLY.without(cables=np.flatnonzero(FLY.of_kind("global")[::2])), [0], [71], np.random.default_rng(0)
            ),
            "no cable from group 0 to 8",
        ),
        (
            lambda: one_global(
                FLY.without(cables=np.flatnonzero(FLY.of_kind("local")[::2])), [0], [7], np.random.default_rng(0)
            ),
            "lacks cables",
        ),
    ],
)
def test_bad_input_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()
