"""Turns: the messages of a schedule and their bytes, equal repetitions once.

Read with the chapter "Collectives", section "An algorithm as data".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats
from netlib.collectives.schedule import Ints, Phase, Schedule
from netlib.topology.hops import ragged

Places = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Turn:
    """The messages of one repetition of a phase, and how often they are sent in the same sizes.

    src, dst      (M,) ranks, step by step: step s has the messages bounds[s] to bounds[s + 1]
    bytes, added  (M,) bytes of each message, and how many of them the receiver adds
    """

    src: Places
    dst: Places
    bytes: Floats
    added: Floats
    bounds: Places
    repeats: int


def turns(schedule: Schedule, size: float) -> Iterator[Turn]:
    """The messages of a schedule on a buffer of `size` bytes, equal repetitions once.

    >>> from netlib.collectives import ring_allreduce
    >>> [(turn.repeats, turn.bytes.tolist()) for turn in turns(ring_allreduce(2), 10)]
    [(1, [5.0, 5.0]), (1, [5.0, 5.0])]
    """
    volume = schedule.bytes_of(size)
    even = bool(volume.size) and bool((volume == volume[0]).all())
    for part in schedule.phases:
        message, which = np.unique(numbered(schedule, part, part.step), return_inverse=True)
        if even and part.wrap:
            sent, added = (np.bincount(which, part.count * held) * volume[0] for held in (1, part.add))
            yield _turn(schedule, part, message, sent, added, part.times)
            continue
        repetitions = _repetitions(part, volume, which, message.size)
        for _, equal in groupby(repetitions, key=lambda each: b"".join(held.tobytes() for held in each)):
            (live, sent, added), *more = equal
            yield _turn(schedule, part, message[live], sent[live], added[live], 1 + len(more))


def numbered(schedule: Schedule, part: Phase, step: Ints | int = 0) -> Places:
    """A number for each entry of a phase that says its step, source and destination; messages sort by it.

    >>> from netlib.collectives import ring_allreduce
    >>> ring = ring_allreduce(3)
    >>> numbered(ring, ring.phases[0]).tolist()  # src n + dst
    [1, 5, 6]
    """
    everyone = schedule.n + schedule.switches
    return np.asarray((np.int64(step) * everyone + part.src) * everyone + part.dst)


def _turn(schedule: Schedule, part: Phase, message: Places, sent: Floats, added: Floats, times: int) -> Turn:
    everyone = schedule.n + schedule.switches
    pair = message % everyone**2
    bounds = np.searchsorted(message // everyone**2, np.arange(part.period + 1))
    return Turn(pair // everyone, pair % everyone, np.asarray(sent, float), np.asarray(added, float), bounds, times)


def _repetitions(
    part: Phase, volume: Floats, which: Places, many: int
) -> Iterator[tuple[NDArray[np.bool_], Floats, Floats]]:
    """For each repetition: which messages are sent, their bytes, and how many of these are added."""
    entry, nth = ragged(part.count)
    at, message, adds = part.chunk[entry] + nth * part.stride, which[entry], part.add[entry]
    for repetition in range(part.times):
        chunk = at + repetition * part.shift
        live = np.ones(chunk.size, bool) if part.wrap else (chunk >= 0) & (chunk < volume.size)
        weight = volume[chunk % volume.size] * live
        yield (
            np.bincount(message, live, many) > 0,
            np.asarray(np.bincount(message, weight, many), float),
            np.asarray(np.bincount(message, weight * adds, many), float),
        )
