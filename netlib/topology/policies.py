"""Policies: which of the shortest paths a flow takes.

All of them choose among the same links, those of `routes`; they differ in what they look at. ECMP looks at the head of
the packet, adaptive routing at the queues, D-mod-k at the destination alone. Read with the chapter "Scale-out", section
"Where the bytes go".
"""

from functools import partial

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared
from netlib.topology.fabric import Ints
from netlib.topology.flows import Places, ends, ranks, sizes
from netlib.topology.hashing import Words, five_tuple_hash, mix, pick, source_port
from netlib.topology.hops import by_leaf
from netlib.topology.routing import Choose, Hop, Routes, follow, paths

MOST_WAYS = 1 << 27
"""Ways that are held at once: 134 million, 3 GB and more."""


@declared
def ecmp(routes: Routes, src: ArrayLike, dst: ArrayLike, qps: int = 1, seed: int = 0, polarised: bool = False) -> Ints:
    """Each queue pair takes the way that the hash of its five-tuple says: (F qps, hops), the qps of a flow in a row.

    `qps` queue pairs share the bytes of a flow evenly; each has a UDP source port of its own. Every switch salts the
    hash, `seed` draws salts and queue pair numbers; the way of a pair does not depend on the other flows. `polarised`:
    all switches use the same bare hash, so that a switch sees only flows that chose alike before it, and chooses alike
    again: most of its links stay empty.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, routes
    >>> ecmp(routes(one_switch(3, Link(1e-6, 50e9))), [0, 1], [1, 2], qps=2).tolist()
    [[0, 3], [0, 3], [2, 5], [2, 5]]
    """
    if not 0 <= seed < (1 << 32) - 1:
        raise ValueError(f"seed = {seed} must be a whole number; give 0 to {(1 << 32) - 2}")
    source, target, queue = _queues(routes, src, dst, qps)
    return paths(routes, source, target, _by_hash(routes, _tuples(source, target, queue, seed), seed, polarised))


