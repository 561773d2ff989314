"""Execution: a schedule run on real arrays.

The first of three engines. It knows messages and sums, no formula and no network; what it finds wrong is wrong
everywhere. Read with the chapter "Collectives", section "An algorithm as data".
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, declared
from netlib.collectives.schedule import Ints, Schedule, Step

Array = NDArray[Any]
MOST_CELLS = 2**27
"""The most places, ranks x chunks, that memory is asked to hold."""


@declared
def execute(schedule: Schedule, buffers: ArrayLike) -> Array:
    """What every rank holds in the end: (n + switches, P, ...), from `buffers` (n, P, ...) of any type that adds.

    `buffers[r, c]` is what rank r has of chunk c at first; where the collective gives it none, it is not read. A place
    that never received anything holds 0. Raises ValueError where the schedule sends what its rank does not hold, or
    lets two messages of one step write one place, neither of which adds.

    >>> from netlib.collectives import ring_allreduce
    >>> execute(ring_allreduce(2), [[1, 10], [2, 20]]).tolist()
    [[3, 30], [3, 30]]
    """
    return deque(_states(schedule, buffers), maxlen=1)[0]


@declared
def after_each_step(schedule: Schedule, buffers: ArrayLike) -> Array:
    """(steps + 1, n + switches, P, ...) what every rank holds before the first step and after each; see `execute`.

    >>> from netlib.collectives import ring_allreduce
    >>> after_each_step(ring_allreduce(2), [[1, 10], [2, 20]])[:, 0].tolist()
    [[1, 10], [3, 10], [3, 30]]
    """
    return np.stack([state.copy() for state in _states(schedule, buffers)])


@declared
def at_first(schedule: Schedule) -> NDArray[np.bool_]:
    """(n + switches, P) which rank has which chunk before the first step.

    >>> from netlib.collectives import ring_all_gather
    >>> at_first(ring_all_gather(2)).tolist()
    [[True, False], [False, True]]
    """
    return _places(schedule, schedule.source)


@declared
def in_the_end(schedule: Schedule) -> NDArray[np.bool_]:
    """(n + switches, P) which rank must have which chunk after the last step.

    >>> from netlib.collectives import ring_reduce_scatter
    >>> in_the_end(ring_reduce_scatter(2)).tolist()
    [[True, False], [False, True]]
    """
    return _places(schedule, schedule.target)


@declared
def expected(schedule: Schedule, buffers: ArrayLike) -> Array:
    """(P, ...) what the collective must deliver of each chunk: the sum over all ranks that have it or a part of it.

    >>> from netlib.collectives import ring_allreduce
    >>> expected(ring_allreduce(2), [[1, 10], [2, 20]]).tolist()
    [3, 30]
    """
    given = _given(schedule, buffers)
    held = at_first(schedule)[: schedule.n].reshape(schedule.n, schedule.chunks, *[1] * (given.ndim - 2))
    return np.asarray(np.where(held, given, np.zeros((), given.dtype)).sum(axis=0), given.dtype)


@declared
def is_correct(schedule: Schedule, rng: Generator) -> bool:
    """Whether everybody who needs a chunk gets it, with each rank's part in it exactly once.

    Random 64-bit words are added modulo 2^64: a part that is missing or counted twice shows, but for one case in
    2^64. Raises ValueError where `execute` does.

    >>> from netlib.collectives import ring_allreduce
    >>> is_correct(ring_allreduce(5), np.random.default_rng(0))
    True
    """
    _affordable(schedule)
    words = rng.integers(0, 2**64, (schedule.n, schedule.chunks), dtype=np.uint64)
    needed = in_the_end(schedule)
    want = np.broadcast_to(expected(schedule, words), needed.shape)
    return bool((execute(schedule, words)[needed] == want[needed]).all())


@declared
def reduction_order(schedule: Schedule, chunk: int = 0, rank: int | None = None) -> str:
    """The brackets of the sum that a rank gets of a chunk: floating-point numbers add differently in another order.

    `rank` is by default one that needs the chunk.

    >>> from netlib.collectives import ring_allreduce
    >>> reduction_order(ring_allreduce(4))
    '(((1+2)+3)+0)'
    """
    if not 0 <= chunk < schedule.chunks:
        raise ValueError(f"chunk = {chunk} is none of this schedule's; give 0 to {schedule.chunks - 1}")
    reader = int(np.argmax(in_the_end(schedule)[:, chunk])) if rank is None else rank
    if not 0 <= reader < schedule.n:
        raise ValueError(f"rank = {rank} is none of this schedule's; give 0 to {schedule.n - 1}")
    _affordable(schedule)
    terms = np.empty((schedule.n, schedule.chunks), object)
    terms[:] = np.array([_Term(str(r)) for r in range(schedule.n)], object)[:, None]
    return str(getattr(execute(schedule, terms)[reader, chunk], "text", ""))


@dataclass(frozen=True, eq=False)
class Counts:
    """What a schedule sends, counted message by message.

    steps           steps with at least one message
    sent, received  (n + switches,) bytes of each rank
    messages        (n + switches,) messages that each rank sends
    critical        bytes of the largest message of each step, summed: what a rank waits for if all step together
    """

    steps: int
    sent: Floats
    received: Floats
    messages: NDArray[np.int64]
    critical: float


@declared
def counts(schedule: Schedule, size: float) -> Counts:
    """Bytes and messages of a schedule on a buffer of `size` bytes.

    >>> from netlib.collectives import ring_allreduce
    >>> ring = counts(ring_allreduce(8), 8e6)
    >>> ring.steps, float(ring.sent[0]) / 1e6
    (14, 14.0)
    """
    volume, everyone = schedule.bytes_of(size), schedule.n + schedule.switches
    sent, received = np.zeros(everyone), np.zeros(everyone)
    messages, steps, critical = np.zeros(everyone, np.int64), 0, 0.0
    for step in schedule.written_out():
        pair, which = np.unique(step.src.astype(np.int64) * everyone + step.dst, return_inverse=True)
        carried = np.bincount(which, volume[step.chunk], pair.size)
        sent += np.bincount(pair // everyone, carried, everyone)
        received += np.bincount(pair % everyone, carried, everyone)
        messages += np.bincount(pair // everyone, minlength=everyone)
        steps += bool(pair.size)
        critical += float(carried.max(initial=0))
    return Counts(steps, sent, received, messages, critical)


@dataclass(frozen=True)
class _Term:
    """A part of a sum that remembers its brackets."""

    text: str

    def __add__(self, other: "_Term | int") -> "_Term":
        return _Term(f"({other.text}+{self.text})") if isinstance(other, _Term) else self  # what came, plus one's own


def _states(schedule: Schedule, buffers: ArrayLike) -> Iterator[Array]:
    """What every rank holds before the first step and after each: one array, changed in place."""
    given, n, chunks = _given(schedule, buffers), schedule.n, schedule.chunks
    state = np.zeros((n + schedule.switches, *given.shape[1:]), given.dtype)
    held = at_first(schedule)
    state[:n][held[:n]] = given[held[:n]]
    yield state
    for number, step in enumerate(schedule.written_out()):
        _check(number, step, held)
        carried = state[step.src, step.chunk]
        fresh = step.add & ~held[step.dst, step.chunk]  # what is added to nothing is kept
        first = np.zeros(fresh.size, bool)
        first[np.flatnonzero(fresh)[_first_of(step.dst[fresh], step.chunk[fresh], chunks)]] = True
        kept = first | ~step.add
        state[step.dst[kept], step.chunk[kept]] = carried[kept]
        adds = ~kept
        np.add.at(state, (step.dst[adds], step.chunk[adds]), carried[adds])
        held[step.dst, step.chunk] = True
        yield state


def _given(schedule: Schedule, buffers: ArrayLike) -> Array:
    """Buffers of something that adds, one for each rank and chunk, or one sentence."""
    given, n, chunks = array("buffers", buffers), schedule.n, schedule.chunks
    if given.shape[:2] != (n, chunks):
        raise ValueError(f"buffers has shape {given.shape}; give ({n}, {chunks}, ...): ranks, then chunks")
    if given.dtype.kind not in "biufcO":
        raise ValueError(f"buffers holds {given.dtype}, which does not add; give numbers")
    return given


def _affordable(schedule: Schedule) -> None:
    """Refuse a schedule whose ranks times chunks would fill memory."""
    cells = (schedule.n + schedule.switches) * schedule.chunks
    if cells > MOST_CELLS:
        raise ValueError(
            f"schedule has {schedule.n + schedule.switches} ranks x {schedule.chunks} chunks, more than"
            f" {MOST_CELLS:,}; execute a smaller one, or use counts or a closed form"
        )


def _places(schedule: Schedule, rank: Ints) -> NDArray[np.bool_]:
    _affordable(schedule)
    everyone = np.arange(schedule.n + schedule.switches)[:, None]
    columns = rank.reshape(schedule.chunks, -1).T  # one rank of each chunk, or several
    named = np.logical_or.reduce([(column < 0) | (everyone == column) for column in columns])
    return np.asarray(named & (everyone < schedule.n))


def _check(number: int, step: Step, held: NDArray[np.bool_]) -> None:
    """Refuse a step that sends what is not there, or whose outcome depends on which message comes first."""
    missing = ~held[step.src, step.chunk]
    if missing.any():
        i = int(np.argmax(missing))
        raise ValueError(f"in step {number} rank {step.src[i]} sends chunk {step.chunk[i]}, which it does not hold")
    place = step.dst.astype(np.int64) * held.shape[1] + step.chunk
    _, which, many = np.unique(place, return_inverse=True, return_counts=True)
    torn = (many[which] > 1) & ~step.add
    if torn.any():
        i = int(np.argmax(torn))
        raise ValueError(
            f"in step {number} two messages write chunk {step.chunk[i]} of rank {step.dst[i]}; let both add"
        )


def _first_of(dst: Array, chunk: Array, chunks: int) -> Array:
    """The first entry of each place."""
    return np.unique(dst.astype(np.int64) * chunks + chunk, return_index=True)[1]
