"""Deadlocks: switches that wait for each other in a cycle, built, run, and broken again.

A deadlock needs a cycle of dependencies and buffers that fill all the way round. Then no pause ends and no credit comes
back, and the flows that filled them never move again, nor does anyone behind them.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, one_of
from netlib.congestion.lossless.greedy import Greedy, step_of, steps_in
from netlib.congestion.lossless.slots import Slots
from netlib.congestion.lossless.waiting import Waits, stuck, waiting_cycle, waits_of
from netlib.congestion.lossless.watchdogs import Watchdog
from netlib.congestion.packets.engine import Engine, Switches
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import Traffic
from netlib.links import Link
from netlib.topology import Cables, Fabric, build, leaf_spine
from netlib.topology.fabric import affordable

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Deadlock:
    """What became of a run.

    begin   s when gates were first found that never open again; inf if none was
    gates   (N,) those gates at that moment;  cycle (C,) a shortest cycle among them
    time    (T,) s;  rate (T,) bytes/s that all receivers took in
    moved   bytes received in the last quarter of the run;  lost bytes that a watchdog threw away;  fired how often
    """

    begin: float
    gates: Ints
    cycle: Ints
    time: Floats
    rate: Floats
    moved: float
    lost: float
    fired: int


@declared
def switch_ring(switches: int, link: Link) -> Fabric:
    """`switches` in a ring, a host at each; label x0 counts round. Cable i is host i's, cable n + i goes to the next.

    >>> switch_ring(3, Link(1e-6, 50e9)).target.tolist()
    [3, 0, 4, 1, 5, 2, 4, 3, 5, 4, 3, 5]
    """
    if switches < 3:
        raise ValueError(f"switches = {switches} make no ring; give 3 or more")
    affordable(2 * switches, switches=switches)
    each = np.arange(switches)
    return build(
        f"ring of {switches} switches", 2 * switches, each, np.repeat([0, 1], switches),
        [Cables(each, switches + each, link, "access"),
         Cables(switches + each, switches + (each + 1) % switches, link)],
        {"x0": np.tile(each, 2)},
    )  # fmt: skip


@declared
def round_ways(fabric: Fabric, hops: int = 2) -> Ints:
    """(n, hops + 2) every host of a `switch_ring` sends to the host `hops` switches on, all the same way round.

    >>> round_ways(switch_ring(3, Link(1e-6, 50e9))).tolist()
    [[0, 6, 8, 5], [2, 8, 10, 1], [4, 10, 6, 3]]
    """
    n = fabric.hosts.size
    if not 1 <= hops < n:
        raise ValueError(f"hops = {hops} leave the ring or go all round it; give 1 to {n - 1}")
    each = np.arange(n)
    middle = [2 * (n + (each + i) % n) for i in range(hops)]
    return np.stack([2 * each, *middle, 2 * ((each + hops) % n) + 1], axis=1).astype(np.int64)


@declared
def facing_bounces(link: Link, each: int = 2) -> tuple[Fabric, Ints]:
    """A leaf-spine whose flows go up, down, up, down against each other, and (2 x each, 6) their ways.

    Two spines and four leaves of two hosts; the cables from spine 0 to leaf 2 and from spine 1 to leaf 3 are dead.
    `each` hosts of leaf 1 send to leaf 2: spine 0 bounces them off leaf 0 to spine 1. As many of leaf 0 send to leaf 3:
    spine 1 bounces them off leaf 1 to spine 0. Each takes the buffers that the other waits for. With one host a leaf
    there is the cycle and no deadlock; with both it locks at once. That a cycle is not enough, and that one flow more
    can close it, was shown by Hu and others (HotNets 2016).

    >>> from netlib.congestion.lossless.dependencies import buffer_dependencies, in_words, shortest_cycle
    >>> made = buffer_dependencies(*facing_bounces(Link(1e-6, 50e9)))
    >>> in_words(made, shortest_cycle(made))
    'spine 0 > leaf 0 > spine 1 > leaf 1 > spine 0'
    """
    if not 1 <= each <= 2:
        raise ValueError(f"each = {each} is not the hosts of a leaf that send; give 1 or 2")
    fabric = leaf_spine(8, 4, link)  # hosts 0-7, leaves 8-11, spines 12 and 13
    number = {(int(a), int(b)): e for e, (a, b) in enumerate(zip(fabric.source, fabric.target, strict=True))}
    met = [way for k in range(each) for way in ([2 + k, 9, 12, 8, 13, 10, 4 + k], [k, 8, 13, 9, 12, 11, 6 + k])]
    ways = [[number[a, b] for a, b in pairwise(way)] for way in met]
    return fabric, np.array(ways, np.int64)


@declared
def until_stuck(
    traffic: Traffic, rule: Pfc | LinkCredits, until: float, rng: Generator, lane: ArrayLike | None = None,
    watchdog: Watchdog | None = None, model: Literal["engine", "slots"] = "slots", every: int = 8,
) -> Deadlock:  # fmt: skip
    """Run for `until` seconds, all flows as fast as they may, and look every few steps for gates that never open again.

    The run goes on to the end in any case: what was found stuck must not have moved by then, unless a watchdog threw
    it away. Lanes that change on the way, credits and watchdogs are the slot model's.

    >>> from netlib.congestion.packets.traffic import Packet, over
    >>> ring = switch_ring(3, Link(1e-6, 12.5e9))
    >>> flows = over(ring, round_ways(ring), 1e12, Packet(4096, 4096))
    >>> made = until_stuck(flows, Pfc(1e9, 0, 100e3, 8e3, 0), 1e-3, np.random.default_rng(0))
    >>> made.cycle.tolist(), made.moved
    ([6, 8, 10], 0.0)
    """
    if every < 1:
        raise ValueError(f"every = {every} must be at least 1; give the steps between two looks")
    runner = _runner(traffic, rule, rng, lane, watchdog, model)
    wire = traffic.packet.wire
    resume = rule.buffer - wire if isinstance(rule, LinkCredits) else rule.xoff - rule.hysteresis
    if isinstance(rule, Pfc) and rule.alpha:
        raise ValueError(f"rule: alpha = {rule.alpha:g} moves the threshold; give alpha = 0 and a fixed xoff")
    step = runner.dt if isinstance(runner, Engine) else runner.slot
    begin, gates, cycle = np.inf, np.zeros(0, np.int64), np.zeros(0, np.int64)
    time, received = [0.0], [0.0]
    steps = steps_in(until, step)
    for count in range(1, steps + 1):
        runner.advance()
        if count % every and count < steps:
            continue
        time.append(count * step)
        received.append(float(runner.acked.sum()) if isinstance(runner, Engine) else sum(runner.received) * wire)
        if begin == np.inf:
            waits: Waits = waits_of(runner) if isinstance(runner, Engine) else runner.waits()
            never = stuck(waits, max(resume, 0))
            if never.any():
                begin, gates, cycle = count * step, np.flatnonzero(never), waiting_cycle(replace(waits, shut=never))
    moments, total = np.array(time), np.array(received)
    late = float(np.interp(0.75 * moments[-1], moments, total))
    lost = 0 if isinstance(runner, Engine) else sum(runner.lost)
    fired = sum(runner.guard.fired) if isinstance(runner, Slots) and runner.guard else 0
    return Deadlock(
        begin, gates, cycle, moments, np.concatenate([[0.0], np.diff(total) / np.diff(moments)]),
        float(total[-1] - late), lost * wire, fired,
    )  # fmt: skip


def _runner(
    traffic: Traffic,
    rule: Pfc | LinkCredits,
    rng: Generator,
    lane: ArrayLike | None,
    watchdog: Watchdog | None,
    model: str,
) -> Engine | Slots:
    one_of("model", model, ("engine", "slots"))
    if model == "slots":
        return Slots(traffic, rule, rng, lane, watchdog)
    if isinstance(rule, LinkCredits) or watchdog is not None or lane is not None:
        raise ValueError("model = 'engine' has no credits, watchdog or change of lane here; use model='slots'")
    return Engine(traffic, Greedy(traffic), Switches(pfc=rule), rng, step_of(traffic))