@declared
def flowlets(routes: Routes, src: ArrayLike, dst: ArrayLike, n: int, rng: Generator) -> tuple[Ints, Floats]:
    """Each flow is cut into n bursts that are hashed anew: ways (F n, hops) and each burst's share of its flow (F n,).

    The cuts lie at random places of the flow, as gaps in its traffic do. A burst follows the one before it, where the
    queue pairs of `ecmp` run side by side; the bytes on the links differ only in that bursts are unequal.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, routes
    >>> ways, share = flowlets(routes(one_switch(3, Link(1e-6, 50e9))), [0, 1], [1, 2], 4, np.random.default_rng(0))
    >>> ways.shape, round(float(share.sum()), 9)
    ((8, 2), 2.0)
    """
    source, target, _ = _queues(routes, src, dst, n, "n")
    cuts = np.sort(rng.random((source.size // n, n - 1)), axis=1)
    share = np.diff(cuts, axis=1, prepend=0, append=1) if n > 1 else np.ones((source.size, 1))
    word = rng.integers(1 << 32, size=source.size, dtype=np.uint32)
    return paths(routes, source, target, _by_hash(routes, word, 0, False)), share.ravel()


@declared
def minimal(routes: Routes, src: ArrayLike, dst: ArrayLike, rng: Generator) -> Ints:
    """Each flow takes one of its shortest paths, drawn evenly hop by hop: (F, hops). Minimal routing on a dragonfly.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, routes
    >>> minimal(routes(one_switch(3, Link(1e-6, 50e9))), [0], [1], np.random.default_rng(0)).tolist()
    [[0, 3]]
    """
    return paths(routes, src, dst, at_random(rng))


@declared
def at_random(rng: Generator) -> Choose:
    """A `choose` for `paths`: every candidate is as likely as another.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, paths, routes
    >>> paths(routes(one_switch(3, Link(1e-6, 50e9))), [0], [1], at_random(np.random.default_rng(0))).tolist()
    [[0, 3]]
    """
    return lambda hop: rng.integers(hop.count)


@declared
def d_mod_k(routes: Routes, src: ArrayLike, dst: ArrayLike) -> Ints:
    """The way up a Clos is read off the destination's number, counted leaf by leaf: (F, hops).

    A switch of tier t with w_t links up takes number (dst / (w_1 ... w_(t-1))) mod w_t of them, so the destinations
    below one leaf use different links, and a shift (number i sends to i + s) meets no contention on a non-blocking Clos
    (Zahavi 2012, "Fat-tree routing and node ordering providing contention free traffic for MPI global collectives").
    InfiniBand's fat-tree routing works this way. Fixed: it knows neither loads nor flows.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, routes
    >>> d_mod_k(routes(one_switch(3, Link(1e-6, 50e9))), [0], [1]).tolist()
    [[0, 3]]
    """
    fabric = routes.fabric
    tier = fabric.tier
    up = tier[fabric.target] > tier[fabric.source]
    most = np.ones(int(tier.max()) + 1, np.int64)
    np.maximum.at(most, tier, np.bincount(fabric.source[up], minlength=fabric.vertices))
    step = np.concatenate([[1], np.cumprod(most)])
    number = np.empty(fabric.vertices, np.int64)
    number[fabric.hosts[by_leaf(fabric)]] = np.arange(fabric.hosts.size)
    source, target = ends(fabric, src, dst)
    goal = number[target]

    def choose(hop: Hop) -> NDArray[np.int64]:
        low = np.minimum(tier[hop.vertex], tier[fabric.target[hop.link(np.zeros_like(hop.count))]])
        return np.asarray(goal[hop.flow] // step[low] % hop.count)

    return follow(routes, source, target, choose)


@declared
def adaptive(
    routes: Routes, src: ArrayLike, dst: ArrayLike, rng: Generator, size: ArrayLike = 1.0, block: int = 256
) -> Ints:
    """Each flow takes, at each hop, the link with the least work so far (bytes / capacity): (F, hops).

    Flows come in random order, `block` at a time; those of a block see the loads that earlier blocks left, and share
    the links before them in turn, least loaded first. block=1 is perfect knowledge, one flow at a time (slow); a large
    block is old news. A switch sees its own links and nothing beyond, as in hardware.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch, routes
    >>> adaptive(routes(one_switch(3, Link(1e-6, 50e9))), [0], [1], np.random.default_rng(0)).tolist()
    [[0, 3]]
    """
    fabric = routes.fabric
    source, target = ends(fabric, src, dst)
    weight = sizes(size, source.size)
    if block < 1:
        raise ValueError(f"block = {block} must be a whole number above 0; give how many flows are placed at a time")
    work = np.zeros(fabric.links)  # changed in place: `choose` sees what earlier blocks left
    choose = partial(_least_loaded, work=work, rng=rng)
    order = rng.permutation(source.size)
    parts = [np.zeros((0, 0), np.int32)]
    for some in np.split(order, range(block, order.size, block)):
        found = follow(routes, source[some], target[some], choose)
        used = found >= 0
        load = np.broadcast_to(weight[some, None], found.shape)[used]
        work += np.bincount(found[used], load, fabric.links) / fabric.capacity
        parts.append(found)
    ways = np.full((source.size, max(each.shape[1] for each in parts)), -1, np.int32)
    begin = 0
    for each in parts:
        ways[order[begin : begin + len(each)], : each.shape[1]] = each
        begin += len(each)
    return ways


def _least_loaded(hop: Hop, work: Floats, rng: Generator) -> NDArray[np.int64]:
    """Flows before the same links take them in turn, least loaded first, ties drawn."""
    first = hop.link(np.zeros_like(hop.count)).astype(np.int64)
    _, one, which = np.unique(first * (int(hop.group.max()) + 1) + hop.group, return_index=True, return_inverse=True)
    load = np.full((one.size, int(hop.count.max())), np.inf)
    everyone = np.zeros_like(hop.count)
    for k in range(load.shape[1]):
        links = hop.link(np.minimum(everyone + k, hop.count - 1))[one]
        load[:, k] = np.where(hop.count[one] > k, work[links], np.inf)
    turn = np.lexsort(np.stack([rng.random(load.shape), load]), axis=1)
    order = np.argsort(which, kind="stable")
    begin = np.searchsorted(which[order], np.arange(one.size))
    place = np.empty(which.size, np.int64)
    place[order] = np.arange(which.size) - begin[which[order]]
    return turn[which, place % hop.count].astype(np.int64)


def _queues(routes: Routes, src: ArrayLike, dst: ArrayLike, qps: int, name: str = "qps") -> tuple[Places, Places, Ints]:
    if qps < 1:
        raise ValueError(f"{name} = {qps} must be a whole number above 0; give how many parts a flow has")
    source, target = ranks(routes.fabric, src, dst)
    if source.size * qps > MOST_WAYS:
        raise ValueError(
            f"{name} = {qps} of {source.size} flows are more than {MOST_WAYS:,} ways; give less, or use spray"
        )
    if qps == 1:
        return source, target, np.zeros(1, np.int32)
    return np.repeat(source, qps), np.repeat(target, qps), np.tile(np.arange(qps, dtype=np.int32), source.size)


def _tuples(src: Places, dst: Places, queue: Ints, seed: int) -> Words:
    """The hash of each queue pair's five-tuple; the pair's numbers are drawn from its ends and `seed`."""
    near = mix(mix(src, seed), mix(queue, 0x9E3779B9))
    far = mix(mix(dst, seed + 1), near)
    low = np.uint32(0xFFFFFF)
    return five_tuple_hash(src, dst, source_port(mix(near, mix(dst)) & low, far & low))


def _by_hash(routes: Routes, word: Words, seed: int, polarised: bool) -> Choose:
    if polarised:
        return lambda hop: word[hop.flow] % hop.count
    salt = mix(np.arange(routes.fabric.vertices), mix(seed, 0x5F3759DF))
    return lambda hop: pick(mix(word[hop.flow], salt[hop.vertex]), hop.count)
