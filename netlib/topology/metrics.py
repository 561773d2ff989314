"""Metrics: how far apart hosts are and what a tier passes up; counted on the graph, none from a formula.

Distances are in links, host to host, so that two hosts on one switch are 2 apart. Read with the chapter "Scale-out",
section "Clos arithmetic".
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared, formula
from netlib.topology.fabric import Fabric, Ints, indices
from netlib.topology.hops import Hops, distances_to, host_classes, passes

_ROWS = 2048  # goals searched at once where only a sum or a maximum is kept


@dataclass(frozen=True, eq=False)
class Distances:
    """Links between hosts, held once for each pair of classes (hosts that hang from the same switches).

    hosts   (C,) vertex of the first host of each class
    of      (H,) class of each host, in rank order
    links   (C, C) links between a host of one class and one of another, -1 where there is no way; on the diagonal,
            between two different hosts of the class (0 if it has but one)
    """

    hosts: Ints
    of: Ints
    links: Hops

    @formula
    def between(self, a: ArrayLike, b: ArrayLike) -> NDArray[np.int16]:
        """Links between hosts of ranks `a` and `b`; 0 from a host to itself. Broadcasts.

        >>> from netlib.topology.domains import hgx_h100
        >>> distances(hgx_h100()).between([0, 0], [0, 7]).tolist()
        [0, 2]
        """
        a, b = (indices(name, rank, self.of.size).reshape(np.shape(rank)) for name, rank in (("a", a), ("b", b)))
        return np.where(a == b, np.int16(0), self.links[self.of[a], self.of[b]])


@declared
def distances(fabric: Fabric) -> Distances:
    """Links between all pairs of hosts, by breadth-first search.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> distances(torus([4], Link(0, 45e9))).links.tolist()
    [[0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]]
    """
    hosts, of = host_classes(fabric)
    rows = [part for _, part in _host_rows(fabric)]
    return Distances(hosts, of, np.concatenate(rows) if rows else np.zeros((0, 0), np.int16))


@declared
def connected(fabric: Fabric) -> bool:
    """Whether every host reaches every other one.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> ring = torus([4], Link(0, 45e9))
    >>> connected(ring), connected(ring.without(cables=[0, 2]))
    (True, False)
    """
    return all(bool((part >= 0).all()) for _, part in _host_rows(fabric))


@declared
def diameter(fabric: Fabric) -> int:
    """Links between the two hosts that are farthest apart; 0 for one host alone.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> diameter(torus([16, 16, 16], Link(0, 45e9)))
    24
    """
    return max((int(_whole(fabric, part).max()) for _, part in _host_rows(fabric)), default=0)


@declared
def mean_hops(fabric: Fabric, include_self: bool = False) -> float:
    """Mean links between two hosts, over all ordered pairs of different hosts.

    With `include_self` a host is also paired with itself, 0 links away: some torus tables count so.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> ring = torus([4], Link(0, 45e9))  # 1, 2 and 1 links to the others
    >>> round(mean_hops(ring), 4), mean_hops(ring, include_self=True)
    (1.3333, 1.0)
    """
    _, of = host_classes(fabric)
    size = np.bincount(of).astype(float)
    total = 0.0
    for first, part in _host_rows(fabric):
        rows = np.arange(len(part))
        mine = size[first : first + len(part)]
        total += mine @ _whole(fabric, part) @ size - mine @ part[rows, first + rows]  # a host is no pair with itself
    pairs = of.size * (of.size if include_self else of.size - 1)
    return float(total / pairs) if pairs else 0.0


@declared
def switch_diameter(fabric: Fabric) -> int:
    """Links between the two farthest switches that have hosts: 2 less than the diameter unless hosts forward.

    Switches without a path between them, such as those of different planes, are no pair.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import dragonfly
    >>> switch_diameter(dragonfly(2, 4, 2, Link(0, 25e9)))
    3
    """
    return max((int(part.max()) for _, part in _rows(fabric, _edge(fabric))), default=0)


@declared
def mean_switch_distance(fabric: Fabric) -> float:
    """Mean links between two different switches that have hosts and a path (in a torus, between chips).

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import dragonfly
    >>> round(mean_switch_distance(dragonfly(2, 4, 2, Link(0, 25e9))), 4)
    2.3429
    """
    total = pairs = 0
    for _, part in _rows(fabric, _edge(fabric)):
        total += int(part.sum(where=part > 0, dtype=np.int64))
        pairs += int(np.count_nonzero(part > 0))
    return total / pairs if pairs else 0.0


@declared
def oversubscription(fabric: Fabric, tier: int = 1) -> float:
    """Bytes/s that enter a tier of switches from below, over the bytes/s that leave it upward; 1 is non-blocking.

    A tier with nothing above it has no ratio; a torus and a dragonfly have no tiers above the first.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import dragonfly_plus
    >>> oversubscription(dragonfly_plus(8, Link(0, 25e9)))
    1.0
    """
    at, far = fabric.tier[fabric.source], fabric.tier[fabric.target]
    below = float(fabric.capacity[(far == tier) & (at < tier)].sum())
    above = float(fabric.capacity[(at == tier) & (far > tier)].sum())
    if not (below and above):
        raise ValueError(
            f"tier = {tier} has no links {'up' if below else 'from below'} in {fabric.name}; its tiers are "
            f"{', '.join(map(str, np.unique(fabric.tier)))}"
        )
    return below / above


def _edge(fabric: Fabric) -> Ints:
    """The vertices that forward and have hosts, or are hosts."""
    is_host = np.zeros(fabric.vertices, bool)
    is_host[fabric.hosts] = True
    near = is_host.copy()
    near[fabric.target[is_host[fabric.source]]] = True
    return np.flatnonzero(near & fabric.forwards).astype(np.int32)


def _rows(fabric: Fabric, places: Ints) -> Iterator[tuple[int, Hops]]:
    """Distances between places, some rows at a time: (first row, rows)."""
    for first in range(0, places.size, _ROWS):
        yield first, distances_to(fabric, places[first : first + _ROWS], places)


def _host_rows(fabric: Fabric) -> Iterator[tuple[int, Hops]]:
    """`_rows` for the classes of hosts; two hosts of one class are 2 apart if a neighbour passes messages on."""
    hosts, of = host_classes(fabric)
    served = np.zeros(fabric.vertices, bool)
    served[fabric.source[passes(fabric)[fabric.target]]] = True
    own = np.where(np.bincount(of, minlength=hosts.size) > 1, np.where(served[hosts], 2, -1), 0)
    for first, part in _rows(fabric, hosts):
        rows = np.arange(len(part))
        part[rows, first + rows] = own[first + rows]
        yield first, part


def _whole(fabric: Fabric, part: Hops) -> Hops:
    if (part < 0).any():
        raise ValueError(
            f"fabric {fabric.name!r} is in pieces: some hosts have no path; what_remains counts those that are joined"
        )
    return part
