"""Routing: which links lead towards which host, and the way of every flow.

A switch forwards by a table: for each destination, the links that lie on a shortest path. Hosts behind the same first
switches share an entry, as they share a prefix in a real table; the links that serve many destinations alike are one
*group* (an ECMP group in a real switch). Read with the chapter "Scale-out", section "Where the bytes go".
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, declared, floats
from netlib.topology.fabric import Fabric, Ints, Mask
from netlib.topology.hops import distances_to, host_classes, passes

_FAR = 32_000  # more links than any path has; one more marks a vertex that must not be passed
Places = NDArray[np.int64]


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

    def distance(self, src: ArrayLike, dst: ArrayLike) -> Ints:
        """Links on a shortest path from host to host (by rank); 0 to itself. Raises ValueError if there is none.

        >>> routes(_star(3)).distance([0, 1], [2, 1]).tolist()
        [2, 0]
        """
        source, target = ends(self.fabric, src, dst)
        return _distance(self, source, target)


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

    >>> found = routes(_star(3))
    >>> found.table.shape, int(found.hops[found.row[0], found.column[1]])
    ((2, 1), 2)
    """
    order = np.lexsort((fabric.target, fabric.source)).astype(np.int32)
    start = np.searchsorted(fabric.source[order], np.arange(fabric.vertices + 1))
    hosts, through = fabric.hosts, passes(fabric)
    beside = np.zeros(fabric.vertices, bool)
    beside[fabric.source[~through[fabric.source] & ~through[fabric.target]]] = True
    own = (through | beside)[hosts]  # a host that forwards, or is cabled to a host, shares its routes with no other
    _, of = host_classes(fabric)
    _, one, which = np.unique(
        np.where(own, hosts.size + np.arange(hosts.size), of), return_index=True, return_inverse=True
    )
    column = np.full(fabric.vertices, -1, np.int32)
    column[hosts] = which
    speaker = hosts[one]  # the first host of each class
    shared = speaker[~own[one]]
    nodes = np.flatnonzero(through | beside)
    rows = np.concatenate([nodes, shared])
    row = np.full(fabric.vertices, -1, np.int32)
    row[nodes] = np.arange(nodes.size)
    place = np.full(speaker.size, -1, np.int32)
    place[column[shared]] = nodes.size + np.arange(shared.size)
    row[hosts[~own]] = place[which[~own]]

    hops = np.ascontiguousarray(distances_to(fabric, speaker, among=rows).T)
    hops[hops < 0] = _FAR
    hops[row[shared], column[shared]] = np.where(fabric.degree[shared] > 0, 2, _FAR)  # to another host of the class
    closed = ~through[nodes, None] & (hops[: nodes.size] > 0)  # seen from its neighbours: no way on
    passed = np.where(closed, _FAR + 1, hops[: nodes.size])
    table, groups = _groups(fabric, start, order, row, rows, hops, passed)
    _last(fabric, start, order, row, column, shared, table, groups)
    count = np.array([len(each) for each in groups], np.int32)
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
        first=np.concatenate([[0], np.cumsum(count)[:-1]]).astype(np.int32) if groups else count,
        count=count,
        place=np.concatenate(groups).astype(np.int32) if groups else count,
    )


@declared
def paths(routes: Routes, src: ArrayLike, dst: ArrayLike, choose: Choose) -> Ints:
    """The links that each flow takes, all flows followed at once: (F, most hops), filled with -1 behind a short path.

    `src` and `dst` are ranks: places in `fabric.hosts`. Where more than one link lies on a shortest path, `choose` gets
    a `Hop` and says which candidate each flow takes, 0 to count - 1. A flow from a host to itself never enters the
    network: its path is empty. Raises ValueError for a pair without a way.

    >>> paths(routes(_star(3)), [0, 1], [2, 1], choose=lambda hop: hop.flow % hop.count).tolist()
    [[0, 5], [-1, -1]]
    """
    source, target = ends(routes.fabric, src, dst)
    return follow(routes, source, target, choose)


