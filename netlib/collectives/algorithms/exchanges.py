"""Exchanges as schedules: everybody has something else for everybody, or all of it goes at once.

In an all-to-all chunk s n + d is what rank s has for rank d. Read with the chapter "Collectives", section "The family".
Sources: Thakur, Rabenseifner and Gropp (2005); Bruck, Ho, Kipnis, Upfal and Weathersby (1997).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared, floats
from netlib.collectives.bounds import fits, rank_below
from netlib.collectives.schedule import Phase, Schedule, phase, schedule_of
from netlib.collectives.weaving import in_turn

Ints = NDArray[np.int64]


@declared
def pairwise_all_to_all(n: int) -> Schedule:
    """n - 1 steps: in step j each rank sends to the one j further on and gets from the one j further back.

    >>> made = pairwise_all_to_all(4)
    >>> made.steps, made.chunks, made.phases[0].dst.tolist()[:4]
    (3, 16, [1, 2, 3, 0])
    """
    src, dst = _pairs(n)
    return _all_to_all("pairwise", n, _sent((dst - src) % n - 1, src, dst, src * n + dst))


@declared
def direct_all_to_all(n: int) -> Schedule:
    """One step: every rank sends to all the others at once.

    >>> direct_all_to_all(4).steps
    1
    """
    src, dst = _pairs(n)
    return _all_to_all("direct", n, _sent(0 * src, src, dst, src * n + dst))


@declared
def bruck_all_to_all(n: int) -> Schedule:
    """ceil(log2 n) steps: in step j whatever has to go a distance with bit j set moves 2^j ranks on, as one message.

    The fewest steps; the blocks are sent once for each bit that is set. The usual rotation of the buffer, before and
    after, is work inside a rank and not part of this schedule.

    >>> bruck_all_to_all(5).steps
    3
    """
    src, dst = _pairs(n)
    distance = (dst - src) % n
    bit, moved = np.nonzero(distance >> np.arange((n - 1).bit_length())[:, None] & 1)
    there = src[moved] + distance[moved] % 2**bit
    chunk = src[moved] * n + dst[moved]
    return _all_to_all("Bruck", n, _sent(bit, there % n, (there + 2**bit) % n, chunk))


@declared
def all_to_all_v(volume: ArrayLike, way: str = "pairwise") -> Schedule:
    """An all-to-all of unequal blocks: rank s has `volume[s, d]` bytes for rank d; `way` "pairwise" or "direct".

    Blocks without bytes are not sent, and a rank keeps its own. As in an all-to-all `size` is what a rank sends, here
    on average: with size = volume.sum() / n the bytes are those given.

    >>> made = all_to_all_v([[0, 6], [2, 0]])
    >>> made.weight.tolist(), made.bytes_of(4).tolist()
    ([1.5, 0.5], [6.0, 2.0])
    """
    given = floats("volume", volume)
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not given.any():
        raise ValueError(f"volume has shape {given.shape} and {given.sum():g} bytes; give bytes from each rank to each")
    if way not in ("pairwise", "direct"):
        raise ValueError(f"way = {way!r} must be pairwise or direct")
    n = len(given)
    src, dst = np.nonzero(given)
    away = (dst - src) % n
    sent = np.flatnonzero(away)
    when = away[sent] - 1 if way == "pairwise" else 0 * sent
    steps = _sent(np.unique(when, return_inverse=True)[1], src[sent], dst[sent], sent)
    weight = given[src, dst] / (given.sum() / n)
    return schedule_of(way, "alltoall", n, steps, weight=weight, source=src, target=dst)


@declared
def linear_scatter(n: int, root: int = 0) -> Schedule:
    """The root sends each rank its own n-th, one after the other: n - 1 steps.

    >>> linear_scatter(4).steps
    3
    """
    rank = np.arange(fits(n=n))
    far = (rank_below(n, "root", root) + 1 + rank[: n - 1]) % n
    steps = _sent(rank[: n - 1], 0 * far + root, far, far)
    return schedule_of("linear", "scatter", n, steps, chunks=n, source=root, target=rank)


@declared
def linear_gather(n: int, root: int = 0) -> Schedule:
    """The root gets every rank's n-th, one after the other: n - 1 steps.

    >>> linear_gather(4).steps
    3
    """
    rank = np.arange(fits(n=n))
    far = (rank_below(n, "root", root) + 1 + rank[: n - 1]) % n
    steps = _sent(rank[: n - 1], far, 0 * far + root, far)
    return schedule_of("linear", "gather", n, steps, chunks=n, source=rank, target=root)


@declared
def send_recv(n: int, distance: int = 1) -> Schedule:
    """Each rank sends a whole buffer to the rank `distance` further on: one step, as nccl-tests' sendrecv.

    >>> made = send_recv(4)
    >>> made.target.tolist(), made.weight.tolist()
    ([1, 2, 3, 0], [1.0, 1.0, 1.0, 1.0])
    """
    rank = np.arange(fits(n=n))
    to = (rank + distance) % n
    steps = _sent(0 * rank, rank, to, rank) if distance % n else []
    return schedule_of("send and receive", "sendrecv", n, steps, weight=np.ones(n), source=rank, target=to)


@declared
def direct_reduce_scatter(n: int) -> Schedule:
    """One step: every rank sends each other rank its chunk. A rank adds what comes to its own, in the order of ranks.

    >>> direct_reduce_scatter(4).steps
    1
    """
    src, dst = _pairs(n)
    return schedule_of("direct", "reduce_scatter", n, _sent(0 * src, src, dst, dst, True), chunks=n, target=_ranks(n))


@declared
def direct_all_gather(n: int) -> Schedule:
    """One step: every rank sends its chunk to all the others.

    >>> direct_all_gather(4).steps
    1
    """
    src, dst = _pairs(n)
    return schedule_of("direct", "all_gather", n, _sent(0 * src, src, dst, src), chunks=n, source=_ranks(n))


@declared
def direct_allreduce(n: int, shots: int = 2) -> Schedule:
    """Two shots: reduce-scatter and all-gather, direct; the ring's bytes in two steps. One shot: every rank sends its
    whole buffer to all the others, n - 1 buffers in one step.

    In two shots the owner of a chunk adds what comes to its own in the order of ranks, and all get the same bits. In
    one shot each rank begins with its own part, so that floating-point sums may differ from rank to rank.

    >>> direct_allreduce(8).steps, direct_allreduce(8, shots=1).steps
    (2, 1)
    """
    if shots == 2:
        return in_turn("direct", "all_reduce", [direct_reduce_scatter(n), direct_all_gather(n)])
    if shots != 1:
        raise ValueError(f"shots = {shots} must be 1 or 2")
    src, dst = _pairs(n)
    return schedule_of("one shot", "all_reduce", n, _sent(0 * src, src, dst, 0 * src, True))


def _ranks(n: int) -> Ints:
    return np.arange(fits(n=n))


def _pairs(n: int) -> tuple[Ints, Ints]:
    """Every pair of two ranks, (src, dst), by src."""
    src, dst = np.divmod(np.arange(fits(2, n=n)), n)
    other = src != dst
    return src[other], dst[other]


def _sent(step: Ints, src: Ints, dst: Ints, chunk: Ints, add: bool = False) -> list[Phase]:
    return [phase(step, src, dst, chunk, add)] if src.size else []


def _all_to_all(name: str, n: int, steps: list[Phase]) -> Schedule:
    """Chunk s n + d goes from s to d; a rank's send buffer is n of them."""
    source, target = np.divmod(np.arange(n * n), n)
    return schedule_of(name, "alltoall", n, steps, weight=np.full(n * n, 1 / n), source=source, target=target)
