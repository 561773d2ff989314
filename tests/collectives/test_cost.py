"""Closed forms against execution: same sums, same bytes, same seconds."""

import re
from inspect import signature

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.collectives import cost, primitives
from netlib.collectives.cost import ranks
from netlib.links import Link
from tests.collectives import executed as e

SIZE, LINK, GAMMA, BANDWIDTH = e.SIZE, e.LINK, e.GAMMA, e.LINK.bandwidth

# what a formula prices: the schedule of its name, or this one
BUILDERS = {
    "pipelined_broadcast": lambda n: c.pipelined_broadcast(n, 6),
    "double_tree_broadcast": lambda n: c.double_tree_broadcast(n, 6),
}
# the published count of the double tree's all-reduce is a bound: see test_twotrees
EXECUTED = [name for module in (cost, primitives) for name in vars(module) if name.endswith("_time")]


@pytest.mark.parametrize("name", sorted(set(EXECUTED) - {"double_tree_allreduce_time"}))
@settings(deadline=None, max_examples=12)
@given(n=st.integers(1, 40))
def test_every_closed_form_is_what_its_schedule_takes(name, n):
    formula, builder = getattr(c, name), name.removesuffix("_time")
    made = BUILDERS.get(builder, getattr(c, builder))(n)
    assert c.is_correct(made, np.random.default_rng(n))
    gamma = {"gamma": GAMMA} if "gamma" in signature(formula).parameters else {}
    segments = {"segments": 6} if "segments" in signature(formula).parameters else {}
    assert e.seconds(made, **gamma) == pytest.approx(float(formula(SIZE, n, LINK, **gamma, **segments)), rel=1e-12)


def test_no_closed_form_is_left_out():
    assert len(EXECUTED) >= 19
    assert {name.removesuffix("_time") for name in EXECUTED} <= set(c.__all__)


@given(n=st.integers(1, 5000))
def test_ring_moves_the_least_bytes_and_tree_the_least_steps(n):
    free, instant = Link(0, 1.0), Link(1.0, 1e30)
    others = (c.tree_allreduce_time, c.recursive_doubling_allreduce_time, c.halving_doubling_allreduce_time)
    assert all(c.ring_allreduce_time(1.0, n, free) <= other(1.0, n, free) + 1e-12 for other in others)
    assert (
        c.recursive_doubling_allreduce_time(1.0, n, instant) <= c.ring_allreduce_time(1.0, n, instant) + 1e-9 or n == 3
    )


@given(n=st.integers(1, 1 << 20))
def test_depth_is_exact_at_and_beside_powers_of_two(n):
    assert float(c.depth(n)) == (n - 1).bit_length()


@given(
    n=st.integers(2, 4096),
    size=st.floats(1e3, 1e11),
    alpha=st.floats(1e-9, 1e-3),
    segments=st.integers(1, 10_000),
)
def test_best_segments_beat_any_other(n, size, alpha, segments):
    link = Link(alpha, BANDWIDTH)
    best = float(c.double_tree_allreduce_time(size, n, link))
    assert best <= float(c.double_tree_allreduce_time(size, n, link, segments)) * (1 + 1e-9)
    best = float(c.pipelined_broadcast_time(size, n, link))
    assert best <= float(c.pipelined_broadcast_time(size, n, link, segments)) * (1 + 1e-9)


def test_double_tree_without_latency_needs_two_buffers():
    assert float(c.double_tree_allreduce_time(1e9, 1024, Link(0, 50e9))) == pytest.approx(2 * 1e9 / 50e9)
    assert float(c.double_tree_allreduce_time(1e9, 1, LINK)) == 0


