"""Dependencies: which buffer of a lossless fabric can wait for which, before a single packet is sent.

A lossless link delivers into a buffer at its far end, one for each lane (virtual lane, traffic class). A packet there
leaves only if the buffer of its next link has room: the first buffer depends on the second. Buffers that depend on
each other in a cycle can all be full, and then none of them ever moves again. So a set of ways without a cycle never
deadlocks, whatever the traffic (Dally and Seitz 1987); with a cycle it may, and whether it does depends on what is sent
(Hu and others, HotNets 2016). A packet that may choose on the way has all its ways in the set: then a cycle can be
harmless, if one of them always leads out.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared
from netlib.topology import Fabric

Ints = NDArray[np.int64]
_BLOCK = 256  # buffers whose distances are searched at a time
_TIERS = {1: ("switch",), 2: ("leaf", "spine"), 3: ("leaf", "spine", "core")}


@dataclass(frozen=True, eq=False)
class Dependencies:
    """Buffers by number, link x lanes + lane, and which of them depends on which.

    fabric  whose links
    lanes   lanes of a link
    before  (D,) a buffer whose packets go on ...
    after   (D,) ... into this one; each pair once
    ways    (D,) how many ways go on from the one to the other
    """

    fabric: Fabric
    lanes: int
    before: Ints
    after: Ints
    ways: Ints
    _made = "buffer_dependencies(fabric, ways)"


@declared
def buffer_dependencies(fabric: Fabric, way: ArrayLike, lane: ArrayLike = 0) -> Dependencies:
    """What the buffers of `fabric` depend on when packets go the ways `way` (S, hops), filled with -1 behind their end.

    `lane` is the lane on each link of each way (S, hops), or one lane for all. A way of h links makes h - 1
    dependencies, through the h - 1 switches it crosses; the last buffer is the receiver's, who always takes.

    >>> from netlib.links import Link
    >>> from netlib.topology import dimension_ordered, torus
    >>> ring = torus([4], Link(1e-6, 45e9))
    >>> made = buffer_dependencies(ring, dimension_ordered(ring, [0, 1, 2, 3], [2, 3, 0, 1]))
    >>> made.before.size
    4
    """
    ways = ways_on(fabric, way)
    on = ways[:, 1:] >= 0
    lanes, of = _lanes(lane, ways)
    buffer = ways * lanes + of
    pair = buffer[:, :-1][on] * (fabric.links * lanes) + buffer[:, 1:][on]
    found, count = np.unique(pair, return_counts=True)
    before, after = np.divmod(found, fabric.links * lanes)
    return Dependencies(fabric, lanes, before, after, count.astype(np.int64))


@declared
def ways_on(fabric: Fabric, way: ArrayLike) -> Ints:
    """`way` as rows of links of `fabric`, refused in one sentence unless each link begins where the one before ends.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> ways_on(one_switch(3, Link(1e-6, 50e9)), [[0, 3]]).tolist()
    [[0, 3]]
    """
    ways = array("way", way)
    if ways.ndim != 2 or ways.dtype.kind not in "iu" or not ways.size:
        raise ValueError(f"way = {str(way)[:40]!r} must be rows of link numbers, as netlib.topology's ecmp gives them")
    if ways.max() >= fabric.links or ways.min() < -1:
        raise ValueError(f"way names links outside 0 .. {fabric.links - 1}; give ways over this fabric")
    ways = ways.astype(np.int64)
    on = ways[:, 1:] >= 0
    if (on & (ways[:, :-1] < 0)).any():
        raise ValueError("way has a gap: -1 before a link; pad with -1 only at the end")
    here, there = ways[:, :-1][on], ways[:, 1:][on]
    if np.any(fabric.target[here] != fabric.source[there]):
        wrong = int(np.argmax(fabric.target[here] != fabric.source[there]))
        raise ValueError(f"way goes from link {here[wrong]} to {there[wrong]}, which do not meet; give ways that hold")
    return ways


@declared
def shortest_cycle(dependencies: Dependencies) -> Ints:
    """The buffers of one shortest cycle of dependencies, in order; empty if there is none and so no deadlock either.

    >>> from netlib.links import Link
    >>> from netlib.topology import dimension_ordered, torus
    >>> ring = torus([5], Link(1e-6, 45e9))
    >>> all_round = dimension_ordered(ring, [0, 1, 2, 3, 4], [2, 3, 4, 0, 1])
    >>> [shortest_cycle(buffer_dependencies(ring, all_round[:many])).size for many in (5, 4)]
    [5, 0]
    """
    number = dependencies.fabric.links * dependencies.lanes
    return cycle_of(number, dependencies.before, dependencies.after)


@declared
def in_words(dependencies: Dependencies, cycle: ArrayLike) -> str:
    """A cycle of buffers as the switches that it visits, with the lane where there are several.

    >>> from netlib.links import Link
    >>> from netlib.topology import leaf_spine
    >>> pod = leaf_spine(4, 4, Link(1e-6, 50e9))
    >>> made = buffer_dependencies(pod, [[8, 13, 12, 9]])
    >>> in_words(made, [13, 12])
    'spine 0 > leaf 1 > spine 0'
    """
    buffers = np.atleast_1d(array("cycle", cycle))
    if not buffers.size:
        return "no cycle"
    most = dependencies.fabric.links * dependencies.lanes
    if buffers.ndim != 1 or buffers.dtype.kind not in "iu" or buffers.min() < 0 or buffers.max() >= most:
        raise ValueError(f"cycle = {str(cycle)[:40]!r} must be buffers 0 .. {most - 1}, as shortest_cycle gives them")
    link, lane = np.divmod(buffers, dependencies.lanes)
    names = vertex_names(dependencies.fabric)
    source = dependencies.fabric.source[link]
    said = [names[v] + (f" (lane {i})" if dependencies.lanes > 1 else "") for v, i in zip(source, lane, strict=True)]
    return " > ".join([*said, said[0]])


@declared
def vertex_names(fabric: Fabric) -> list[str]:
    """A name for every vertex: host 0, leaf 1, spine 0 ...; chip 5 where hosts forward; counted within a tier.

    >>> from netlib.links import Link
    >>> from netlib.topology import leaf_spine, one_switch
    >>> vertex_names(one_switch(2, Link(1e-6, 50e9)))
    ['host 0', 'host 1', 'switch 0']
    >>> vertex_names(leaf_spine(4, 4, Link(1e-6, 50e9)))[4:]
    ['leaf 0', 'leaf 1', 'spine 0']
    """
    tiers = int(fabric.tier.max(initial=0))
    words = ("chip" if fabric.forwards[fabric.hosts].any() else "host", *_TIERS.get(tiers, ()))
    words += tuple(f"tier-{t} switch" for t in range(len(words), tiers + 1))
    names = [""] * fabric.vertices
    for tier, word in enumerate(words):
        for number, vertex in enumerate(np.flatnonzero(fabric.tier == tier)):
            names[vertex] = f"{word} {number}"
    return names


def cycle_of(number: int, before: Ints, after: Ints) -> Ints:
    """A shortest cycle in a graph of `number` vertices with edges from `before` to `after`; empty if there is none.

    It begins with its smallest vertex.

    >>> cycle_of(4, np.array([0, 1, 2, 1]), np.array([1, 2, 1, 3])).tolist()
    [1, 2]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components, dijkstra

    ones = np.ones(before.size)
    whole = csr_array((ones, (before, after)), shape=(number, number))
    _, part = connected_components(whole, directed=True, connection="strong")
    inside = part[before] == part[after]  # an edge within a strong component lies on a cycle, any other does not
    if not inside.any():
        return np.zeros(0, np.int64)
    kept, place = np.unique(np.concatenate([before[inside], after[inside]]), return_inverse=True)
    a, b = np.split(place, 2)
    graph = csr_array((np.ones(a.size), (a, b)), shape=(kept.size, kept.size))
    best: tuple[float, list[int]] = (np.inf, [])
    for begin in range(0, kept.size, _BLOCK):
        roots = np.arange(begin, min(begin + _BLOCK, kept.size))
        far, back = dijkstra(graph, unweighted=True, indices=roots, return_predecessors=True)
        mine = np.flatnonzero((b >= begin) & (b < begin + _BLOCK))
        length = far[b[mine] - begin, a[mine]] + 1  # from the far end of an edge round to its beginning
        least = int(np.argmin(length)) if mine.size else -1
        if mine.size and length[least] < best[0]:
            edge = mine[least]
            chain = [int(a[edge])]
            while chain[-1] != b[edge]:
                chain.append(int(back[b[edge] - begin, chain[-1]]))
            best = (float(length[least]), chain[::-1])
    found = np.asarray(kept[best[1]], np.int64)
    return np.roll(found, -int(np.argmin(found)))


def _lanes(lane: ArrayLike, ways: Ints) -> tuple[int, Ints]:
    """How many lanes there are, and the one of each link of each way."""
    of = array("lane", lane)
    if of.dtype.kind not in "iu" or of.shape not in ((), ways.shape):
        raise ValueError(f"lane has shape {of.shape}; give one whole number, or one for each link, shape {ways.shape}")
    of = np.where(ways >= 0, of, 0).astype(np.int64)
    if of.min() < 0 or of.max() > 15:
        raise ValueError(f"lane = {of.min() if of.min() < 0 else of.max()} is none of InfiniBand's; give 0 to 15")
    return int(of.max()) + 1, of
