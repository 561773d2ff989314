"""Doubling and halving: chunks a step in whole numbers, seconds against the closed forms, orders as documented."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from tests.collectives import executed as e

SIZE, LINK, GAMMA = e.SIZE, e.LINK, e.GAMMA


def same(made, closed, gamma=0.0):
    assert e.seconds(made, gamma=gamma) == pytest.approx(float(closed), rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 140))
def test_all_reduces_take_the_formula_s_seconds(n):
    same(c.recursive_doubling_allreduce(n), c.recursive_doubling_allreduce_time(SIZE, n, LINK, GAMMA), GAMMA)
    same(c.halving_doubling_allreduce(n), c.halving_doubling_allreduce_time(SIZE, n, LINK, GAMMA), GAMMA)


@settings(deadline=None, max_examples=40)
@given(n=st.integers(1, 140))
def test_halves_take_the_formula_s_seconds(n):
    same(c.bruck_all_gather(n), c.bruck_all_gather_time(SIZE, n, LINK))
    same(c.bruck_reduce_scatter(n), c.bruck_all_gather_time(SIZE, n, LINK))
    same(c.doubling_all_gather(n), c.doubling_all_gather_time(SIZE, n, LINK))
    same(c.halving_reduce_scatter(n), c.halving_reduce_scatter_time(SIZE, n, LINK, GAMMA), GAMMA)


@given(m=st.integers(0, 8))
def test_powers_of_two_in_whole_chunks(m):
    n = 2**m
    halves = [2**j for j in reversed(range(m))]
    assert e.longest(c.halving_doubling_allreduce(n)) == [*halves, *halves[::-1]]
    assert e.longest(c.halving_reduce_scatter(n)) == halves
    assert e.longest(c.doubling_all_gather(n)) == e.longest(c.bruck_all_gather(n)) == halves[::-1]
    assert c.counts(c.halving_doubling_allreduce(n), n).sent.tolist() == [2 * (n - 1)] * n


@given(n=st.integers(1, 140))
@settings(deadline=None, max_examples=40)
def test_bruck_sends_the_least_for_any_n(n):
    for made in (c.bruck_all_gather(n), c.bruck_reduce_scatter(n)):
        assert sum(e.longest(made)) == n - 1
        assert made.steps == (n - 1).bit_length()
        assert c.counts(made, n).sent == pytest.approx([n - 1] * n, rel=1e-12)


def test_folding_in_whole_chunks():
    assert e.longest(c.recursive_doubling_allreduce(13)) == [1] * 5
    assert e.longest(c.halving_doubling_allreduce(13)) == [8, 4, 2, 1, 1, 2, 4, 8]
    # 13 = 8 + 5: blocks of 4, 2, 1 chunks, and with them 4, 2, 1 of the five folded ranks
    assert e.longest(c.halving_reduce_scatter(13)) == [12, 8, 4, 2, 1]
    assert e.longest(c.doubling_all_gather(13)) == [1, 2, 4, 8, 12]


def test_orders_as_documented():
    assert c.reduction_order(c.recursive_doubling_allreduce(4)) == "((3+2)+(1+0))"
    assert c.reduction_order(c.recursive_doubling_allreduce(4), rank=2) == "((1+0)+(3+2))"
    assert c.reduction_order(c.recursive_doubling_allreduce(5)) == "((3+2)+(1+(4+0)))"
    assert c.reduction_order(c.halving_doubling_allreduce(4)) == "((3+1)+(2+0))"
    assert c.reduction_order(c.halving_reduce_scatter(4), 3) == "((0+2)+(1+3))"
    assert c.reduction_order(c.halving_reduce_scatter(5), 4) == "(((3+1)+(2+0))+4)"
    assert c.reduction_order(c.bruck_reduce_scatter(4)) == "((1+3)+(2+0))"
