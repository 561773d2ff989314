"""Schedules: executed for their result, timed for their bubble, against the closed forms and the papers' counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives.training import (
    Pipeline,
    dualpipe,
    dualpipe_idle,
    gpipe,
    interleaved,
    one_f_one_b,
    pipeline_bubble,
    timetable,
    zero_bubble,
    zero_bubble_idle,
)
from tests.collectives.training.small_step import pipeline_step

seconds = st.floats(0.1, 5)


def homes(schedule: Pipeline) -> dict:
    """The stage of each microbatch at each position, by the rule of the schedule's paper."""
    p, m, dual = schedule.p, schedule.m, schedule.name == "DualPipe"
    places = ((i, k) for i in range(m) for k in range(schedule.length))
    return {(i, k): p - 1 - k if dual and i >= m // 2 else k % p for i, k in places}


ALL = [gpipe(3, 5), one_f_one_b(1, 3), one_f_one_b(4, 3), one_f_one_b(4, 9), interleaved(2, 4, 3), interleaved(4, 8, 2),
       zero_bubble(1, 2), zero_bubble(4, 3), zero_bubble(4, 9), zero_bubble(5, 5), dualpipe(2, 4), dualpipe(4, 8),
       dualpipe(6, 14), dualpipe(8, 16)]  # fmt: skip


@pytest.mark.parametrize("schedule", ALL, ids=lambda s: f"{s.name}-{s.p}-{s.m}")
def test_every_schedule_computes_the_gradient(schedule: Pipeline) -> None:
    """In its order, on real arrays: nothing waits for ever, nothing is missing, nothing is done twice."""
    wire, got, expected = pipeline_step(
        list(schedule.blocks), homes(schedule), schedule.length, schedule.p, schedule.m, 2, 3, seed=5
    )
    np.testing.assert_allclose(got, expected, atol=1e-12)
    crossings = 2 * (schedule.length - 1) * schedule.m if schedule.p > 1 else 0
    assert sum(w.sum() for w in wire.sent.values()) == crossings * 2 * 3 * 8


@settings(max_examples=60, deadline=None)
@given(p=st.integers(1, 9), m=st.integers(1, 20), f=seconds, b=seconds)
def test_gpipe_and_1f1b_wait_as_long_as_the_formula_says(p: int, m: int, f: float, b: float) -> None:
    for schedule in (gpipe(p, m), one_f_one_b(p, m)):
        table = timetable(schedule, f, b)
        assert table.bubble == pytest.approx(float(pipeline_bubble(p, m)), rel=1e-9)
        assert table.span == pytest.approx((m + p - 1) * (f + b))
    assert timetable(gpipe(p, m), f, b).in_flight.tolist() == [m] * p
    assert timetable(one_f_one_b(p, m), f, b).in_flight.tolist() == [min(m, p - s) for s in range(p)]


@settings(max_examples=40, deadline=None)
@given(p=st.integers(2, 6), turns=st.integers(1, 4), v=st.integers(1, 4))
def test_interleaving_divides_the_bubble(p: int, turns: int, v: int) -> None:
    m = p * turns
    table = timetable(interleaved(p, m, v))
    assert table.bubble == pytest.approx(float(pipeline_bubble(p, m, v)), rel=1e-9)
    most = min(m * v, v * p + p - 1 if v > 1 else p) / v  # Korthikanti et al.: p (1 + (p-1) / (p v))
    assert table.in_flight[0] == pytest.approx(most)


@settings(max_examples=60, deadline=None)
@given(p=st.integers(1, 8), extra=st.integers(0, 12), b=seconds, part=st.floats(0.1, 0.9))
def test_zero_bubble_waits_as_long_as_the_formula_says(p: int, extra: int, b: float, part: float) -> None:
    """For W up to F and up to B - W; beyond that it is no longer the weight passes that fill the gaps."""
    m, w = 2 * p + extra, b * part
    f = max(w, b - w)  # the paper's case: passes of about one length
    w = min(w, b - w)
    table = timetable(zero_bubble(p, m), f, b, w)
    np.testing.assert_allclose(table.idle, float(zero_bubble_idle(p, f, b, w)), rtol=1e-9, atol=1e-9)
    assert table.in_flight.max() == p  # DualPipe's README: as 1F1B
    assert table.span <= timetable(one_f_one_b(p, m), f, b).span + 1e-9


@pytest.mark.parametrize("p", [2, 4, 6, 8, 16])
@pytest.mark.parametrize("extra", [0, 2, 10])
def test_dualpipe_waits_as_long_as_its_authors_say(p: int, extra: int) -> None:
    """Exactly where W is half of B and an overlapped pair lasts as long as its parts; p + 1 activations everywhere."""
    table = timetable(dualpipe(p, 2 * p + extra), 1, 2, 1, 3)
    np.testing.assert_allclose(table.idle, float(dualpipe_idle(p, 3, 2, 1)), atol=1e-9)
    assert table.in_flight.tolist() == [p + 1] * p


@settings(max_examples=30, deadline=None)
@given(half=st.integers(1, 5), b=seconds, part=st.floats(0.1, 0.5), u=st.floats(0.1, 1), gain=st.floats(0, 1))
def test_dualpipe_never_waits_longer_than_its_authors_say(
    half: int, b: float, part: float, u: float, gain: float
) -> None:
    """While W <= B/2, F <= B - W and a pair lasts at least as long as its backward pass."""
    p, w = 2 * half, b * part
    f = u * (b - w)
    pair = b + gain * f
    table = timetable(dualpipe(p, 2 * p + 2), f, b, w, pair)
    assert table.idle.max() <= float(dualpipe_idle(p, pair, b, w)) + 1e-9


def test_dualpipe_may_wait_longer_if_forward_passes_are_long() -> None:
    assert timetable(dualpipe(4, 10), 0.5, 0.5, 0.25, 1.0).idle.max() == pytest.approx(1.0)
    assert float(dualpipe_idle(4, 1.0, 0.5, 0.25)) == pytest.approx(0.75)


def test_dualpipe_has_the_phases_of_its_authors() -> None:
    """Blocks of stage s of 8 with 20 microbatches, d from the nearer end: deepseek-ai/DualPipe, phases 1 to 8."""
    for s, blocks in enumerate(dualpipe(8, 20).blocks):
        d = min(s, 7 - s)
        far, kinds = 3 - d, ["".join(one.kind for one in block) for block in blocks]
        lead = ["F"] * (2 * far + 2 * (d + 1)) + ["I", "W", "F"] * far
        assert kinds[: len(lead)] == lead
        assert kinds.count("FB") == 2 * (2 + d + 1) + far - (far == 0)
        assert kinds[-(d + 1) - 2 * far :] == ["W", "I"] * far + ["W"] * (d + 1)
        assert kinds[-(d + 1) - 2 * far - 1] == "I"


def test_dualpipe_waits_less_than_1f1b() -> None:
    p, m = 16, 120
    one, two = timetable(one_f_one_b(p, m)), timetable(dualpipe(p, m))
    assert (one.idle.max(), two.idle.max()) == (45, 14)


def test_a_pass_starts_after_what_it_needs_and_alone() -> None:
    table = timetable(interleaved(4, 8, 2), 1.0, 2.5)
    ends = {
        (k, i, at): end for k, i, at, end in zip(table.kind, table.microbatch, table.position, table.end, strict=True)
    }
    for kind, i, at, start in zip(table.kind, table.microbatch, table.position, table.start, strict=True):
        before = ("F", i, at - 1) if kind == "F" else ("B", i, at + 1)
        assert start >= ends.get(before, 0.0)
        assert kind == "F" or start >= ends["F", i, at]
    for s in range(4):
        mine = table.stage == s
        assert np.all(table.start[mine][1:] >= table.end[mine][:-1] - 1e-12)
    assert len(table.gantt) == 2 * 8 * 2 * 4
    assert table.gantt[0] == (0, "F", 0, 0.0, 0.5)


def test_an_order_that_cannot_be_kept_is_refused() -> None:
    good = one_f_one_b(2, 2)
    crossed = replace(good, blocks=(good.blocks[0][::-1], good.blocks[1]))
    with pytest.raises(ValueError, match="waits for ever at stage 0"):
        timetable(crossed)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: gpipe(0, 1), "p = 0 must be at least 1"),
        (lambda: one_f_one_b(2, 0), "m = 0 must be at least 1"),
        (lambda: interleaved(4, 6, 2), "v = 2 needs m = 6 to be a multiple of p = 4"),
        (lambda: interleaved(4, 6, 0), "v = 0 needs"),
        (lambda: dualpipe(3, 8), "p = 3 must be even"),
        (lambda: dualpipe(4, 6), "m = 6 even and at least 2 p = 8"),
        (lambda: timetable(gpipe(2, 2), backward=1, weight=1), "weight = 1 must be below backward = 1"),
        (lambda: timetable(gpipe(2, 2), forward=0), "forward = 0 must be above 0"),
        (lambda: dualpipe_idle(3, 3, 2, 1), "p = 3 must be even"),
        (lambda: timetable(one_f_one_b(4, 8), overlapped=3), "overlapped = 3 is not used: no passes overlap in 1F1B"),
        (lambda: pipeline_bubble(2.5, 4), "p = 2.5 must be a whole number"),
        (lambda: zero_bubble_idle(4, -1, 2, 1), "forward = -1 must be at least 0"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]
