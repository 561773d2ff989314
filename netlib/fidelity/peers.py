"""Runs of two public simulators, set up again in the packet engine: the same senders, switches, packets and cables.

Each law holds what the simulator's own code or configuration sets, and nothing that its results chose. ns-3 stands for
the fork inet-tub/ns3-datacenter, examples/PowerTCP/config-burst.txt and rdma-hw.cc; htsim for ultraethernet/uet-htsim.
Senders of an incast start at one instant, as in the simulators' inputs, where the marks are drawn at random. Where
nothing is random they would stay in lockstep for ever, which no simulator of events does; there the starts are spread
over the time that one packet of each takes on the last link.
Read with the chapter "Congestion control", section "Theory says, the simulators show".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import Generator

from netlib.congestion.experiments import LOSSLESS
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.engine import Run, Switches, run
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.scenarios import all_to_all, permutation
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.spreading import Spread
from netlib.congestion.packets.traffic import Packet, Traffic, incast, staggered
from netlib.congestion.parameters import Control, Dctcp, Hpcc, Marking, Uncontrolled
from netlib.congestion.presets import preset
from netlib.links import Link
from netlib.topology import Fabric, fat_tree, one_switch

RATE = 12.5e9
NS3_RTT = 14.17e-6  # s: four cables of 3.5 us and two packets
HTSIM_RTT = 14.02e-6  # s between hosts of its fat tree; a star with the same round trip stands for it in incasts
QUEUE = 43 * 4150.0  # bytes of a queue of uet-htsim: one BDP in whole packets
_SMALL, _STAMPED, _LARGE = Packet(1000, 1038), Packet(1000, 1090), Packet(4086, 4150)
_STEP = 50e6 / 8  # RATE_AI of config-burst.txt, bytes/s

Scenario = Literal["incast", "permutation", "all-to-all"]


@dataclass(frozen=True)
class Law:
    """A control as one simulator runs it.

    control  what its senders do
    packet   what a packet carries and takes
    lossless whether switches pause, with room for all; else they trim at `QUEUE`
    marks    whether switches mark, between the thresholds of the case or, on trimming switches, a fifth and four fifths
    pfc      pauses other than those of ns-3; None: those
    spread   how a flow deals its packets over its ways; None: one way
    """

    control: Control
    packet: Packet
    lossless: bool = True
    marks: bool = False
    pfc: Pfc | None = None
    spread: Literal["random", "round-robin", "adaptive"] | None = None


_PAUSED = Pfc(np.inf, 0.0, 15 * 4150.0, 3 * 4150.0, 0.0)  # -pfc_thresholds 12 15
LAWS: Mapping[tuple[str, str], Law] = {
    ("ns-3", "DCQCN"): Law(preset("dcqcn", "ns3-datacenter"), _SMALL, marks=True),
    ("ns-3", "DCQCN, window"): Law(replace(preset("dcqcn", "ns3-datacenter"), window=1.0), _SMALL, marks=True),
    ("ns-3", "DCTCP"): Law(Dctcp(1 / 256, 1e9 / 8 * NS3_RTT, True, 1.0), _SMALL, marks=True),
    ("ns-3", "TIMELY"): Law(preset("timely", "ns3-datacenter"), _SMALL),
    ("ns-3", "HPCC"): Law(Hpcc(0.95, 5, _STEP * NS3_RTT), _STAMPED),
    ("ns-3", "PowerTCP"): Law(preset("powertcp", "ns3-datacenter", RATE), _STAMPED),
    ("ns-3", "theta-PowerTCP"): Law(preset("powertcp", "theta", RATE), _STAMPED),
    ("htsim", "NSCC"): Law(preset("nscc", "uec-1.0"), _LARGE, lossless=False, marks=True, spread="random"),
    ("htsim", "NSCC, one path"): Law(preset("nscc", "uec-1.0"), _LARGE, lossless=False, marks=True),
    ("htsim", "RCCC"): Law(preset("credits", "rccc"), _LARGE, lossless=False, spread="random"),
    ("htsim", "pauses"): Law(Uncontrolled(float("inf")), _LARGE, pfc=_PAUSED),
    ("htsim", "pauses, adaptive"): Law(Uncontrolled(float("inf")), _LARGE, pfc=_PAUSED, spread="adaptive"),
    ("htsim", "pauses, in turn"): Law(Uncontrolled(float("inf")), _LARGE, pfc=_PAUSED, spread="round-robin"),
}


@dataclass(frozen=True)
class Case:
    """One run. `hosts` senders of an incast, or all hosts; bytes; `k_min`, `k_max` bytes for laws that mark in ns-3.

    spread  whether the starts of an incast are spread over one packet of each sender, or all at once
    seed    draws starts, permutation, hashes and marks;  dt  s of a step
    """

    peer: str
    law: str
    scenario: str
    hosts: int
    size: float
    k_min: float = 0.0
    k_max: float = 0.0
    spread: bool = False
    seed: int = 0
    dt: float = 0.5e-6


@dataclass(frozen=True)
class Measured:
    """First, mean and last finish in s; the longest queue, and its mean between 30 and 90 % of the run, in bytes."""

    first: float
    mean: float
    last: float
    peak: float
    steady: float


def measured(case: Case, until: float = 0.1) -> Measured:
    """Run a case.

    >>> seen = measured(Case("ns-3", "DCTCP", "incast", 2, 2e5, k_min=100e3, k_max=400e3))
    >>> round(seen.last * 1e6, -1)  # us; 400 packets of 1038 bytes, and a round trip
    50.0
    """
    law, rng = law_of(case), np.random.default_rng(case.seed)
    made = traffic_of(case, law, rng)
    switches = switches_of(case, law)
    recovery = recovery_of(law)
    spread = Spread(law.spread) if law.spread and len(made.way) > made.flows else None
    seen = run(made, sender(law.control, made), until, rng, switches, case.dt, 8, recovery, spread)
    done = seen.finish
    return Measured(float(done.min()), float(done.mean()), float(done.max()), *_queue(made, seen))


def law_of(case: Case) -> Law:
    """The case's law; unknown pairs of simulator and law raise ValueError with what exists.

    >>> law_of(Case("htsim", "RCCC", "incast", 8, 2e6)).control.rate
    0.99
    """
    if (case.peer, case.law) not in LAWS:
        known = ", ".join(law for peer, law in LAWS if peer == case.peer) or "only ns-3 and htsim are"
        raise ValueError(f"law = {case.law[:40]!r} of {case.peer[:20]!r} is not set up here; {known}")
    return LAWS[case.peer, case.law]


def traffic_of(case: Case, law: Law, rng: Generator) -> Traffic:
    """Who sends what. An incast and ns-3's all-to-all are on one switch, the rest on a fat tree with cables of 1 us.

    >>> case = Case("ns-3", "HPCC", "incast", 8, 2e6)
    >>> made = traffic_of(case, law_of(case), np.random.default_rng(0))
    >>> made.flows, round(float(made.base_rtt()[0]) * 1e6, 2)
    (8, 14.17)
    """
    if case.scenario == "incast":
        alpha = 3.5e-6 if case.peer == "ns-3" else (HTSIM_RTT - 2 * law.packet.wire / RATE) / 4
        link = Link(alpha, RATE)
        start = staggered(case.hosts, link, law.packet, rng)
        return incast(case.hosts, case.size, link, law.packet, start=start * case.spread)
    paths: Literal["ecmp", "spray"] = "spray" if law.spread else "ecmp"
    if case.scenario == "all-to-all":
        fabric = one_switch(case.hosts, Link(3.5e-6, RATE)) if case.peer == "ns-3" else _tree(case.hosts)
        return all_to_all(fabric, case.size, law.packet, paths, case.seed)
    if case.scenario == "permutation":
        return permutation(_tree(case.hosts), case.size, law.packet, rng, paths, case.seed)
    raise ValueError(f"scenario = {case.scenario[:40]!r} is not one of: 'incast', 'permutation', 'all-to-all'")


def _tree(hosts: int) -> Fabric:
    k = round((4 * hosts) ** (1 / 3))
    if k**3 != 4 * hosts or k % 2:
        raise ValueError(f"hosts = {hosts} fill no three-tier fat tree; give 16, 54, 128, 250 ...")
    return fat_tree(k, Link(1e-6, RATE))


def switches_of(case: Case, law: Law) -> Switches:
    """What the switches of a case do.

    >>> case = Case("ns-3", "DCQCN", "incast", 8, 2e6, 100e3, 400e3)
    >>> switches_of(case, law_of(case)).marking
    Marking(k_min=100000.0, k_max=400000.0, p_max=0.2, when='departure')
    """
    if not law.lossless:
        ramp = Marking(0.2 * QUEUE, 0.8 * QUEUE, 1.0, "departure") if law.marks else None
        return Switches(marking=ramp, buffers=Buffers(QUEUE, trim=True))
    ramp = Marking(case.k_min, case.k_max, 0.2, "departure") if law.marks else None
    return Switches(marking=ramp, pfc=law.pfc or LOSSLESS)


def recovery_of(law: Law) -> Recovery | None:
    """What is trimmed is sent again when the receiver says so; where switches pause nothing is lost.

    >>> recovery_of(LAWS["ns-3", "HPCC"]) is None, recovery_of(LAWS["htsim", "NSCC"]).scheme
    (True, 'selective-repeat')
    """
    return None if law.lossless else Recovery("selective-repeat", timeout=np.inf)


def _queue(made: Traffic, seen: Run) -> tuple[float, float]:
    """Peak of the longest queue, and the mean of the fullest in the middle of the run."""
    last = float(seen.finish.max())
    middle = (seen.time > 0.3 * last) & (seen.time < 0.9 * last)
    return float(seen.peak.max()), float(seen.queue[middle].mean(axis=0).max())
