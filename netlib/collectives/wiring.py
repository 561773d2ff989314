"""Wiring: a schedule laid on a fabric. Which rank is which host, which links a message takes, what each link carries.

Read with the chapter "Collectives", section "An algorithm as data".
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, quoted
from netlib.collectives.schedule import Ints, Schedule
from netlib.collectives.turns import Places, numbered, turns
from netlib.topology.fabric import Fabric, indices
from netlib.topology.hops import ragged
from netlib.topology.ledgers import Ledger, Policy
from netlib.topology.policies import ecmp
from netlib.topology.routing import Routes, routes
from netlib.topology.spraying import spray


@dataclass(frozen=True, eq=False)
class Wiring:
    """Where ranks are on a fabric, and how messages are routed.

    fabric    the network
    places    (n,) rank r is host `places[r]` of the fabric, counted as in fabric.hosts
    switches  (s,) vertices of the switches that add: ranks n, n + 1 ...
    policy    `spray`, or a function that gives the ways of flows, q rows for each: `ecmp`, `d_mod_k`, ...
    """

    fabric: Fabric
    places: Ints
    switches: Ints
    policy: Policy | Callable[..., Floats]
    _made = "wired(fabric)"

    @cached_property
    def routes(self) -> Routes:
        """All shortest paths, found once."""
        return routes(self.fabric)

    def vertices(self, schedule: Schedule) -> Ints:
        """(n + switches,) the vertex of each rank of a schedule, or one sentence if there are too few.

        >>> from netlib.collectives import ring_allreduce
        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> wired(one_switch(4, Link(1e-6, 50e9)), ranks=[3, 1]).vertices(ring_allreduce(2)).tolist()
        [3, 1]
        """
        n, many = schedule.n, schedule.switches
        if n > self.places.size:
            raise ValueError(f"schedule has {n} ranks, but only {self.places.size} have a host; build a larger fabric")
        if many > self.switches.size:
            raise ValueError(
                f"schedule needs {many} switches that add, but {self.fabric.name} gives {self.switches.size}; "
                "name their vertices with wired(fabric, switches=...)"
            )
        return np.concatenate([self.fabric.hosts[self.places[:n]], self.switches[:many]])


@declared
def wired(
    fabric: Fabric,
    ranks: ArrayLike | None = None,
    switches: ArrayLike | None = None,
    policy: Policy | Callable[..., Floats] = ecmp,
) -> Wiring:
    """A `Wiring`: ranks on hosts in order, unless `ranks` (n,) names the host of each; the switches that add are first
    those inside nodes, then all others, unless `switches` names their vertices.

    Between hosts a message takes the way that `policy` says: one shortest path by the hash of `ecmp`; `spray`: all of
    them evenly; any other policy with its rows sharing the message evenly, such as partial(ecmp, qps=4). To or from a
    switch that adds it takes the cables that join the two, evenly.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> wired(one_switch(4, Link(1e-6, 50e9))).places.tolist()
    [0, 1, 2, 3]
    """
    many = fabric.hosts.size
    places = np.arange(many, dtype=np.int32) if ranks is None else indices("ranks", ranks, many)
    if np.unique(places).size < places.size:
        raise ValueError(f"ranks = {quoted(ranks)} puts two ranks on one host; give each a host of its own")
    inner = np.setdiff1d(np.flatnonzero(fabric.tier == 0), fabric.hosts).astype(np.int32)  # NVSwitches of nodes
    known = np.concatenate([inner, fabric.switches])
    adding = known if switches is None else indices("switches", switches, fabric.vertices)
    if np.isin(adding, fabric.hosts).any():
        raise ValueError(f"switches = {quoted(switches)} names a host; give vertices of switches")
    return Wiring(fabric, places, adding, policy)


class Ways(NamedTuple):
    """The links of Q pairs of ranks: entry k puts `share[k]` of the bytes of pair `pair[k]` on `link[k]`.

    pair     (K,) ascending
    latency  (Q,) seconds of the longest way of each pair
    rows     (Q, hops) the links of each pair, -1 padded, if every pair has one way; None if messages are spread
    """

    pair: Places
    link: Places
    share: Floats
    latency: Floats
    rows: Places | None


def laid(schedule: Schedule, fabric: Fabric | Wiring) -> tuple[Ways, Places]:
    """The ways of all pairs of ranks that talk, and those pairs, ascending, as src (n + switches) + dst.

    >>> from netlib.collectives import ring_allreduce
    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> ways, pairs = laid(ring_allreduce(3), one_switch(3, Link(1e-6, 50e9)))
    >>> pairs.tolist(), ways.link.tolist()
    ([1, 5, 6], [0, 3, 2, 5, 4, 1])
    """
    wiring = fabric if isinstance(fabric, Wiring) else wired(fabric)
    vertex, everyone = wiring.vertices(schedule), schedule.n + schedule.switches
    pairs = [np.unique(numbered(schedule, part)) for part in schedule.phases]
    pair = np.unique(np.concatenate([np.zeros(0, np.int64), *pairs]))
    return _ways(wiring, vertex[pair // everyone], vertex[pair % everyone]), pair


@declared
def link_ledger(schedule: Schedule, fabric: Fabric | Wiring, size: float) -> Ledger:
    """Bytes on every directed link, for a buffer of `size` bytes: exact, every repetition counted.

    >>> from netlib.collectives import ring_allreduce
    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> link_ledger(ring_allreduce(4), one_switch(4, Link(1e-6, 50e9)), 4e6).bytes.tolist()[:2]  # 2 (n - 1) / n size
    [6000000.0, 6000000.0]
    """
    ways, pair = laid(schedule, fabric)
    everyone, total = schedule.n + schedule.switches, np.zeros(pair.size)
    for turn in turns(schedule, size):
        at = np.searchsorted(pair, turn.src * everyone + turn.dst)
        total += np.bincount(at, turn.bytes * turn.repeats, pair.size)
    return carried(fabric, ways, total)


def carried(fabric: Fabric | Wiring, ways: Ways, total: Floats) -> Ledger:
    """The ledger of `total` (Q,) bytes of each pair.

    >>> from netlib.collectives import ring_allreduce
    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> pair = one_switch(2, Link(1e-6, 50e9))
    >>> carried(pair, laid(ring_allreduce(2), pair)[0], np.array([1.0, 5.0])).bytes.tolist()
    [1.0, 5.0, 5.0, 1.0]
    """
    network = fabric.fabric if isinstance(fabric, Wiring) else fabric
    load = np.bincount(ways.link, total[ways.pair] * ways.share, network.links)
    return Ledger(network, np.asarray(load, float))


@declared
def slowed(fabric: Fabric, cables: ArrayLike, factor: ArrayLike) -> Fabric:
    """The fabric with some cables `factor` times slower in both directions; `factor` is one number, or one each.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> slowed(one_switch(2, Link(1e-6, 50e9)), cables=1, factor=4).capacity.tolist()
    [50000000000.0, 50000000000.0, 12500000000.0, 12500000000.0]
    """
    which, by = indices("cables", cables, fabric.cables), floats("factor", factor, above=True)
    if by.shape not in ((), (1,), which.shape):
        raise ValueError(f"factor has shape {by.shape} for {which.size} cables; give one number, or one for each cable")
    capacity = fabric.capacity.copy()
    for direction in (0, 1):
        capacity[2 * which + direction] /= by
    return replace(fabric, capacity=capacity)


class _Part(NamedTuple):
    """The ways of some pairs: which ones, their latency, and the entries as in `Ways`."""

    which: Places
    latency: Floats
    pair: Places
    link: Places
    share: Floats


def _ways(wiring: Wiring, source: Ints, target: Ints) -> Ways:
    """The ways between vertices: direct cables where one is a switch that adds, the policy's between hosts."""
    fabric, rows = wiring.fabric, None
    place = np.full(fabric.vertices, -1)
    place[fabric.hosts] = np.arange(fabric.hosts.size)
    src, dst = place[source], place[target]
    among = (src >= 0) & (dst >= 0)
    direct, hosts = np.flatnonzero(~among), np.flatnonzero(among)
    parts = [_adjacent(fabric, source, target, direct)]
    if wiring.policy is spray:
        parts.append(_sprayed(wiring.routes, src, dst, hosts))
    elif hosts.size:
        found = np.asarray(wiring.policy(wiring.routes, src[hosts], dst[hosts])).astype(np.int64)
        rows = found if len(found) == source.size else None  # one way for each pair, and no switch that adds
        parts.append(_on_rows(fabric, found, hosts))
    latency = np.zeros(source.size)
    for part in parts:
        latency[part.which] = part.latency
    pair, link, share = (np.concatenate(column) for column in list(zip(*parts, strict=True))[2:])
    order = np.argsort(pair, kind="stable")
    return Ways(pair[order], link[order].astype(np.int64), share[order], latency, rows)