def follow(routes: Routes, vertex: Ints, target: Ints, choose: Choose) -> Ints:
    """As `paths`, between vertices: from any vertex that forwards (or a host) to hosts.

    >>> follow(routes(_star(3)), np.array([3]), np.array([1]), choose=lambda hop: hop.flow).tolist()
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


def ranks(fabric: Fabric, src: ArrayLike, dst: ArrayLike) -> tuple[Places, Places]:
    """Two equally long lists of ranks, one of them repeated if it is single; or one sentence.

    >>> [each.tolist() for each in ranks(_star(3), 0, [1, 2])]
    [[0, 0], [1, 2]]
    """
    found = []
    for name, value in (("src", src), ("dst", dst)):
        given = np.atleast_1d(array(name, value))
        if given.ndim > 1 or (given.size and given.dtype.kind not in "iu"):
            raise ValueError(f"{name} = {str(value)[:40]!r} must be a list of whole numbers; give ranks from 0")
        if given.size and not (given.min() >= 0 and given.max() < fabric.hosts.size):
            wrong = given[(given < 0) | (given >= fabric.hosts.size)][0]
            raise ValueError(f"{name} = {wrong} is no host's rank; give 0 to {fabric.hosts.size - 1}")
        found.append(given.astype(np.int64))
    if found[0].size != found[1].size and 1 not in (found[0].size, found[1].size):
        raise ValueError(f"src has {found[0].size} ranks and dst has {found[1].size}; a flow has one of each")
    source, target = np.broadcast_arrays(*found)
    return source, target


def ends(fabric: Fabric, src: ArrayLike, dst: ArrayLike) -> tuple[Ints, Ints]:
    """As `ranks`, the vertices.

    >>> [each.tolist() for each in ends(_star(3), 0, [1, 2])]
    [[0, 0], [1, 2]]
    """
    source, target = ranks(fabric, src, dst)
    return fabric.hosts[source], fabric.hosts[target]


def sizes(size: ArrayLike, flows: int) -> Floats:
    """(flows,) bytes of each flow, from one number or one each; or one sentence.

    >>> sizes(5, 2).tolist()
    [5.0, 5.0]
    """
    weight = floats("size", size)
    if weight.shape not in ((), (1,), (flows,)):
        raise ValueError(f"size has shape {weight.shape} for {flows} flows; give one size, or one for each flow")
    return np.broadcast_to(weight, flows)


def no_way(routes: Routes, vertex: int, target: int) -> str:
    """The sentence for a pair without a way.

    >>> no_way(routes(_star(3)), 0, 1)
    'dst = vertex 1 cannot be reached from vertex 0 of star; give pairs that are joined'
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
    fabric: Fabric,
    start: Places,
    order: Ints,
    row: Ints,
    rows: Places,
    hops: NDArray[np.int16],
    passed: NDArray[np.int16],
) -> tuple[Ints, list[Places]]:
    """For each row, the classes that the same links serve: their links as bits, equal bits are one group."""
    table = np.full(hops.shape, -1, np.int32)
    groups: list[Places] = []
    for i, v in enumerate(rows):
        near = row[fabric.target[order[start[v] : start[v + 1]]]]
        here = np.flatnonzero((near >= 0) & (near < len(passed)))
        if not here.size:
            continue
        serves = np.zeros((-(-here.size // 64) * 8, 8, hops.shape[1]), np.uint8)
        flat = serves.reshape(-1, hops.shape[1])
        flat[: here.size] = passed[near[here]] == hops[i] - 1
        bits = serves[:, 0].copy()  # eight links in a byte; np.packbits along this axis takes four times as long
        for bit in range(1, 8):
            bits |= serves[:, bit] << bit
        words = np.ascontiguousarray(bits.T).view(np.uint64)
        _, one, which = _equal(words)
        mine = np.full(one.size, -1, np.int32)
        for g in np.flatnonzero(words[one].any(axis=1)):
            mine[g] = len(groups)
            groups.append(here[np.flatnonzero(flat[: here.size, one[g]])])
        table[i] = mine[which]
    return table, groups


def _equal(words: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Places, Places]:
    """`np.unique` of rows of machine words; of one word per row, which is fast, where that is all there is."""
    if words.shape[1] == 1:
        return np.unique(words[:, 0], return_index=True, return_inverse=True)
    found = np.unique(words, axis=0, return_index=True, return_inverse=True)
    return found[0], found[1], found[2].ravel()


def _last(
    fabric: Fabric,
    start: Places,
    order: Ints,
    row: Ints,
    column: Ints,
    shared: Ints,
    table: Ints,
    groups: list[Places],
) -> None:
    """The last link, from a first switch to a host of the class: the places of that switch in the host's own list."""
    for v in shared:
        near = fabric.target[order[start[v] : start[v + 1]]]
        begin = np.flatnonzero(np.diff(near, prepend=-1))
        for i, n in zip(begin, np.diff(begin, append=near.size), strict=True):
            table[row[near[i]], column[v]] = -2 - len(groups)
            groups.append(np.arange(i, i + n))


def _star(hosts: int) -> Fabric:
    """Hosts on one switch, for the examples."""
    from netlib.links import Link
    from netlib.topology.fabric import Cables, build

    up = Cables(np.arange(hosts), np.full(hosts, hosts), Link(1e-6, 50e9), "access")
    return build("star", hosts + 1, np.arange(hosts), [0] * hosts + [1], [up])
