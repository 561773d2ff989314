"""Switched: collectives in which switches add and multicast (NVLink SHARP, InfiniBand SHARP).

A switch that adds is a rank beyond the n that hold buffers: it keeps the sum of what comes up and sends it down.
Read with the chapter "Collectives", section "The switch adds". Sources: NVIDIA, PTX instructions
multimem.ld_reduce and multimem.st; Graham et al. (2016) for SHARP's trees.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared
from netlib.collectives.algorithms.hierarchies import railed_allreduce
from netlib.collectives.algorithms.twotrees import double_tree_allreduce
from netlib.collectives.bounds import fits
from netlib.collectives.schedule import Phase, Schedule, phase, schedule_of
from netlib.collectives.weaving import side_by_side
from netlib.topology.fabric import whole

_HOPS = {"all_reduce": (0, 1, 2, 3), "reduce_scatter": (0, 1), "all_gather": (2, 3)}
"""Of the four hops of `nvls_allreduce`, those that each collective needs."""


@declared
def nvls_allreduce(n: int, segments: int = 1, planes: int = 1) -> Schedule:
    """Rank r looks after slice r: it reads the slice's sum through the switch, and writes it to all through the switch.

    Four hops: all slices up from every rank, each sum down to its rank, each sum up again, all sums down to all. A
    rank's link carries size (1 + 1/n) each way. With `segments` the hops of successive pieces overlap, in segments + 3
    steps. `planes` switches share the buffer (four in an H100 node). The switch adds ranks in the order 0, 1, 2, ...

    >>> from netlib.collectives import counts
    >>> made = nvls_allreduce(8, segments=4)
    >>> made.steps, float(counts(made, 8e9).sent[0]) / 1e9
    (7, 9.0)
    """
    return _nvls("all_reduce", n, segments, planes)


@declared
def nvls_reduce_scatter(n: int, segments: int = 1, planes: int = 1) -> Schedule:
    """The first two hops: every rank sends size up and receives its slice's sum, size/n.

    >>> nvls_reduce_scatter(8, segments=4).steps
    5
    """
    return _nvls("reduce_scatter", n, segments, planes)


@declared
def nvls_all_gather(n: int, segments: int = 1, planes: int = 1) -> Schedule:
    """The last two hops: every rank sends its slice up, size/n, and receives all of them.

    >>> nvls_all_gather(8, segments=4).steps
    5
    """
    return _nvls("all_gather", n, segments, planes)


@declared
def nvls_tree_allreduce(g: int, nodes: int, segments: int = 1, planes: int = 1) -> Schedule:
    """NVLS inside every node, NCCL's two trees along every rail: what NCCL calls NVLSTree.

    A rank's NVLink carries size (1 + 1/g) each way, its NIC at most 2 size/g, as much as in a ring on the rails, in
    about 4 log2 nodes hops. The tree's way down may begin when the first of `segments` pieces is summed.

    >>> made = nvls_tree_allreduce(8, 4, segments=2)
    >>> made.n, made.switches
    (32, 4)
    """
    fits(g=g, nodes=nodes, segments=segments, planes=planes)
    first, last = nvls_reduce_scatter(g, planes=planes), nvls_all_gather(g, planes=planes)
    trees = double_tree_allreduce(nodes, shape="nccl", overlap=True)
    return railed_allreduce("NVLSTree", first, trees, last, segments=segments)


@declared
def two_shot_allreduce(n: int) -> Schedule:
    """Two shots without a switch that adds: slice r of everybody goes to rank r at once; then its sum goes to all.

    Each rank sends 2(n-1)/n size, as in a ring, in two steps and 2(n-1) messages. With multimem instructions the same
    two shots go through the switch: that is `nvls_allreduce(n)`. Slice r is added to rank r's own part in the order of
    ranks.

    >>> from netlib.collectives import counts
    >>> made = counts(two_shot_allreduce(8), 8e9)
    >>> made.steps, float(made.sent[0]) / 1e9, int(made.messages[0])
    (2, 14.0, 14)
    """
    fits(2, n=n)
    rank = np.arange(n)
    src, dst = (ends[rank[:, None] != rank] for ends in np.broadcast_arrays(rank[:, None], rank))
    shots = [phase(0, src, dst, dst, True), phase(0, src, dst, src, False)] if n > 1 else []
    return schedule_of("two-shot", "all_reduce", n, shots, chunks=n)


@declared
def sharp_allreduce(n: int, radix: int, segments: int = 1) -> Schedule:
    """A tree of adding switches with up to `radix` children each: sums go up, the total goes down.

    With h = ceil(log_radix n) levels: 2h + segments - 1 steps of size/segments. Every rank sends and receives its
    buffer once. Switches count level by level, the root last. Each adds its children in their order.

    >>> made = sharp_allreduce(16, 4, segments=8)
    >>> made.switches, made.steps
    (5, 11)
    """
    n, radix, k = fits(n=n), whole("radix", radix, 2), fits(segments=segments)
    level, ids = np.arange(n), [np.arange(n)]
    edges: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
    while level.size > 1:
        above = ids[-1][-1] + 1 + np.arange(-(-level.size // radix))
        edges.append((ids[-1], above[np.arange(level.size) // radix]))
        ids.append(above)
        level = above
    up: list[_Hop] = [(child, parent, 0, 1, True) for child, parent in edges]
    down: list[_Hop] = [(parent, child, 0, 1, False) for child, parent in edges[::-1]]
    phases = _pipeline(up + down, 1, k)
    return schedule_of("SHARP", "all_reduce", n, phases, chunks=k, switches=int(ids[-1][-1]) + 1 - n)


def _nvls(op: str, n: int, segments: int, planes: int) -> Schedule:
    """The hops of one collective, on every plane."""
    fits(n=n, segments=segments, planes=planes)
    made = [_plane(op, n, segments, planes, n + plane) for plane in range(planes)]
    return side_by_side("NVLS", made) if planes > 1 else made[0]


def _plane(op: str, n: int, segments: int, planes: int, switch: int) -> Schedule:
    rank = np.arange(n)
    hops: list[_Hop] = [
        (rank, switch, 0, n, True),  # everybody's part of every slice goes up and is added
        (switch, rank, rank, 1, False),  # each sum goes down to the rank that looks after it
        (rank, switch, rank, 1, False),  # which sends it up once more
        (switch, rank, 0, n, False),  # and the switch multicasts it
    ]
    phases = _pipeline([hops[hop] for hop in _HOPS[op]], n, segments) if n > 1 else []
    owner = np.tile(rank, segments)
    source, target = (owner if op == only else -1 for only in ("all_gather", "reduce_scatter"))
    return schedule_of("NVLS", op, n, phases, chunks=n * segments, source=source, target=target, switches=planes)


_Hop = tuple[ArrayLike, ArrayLike, ArrayLike, int, bool]
"""src, dst, first chunk, count, add."""


def _pipeline(hops: Sequence[_Hop], slices: int, segments: int) -> list[Phase]:
    """Hops one after the other on segments of `slices` chunks, each segment a step behind the one before it."""
    rows = [np.broadcast_arrays(stage, *hop) for stage, hop in enumerate(hops)]
    if not rows:
        return []
    stage, src, dst, chunk, count, add = (np.concatenate([np.ravel(row[i]) for row in rows]) for i in range(6))
    if segments == 1:
        return [phase(stage, src, dst, chunk, add, count)]
    times = segments + len(hops) - 1
    return [phase(0, src, dst, chunk - stage * slices, add, count, times=times, shift=slices, wrap=False)]
