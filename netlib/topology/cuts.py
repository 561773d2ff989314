"""Cuts and paths: how much crosses from one half of the hosts to the other, and how many ways lead from host to host.

A maximum flow equals the narrowest cut (Ford and Fulkerson 1956), so one computation gives both the bandwidth and the
links that limit it. Bandwidths are bytes/s one way. Read with the chapter "Scale-out", section "Who needs the
bisection".
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared
from netlib.topology.fabric import Fabric, Ints, Mask
from netlib.topology.hops import by_leaf, distances_to, passes


@dataclass(frozen=True, eq=False)
class Cut:
    """What separates two halves of the hosts: the narrowest set of links whose loss leaves no way across.

    bandwidth   bytes/s that all hosts of the first half can send to the second at once
    links       numbers of the directed links of the cut (of several equally narrow cuts, the one nearest the first
                half); with equal links, len(links) times the bandwidth of one is the bandwidth
    side        (H,) whether a host is in the first half
    """

    bandwidth: float
    links: Ints
    side: Mask


@declared
def worst_half(fabric: Fabric) -> Mask:
    """(H,) the half of the hosts that a fabric is known to join worst to the rest.

    A torus or mesh is cut across its longest side, a fabric with groups between whole groups. Any other is cut after
    the first half of its hosts, counted leaf by leaf or, if less crosses then, by rank. The two differ where ranks jump
    from leaf to leaf: on rails half of the nodes meet the other half on every leaf, and no byte needs a spine.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> worst_half(torus([2, 4], Link(0, 45e9))).astype(int).tolist()
    [1, 1, 0, 0, 1, 1, 0, 0]
    """
    halves = _halves(fabric)
    return halves[0] if len(halves) == 1 else bisection(fabric).side


@declared
def bisection(fabric: Fabric, side: ArrayLike | None = None) -> Cut:
    """Bytes/s, one way, from one half of the hosts to the other when all send at once: a maximum flow.

    `side`: (H,) which hosts are in the first half; default `worst_half`. Hosts themselves are no limit, their links
    are. The flow (scipy, whole numbers) counts capacities in units of their greatest common divisor; where that would
    pass 2^30 in all, in units of 2^-30 of their sum, rounded to the nearest. The bandwidth is then summed over the cut
    that was found, so rounding could at most pick a cut wider by its links times half a unit.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> cut = bisection(torus([16, 16, 16], Link(0, 45e9)))
    >>> cut.links.size, cut.bandwidth  # 2 x 16 x 16 links
    (512, 23040000000000.0)
    """
    if side is None:
        return min((bisection(fabric, half) for half in _halves(fabric)), key=lambda cut: cut.bandwidth)
    half = array("side", side)
    if half.shape != fabric.hosts.shape or half.dtype.kind != "b":
        raise ValueError(
            f"side has shape {half.shape} and type {half.dtype}; give True or False for each of the "
            f"{fabric.hosts.size} hosts"
        )
    if half.all() or not half.any():
        raise ValueError(f"side = {bool(half.any())} for every host leaves the other half empty; split the hosts")
    # Flow from or to any host is free, so all hosts of a half are one place: 0 and 1. Flow through them adds nothing.
    place = np.full(fabric.vertices, -1)
    place[fabric.hosts] = np.where(half, 0, 1)
    inner = np.flatnonzero(place < 0)
    place[inner] = 2 + np.arange(inner.size)
    use = place[fabric.source] != place[fabric.target]
    a, b = place[fabric.source[use]], place[fabric.target[use]]
    _, near = _flow(a, b, _units(fabric.capacity[use]), 2 + inner.size)
    crossing = near[place[fabric.source]] & ~near[place[fabric.target]]
    cut = np.flatnonzero(crossing).astype(np.int32)
    return Cut(float(fabric.capacity[cut].sum()), cut, half)


@declared
def path_count(fabric: Fabric, a: int, b: int) -> int:
    """How many shortest paths lead from the host of rank `a` to that of rank `b`; parallel cables count each.

    >>> from netlib.topology.domains import hgx_h100
    >>> path_count(hgx_h100(), 0, 7)  # 5 x 5 + 5 x 5 + 4 x 4 + 4 x 4
    82
    """
    start, goal = _pair(fabric, a, b)
    far = distances_to(fabric, [goal])[0]
    ways = np.zeros(fabric.vertices, object)  # Python's integers: a torus passes 2^63
    ways[start] = 1
    enters = passes(fabric)
    enters[goal] = True
    use = np.flatnonzero((far[fabric.target] >= 0) & (far[fabric.source] == far[fabric.target] + 1))
    use = use[enters[fabric.target[use]] & (far[fabric.source[use]] <= far[start])]
    use = use[np.argsort(-far[fabric.source[use]], kind="stable")]  # from the start's level down to the goal's
    for step in np.split(use, np.flatnonzero(np.diff(far[fabric.source[use]])) + 1):
        step = step[ways[fabric.source[step]] > 0]
        np.add.at(ways, fabric.target[step], ways[fabric.source[step]])
    return int(ways[goal])


@declared
def disjoint_paths(fabric: Fabric, a: int, b: int) -> int:
    """How many paths from host to host share no link: one more than the failed cables that they survive for sure.

    >>> from netlib.links import Link
    >>> from netlib.topology.direct import torus
    >>> disjoint_paths(torus([4, 4, 4], Link(0, 45e9)), 0, 1)
    6
    """
    start, goal = _pair(fabric, a, b)
    inside = passes(fabric)
    inside[[start, goal]] = True
    use = inside[fabric.source] & inside[fabric.target]
    place = np.arange(fabric.vertices)
    place[[0, start]] = place[[start, 0]]  # _flow runs from 0 to 1
    at = int(np.flatnonzero(place == 1)[0])
    place[[at, goal]] = place[[goal, at]]
    source, target = place[fabric.source[use]], place[fabric.target[use]]
    return _flow(source, target, np.ones(source.size, np.int32), fabric.vertices)[0]


def _halves(fabric: Fabric) -> list[Mask]:
    """Halves of the hosts, one of which `worst_half` takes: the first of those across which least flows."""
    axes = [fabric.labels[name][fabric.hosts] for name in fabric.labels if name[0] == "x" and name[1:].isdigit()]
    if axes:
        sides = [int(axis.max()) + 1 for axis in axes]
        longest = int(np.argmax(sides))
        return [axes[longest] < sides[longest] // 2]
    if "group" in fabric.labels:
        group = fabric.label("group")[fabric.hosts]
        if group.max() > 0:
            return [group < (group.max() + 1) // 2]
    hosts = fabric.hosts.size
    ranked = np.arange(hosts) < hosts // 2
    leafwise = np.isin(np.arange(hosts), by_leaf(fabric)[: hosts // 2])
    return [leafwise] if np.array_equal(leafwise, ranked) else [leafwise, ranked]


def _flow(source: NDArray[Any], target: NDArray[Any], units: Ints, places: int) -> tuple[int, Mask]:
    """The maximum flow from place 0 to place 1, and the places on the near side of its narrowest cut."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, maximum_flow

    room = csr_array((units, (source, target)), (places, places))  # parallel links add up
    result = maximum_flow(room, 0, 1)
    left = csr_array(room - result.flow)
    left.eliminate_zeros()
    near = np.zeros(places, bool)
    near[breadth_first_order(left, 0, return_predecessors=False)] = True
    return int(result.flow_value), near


def _units(capacity: NDArray[np.float64]) -> Ints:
    """Capacities as whole numbers that scipy's flow can add up; see `bisection` for the rule."""
    if not capacity.size:
        return np.zeros(0, np.int32)
    whole = np.rint(capacity)
    unit = float(np.gcd.reduce(whole.astype(np.int64))) if np.array_equal(whole, capacity) else 0.0
    units: Ints = np.rint(capacity / max(unit, capacity.sum() / 2**30)).astype(np.int32)
    return units


def _pair(fabric: Fabric, a: int, b: int) -> tuple[int, int]:
    for name, rank in (("a", a), ("b", b)):
        if not 0 <= rank < fabric.hosts.size:
            raise ValueError(f"{name} = {rank} is not the rank of a host; give 0 to {fabric.hosts.size - 1}")
    if a == b:
        raise ValueError(f"a = {a} and b = {b} are the same host; give two")
    return int(fabric.hosts[a]), int(fabric.hosts[b])
