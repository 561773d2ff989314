"""Buckets on a torus: executed, counted cable by cable, timed step by step, and broken on purpose."""

import re
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.links import Link
from netlib.topology import torus
from tests.collectives.stepped import holds, ledger, messages, nothing, perturbed, seconds

SHAPES = [(1,), (2,), (5,), (1, 3), (2, 3), (4, 4), (3, 5), (2, 2, 2), (3, 2, 4), (4, 4, 4), (5, 1, 2), (2, 3, 2, 3)]
WAYS = list(product([False, True], [False, True]))
SIZE = 1e6
LINK = Link(1e-6, 45e9)


@pytest.mark.parametrize("sides", SHAPES)
@pytest.mark.parametrize(("all_axes", "both_ways"), WAYS)
def test_every_collective_on_every_shape(sides, all_axes, both_ways):
    for build in (c.torus_allreduce, c.torus_reduce_scatter, c.torus_all_gather):
        made = build(sides, all_axes=all_axes, both_ways=both_ways)
        assert made.n == prod(sides)
        assert holds(made)
    ends = c.torus_reduce_scatter(sides, all_axes=all_axes, both_ways=both_ways).target
    assert (np.bincount(ends, minlength=prod(sides)) == ends.size // prod(sides)).all()  # an equal share each


@pytest.mark.parametrize("sides", SHAPES)
@pytest.mark.parametrize(("all_axes", "both_ways"), WAYS)
def test_bytes_on_every_cable(sides, all_axes, both_ways):
    """Messages go between neighbours of the torus only, and every link of an axis carries what the closed form says."""
    fabric = torus(sides, LINK)
    cables = set(zip(fabric.source.tolist(), fabric.target.tolist(), strict=True))
    way = {"all_axes": all_axes, "both_ways": both_ways}
    expected = np.atleast_1d(c.torus_bytes(SIZE, sides, all_axes, both_ways))
    at = np.stack(np.unravel_index(np.arange(prod(sides)), sides), axis=-1)
    for build, times in ((c.torus_allreduce, 2), (c.torus_reduce_scatter, 1), (c.torus_all_gather, 1)):
        held = ledger(build(sides, **way), SIZE)
        assert set(held) <= cables
        for (src, dst), volume in held.items():
            (axis,) = np.flatnonzero(at[src] != at[dst])
            assert volume == pytest.approx(times * expected[axis], rel=1e-12)
        moving = sum(1 for side in sides if side > 1)
        used = sum((2 if both_ways and side > 2 else 1) * prod(sides) for side in sides if side > 1)
        assert len(held) == used if moving else not held


@given(sides=st.lists(st.integers(1, 9), min_size=1, max_size=4), both_ways=st.booleans())
def test_all_buckets_together_move_what_one_moves(sides, both_ways):
    n = prod(sides)
    whole = (n - 1) / n * SIZE
    assert c.torus_bytes(SIZE, sides).sum() == pytest.approx(whole)
    assert c.torus_bytes(SIZE, sides, all_axes=True).sum() == pytest.approx(whole)
    equal = [sides[0]] * len(sides)
    even = c.torus_bytes(SIZE, equal, all_axes=True, both_ways=both_ways)
    share = (prod(equal) - 1) / prod(equal) * SIZE / len(equal)
    assert even == pytest.approx(share / (2 if both_ways and sides[0] > 2 else 1))


@pytest.mark.parametrize("sides", SHAPES)
@pytest.mark.parametrize("both_ways", [False, True])
def test_one_bucket_step_by_step(sides, both_ways):
    for build, form in (
        (c.torus_allreduce, c.torus_allreduce_time),
        (c.torus_reduce_scatter, c.torus_reduce_scatter_time),
        (c.torus_all_gather, c.torus_reduce_scatter_time),
    ):
        clock = seconds(build(sides, both_ways=both_ways), SIZE, lambda *_: LINK)
        assert clock == pytest.approx(float(form(SIZE, sides, LINK, both_ways=both_ways)), rel=1e-12)


@pytest.mark.parametrize("sides", [(4,), (3, 3), (4, 4), (2, 2, 2), (3, 3, 3), (4, 4, 4)])
@pytest.mark.parametrize("both_ways", [False, True])
def test_all_axes_step_by_step_with_equal_sides(sides, both_ways):
    made = c.torus_allreduce(sides, all_axes=True, both_ways=both_ways)
    assert made.steps == 2 * sum(side - 1 for side in sides)  # all buckets take their steps together
    form = float(c.torus_allreduce_time(SIZE, sides, LINK, all_axes=True, both_ways=both_ways))
    assert seconds(made, SIZE, lambda *_: LINK) == pytest.approx(form, rel=1e-12)
    for step in messages(made, SIZE):
        ports = len(sides) * (2 if both_ways and sides[0] > 2 else 1)
        assert len(step) == ports * made.n  # every link is busy in every step


@pytest.mark.parametrize("sides", [(5,), (3, 3), (4, 4), (3, 3, 3), (2, 4)])
@pytest.mark.parametrize(("all_axes", "both_ways"), WAYS)
def test_simulated_on_the_torus(sides, all_axes, both_ways):
    """Third way: on the cables of the fabric. With equal sides as the closed form, at every pace; else no faster."""
    made = c.torus_allreduce(sides, all_axes=all_axes, both_ways=both_ways)
    form = float(c.torus_allreduce_time(SIZE, sides, LINK, all_axes=all_axes, both_ways=both_ways))
    fabric = torus(sides, LINK)
    for pace in ("step", "rank", "data"):
        clock = c.simulate(made, fabric, SIZE, pace=pace).seconds
        if all_axes and len(set(sides)) > 1:
            assert clock >= form * (1 - 1e-9)
        else:
            assert clock == pytest.approx(form, rel=1e-9)


def test_published_and_recomputed_times():
    """4,096 chips, 1 GB, 45 GB/s a link direction: axis by axis with both directions 22.2 ms, on all axes 7.4 ms."""
    link, cube = Link(0, 45e9), [16, 16, 16]
    assert round(float(c.torus_allreduce_time(1e9, cube, link, both_ways=True)) * 1e3, 1) == 22.2
    assert round(float(c.torus_allreduce_time(1e9, cube, link, all_axes=True, both_ways=True)) * 1e3, 1) == 7.4
    for sides, excess in (([4, 4, 8], 0.16), ([4, 8, 8], 0.13)):  # above (n-1)/n size / 2D: the busiest axis decides
        sent = c.torus_bytes(1.0, sides, all_axes=True, both_ways=True)
        assert round(float(sent.max() / sent.mean()) - 1, 2) == excess


def test_closed_forms_broadcast():
    sizes, sides = np.array([1e3, 1e6, 1e9]), np.array([[4, 4, 4], [4, 4, 8], [16, 16, 16]])
    grid = c.torus_allreduce_time(sizes[:, None], sides, LINK, all_axes=True)
    assert grid.shape == (3, 3)
    assert grid[2, 1] == c.torus_allreduce_time(1e9, [4, 4, 8], LINK, all_axes=True)


@given(sides=st.lists(st.integers(2, 4), min_size=1, max_size=3), seed=st.integers(0, 9))
@settings(max_examples=25)
def test_floating_point_sums_agree_on_all_ranks(sides, seed):
    """Every rank gets the same bits: each chunk is summed once and then copied."""
    made = c.torus_allreduce(sides, all_axes=True, both_ways=True)
    data = np.random.default_rng(seed).standard_normal((made.n, made.chunks))
    state = c.execute(made, data)
    assert (state == state[0]).all()
    assert state[0] == pytest.approx(data.sum(axis=0))


def test_order_of_addition():
    """On 2 x 2: along axis 0 first (0 with 2, 1 with 3), then the two sums."""
    assert c.reduction_order(c.torus_allreduce([2, 2])) == "((3+1)+(2+0))"


@pytest.mark.parametrize(
    "made",
    [
        c.torus_allreduce([2, 3]),
        c.torus_allreduce([3, 3], all_axes=True),
        c.torus_reduce_scatter([3, 2], both_ways=True),
        c.torus_all_gather([2, 2, 2], all_axes=True),
    ],
    ids=lambda made: f"{made.op} {made.n}",
)
def test_a_changed_message_is_found(made):
    assert holds(made)
    assert not holds(nothing(made))
    found = {what: [] for what in ("drop", "dst", "chunk", "add")}
    for (what, *_), changed in perturbed(made):
        found[what].append(not holds(changed))
    assert all(found["drop"])
    assert all(found["chunk"])
    assert np.mean(found["dst"]) > 0.7  # a part of a line's sum may take another line
    if made.op != "all_gather":
        assert all(found["add"])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.torus_allreduce([]), "sides has no side; give the chips along each axis"),
        (lambda: c.torus_allreduce([4, 0]), "sides = 0 must be a whole number, 1 or more"),
        (lambda: c.torus_allreduce([2.5]), "sides = 2.5 must be a whole number"),
        (lambda: c.torus_allreduce([4], all_axes=1), "all_axes = 1 must be True or False"),
        (lambda: c.torus_bytes(1, 4), "sides needs an axis of sides, such as [4, 4, 4]"),
        (lambda: c.torus_allreduce_time(1, [], LINK), "sides needs an axis of sides"),
        (lambda: c.torus_allreduce_time(1, [4, 0], LINK), "sides = 0 must be at least 1"),
        (lambda: c.torus_allreduce_time(-1, [4], LINK), "size = -1 must be at least 0"),
    ],
)
def test_refusals_in_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        bad()
    assert "\n" not in str(caught.value)
