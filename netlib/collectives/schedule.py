"""Schedule: a collective as data.

The buffer is cut into chunks. In a step, some ranks send chunks to others, which add them to what they hold or keep
them. Everything that happens in a step happens at once, from what was held before it. Steps that repeat are stored
once: in repetition r a message carries the chunk `r * shift` further on. A switch that adds is a rank beyond the n
that hold buffers. Read with the chapter "Collectives", section "An algorithm as data".
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, declared, declared_fields, floats, quoted, written
from netlib.collectives.bounds import fits, grouped, ranks_at, well_formed, within
from netlib.collectives.busbw import OPS
from netlib.names import nearest

Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]
COLLECTIVES = (*OPS, "alltoallv")  # nccl-tests' names, and the one whose blocks differ


@dataclass(frozen=True, eq=False)
class Phase:
    """Steps that are repeated `times` times. Message i, in step `step[i]` of each repetition, goes from rank `src[i]`
    to rank `dst[i]` with `count[i]` chunks: `chunk[i]`, `chunk[i] + stride`, `chunk[i] + 2 stride` ...

    step, src, dst, chunk   (M,) whole numbers; entries with one step, src and dst travel as one message
    count                   (M,) chunks of each entry
    add                     (M,) whether the receiver adds; otherwise it keeps what comes
    times, shift, stride    repetitions; how far the chunks move with each; how far those of one entry are apart
    wrap                    chunks beyond the last go on at the first (a ring); otherwise nothing is sent there
                            (a pipeline that fills and drains)
    channel                 phases of different channels may overlap, as far as their data allow
    """

    step: Ints
    src: Ints
    dst: Ints
    chunk: Ints
    add: Mask
    count: Ints
    times: int = 1
    shift: int = 0
    stride: int = 1
    wrap: bool = True
    channel: int = 0
    _made = "phase, such as phase(step=0, src=[0, 1], dst=[1, 0], chunk=[0, 1], add=True)"

    def __post_init__(self) -> None:
        declared_fields(self)
        well_formed(self)

    @property
    def period(self) -> int:
        """Steps of one repetition."""
        return int(self.step.max(initial=-1)) + 1

    @written
    def placed(
        self, groups: ArrayLike, *, scale: int = 1, offset: ArrayLike = 0, blocks: int = 1, apart: int = 1
    ) -> "Phase":
        """The same phase at once in several groups of ranks: `groups` (G, n) holds the ranks of each.

        Chunk c of group j becomes chunks c scale + offset[j] + b apart, for b = 0 ... blocks - 1. The letters of a
        larger buffer are thus read as digits: a ring over the nodes moves one digit, a ring inside them another.

        >>> two = phase(step=0, src=0, dst=1, chunk=0, add=True)
        >>> both = two.placed([[0, 1], [2, 3]])
        >>> both.src.tolist(), both.dst.tolist()
        ([0, 2], [1, 3])
        """
        least = max(int(self.src.max(initial=-1)), int(self.dst.max(initial=-1))) + 1
        ranks, moved = grouped(groups, offset, least)
        if blocks > 1 and (self.count > 1).any():
            raise ValueError("blocks needs entries of one chunk each; give count = 1")
        every = (self.count.size, len(ranks))  # message by message, so that steps stay in order
        return replace(
            self,
            step=np.broadcast_to(self.step[:, None], every).ravel(),
            src=ranks.T[self.src].ravel(),
            dst=ranks.T[self.dst].ravel(),
            chunk=(self.chunk[:, None] * scale + moved).ravel().astype(np.int32),
            add=np.broadcast_to(self.add[:, None], every).ravel(),
            count=np.broadcast_to(self.count[:, None] * blocks, every).ravel(),
            shift=self.shift * scale,
            stride=apart if blocks > 1 else self.stride * scale,
        )


@declared
def phase(
    step: ArrayLike,
    src: ArrayLike,
    dst: ArrayLike,
    chunk: ArrayLike,
    add: ArrayLike,
    count: ArrayLike = 1,
    *,
    times: int = 1,
    shift: int = 0,
    stride: int = 1,
    wrap: bool = True,
    channel: int = 0,
) -> Phase:
    """A `Phase`, its messages sorted by step; what is given once holds for every message.

    >>> phase(step=0, src=[0, 1], dst=[1, 0], chunk=[0, 1], add=True, times=3, shift=-1).period
    1
    """
    given = {"step": step, "src": src, "dst": dst, "chunk": chunk, "add": add, "count": count}
    arrays = {name: np.atleast_1d(array(name, value)) for name, value in given.items()}
    for name, each in arrays.items():
        if each.size and each.dtype.kind not in ("b" if name == "add" else "iu"):
            kind = "True or False" if name == "add" else "whole numbers"
            raise ValueError(f"{name} = {quoted(given[name])} must be {kind}, one for each message")
        if each.size and name in ("step", "src", "dst", "count") and each.min() < (name == "count"):
            raise ValueError(f"{name} = {each.min()} is too small; count from {int(name == 'count')}")
        if each.size and name != "add" and not -(2**31) <= each.min() <= each.max() < 2**31:
            raise ValueError(f"{name} = {max(each.max(), each.min(), key=abs)} is beyond 2^31; give smaller numbers")
    if times < 1 or stride < 1:
        raise ValueError(f"times = {times} and stride = {stride} must be 1 or more; leave out a phase without steps")
    try:
        all_ = dict(zip(arrays, np.broadcast_arrays(*arrays.values()), strict=True))
    except ValueError:
        lengths = ", ".join(f"{name} {each.size}" for name, each in arrays.items())
        raise ValueError(f"{lengths}: these must be equally long, or single") from None
    if np.any(all_["src"] == all_["dst"]):
        raise ValueError("src equals dst in a message; what a rank keeps need not be sent")
    order = np.argsort(all_["step"], axis=None, kind="stable")
    when, who, whom, what, many = (
        all_[name].ravel()[order].astype(np.int32) for name in ("step", "src", "dst", "chunk", "count")
    )
    adds = all_["add"].ravel()[order].astype(bool)
    return Phase(when, who, whom, what, adds, many, times, shift, stride, wrap, channel)


@dataclass(frozen=True, eq=False)
class Step:
    """One step, written out: entry i takes chunk `chunk[i]` from `src[i]` to `dst[i]`, which adds it or keeps it."""

    src: Ints
    dst: Ints
    chunk: Ints
    add: Mask
    channel: int


@dataclass(frozen=True, eq=False)
class Schedule:
    """A collective: what is sent, and what it is for.

    name      algorithm, as people call it
    op        the collective, as nccl-tests calls it
    n         ranks that hold buffers; src and dst from n on are switches that add
    phases    what is sent, in an order that respects the data
    weight    (P,) share of the buffer's `size` that each chunk takes
    source    (P,) the rank that has the chunk at first; -1: each rank has its own part of a sum;
              (P, k): those ranks have a part each, named once or more
    target    (P,) the rank that needs it in the end; -1: all of them; (P, k): those ranks
    switches  how many switches add
    """

    name: str
    op: str
    n: int
    phases: tuple[Phase, ...]
    weight: Floats
    source: Ints
    target: Ints
    switches: int = 0
    _made = "a builder, such as ring_allreduce(8)"

    def __post_init__(self) -> None:
        declared_fields(self)
        if self.op not in COLLECTIVES:
            known = ", ".join(COLLECTIVES)
            raise ValueError(
                f"op = {quoted(self.op)} is no collective; {nearest(self.op, COLLECTIVES, f'use {known}')}"
            )
        weight = np.array(floats("weight", self.weight)).ravel()
        if not weight.size:
            raise ValueError("weight is empty; give at least one chunk")
        object.__setattr__(self, "weight", weight)
        for end in ("source", "target"):
            object.__setattr__(self, end, ranks_at(end, getattr(self, end), self.n, weight.size))
        if not isinstance(self.phases, (tuple, list)) or not all(isinstance(part, Phase) for part in self.phases):
            raise ValueError(f"phases = {quoted(self.phases)} must be a list of phases; make each with phase(...)")
        object.__setattr__(self, "phases", tuple(self.phases))
        within(self.phases, self.n, self.switches)

    @property
    def chunks(self) -> int:
        """How many chunks the buffer is cut into."""
        return self.weight.size

    @property
    def steps(self) -> int:
        """How many steps there are, repetitions counted."""
        return sum(part.times * part.period for part in self.phases)

    def written_out(self) -> Iterator[Step]:
        """Every step in turn, with one entry for each chunk that moves.

        >>> ring = phase(step=0, src=[0, 1], dst=[1, 0], chunk=[0, 1], add=True, times=2, shift=-1)
        >>> [step.chunk.tolist() for step in schedule_of("example", "all_reduce", 2, [ring], chunks=2).written_out()]
        [[0, 1], [1, 0]]
        """
        for part in self.phases:
            entry = np.repeat(np.arange(part.count.size), part.count)
            nth = np.arange(entry.size) - np.repeat(np.cumsum(part.count) - part.count, part.count)
            at = part.chunk[entry].astype(np.int64) + nth * part.stride
            src, dst, add = part.src[entry], part.dst[entry], part.add[entry]
            bounds = np.searchsorted(part.step[entry], np.arange(part.period + 1))
            for repetition in range(part.times):
                moved = at + repetition * part.shift
                live = (moved >= 0) & (moved < self.chunks)
                moved = (moved % self.chunks).astype(np.int32)
                for low, high in pairwise(bounds):
                    keep = slice(low, high) if part.wrap else low + np.flatnonzero(live[low:high])
                    yield Step(src[keep], dst[keep], moved[keep], add[keep], part.channel)

    def bytes_of(self, size: float) -> Floats:
        """(P,) bytes of each chunk of a buffer of `size` bytes, counted as nccl-tests counts it."""
        return float(floats("size", size)) * self.weight


@declared
def schedule_of(
    name: str,
    op: str,
    n: int,
    phases: Sequence[Phase],
    *,
    chunks: int = 1,
    weight: ArrayLike | None = None,
    source: ArrayLike = -1,
    target: ArrayLike = -1,
    switches: int = 0,
) -> Schedule:
    """A `Schedule` of `chunks` equal chunks, or of chunks with a `weight` each.

    >>> schedule_of("nothing to do", "all_reduce", 1, [], chunks=4).weight.tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    held = np.full(fits(chunks=chunks), 1 / chunks) if weight is None else floats("weight", weight)
    first, last = cast(Ints, source), cast(Ints, target)  # a Schedule reads them as they come
    return Schedule(name, op, n, tuple(phases), held, first, last, switches)
