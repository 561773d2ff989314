"""Detours: ways that are not, or not only, a matter of the shortest path.

Valiant routing on a dragonfly goes over a third group, so that no traffic is bad; dimension-ordered routing on a torus
finishes one dimension before the next, so that messages cannot wait for each other in a circle; PXN hands data to
another GPU of the node first, so that it stays on its rail. Read with the chapter "Scale-out", sections "Dragonfly
against Clos" and "Rails, planes, tiers".
"""

from itertools import pairwise

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared
from netlib.topology.fabric import Fabric, Ints
from netlib.topology.flows import ends, ranks
from netlib.topology.ledgers import Policy
from netlib.topology.routing import Routes


@declared
def one_global(fabric: Fabric, src: ArrayLike, dst: ArrayLike, rng: Generator) -> Ints:
    """Minimal routing on a dragonfly: to a router with a cable to the destination's group, over it, and on: (F, hops).

    At most one global link, where `minimal` takes two if that saves a link between switches. Among several cables of a
    pair of groups one is drawn. Needs the label `group` on hosts and switches, and hosts with one cable.

    >>> from netlib.links import Link
    >>> from netlib.topology import dragonfly
    >>> fabric = dragonfly(1, 2, 1, Link(0, 25e9))
    >>> ways = one_global(fabric, [0, 0], [5, 1], np.random.default_rng(0))
    >>> [int(fabric.of_kind("global")[way[way >= 0]].sum()) for way in ways]
    [1, 0]
    """
    source, target = ends(fabric, src, dst)
    group = fabric.label("group")
    return _through(fabric, source, target, [group[source], group[target]], rng)


@declared
def valiant(fabric: Fabric, src: ArrayLike, dst: ArrayLike, rng: Generator) -> Ints:
    """Each flow between groups of a dragonfly goes over a third group, drawn at random: (F, hops).

    The third group is neither the flow's first nor its last; flows inside a group stay there. A way has at most five
    links between switches of a dragonfly where a minimal one has three, and twice the bytes cross global links, but
    evenly whatever the traffic (Kim, Dally, Scott, Abts, ISCA 2008). Needs what `one_global` needs.

    >>> from netlib.links import Link
    >>> from netlib.topology import dragonfly
    >>> fabric = dragonfly(1, 2, 1, Link(0, 25e9))
    >>> ways = valiant(fabric, [0, 0], [5, 1], np.random.default_rng(0))
    >>> [int(fabric.of_kind("global")[way[way >= 0]].sum()) for way in ways]
    [2, 0]
    """
    source, target = ends(fabric, src, dst)
    group = fabric.label("group")
    found = np.unique(group[fabric.hosts])
    if found.size < 3:
        raise ValueError(f"fabric = {fabric.name} has {found.size} groups; a detour needs a third, use one_global")
    first, last = np.searchsorted(found, group[source]), np.searchsorted(found, group[target])
    over = rng.integers(found.size - 2, size=source.size)
    over += over >= np.minimum(first, last)  # skip the two groups of the flow
    over += over >= np.maximum(first, last)
    over = np.where(first == last, first, over)
    return _through(fabric, source, target, [group[source], found[over], group[target]], rng)


def _through(fabric: Fabric, source: Ints, target: Ints, groups: list[Ints], rng: Generator) -> Ints:
    """Ways that visit groups one after the other, over one cable from each to the next."""
    group = fabric.label("group").astype(np.int64)
    wide = int(group.max()) + 1
    long = np.flatnonzero(fabric.of_kind("global"))
    key = group[fabric.source[long]] * wide + group[fabric.target[long]]
    long, key = long[np.argsort(key, kind="stable")], np.sort(key)
    first = fabric.out[1][fabric.out[0][fabric.hosts]]
    up = np.full(fabric.vertices, -1)
    up[fabric.hosts] = first
    steps = [up[source]]
    at = fabric.target[up[source]]
    for here, there in pairwise(groups):
        pair = here.astype(np.int64) * wide + there
        low = np.searchsorted(key, pair)
        many = np.searchsorted(key, pair, side="right") - low
        if np.any((many == 0) & (here != there)):
            i = int(np.argmax((many == 0) & (here != there)))
            raise ValueError(f"fabric = {fabric.name} has no cable from group {here[i]} to {there[i]}; use minimal")
        link = long[np.minimum(low + rng.integers(np.maximum(many, 1)), long.size - 1)]
        goal = np.where(here == there, at, fabric.source[link])
        steps += _inside(fabric, at, goal, rng)
        steps.append(np.where(here == there, -1, link))
        at = np.where(here == there, at, fabric.target[link])
    steps += _inside(fabric, at, fabric.target[up[target]], rng)
    steps.append(up[target] ^ 1)
    ways = np.stack(steps, axis=1)
    ways[source == target] = -1
    return _packed(ways)


