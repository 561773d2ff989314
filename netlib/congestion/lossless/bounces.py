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

    Each bounce is one draw, so "no cycle" can be luck: `all_bounces` tries all of them. A way that does not arrive in
    eight bounces raises ValueError.

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
    ways, alive, hit = _after(fabric, way, cables)
    return _stacked(
        [
            _repaired(fabric, row[row >= 0], alive, rng, stale) if met else row[row >= 0]
            for row, met in zip(ways, hit, strict=True)
        ]
    )


@declared
def all_bounces(fabric: Fabric, way: ArrayLike, cables: ArrayLike, stale: bool = False) -> Ints:
    """Ways that take every turn that `bounced` may draw: (W, hops), W at least as many as `way` has.

    Of a way that meets a dead cable come several: for each bounce that a packet may take on it, one that reaches this
    bounce and then the goal over as few links as possible. So "no cycle" of the buffers on these ways is sure, where
    with `bounced` it can be luck. A place from which no bounce leads to the goal raises ValueError.

    >>> from netlib.congestion.lossless import buffer_dependencies, in_words, shortest_cycle
    >>> from netlib.links import Link
    >>> from netlib.topology import leaf_spine
    >>> pod = leaf_spine(8, 4, Link(1e-6, 50e9))
    >>> ways = all_bounces(pod, [[0, 16, 21, 5]], [10])  # down to leaf 2 or 3, up to spine 1
    >>> pod.target[ways].tolist()
    [[8, 12, 10, 13, 9, 2], [8, 12, 11, 13, 9, 2]]
    """
    ways, alive, hit = _after(fabric, way, cables)
    parts: list[Ints] = []
    for row, met in zip(ways, hit, strict=True):
        parts += _tried(fabric, row[row >= 0], alive, stale) if met else [row[row >= 0]]
    return _stacked(parts)


def _after(fabric: Fabric, way: ArrayLike, cables: ArrayLike) -> tuple[Ints, Mask, Mask]:
    """The ways, (L,) which links live after `cables` died, and (S,) which ways meet a dead one."""
    ways = ways_on(fabric, way)
    if int(fabric.tier.max(initial=0)) != 2:
        raise ValueError(f"fabric = {fabric.name} has no two tiers of switches; give a leaf_spine")
    number = array("cables", cables)
    if number.dtype.kind in "iu" and number.size and fabric.cables <= number.max() < fabric.links:
        most = number.max()
        raise ValueError(f"cables = {most} is the number of a link; give that of its cable, link // 2 = {most // 2}")
    alive = fabric.surviving(cables=cables)
    return ways, alive, np.asarray(((ways >= 0) & ~alive[ways]).any(axis=1))


def _stacked(parts: list[Ints]) -> Ints:
    """Ways of any length as rows, filled with -1."""
    made = np.full((len(parts), max((len(part) for part in parts), default=0)), -1, np.int64)
    for row, part in zip(made, parts, strict=True):
        row[: len(part)] = part
    return made


def _repaired(fabric: Fabric, way: Ints, alive: Mask, rng: Generator, stale: bool) -> Ints:
    """One way, walked switch by switch with what each switch knows: its own cables."""
    goal, wanted, done = _goal(fabric, way, alive), int(way[1]), [int(way[0])]
    for _ in range(_TURNS):
        up = _climbs(fabric, done[-1], alive, stale)
        link = wanted if wanted in up else _drawn(up, rng, fabric, int(fabric.target[done[-1]]))
        straight, down = _descents(fabric, link, alive, goal)
        if straight:
            return np.array([*done, link, straight[0], int(way[-1])])
        done += [link, _drawn(down, rng, fabric, int(fabric.target[link]))]
        wanted = -1
    raise ValueError(f"way was bounced {_TURNS} times and did not arrive; {_fewer(stale)}")


def _tried(fabric: Fabric, way: Ints, alive: Mask, stale: bool) -> list[Ints]:
    """For each turn (the link a leaf was reached by, up, down) one way that takes it; a place is its last link."""
    goal, wanted, first = _goal(fabric, way, alive), int(way[1]), int(way[0])
    to: dict[int, list[int]] = {first: [first]}
    rest: dict[int, list[int]] = {}
    turns: list[tuple[int, int, int]] = []
    waiting = [first]
    for last in waiting:  # grows: nearest places first
        up = _some(_climbs(fabric, last, alive, stale), fabric, int(fabric.target[last]))
        for link in [wanted] if last == first and wanted in up else up:
            straight, down = _descents(fabric, link, alive, goal)
            rest |= {each: [int(way[-1])] for each in straight[:1]}
            for end in straight[:1] or _some(down, fabric, int(fabric.target[link])):
                turns.append((last, link, end))
                if not straight and end not in to:
                    to[end] = [*to[last], link, end]
                    waiting.append(end)
    for _ in to:  # the goal is known one more turn away
        near = {last: [link, end, *rest[end]] for last, link, end in turns if end in rest and last not in rest}
        rest |= near
    if not rest.keys() >= to.keys():
        raise ValueError(f"way leads to where no bounce reaches its goal; {_fewer(stale)}")
    each = dict.fromkeys((*to[last], link, end, *rest[end]) for last, link, end in turns)  # once, in order
    return [np.array(one) for one in each]


def _fewer(stale: bool) -> str:
    return "give fewer dead cables" + ", or stale=False" * stale


def _goal(fabric: Fabric, way: Ints, alive: Mask) -> int:
    """The last leaf, where both hosts still have their cable."""
    if not alive[[way[0], way[-1]]].all():
        raise ValueError("cables hold a host's only one; give cables between leaf and spine")
    return int(fabric.source[way[-1]])


def _climbs(fabric: Fabric, last: int, alive: Mask, stale: bool) -> list[int]:
    """The cables up that a leaf may choose for a packet that came by link `last`: not back, unless it must."""
    at, came = int(fabric.target[last]), int(fabric.source[last])
    up = _alive(fabric, at, alive, above=True, beside=-1 if stale else came)
    return up or _alive(fabric, at, alive, above=True, beside=-1)  # its only cable left leads back


def _descents(fabric: Fabric, link: int, alive: Mask, goal: int) -> tuple[list[int], list[int]]:
    """The cables down at the end of `link` that lead straight to the leaf `goal`, and all but the one back."""
    down = _alive(fabric, int(fabric.target[link]), alive, above=False, beside=int(fabric.source[link]))
    return [each for each in down if fabric.target[each] == goal], down


def _alive(fabric: Fabric, vertex: int, alive: Mask, above: bool, beside: int) -> list[int]:
    """Cables of a switch that live, lead to switches of the other tier, and not to the vertex `beside`."""
    links = fabric.leaving(vertex)
    far = fabric.target[links]
    fit = alive[links] & (fabric.tier[far] == (2 if above else 1)) & (far != beside)
    return [int(link) for link in links[fit]]


def _some(links: list[int], fabric: Fabric, at: int) -> list[int]:
    if not links:
        raise ValueError(f"cables leave vertex {at} of {fabric.name} no way on; give fewer")
    return links


def _drawn(links: list[int], rng: Generator, fabric: Fabric, at: int) -> int:
    return _some(links, fabric, at)[int(rng.integers(len(links)))]
