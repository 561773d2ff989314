"""Metrics: equal to formulas on tori, to networkx on random fabrics, to published counts on fat-trees."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from netlib.topology import (
    Cables,
    build,
    connected,
    diameter,
    distances,
    distances_to,
    dragonfly,
    dragonfly_plus,
    mean_hops,
    mean_switch_distance,
    oversubscription,
    switch_diameter,
    torus,
)
from tests.topology.random_fabrics import LINK, fabrics, leaf_and_spine, three_tiers


def far(fabric) -> np.ndarray:
    """(H, H) links between hosts, each searched for on its own."""
    return distances_to(fabric, fabric.hosts, fabric.hosts).astype(int)


@given(fabrics())
def test_distances_by_class_equal_those_by_host(fabric) -> None:
    found, ranks = distances(fabric), np.arange(fabric.hosts.size)
    assert np.array_equal(found.between(ranks[:, None], ranks), far(fabric).T)
    assert connected(fabric) == bool((far(fabric) >= 0).all())


@given(fabrics())
def test_diameter_and_means_are_those_of_the_table(fabric) -> None:
    table = far(fabric)
    if (table < 0).any():
        for measure in (diameter, mean_hops):
            with pytest.raises(ValueError, match=r"fabric 'random' is in pieces: .* what_remains"):
                measure(fabric)
        return
    n = len(table)
    assert diameter(fabric) == table.max()
    assert mean_hops(fabric) == pytest.approx(table.sum() / max(1, n * (n - 1)))
    assert mean_hops(fabric, include_self=True) == pytest.approx(table.sum() / n**2)


@given(fabrics())
def test_distances_between_hosts_are_symmetric_and_obey_the_triangle(fabric) -> None:
    table = far(fabric)
    assert np.array_equal(table, table.T)
    if fabric.forwards[fabric.hosts].all():  # else a host in the middle would have to pass messages on
        assume((table >= 0).all())
        assert np.all(table[:, None, :] <= table[:, :, None] + table[None, :, :])


@given(fabrics(), st.data())
def test_a_failure_never_brings_hosts_nearer(fabric, data: st.DataObject) -> None:
    assume(fabric.cables)
    dead = data.draw(st.lists(st.integers(0, fabric.cables - 1), max_size=5))
    before, after = far(fabric), far(fabric.without(cables=dead))
    assert np.all((after < 0) | ((before >= 0) & (after >= before)))


@given(st.lists(st.integers(1, 7), min_size=1, max_size=3))
def test_a_torus_equals_its_formulas(sides: list[int]) -> None:
    """Diameter: sum of floor(d/2). Mean with itself: sum of d/4 (even) or (d^2 - 1)/(4 d) (odd)."""
    fabric = torus(sides, LINK)
    assert diameter(fabric) == sum(d // 2 for d in sides)
    assert mean_hops(fabric, include_self=True) == pytest.approx(
        sum(d / 4 if d % 2 == 0 else d / 4 - 1 / d / 4 for d in sides)
    )
    assert mean_switch_distance(fabric) == pytest.approx(mean_hops(fabric))
    assert switch_diameter(fabric) == diameter(fabric)


def test_the_mean_of_a_pod_with_and_without_a_chip_to_itself() -> None:
    assert mean_hops(torus([16, 16, 16], LINK), include_self=True) == 12
    assert mean_hops(torus([8, 8, 8], LINK), include_self=True) == 6
    assert mean_hops(torus([8, 8, 8], LINK)) == pytest.approx(6 * 512 / 511)


@pytest.mark.parametrize("k", [2, 4, 8])
def test_a_fat_tree_is_six_links_across(k: int) -> None:
    fabric = three_tiers(k)
    hosts = k**3 // 4
    assert diameter(fabric) == 6
    assert switch_diameter(fabric) == 4
    same = {2: k // 2 - 1, 4: (k // 2 - 1) * k // 2, 6: hosts - k * k // 4}  # how many hosts are so many links away
    assert mean_hops(fabric) == pytest.approx(sum(d * n for d, n in same.items()) / (hosts - 1))
    assert oversubscription(fabric) == oversubscription(fabric, tier=2) == 1


def test_switches_of_direct_networks() -> None:
    assert switch_diameter(dragonfly(2, 4, 2, LINK)) == 3
    assert switch_diameter(dragonfly_plus(8, LINK)) == 3
    assert diameter(dragonfly_plus(8, LINK)) == 5
    assert nx.diameter(nx.Graph([(0, 1)])) == diameter(torus([2], LINK)) == 1


def test_switches_of_different_planes_are_no_pair() -> None:
    dual = leaf_and_spine(4, 2, 2, planes=2)
    assert (diameter(dual), switch_diameter(dual), mean_switch_distance(dual)) == (4, 2, 2)


def test_many_goals_are_searched_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    fabric = torus([5, 5], LINK)
    whole = (diameter(fabric), mean_hops(fabric), mean_switch_distance(fabric), distances(fabric).links.tolist())
    monkeypatch.setitem(diameter.__globals__, "_ROWS", 7)
    assert whole == (
        diameter(fabric),
        mean_hops(fabric),
        mean_switch_distance(fabric),
        distances(fabric).links.tolist(),
    )


@pytest.mark.parametrize(("down", "spines", "ratio"), [(4, 4, 1), (4, 2, 2), (6, 2, 3), (7, 1, 7), (2, 4, 0.5)])
def test_oversubscription_of_a_leaf(down: int, spines: int, ratio: float) -> None:
    fabric = leaf_and_spine(3, spines, down)
    assert oversubscription(fabric) == pytest.approx(ratio)
    assert oversubscription(fabric.without(vertices=[fabric.vertices - 1])) > ratio if spines > 1 else True


def test_a_tier_with_nothing_above_or_below_has_no_ratio() -> None:
    fabric = leaf_and_spine(2, 2, 2)
    with pytest.raises(ValueError, match=r"tier = 2 has no links up in leaf and spine; its tiers are 0, 1, 2"):
        oversubscription(fabric, tier=2)
    with pytest.raises(ValueError, match="tier = 0 has no links from below"):
        oversubscription(fabric, tier=0)


def test_one_host_alone_is_no_distance_from_anything() -> None:
    alone = build("alone", 1, [0], [0], [])
    assert (diameter(alone), mean_hops(alone), mean_hops(alone, include_self=True), connected(alone)) == (0, 0, 0, True)
    assert (switch_diameter(alone), mean_switch_distance(alone)) == (0, 0)
    none = build("nobody", 1, [], [0], [])
    assert (diameter(none), distances(none).links.shape, connected(none)) == (0, (0, 0), True)


def test_hosts_that_share_only_a_host_do_not_reach_one_another() -> None:
    chain = build("chain", 3, [0, 1, 2], [0, 0, 0], [Cables([0, 1], [2, 2], LINK)])
    assert distances(chain).between([0, 0, 1], [1, 2, 2]).tolist() == [-1, 1, 1]