@given(n=st.lists(st.integers(1, 5000), min_size=1, max_size=5))
def test_functions_broadcast(n):
    sizes = np.array([[1e3], [1e6]])
    for name in c.__all__:
        function = getattr(c, name)
        if name.endswith("_time") and list(signature(function).parameters)[:3] == ["size", "n", "link"]:
            grid = function(sizes, n, LINK)
            assert grid.shape == (2, len(n))
            assert np.allclose(grid[1], [float(function(1e6, one, LINK)) for one in n], rtol=1e-12)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.ring_allreduce_time(-1, 8, LINK), "size = -1 must be at least 0"),
        (lambda: c.ring_allreduce_time(1, 0, LINK), "n = 0 must be at least 1"),
        (lambda: c.ring_allreduce_time(1, 2.5, LINK), "n = 2.5 must be a whole number, such as 8"),
        (lambda: c.double_tree_allreduce_time(1, 8, LINK, 2.5), "segments = 2.5 must be a whole number, such as 8"),
        (lambda: c.double_tree_broadcast_time(1, 8, LINK, 2.5), "segments = 2.5 must be a whole number"),
        (lambda: c.pipelined_broadcast_time(1, 8, LINK, 2.5), "segments = 2.5 must be a whole number"),
        (
            lambda: c.ring_allreduce_time(1, "8", LINK),
            "n = '8' is not a number or an array of numbers; write it without quotes",
        ),
        (lambda: c.ring_allreduce_time(float("nan"), 8, LINK), "size = nan is not a number; give one of at least 0"),
        (lambda: c.ring_allreduce_time("big", 8, LINK), "size = 'big' is not a number"),
        (lambda: c.busbw_factor(8, "all-reduce"), "op = 'all-reduce' is not an nccl-tests operation"),
        (lambda: c.zero_bytes(1, 8, 4), "stage = 4 must be"),
        (lambda: c.bucket_size(1, 1e-6, 1e9, 8, 8), "share = 1 must be below 1"),
        (lambda: c.zero_bytes(1, 8, [1, 2]), "stage = [1, 2] must be"),
        (lambda: c.busbw_factor(8, np.array(["all_reduce", "reduce"])), "must be text"),
        (lambda: c.ring_allreduce_time(1e9, 8, 50e9), "link = 50000000000.0 is not a Link; make one with Link("),
        (lambda: c.nvls_allreduce_time(1e9, 8, None), "link = None is not a Link"),
        (lambda: c.ring_allreduce_time([1, 2], [2, 4, 8], LINK), "size has shape (2,), n has shape (3,)"),
        (lambda: c.tp_bytes(80, [1, 2], [1, 2, 3], 2, 8), "tokens has shape (2,), hidden has shape (3,)"),
        (lambda: c.tp_bytes(80, 1, 1, 2, 0), "tp = 0 must be at least 1"),
        (lambda: c.tp_bytes(80, 1, 1, 2, 8, -4), "allreduces = -4 must be at least 0"),
        (lambda: c.serial_stages(1, 8, 0, LINK, LINK), "nodes = 0 must be at least 1"),
        (lambda: c.ring_allreduce_time(1, 8, LINK, gamma=-1), "gamma = -1 must be at least 0"),
        (lambda: c.ring_allreduce_time(1e308, 8, Link(0, 1e-3)), "size, n, link give a number beyond 1e308"),
        (lambda: c.crossover_size(LINK.time, LINK.time, low=0), "low = 0 must be above 0"),
        (lambda: c.crossover_size(LINK.time, LINK.time, low=9, high=3), "high = 3 must be above 9"),
        (lambda: Link(-1e-6, 1e9), "alpha = -1e-06 must be at least 0"),
        (lambda: Link(0, 0), "bandwidth = 0 must be above 0"),
    ],
)
def test_bad_input_gets_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        bad()
    assert "\n" not in str(error.value)


def test_ranks_keeps_infinity_out():
    with pytest.raises(ValueError, match="whole number"):
        ranks(np.inf)


def test_no_sizes_give_no_times():
    for time in (c.ring_allreduce_time, c.double_tree_allreduce_time, c.bruck_all_to_all_time):
        assert time([], [], LINK).size == 0
