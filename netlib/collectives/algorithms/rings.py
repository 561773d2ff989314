"""Rings and chains as schedules.

In a ring each rank sends to the next and receives from the one before, a chunk a step. A chain is a ring cut open at
the root, through which the segments of a buffer follow one another. Read with the chapter "Collectives", section
"Ways to add".
"""

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared, quoted
from netlib.collectives.bounds import fits, rank_below
from netlib.collectives.schedule import Phase, Schedule, phase, schedule_of
from netlib.collectives.weaving import in_turn, side_by_side


@declared
def ring_reduce_scatter(n: int) -> Schedule:
    """n - 1 steps of one chunk; rank r ends with the sum of chunk r. Each sum begins one rank after its owner's next:
    chunk c is added in the order c+1, c+2, ... c.

    >>> made = ring_reduce_scatter(4)
    >>> made.steps, made.chunks, made.target.tolist()
    (3, 4, [0, 1, 2, 3])
    """
    rank = np.arange(fits(n=n))
    steps = _around((rank - 1) % n, add=True)
    return schedule_of("ring", "reduce_scatter", n, steps, chunks=n, target=rank)


@declared
def ring_all_gather(n: int) -> Schedule:
    """n - 1 steps of one chunk; rank r starts with chunk r.

    >>> made = ring_all_gather(4)
    >>> made.steps, made.source.tolist()
    (3, [0, 1, 2, 3])
    """
    rank = np.arange(fits(n=n))
    return schedule_of("ring", "all_gather", n, _around(rank, add=False), chunks=n, source=rank)


@declared
def ring_allreduce(n: int, channels: int = 1) -> Schedule:
    """Reduce-scatter, then all-gather: 2(n - 1) steps. `channels` rings share the buffer and take their steps together.

    >>> ring_allreduce(4).steps, ring_allreduce(4, channels=2).chunks
    (6, 8)
    """
    one = in_turn("ring", "all_reduce", [ring_reduce_scatter(n), ring_all_gather(n)])
    return side_by_side("ring", [one] * (fits(n=n, channels=channels) // n)) if channels != 1 else one


@declared
def ring_through(order: ArrayLike, op: str = "all_reduce") -> Schedule:
    """A ring that visits the ranks in a given order: all_reduce, reduce_scatter or all_gather.

    `order` (n,), or (k, n) for k rings (channels) that share the buffer. The sum of a chunk begins with the rank that
    the ring visits after its owner.

    >>> ring_through([0, 2, 1, 3]).phases[0].dst.tolist()
    [2, 1, 3, 0]
    """
    orders = np.atleast_2d(array("order", order))
    n = orders.shape[-1]
    if orders.dtype.kind not in "iu" or orders.ndim > 2 or not (np.sort(orders, axis=1) == np.arange(n)).all():
        raise ValueError(f"order = {quoted(order)} must hold each rank from 0 to n - 1 once")
    made = _OF_OP[_known(op)](n)
    rings = []
    for ranks in orders:
        source, target = (np.where(held < 0, -1, ranks[held]) for held in (made.source, made.target))
        phases = [part.placed(ranks) for part in made.phases]
        rings.append(schedule_of("ring", op, n, phases, chunks=n, source=source, target=target))
    return side_by_side("ring", rings) if len(rings) > 1 else rings[0]


@declared
def bidirectional_ring(n: int, op: str = "all_reduce") -> Schedule:
    """Two rings, one each way round, with half of the buffer each: the ring's steps and half of its bytes on a link.

    For all_reduce, reduce_scatter or all_gather. Chunk 2c goes up, as in the ring; chunk 2c + 1 goes down and is added
    in the order c-1, c-2, ... c. With two ranks both ways are one, and nothing is won.

    >>> made = bidirectional_ring(4)
    >>> made.steps, made.chunks
    (6, 8)
    """
    up = np.arange(fits(n=n))
    both = [ring_through(order, op) for order in (up, -up % n)]
    return side_by_side("bidirectional ring", both)


@declared
def pipelined_broadcast(n: int, segments: int = 1, root: int = 0) -> Schedule:
    """A chain root, root+1, ... root-1, through which `segments` pieces follow one another: n - 2 + segments steps.

    >>> pipelined_broadcast(4, 3).steps, pipelined_broadcast(4).steps
    (5, 3)
    """
    chain = (rank_below(fits(n=n), "root", root) + np.arange(n)) % n
    steps = _along(chain, fits(segments=segments), add=False)
    return schedule_of("chain", "broadcast", n, steps, chunks=segments, source=root)


@declared
def pipelined_reduce(n: int, segments: int = 1, root: int = 0) -> Schedule:
    """The chain root+1, root+2, ... root, each rank adding: n - 2 + segments steps. Every segment is added in this one
    order, and on the same links that the broadcast's chain uses, but for one.

    >>> made = pipelined_reduce(4, 3)
    >>> made.steps, made.target.tolist()
    (5, [0, 0, 0])
    """
    chain = (rank_below(fits(n=n), "root", root) + 1 + np.arange(n)) % n
    steps = _along(chain, fits(segments=segments), add=True)
    return schedule_of("chain", "reduce", n, steps, chunks=segments, target=root)


@declared
def pipelined_allreduce(n: int, segments: int = 1, root: int = 0) -> Schedule:
    """The chain to the root, then the chain from it: 2(n - 2 + segments) steps, 2 buffers through most ranks; added in
    the order root+1, root+2, ... root.

    >>> pipelined_allreduce(4, 3).steps
    10
    """
    halves = [pipelined_reduce(n, segments, root), pipelined_broadcast(n, segments, root)]
    return in_turn("chain", "all_reduce", halves)


_OF_OP: Mapping[str, Callable[[int], Schedule]] = {
    "all_reduce": ring_allreduce,
    "reduce_scatter": ring_reduce_scatter,
    "all_gather": ring_all_gather,
}


def _known(op: str) -> str:
    if op not in _OF_OP:
        raise ValueError(f"op = {op!r} has no ring here; use {', '.join(_OF_OP)}")
    return op


def _around(chunk: NDArray[np.int64], add: bool) -> list[Phase]:
    """Rank r sends chunk[r] to the next, n - 1 times; with each step the chunk of one rank further back."""
    n = chunk.size
    rank = np.arange(n)
    return [phase(0, rank, (rank + 1) % n, chunk, add, times=n - 1, shift=-1)] if n > 1 else []


def _along(chain: NDArray[np.int64], segments: int, add: bool) -> list[Phase]:
    """Each rank of a chain sends to the next, one segment later than the rank before it."""
    link = np.arange(chain.size - 1)
    if not link.size:
        return []
    return [phase(0, chain[:-1], chain[1:], -link, add, times=link.size - 1 + segments, shift=1, wrap=False)]
