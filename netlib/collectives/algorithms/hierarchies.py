"""Hierarchies: collectives on nodes of g ranks, with fast links inside and NICs outside.

Rank r is rank r % g of node r // g. The ranks with one place in their nodes form a rail. The buffer is numbered in two
digits, (which node, which rank of it): inside a node the lower digit moves, along a rail the upper one. Phases inside
are channel 0 and those across are channel 1, so that a simulation may overlap them.
Read with the chapter "Collectives", section "One cluster, three schedules".
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import declared
from netlib.collectives.algorithms.rings import ring_all_gather, ring_allreduce, ring_reduce_scatter, ring_through
from netlib.collectives.bounds import fits, rank_below
from netlib.collectives.schedule import Phase, Schedule, phase, schedule_of
from netlib.collectives.weaving import side_by_side
from netlib.topology.fabric import whole

INSIDE, ACROSS = 0, 1
"""The channels of what moves inside nodes and of what moves between them."""


@declared
def hierarchical_allreduce(g: int, nodes: int, segments: int = 1) -> Schedule:
    """Rings: reduce-scatter inside every node, all-reduce of a g-th along every rail, all-gather inside.

    A rank's NIC sends 2(nodes-1)/nodes x size/g, its NVLink 2(g-1)/g x size. With `segments` the buffer goes through
    in pieces: one is summed inside while the one before crosses and the one before that is gathered. Each node adds
    its ranks first, in ring order; then the nodes' sums are added in ring order.

    >>> made = hierarchical_allreduce(2, 3)
    >>> made.chunks, made.steps
    (6, 6)
    >>> from netlib.collectives import reduction_order
    >>> reduction_order(made)
    '(((3+2)+(5+4))+(1+0))'
    """
    fits(g=g, nodes=nodes, segments=segments)
    rings = ring_reduce_scatter(g), ring_allreduce(nodes), ring_all_gather(g)
    return railed_allreduce("hierarchical ring", *rings, segments=segments)


@declared
def railed_allreduce(
    name: str, reduce_inside: Schedule, across: Schedule, gather_inside: Schedule, segments: int = 1
) -> Schedule:
    """A hierarchy of any three schedules: a reduce-scatter on the g ranks of a node; an all-reduce on as many ranks as
    there are nodes, which runs on every rail; an all-gather inside. Rings, trees, switches that add.

    The switches of node m follow the ranks in the order of nodes; those of the rails come last.

    >>> rings = ring_reduce_scatter(4), ring_allreduce(3), ring_all_gather(4)
    >>> railed_allreduce("rings on rails", *rings).n
    12
    """
    g, nodes, k = reduce_inside.n, across.n, whole("segments", segments)
    place = reduce_inside.target
    if (place < 0).any() or (gather_inside.n, gather_inside.source.tolist()) != (g, place.tolist()):
        raise ValueError(
            "gather_inside must start as reduce_inside ends, each chunk at one rank;"
            " give a reduce-scatter and an all-gather on the same ranks and chunks"
        )
    if (across.source >= 0).any() or (across.target >= 0).any():
        raise ValueError(f"across = {across.name!r} must be an all_reduce; it is {across.op!r}")
    if not all(part.wrap for part in (*reduce_inside.phases, *gather_inside.phases)):
        raise ValueError("reduce_inside and gather_inside must be in one piece; cut the whole with segments = ...")
    fits(inside=reduce_inside.chunks, across=across.chunks, segments=k)
    inside = max((int(part.count.sum()) for part in (*reduce_inside.phases, *gather_inside.phases)), default=1)
    fits(nodes=nodes, messages=inside)
    n, planes = g * nodes, max(reduce_inside.switches, gather_inside.switches)
    rank, switch = np.arange(n).reshape(nodes, g), n + np.arange(nodes * planes).reshape(nodes, planes)
    above = n + nodes * planes + np.arange(g * across.switches).reshape(g, across.switches)
    node, rail = np.hstack([rank, switch]), np.hstack([rank.T, above])[place]
    stages = (
        _inside(reduce_inside, node, across.chunks),
        _along(across, rail),
        _inside(gather_inside, node, across.chunks),
    )
    switches = nodes * planes + g * across.switches
    weight = np.outer(across.weight, np.repeat(reduce_inside.weight / k, k))
    return schedule_of(name, "all_reduce", n, in_segments(stages, n + switches, k), weight=weight, switches=switches)


def in_segments(stages: Sequence[Sequence[Phase]], everyone: int, segments: int) -> list[Phase]:
    """Stages of a schedule on each of `segments` pieces of the buffer, one piece a stage behind the other: while piece
    t is in the first stage, t - 1 is in the second. Chunk c of piece j is c segments + j.

    >>> first, second = phase(0, 0, 1, 0, False), phase(0, 1, 2, 0, False)
    >>> [(int(part.src[0]), int(part.chunk[0])) for part in in_segments([[first], [second]], 3, 2)]
    [(0, 0), (0, 1), (1, 0), (1, 1)]
    """
    same = np.arange(everyone)
    return [
        part.placed(same, scale=segments, offset=turn - late)
        for turn in range(segments + len(stages) - 1)
        for late, stage in enumerate(stages)
        if 0 <= turn - late < segments
        for part in stage
    ]


@declared
def hierarchical_reduce_scatter(g: int, nodes: int) -> Schedule:
    """Rings: reduce-scatter inside every node, then of a g-th along every rail. Rank r ends with the sum of chunk r.

    >>> made = hierarchical_reduce_scatter(2, 3)
    >>> made.steps, made.target.tolist()
    (3, [0, 1, 2, 3, 4, 5])
    """
    node, rail, rank = _places(g, nodes)
    stages = [
        *_inside(ring_reduce_scatter(g), node, nodes),
        *_along(ring_reduce_scatter(nodes), rail),
    ]
    return schedule_of("hierarchical ring", "reduce_scatter", rank.size, stages, chunks=rank.size, target=rank)


@declared
def hierarchical_all_gather(g: int, nodes: int) -> Schedule:
    """Rings: all-gather along every rail, then inside every node. Rank r starts with chunk r.

    >>> made = hierarchical_all_gather(2, 3)
    >>> made.steps, made.source.tolist()
    (3, [0, 1, 2, 3, 4, 5])
    """
    node, rail, rank = _places(g, nodes)
    stages = [*_along(ring_all_gather(nodes), rail), *_inside(ring_all_gather(g), node, nodes)]
    return schedule_of("hierarchical ring", "all_gather", rank.size, stages, chunks=rank.size, source=rank)


@declared
def hierarchical_broadcast(g: int, nodes: int, root: int = 0) -> Schedule:
    """The root deals its buffer out inside its node, every rail broadcasts a g-th down a binomial tree, all gather.

    g - 1 steps, ceil(log2 nodes) steps, g - 1 steps, each with size/g: no NIC sends more than ceil(log2 nodes) times
    size/g, where one tree of whole buffers would send g times as much from one NIC.

    >>> made = hierarchical_broadcast(4, 8, root=5)
    >>> made.steps, made.chunks
    (9, 4)
    """
    node, rail, rank = _places(g, nodes)
    home, place = divmod(rank_below(rank.size, "root", root), g)
    others = (place + np.arange(1, g)) % g
    tree = [phase(np.arange(g - 1), root, home * g + others, others, False)] if g > 1 else []
    reach = 1
    while reach < nodes:  # the nodes that have it, counted from the root's, tell as many more
        count = min(reach, nodes - reach)
        have, next_ = (home + np.arange(count)) % nodes, (home + reach + np.arange(count)) % nodes
        tells = phase(0, rail[:, have].ravel(), rail[:, next_].ravel(), np.repeat(np.arange(g), count), False)
        tree.append(replace(tells, channel=ACROSS))
        reach *= 2
    phases = tree + _inside(ring_all_gather(g), node, 1)
    return schedule_of("hierarchical", "broadcast", rank.size, phases, chunks=g, source=root)


@declared
def multirail_ring_allreduce(g: int, nodes: int, nics: int | None = None) -> Schedule:
    """`nics` rings through all ranks (default g), each leaving a node through its own NIC: what NCCL calls Ring.

    All take their 2(n-1) steps together; ring j adds its chunk c in its order, from the rank after c's place round to
    it. A NIC sends 2(n-1)/n x size/nics.

    >>> made = multirail_ring_allreduce(4, 2)
    >>> made.chunks, made.steps
    (32, 14)
    """
    return multirail_ring(g, nodes, nics=nics)


@declared
def multirail_ring(g: int, nodes: int, op: str = "all_reduce", nics: int | None = None) -> Schedule:
    """The rings of `multirail_ring_allreduce` for all_reduce, reduce_scatter or all_gather.

    >>> multirail_ring(4, 2, "all_gather").steps
    7
    """
    orders = ring_orders(g, nodes, nics=nics)
    return side_by_side("multi-rail ring", [ring_through(order, op) for order in orders])


@declared
def ring_orders(g: int, nodes: int, nics: int | None = None) -> NDArray[np.int64]:
    """(nics, n) ranks in the order in which each ring visits them.

    Ring j leaves an even node through rank j and an odd one through the next exit; it enters the next node on that
    rank, so that with an even number of nodes no cable joins two rails. NCCL swaps the rings of odd nodes for the same
    reason (src/graph/connect.cc, release 2.18 and later). With one NIC a ring enters beside its exit.

    >>> ring_orders(4, 2).tolist()[0]
    [1, 2, 3, 0, 4, 7, 6, 5]
    """
    g, nodes = whole("g", g), whole("nodes", nodes)
    nics = g if nics is None else whole("nics", nics)
    if nics > g:
        raise ValueError(f"nics = {nics} must be at most g = {g}; give a rank's NICs as one faster link")
    fits(g=g, nodes=nodes, nics=nics)
    return np.array([[m * g + i for m in range(nodes) for i in _way(g, m, j, nics)] for j in range(nics)])


def _way(g: int, node: int, ring: int, nics: int) -> list[int]:
    """The ranks of a node in the order in which a ring visits them."""
    beside = (ring + 1) % max(nics, min(g, 2))
    first, last, turn = (ring, beside, -1) if node % 2 and nics > 1 else (beside, ring, 1)
    ways = [(first + turn * i) % g for i in range(g)]
    return [i for i in ways if i != last] + [last]


def _places(g: int, nodes: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(nodes, g) the ranks of each node; (g, nodes) those of each rail; all ranks."""
    rank = np.arange(fits(g=g, nodes=nodes))
    node = rank.reshape(nodes, g)
    return node, node.T, rank


