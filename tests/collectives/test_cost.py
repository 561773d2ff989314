"""Closed forms against execution: same sums, same bytes, same seconds."""

import re
from inspect import signature

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.collectives.cost import ranks
from netlib.links import Link
from tests.collectives import executed as e

SIZE, ALPHA, BANDWIDTH, GAMMA = 1e6, 3e-6, 40e9, 5e-12
LINK = Link(ALPHA, BANDWIDTH)


def machine(n, blocks):
    return e.Machine(n, blocks, SIZE, ALPHA, 1 / BANDWIDTH, GAMMA)


def buffers(n, blocks):
    return np.random.default_rng(n).integers(0, 1000, (n, blocks))


ALLREDUCE = {
    "ring": (lambda n: n, lambda n, b: e.ring(n), c.ring_allreduce_time),
    "tree": (lambda n: 3, e.tree, c.tree_allreduce_time),
    "doubling": (lambda n: 3, e.recursive_doubling, c.recursive_doubling_allreduce_time),
    "halving": (
        lambda n: 2 ** (n.bit_length() - 1),
        lambda n, b: e.halving_doubling(n),
        c.halving_doubling_allreduce_time,
    ),
}


@pytest.mark.parametrize("name", ALLREDUCE)
@given(n=st.integers(2, 40))
def test_allreduce_sums_everywhere_and_costs_what_the_formula_says(name, n):
    blocks, rounds, closed = ALLREDUCE[name]
    m, data = machine(n, blocks(n)), buffers(n, blocks(n))
    result = m.run(data, rounds(n, blocks(n)))
    assert (result == data.sum(axis=0)).all()
    assert m.sent.sum() == pytest.approx(m.received.sum(), rel=1e-12)
    assert m.seconds == pytest.approx(float(closed(SIZE, n, LINK, GAMMA)), rel=1e-12)


@given(n=st.integers(2, 40), lost=st.integers(0, 38))
def test_a_ring_that_loses_one_message_is_noticed(n, lost):
    rounds = list(e.ring(n))
    lost %= len(rounds)
    rounds[lost] = rounds[lost][1:]
    data = buffers(n, n) + 1
    assert (e.Machine(n, n, SIZE).run(data, iter(rounds)) != data.sum(axis=0)).any()


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


@given(n=st.integers(2, 40))
def test_family_against_execution(n):
    power = 2 ** (n.bit_length() - 1)
    data = buffers(n, n)

    m = machine(n, n)
    result = m.run(data, e.ring_reduce_scatter(n))
    assert all(result[i, (i + 1) % n] == data[:, (i + 1) % n].sum() for i in range(n))
    assert m.seconds == pytest.approx(float(c.ring_reduce_scatter_time(SIZE, n, LINK, GAMMA)), rel=1e-12)

    own = np.zeros((n, n), int)
    np.fill_diagonal(own, np.arange(1, n + 1))
    m = machine(n, n)
    assert (m.run(own, e.bruck_all_gather(n)) == np.arange(1, n + 1)).all()
    assert m.seconds == pytest.approx(float(c.bruck_all_gather_time(SIZE, n, LINK)), rel=1e-12)

    m = machine(n, 2)
    assert (m.run(buffers(n, 2), e.binomial_broadcast(n, 2)) == buffers(n, 2)[0]).all()
    assert m.seconds == pytest.approx(float(c.binomial_broadcast_time(SIZE, n, LINK)), rel=1e-12)

    m = machine(n, 2)
    assert (m.run(buffers(n, 2), e.binomial_reduce(n, 2))[0] == buffers(n, 2).sum(axis=0)).all()
    assert m.seconds == pytest.approx(float(c.binomial_reduce_time(SIZE, n, LINK, GAMMA)), rel=1e-12)

    m = machine(n, 6)
    assert (m.run(buffers(n, 6), e.chain(n, 6)) == buffers(n, 6)[0]).all()
    assert m.seconds == pytest.approx(float(c.pipelined_broadcast_time(SIZE, n, LINK, 6)), rel=1e-12)

    m, data = machine(power, power), buffers(power, power)
    spread = m.run(data, e.scatter(power))
    kept = np.where(np.eye(power, dtype=bool), spread, 0)
    gathered = m.run(kept, ([(i, (i + 1) % power, [(i - s) % power], False) for i in range(power)]
                            for s in range(power - 1)))  # fmt: skip
    assert (gathered == data[0]).all()
    assert m.seconds == pytest.approx(float(c.scatter_gather_broadcast_time(SIZE, power, LINK)), rel=1e-12)


@given(n=st.integers(2, 70))
def test_all_to_all_against_execution(n):
    pairwise = bruck = 0.0
    for _ in range(1, n):
        pairwise += ALPHA + SIZE / n / BANDWIDTH
    j = 0
    while 1 << j < n:  # what every rank forwards in round j: the blocks whose distance has bit j
        bruck += ALPHA + sum(1 for distance in range(n) if distance >> j & 1) * SIZE / n / BANDWIDTH
        j += 1
    assert pairwise == pytest.approx(float(c.pairwise_all_to_all_time(SIZE, n, LINK)), rel=1e-12)
    assert bruck == pytest.approx(float(c.bruck_all_to_all_time(SIZE, n, LINK)), rel=1e-12)


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
        (lambda: c.ring_allreduce_time(1, 2.5, LINK), "n = 2.5 must be a whole number of ranks"),
        (lambda: c.ring_allreduce_time(float("nan"), 8, LINK), "size = nan must be at least 0"),
        (lambda: c.ring_allreduce_time("big", 8, LINK), "size = 'big' is not a number"),
        (lambda: c.busbw_factor(8, "all-reduce"), "op = 'all-reduce' is not an nccl-tests operation"),
        (lambda: c.zero_bytes(1, 8, 4), "stage = 4 must be"),
        (lambda: c.bucket_size(1, 1e-6, 1e9, 8, 8), "share = 1 must be below 1"),
        (lambda: c.zero_bytes(1, 8, [1, 2]), "stage = [1, 2] must be"),
        (lambda: c.busbw_factor(8, np.array(["all_reduce", "reduce"])), "is not an nccl-tests operation"),
        (lambda: c.ring_allreduce_time(1e9, 8, 50e9), "link = '50000000000.0' is not a Link; make one with Link("),
        (lambda: c.nvls_allreduce_time(1e9, 8, None), "link = 'None' is not a Link"),
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
