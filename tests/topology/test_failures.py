"""Failures: known losses, and no failure that adds anything."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from netlib.topology import Cables, build, labelled, multi_plane, rail_optimised, torus, what_remains
from tests.topology.random_fabrics import LINK, fabrics, leaf_and_spine


def test_one_plane_of_two_takes_half_of_everything_and_no_host() -> None:
    fabric = leaf_and_spine(4, 2, 2, planes=2)
    left = what_remains(fabric, fabric.without(vertices=labelled(fabric, "plane", 1)))
    assert (left.hosts, left.pairs, left.bisection, left.access, left.extra_hops) == (8, 1, 0.5, 0.5, 0)


def test_a_leaf_takes_its_hosts_with_it() -> None:
    fabric = leaf_and_spine(4, 2, 2)
    left = what_remains(fabric, fabric.without(vertices=[8]))
    assert (left.hosts, left.access, left.extra_hops) == (6, 0, 0)
    assert left.pairs == 6 * 5 / (8 * 7)
    assert left.bisection == 0.5


def test_a_spine_takes_its_share_of_the_bisection() -> None:
    fabric = leaf_and_spine(4, 2, 2)
    left = what_remains(fabric, fabric.without(vertices=[fabric.vertices - 1]))
    assert (left.hosts, left.pairs, left.bisection, left.access) == (8, 1, 0.5, 1)


@pytest.mark.parametrize("planes", [1, 2])
def test_a_spine_takes_its_share_on_rails_too(planes: int) -> None:
    fabric = multi_plane(rail_optimised(8, 8, 16, LINK), planes)
    spines = np.flatnonzero(fabric.tier == 2)
    left = what_remains(fabric, fabric.without(vertices=spines[:1]))
    assert (left.hosts, left.pairs, left.access) == (64, 1, 1)
    assert left.bisection == 1 - 1 / spines.size


def test_a_cable_of_a_ring_makes_a_chain() -> None:
    ring = torus([8], LINK)
    left = what_remains(ring, ring.without(cables=[0]))
    assert left.extra_hops == 6  # the two neighbours are 7 apart instead of 1
    assert (left.hosts, left.pairs, left.access) == (8, 1, 0.5)
    assert what_remains(ring, ring.without(cables=[0, 4])).hosts == 4
    assert what_remains(ring, ring) == what_remains(ring, ring.without())


def test_a_host_that_still_meets_everyone_does_not_join_the_others() -> None:
    two = leaf_and_spine(1, 1, 3, planes=2)  # each host has one cable in each plane
    left = what_remains(two, two.without(cables=np.flatnonzero((two.source == 0) & (two.target == 3)) // 2))
    assert (left.hosts, left.pairs) == (3, 1)
    dead = [i for i in range(two.cables) if (two.source[2 * i], two.target[2 * i]) in {(0, 3), (2, 5)}]
    left = what_remains(two, two.without(cables=dead))
    assert left.hosts == 3  # host 1 reaches both
    assert left.pairs == pytest.approx(4 / 6)  # hosts 0 and 2 have lost one another


@given(fabrics(most=10), st.data())
def test_more_failures_never_leave_more(fabric, data: st.DataObject) -> None:
    assume(fabric.cables)
    some = st.lists(st.integers(0, fabric.cables - 1), max_size=4)
    first, more = data.draw(some), data.draw(some)
    try:
        whole = what_remains(fabric, fabric)
    except ValueError:
        assume(False)
    one = what_remains(fabric, fabric.without(cables=first))
    two = what_remains(fabric, fabric.without(cables=first + more))
    assert (whole.pairs, whole.access, whole.extra_hops) == (1, 1, 0)
    assert whole.bisection == pytest.approx(1)
    for less, less_still in ((whole, one), (one, two)):
        assert less_still.hosts <= less.hosts
        assert less_still.pairs <= less.pairs
        assert less_still.bisection <= less.bisection + 1e-9
        assert less_still.access <= less.access
    assert min(one.extra_hops, two.extra_hops) >= 0


def test_questions_without_an_answer_are_refused() -> None:
    ring, alone = torus([8], LINK), torus([1], LINK)
    apart = build("apart", 2, [0, 1], [0, 0], [])
    with pytest.raises(ValueError, match=r"broken has 4 hosts on 4 vertices and fabric has 8 on 8; make it with"):
        what_remains(ring, torus([4], LINK))
    with pytest.raises(ValueError, match="fabric 'torus 1' has 1 hosts"):
        what_remains(alone, alone)
    with pytest.raises(ValueError, match="fabric 'apart' has no path between its halves"):
        what_remains(apart, apart)
    with pytest.raises(ValueError, match="value = 9 is no x0 of torus 8"):
        labelled(ring, "x0", 9)
    assert build("pair", 2, [0, 1], [0, 0], [Cables([0], [1], LINK)]).links == 2
