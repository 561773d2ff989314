"""Pipelines: the timetable of five schedules, the bubble measured from it and the bubble of the formula."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

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
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Number, Rule, Spans

STAGES, MICRO = (2, 4, 6), (4, 8, 12, 16)
FORWARD, BACKWARD, WEIGHT = 1.0, 2.0, 1.0  # a stage's passes; the weights' gradient is half of the backward pass
CHUNKS = 2
GPIPE, ONE, INTER, ZERO, DUAL = "GPipe", "1F1B", "interleaved, 2 chunks", "zero bubble (ZB-H1)", "DualPipe"
KINDS = {"F": 0, "B": 1, "I": 1, "W": 2}
SLOTS = MICRO[-1] * CHUNKS * STAGES[-1]  # the most bars that one kind of work needs


def schedule(name: str, p: int, m: int) -> Pipeline:
    """The order of work; ValueError where a schedule does not fit the numbers."""
    built = {GPIPE: gpipe, ONE: one_f_one_b, ZERO: zero_bubble, DUAL: dualpipe}
    return interleaved(p, m, CHUNKS) if name == INTER else built[name](p, m)


def closed(name: str, p: int, m: int) -> float:
    """Idle over working time by the formulas; knows of no timetable."""
    if name == ZERO:
        return float(zero_bubble_idle(p, FORWARD, BACKWARD, WEIGHT)) / (m * (FORWARD + BACKWARD))
    if name == DUAL:
        return float(dualpipe_idle(p, FORWARD + BACKWARD, BACKWARD, WEIGHT)) / (m * (FORWARD + BACKWARD))
    return float(pipeline_bubble(p, m, CHUNKS if name == INTER else 1))


@cache
def state(name: str, p: int, m: int) -> Array:
    """Bubble measured, bubble by formula, activations held, span; then row, start, end, label, height of each bar."""
    bars = np.full((3, 5, SLOTS), np.nan)
    try:
        table = timetable(schedule(name, p, m), FORWARD, BACKWARD, WEIGHT)
    except ValueError:
        return np.concatenate([np.full(4, np.nan), bars.ravel()])
    block = np.stack([table.stage, table.block])
    _, which, size = np.unique(block, axis=1, return_inverse=True, return_counts=True)
    pair = size[which.ravel()] > 1  # a forward and a backward pass at once share the row
    for kind, k in (("F", 0), ("B", 1), ("W", 2)):
        seen = np.isin(table.kind, ("B", "I")) if kind == "B" else table.kind == kind
        shift = np.where(pair[seen], 0.2 if kind == "F" else -0.2, 0.0)
        rows = STAGES[-1] - 1 - table.stage[seen] + shift
        tall = np.where(pair[seen], 0.4, 0.8)
        found = (rows, table.start[seen], table.end[seen], table.microbatch[seen] + 1.0, tall)
        bars[k, :, : int(seen.sum())] = np.stack(found)
    heads = [table.bubble, closed(name, p, m), table.in_flight.max(), table.span]
    return np.concatenate([heads, bars.ravel()])


@explorer(
    "pipeline-gantt",
    title="Where a pipeline waits",
    caption="Each row is a stage, each bar a pass of the microbatch whose number it carries; a backward pass takes "
    "twice a forward one, and nothing is spent on wires. Gaps are waiting. More microbatches shrink its share, more "
    "stages raise it, chunks or a divided backward pass fill it.",
    alt="A staircase of forward bars runs down the stages, backward bars climb back up, and empty triangles stay at "
    "both ends; a vertical mark shows when the same work without waiting would have ended.",
)
def pipeline_gantt(
    kind: Annotated[Array, Knob(GPIPE, ONE, INTER, ZERO, DUAL, default=ONE, label="schedule")],
    p: Annotated[Array, Knob(*STAGES, default=4, unit="stages", label="pipeline")],
    m: Annotated[Array, Knob(*MICRO, default=12, unit="microbatches", label="batch of a replica")],
) -> Figure:
    """The timetable as bars; what is measured from it beside what the formula says."""
    found = each(state, kind, p, m)
    bubble, formula, held, span = (found[..., i : i + 1] for i in range(4))
    bars = found[..., 4:].reshape(*found.shape[:-1], 3, 5, SLOTS)
    names = (("forward", "compute"), ("backward", "useful"), ("weights' gradient", "latency"))

    def spans(k: int) -> Spans:
        row, start, end, label, tall = (bars[..., k, i, :] for i in range(5))
        return Spans(names[k][0], row, start, end, label, tall, names[k][1])

    def failure(s: Mapping[str, Any]) -> str:
        if np.isnan(s["bubble"]):
            return (
                f"DualPipe feeds both ends: it needs at least {2 * s['p']:.0f} microbatches for {s['p']:.0f} stages."
                if s["kind"] == DUAL
                else f"Interleaving sends microbatches in groups of {s['p']:.0f}, which {s['m']:.0f} are not."
            )
        if abs(s["bubble"] - s["formula"]) > 1e-6:
            return (
                "Fewer microbatches than stages: gaps stay that no weights' gradient fills, and the formula is too low."
            )
        if s["kind"] == GPIPE and s["m"] > 12:
            return f"Stage 1 holds the activations of all {s['m']:.0f} microbatches at once; 1F1B holds {s['p']:.0f}."
        return "Stages wait for more than half as long as they work." if s["bubble"] > 0.5 else ""

    return Figure(
        x=Axis("time, in forward passes of a stage"),
        y=Axis(
            "stage of the pipeline",
            limits=(-0.5, STAGES[-1] + 0.1),  # room for the mark's text above stage 1
            categories=tuple(f"stage {s}" for s in range(STAGES[-1], 0, -1)),
        ),
        elements=(
            spans(0),
            spans(1),
            spans(2),
            Rule(m * (FORWARD + BACKWARD) + 0 * bubble, "work alone", ink="measured"),
        ),
        numbers={
            "bubble": Number(bubble, "%", "waiting over working, measured from the timetable"),
            "formula": Number(formula, "%", "the same by the formula"),
            "held": Number(held, "", "microbatches whose activations the fullest stage holds"),
            "span": Number(span, "", "time of the step, in forward passes"),
            "lost": Number(1 - m * (FORWARD + BACKWARD) / span, "%", "of the step is waiting"),
        },
        reading=lambda s: (
            f"{s['kind']} does not run with these numbers."
            if np.isnan(s["bubble"])
            else f"{s['kind']}, {s['p']:.0f} stages, {s['m']:.0f} microbatches: stages wait {s['bubble']:.1%} of their "
            f"working time (formula {s['formula']:.1%}), and the fullest holds {s['held']:g} microbatches."
        ),
        failure=failure,
    )
