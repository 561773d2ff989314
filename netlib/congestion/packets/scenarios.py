"""Scenarios: incast, permutation, all-to-all, a victim beside an incast, and one flow over a bad cable, on any fabric.

Each returns a Traffic; `netlib.congestion.packets.traffic.incast` is the smallest of them, without a fabric.
Read with the chapter "Congestion control", section "Spraying".
"""

from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from netlib.arguments import array, declared, floats, one_of
from netlib.congestion.packets.traffic import MOST_SENDERS, Ints, Packet, Traffic, alike, over, traffic
from netlib.links import Link
from netlib.topology import Cables, Fabric, Routes, build, ecmp, routes
from netlib.topology.flows import ends
from netlib.topology.routing import Hop, follow

Paths = Literal["ecmp", "spray"]


@declared
def flows_between(
    fabric: Fabric, src: ArrayLike, dst: ArrayLike, size: ArrayLike, packet: Packet,
    paths: Paths = "ecmp", seed: int = 0, start: ArrayLike = 0.0, lane: ArrayLike = 0,
) -> Traffic:  # fmt: skip
    """Flows from ranks `src` to ranks `dst`: each hashed to one shortest way ("ecmp"), or free to use all ("spray").

    >>> from netlib.topology import leaf_spine
    >>> made = flows_between(leaf_spine(8, 4, Link(1e-6, 50e9)), [0, 1], [2, 3], 1e6, Packet(1000, 1038), "spray")
    >>> made.flows, made.flow.tolist()
    (2, [0, 0, 1, 1])
    """
    one_of("paths", paths, ("ecmp", "spray"))
    found = routes(fabric)
    source, target = array("src", src), array("dst", dst)
    if paths == "ecmp":
        return over(fabric, ecmp(found, source, target, seed=seed), size, packet, start, lane=lane)
    way, flow = every_way(found, source, target)
    return over(fabric, way, size, packet, start, flow, lane)


@declared
def every_way(routes: Routes, src: ArrayLike, dst: ArrayLike) -> tuple[Ints, Ints]:
    """All shortest ways between pairs of ranks: (S, hops) links, and (S,) the pair that each serves.

    >>> from netlib.topology import leaf_spine, routes
    >>> way, flow = every_way(routes(leaf_spine(8, 4, Link(1e-6, 50e9))), [0], [3])
    >>> way.shape, flow.tolist()
    ((2, 4), [0, 0])
    """
    source, target = ends(routes.fabric, src, dst)
    ways, whose = [], []
    waiting = [(np.arange(source.size), np.zeros((source.size, 0), np.int64))]
    while waiting:  # branch by branch: choices made before are repeated, then the first new one takes each value
        some, made = waiting.pop()
        branch = _Branch(made)
        links = follow(routes, source[some], target[some], branch.choose)
        done = branch.count == 0
        ways.append(links[done])
        whose.append(some[done])
        for value in range(int(branch.count.max(initial=0))):
            on = branch.count > value
            waiting.append((some[on], np.column_stack([made[on], np.full(np.count_nonzero(on), value)])))
    width = max(each.shape[1] for each in ways)
    wide = np.concatenate([np.pad(each, ((0, 0), (0, width - each.shape[1])), constant_values=-1) for each in ways])
    flow = np.concatenate(whose)
    order = np.lexsort((*wide.T[::-1], flow))
    return wide[order].astype(np.int64), flow[order].astype(np.int64)


class _Branch:
    """Choices `made` (n, depth) at the first switches; `count` (n,) is what the next one has to choose among."""

    def __init__(self, made: Ints) -> None:
        self.made, self._turn, self.count = made, np.zeros(len(made), np.int64), np.zeros(len(made), np.int64)

    def choose(self, hop: Hop) -> Ints:
        turn = self._turn[hop.flow]
        self._turn[hop.flow] += 1
        depth = self.made.shape[1]
        new = turn == depth
        self.count[hop.flow[new]] = hop.count[new]
        taken = np.zeros(len(turn), np.int64)
        known = turn < depth
        taken[known] = self.made[hop.flow[known], turn[known]]
        return taken