def _inside(schedule: Schedule, node: NDArray[np.int64], blocks: int) -> list[Phase]:
    """A schedule in every node at once; with each chunk go those that differ from it in the upper digit alone."""
    apart = schedule.chunks
    return [replace(_singly(part).placed(node, blocks=blocks, apart=apart), channel=INSIDE) for part in schedule.phases]


def _singly(part: Phase) -> Phase:
    """The same messages with one chunk an entry."""
    entry = np.repeat(np.arange(part.count.size), part.count)
    nth = np.arange(entry.size) - np.repeat(np.cumsum(part.count) - part.count, part.count)
    step, src, dst = (held[entry] for held in (part.step, part.src, part.dst))
    chunk = (part.chunk[entry] + nth * part.stride).astype(np.int32)
    return replace(part, step=step, src=src, dst=dst, chunk=chunk, add=part.add[entry], count=np.ones_like(chunk))


def _along(schedule: Schedule, rail: NDArray[np.int64]) -> list[Phase]:
    """A schedule on every rail at once, each on its own value of the lower digit, in channels after the one inside."""
    digit = np.arange(len(rail))
    placed = [part.placed(rail, scale=digit.size, offset=digit) for part in schedule.phases]
    return [replace(part, channel=ACROSS + part.channel) for part in placed]
