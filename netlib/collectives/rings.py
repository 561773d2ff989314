"""Rings and chains as schedules.

In a ring each rank sends to the next and receives from the one before, a chunk a step. Read with the chapter
"Collectives", section "Ways to add".
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared
from netlib.collectives.schedule import Phase, Schedule, in_turn, phase, schedule_of, side_by_side
from netlib.topology.fabric import whole


@declared
def ring_reduce_scatter(n: int) -> Schedule:
    """n - 1 steps of one chunk; rank r ends with the sum of chunk r. Each sum begins one rank after its owner's next:
    chunk c is added in the order c+1, c+2, ... c.

    >>> made = ring_reduce_scatter(4)
    >>> made.steps, made.chunks, made.target.tolist()
    (3, 4, [0, 1, 2, 3])
    """
    rank = np.arange(whole("n", n))
    steps = _around((rank - 1) % n, add=True)
    return schedule_of("ring", "reduce_scatter", n, steps, chunks=n, target=rank)


@declared
def ring_all_gather(n: int) -> Schedule:
    """n - 1 steps of one chunk; rank r starts with chunk r.

    >>> made = ring_all_gather(4)
    >>> made.steps, made.source.tolist()
    (3, [0, 1, 2, 3])
    """
    rank = np.arange(whole("n", n))
    return schedule_of("ring", "all_gather", n, _around(rank, add=False), chunks=n, source=rank)


@declared
def ring_allreduce(n: int, channels: int = 1) -> Schedule:
    """Reduce-scatter, then all-gather: 2(n - 1) steps. `channels` rings share the buffer and take their steps together.

    >>> ring_allreduce(4).steps, ring_allreduce(4, channels=2).chunks
    (6, 8)
    """
    one = in_turn("ring", "all_reduce", [ring_reduce_scatter(n), ring_all_gather(n)])
    return side_by_side("ring", [one] * whole("channels", channels)) if channels != 1 else one


def ring_through(order: ArrayLike, op: str = "all_reduce") -> Schedule:
    """A ring that visits the ranks in a given order: all_reduce, reduce_scatter or all_gather.

    >>> ring_through([0, 2, 1, 3]).phases[0].dst.tolist()
    [2, 1, 3, 0]
    """
    ranks = np.atleast_1d(array("order", order))
    n = ranks.size
    if ranks.dtype.kind not in "iu" or sorted(ranks.tolist()) != list(range(n)):
        raise ValueError(f"order = {str(order)[:40]!r} must hold each rank from 0 to n - 1 once")
    builders = {"all_reduce": ring_allreduce, "reduce_scatter": ring_reduce_scatter, "all_gather": ring_all_gather}
    if op not in builders:
        raise ValueError(f"op = {op!r} has no ring here; use {', '.join(builders)}")
    made = builders[op](n)
    source, target = (np.where(held < 0, -1, ranks[held]) for held in (made.source, made.target))
    phases = [part.placed(ranks) for part in made.phases]
    return schedule_of("ring", op, n, phases, chunks=n, source=source, target=target)


def _around(chunk: NDArray[np.int64], add: bool) -> list[Phase]:
    """Rank r sends chunk[r] to the next, n - 1 times; with each step the chunk of one rank further back."""
    n = chunk.size
    rank = np.arange(n)
    return [phase(0, rank, (rank + 1) % n, chunk, add, times=n - 1, shift=-1)] if n > 1 else []
