"""Binomial trees as schedules.

In each step every rank that has the buffer passes it on, so that the number of them doubles; a reduction runs the same
tree backwards. Few steps, and good while the buffer is small. Read with the chapter "Collectives", section "Ways to
add". Source: Thakur, Rabenseifner and Gropp (2005).
"""

import numpy as np

from netlib.arguments import declared
from netlib.collectives.algorithms.rings import ring_all_gather
from netlib.collectives.bounds import fits, rank_below
from netlib.collectives.schedule import Ints, Phase, Schedule, phase, schedule_of
from netlib.collectives.weaving import in_turn


@declared
def binomial_broadcast(n: int, root: int = 0) -> Schedule:
    """ceil(log2 n) steps of the whole buffer. Ranks are counted from the root; the furthest half is served first.

    >>> made = binomial_broadcast(4)
    >>> made.phases[0].src.tolist(), made.phases[0].dst.tolist()
    ([0, 0, 2], [2, 1, 3])
    """
    return schedule_of("binomial tree", "broadcast", n, _tree(n, root, down=True), source=root)


@declared
def binomial_reduce(n: int, root: int = 0) -> Schedule:
    """The broadcast backwards: ceil(log2 n) steps. Neighbours are added first, then pairs of them, then fours.

    >>> from netlib.collectives import reduction_order
    >>> reduction_order(binomial_reduce(4))
    '((3+2)+(1+0))'
    """
    return schedule_of("binomial tree", "reduce", n, _tree(n, root, down=False), target=root)


@declared
def tree_allreduce(n: int, root: int = 0) -> Schedule:
    """Reduce up a binomial tree, broadcast down it: 2 ceil(log2 n) steps. Added as in `binomial_reduce`.

    >>> tree_allreduce(5).steps
    6
    """
    return in_turn("binomial tree", "all_reduce", [binomial_reduce(n, root), binomial_broadcast(n, root)])


@declared
def binomial_scatter(n: int, root: int = 0) -> Schedule:
    """Each rank gets its own n-th from the root: ceil(log2 n) steps that send what a whole subtree needs, (n-1)/n of
    the buffer in all, for any n.

    >>> made = binomial_scatter(4)
    >>> made.phases[0].count.tolist(), made.target.tolist()
    ([2, 1, 1], [0, 1, 2, 3])
    """
    steps = _tree(n, root, down=True, shares=True)
    return schedule_of("binomial tree", "scatter", n, steps, chunks=n, source=root, target=np.arange(n))


@declared
def binomial_gather(n: int, root: int = 0) -> Schedule:
    """The scatter backwards: every rank's n-th comes to the root.

    >>> made = binomial_gather(4)
    >>> made.phases[0].count.tolist(), made.source.tolist()
    ([1, 1, 2], [0, 1, 2, 3])
    """
    steps = _tree(n, root, down=False, shares=True)
    return schedule_of("binomial tree", "gather", n, steps, chunks=n, source=np.arange(n), target=root)


@declared
def scatter_gather_broadcast(n: int, root: int = 0) -> Schedule:
    """Scatter down a binomial tree, then all-gather around a ring (van de Geijn): a broadcast in ceil(log2 n) + n - 1
    steps that sends 2(n-1)/n of the buffer.

    >>> scatter_gather_broadcast(8).steps
    10
    """
    return in_turn("scatter and all-gather", "broadcast", [binomial_scatter(n, root), ring_all_gather(n)])


def _tree(n: int, root: int, *, down: bool, shares: bool = False) -> list[Phase]:
    """The links of a binomial tree, each step's in one go: with the whole buffer, or with the shares of a subtree."""
    rank_below(fits(n=n), "root", root)
    halves = [1 << j for j in range((n - 1).bit_length())]
    parent: list[Ints] = [np.arange(0, n - half, 2 * half, dtype=np.int32) for half in halves]
    if not halves:
        return []
    half = np.repeat(halves, [each.size for each in parent])
    near = np.concatenate(parent)
    far = near + half  # and the subtree from here: `half` ranks, or those that there are
    level = np.repeat(np.arange(len(halves)), [each.size for each in parent])
    up, low = (far + root) % n, (near + root) % n
    chunk, count = (up, np.minimum(half, n - far)) if shares else (0, 1)
    if down:
        return [phase(len(halves) - 1 - level, low, up, chunk, False, count)]
    return [phase(level, up, low, chunk, not shares, count)]
