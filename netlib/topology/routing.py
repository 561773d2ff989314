"""Routing: which links lead towards which host, and the way of every flow.

A switch forwards by a table: for each destination, the links that lie on a shortest path. Hosts behind the same first
switches share an entry, as they share a prefix in a real table; the links that serve many destinations alike are one
*group* (an ECMP group in a real switch). Read with the chapter "Scale-out", section "Where the bytes go".
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared, written
from netlib.topology.fabric import Fabric, Ints, Mask
from netlib.topology.flows import Places, ends
from netlib.topology.hops import distances_to, host_classes, passes, ragged

_FAR = 32_000  # more links than any path has; one more marks a vertex that must not be passed
_BLOCK = 32  # rows worked on at once: neighbours in number are mostly neighbours of the same switches


@dataclass(frozen=True, eq=False)
class Routes:
    """All shortest paths of a fabric, in C columns (hosts behind the same first switches share one) and R rows.

    start, links   links by the vertex they leave, then by the vertex they enter: v owns links[start[v]:start[v + 1]]
    rows, nodes    (R,) a vertex of each row; the first `nodes` of them pass traffic on or are destinations themselves
    row            (V,) row of a vertex; hosts of one class share a row
    column         (V,) class of a host as a destination; -1 for other vertices
    hops           (R, C) links from here to a host of the class; 32000 if there is no way
    table          (R, C) group to take: g >= 0 for links of this vertex; -1 none; -2 - g for the last link, which is
                   the other direction of one of the host's own
    first, count   (G,) group g holds the places place[first[g]:first[g] + count[g]] in a vertex's list of links
    place          places in the list of a vertex
    """

    fabric: Fabric
    _made = "routes(fabric)"
    start: Places
    links: Ints
    rows: Places
    nodes: int
    row: Ints
    column: Ints
    hops: NDArray[np.int16]
    table: Ints
    first: Ints
    count: Ints
    place: Ints

    @written
    def distance(self, src: ArrayLike, dst: ArrayLike) -> Ints:
        """Links on a shortest path from host to host (by rank); 0 to itself. Raises ValueError if there is none.

        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> routes(one_switch(3, Link(1e-6, 50e9))).distance([0, 1], [2, 1]).tolist()
        [2, 0]
        """
        source, target = ends(self.fabric, src, dst)
        return _distance(self, source, target)


@written
@dataclass(frozen=True, eq=False)
class Hop:
    """Flows that stand before more than one link, given to `choose`: one entry each.

    flow     place of the flow in the arguments
    vertex   where it stands
    count    among how many links it may choose
    group    number of the group of links, as in `Routes`
    link     function: link(k) is the number of each flow's k-th candidate
    """

    flow: Places
    vertex: Ints
    count: Ints
    group: Ints
    link: Callable[[ArrayLike], Ints]


Choose = Callable[[Hop], NDArray[np.integer]]


@declared
def routes(fabric: Fabric) -> Routes:
    """All shortest paths (fewest links) between the hosts of a fabric; call it again for what failures leave.

    Only vertices that pass messages on are crossed: switches, parts of a node that are no hosts, hosts of a torus.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> found = routes(one_switch(3, Link(1e-6, 50e9)))
    >>> found.table.shape, int(found.hops[found.row[0], found.column[1]])
    ((2, 1), 2)
    """
    hosts, through = fabric.hosts, passes(fabric)
    order = np.lexsort((fabric.target, fabric.source)).astype(np.int32)
    start = np.searchsorted(fabric.source[order], np.arange(fabric.vertices + 1))

    # Hosts of a class share a row and a column, but for those that forward or are cabled straight to another host.
    single = through.copy()
    single[fabric.source[~through[fabric.source] & ~through[fabric.target]]] = True
    _, alike = host_classes(fabric)
    alone = hosts.size + np.arange(hosts.size)
    _, one, of = np.unique(np.where(single[hosts], alone, alike), return_index=True, return_inverse=True)
    speaker = hosts[one]  # the first host of each class
    column = np.full(fabric.vertices, -1, np.int32)
    column[hosts] = of
    nodes, shared = np.flatnonzero(single), speaker[~single[speaker]]
    rows = np.concatenate([nodes, shared])
    row = np.full(fabric.vertices, -1, np.int32)
    row[rows] = np.arange(rows.size)
    row[hosts] = row[speaker[of]]

    hops = np.ascontiguousarray(distances_to(fabric, speaker, among=rows).T)
    hops[hops < 0] = _FAR
    hops[row[shared], column[shared]] = np.where(fabric.degree[shared] > 0, 2, _FAR)  # to another host of the class
    table, groups = _groups(fabric, start, order, row, rows, nodes.size, hops)
    _last(fabric, start, order, row, column, shared, table, groups)
    count = np.concatenate([np.zeros(0, np.int32), *(each for each, _ in groups)]).astype(np.int32)
    return Routes(
        fabric=fabric,
        start=start,
        links=order,
        rows=rows,
        nodes=nodes.size,
        row=row,
        column=column,
        hops=hops,
        table=table,
        first=(np.cumsum(count) - count).astype(np.int32),
        count=count,
        place=np.concatenate([np.zeros(0, np.int32), *(each for _, each in groups)]).astype(np.int32),
    )


@declared
def paths(routes: Routes, src: ArrayLike, dst: ArrayLike, choose: Choose) -> Ints:
    """The links that each flow takes, all flows followed at once: (F, most hops), filled with -1 behind a short path.

    `src` and `dst` are ranks: places in `fabric.hosts`. Where more than one link lies on a shortest path, `choose` gets
    a `Hop` and says which candidate each flow takes, 0 to count - 1. A flow from a host to itself never enters the
    network: its path is empty. Raises ValueError for a pair without a way.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> paths(routes(one_switch(3, Link(1e-6, 50e9))), [0, 1], [2, 1], choose=lambda hop: hop.flow % hop.count).tolist()
    [[0, 5], [-1, -1]]
    """
    source, target = ends(routes.fabric, src, dst)
    return follow(routes, source, target, choose)


def follow(routes: Routes, vertex: Ints, target: Ints, choose: Choose) -> Ints:
    """As `paths`, between vertices: from any vertex that forwards (or a host) to hosts.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> star = routes(one_switch(3, Link(1e-6, 50e9)))
    >>> follow(star, np.array([3]), np.array([1]), choose=lambda hop: hop.flow).tolist()
    [[3]]
    """
    fabric, width = routes.fabric, routes.table.shape[1]
    length = _distance(routes, vertex, target)
    table = routes.table.ravel()
    column = routes.column[target].astype(np.int64)
    at, flow = vertex, np.arange(vertex.size)
    found = np.full((vertex.size, int(length.max(initial=0))), -1, np.int32)
    for hop in range(found.shape[1]):
        going = length[flow] > hop
        if not going.all():
            flow, at, column, target = flow[going], at[going], column[going], target[going]
        group = table.take(routes.row[at] * width + column)
        last = group < 0
        group = np.where(last, -2 - group, group)
        held = np.where(last, target, at)
        base, first, count = routes.start[held], routes.first[group], routes.count[group]
        pick = first
        many = np.flatnonzero(count > 1)
        if many.size:
            some = base[many], first[many], last[many]

            def link(k: ArrayLike, some: tuple[Places, Ints, Mask] = some) -> Ints:
                return np.asarray(routes.links[some[0] + routes.place[some[1] + np.asarray(k)]] ^ some[2])

            pick = first.copy()
            pick[many] += choose(Hop(flow[many], at[many], count[many], group[many], link))
        taken = routes.links[base + routes.place[pick]] ^ last
        found[flow, hop] = taken
        at = fabric.target[taken]
    return found


def no_way(routes: Routes, vertex: int, target: int) -> str:
    """The sentence for a pair without a way.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> no_way(routes(one_switch(3, Link(1e-6, 50e9))), 0, 1)
    'dst = vertex 1 cannot be reached from vertex 0 of one switch, 3 hosts; give pairs that are joined'
    """
    name = routes.fabric.name
    return f"dst = vertex {target} cannot be reached from vertex {vertex} of {name}; give pairs that are joined"


def _distance(routes: Routes, vertex: Ints, target: Ints) -> Ints:
    hops = routes.hops[routes.row[vertex], routes.column[target]].astype(np.int32)
    hops[vertex == target] = 0
    if np.any(hops == _FAR):
        i = int(np.argmax(hops == _FAR))
        raise ValueError(no_way(routes, vertex[i], target[i]))
    return hops


def _groups(
    fabric: Fabric, start: Places, order: Ints, row: Ints, rows: Places, nodes: int, hops: NDArray[np.int16]
) -> tuple[Ints, list[tuple[Places, Places]]]:
    """The table of Routes, and its groups in parts: how many places each holds, and the places.

    A link leads towards a class if its far end is one link nearer. Classes that the same links of a vertex serve share
    a group. Done for a block of rows at a time, in which the classes that all these rows and their neighbours see alike
    are one column: from a pod of a k = 64 fat-tree 33 of 2,048 differ.
    """
    passed = hops[:nodes].copy()
    passed[~passes(fabric)[rows[:nodes], None] & (passed > 0)] = _FAR + 1  # seen from its neighbours: no way on
    table = np.empty(hops.shape, np.int32)
    groups, many = [], 0
    for begin in range(0, rows.size, _BLOCK):
        block = rows[begin : begin + _BLOCK]
        mine, place = ragged(start[block + 1] - start[block])
        near = row[fabric.target[order[start[block][mine] + place]]]
        on = (near >= 0) & (near < nodes)
        mine, place = mine[on], place[on]
        seen, near = np.unique(near[on], return_inverse=True)
        both = np.concatenate([hops[begin : begin + _BLOCK], passed[seen]])
        one, column = _alike(both)
        here, there = np.split(both[:, one], [block.size])
        serves = np.zeros((block.size, int(place.max(initial=0)) + 1, one.size), bool)
        serves[mine, place] = there[near] == here[mine] - 1
        number, sets = _numbered(serves)
        table[begin : begin + _BLOCK] = np.where(number < 0, -1, many + number)[:, column]
        groups.append((np.count_nonzero(sets, axis=1), np.nonzero(sets)[1]))
        many += len(sets)
    return table, groups


def _alike(hops: NDArray[np.int16]) -> tuple[Places, Places]:
    """Which columns of a table are equal: (the first of each kind, kind of every column)."""
    different = list({row.tobytes(): row for row in hops}.values())  # equal rows tell no columns apart
    key = np.stack(different, axis=1).view(f"V{hops.itemsize * len(different)}")
    _, first, kind = np.unique(key.ravel(), return_index=True, return_inverse=True)
    return first, kind


def _numbered(serves: Mask) -> tuple[Places, Mask]:
    """Sets of places, one for each row and column, numbered so that equal sets of a row share a number.

    `serves` (rows, places, columns). Gives (rows, columns) numbers, -1 for no place at all, and the sets (G, places).
    """
    packed = np.packbits(serves, axis=1, bitorder="little")
    rows, size, columns = packed.shape
    held = np.zeros((-(-size // 8), rows, columns, 8), np.uint8)
    for byte in range(size):
        held[byte // 8, ..., byte % 8] = packed[:, byte]
    words = held.view("<u8")[..., 0]  # (words, rows, columns): a set as a number of 64 bits, or several
    order = np.lexsort(words, axis=-1)
    words = np.take_along_axis(words, order[None], axis=2)
    some = np.asarray(words.any(axis=0))
    new = some.copy()
    new[:, 1:] &= (words[..., 1:] != words[..., :-1]).any(axis=0)
    number = np.empty(new.shape, np.int64)
    np.put_along_axis(number, order, np.where(some, np.cumsum(new).reshape(new.shape) - 1, -1), axis=1)
    sets = np.unpackbits(words[:, new].T.copy().view(np.uint8), axis=1, bitorder="little")
    return number, sets.view(bool)


def _last(
    fabric: Fabric,
    start: Places,
    order: Ints,
    row: Ints,
    column: Ints,
    shared: Ints,
    table: Ints,
    groups: list[tuple[Places, Places]],
) -> None:
    """The last link, from a first switch to a host of the class: the places of that switch in the host's own list."""
    which, place = ragged(start[shared + 1] - start[shared])
    near = fabric.target[order[start[shared][which] + place]]
    begin = np.flatnonzero((np.diff(which, prepend=-1) != 0) | (np.diff(near, prepend=-1) != 0))
    many = sum(count.size for count, _ in groups)
    table[row[near[begin]], column[shared[which[begin]]]] = -2 - many - np.arange(begin.size)
    groups.append((np.diff(begin, append=near.size), place))
