"""Distances: how many links a message crosses, for all pairs at once.

A breadth-first search from 64 places at a time: each vertex holds one bit for each place, and one level is one OR over
its neighbours. Hosts that hang from the same switches are equally far from everything, so they share a row. Read with
the chapter "Scale-out", section "Clos arithmetic".
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared
from netlib.topology.fabric import Fabric, Ints, Mask, indices

Hops = NDArray[np.int16]

FARTHEST = 31_000
"""Links of the longest path that is measured: distances are held in 16 bits."""
_CELLS = 2**25  # distances worked on at once: keeps what is held in between below 300 MB


@declared
def passes(fabric: Fabric) -> Mask:
    """(V,) whether messages of others pass a vertex: those that forward, and every part of a node that is no host.

    The NVSwitch of a node joins its own GPUs. It carries nobody else's traffic, since its GPUs pass nothing on.

    >>> from netlib.links import Link
    >>> from netlib.topology.fabric import Cables, build
    >>> star = build("star", 3, hosts=[0, 1], tier=[0, 0, 1], cables=[Cables([0, 1], [2, 2], Link(0, 50e9))])
    >>> passes(star).tolist()
    [False, False, True]
    """
    mask = np.ones(fabric.vertices, bool)
    mask[fabric.hosts] = False
    return mask | fabric.forwards


@declared
def host_classes(fabric: Fabric) -> tuple[Ints, Ints]:
    """Hosts by what they hang from: (vertex of the first host of each class, class of each host in rank order).

    Hosts of one class have cables to the same neighbours, hence the same distance to everything else and the same
    routes. A host that forwards (torus) is a class of its own.

    >>> from netlib.links import Link
    >>> from netlib.topology.fabric import Cables, build
    >>> up = Cables([0, 1, 2], [3, 3, 4], Link(0, 50e9))
    >>> two = build("two switches", 5, hosts=[0, 1, 2], tier=[0, 0, 0, 1, 1], cables=[up])
    >>> [each.tolist() for each in host_classes(two)]
    [[0, 2], [0, 0, 1]]
    """
    hosts = fabric.hosts
    start, order = fabric.out
    degree = fabric.degree[hosts]
    row, column = ragged(degree)
    near = np.full((hosts.size, int(degree.max(initial=0)) + 1), -1, np.int32)
    near[row, column] = fabric.target[order[start[hosts][row] + column]]
    near[:, :-1].sort(axis=1)
    near[:, -1] = np.where(fabric.forwards[hosts], hosts, -1)  # sets a host that forwards apart
    _, first, of = np.unique(near, axis=0, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # classes in the order in which their first host appears
    return hosts[np.sort(first)], rank[of.ravel()].astype(np.int32)


@declared
def by_leaf(fabric: Fabric) -> Ints:
    """(H,) ranks of the hosts, leaf by leaf: those on the first switch, those on the next ... those on none.

    A host on several switches (planes) counts for the one that comes first in the fabric.

    >>> from netlib.links import Link
    >>> from netlib.topology.fabric import Cables, build
    >>> up = Cables([0, 1, 2], [4, 3, 4], Link(0, 50e9))
    >>> two = build("two switches", 5, hosts=[0, 1, 2], tier=[0, 0, 0, 1, 1], cables=[up])
    >>> by_leaf(two).tolist()
    [1, 0, 2]
    """
    up = fabric.tier[fabric.target] > fabric.tier[fabric.source]
    leaf = np.full(fabric.vertices, fabric.vertices)
    np.minimum.at(leaf, fabric.source[up], fabric.target[up])
    return np.argsort(leaf[fabric.hosts], kind="stable").astype(np.int32)


@declared
def distances_to(fabric: Fabric, vertices: ArrayLike, among: ArrayLike | None = None) -> Hops:
    """(len(vertices), V) links on a shortest way from every vertex to each of `vertices`; -1 where there is none.

    Only vertices that pass messages on (`passes`) are crossed; a host may be either end. `among` keeps the columns of
    these vertices only, say the switches of a large fabric: (len(vertices), len(among)).

    >>> from netlib.links import Link
    >>> from netlib.topology.fabric import Cables, build
    >>> chain = Cables([0, 2, 3], [2, 3, 1], Link(0, 50e9))
    >>> line = build("line", 5, hosts=[0, 1, 4], tier=[0, 0, 1, 1, 0], cables=[chain])
    >>> distances_to(line, [0]).tolist()
    [[0, 3, 1, 2, -1]]
    """
    goals = indices("vertices", vertices, fabric.vertices)
    wanted = np.arange(fabric.vertices) if among is None else indices("among", among, fabric.vertices)
    search = _Search(fabric, goals, wanted)
    block = max(64, _CELLS // max(1, search.rows.size) // 64 * 64)
    found = np.empty((goals.size, wanted.size), np.int16)
    for i in range(0, goals.size, block):
        found[i : i + block] = search.run(goals[i : i + block]).T
    return found


def ragged(lengths: NDArray[np.integer]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(row, column) of every entry of a table whose rows have these lengths.

    >>> [each.tolist() for each in ragged(np.array([2, 0, 1]))]
    [[0, 0, 2], [0, 1, 0]]
    """
    row = np.repeat(np.arange(lengths.size), lengths)
    return row, np.arange(row.size) - np.repeat(np.cumsum(lengths) - lengths, lengths)


