"""Exchanges: who gets what, in how many steps, at the closed forms' price."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from tests.collectives import executed as e

SIZE, LINK = e.SIZE, e.LINK


@settings(deadline=None, max_examples=40)
@given(n=st.integers(2, 40))
def test_all_to_all_takes_the_formula_s_seconds(n):
    pairwise, bruck, direct = c.pairwise_all_to_all(n), c.bruck_all_to_all(n), c.direct_all_to_all(n)
    assert e.seconds(pairwise) == pytest.approx(float(c.pairwise_all_to_all_time(SIZE, n, LINK)), rel=1e-12)
    assert e.seconds(bruck) == pytest.approx(float(c.bruck_all_to_all_time(SIZE, n, LINK)), rel=1e-12)
    assert pairwise.steps == n - 1
    assert bruck.steps == (n - 1).bit_length()
    assert direct.steps == 1
    assert e.longest(bruck) == [sum(d >> j & 1 for d in range(n)) for j in range(bruck.steps)]
    for made in (pairwise, direct):
        assert c.counts(made, n).sent == pytest.approx([n - 1] * n, rel=1e-12)
    assert next(e.messages(direct)).keys() == {(a, b) for a in range(n) for b in range(n) if a != b}


@given(n=st.integers(1, 9), seed=st.integers(0, 99))
@settings(deadline=None)
def test_all_to_all_transposes(n, seed):
    blocks = np.random.default_rng(seed).integers(0, 999, (n, n))  # [from, to]
    buffers = np.repeat(blocks.reshape(1, -1), n, axis=0)
    for made in (c.pairwise_all_to_all(n), c.bruck_all_to_all(n), c.direct_all_to_all(n)):
        result = c.execute(made, buffers).reshape(n, n, n)
        assert all((result[to, :, to] == blocks[:, to]).all() for to in range(n))


@settings(deadline=None)
@given(n=st.integers(1, 9), seed=st.integers(0, 99), way=st.sampled_from(["pairwise", "direct"]))
def test_unequal_blocks_are_the_bytes_given(n, seed, way):
    volume = np.random.default_rng(seed).integers(0, 5, (n, n)).astype(float)
    volume[0, 0] += 1
    made = c.all_to_all_v(volume, way)
    counted = c.counts(made, volume.sum() / n)
    other = volume - np.diag(np.diag(volume))
    assert counted.sent == pytest.approx(other.sum(axis=1), rel=1e-12)
    assert counted.received == pytest.approx(other.sum(axis=0), rel=1e-12)
    assert counted.messages.tolist() == (other > 0).sum(axis=1).tolist()
    distances = {(b - a) % n for a, b in zip(*np.nonzero(other), strict=True)}
    assert made.steps == counted.steps == (len(distances) if way == "pairwise" else bool(distances))
    assert c.is_correct(made, np.random.default_rng(seed))


def test_equal_blocks_are_an_all_to_all():
    even, equal = c.all_to_all_v(np.full((5, 5), 3.0)), c.pairwise_all_to_all(5)
    assert even.weight == pytest.approx(equal.weight, rel=1e-12)
    assert c.counts(even, 1.0).sent == pytest.approx(c.counts(equal, 1.0).sent, rel=1e-12)


@given(n=st.integers(1, 60), root=st.integers(0, 59))
@settings(deadline=None, max_examples=40)
def test_one_rank_after_another(n, root):
    closed = float(c.linear_scatter_time(SIZE, n, LINK))
    for made in (c.linear_scatter(n, root % n), c.linear_gather(n, root % n)):
        assert made.steps == n - 1
        assert e.longest(made) == [1] * (n - 1)
        assert e.seconds(made) == pytest.approx(closed, rel=1e-12)


@given(n=st.integers(1, 30), distance=st.integers(-40, 40))
def test_send_and_receive(n, distance):
    made = c.send_recv(n, distance)
    assert c.is_correct(made, np.random.default_rng(n))
    assert c.counts(made, 7.0).sent.tolist() == [7.0 if distance % n else 0.0] * n
    assert made.target.tolist() == [(rank + distance) % n for rank in range(n)]


@given(n=st.integers(1, 30))
def test_direct_is_the_ring_s_bytes_in_two_steps_and_one_shot_all_of_them_in_one(n):
    two, one = c.direct_allreduce(n), c.direct_allreduce(n, shots=1)
    assert (two.steps, one.steps) == ((2, 1) if n > 1 else (0, 0))
    assert c.counts(two, 1.0).sent == pytest.approx(c.counts(c.ring_allreduce(n), 1.0).sent, rel=1e-12)
    assert c.counts(one, 1.0).sent.tolist() == [n - 1] * n


def test_orders_as_documented():
    assert c.reduction_order(c.direct_allreduce(4), 2) == "(3+(1+(0+2)))"
    assert c.reduction_order(c.direct_reduce_scatter(4), 2) == "(3+(1+(0+2)))"
    assert c.reduction_order(c.direct_allreduce(4), 2, rank=0) == "(3+(1+(0+2)))"
    one = c.direct_allreduce(4, shots=1)
    assert c.reduction_order(one, rank=0) == "(3+(2+(1+0)))"
    assert c.reduction_order(one, rank=2) == "(3+(1+(0+2)))"


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.all_to_all_v([1, 2]), "volume has shape (2,) and 3 bytes; give bytes from each rank to each"),
        (lambda: c.all_to_all_v([[1, 2]]), "volume has shape (1, 2) and 3 bytes"),
        (lambda: c.all_to_all_v([[0, 0], [0, 0]]), "volume has shape (2, 2) and 0 bytes"),
        (lambda: c.all_to_all_v([[0, -1], [0, 0]]), "volume = -1 must be at least 0"),
        (lambda: c.all_to_all_v([[1]], "bruck"), "way = 'bruck' must be pairwise or direct"),
        (lambda: c.direct_allreduce(4, 3), "shots = 3 must be 1 or 2"),
        (lambda: c.send_recv(4, 1.5), "distance = 1.5 must be a whole number"),
    ],
)
def test_bad_input_gets_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        bad()
    assert "\n" not in str(error.value)
