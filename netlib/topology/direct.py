"""Direct networks: switches or chips wired to one another instead of up to a spine.

Dragonfly (Kim, Dally, Scott, Abts, ISCA 2008): groups of routers, all pairs of groups joined by long cables.
Dragonfly+ (Shpiner and others, HiPINEB 2017): a group is a small leaf-spine; spines hold the long cables. Torus: every
chip is its own router. Read with the chapter "Scale-out", section "Dragonfly against Clos".
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared, quoted
from netlib.links import Link
from netlib.topology.fabric import Cables, Fabric, affordable, build, whole

_Ends = NDArray[np.int64]


@declared
def dragonfly(
    p: int,
    a: int,
    h: int,
    link: Link,
    groups: int | None = None,
    local: Link | None = None,
    long: Link | None = None,
) -> Fabric:
    """A dragonfly: each of the `a` routers of a group has `p` hosts, all routers of its group, and `h` long cables.

    groups = a h + 1 (the most there can be), hosts = a p groups, ports of a router = p + (a - 1) + h. `link` serves
    hosts, `local` the cables inside a group, `long` those between groups (default: as `link`). With the most groups
    one cable joins each pair: group i counts the others from itself, and group i + 1 + k is on router k // h (the
    relative order; "palm tree" is its mirror image). With fewer groups each pair gets floor(a h / (groups - 1))
    cables, dealt in that order again and again over all routers evenly; ports that are left stay empty. Hosts come
    first, router by router; label `group`.

    >>> small = dragonfly(p=2, a=4, h=2, link=Link(1e-6, 25e9))
    >>> small.hosts.size, small.switches.size, int(small.label("group").max()) + 1
    (72, 36, 9)
    >>> dragonfly(p=16, a=32, h=17, link=Link(1e-6, 25e9)).hosts.size  # the largest Slingshot: 545 groups
    279040
    """
    p, a, h = whole("p", p), whole("a", a), whole("h", h, 0)
    groups = _groups(groups, a * h + 1, f"a h + 1 = {a * h + 1}")
    affordable(groups * a * (2 * p + a + h) // 2, p=p, a=a, h=h, groups=groups)
    routers, hosts = groups * a, groups * a * p
    i, j = np.triu_indices(a, 1)
    first = hosts + np.arange(groups)[:, None] * a  # first router of each group
    here, there = _between_groups(groups, a, h)
    group = np.arange(routers) // a
    return build(
        f"dragonfly p={p} a={a} h={h}, {groups} groups",
        hosts + routers,
        hosts=np.arange(hosts),
        tier=np.repeat([0, 1], [hosts, routers]),
        cables=[
            Cables(np.arange(hosts), hosts + np.arange(hosts) // p, link, "access"),
            Cables((first + i).ravel(), (first + j).ravel(), local or link, "local"),
            Cables(hosts + here, hosts + there, long or link, "global"),
        ],
        labels={"group": np.concatenate([np.repeat(group, p), group])},
    )


@declared
def dragonfly_plus(radix: int, link: Link, groups: int | None = None) -> Fabric:
    """A dragonfly+ of switches with `radix` ports: radix/2 leaves and radix/2 spines in a group, all pairs joined.

    A leaf has radix/2 hosts, a spine radix/2 long cables, so (radix/2)^2 + 1 groups of (radix/2)^2 hosts; one cable
    joins each pair of groups. With fewer groups the long cables are dealt as in `dragonfly`. Hosts, then leaves (tier
    1), then spines (tier 2); label `group`.

    >>> [dragonfly_plus(radix, Link(1e-6, 25e9)).hosts.size for radix in (4, 8)]
    [20, 272]
    """
    radix = whole("radix", radix, 2)
    if radix % 2:
        raise ValueError(f"radix = {radix} must be even: half of the ports face down, half up")
    half = radix // 2
    groups = _groups(groups, half**2 + 1, f"(radix/2)^2 + 1 = {half**2 + 1}")
    affordable(groups * half**2 * 3, radix=radix, groups=groups)
    leaves, hosts = groups * half, groups * half**2
    group = np.arange(leaves) // half
    leaf = hosts + np.arange(leaves)
    spine = hosts + leaves + np.arange(leaves).reshape(groups, 1, half)
    here, there = _between_groups(groups, half, half)
    return build(
        f"dragonfly+ radix {radix}, {groups} groups",
        hosts + 2 * leaves,
        hosts=np.arange(hosts),
        tier=np.repeat([0, 1, 2], [hosts, leaves, leaves]),
        cables=[
            Cables(np.arange(hosts), hosts + np.arange(hosts) // half, link, "access"),
            Cables(np.repeat(leaf, half), np.repeat(spine, half, axis=1).ravel(), link, "local"),
            Cables(hosts + leaves + here, hosts + leaves + there, link, "global"),
        ],
        labels={"group": np.concatenate([np.repeat(group, half), group, group])},
    )


@declared
def torus(sides: ArrayLike, link: Link, wrap: ArrayLike = True) -> Fabric:
    """A torus of chips, sides d_0 x d_1 x ...: each chip has a neighbour on both sides along every axis and forwards.

    A side of 1 has no cable and a side of 2 has one (there and back is the same neighbour). With wrap=False an axis is
    open, a mesh; `wrap` may hold one answer for each axis. Chips count with the last axis fastest; labels x0, x1 ...

    >>> ring = torus([4], Link(1e-6, 45e9))
    >>> ring.cables, torus([4], Link(1e-6, 45e9), wrap=False).cables
    (4, 3)
    >>> torus([16, 16, 16], Link(1e-6, 45e9)).cables
    12288
    """
    shape = tuple(whole("sides", side) for side in np.atleast_1d(array("sides", sides)).tolist())
    if len(shape) > 32:
        raise ValueError(f"sides has {len(shape)} axes; give 32 at most")
    if not shape:
        raise ValueError("sides has no side; give the chips along each axis, such as (4, 4, 4)")
    open_ = array("wrap", wrap)
    if open_.dtype.kind != "b" or open_.ndim > 1:
        raise ValueError(f"wrap = {quoted(wrap)} must be True or False, or a list of them, one for each side")
    closed = open_.tolist() if open_.ndim else [bool(wrap)] * len(shape)
    if len(closed) != len(shape):
        raise ValueError(f"wrap has {len(closed)} answers for {len(shape)} sides; give one, or one for each")
    chips = math.prod(shape)
    affordable(chips * len(shape), sides=sides)
    number = np.arange(chips).reshape(shape)
    cables = []
    for axis, (side, round_) in enumerate(zip(shape, closed, strict=True)):
        ends = number if round_ and side > 2 else np.take(number, range(side - 1), axis)
        cables.append(Cables(ends.ravel(), np.roll(number, -1, axis).ravel()[ends.ravel()], link, "ici"))
    return build(
        ("torus " if any(closed) else "mesh ") + "x".join(map(str, shape)),
        chips,
        hosts=np.arange(chips),
        tier=np.zeros(chips),
        cables=cables,
        labels={f"x{axis}": at.ravel() for axis, at in enumerate(np.indices(shape))},
        forwards=np.ones(chips),
    )


def _between_groups(groups: int, routers: int, ports: int) -> tuple[_Ends, _Ends]:
    """Both ends of the long cables, as places of routers counted over all groups."""
    if groups == 1:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    each = routers * ports // (groups - 1)  # cables of a pair of groups
    used = each * (groups - 1)  # ports of a group that are cabled
    one, turn = np.divmod(np.arange(groups * (groups - 1)), groups - 1)
    two = (one + turn + 1) % groups
    once = one < two  # each pair has been listed from both sides
    one, two, turn = one[once], two[once], turn[once]
    again = np.arange(each)[:, None] * (groups - 1)
    here = one * routers + (again + turn) * routers // used
    there = two * routers + (again + groups - 2 - turn) * routers // used
    return here.ravel(), there.ravel()


def _groups(groups: int | None, most: int, formula: str) -> int:
    if groups is None:
        return most
    if whole("groups", groups) > most:
        raise ValueError(f"groups = {groups} is more than {formula}, one long cable for each pair; give at most {most}")
    return groups
