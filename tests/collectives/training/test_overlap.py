"""Overlap: the closed event formulas against an event loop, and both against their bounds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives.training import buckets, exposed_bounds, exposed_by_bucket, prefetched, reduced

times = st.lists(st.floats(0.0, 4.0), min_size=1, max_size=12)


def alpha_beta(alpha: float, beta: float) -> Callable:
    return lambda size: alpha + beta * np.asarray(size)


def event_loop(backward: list[float], gradients: list[float], bucket: float, cost: Callable) -> float:
    """Exposed seconds, from event to event: layers finish, buckets fill, one bucket at a time is on the wire."""
    clock, wire_free, held, waiting = 0.0, 0.0, 0.0, []
    for seconds, size in zip(reversed(backward), reversed(gradients), strict=True):
        clock += seconds
        held += size
        if held >= bucket:
            waiting.append((clock, held))
            held = 0.0
    if held > 0 or not waiting:
        waiting.append((clock, held))
    for ready, size in waiting:
        wire_free = max(wire_free, ready) + float(cost(size))
    return max(0.0, wire_free - clock)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), backward=times, bucket=st.floats(0.5, 60), alpha=st.floats(0, 2), beta=st.floats(0, 1))
def test_reduction_beside_the_backward_pass(
    data: st.DataObject, backward: list[float], bucket: float, alpha: float, beta: float
) -> None:
    sizes = st.lists(st.floats(0.1, 10), min_size=len(backward), max_size=len(backward))
    gradients, cost = data.draw(sizes), alpha_beta(alpha, beta)
    done = reduced(backward, gradients, bucket, cost)
    assert done.exposed == pytest.approx(event_loop(backward, gradients, bucket, cost), abs=1e-9)
    low, high = exposed_bounds(backward, gradients, bucket, cost)
    assert low - 1e-9 <= done.exposed <= high + 1e-9
    assert done.hidden == pytest.approx(high - done.exposed, abs=1e-9)
    assert np.all(done.start >= done.ready - 1e-12)
    np.testing.assert_allclose(done.work_end - done.work_start, backward[::-1], atol=1e-9)
    assert np.all(done.start[1:] >= done.end[:-1] - 1e-9)


def test_closed_bounds_are_reached() -> None:
    """All behind: only the last bucket shows. Nothing to hide behind: all of it shows."""
    cost = alpha_beta(0, 0.01)
    assert reduced([1] * 4, [10] * 4, 10, cost).exposed == pytest.approx(0.1)
    assert exposed_bounds([1] * 4, [10] * 4, 10, cost)[0] == pytest.approx(0.1)
    slow = alpha_beta(0, 1)
    assert reduced([1] * 4, [10] * 4, 10, slow).exposed == pytest.approx(40 - 3)
    assert exposed_bounds([1] * 4, [10] * 4, 10, slow)[0] == pytest.approx(37)
    assert reduced([1] * 4, [10] * 4, np.inf, cost).exposed == pytest.approx(0.4)


def test_there_is_a_best_bucket() -> None:
    """Latency punishes small ones, the last bucket large ones."""
    cost = alpha_beta(0.02, 0.001)
    sizes = np.array([1.0, 10, 20, 50, 100, 1000])
    exposed = exposed_by_bucket([0.01] * 100, [1.0] * 100, sizes, cost)
    assert 0 < int(exposed.argmin()) < len(sizes) - 1
    assert exposed_by_bucket([1.0], [1.0], 5.0, cost).shape == ()


def test_a_layer_is_never_cut() -> None:
    assert buckets([30, 1, 1, 30], 10).tolist() == [1, 1, 1, 0]
    assert buckets([1, 1], np.inf).tolist() == [0, 0]


def gather_loop(compute: list[float], gather: list[float], depth: int) -> float:
    """Lost seconds in steps of 1/64 s: gathers go ahead while at most depth + 1 layers are whole, in use or waiting."""
    now, got, used = 0, 0, 0
    left = [round(64 * g) for g in gather], [round(64 * c) for c in compute]
    while used < len(compute):
        while got < len(gather) and not left[0][got] and got - used <= depth:
            got += 1  # a gather that takes no time
        while used < got and not left[1][used]:
            used += 1
            while got < len(gather) and not left[0][got] and got - used <= depth:
                got += 1
        if used == len(compute):
            break
        gathering = got < len(gather) and got - used <= depth
        computing = used < got
        if gathering:
            left[0][got] -= 1
        if computing:
            left[1][used] -= 1
        if gathering and not left[0][got]:
            got += 1
        if computing and not left[1][used]:
            used += 1
        now += 1
    return now / 64 - sum(round(64 * c) for c in compute) / 64


@settings(max_examples=60, deadline=None)
@given(data=st.data(), n=st.integers(1, 7), depth=st.integers(0, 3))
def test_gathers_ahead_of_use(data: st.DataObject, n: int, depth: int) -> None:
    ticks = st.lists(st.integers(1, 40), min_size=n, max_size=n)
    compute, gather = ([tick / 64 for tick in data.draw(ticks)] for _ in range(2))
    done = prefetched(compute, gather, depth)
    assert done.exposed == pytest.approx(gather_loop(compute, gather, depth), abs=1e-9)
    assert np.all(done.work_start >= done.end - 1e-12)
    assert np.all(done.work_start[1:] >= done.work_end[:-1] - 1e-12)
    assert gather[0] - 1e-12 <= done.exposed <= sum(gather) + 1e-12
    assert prefetched(compute, gather, depth + 1).exposed <= done.exposed + 1e-12
    assert prefetched(compute, gather, 0).exposed == pytest.approx(sum(gather))


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: reduced([1, 1], [1, 1, 1], 1, lambda s: s), "backward has shape"),
        (lambda: reduced([1], [1, 1, 1], 1, lambda s: s), "backward has 1 layers, gradients has 3; give as many"),
        (lambda: prefetched([1, 1, 1], [1]), "compute has 3 layers, gather has 1; give as many, or one number for all"),
        (lambda: exposed_by_bucket([1], [1, 1], [1], lambda s: s), "backward has 1 layers, gradients has 2"),
        (lambda: reduced([[1]], [1], 1, lambda s: s), "give one entry for each layer"),
        (lambda: reduced([], [], 1, lambda s: s), "give one entry for each layer"),
        (lambda: reduced([1], [1], 0, lambda s: s), "bucket = 0 must be above 0"),
        (lambda: reduced([1], [1], 1, lambda s: -s), "cost = -1 must be at least 0"),
        (lambda: reduced([1], [1], 1, 3.0), "cost = 3.0 must be a function"),
        (lambda: reduced([-1], [1], 1, lambda s: s), "backward = -1 must be at least 0"),
        (lambda: prefetched([1], [1], -1), "depth = -1 must be at least 0"),
        (lambda: exposed_by_bucket([1], [1], [1, -1], lambda s: s), "sizes = -1 must be above 0"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]