def _inside(fabric: Fabric, at: Ints, goal: Ints, rng: Generator) -> list[NDArray[np.int64]]:
    """Two columns of links from switch to switch of a group: the cable between them, or two over a drawn neighbour."""
    local = np.flatnonzero(fabric.of_kind("local"))
    key = fabric.source[local].astype(np.int64) * fabric.vertices + fabric.target[local]
    local, key = np.append(local[np.argsort(key)], -1), np.append(np.sort(key), np.iinfo(np.int64).max)

    def cable(a: Ints, b: Ints) -> NDArray[np.int64]:
        wanted = a.astype(np.int64) * fabric.vertices + b
        place = np.searchsorted(key, wanted)
        return np.where((a != b) & (key[place] == wanted), local[place], -1)

    one = cable(at, goal)
    far = np.flatnonzero((one < 0) & (at != goal))
    two = np.full(at.size, -1)
    if far.size:
        low, high = (np.searchsorted(key, (at[far] + i).astype(np.int64) * fabric.vertices) for i in (0, 1))
        place = low + rng.integers(np.maximum(high - low, 1))
        one[far] = local[place]
        two[far] = np.where(high > low, cable(fabric.target[one[far]], goal[far]), -1)
        if np.any(two[far] < 0):
            i = far[int(np.argmax(two[far] < 0))]
            raise ValueError(f"fabric = {fabric.name} lacks cables between vertices {at[i]} and {goal[i]}; use minimal")
    return [one, two]


@declared
def dimension_ordered(fabric: Fabric, src: ArrayLike, dst: ArrayLike) -> Ints:
    """Ways on a torus or mesh that finish x0, then x1, and so on, the shorter way round each ring: (F, hops).

    Pure arithmetic on the labels x0, x1 ...: no tables. Halfway round an even ring both ways are equally short; such a
    flow takes one of them, up or down by whether the coordinates of its ends (the other end's in this dimension left
    out) sum to an even number, so that uniform traffic is even on sides divisible by 4. Raises ValueError where a link
    is missing: this routing does not go round failures, `routes` does.

    >>> from netlib.links import Link
    >>> from netlib.topology import torus
    >>> ring = torus([4], Link(0, 45e9))
    >>> [len(way[way >= 0]) for way in dimension_ordered(ring, [0, 0, 0], [1, 2, 3])]
    [1, 2, 1]
    """
    source, target = ends(fabric, src, dst)
    names = [f"x{i}" for i in range(len(fabric.labels)) if f"x{i}" in fabric.labels]
    if not names:
        raise ValueError(f"fabric = {fabric.name} has no labels x0, x1 ...; give a torus or mesh")
    where = np.stack([fabric.label(name) for name in names]).astype(np.int64)
    side = where[:, fabric.hosts].max(axis=1) + 1
    to = _neighbours(fabric, where, side)
    wraps = np.array([(to[i, 0, fabric.hosts[where[i, fabric.hosts] == 0]] >= 0).any() for i in range(len(names))])
    own, other = where[:, source], where[:, target]
    ways, at = [], source.copy()
    for i in range(len(names)):
        delta = other[i] - own[i]
        ahead = delta % side[i] if wraps[i] else np.where(delta > 0, delta, 0)
        back = -delta % side[i] if wraps[i] else np.where(delta < 0, -delta, 0)
        even = (own.sum(axis=0) + other.sum(axis=0) - other[i]) % 2 == 0
        up = (ahead < back) | ((ahead == back) & even) if wraps[i] else delta > 0
        left = np.where(up, ahead, back)
        for _ in range(int(left.max(initial=0))):
            going = left > 0
            link = np.where(going, to[i, up.astype(int), at], -1)
            if np.any(link[going] < 0):
                v = int(at[going & (link < 0)][0])
                raise ValueError(f"fabric = {fabric.name} lacks the link on from vertex {v}; route round it by routes")
            ways.append(link)
            at = np.where(going, fabric.target[link], at)
            left = left - going
    return _packed(np.stack(ways, axis=1)) if ways else np.zeros((source.size, 0), np.int32)


