"""Agreements of the training sections of the chapter "Collectives": formulas against timetables and event by event."""

import numpy as np

from netlib.arguments import Floats
from netlib.collectives.training import (
    dualpipe,
    dualpipe_idle,
    exposed_bounds,
    gpipe,
    interleaved,
    one_f_one_b,
    pipeline_bubble,
    reduced,
    timetable,
    zero_bubble,
    zero_bubble_idle,
)
from netlib.fidelity.agreement import Agreement


def bubble(p: int, m: int, v: int) -> Floats:
    """Waiting over working time, (p - 1) / (v m)."""
    return pipeline_bubble(p, m, v)


def bubble_measured(p: int, m: int, v: int) -> float:
    """The same, measured from a timetable in which every pass starts as soon as its inputs are there.

    One chunk is measured with both schedules, which must not differ.
    """
    if v > 1:
        return timetable(interleaved(p, m, v)).bubble
    first, other = (timetable(built(p, m)).bubble for built in (gpipe, one_f_one_b))
    return first if np.isclose(first, other, rtol=1e-12) else np.nan


def idle(p: int, m: int, both_ends: bool) -> Floats:
    """Seconds that a stage waits with a backward pass cut in halves, each as long as a forward pass of one second."""
    return dualpipe_idle(p, 3.0, 2.0, 1.0) if both_ends else zero_bubble_idle(p, 1.0, 2.0, 1.0)


def idle_measured(p: int, m: int, both_ends: bool) -> float:
    """The same from the timetable; all stages wait equally long."""
    waits = timetable((dualpipe if both_ends else zero_bubble)(p, m)).idle
    return float(waits[0] if np.allclose(waits, waits[0]) else np.nan)


def exposed(layers: int, work: float, wire: float, bucket: int) -> float:
    """Seconds of communication left after the backward pass: the last bucket's, or what queued up before it."""
    return exposed_bounds([work] * layers, [1.0] * layers, bucket, lambda size: wire * size)[0]


def exposed_by_events(layers: int, work: float, wire: float, bucket: int) -> float:
    """The same, from the two streams side by side."""
    return reduced([work] * layers, [1.0] * layers, bucket, lambda size: wire * size).exposed


AGREEMENTS = (
    Agreement(
        "pipeline-bubble",
        "waiting over working time of GPipe, 1F1B and interleaved 1F1B",
        bubble,
        bubble_measured,
        ((2, 4, 1), (4, 8, 1), (5, 7, 1), (8, 32, 1), (8, 3, 1), (4, 8, 2), (3, 6, 4), (8, 32, 6)),
        "measured from the timetables",
        1e-12,
    ),
    Agreement(
        "divided-backward-idle",
        "seconds that a stage waits in ZB-H1 and in DualPipe",
        idle,
        idle_measured,
        ((2, 4, False), (4, 8, False), (5, 9, False), (8, 16, False), (4, 8, True), (6, 14, True), (8, 32, True)),
        "measured from the timetables",
        1e-12,
    ),
    Agreement(
        "exposed-buckets",
        "seconds of gradients that equal layers leave exposed",
        exposed,
        exposed_by_events,
        ((8, 0.02, 0.01, 1), (8, 0.02, 0.01, 4), (8, 0.02, 0.05, 1), (80, 0.01, 0.011, 8), (7, 0.03, 0.02, 7)),
        "event by event",
        1e-12,
    ),
)
