"""Lanes: how a second buffer at every link takes the cycle out of the dependencies.

The rule is always the same: number the buffers so that every packet climbs. A dragonfly lets a packet change its lane
with each global cable; a ring has a dateline, and a packet that crosses it goes on in the other lane; a Clos whose
switches bounce packets gives each bounce a lane. With InfiniBand a lane is a virtual lane, with Ethernet a priority.
Read with the chapter "Congestion control", section "Lossless by credits".
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared
from netlib.congestion.lossless.dependencies import ways_on
from netlib.topology import Fabric

Ints = NDArray[np.int64]


@declared
def lanes_by_global(fabric: Fabric, way: ArrayLike) -> Ints:
    """(S, hops) lane of each link of each way on a dragonfly: how many global cables lie before it.

    A minimal way (local, global, local) needs 2 lanes, Valiant's needs 3 (Kim, Dally, Scott and Abts, ISCA 2008).

    >>> from netlib.links import Link
    >>> from netlib.topology import dragonfly, one_global
    >>> small = dragonfly(1, 2, 1, Link(0, 25e9))
    >>> lanes_by_global(small, one_global(small, [0], [5], np.random.default_rng(0)))[0, -1].item()
    1
    """
    ways = ways_on(fabric, way)
    crossed = (ways >= 0) & fabric.of_kind("global")[ways]
    return np.asarray(np.cumsum(crossed, axis=1) - crossed, np.int64)


@declared
def lanes_by_dateline(fabric: Fabric, way: ArrayLike) -> Ints:
    """(S, hops) lane of each link of each dimension-ordered way on a torus: 1 from the wrap-around cable on, else 0.

    Each dimension starts in lane 0 again, for dimensions come in order (Dally and Seitz 1987; InfiniBand's Torus-2QoS
    does it with service levels). The dateline of a ring lies between its last chip and chip 0.

    >>> from netlib.links import Link
    >>> from netlib.topology import dimension_ordered, torus
    >>> ring = torus([6], Link(1e-6, 45e9))
    >>> lanes_by_dateline(ring, dimension_ordered(ring, [4, 0], [1, 2])).tolist()
    [[0, 1, 1], [0, 0, 0]]
    """
    ways = ways_on(fabric, way)
    names = [name for name in fabric.labels if name.startswith("x")]
    if not names:
        raise ValueError(f"fabric = {fabric.name} has no labels x0, x1 ...; give a torus")
    lane = np.zeros_like(ways)
    for name in names:
        step = fabric.label(name)[fabric.target] - fabric.label(name)[fabric.source]
        along = (ways >= 0) & (step != 0)[ways]
        crossed = np.cumsum(along & (np.abs(step) > 1)[ways], axis=1) > 0
        lane[along & crossed] = 1
    return lane


@declared
def lanes_by_bounce(fabric: Fabric, way: ArrayLike) -> Ints:
    """(S, hops) lane of each link of each way on a Clos: how often it has begun to climb again after a descent.

    k bounces take k + 1 lanes, and a packet that bounces more often has to go where it may be lost: the rule of Tagger
    (Hu and others, CoNEXT 2017), whose switches write the lane into the packet when they send it up again.

    >>> from netlib.links import Link
    >>> from netlib.topology import leaf_spine
    >>> pod = leaf_spine(8, 4, Link(1e-6, 50e9))  # leaves 8 to 11, spines 12 and 13
    >>> way = [0, 16, 25, 26, 23, 5]
    >>> pod.target[way].tolist(), lanes_by_bounce(pod, [way]).tolist()
    ([8, 12, 10, 13, 9, 2], [[0, 0, 0, 1, 1, 1]])
    """
    ways = ways_on(fabric, way)
    rise = np.where(ways >= 0, (fabric.tier[fabric.target] - fabric.tier[fabric.source])[ways], 0)
    if np.any((rise == 0) & (ways >= 0)):
        raise ValueError(f"way goes over a cable of {fabric.name} between switches of one tier; give ways on a Clos")
    again = (rise[:, 1:] > 0) & (rise[:, :-1] < 0)
    lane = np.cumsum(np.pad(again, ((0, 0), (1, 0))), axis=1)
    return np.asarray(np.where(ways >= 0, lane, 0), np.int64)
