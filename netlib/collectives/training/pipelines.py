"""Pipelines: a schedule's timetable, and the bubble and the activations that are measured from it.

A pass starts when its stage is free and what it needs is done: the pass before it in the chain, without any time on the
wire. The closed forms stand below; neither knows of the other. Read with the chapter "Collectives".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats, formula
from netlib.collectives.cost import ranks
from netlib.collectives.training.turns import Pass, Pipeline


@dataclass(frozen=True, eq=False)
class Timetable:
    """When each pass runs. Arrays have an entry for each pass: `stage`, `block` (number in its stage), `kind` (F, B, I
    or W), `microbatch`, `position`, `start` and `end` (s)."""

    schedule: Pipeline
    stage: NDArray[np.int64]
    block: NDArray[np.int64]
    kind: NDArray[np.str_]
    microbatch: NDArray[np.int64]
    position: NDArray[np.int64]
    start: Floats
    end: Floats

    @property
    def span(self) -> float:
        """Seconds from the first pass to the end of the last."""
        return float(self.end.max() - self.start.min())

    @property
    def idle(self) -> Floats:
        """(p,) seconds that each stage waits within the span."""
        heads = np.concatenate([[True], (self.stage[1:] != self.stage[:-1]) | (self.block[1:] != self.block[:-1])])
        busy = np.zeros(self.schedule.p)
        np.add.at(busy, self.stage[heads], (self.end - self.start)[heads])
        return self.span - busy

    @property
    def bubble(self) -> float:
        """Idle time over working time, all stages together; what Narayanan et al. call the bubble time fraction."""
        idle = self.idle
        return float(idle.sum() / (self.schedule.p * self.span - idle.sum()))

    @property
    def in_flight(self) -> Floats:
        """(p,) the most activations a stage holds at once, in microbatches of a whole stage (a chunk counts 1 / v).

        From the start of a forward pass to the end of the backward pass that frees it: of its weights' gradient where
        the backward pass is cut in two. With DualPipe a whole part counts 1.
        """
        takes, frees = self.kind == "F", np.isin(self.kind, ("B", "W"))
        times = np.concatenate([self.start[takes], self.end[frees]])
        stages = np.concatenate([self.stage[takes], self.stage[frees]])
        change = np.concatenate([np.ones(takes.sum()), -np.ones(frees.sum())])
        order = np.lexsort((change, times))  # at equal times what is freed goes first
        most = [np.cumsum(change[order][stages[order] == s]).max() for s in range(self.schedule.p)]
        return np.array(most) * self.schedule.share

    @property
    def gantt(self) -> tuple[tuple[int, str, int, float, float], ...]:
        """The bars of a figure: (stage, kind, microbatch, start, end)."""
        rows = zip(self.stage, self.kind, self.microbatch, self.start, self.end, strict=True)
        return tuple((int(s), str(k), int(i), float(a), float(b)) for s, k, i, a, b in rows)


@declared
def timetable(
    schedule: Pipeline,
    forward: float = 1.0,
    backward: float = 2.0,
    weight: float | None = None,
    overlapped: float | None = None,
) -> Timetable:
    """When each pass of the schedule runs, each as early as its stage and its inputs allow.

    Seconds of one stage's forward pass, full backward pass, weights' gradient (half of the backward pass if left out)
    and of a forward and a backward pass that overlap (their sum if left out); a chunk of v takes 1 / v of them.

    >>> from netlib.collectives.training.turns import one_f_one_b
    >>> table = timetable(one_f_one_b(4, 8))
    >>> table.span, table.bubble, table.in_flight.tolist()
    (33.0, 0.375, [4.0, 3.0, 2.0, 1.0])
    """
    if overlapped is not None and not any(len(block) > 1 for stage in schedule.blocks for block in stage):
        told = f"overlapped = {overlapped:g} is not used: no passes overlap in {schedule.name}"
        raise ValueError(f"{told}; leave it out, or give a dualpipe schedule")
    weight = backward / 2 if weight is None else weight
    overlapped = forward + backward if overlapped is None else overlapped
    for name, value in (("forward", forward), ("weight", weight), ("overlapped", overlapped)):
        floats(name, value, above=True)
    if not weight < backward:
        raise ValueError(f"weight = {weight:g} must be below backward = {backward:g}, of which it is a part")
    seconds = {"F": forward, "B": backward, "I": backward - weight, "W": weight}
    rows = _run(
        schedule, {kind: value * schedule.share for kind, value in seconds.items()}, overlapped * schedule.share
    )
    columns = list(zip(*rows, strict=True))
    whole = [np.array(columns[i], dtype=np.int64) for i in (0, 1, 3, 4)]
    return Timetable(
        schedule,
        whole[0],
        whole[1],
        np.array(columns[2]),
        whole[2],
        whole[3],
        np.array(columns[5]),
        np.array(columns[6]),
    )


Row = tuple[int, int, str, int, int, float, float]


def _run(schedule: Pipeline, seconds: dict[str, float], overlapped: float) -> list[Row]:
    """All passes with their times, by stage and block; stages take turns until all are done."""
    done: dict[tuple[str, int, int], float] = {}
    rows: list[list[Row]] = [[] for _ in range(schedule.p)]
    free, turn = [0.0] * schedule.p, [0] * schedule.p
    moved = True
    while moved:
        moved = False
        for s, blocks in enumerate(schedule.blocks):
            while turn[s] < len(blocks):
                block = blocks[turn[s]]
                inputs = [done.get(need) for one in block for need in _needs(one, schedule.length)]
                if any(time is None for time in inputs):
                    break
                start = max([free[s], *(time for time in inputs if time is not None)])
                end = start + (overlapped if len(block) > 1 else seconds[block[0].kind])
                for one in block:
                    kind = "B" if one.kind == "I" else one.kind
                    done[kind, one.microbatch, one.position] = end
                    rows[s].append((s, turn[s], *one, start, end))
                free[s] = end
                turn[s] += 1
                moved = True
    stuck = [s for s in range(schedule.p) if turn[s] < len(schedule.blocks[s])]
    if stuck:
        raise ValueError(
            f"schedule = {schedule.name!r} waits for ever at stage {stuck[0]}; its order needs what comes later"
        )
    return [row for stage in rows for row in stage]


def _needs(one: Pass, length: int) -> list[tuple[str, int, int]]:
    """What must be done before: the same microbatch one position before (F) or after (B, I), and its own pass."""
    if one.kind == "F":
        return [("F", one.microbatch, one.position - 1)] if one.position else []
    if one.kind == "W":
        return [("B", one.microbatch, one.position)]
    after = [("B", one.microbatch, one.position + 1)] if one.position + 1 < length else []
    return [("F", one.microbatch, one.position), *after]


@formula
def pipeline_bubble(p: ArrayLike, m: ArrayLike, v: ArrayLike = 1) -> Floats:
    """Idle over working time of GPipe and 1F1B, (p-1) / m, and of v interleaved chunks, (p-1) / (v m).

    Narayanan et al. (2021), section 2.2; without time on the wire.

    >>> float(pipeline_bubble(8, 32)), float(pipeline_bubble(8, 32, 6))
    (0.21875, 0.036458333333333336)
    """
    return (ranks(p, "p") - 1) / (ranks(v, "v") * ranks(m, "m"))


@formula
def zero_bubble_idle(p: ArrayLike, forward: ArrayLike, backward: ArrayLike, weight: ArrayLike) -> Floats:
    """Seconds a stage waits in ZB1P: (p-1)(F + B - 2W), with B the full backward pass (deepseek-ai/DualPipe, README).

    Holds for as many microbatches as stages or more; with fewer, stages wait longer (`timetable` measures it).

    >>> float(zero_bubble_idle(8, 1, 2, 1))
    7.0
    """
    forward, backward = floats("forward", forward), floats("backward", backward)
    return (ranks(p, "p") - 1) * np.maximum(0, forward + backward - 2 * floats("weight", weight))


@formula
def dualpipe_idle(p: ArrayLike, overlapped: ArrayLike, backward: ArrayLike, weight: ArrayLike) -> Floats:
    """Seconds a stage waits in DualPipe: (p/2 - 1)(F&B + B - 3W), with F&B an overlapped pair (its README).

    Exact for F = W = B/2 and F&B = F + B. The timetable waits no longer while W <= B/2, F <= B - W and B <= F&B, and
    may wait longer where forward passes are longer than that.

    >>> float(dualpipe_idle(8, 3, 2, 1))
    6.0
    """
    overlapped, backward = floats("overlapped", overlapped), floats("backward", backward)
    p = ranks(p, "p")
    if (p % 2 != 0).any():
        raise ValueError(f"p = {p[p % 2 != 0].flat[0]:g} must be even: microbatches of DualPipe enter at both ends")
    return (p / 2 - 1) * np.maximum(0, overlapped + backward - 3 * floats("weight", weight))
