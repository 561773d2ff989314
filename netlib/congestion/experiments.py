"""Experiments: any control, with any preset that belongs to it, in any scenario, from one function.

An experiment chooses what the control needs around it and says so: how switches mark, whether they pause or trim, how
what is lost is sent again. All of it can be replaced.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from netlib.arguments import Floats, declared, floats
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.engine import Run, Switches, run
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.scenarios import all_to_all, one_flow, permutation, victim
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.senders.mixture import MixedSender
from netlib.congestion.packets.spreading import Spread
from netlib.congestion.packets.traffic import Packet, Traffic, alike, incast, one_of
from netlib.congestion.parameters import Control, Credits, Dcqcn, Dctcp, Hpcc, Marking, Nscc, PowerTcp
from netlib.congestion.presets import preset
from netlib.links import Link
from netlib.topology import fat_tree

Scenario = Literal["incast", "permutation", "all-to-all", "victim", "loss"]
Around = Literal["pause", "trim", "drop", "room"]
Paths = Literal["ecmp", "spray"]
MOST_HOSTS = 10_000  # of an incast; what is larger runs for hours
MOST_PORTS = 32  # k of a permutation's fat-tree: 8,192 hosts

LOSSLESS = Pfc(buffer=32 * 2**20, alpha=0.125, xoff=0.0, hysteresis=2496.0, response=0.0)
"""PFC as the ns-3 model of a switch sets it: 32 MiB, a threshold of an eighth of what is free."""


@dataclass(frozen=True, eq=False)
class Experiment:
    """A run and what it was made of.

    scenario, control, preset  as asked for
    traffic   who sent what over which links;  run  what happened
    switches  what the switches did;  recovery  how lost packets were sent again, if any could be lost
    ideal     (F,) s: the least that each flow needs when it shares its links fairly with those beside it
    """

    scenario: str
    control: str
    preset: str
    traffic: Traffic
    run: Run
    switches: Switches
    recovery: Recovery | None
    ideal: Floats

    @property
    def slowdown(self) -> Floats:
        """(F,) finish over ideal; nan for a flow that did not finish."""
        return np.asarray(self.run.finish / self.ideal)

    def summary(self) -> dict[str, float]:
        """First, mean and last finish in s, the peak queue in bytes, and how many flows did not finish."""
        done = self.run.finish[np.isfinite(self.run.finish)]
        first, mean, last = (done.min(), done.mean(), done.max()) if done.size else (np.nan,) * 3
        return {
            "first": float(first), "mean": float(mean), "last": float(last),
            "peak": float(self.run.peak.max()), "unfinished": float(self.run.finish.size - done.size),
        }  # fmt: skip


@declared
def experiment(
    scenario: Scenario, control: str, preset_name: str, *, hosts: int = 8, size: float = 2e6, link: Link | None = None,
    packet: Packet | None = None, paths: Paths = "ecmp", around: Around | None = None,
    beside: tuple[str, str] | None = None, buffer: float = 32 * 2**20,
    loss: float = 0.01, seed: int = 0, dt: float = 0.5e-6, until: float = 20e-3, every: int = 16,
) -> Experiment:  # fmt: skip
    """Run `scenario` under the preset `preset_name` of `control`.

    scenario  "incast": `hosts` senders, one receiver. "permutation", "all-to-all": on a fat-tree with k = `hosts`, or
              on the 16 hosts of k = 4. "victim": an incast of `hosts` and one more flow from one of its senders.
              "loss": one flow over a cable that destroys a share `loss` of the packets
    control   such as "dcqcn", and one of its presets; others are refused
    around    "pause" (PFC), "trim", "drop" (a buffer of 16 MB, drop tail) or "room" for all; by default what belongs to
              the control: trimming for NSCC and credits, pauses for the others, room for all in "loss"
    buffer    bytes that a switch which pauses has for all its ports
    beside    a second control and its preset, such as ("dcqcn", "paper"), for every second flow: cards of two
              kinds on one network. Switches are set, and losses sent again, as the first control asks
    link      every cable; by default 100 Gb/s and 3.5 us

    >>> seen = experiment("incast", "uncontrolled", "line-rate", hosts=2, size=1e6)
    >>> (seen.run.finish * 1e6).round(-1).tolist(), round(float(seen.slowdown.max()), 1)
    ([180.0, 180.0], 1.0)
    """
    _check(scenario, hosts, paths, around, loss, seed)
    cable = link or Link(3.5e-6, 12.5e9)
    rate, _ = alike(cable)
    told = _told(control, preset_name, rate)
    other = None if beside is None else _told(*_pair(beside), rate)
    if other is not None:
        _refuse_to_mix(told, other)
    rng = np.random.default_rng(seed)
    made = _traffic(scenario, hosts, floats("size", size, above=True), cable, packet or _packet(told), paths, rng)
    chosen = around or _around(told, scenario)
    switches = _switches(told, chosen, rate, float(floats("buffer", buffer, above=True)))
    if scenario == "loss":
        switches = replace(switches, loss=loss, lossy=(1,))
    can_lose = chosen in ("trim", "drop") or scenario == "loss"
    recovery = Recovery(_scheme(told, chosen), timeout=4e-3) if can_lose else None
    spread = Spread("random") if len(made.way) > made.flows else None
    senders = sender(told, made)
    if other is not None:
        senders = MixedSender(senders, sender(other, made), np.arange(made.flows) % 2 == 1)
    seen = run(made, senders, until, rng, switches, dt, every, recovery, spread)
    return Experiment(scenario, control, preset_name, made, seen, switches, recovery, _ideal(made))


def _told(control: str, preset_name: str, rate: float) -> Control:
    """The parameters of a sender's control."""
    told = preset(control, preset_name, rate)
    if isinstance(told, Marking):
        raise ValueError(f"control = {control!r} is the switch's side; give a sender's, such as 'dcqcn'")
    return told


