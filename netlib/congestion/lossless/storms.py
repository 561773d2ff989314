"""Storms: one slow receiver, and how far its pauses climb.

A receiver that takes in less than its link brings pauses its switch, which pauses what fills it, and so on up and down
again to the NICs. With pauses or credits alone every flow that shares a link with the slow one's traffic is slowed too.
A NIC that takes in nothing at all is the limit: one of them can stop a cluster (Guo and others, SIGCOMM 2016).
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from netlib.arguments import Floats, declared, floats
from netlib.congestion.lossless.greedy import ENDLESS, Greedy, step_of, steps_in
from netlib.congestion.lossless.waiting import causes, waits_of
from netlib.congestion.packets.engine import Engine, Switches
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.traffic import Packet, Traffic, over
from netlib.links import Link
from netlib.topology import Cables, Fabric, build
from netlib.topology.fabric import affordable

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Storm:
    """A run of pauses. Times in s.

    time   (T,) moments;  shut (T,) links that are silent;  rate (T,) bytes/s that all receivers take in
    first  (L,) when each link was first silent; nan if never
    depth  (L,) how many links away from its cause a link was when it was silent, the farthest; 0 if never
    frames (L,) pause frames sent back over each link
    """

    time: Floats
    shut: Ints
    rate: Floats
    first: Floats
    depth: Ints
    frames: Floats


@declared
def slow_receiver(traffic: Traffic, link: int, share: float) -> Traffic:
    """The same traffic with a receiver that takes in `share` of what its `link` brings, and pauses it for the rest.

    >>> from netlib.congestion.packets.traffic import incast
    >>> slow_receiver(incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000)), 2, 0.5).capacity.tolist()
    [50000000000.0, 50000000000.0, 25000000000.0]
    """
    if not 0 <= link < len(traffic.capacity) or link not in traffic.receiver:
        raise ValueError(f"link = {link} leads to no receiver; give one of {sorted(set(traffic.receiver.tolist()))}")
    if floats("share", share, above=True) > 1:
        raise ValueError(f"share = {share:g} must be at most 1; give the part of its link that the receiver takes in")
    capacity = traffic.capacity.copy()
    capacity[link] *= share
    return replace(traffic, capacity=capacity)


@declared
def chain(switches: int, link: Link, packet: Packet) -> Traffic:
    """One flow over a chain of switches: links 0 (the NIC) to `switches` (to the receiver).

    >>> chain(3, Link(1e-6, 50e9), Packet(4096, 4096)).way.tolist()
    [[0, 2, 4, 6]]
    """
    if switches < 1:
        raise ValueError(f"switches = {switches} must be at least 1; give the switches on the way")
    affordable(switches + 1, switches=switches)
    ends = np.array([0, *range(2, switches + 2), 1])
    fabric: Fabric = build(
        f"chain of {switches} switches", switches + 2, [0, 1], np.repeat([0, 1], [2, switches]),
        [Cables(ends[:-1], ends[1:], link)],
    )  # fmt: skip
    return over(fabric, 2 * np.arange(switches + 1)[None], ENDLESS, packet)


@declared
def storm(traffic: Traffic, rule: Pfc, until: float, rng: Generator, every: int = 16) -> Storm:
    """Run all flows as fast as their NICs let them, and watch the pauses spread: who, when, and because of whom.

    >>> slow = slow_receiver(chain(3, Link(1e-6, 12.5e9), Packet(4096, 4096)), 6, 0.1)
    >>> made = storm(slow, Pfc(1e9, 0, xoff=100e3, hysteresis=8e3, response=0), 1e-4, np.random.default_rng(0))
    >>> bool(made.first[4] < made.first[2] < made.first[0]), made.depth[[4, 2, 0]].tolist()
    (True, [1, 2, 3])
    """
    if every < 1:
        raise ValueError(f"every = {every} must be at least 1; give the steps between two moments of the series")
    engine = Engine(traffic, Greedy(traffic), Switches(pfc=rule), rng, step_of(traffic))
    links = len(traffic.capacity)
    first, depth = np.full(links, np.nan), np.zeros(links, np.int64)
    time, shut, rate, before = [0.0], [0], [0.0], 0.0
    assert engine.pauses is not None
    for step in range(1, steps_in(until, engine.dt) + 1):
        engine.advance()
        new = engine.pauses.paused & np.isnan(first)
        first[new] = step * engine.dt
        if new.any() or step % every == 0:
            for cause in causes(waits_of(engine)):
                np.maximum.at(depth, cause.shut, cause.depth)
        if step % every == 0:
            time.append(step * engine.dt)
            shut.append(int(engine.pauses.paused.sum()))
            rate.append(float(engine.acked.sum() - before) / (every * engine.dt))
            before = float(engine.acked.sum())
    return Storm(np.array(time), np.array(shut), np.array(rate), first, depth, engine.pauses.frames.copy())


@declared
def slowed_all_to_all(share: float, hosts: int) -> float:
    """Share of line rate at which every other host sends when all send to all and one takes in `share` of its link.

    Every NIC serves its n - 1 flows in turn and stops at the one whose turn it is. The slow host takes in
    share x rate, 1 / (n - 1) of it from each of the others, who therefore all move at `share`: the cluster runs at the
    pace of its slowest receiver, whatever n is. Only the slow host itself sends on at full speed.

    >>> slowed_all_to_all(0.1, hosts=16)
    0.1
    """
    if hosts < 2 or floats("share", share, above=True) > 1:
        raise ValueError(f"share = {share:g} and hosts = {hosts}: give a share up to 1 and at least 2 hosts")
    return float(share)
