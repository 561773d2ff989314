"""Direct networks: published counts, even wiring, bad input."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import Fabric, diameter, distances_to, dragonfly, dragonfly_plus, mean_switch_distance, torus

LINK, SLOW, FAST = Link(1e-6, 25e9), Link(1e-7, 12.5e9), Link(5e-7, 100e9)


def cables(fabric: Fabric, kind: str) -> np.ndarray:
    """(n, 2) both ends of the cables of one kind."""
    use = np.flatnonzero(fabric.of_kind(kind))[::2]
    return np.stack([fabric.source[use], fabric.target[use]], axis=1)


# Kim, Dally, Scott and Abts, ISCA 2008: N = a p (a h + 1), diameter 3. Means: own count, consecutive order.
@pytest.mark.parametrize(
    ("p", "a", "h", "groups", "hosts", "mean"),
    [(2, 4, 2, 9, 72, 2.3429), (4, 8, 4, 33, 1056, 2.6863), (8, 16, 8, 129, 16512, 2.8554)],
)
def test_balanced_dragonflies_have_the_published_counts(p, a, h, groups, hosts, mean) -> None:
    fabric = dragonfly(p, a, h, LINK)
    assert (fabric.hosts.size, fabric.switches.size) == (hosts, groups * a)
    assert len(np.unique(fabric.label("group"))) == groups
    assert set(fabric.degree[fabric.switches]) == {p + a - 1 + h}
    assert round(mean_switch_distance(fabric), 4) == mean


def test_the_largest_dragonflies() -> None:
    kim = dragonfly(16, 32, 16, LINK)
    assert (kim.hosts.size, kim.label("group").max() + 1) == (262_656, 513)
    slingshot = dragonfly(16, 32, 17, LINK)  # 64-port switch: 16 + 31 + 17
    assert (slingshot.hosts.size, slingshot.label("group").max() + 1) == (279_040, 545)
    assert set(slingshot.degree[slingshot.switches]) == {64}


@given(st.integers(1, 3), st.integers(1, 5), st.integers(0, 3), st.data())
def test_long_cables_are_dealt_evenly(p: int, a: int, h: int, data: st.DataObject) -> None:
    groups = data.draw(st.integers(1, a * h + 1))
    fabric = dragonfly(p, a, h, LINK, groups=groups)
    group = fabric.label("group")
    ends = cables(fabric, "global")
    between = np.zeros((groups, groups), int)
    np.add.at(between, (group[ends[:, 0]], group[ends[:, 1]]), 1)
    between += between.T
    each = a * h // (groups - 1) if groups > 1 else 0
    assert np.all(between[~np.eye(groups, dtype=bool)] == each)
    assert not between.diagonal().any()
    ports = np.bincount(ends.ravel(), minlength=fabric.vertices)[fabric.switches]
    assert ports.max() - ports.min() <= 1
    assert ports.max() <= h
    inside = cables(fabric, "local")
    assert len({tuple(sorted(pair)) for pair in inside.tolist()}) == len(inside) == groups * a * (a - 1) // 2
    assert np.array_equal(group[inside[:, 0]], group[inside[:, 1]])
    assert diameter(fabric) <= 5


def test_groups_are_counted_from_the_group_itself() -> None:
    fabric = dragonfly(2, 4, 2, LINK)
    group, first = fabric.label("group"), fabric.switches.reshape(9, 4)
    ends = cables(fabric, "global")
    for i in range(9):
        for k in range(8):
            mine = (ends == first[i, k // 2]).any(axis=1)
            assert (i + 1 + k) % 9 in group[ends[mine]]


def test_each_kind_of_cable_has_its_own_link() -> None:
    fabric = dragonfly(2, 4, 2, LINK, local=SLOW, long=FAST)
    for kind, link in (("access", LINK), ("local", SLOW), ("global", FAST)):
        assert set(fabric.capacity[fabric.of_kind(kind)]) == {link.bandwidth}
        assert set(fabric.latency[fabric.of_kind(kind)]) == {link.alpha}


# Shpiner and others, HiPINEB 2017: (k/2)^2 hosts in each of (k/2)^2 + 1 groups.
@pytest.mark.parametrize(("radix", "hosts"), [(2, 2), (4, 20), (8, 272), (64, 1_049_600)])
def test_dragonfly_plus_has_the_published_counts(radix: int, hosts: int) -> None:
    fabric = dragonfly_plus(radix, LINK)
    half = radix // 2
    assert fabric.hosts.size == hosts
    assert fabric.switches.size == 2 * half * (half**2 + 1)
    assert set(fabric.degree[fabric.switches]) == {radix}
    if radix < 64:
        leaves = np.flatnonzero(fabric.tier == 1)
        assert distances_to(fabric, leaves, leaves).max() == 3
        group, ends = fabric.label("group"), cables(fabric, "global")
        assert len({tuple(sorted(group[pair])) for pair in ends}) == len(ends) == half**2 * (half**2 + 1) // 2
        assert set(fabric.tier[ends].ravel()) == {2}
        inside = cables(fabric, "local")
        assert np.array_equal(group[inside[:, 0]], group[inside[:, 1]])
        assert set(map(tuple, fabric.tier[inside])) == {(1, 2)}


def test_a_dragonfly_plus_may_have_fewer_groups() -> None:
    fabric = dragonfly_plus(8, LINK, groups=3)
    assert fabric.hosts.size == 48
    assert fabric.of_kind("global").sum() == 2 * 3 * 8  # 16 ports for 2 other groups
    assert dragonfly_plus(8, LINK, groups=1).of_kind("global").sum() == 0


@given(st.lists(st.integers(1, 6), min_size=1, max_size=3), st.data())
def test_a_torus_is_the_grid_graph(sides: list[int], data: st.DataObject) -> None:
    wrap = data.draw(st.lists(st.booleans(), min_size=len(sides), max_size=len(sides)))
    fabric = torus(sides, LINK, wrap=wrap)
    at = np.stack([fabric.label(f"x{axis}") for axis in range(len(sides))], axis=1)
    assert np.array_equal(np.ravel_multi_index(tuple(at.T), tuple(sides)), np.arange(fabric.vertices))
    grid = nx.grid_graph(sides[::-1], periodic=wrap[::-1])
    grid.remove_edges_from(list(nx.selfloop_edges(grid)))
    names = {tuple(np.atleast_1d(node)) for node in grid}
    assert names == set(map(tuple, at.tolist()))
    ours = [frozenset((tuple(at[a]), tuple(at[b]))) for a, b in cables(fabric, "ici").tolist()]
    theirs = {frozenset((tuple(np.atleast_1d(a)), tuple(np.atleast_1d(b)))) for a, b in grid.edges}
    assert len(ours) == len(theirs)  # no cable twice
    assert set(ours) == theirs
    assert fabric.forwards.all()


def test_a_torus_of_one_wrap_wraps_all_axes() -> None:
    assert torus([3, 4], LINK).cables == 24
    assert torus([3, 4], LINK, wrap=False).cables == 2 * 4 + 3 * 3
    assert torus([3, 4], LINK, wrap=(True, False)).cables == 12 + 9
    assert torus([3, 4], LINK).name == "torus 3x4"
    assert torus([3, 4], LINK, wrap=False).name == "mesh 3x4"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: dragonfly(0, 4, 2, LINK), "p = 0 must be a whole number, 1 or more"),
        (lambda: dragonfly(2, 4.5, 2, LINK), "a = 4.5 must be a whole number"),
        (lambda: dragonfly(2, 4, -1, LINK), "h = -1 must be a whole number, 0 or more"),
        (lambda: dragonfly(2, 4, 2, LINK, groups=10), "groups = 10 is more than a h .* give at most 9"),
        (lambda: dragonfly(2, 4, 2, LINK, groups=0), "groups = 0 must be a whole number, 1 or more"),
        (lambda: dragonfly_plus(7, LINK), "radix = 7 must be even"),
        (lambda: dragonfly_plus(0, LINK), "radix = 0 must be a whole number, 2 or more"),
        (lambda: dragonfly_plus(True, LINK), "radix = True"),
        (lambda: dragonfly_plus(4, LINK, groups=6), "groups = 6 is more than .* give at most 5"),
        (lambda: torus([4, 0], LINK), "sides = 0 must be a whole number"),
        (lambda: torus([4, 2.5], LINK), "sides = 4.0 must be a whole number"),
        (lambda: torus([], LINK), "sides has no side"),
        (lambda: torus([4, 4], LINK, wrap=(True, False, True)), "wrap has 3 answers for 2 sides"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_sentence(make, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        make()
    assert "\n" not in str(caught.value)