def _pair(beside: object) -> tuple[str, str]:
    if not (isinstance(beside, tuple | list) and len(beside) == 2 and all(isinstance(each, str) for each in beside)):
        raise ValueError(f"beside = {str(beside)[:40]!r} is not a control and its preset, such as ('dcqcn', 'paper')")
    return beside[0], beside[1]


def _refuse_to_mix(*controls: Control) -> None:
    """Credits are dealt by the receiver to all; telemetry re-paces the whole card."""
    for each in controls:
        if isinstance(each, (Credits, Hpcc, PowerTcp)):
            raise ValueError(
                f"beside mixes controls that decide flow by flow; {type(each).__name__} does not, so run it alone"
            )


def _check(scenario: Scenario, hosts: int, paths: Paths, around: Around | None, loss: float, seed: int) -> None:
    """Refuse what makes no sense before anything is built."""
    one_of("scenario", scenario, get_args(Scenario))
    one_of("paths", paths, get_args(Paths))
    if around is not None:
        one_of("around", around, get_args(Around))
    if scenario == "permutation" and (hosts % 2 or not 2 <= hosts <= MOST_PORTS):
        raise ValueError(f"hosts = {hosts} is the k of a fat-tree here; give an even number from 2 to {MOST_PORTS}")
    if not 1 <= hosts <= MOST_HOSTS:
        raise ValueError(f"hosts = {hosts} must be between 1 and {MOST_HOSTS}; give the number of hosts that send")
    if not 0 <= loss <= 0.5:
        raise ValueError(f"loss = {loss:g} is a share of packets; give a number between 0 and 0.5")
    if seed < 0:
        raise ValueError(f"seed = {seed} must be at least 0; give any whole number, such as 0")


def _traffic(
    scenario: Scenario, hosts: int, size: Floats, link: Link, packet: Packet, paths: Paths, rng: np.random.Generator
) -> Traffic:
    """The flows of a scenario."""
    if scenario == "incast":
        return incast(hosts, size, link, packet)
    if scenario == "victim":
        return victim(hosts, size, link, packet)
    if scenario == "loss":
        return one_flow(size, link, packet)
    fabric = fat_tree(hosts if scenario == "permutation" else 4, link)
    if scenario == "permutation":
        return permutation(fabric, size, packet, rng, paths)
    return all_to_all(fabric, size, packet, paths)


def _packet(control: Control) -> Packet:
    """RoCE's and HPCC's in ns-3 carry 1,000 bytes; UEC's in htsim 4,086."""
    return Packet(4086, 4150) if isinstance(control, (Nscc, Credits)) else Packet(1000, 1038)


def _around(control: Control, scenario: Scenario) -> Around:
    """What a control expects of its network."""
    if scenario == "loss":
        return "room"
    return "trim" if isinstance(control, (Nscc, Credits)) else "pause"


def _switches(control: Control, around: Around, rate: float, buffer: float) -> Switches:
    """Marks for those who read them (DCQCN, DCTCP, NSCC); pauses, trimming or a finite buffer."""
    marking = None
    if isinstance(control, Dcqcn):
        marking = preset("marking", "ns3", rate)
    elif isinstance(control, Dctcp):
        marking = preset("marking", "ns3-dctcp", rate)
    elif isinstance(control, Nscc):
        marking = Marking(0.2 * _TRIM * rate, 0.8 * _TRIM * rate, 1.0, "departure")
    interval = control.cnp_interval if isinstance(control, Dcqcn) else 0.0
    pfc = replace(LOSSLESS, buffer=buffer) if around == "pause" else None
    buffers = {"trim": Buffers(_TRIM * rate, trim=True), "drop": Buffers(16e6)}.get(around)
    return Switches(marking, pfc, interval, buffers=buffers)


_TRIM = 14.3e-6  # s: a trimming switch keeps about one round trip of bytes per queue and marks from 20 to 80 % of it,
# as uet-htsim's main_uec.cpp sets it


def _scheme(control: Control, around: Around) -> Literal["go-back-n", "selective-repeat"]:
    """RoCE's classic NICs go back; UEC repeats what is missing, and so do all where switches trim."""
    return "selective-repeat" if isinstance(control, (Nscc, Credits)) or around == "trim" else "go-back-n"


def _ideal(traffic: Traffic) -> Floats:
    """(F,) s of each flow at max-min fair rates, and the base round trip."""
    from netlib.topology import completion_times

    whole = traffic.flow[np.concatenate([[True], traffic.flow[1:] != traffic.flow[:-1]])]
    if len(traffic.way) > traffic.flows:  # free to use all ways: only NICs and receivers bind
        ends = np.stack([traffic.sender, traffic.receiver], axis=1)
        return np.asarray(completion_times(ends, traffic.wire, traffic.capacity) + traffic.base_rtt())
    return np.asarray(completion_times(traffic.way[whole], traffic.wire, traffic.capacity) + traffic.base_rtt())
