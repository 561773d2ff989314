"""Rings and chains: bytes, steps and seconds against the closed forms, orders as documented."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from tests.collectives import executed as e

SIZE, LINK, GAMMA = e.SIZE, e.LINK, e.GAMMA
BIG = (*range(1, 34), 64, 100)


@pytest.mark.parametrize("n", BIG)
def test_ring_takes_the_formula_s_seconds_and_bytes(n):
    both = c.ring_allreduce(n)
    assert e.seconds(both, gamma=GAMMA) == pytest.approx(float(c.ring_allreduce_time(SIZE, n, LINK, GAMMA)), rel=1e-12)
    one = c.ring_reduce_scatter(n)
    assert e.seconds(one, gamma=GAMMA) == pytest.approx(
        float(c.ring_reduce_scatter_time(SIZE, n, LINK, GAMMA)), rel=1e-12
    )
    back = c.ring_all_gather(n)
    assert e.seconds(back) == pytest.approx(float(c.ring_all_gather_time(SIZE, n, LINK)), rel=1e-12)
    assert c.counts(both, 1.0).sent == pytest.approx([2 * (n - 1) / n] * n, rel=1e-12)
    assert e.longest(both) == [1] * (2 * (n - 1))
    assert both.chunks == n


@given(n=st.integers(1, 20), k=st.integers(1, 5))
def test_channels_change_neither_bytes_nor_steps(n, k):
    many, one = c.ring_allreduce(n, k), c.ring_allreduce(n)
    assert many.steps == one.steps
    assert many.chunks == k * n
    assert c.counts(many, 1.0).critical == pytest.approx(c.counts(one, 1.0).critical, rel=1e-12)


@given(n=st.integers(3, 20), op=st.sampled_from(["all_reduce", "reduce_scatter", "all_gather"]))
def test_two_directions_halve_the_bytes_of_a_link(n, op):
    made, one = c.bidirectional_ring(n, op), c.ring_through(range(n), op)
    assert made.steps == one.steps
    assert c.counts(made, 1.0).critical == pytest.approx(c.counts(one, 1.0).critical / 2, rel=1e-12)
    assert c.counts(made, 1.0).sent == pytest.approx(c.counts(one, 1.0).sent, rel=1e-12)
    assert all(len(sent) == 2 * n for sent in e.messages(made))


def test_between_two_ranks_both_directions_are_one():
    assert c.counts(c.bidirectional_ring(2), 1.0).critical == c.counts(c.ring_allreduce(2), 1.0).critical


@settings(deadline=None)
@given(n=st.integers(1, 12), k=st.integers(1, 4), seed=st.integers(0, 99), data=st.data())
def test_rings_through_any_orders(n, k, seed, data):
    op = data.draw(st.sampled_from(["all_reduce", "reduce_scatter", "all_gather"]))
    orders = [np.random.default_rng(seed + j).permutation(n) for j in range(k)]
    made = c.ring_through(orders, op)
    assert made.op == op
    assert made.steps == c.ring_through(range(n), op).steps
    assert c.is_correct(made, np.random.default_rng(seed))
    for step in made.written_out():
        after = [set(zip(order.tolist(), np.roll(order, -1).tolist(), strict=True)) for order in orders]
        assert set(zip(step.src.tolist(), step.dst.tolist(), strict=True)) == set().union(*after)


@settings(deadline=None)
@given(n=st.integers(2, 33), k=st.integers(1, 9), root=st.integers(0, 32))
def test_chains_fill_and_drain(n, k, root):
    root %= n
    down, up, both = (f(n, k, root) for f in (c.pipelined_broadcast, c.pipelined_reduce, c.pipelined_allreduce))
    assert down.steps == up.steps == n - 2 + k
    assert both.steps == 2 * (n - 2 + k)
    closed = float(c.pipelined_broadcast_time(SIZE, n, LINK, k))
    assert e.seconds(down) == pytest.approx(closed, rel=1e-12)
    assert e.seconds(up) == pytest.approx(closed, rel=1e-12)
    assert e.seconds(both) == pytest.approx(2 * closed, rel=1e-12)
    chain = [(root + i) % n for i in range(n)]
    assert c.counts(down, 1.0).sent[chain] == pytest.approx([1.0] * (n - 1) + [0.0], rel=1e-12)
    first = next(e.messages(down))
    assert list(first) == [(chain[0], chain[1])]
    pairs = {pair for sent in e.messages(up) for pair in sent}
    assert pairs == {(r, (r + 1) % n) for r in range(n) if r != root}


def test_orders_as_documented():
    assert c.reduction_order(c.ring_allreduce(5), 2) == "((((3+4)+0)+1)+2)"
    assert c.reduction_order(c.ring_reduce_scatter(5), 2) == "((((3+4)+0)+1)+2)"
    assert c.reduction_order(c.ring_through([0, 2, 1, 3]), 1) == "(((1+3)+0)+2)"  # chunk 1 belongs to rank 2
    assert c.reduction_order(c.bidirectional_ring(4), 4) == "(((3+0)+1)+2)"
    assert c.reduction_order(c.bidirectional_ring(4, "reduce_scatter"), 5) == "(((1+0)+3)+2)"
    assert c.reduction_order(c.pipelined_reduce(4, 2, 1), 1) == "(((2+3)+0)+1)"
    assert c.reduction_order(c.pipelined_allreduce(4, 2, 1), 1) == "(((2+3)+0)+1)"


def test_one_rank_has_nothing_to_do():
    for made in (c.ring_allreduce(1, 3), c.bidirectional_ring(1), c.pipelined_allreduce(1, 4), c.ring_through([0])):
        assert made.steps == 0
    assert sum(map(Fraction, c.pipelined_broadcast(1, 4).weight)) == 1


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.ring_allreduce(8, 0), "channels = 0 must be a whole number, 1 or more"),
        (lambda: c.ring_through([0, 0, 1]), "order = [0, 0, 1] must hold each rank from 0 to n - 1 once"),
        (lambda: c.ring_through([[0, 1], [1, 1]]), "must hold each rank from 0 to n - 1 once"),
        (lambda: c.ring_through([0.0, 1.0]), "must hold each rank from 0 to n - 1 once"),
        (lambda: c.ring_through([[[0, 1]]]), "must hold each rank from 0 to n - 1 once"),
        (lambda: c.ring_through([]), "must hold each rank from 0 to n - 1 once"),
        (lambda: c.ring_through([[0], [0, 1]]), "has rows of unequal length"),
        (
            lambda: c.ring_through([0, 1], "alltoall"),
            "op = 'alltoall' has no ring here; use all_reduce, reduce_scatter",
        ),
        (lambda: c.bidirectional_ring(4, "reduce"), "op = 'reduce' has no ring here"),
        (lambda: c.bidirectional_ring(4, ["all_reduce"]), "must be text"),
        (lambda: c.pipelined_broadcast(4, 0), "segments = 0 must be a whole number, 1 or more"),
        (lambda: c.pipelined_reduce(4, 1.5), "segments = 1.5 must be a whole number"),
    ],
)
def test_bad_input_gets_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        bad()
    assert "\n" not in str(error.value)
