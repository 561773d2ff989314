"""Two trees: their shapes against NCCL's, their colours against the ports, their steps against the exact count."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.links import Link
from tests.collectives import executed as e

SIZE, LINK = e.SIZE, e.LINK


def shorter(n):
    """1 where the last segment arrives a step early: n neither a power of two nor 3 mod 4."""
    return int(n & (n - 1) != 0 and n % 4 != 3)


def by_the_book(n, rank):
    """NCCL's first tree by its rule, number by number: the lowest bit that is set moves up by one."""
    if rank == 0:
        return -1
    bit = next(1 << j for j in range(n) if rank >> j & 1)
    above = rank - bit + (2 * bit if not rank & 2 * bit else 0)
    return above if above < n else rank - bit


@pytest.mark.parametrize("shape", ["one root", "nccl"])
@pytest.mark.parametrize("n", [*range(1, 70), 257, 1000])
def test_each_tree_spans_all_ranks_and_inner_ranks_of_one_are_leaves_of_the_other(n, shape):
    trees = c.double_trees(n, shape)
    children = np.zeros((2, n), int)
    for tree, many in zip(trees, children, strict=True):
        assert (tree < 0).sum() == 1
        at, h = np.arange(n), (n - 1).bit_length()
        for _ in range(h):
            at = np.where(tree[at] < 0, at, tree[at])
        assert (at == np.flatnonzero(tree < 0)).all(), "everybody is at most ceil(log2 n) below the root"
        np.add.at(many, tree[tree >= 0], 1)
    assert children.max(initial=0) <= 2
    assert children.sum(axis=0).max() <= 2
    assert trees[0].tolist() == [by_the_book(n, rank) for rank in range(n)]
    inner = (children > 0).all(axis=0)
    assert inner.sum() <= 1, "a rank sends in both trees only at a root"
    assert (trees.max(axis=0) >= 0).all() or shape == "one root" or n == 1


def test_nccl_s_drawings():
    twelve, thirteen = c.double_trees(12, "nccl"), c.double_trees(13, "nccl")
    assert twelve[0].tolist() == [-1, 2, 4, 2, 8, 6, 4, 6, 0, 10, 8, 10]
    assert twelve[1].tolist() == [1, 3, 1, 11, 5, 7, 5, 3, 9, 7, 9, -1]  # the mirror image
    assert thirteen[1].tolist() == [9, -1, 3, 5, 3, 9, 7, 5, 7, 1, 11, 0, 11]  # moved by one rank


@settings(deadline=None, max_examples=60)
@given(n=st.integers(2, 130), k=st.integers(1, 7), root=st.integers(0, 129))
def test_steps_and_seconds_are_the_exact_form_s(n, k, root):
    h, root = (n - 1).bit_length(), root % n
    closed = float(c.double_tree_broadcast_time(SIZE, n, LINK, k))
    for made in (c.double_tree_broadcast(n, k, root), c.double_tree_reduce(n, k, root)):
        assert made.steps == 2 * (h + k - 1) - shorter(n)
        assert e.longest(made) == [1] * made.steps
        assert e.one_port(made)
        assert e.seconds(made) == pytest.approx(closed, rel=1e-12)
    both = c.double_tree_allreduce(n, k, root)
    assert e.seconds(both) == pytest.approx(2 * closed, rel=1e-12)
    assert both.steps == 4 * (h + k - 1) - 2 * shorter(n)
    published = float(c.double_tree_allreduce_time(SIZE, n, LINK, k))
    step = LINK.time(SIZE / (2 * k))
    assert published - 2 * closed == pytest.approx((4 + 2 * shorter(n)) * step, rel=1e-9)


@settings(deadline=None, max_examples=60)
@given(n=st.integers(3, 130), k=st.integers(1, 7), root=st.integers(0, 129))
def test_a_root_for_each_tree_saves_steps(n, k, root):
    made = c.double_tree_allreduce(n, k, root % n, shape="nccl")
    assert made.steps == 4 * ((n - 1).bit_length() + k - 1) - (4 if n % 4 else 2)
    assert e.one_port(made)
    assert e.longest(made) == [1] * made.steps
    assert c.is_correct(made, np.random.default_rng(k))


def test_two_ranks_send_both_ways_at_once():
    assert [c.double_tree_allreduce(2, k, shape="nccl").steps for k in (1, 3)] == [2, 6]
    assert [c.double_tree_allreduce(2, k).steps for k in (1, 3)] == [4, 12]


@given(n=st.integers(2, 100), k=st.integers(1, 4))
@settings(deadline=None, max_examples=30)
def test_bytes_at_most_two_buffers_and_2_n_minus_1_over_n_on_average(n, k):
    for shape in ("one root", "nccl"):
        counted = c.counts(c.double_tree_allreduce(n, k, shape=shape), 1.0)
        assert counted.sent.max() <= 2 + 1e-12
        assert counted.sent.mean() == pytest.approx(2 * (n - 1) / n, rel=1e-12)


@given(
    n=st.integers(1, 5000), size=st.floats(0, 1e10), k=st.integers(1, 9999), alpha=st.sampled_from([0.0, 1e-9, 1e-5])
)
def test_best_segments_beat_any_other_and_the_bound_holds(n, size, k, alpha):
    link = Link(alpha, 40e9)
    best = float(c.double_tree_broadcast_time(size, n, link))
    assert best <= float(c.double_tree_broadcast_time(size, n, link, k)) * (1 + 1e-12)
    assert 2 * best <= float(c.double_tree_allreduce_time(size, n, link)) * (1 + 1e-12)
    assert best >= size / 40e9 * (1 - 1e-12) or n == 1


def test_orders_as_documented():
    # own part first, then one subtree, then the other: in the first tree of four, 2 adds 3 and 1; in the second, 3 adds
    # 2 and 1
    assert c.reduction_order(c.double_tree_reduce(4), 0) == "((1+(3+2))+0)"
    assert c.reduction_order(c.double_tree_reduce(4), 1) == "((1+(2+3))+0)"
    orders = {c.reduction_order(c.double_tree_allreduce(6, 3), 2 * i) for i in range(3)}
    assert len(orders) == 1, "every segment of a tree is added alike"


def test_overlap_is_a_channel_of_its_own():
    together, apart = c.double_tree_allreduce(8, 4, overlap=True), c.double_tree_allreduce(8, 4)
    assert {part.channel for part in apart.phases} == {0}
    assert {part.channel for part in together.phases} == {0, 1}
    assert c.counts(together, 1.0).critical == c.counts(apart, 1.0).critical


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.double_trees(8, "mirror"), "shape = 'mirror' must be one of one root, nccl"),
        (lambda: c.double_tree_allreduce(8, shape="sanders"), "shape = 'sanders' must be one of one root, nccl"),
        (lambda: c.double_tree_allreduce(8, overlap=1), "overlap = 1 must be True or False"),
        (lambda: c.double_tree_broadcast(8, 0), "segments = 0 must be a whole number, 1 or more"),
        (lambda: c.double_tree_reduce(8, 0), "segments = 0 must be a whole number, 1 or more"),
        (lambda: c.double_tree_broadcast_time(1, 8, LINK, 0.5), "segments = 0.5 must be at least 1"),
    ],
)
def test_bad_input_gets_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        bad()
    assert "\n" not in str(error.value)
