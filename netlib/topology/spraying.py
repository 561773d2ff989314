"""Spraying: every switch deals packets evenly over all links of a shortest path, so that loads follow exactly.

What each link carries is then linear in the traffic: it is pushed from the sources towards each class of hosts, one
distance at a time. Read with the chapter "Scale-out", section "Where the bytes go".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats, formula
from netlib.topology.fabric import Ints
from netlib.topology.flows import Places, ends, sizes
from netlib.topology.hops import ragged
from netlib.topology.routing import Routes, no_way

_BLOCK = 256  # sinks at a time: bounds the memory
Whole = NDArray[np.integer]


@formula
@declared
def spray(routes: Routes, src: ArrayLike, dst: ArrayLike, size: ArrayLike = 1.0) -> Floats:
    """Bytes on every link, (E,), when each hop deals a flow's packets evenly over all links of a shortest path.

    `src` and `dst` are ranks, `size` bytes of each flow. Exact: the mean of `minimal` over all draws. Parallel cables
    take a share each. Packets of a flow overtake one another, so the receiver must put them in order.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, routes
    >>> spray(routes(one_switch(3, Link(1e-6, 50e9))), [0, 1], [2, 2], 100).tolist()
    [100.0, 0.0, 100.0, 0.0, 0.0, 200.0]
    """
    fabric = routes.fabric
    source, target = ends(fabric, src, dst)
    weight = sizes(size, source.size)
    some = source != target
    source, target, weight = source[some], target[some], weight[some]
    # a class behind one switch is one sink; behind several, what comes in where depends on the host
    several = np.count_nonzero(routes.table < -1, axis=0) > 1
    column = routes.column[target]
    sink = np.where(several[column], routes.column.max() + 1 + target, column)
    _, one, which = np.unique(sink, return_index=True, return_inverse=True)
    host, first, inverse = np.unique(target, return_index=True, return_inverse=True)
    load, at, entry, amount = _deal(routes, source, column, weight)
    goals = _Ends(column[one], host, which[first], np.asarray(np.bincount(inverse, weight, host.size), float))
    return np.asarray(load + _push(routes, at, which[entry], amount, goals))


@formula
@declared
def spray_all_to_all(routes: Routes, size: float) -> Floats:
    """Bytes on every link, (E,), of a sprayed all-to-all: every host sends `size` bytes to every other. Exact.

    Computed from class to class, so 65,536 hosts (4.3 billion flows) cost no more than their switches.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, routes
    >>> spray_all_to_all(routes(one_switch(3, Link(1e-6, 50e9))), 100).tolist()
    [200.0, 200.0, 200.0, 200.0, 200.0, 200.0]
    """
    fabric = routes.fabric
    each = float(floats("size", size))
    column = routes.column[fabric.hosts]
    _, one, many = np.unique(column, return_index=True, return_counts=True)
    speaker = fabric.hosts[one]
    source, target = (grid.ravel() for grid in np.indices((one.size, one.size)))
    weight = each * (many[target] - (source == target))  # what one host of a class sends: to itself, nothing
    some = weight > 0
    source, target, weight = source[some], target[some], weight[some]
    first, at, entry, amount = _deal(routes, speaker[source], target, weight)
    held, link = _held(routes, fabric.hosts)  # all hosts of a class send as its speaker does
    same = link - routes.start[fabric.hosts[held]] + routes.start[speaker[column[held]]]
    load = np.zeros(fabric.links)
    load[routes.links[link]] = first[routes.links[same]]
    received = np.full(fabric.hosts.size, each * (fabric.hosts.size - 1))
    goals = _Ends(np.arange(one.size), fabric.hosts, column, received)
    return load + _push(routes, at, target[entry], amount * many[source[entry]], goals)


@dataclass(frozen=True)
class _Ends:
    """Where traffic goes: J sinks, each hosts of one class, and the hosts that receive."""

    column: Whole  # (J,) class of the hosts of each sink
    host: Whole  # (n,) vertices that receive
    sink: Whole  # (n,) the sink that each belongs to
    received: Floats  # (n,) bytes that each receives


def _deal(routes: Routes, vertex: Ints, column: Whole, weight: Floats) -> tuple[Floats, Whole, Places, Floats]:
    """Send what hosts have for a class over their links: loads (E,); and where it is then, of which entry, how much.

    A host that has a row of its own among the vertices that pass traffic on (torus) keeps it: `_push` does the rest.
    """
    row = routes.row[vertex]
    group = routes.table[row, column]
    if np.any(group == -1):
        i = int(np.argmax(group == -1))
        raise ValueError(no_way(routes, int(vertex[i]), int(np.argmax(routes.column == column[i]))))
    stays = row < routes.nodes
    count = np.where(stays, 1, routes.count[np.maximum(group, 0)])
    entry, nth = ragged(count)
    share, moves = (weight / count)[entry], ~stays[entry]
    at = vertex[entry]
    link = routes.links[routes.start[at[moves]] + routes.place[routes.first[group[entry[moves]]] + nth[moves]]]
    at[moves] = routes.fabric.target[link]
    load = np.bincount(link, share[moves], routes.fabric.links)
    return np.asarray(load, float), at, entry, share


def _held(routes: Routes, vertex: Whole) -> tuple[Places, Places]:
    """All links that vertices own: (which vertex, place in `routes.links`)."""
    held, nth = ragged(routes.start[vertex + 1] - routes.start[vertex])
    return held, routes.start[vertex][held] + nth


def _push(routes: Routes, vertex: Whole, sink: Whole, weight: Floats, ends: _Ends) -> Floats:
    """Loads (E,) of what stands at vertices that pass traffic on, from there to the hosts."""
    from scipy.sparse import csr_array

    fabric, row, n = routes.fabric, routes.row, routes.nodes
    inner = (row[fabric.source] < n) & (row[fabric.target] < n)
    ways = (row[fabric.target[inner]], row[fabric.source[inner]])
    step = csr_array((np.ones(ways[0].size), ways), (n, n))
    closed = (~fabric.forwards & (routes.column >= 0))[routes.rows[:n], None]  # hosts that pass nothing on
    held, place = _held(routes, ends.host)
    switch = row[fabric.target[routes.links[place]]]
    total = np.bincount(ends.sink, ends.received, ends.column.size)
    part = (ends.received / np.where(total > 0, total, 1)[ends.sink])[held]
    order = np.argsort(sink, kind="stable")
    by_group = np.zeros(routes.count.size)
    load = np.zeros(fabric.links)
    for begin in range(0, ends.column.size, _BLOCK):
        column = ends.column[begin : begin + _BLOCK]
        some = order[slice(*np.searchsorted(sink[order], [begin, begin + column.size]))]
        flat = row[vertex[some]].astype(np.int64) * column.size + sink[some] - begin
        stands = np.bincount(flat, weight[some], n * column.size).reshape(n, column.size)
        hops, table = routes.hops[:n, column], routes.table[:n, column]
        for distance in range(int(hops.max(where=stands > 0, initial=0)), 0, -1):
            goes = (hops == distance) & (table >= 0) & (stands > 0)
            group = table[goes]
            share = np.zeros_like(stands)
            share[goes] = stands[goes] / routes.count[group]
            by_group += np.bincount(group, share[goes], by_group.size)
            stands += np.where((hops == distance - 1) & ~(closed & (distance > 1)), step @ share, 0)
        mine = np.flatnonzero((ends.sink[held] // _BLOCK == begin // _BLOCK) & (switch < n))
        at = switch[mine], ends.sink[held[mine]] - begin
        last = table[at] < -1
        mine, at = mine[last], (at[0][last], at[1][last])
        arrives = stands[at] * part[mine] / routes.count[-2 - table[at]]
        load += np.bincount(routes.links[place[mine]] ^ 1, arrives, load.size)
    owner = np.zeros(by_group.size, np.int64)
    some_row, some_column = np.nonzero(routes.table[:n] >= 0)
    owner[routes.table[some_row, some_column]] = routes.rows[some_row]
    spread = np.repeat(np.arange(by_group.size), routes.count)
    link = routes.links[routes.start[owner[spread]] + routes.place]
    return np.asarray(load + np.bincount(link, by_group[spread], load.size), float)
