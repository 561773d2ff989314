"""Bounces: what a dead cable does to ways that went up and then down.

In a Clos a packet climbs to a switch above both ends and descends. If the cable that it should descend by is dead, the
switch above can send it down to another leaf, which sends it up again: up, down, up, down. The second climb is the
turn that up-and-down ways never take, and with two of them facing each other buffers wait in a cycle.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared
from netlib.congestion.lossless.dependencies import vertex_names, ways_on
from netlib.names import nearest
from netlib.topology import Fabric

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
_TURNS = 8  # bounces after which a packet that its switches send back and forth is given up


@declared
def climbs_once(fabric: Fabric, way: ArrayLike) -> Mask:
    """(S,) whether a way only climbs and then only descends. Such ways make no cycle, whatever their number.

    A cable between two switches of one tier is neither, and a way over one is not among them: rings have such cables.

    >>> from netlib.links import Link
    >>> from netlib.topology import leaf_spine
    >>> pod = leaf_spine(8, 4, Link(1e-6, 50e9))
    >>> climbs_once(pod, [[0, 16, 21, 5], [0, 16, 21, 20]]).tolist()
    [True, False]
    """
    ways = ways_on(fabric, way)
    on = ways >= 0
    rise = np.where(on, (fabric.tier[fabric.target] - fabric.tier[fabric.source])[ways], 0)
    fell = np.cumsum(rise < 0, axis=1) > 0
    return np.asarray(~(on & ((rise == 0) | (fell & (rise > 0)))).any(axis=1))


@declared
def cables_between(fabric: Fabric, one: str, other: str) -> Ints:
    """The numbers of the cables between two vertices, by the names of `vertex_names`: "leaf 2", "spine 0", "host 5".

    Cable c is the links 2 c and 2 c + 1, one for each direction, so that the cable of a link is link // 2.

    >>> from netlib.links import Link
    >>> from netlib.topology import leaf_spine
    >>> pod = leaf_spine(8, 4, Link(1e-6, 50e9))
    >>> cables_between(pod, "leaf 1", "spine 0").tolist()
    [10]
    """
    names = vertex_names(fabric)
    for name, value in (("one", one), ("other", other)):
        if value not in names:
            raise ValueError(f"{name} = {value[:40]!r} is no vertex of {fabric.name}; {nearest(value, names)}")
    a, b = names.index(one), names.index(other)
    found = np.flatnonzero((fabric.source == a) & (fabric.target == b)) // 2
    if not found.size:
        at = sorted({names[each] for each in fabric.target[fabric.leaving(a)]})
        raise ValueError(f"other = {other!r} has no cable to {one}; give one of {', '.join(at[:8])}")
    return np.asarray(found, np.int64)


@declared
def bounced(fabric: Fabric, way: ArrayLike, cables: ArrayLike, rng: Generator, stale: bool = False) -> Ints:
    """Ways on a leaf-spine after `cables` died, repaired where the packet meets the dead cable: (S, hops).

    A leaf whose cable up is dead takes another spine. A spine whose cable down is dead sends the packet down to
    another leaf, which sends it up to another spine if it has a cable there. `stale`: that leaf has not heard of the
    failure and may send it back to the spine that it came from, as happens until routing has converged; a packet is
    given up after eight bounces. Ways that meet no dead cable stay as they are. `rng` draws leaves and spines.

    `cables` are numbers of cables, and `way` holds numbers of links: the cable of a link is link // 2, and
    `cables_between` finds one by the names of its ends.

    >>> from netlib.links import Link
    >>> from netlib.topology import leaf_spine
    >>> pod = leaf_spine(8, 4, Link(1e-6, 50e9))  # leaves 8 to 11, spines 12 and 13
    >>> way = bounced(pod, [[0, 16, 21, 5]], [10], np.random.default_rng(0))
    >>> pod.target[way[0]].tolist()
    [8, 12, 11, 13, 9, 2]

    Your leaf-spine with one dead cable and with two, all pairs, all ways that a hash may choose (`every_way`):

    >>> from netlib.congestion.lossless import buffer_dependencies, in_words, shortest_cycle
    >>> from netlib.congestion.packets import every_way
    >>> from netlib.topology import routes
    >>> way, pair = every_way(routes(pod), *np.nonzero(~np.eye(8, dtype=bool)))
    >>> dead = [*cables_between(pod, "leaf 1", "spine 0"), *cables_between(pod, "leaf 2", "spine 1")]
    >>> for each in (dead[:1], dead):
    ...     made = buffer_dependencies(pod, bounced(pod, way, each, np.random.default_rng(0)))
    ...     print(in_words(made, shortest_cycle(made)))
    no cycle
    leaf 0 > spine 0 > leaf 3 > spine 1 > leaf 0
    """
    ways = ways_on(fabric, way)
    if int(fabric.tier.max(initial=0)) != 2:
        raise ValueError(f"fabric = {fabric.name} has no two tiers of switches; give a leaf_spine")
    number = array("cables", cables)
    if number.dtype.kind in "iu" and number.size and fabric.cables <= number.max() < fabric.links:
        most = number.max()
        raise ValueError(f"cables = {most} is the number of a link; give that of its cable, link // 2 = {most // 2}")
    alive = fabric.surviving(cables=cables)
    dead = (ways >= 0) & ~alive[ways]
    parts = [
        _repaired(fabric, row[row >= 0], alive, rng, stale) if hit else row[row >= 0]
        for row, hit in zip(ways, dead.any(axis=1), strict=True)
    ]
    made = np.full((len(parts), max((len(part) for part in parts), default=0)), -1, np.int64)
    for row, part in zip(made, parts, strict=True):
        row[: len(part)] = part
    return made


def _repaired(fabric: Fabric, way: Ints, alive: Mask, rng: Generator, stale: bool) -> Ints:
    """One way, walked switch by switch with what each switch knows: its own cables."""
    leaf, goal = int(fabric.target[way[0]]), int(fabric.source[way[-1]])
    if not alive[[way[0], way[-1]]].all():
        raise ValueError("cables hold a host's only one; give cables between leaf and spine")
    at, came, done, wanted = leaf, -1, [int(way[0])], int(way[1])
    for _ in range(_TURNS):
        up = _alive(fabric, at, alive, above=True, beside=-1 if stale else came)
        up = up or _alive(fabric, at, alive, above=True, beside=-1)  # its only cable left leads back
        link = wanted if at == leaf and wanted in up else _drawn(up, rng, fabric, at)
        spine = int(fabric.target[link])
        down = _alive(fabric, spine, alive, above=False, beside=at)
        straight = [each for each in down if fabric.target[each] == goal]
        if straight:
            return np.array([*done, link, straight[0], int(way[-1])])
        bounce = _drawn(down, rng, fabric, spine)
        done += [link, bounce]
        at, came, wanted = int(fabric.target[bounce]), spine, -1
    fix = "give fewer dead cables" + ", or stale=False" * stale
    raise ValueError(f"way was bounced {_TURNS} times and did not arrive; {fix}")


def _alive(fabric: Fabric, vertex: int, alive: Mask, above: bool, beside: int) -> list[int]:
    """Cables of a switch that live, lead to switches of the other tier, and not to the vertex `beside`."""
    links = fabric.leaving(vertex)
    far = fabric.target[links]
    fit = alive[links] & (fabric.tier[far] == (2 if above else 1)) & (far != beside)
    return [int(link) for link in links[fit]]


def _drawn(links: list[int], rng: Generator, fabric: Fabric, at: int) -> int:
    if not links:
        raise ValueError(f"cables leave vertex {at} of {fabric.name} no way on; give fewer")
    return links[int(rng.integers(len(links)))]