def _adjacent(fabric: Fabric, source: Ints, target: Ints, which: Places) -> _Part:
    """The cables that join the ends of a pair, each with an even share."""
    start, order = fabric.out
    row, nth = ragged(start[source[which] + 1] - start[source[which]])
    link = order[start[source[which]][row] + nth]
    joins = fabric.target[link] == target[which][row]
    row, link = row[joins], link[joins]
    many = np.bincount(row, minlength=which.size)
    if not many.all():
        i = which[int(np.argmin(many))]
        raise ValueError(
            f"schedule sends from vertex {source[i]} straight to vertex {target[i]}, but no cable of {fabric.name} "
            "joins them; give wired(fabric, switches=...) the switches that the ranks are cabled to"
        )
    latency = np.zeros(which.size)
    np.maximum.at(latency, row, fabric.latency[link])
    return _Part(which, latency, which[row], link, 1 / many[row])


def _on_rows(fabric: Fabric, rows: Places, which: Places) -> _Part:
    """The rows that a policy gives, equally many for each pair, each with an even share."""
    each = len(rows) // which.size
    row, hop = np.nonzero(rows >= 0)
    latency = np.where(rows >= 0, fabric.latency[rows], 0).sum(axis=1).reshape(-1, each).max(axis=1)
    return _Part(which, latency, which[row // each], rows[row, hop], np.full(row.size, 1 / each))


def _sprayed(found: Routes, src: Places, dst: Places, which: Places) -> _Part:
    """All shortest paths at once, hop by hop: what has come to a vertex is dealt evenly over the links that lead on."""
    fabric = found.fabric
    goal, at = fabric.hosts[dst], fabric.hosts[src[which]]
    hops = int(found.distance(src[which], dst[which]).max(initial=0))  # refuses a pair without a way
    pair, part, late, latency = which, np.ones(which.size), np.zeros(which.size), np.zeros(src.size)
    held = [(pair[:0], pair[:0], part[:0])]
    for _ in range(hops):
        group = found.table[found.row[at], found.column[goal[pair]]]
        last = group < 0
        group = np.where(last, -2 - group, group)
        base = found.start[np.where(last, goal[pair], at)]
        entry, nth = ragged(found.count[group])
        link = found.links[base[entry] + found.place[found.first[group][entry] + nth]] ^ last[entry]
        pair, part, late = pair[entry], (part / found.count[group])[entry], late[entry] + fabric.latency[link]
        held.append((pair, link, part))
        here, of = np.unique(pair * fabric.vertices + fabric.target[link], return_inverse=True)
        slowest, late = late, np.zeros(here.size)
        np.maximum.at(late, of, slowest)
        pair, at, part = here // fabric.vertices, here % fabric.vertices, np.asarray(np.bincount(of, part), float)
        there = at == goal[pair]
        latency[pair[there]] = late[there]
        pair, at, part, late = pair[~there], at[~there], part[~there], late[~there]
    columns = [np.concatenate(column) for column in zip(*held, strict=True)]
    return _Part(which, latency[which], *columns)