class _Search:
    """The links that matter (those that reach a vertex which passes messages on, or a goal), by the row they leave.

    scipy.sparse.csgraph.dijkstra(unweighted=True) gives the same numbers, one source at a time and as 8-byte floats: it
    took 4 times as long on the switches of a k = 32 fat-tree and 8 times on k = 64, and lets messages through hosts.
    """

    def __init__(self, fabric: Fabric, goals: NDArray[np.integer], wanted: NDArray[np.integer]) -> None:
        through = passes(fabric)
        entered = through.copy()
        entered[goals] = True
        kept = entered.copy()
        kept[wanted] = True
        self.rows = np.flatnonzero(kept)
        self.place = np.full(fabric.vertices, -1)
        self.place[self.rows] = np.arange(self.rows.size)
        self.wanted = self.place[wanted]
        self.ends = ~through[self.rows]  # rows where a message may end but not pass
        use = kept[fabric.source] & entered[fabric.target]
        source = self.place[fabric.source[use]]
        order = np.argsort(source, kind="stable")
        self.near = self.place[fabric.target[use]][order]
        self.joined, self.start = np.unique(source[order], return_index=True)  # rows with a neighbour: OR needs one

    def run(self, goals: NDArray[np.integer]) -> Hops:
        """(wanted, goals) distances. Bit g of a row says whether goal g has been reached from it."""
        words = -(-goals.size // 64)
        fresh = np.zeros((self.rows.size, words), np.uint64)
        bit = np.arange(goals.size)
        np.bitwise_or.at(fresh, (self.place[goals], bit // 64), np.uint64(1) << (bit % 64).astype(np.uint64))
        reached = fresh.copy()
        digits: list[NDArray[np.uint64]] = []  # digit b of every distance, in binary: one word counts for 64 goals
        level = 0
        while self.near.size:
            heard = np.bitwise_or.reduceat(fresh[self.near], self.start, axis=0)
            fresh = np.zeros_like(fresh)
            fresh[self.joined] = heard & ~reached[self.joined]
            if not fresh.any():
                break
            level += 1
            if level > FARTHEST:
                raise ValueError(f"fabric holds paths of more than {FARTHEST:,} links; give shorter sides")
            reached |= fresh
            for b in range(level.bit_length()):
                if b == len(digits):
                    digits.append(np.zeros_like(fresh))
                if level >> b & 1:
                    digits[b] |= fresh
            fresh[self.ends] = 0  # a host starts a message (level 0) but passes none on
        found = -(~_bits(reached[self.wanted], goals.size)).astype(np.int16)
        for b, digit in enumerate(digits):
            found += _bits(digit[self.wanted], goals.size).astype(np.int16) << b
        return found


def _bits(words: NDArray[np.uint64], count: int) -> Mask:
    """(rows, count) the bits of each row of words, lowest first."""
    packed = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(packed, axis=1, count=count, bitorder="little").view(bool)