@declared
def permutation(
    fabric: Fabric, size: ArrayLike, packet: Packet, rng: Generator, paths: Paths = "ecmp", seed: int = 0
) -> Traffic:
    """Each host sends `size` bytes to one other host and hears from one other: one random cycle through all hosts.

    >>> from netlib.topology import leaf_spine
    >>> made = permutation(leaf_spine(8, 4, Link(1e-6, 50e9)), 1e6, Packet(1000, 1038), np.random.default_rng(0))
    >>> made.flows, len(set(made.sender.tolist())), len(set(made.receiver.tolist()))
    (8, 8, 8)
    """
    hosts = fabric.hosts.size
    if hosts < 2:
        raise ValueError(f"fabric has {hosts} hosts; give one with at least 2")
    order = rng.permutation(hosts)
    target = np.empty(hosts, np.int64)
    target[order] = np.roll(order, 1)
    return flows_between(fabric, np.arange(hosts), target, size, packet, paths, seed)


@declared
def all_to_all(
    fabric: Fabric, size: ArrayLike, packet: Packet, paths: Paths = "ecmp", seed: int = 0, spacing: float = 0.0
) -> Traffic:
    """Each host sends `size` bytes to each other host: all at once, or the k-th destination after k x `spacing` s.

    Host i sends to i + 1 first, then to i + 2 ...: with a spacing, no two hosts send to the same one at a time.

    >>> from netlib.topology import one_switch
    >>> made = all_to_all(one_switch(4, Link(1e-6, 50e9)), 1e6, Packet(1000, 1038), spacing=1e-3)
    >>> made.flows, sorted(set((made.start * 1e3).tolist()))
    (12, [0.0, 1.0, 2.0])
    """
    hosts = fabric.hosts.size
    if hosts < 2:
        raise ValueError(f"fabric has {hosts} hosts; give one with at least 2")
    source, shift = (each.reshape(-1) for each in np.meshgrid(np.arange(hosts), np.arange(1, hosts), indexing="ij"))
    begin = (shift - 1) * float(floats("spacing", spacing))
    return flows_between(fabric, source, (source + shift) % hosts, size, packet, paths, seed, begin)


@declared
def victim(
    senders: int, size: ArrayLike, link: Link, packet: Packet, shares: Literal["sender", "switch"] = "sender",
    start: ArrayLike = 0.0,
) -> Traffic:  # fmt: skip
    """An incast of `senders` flows, and one more flow, the last, that goes elsewhere but shares their pain.

    shares = "sender": the victim leaves by the NIC of sender 0, on one switch. "switch": the incast comes over one
    cable from another switch, and the victim too, from a host of its own; the cable then carries `senders` + 1 flows.

    >>> victim(4, 1e6, Link(1e-6, 50e9), Packet(1000, 1038)).way.tolist()
    [[0, 9], [2, 9], [4, 9], [6, 9], [0, 11]]
    """
    if not 1 <= senders <= MOST_SENDERS:
        raise ValueError(f"senders = {senders} must be between 1 and {MOST_SENDERS}; give the hosts of the incast")
    one_of("shares", shares, ("sender", "switch"))
    alike(link)
    own = int(shares == "switch")
    hosts = senders + own + 2  # the last two receive: the incast, and the victim's flow
    near = hosts + own
    first = np.full(hosts, hosts)
    first[-2:] = near
    cables = [Cables(np.arange(hosts), first, link, "access")]
    if own:
        cables.append(Cables([hosts], [near], link))
    tier = [0] * hosts + [1] * (1 + own)
    fabric = build("victim beside an incast", hosts + 1 + own, np.arange(hosts), tier, cables)
    source = np.append(np.arange(senders), senders if own else 0)
    target = np.append(np.full(senders, hosts - 2), hosts - 1)
    return flows_between(fabric, source, target, size, packet, start=start)


@declared
def one_flow(size: ArrayLike, link: Link, packet: Packet, hops: int = 2, start: ArrayLike = 0.0) -> Traffic:
    """One flow over `hops` cables in a row, links 0 .. hops - 1: for losses, credits and round trips.

    >>> one_flow(1e6, Link(1e-6, 50e9), Packet(1000, 1000), hops=3).way.tolist()
    [[0, 1, 2]]
    """
    if not 2 <= hops <= 64:
        raise ValueError(f"hops = {hops} must be between 2 and 64; give the number of cables")
    bandwidth, alpha = alike(link)
    each = np.ones(hops)
    return traffic([list(range(hops))], size, each * bandwidth, each * alpha, packet, start)
