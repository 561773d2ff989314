"""Binomial trees: bytes, steps and seconds against the closed forms, orders as documented."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from tests.collectives import executed as e

SIZE, LINK, GAMMA = e.SIZE, e.LINK, e.GAMMA


@settings(deadline=None)
@given(n=st.integers(1, 300), root=st.integers(0, 299))
def test_trees_take_the_formula_s_seconds(n, root):
    root %= n
    h = (n - 1).bit_length()
    down, up, both = (f(n, root) for f in (c.binomial_broadcast, c.binomial_reduce, c.tree_allreduce))
    assert (down.steps, up.steps, both.steps) == (h, h, 2 * h)
    assert e.seconds(down) == pytest.approx(float(c.binomial_broadcast_time(SIZE, n, LINK)), rel=1e-12)
    assert e.seconds(up, gamma=GAMMA) == pytest.approx(float(c.binomial_reduce_time(SIZE, n, LINK, GAMMA)), rel=1e-12)
    assert e.seconds(both, gamma=GAMMA) == pytest.approx(float(c.tree_allreduce_time(SIZE, n, LINK, GAMMA)), rel=1e-12)
    assert c.counts(down, 1.0).sent.sum() == n - 1
    assert c.counts(down, 1.0).sent[root] == c.counts(up, 1.0).received[root] == h


@settings(deadline=None)
@given(n=st.integers(1, 300), root=st.integers(0, 299))
def test_scatter_and_gather_send_n_minus_1_chunks_in_turn_for_any_n(n, root):
    root %= n
    down, up = c.binomial_scatter(n, root), c.binomial_gather(n, root)
    assert sum(e.longest(down)) == sum(e.longest(up)) == n - 1
    assert e.longest(down) == e.longest(up)[::-1]
    closed = float(c.binomial_scatter_time(SIZE, n, LINK))
    assert e.seconds(down) == pytest.approx(closed, rel=1e-12) == e.seconds(up)
    assert c.counts(down, 1.0).sent[root] == pytest.approx((n - 1) / n, rel=1e-12)


@settings(deadline=None, max_examples=25)
@given(n=st.integers(1, 60), root=st.integers(0, 99))
def test_van_de_geijn_s_broadcast_keeps_its_formula_for_any_n(n, root):
    made = c.scatter_gather_broadcast(n, root % n)
    assert e.seconds(made) == pytest.approx(float(c.scatter_gather_broadcast_time(SIZE, n, LINK)), rel=1e-12)
    assert made.steps == (n - 1).bit_length() + n - 1


def test_the_informed_double():
    for n in (5, 8, 33):
        informed = {2}
        for sent in e.messages(c.binomial_broadcast(n, 2)):
            assert {src for src, _ in sent} <= informed
            informed |= {dst for _, dst in sent}
        assert informed == set(range(n))


def test_orders_as_documented():
    assert c.reduction_order(c.binomial_reduce(8)) == "(((7+6)+(5+4))+((3+2)+(1+0)))"
    assert c.reduction_order(c.binomial_reduce(5, 3)) == "(2+((1+0)+(4+3)))"
    assert c.reduction_order(c.tree_allreduce(4), rank=3) == c.reduction_order(c.binomial_reduce(4))


def test_one_rank_has_nothing_to_do():
    for f in (c.binomial_broadcast, c.binomial_scatter, c.tree_allreduce, c.scatter_gather_broadcast):
        assert f(1).steps == 0
        assert c.is_correct(f(1), np.random.default_rng(0))
