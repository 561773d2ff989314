"""LogGP: closed forms against schedules executed on the clocks of their ranks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.collectives import (
    LogGP,
    loggp_binomial_broadcast_time,
    loggp_clock,
    loggp_recursive_doubling_time,
    loggp_ring_allreduce_time,
    phase,
    ring_allreduce,
    ring_allreduce_time,
    schedule_of,
)
from netlib.links import Link

micro = st.floats(0, 20e-6)
models = st.builds(LogGP, L=micro, o=micro, g=micro, G=st.floats(0, 1e-9))


def doubling(n):
    ranks = np.arange(n)
    steps = [phase(0, ranks, ranks ^ 2**i, 0, True) for i in range(n.bit_length() - 1)]
    return schedule_of("recursive doubling", "all_reduce", n, steps)


def binomial(n):
    steps = []
    for reach in (2**i for i in range((n - 1).bit_length())):
        teller = np.arange(min(reach, n - reach))
        steps.append(phase(0, teller, teller + reach, 0, False))
    return schedule_of("binomial", "broadcast", n, steps, source=0)


@given(models, st.integers(1, 12), st.floats(0, 1e6))
def test_the_ring(model, n, size):
    clock = loggp_clock(ring_allreduce(n), size, model)
    assert clock.max() == pytest.approx(float(loggp_ring_allreduce_time(size, n, model)), rel=1e-9, abs=1e-18)


@given(models, st.sampled_from([1, 2, 4, 8, 16]), st.floats(0, 1e6))
def test_recursive_doubling(model, n, size):
    clock = loggp_clock(doubling(n), size, model)
    assert clock.max() == pytest.approx(float(loggp_recursive_doubling_time(size, n, model)), rel=1e-9, abs=1e-18)


@given(models, st.integers(1, 33), st.floats(0, 1e6))
def test_binomial_broadcast(model, n, size):
    clock = loggp_clock(binomial(n), size, model)
    assert clock.max() == pytest.approx(float(loggp_binomial_broadcast_time(size, n, model)), rel=1e-9, abs=1e-18)


def test_closed_forms_broadcast():
    model = LogGP(1e-6, [[0.5e-6], [2e-6]], 1e-6, 2e-11)
    size, n = np.array([0, 1, 1e6]), np.array([2, 8, 64])
    for closed in (loggp_ring_allreduce_time, loggp_recursive_doubling_time, loggp_binomial_broadcast_time):
        grid = closed(size, n, model)
        assert grid.shape == (2, 3)
        for i, o in enumerate((0.5e-6, 2e-6)):
            for j in range(3):
                assert grid[i, j] == pytest.approx(float(closed(size[j], n[j], LogGP(1e-6, o, 1e-6, 2e-11))))


def test_with_no_gaps_it_is_alpha_beta():
    size, n = 1e9, 64
    model = LogGP(L=3e-6, o=1e-6, g=0, G=2e-11)
    want = float(ring_allreduce_time(size, n, Link(5e-6, 50e9)))
    assert float(loggp_ring_allreduce_time(size, n, model)) == pytest.approx(
        want - 126 * 2e-11, rel=1e-12
    )  # k - 1 gaps


def test_a_hub_takes_one_message_after_the_other():
    model = LogGP(L=5.0, o=1.0, g=3.0, G=1.0)
    into = schedule_of("gather", "gather", 4, [phase(0, [1, 2, 3], 0, [1, 2, 3], False)], chunks=4, source=[0, 1, 2, 3])
    # each sends 3 bytes: last byte at 1 + 2 + 5 = 8; the next ones a gap of 3 and 2 of stream later: 13, 18; and o
    assert loggp_clock(into, 12.0, model).tolist() == [19, 1, 1, 1]
    out = schedule_of("scatter", "scatter", 4, [phase(0, 0, [1, 2, 3], [1, 2, 3], False)], chunks=4, source=0)
    assert loggp_clock(out, 12.0, model).tolist() == [11, 9, 14, 19]


def test_one_late_chunk_shows():
    model = LogGP(1e-6, 0.5e-6, 0, 2e-11)
    ring = ring_allreduce(6)
    more = phase(0, ring.phases[0].src, ring.phases[0].dst, 0, True, [1, 1, 2, 1, 1, 1])
    longer = schedule_of("x", "all_reduce", 6, [*ring.phases, more], chunks=6)
    same = schedule_of("x", "all_reduce", 6, [*ring.phases, phase(0, more.src, more.dst, 0, True)], chunks=6)
    gained = loggp_clock(longer, 6e6, model).max() - loggp_clock(same, 6e6, model).max()
    assert gained == pytest.approx(1e6 * 2e-11)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: LogGP(-1, 0, 0, 0), "L = -1 must be at least 0"),
        (lambda: loggp_recursive_doubling_time(1, 6, LogGP(0, 0, 0, 0)), "n = 6 is no power of two"),
        (lambda: loggp_ring_allreduce_time(1, 6, 5), "is not a LogGP"),
        (lambda: loggp_clock(ring_allreduce(2), 1.0, LogGP([0, 1], 0, 0, 0)), "must hold single numbers"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