@declared
def pxn(routes: Routes, src: ArrayLike, dst: ArrayLike, policy: Policy) -> Ints:
    """Ways from GPU to GPU where a node hands data to its GPU on the destination's rail before it leaves: (F, hops).

    Source GPU, NVSwitch, GPU of the same node on the destination's rail, and from there by `policy`; a path holds both
    parts. Flows that stay on their rail or in their node go by `policy` alone. Without this, a flow between rails of a
    rail-optimised fabric climbs to a spine, and on a rail-only fabric it has no way at all. NCCL calls it PXN (2.12).
    Needs the labels `rail` and `node` on hosts and links of kind nvlink.

    >>> from functools import partial
    >>> from netlib.links import Link
    >>> from netlib.topology import minimal, routes
    >>> from netlib.topology.rails import rail_optimised
    >>> fabric = rail_optimised(4, 2, 8, Link(0, 50e9), inside=Link(0, 450e9))
    >>> way = pxn(routes(fabric), [0], [7], partial(minimal, rng=np.random.default_rng(0)))
    >>> [int(v) for v in fabric.target[way[0]] if v < 8]
    [1, 7]
    """
    fabric = routes.fabric
    source, target = ranks(fabric, src, dst)
    if not fabric.of_kind("nvlink").any():
        raise ValueError(
            f"routes = {fabric.name} has no nvlink inside its nodes; build the fabric with inside=Link(...)"
        )
    node, rail = fabric.label("node")[fabric.hosts], fabric.label("rail")[fabric.hosts]
    wide = int(rail.max()) + 1
    host = np.full((int(node.max()) + 1) * wide, -1)
    host[node * wide + rail] = np.arange(node.size)
    away = (node[source] != node[target]) & (rail[source] != rail[target])
    relay = np.where(away, host[node[source] * wide + rail[target]], source)
    if np.any(relay < 0):
        i = int(np.argmax(relay < 0))
        raise ValueError(f"src = {source[i]} has no GPU on rail {rail[target[i]]} in its node; give whole nodes")
    inside = policy(routes, source, relay)
    outside = policy(routes, relay, target)
    return joined(inside, outside)


def joined(first: Ints, second: Ints) -> Ints:
    """Two parts of ways, one after the other, in rows without gaps.

    >>> joined(np.array([[4, -1]]), np.array([[5, 6]])).tolist()
    [[4, 5, 6]]
    """
    return _packed(np.concatenate([first, second], axis=1))


def _packed(ways: NDArray[np.integer]) -> Ints:
    """Ways without gaps: the -1 moved behind, and no wider than the longest."""
    order = np.argsort(ways < 0, axis=1, kind="stable")
    width = int(np.count_nonzero(ways >= 0, axis=1).max(initial=0))
    return np.take_along_axis(ways, order[:, :width], axis=1).astype(np.int32)


def _neighbours(fabric: Fabric, where: NDArray[np.int64], side: NDArray[np.int64]) -> Ints:
    """(dimension, down or up, V) the link of each vertex to the next one along each axis; -1 where there is none."""
    to = np.full((len(side), 2, fabric.vertices), -1, np.int32)
    step = where[:, fabric.target] - where[:, fabric.source]
    for i, n in enumerate(side):
        along = np.flatnonzero((step[i] != 0) & (np.count_nonzero(step, axis=0) == 1))
        up = (step[i, along] % n) == 1
        down = (-step[i, along] % n) == 1
        to[i, 1, fabric.source[along[up]]] = along[up]
        to[i, 0, fabric.source[along[down]]] = along[down]
    return to
