"""Doubling and halving as schedules.

Partners exchange what they have, then with ranks twice as far away: logarithmically many steps in which all ranks
send. Read with the chapter "Collectives", section "Ways to add". Sources: Thakur, Rabenseifner and Gropp (2005);
Bruck, Ho, Kipnis, Upfal and Weathersby (1997).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared
from netlib.collectives.bounds import fits
from netlib.collectives.schedule import Phase, Schedule, phase, schedule_of

Ints = NDArray[np.int64]


@declared
def recursive_doubling_allreduce(n: int) -> Schedule:
    """Whole buffers exchanged with partners 1, 2, 4 ... away: log2 n steps; two more if n is no power of two.

    Then the ranks from p = 2^floor(log2 n) on are folded: each adds itself to the rank p below first and is told the
    sum last. Neighbours are added first, then pairs of them. Ranks put the two terms of a sum in different order, which
    changes no floating-point sum: all get the same bits.

    >>> recursive_doubling_allreduce(8).steps, recursive_doubling_allreduce(9).steps
    (3, 5)
    """
    power, folded = _power_below(n)
    rank = np.arange(power)
    exchange = _together([(rank, rank ^ far, 0 * rank, 1 + 0 * rank) for far in _distances(power)], add=True)
    steps = [*_fold(folded, power, 0, True), *exchange, *_unfold(folded, power, 0, False)]
    return schedule_of("recursive doubling", "all_reduce", n, steps)


@declared
def halving_doubling_allreduce(n: int) -> Schedule:
    """Halving: of what is left, each rank sends half to a partner n/2, n/4, ... 1 away and adds the other half that
    it gets. Then doubling, the same way back (Rabenseifner): 2 log2 n steps with the ring's bytes.

    n no power of two is folded as in `recursive_doubling_allreduce`, with whole buffers, in p chunks. The sums pair
    ranks n/2 apart first, then n/4 apart; one rank makes each, so all get the same bits.

    >>> made = halving_doubling_allreduce(8)
    >>> made.steps, made.chunks, made.phases[0].count.tolist()[::8]
    (6, 8, [4, 2, 1])
    """
    power, folded = _power_below(n)
    steps = [
        *_fold(folded, power, 0, True, power),
        *_halving(power, 0, down=True),
        *_halving(power, 0, down=False),
        *_unfold(folded, power, 0, False, power),
    ]
    return schedule_of("halving-doubling", "all_reduce", n, steps, chunks=power)


@declared
def halving_reduce_scatter(n: int) -> Schedule:
    """Halving alone: log2 n steps, (n-1)/n of the buffer; rank r ends with chunk r.

    If n is no power of two, the ranks from p on add all but their own chunk to the rank p below first, which halves
    for both, and hands them the sum of the others for their own last. Otherwise as in `halving_doubling_allreduce`.

    >>> halving_reduce_scatter(8).steps, halving_reduce_scatter(9).steps
    (3, 5)
    """
    power, folded = _power_below(n)
    steps = [
        *_fold(folded, power, power + np.arange(folded) + 1, True, n - 1),
        *_halving(power, folded, down=True),
        *_unfold(folded, power, power + np.arange(folded), True),
    ]
    return schedule_of("recursive halving", "reduce_scatter", n, steps, chunks=n, target=np.arange(n))


@declared
def doubling_all_gather(n: int) -> Schedule:
    """Doubling alone: log2 n steps, (n-1)/n of the buffer; rank r starts with chunk r.

    If n is no power of two, the ranks from p on give their chunk to the rank p below first and get all the others
    last. `bruck_all_gather` needs neither.

    >>> doubling_all_gather(8).steps, doubling_all_gather(9).steps
    (3, 5)
    """
    power, folded = _power_below(n)
    steps = [
        *_fold(folded, power, power + np.arange(folded), False),
        *_halving(power, folded, down=False),
        *_unfold(folded, power, power + np.arange(folded) + 1, False, n - 1),
    ]
    return schedule_of("recursive doubling", "all_gather", n, steps, chunks=n, source=np.arange(n))


@declared
def bruck_all_gather(n: int) -> Schedule:
    """Each rank sends all that it has to the rank 1, 2, 4 ... below; what would come twice is left out: ceil(log2 n)
    steps and (n-1)/n of the buffer for any n.

    >>> made = bruck_all_gather(5)
    >>> made.steps, made.phases[0].count.tolist()[::5]
    (3, [1, 2, 1])
    """
    rank = np.arange(fits(n=n))
    steps = [(rank, (rank - far) % n, rank, np.full(n, min(far, n - far))) for far in _distances(n)]
    return schedule_of("Bruck", "all_gather", n, _together(steps, add=False), chunks=n, source=rank)


@declared
def bruck_reduce_scatter(n: int) -> Schedule:
    """Bruck's all-gather backwards, adding: ceil(log2 n) steps and (n-1)/n of the buffer for any n.

    A chunk's sum pairs the ranks that are furthest from its owner first.

    >>> bruck_reduce_scatter(5).steps
    3
    """
    rank = np.arange(fits(n=n))
    steps = [((rank - far) % n, rank, rank, np.full(n, min(far, n - far))) for far in _distances(n)[::-1]]
    return schedule_of("Bruck", "reduce_scatter", n, _together(steps, add=True), chunks=n, target=rank)


def _distances(n: int) -> list[int]:
    """1, 2, 4 ... below n."""
    return [1 << j for j in range((n - 1).bit_length())]


def _power_below(n: int) -> tuple[int, int]:
    """The largest power of two that is no larger than n, and the ranks beyond it."""
    power = 1 << fits(n=n).bit_length() - 1
    return power, n - power


def _fold(folded: int, power: int, chunk: ArrayLike, add: bool, count: int = 1) -> list[Phase]:
    """The ranks beyond a power of two send to the rank `power` below."""
    rank = np.arange(folded)
    return [phase(0, power + rank, rank, chunk, add, count)] if folded else []


def _unfold(folded: int, power: int, chunk: ArrayLike, add: bool, count: int = 1) -> list[Phase]:
    """The ranks beyond a power of two are told what they need."""
    rank = np.arange(folded)
    return [phase(0, rank, power + rank, chunk, add, count)] if folded else []


def _halving(power: int, folded: int, *, down: bool) -> list[Phase]:
    """Partners `far` apart among the first `power` ranks send each other a block of `far` chunks, and the chunks of
    the folded ranks with it: down, adding, the block that the partner keeps; up, the block that they have."""
    rank, steps = np.arange(power), []
    for far in _distances(power)[:: -1 if down else 1]:
        start = (rank ^ far if down else rank) // far * far
        beyond = np.clip(folded - start, 0, far)
        more = beyond > 0
        steps.append((rank, rank ^ far, start, np.full(power, far)))
        steps.append((rank[more], rank[more] ^ far, power + start[more], beyond[more]))
    return _together(steps, add=down, together=2)


def _together(steps: Sequence[tuple[Ints, ...]], *, add: bool, together: int = 1) -> list[Phase]:
    """One phase of several steps, each (src, dst, chunk, count); so many of them at a time."""
    if not steps:
        return []
    when = np.repeat(np.arange(len(steps)) // together, [src.size for src, *_ in steps])
    src, dst, chunk, count = (np.concatenate(column) for column in zip(*steps, strict=True))
    return [phase(when, src, dst, chunk, add, count)]
