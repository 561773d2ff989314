"""Victims: flows that stand in line behind traffic which is not going where they go.

A pause stops a link and class, not a flow. Whoever shares a NIC or a cable with an incast moves at the incast's pace,
however empty the victim's own receiver is. Credits do the same, for they too belong to a link. Only what tells flows
apart helps: a lane of its own, or a controller that slows the incast at its senders.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from typing import Literal

import numpy as np
from numpy.random import Generator

from netlib.arguments import Floats, declared, floats, one_of
from netlib.congestion.lossless.greedy import ENDLESS, Greedy, step_of
from netlib.congestion.lossless.slotted import run_slots
from netlib.congestion.packets.engine import Switches, run
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import Packet, Traffic, over
from netlib.links import Link
from netlib.topology import Cables, Fabric, build, one_switch, paths, routes
from netlib.topology.fabric import affordable


@declared
def sender_victim(fan_in: int, link: Link, packet: Packet) -> Traffic:
    """`fan_in` hosts send to one host; the first of them also sends to another: the last flow, the victim.

    >>> sender_victim(4, Link(1e-6, 50e9), Packet(4096, 4096)).sender.tolist()
    [0, 2, 4, 6, 0]
    """
    _at_least_two(fan_in)
    star = one_switch(fan_in + 2, link)
    src, dst = [*range(fan_in), 0], [fan_in] * fan_in + [fan_in + 1]
    return over(star, paths(routes(star), src, dst, lambda hop: np.zeros_like(hop.count)), ENDLESS, packet)


@declared
def switch_victim(fan_in: int, link: Link, packet: Packet, cables: int = 1) -> Traffic:
    """`fan_in` hosts of one switch send to a host of another; the last flow, from a NIC of its own, to its neighbour.

    Between the switches lie `cables`, together wide enough for all senders at line rate. Each packet takes one of them
    at random: with several this is spray. So neither NIC nor cables nor receiver hold the victim back.

    >>> made = switch_victim(4, Link(1e-6, 50e9), Packet(4096, 4096))
    >>> made.flows, float(made.capacity[made.way[4, 1]])
    (5, 250000000000.0)
    """
    _at_least_two(fan_in)
    fabric = two_switches(fan_in + 1, 2, link, cables)
    up, down = 2 * np.arange(fan_in + 1), 2 * (fan_in + 1 + np.array([0] * fan_in + [1])) + 1
    trunk = 2 * (fan_in + 3) + 2 * np.arange(cables)
    rows = [[a, b, c] for a, c in zip(up.tolist(), down.tolist(), strict=True) for b in trunk.tolist()]
    return over(fabric, rows, ENDLESS, packet, flow=np.repeat(np.arange(fan_in + 1), cables))


@declared
def two_switches(left: int, right: int, link: Link, cables: int = 1) -> Fabric:
    """`left` hosts on one switch, `right` on another, and between them `cables` that carry the left ones' full rate.

    >>> two_switches(4, 2, Link(1e-6, 50e9)).cables
    7
    """
    if left < 1 or right < 1 or cables < 1:
        raise ValueError(f"left = {left}, right = {right} and cables = {cables} must each be at least 1")
    affordable(left + right + cables, hosts_and_cables=left + right + cables)
    hosts = left + right
    wide = Link(link.alpha, link.bandwidth * left / cables)
    return build(
        "two switches", hosts + 2, np.arange(hosts), np.repeat([0, 1], [hosts, 2]),
        [Cables(np.arange(hosts), hosts + (np.arange(hosts) >= left), link, "access"),
         Cables(np.full(cables, hosts), np.full(cables, hosts + 1), wide)],
    )  # fmt: skip


@declared
def sender_victim_shares(fan_in: int) -> dict[str, float]:
    """Share of line rate that the victim of `sender_victim` gets, in the limit of packets without size.

    pauses       1/n: the NIC serves its two flows in turn and is open as long as its incast flow may send, so the
                 victim moves at the incast's pace
    end to end   1 - 1/n: a controller holds the incast flow to its share, and the NIC's rest is free
    no control   1/2: nobody stops the NIC; the incast's packets pile up or are dropped behind the switch

    >>> sender_victim_shares(4)
    {'pauses': 0.25, 'end to end': 0.75, 'no control': 0.5}
    """
    _at_least_two(fan_in)
    return {"pauses": 1 / fan_in, "end to end": 1 - 1 / fan_in, "no control": 0.5}


@declared
def switch_victim_shares(fan_in: int) -> dict[str, float]:
    """The same for `switch_victim`: the cable moves as fast as its incast, and the victim is one of n + 1 equals on it.

    >>> switch_victim_shares(4)
    {'pauses': 0.25, 'end to end': 1.0, 'no control': 1.0}
    """
    _at_least_two(fan_in)
    return {"pauses": 1 / fan_in, "end to end": 1.0, "no control": 1.0}


@declared
def flow_shares(
    traffic: Traffic, rule: Pfc | LinkCredits | None, until: float, rng: Generator,
    model: Literal["engine", "slots"] = "engine", skip: float = 0.25,
) -> Floats:  # fmt: skip
    """(F,) share of its NIC's rate that each flow gets if all send what they can; the first `skip` is left out.

    `model` is the packet engine or the slot model; on the two victims here both are within a tenth of the shares above.
    `rule` None: switches with room for all.

    >>> made = sender_victim(4, Link(1e-6, 50e9), Packet(4096, 4096))
    >>> pfc = Pfc(buffer=1e9, alpha=0, xoff=400e3, hysteresis=8e3, response=0)
    >>> flow_shares(made, pfc, 1e-3, np.random.default_rng(0), "slots").round(2).tolist()
    [0.23, 0.26, 0.26, 0.25, 0.23]
    """
    if floats("skip", skip) >= 1:
        raise ValueError(f"skip = {skip:g} leaves nothing of the run; give a share below 1")
    one_of("model", model, ("engine", "slots"))
    if model == "slots":
        slotted = run_slots(traffic, until, rule, rng)
        time, rate = slotted.time, slotted.rate
    else:
        switches = Switches(credits=rule) if isinstance(rule, LinkCredits) else Switches(pfc=rule)
        made = run(traffic, Greedy(traffic), until, rng, switches, step_of(traffic))
        time, rate = made.time, made.rate
    late = time[1:] > skip * time[-1]
    mean = np.average(rate[1:][late], axis=0, weights=np.diff(time)[late])
    return np.asarray(mean / traffic.line_rate)


def _at_least_two(fan_in: int) -> None:
    if fan_in < 2:
        raise ValueError(f"fan_in = {fan_in} is no incast; give 2 senders or more")
