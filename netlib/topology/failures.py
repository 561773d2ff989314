"""Failures: what a fabric can still do once cables, switches or a plane are gone.

Take the broken fabric from `Fabric.without`; compare it with the whole one. Read with the chapter "Scale-out", section
"What remains when something breaks".
"""

from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats, declared
from netlib.topology.cuts import bisection
from netlib.topology.fabric import Fabric, Ints
from netlib.topology.metrics import distances


@dataclass(frozen=True)
class Remains:
    """What is left of a fabric, each as a share of what the whole one had, except counts.

    hosts       hosts that the best placed host still reaches, itself included
    pairs       pairs of hosts that still have a path, of those that had one
    bisection   bytes/s across the halves of the whole fabric (its `worst_half`)
    access      bytes/s of links at the host that lost most of them: 0 if it is cut off
    extra_hops  links that the most lengthened of the remaining paths gained
    """

    hosts: int
    pairs: float
    bisection: float
    access: float
    extra_hops: int


@declared
def labelled(fabric: Fabric, name: str, value: int) -> Ints:
    """The vertices whose label `name` is `value`: the switches of a plane, the hosts of a pod.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> labelled(torus([2, 3], Link(0, 45e9)), "x0", 1).tolist()
    [3, 4, 5]
    """
    found = np.flatnonzero(fabric.label(name) == value).astype(np.int32)
    if not found.size:
        raise ValueError(f"value = {value} is no {name} of {fabric.name}; it has {np.unique(fabric.label(name))}")
    return found


@declared
def what_remains(fabric: Fabric, broken: Fabric) -> Remains:
    """What `broken`, made from `fabric` with `without`, can still do.

    >>> from netlib.topology.domains import nvl72
    >>> rack = nvl72()
    >>> left = what_remains(rack, rack.without(vertices=rack.switches[:1]))  # one of 18 switch chips
    >>> left.hosts, left.pairs, round(left.access * 18, 6), round(left.bisection * 18, 6), left.extra_hops
    (72, 1.0, 17.0, 17.0, 0)
    """
    if not np.array_equal(fabric.hosts, broken.hosts) or fabric.vertices != broken.vertices:
        raise ValueError(
            f"broken has {broken.hosts.size} hosts on {broken.vertices} vertices and fabric has {fabric.hosts.size} on "
            f"{fabric.vertices}; make it with fabric.without(...)"
        )
    if fabric.hosts.size < 2:
        raise ValueError(f"fabric {fabric.name!r} has {fabric.hosts.size} hosts; give one with at least two")
    whole, left = distances(fabric), distances(broken)
    # Hosts that are alike in both: a pair of such classes stands for all pairs of their hosts.
    alike, of = np.unique(np.stack([whole.of, left.of]), axis=1, return_inverse=True)
    size = np.bincount(of.ravel())
    before, after = whole.links[np.ix_(alike[0], alike[0])], left.links[np.ix_(alike[1], alike[1])]
    count = np.outer(size, size) - np.diag(size)  # a host is no pair with itself
    had, has = (before >= 0) & (count > 0), (after >= 0) & (count > 0)
    joined = int(count[had].sum())
    across, cabled = bisection(fabric), fabric.degree[fabric.hosts] > 0
    if not (joined and across.bandwidth):
        raise ValueError(f"fabric {fabric.name!r} has no path between its halves; give a whole one")
    return Remains(
        hosts=1 + int(((has * count).sum(axis=1) // size).max()),
        pairs=float(count[has].sum() / joined),
        bisection=bisection(broken, across.side).bandwidth / across.bandwidth,
        access=float(np.min(_access(broken)[cabled] / _access(fabric)[cabled])),
        extra_hops=int((after - before)[had & has].max(initial=0)),
    )


def _access(fabric: Fabric) -> Floats:
    """(H,) bytes/s that leave each host."""
    leaving = np.zeros(fabric.vertices)
    np.add.at(leaving, fabric.source, fabric.capacity)
    return leaving[fabric.hosts]
