"""Weaving: schedules put together, one after the other or side by side.

Read with the chapter "Collectives", section "An algorithm as data".
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from netlib.arguments import declared
from netlib.collectives.bounds import fits
from netlib.collectives.schedule import Phase, Schedule


@declared
def in_turn(name: str, op: str, schedules: Sequence[Schedule]) -> Schedule:
    """One schedule after the other on the same chunks: starts as the first does, ends as the last.

    >>> from netlib.collectives import schedule_of
    >>> half = schedule_of("half", "reduce_scatter", 2, [], chunks=2, target=[0, 1])
    >>> back = schedule_of("back", "all_gather", 2, [], chunks=2, source=[0, 1])
    >>> both = in_turn("ring", "all_reduce", [half, back])
    >>> both.source.tolist(), both.target.tolist()
    ([-1, -1], [-1, -1])
    """
    first, last = _alike(schedules), schedules[-1]
    phases = tuple(part for each in schedules for part in each.phases)
    return replace(first, name=name, op=op, phases=phases, target=last.target)


@declared
def side_by_side(name: str, schedules: Sequence[Schedule]) -> Schedule:
    """Several schedules at once, each on its own part of the buffer: channels, rails, the two trees, both directions.

    With k schedules of P chunks each, chunk c of schedule j becomes chunk c k + j, a k-th as large. Schedules of one
    shape take their steps together; others run in channels of their own.

    >>> from netlib.collectives import phase, schedule_of
    >>> one = schedule_of("one", "reduce", 2, [phase(step=0, src=0, dst=1, chunk=0, add=True)], target=1)
    >>> two = side_by_side("two", [one, one])
    >>> two.phases[0].chunk.tolist(), two.weight.tolist()
    ([0, 1], [0.5, 0.5])
    """
    first, k = _alike(schedules), len(schedules)
    fits(schedules=k, chunks=first.chunks)
    spread = [[_spread(part, k, j) for part in each.phases] for j, each in enumerate(schedules)]
    if len({tuple(_shape(part) for part in parts) for parts in spread}) == 1:
        phases = tuple(_merged(column) for column in zip(*spread, strict=True))
    else:
        many = 1 + max((part.channel for parts in spread for part in parts), default=0)
        phases = tuple(replace(part, channel=part.channel + many * j) for j in range(k) for part in spread[j])
    weight, source, target = (
        np.stack([getattr(each, name) for each in schedules], axis=1).reshape(-1, *getattr(first, name).shape[1:])
        for name in ("weight", "source", "target")
    )
    return replace(first, name=name, phases=phases, weight=weight / k, source=source, target=target)


def _alike(schedules: Sequence[Schedule]) -> Schedule:
    """The first of schedules that fit together, or one sentence."""
    if not schedules:
        raise ValueError("schedules must be a list of at least one Schedule; make them with a builder")
    if len({(each.n, each.chunks, each.switches, each.source.shape, each.target.shape) for each in schedules}) > 1:
        raise ValueError(
            "schedules must share n, switches and the number of chunks; split the chunks of the coarser one"
        )
    return schedules[0]


def _spread(part: Phase, k: int, j: int) -> Phase:
    """The phase of schedule j on chunks that lie k apart."""
    return replace(part, chunk=part.chunk * k + j, shift=part.shift * k, stride=part.stride * k)


def _shape(part: Phase) -> tuple[int, int, int, int, bool, int]:
    return part.times, part.period, part.shift, part.stride, part.wrap, part.channel


def _merged(parts: Sequence[Phase]) -> Phase:
    """Phases of one shape as one phase: their messages step by step together."""
    step = np.concatenate([part.step for part in parts])
    order = np.argsort(step, kind="stable")
    return replace(
        parts[0],
        step=step[order],
        src=np.concatenate([part.src for part in parts])[order],
        dst=np.concatenate([part.dst for part in parts])[order],
        chunk=np.concatenate([part.chunk for part in parts])[order],
        add=np.concatenate([part.add for part in parts])[order],
        count=np.concatenate([part.count for part in parts])[order],
    )
