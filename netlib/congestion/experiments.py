"""Experiments: any control, with any preset that belongs to it, in any scenario, from one function.

An experiment chooses what the control needs around it and says so: how switches mark, whether they pause or trim, how
what is lost is sent again. All of it can be replaced, and the control's parameters too.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from netlib.arguments import Floats, declared, floats, one_of, quoted
from netlib.congestion.packets.engine import Run, Switches, run
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.scenarios import all_to_all, one_flow, permutation, victim
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.senders.mixture import MixedSender
from netlib.congestion.packets.spreading import Spread
from netlib.congestion.packets.traffic import Packet, Traffic, alike, incast, staggered
from netlib.congestion.parameters import Control, Credits, Hpcc, Marking, PowerTcp
from netlib.congestion.presets import CONTROLS, TYPES, preset
from netlib.congestion.rates import speed_of_port
from netlib.congestion.surroundings import LOSSLESS, Around, Surroundings, packet_of
from netlib.links import Link
from netlib.topology import fat_tree

__all__ = ["LOSSLESS", "Around", "Experiment", "Paths", "Scenario", "experiment"]

Scenario = Literal["incast", "permutation", "all-to-all", "victim", "loss"]
Paths = Literal["ecmp", "spray"]
MOST_HOSTS = 10_000  # of an incast; what is larger runs for hours
MOST_PORTS = {"permutation": 32, "all-to-all": 8}  # k of the fat-tree: 8,192 hosts, and 128 with 16,256 flows
_HOSTS: Mapping[str, int] = {"incast": 8, "permutation": 8, "all-to-all": 4, "victim": 8, "loss": 1}


@dataclass(frozen=True, eq=False)
class Experiment:
    """A run and what it was made of.

    scenario, control, preset  as asked for; preset is "own" where parameters were given
    parameters  what the senders were told, with what `fill` replaced
    traffic   who sent what over which links;  run  what happened
    switches  what the switches did, `switches.marking` the ramp that marked, `switches.pfc` how they paused
    recovery  how lost packets were sent again, if any could be lost
    ideal     (F,) s: the time of each flow at fair shares; one that is served unfairly may be below it
    """

    scenario: str
    control: str
    preset: str
    parameters: Control
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
        """First, mean and last finish in s, the peak queue and what lies beyond the buffer in bytes, unfinished flows.

        mean and last are nan unless all flows finished; raise `until`. "first" is nan if none did. "beyond" is how much
        more than `switches.pfc.buffer` a switch that pauses held at once in a class: headroom that it must have. It is
        the sum of its queues at the moments of the series, or the peak of its longest queue if that is more, so at
        least this much; 0 where switches do not pause.
        """
        finish = self.run.finish
        unfinished = np.isnan(finish)
        first = finish[~unfinished].min() if not unfinished.all() else np.nan
        return {
            "first": float(first), "mean": float(finish.mean()), "last": float(finish.max()),
            "peak": float(self.run.peak.max()), "beyond": self._beyond(), "unfinished": float(unfinished.sum()),
        }  # fmt: skip

    def _beyond(self) -> float:
        """Bytes above the buffer of a switch that pauses."""
        pfc, series, made = self.switches.pfc, self.run.series, self.traffic
        if pfc is None:
            return 0.0
        gates = series["ingress"].reshape(len(self.run.time), -1, made.lanes)  # (T, L, lanes)
        at_once = [gates[:, made.enters == each].sum(axis=1).max() for each in np.unique(made.enters)]
        return float(max(0.0, max(*at_once, self.run.peak.max()) - pfc.buffer))


@declared
def experiment(
    scenario: Scenario, control: str, preset_name: str | Control, *, hosts: int | None = None, size: float = 2e6,
    link: Link | None = None, packet: Packet | None = None, paths: Paths = "ecmp", spread: bool = False,
    fill: Mapping[str, object] | None = None, beside: tuple[str, str | Control] | None = None,
    around: Around | None = None, buffer: float | None = None, marking: str | Marking | None = None,
    pauses: Pfc | None = None, recovery: Recovery | None = None, loss: float | None = None,
    seed: int = 0, dt: float = 0.5e-6, until: float = 20e-3, every: int = 16,
) -> Experiment:  # fmt: skip
    """Run `scenario` under the preset `preset_name` of `control`, or under parameters of your own.

    What is sent:

    scenario  "incast": `hosts` senders, one receiver. "permutation": each host of a fat-tree sends to one other;
              "all-to-all": to each other. "victim": an incast of `hosts` and one more flow from one of its senders.
              "loss": one flow over a cable that destroys packets
    hosts     how many send, 8; on a fat-tree its k: 8 (128 hosts), and 4 (16 hosts) in "all-to-all"
    size      bytes of each flow
    link      every cable; by default 100 Gb/s and 3.5 us. `Link(2e-6, 50e9)` is 400 Gb/s: bytes/s, one way
    packet    by default 1,000 bytes and 38 of headers on the wire; for NSCC and credits 4,086 and 64
    paths     on a fat-tree: "ecmp", one way for each flow, or "spray", all shortest ways
    spread    in "incast" and "victim": starts are drawn, spread over one packet of each flow (`staggered`); by default
              all start at one instant, and a finish counts from the flow's own start
    loss      share of packets that the cable destroys in "loss"; by default 0.01

    Who controls it:

    control, preset_name  such as "dcqcn" and one of its presets, or a `Dcqcn(...)` in place of the preset
    fill      fields of the preset to give or replace, such as {"byte_counter": 10e6}
    beside    a second control and its preset or parameters, such as ("dcqcn", "paper"), for every second flow: cards
              of two kinds on one network. Switches are set, and losses sent again, as the first control asks; CNPs come
              at the gap of whichever is DCQCN, of the first if both are. Name the one that reads marks first

    What is around it; the default is what belongs to the control, and the result shows it:

    around    "pause" (PFC), "trim", "drop" (the newest) or "room" for all; by default trimming for NSCC and credits,
              pauses for the others, room for all in "loss"
    buffer    bytes: of a switch that pauses, what its thresholds share (32 MiB). Headroom is unlimited: what arrives
              after a pause is kept beyond it, see summary()["beyond"]. Of one queue of a switch that drops (16 MB) or
              trims (one round trip of 14.3 us at the link's rate): what it holds at most
    marking   a `Marking`, or a preset of "marking". By default DCQCN is marked by the ramp "ns3", whatever its own
              preset, scaled with the rate of the link; DCTCP by the step "ns3-dctcp"; NSCC from 20 to 80 % of the
              trimming queue; the others do not read marks: they get none, and refuse one
    pauses    a `Pfc`, by default `LOSSLESS`
    recovery  a `Recovery`, by default go-back-N, and selective repeat for NSCC and credits and where switches trim;
              both with a timeout of 4 ms

    How it is computed:

    seed      draws marks, losses, permutations, spread starts; the same seed gives the same bits, another another run
    dt        s of a step, at most an eighth of the shortest round trip
    until     s after which the run ends, done or not;  every  steps between two moments of the series

    One run is one draw. Where few marks or losses decide, as with slow timers and short flows, runs differ by factors:
    "connectx-timer" on `Link(2e-6, 50e9)` is done after 1.2 to 8.7 ms under five seeds, and half the `dt` moves the
    mean of that from 5.2 to 2.1 ms. Before you believe a number, take several seeds
    (`netlib.congestion.repetition.over_seeds`), and halve `dt` once. All start at one instant. Controls that draw
    nothing (HPCC, PowerTCP, Swift) then act in step, and seeds show no spread: give spread=True.
    ValueError says which argument does not fit, or would be ignored.

    >>> seen = experiment("incast", "uncontrolled", "line-rate", hosts=2, size=1e6)
    >>> (seen.run.finish * 1e6).round(-1).tolist(), round(float(seen.slowdown.max()), 1)
    ([180.0, 180.0], 1.0)
    >>> card = preset("dcqcn", "connectx", fill={"byte_counter": 10e6})
    >>> seen = experiment("incast", "dcqcn", card, hosts=2, size=1e5, marking="sonic")
    >>> seen.preset, seen.switches.marking.k_min
    ('own', 1048576.0)
    """
    number = _check(scenario, hosts, paths, around, loss, seed)
    if spread and scenario not in ("incast", "victim"):
        raise ValueError(f"spread would be ignored in {scenario!r}; leave it out, or give scenario = 'incast'")
    cable = link or Link(3.5e-6, 12.5e9)
    rate = float(speed_of_port("link", alike(cable)[0]))
    told = _told(control, preset_name, rate, fill)
    other = None if beside is None else _told(*_pair(beside), rate)
    others = [] if other is None else [other]
    if others:
        _refuse_to_mix(told, *others)
    outside = Surroundings(around, buffer, marking, pauses, recovery)
    lossy = scenario == "loss"
    kind = outside.kind(told, lossy)
    switches, repeats = outside.switches(told, kind, rate, *others), outside.repeats(told, kind, lossy)
    if lossy:
        switches = replace(switches, loss=0.01 if loss is None else loss, lossy=(1,))
    rng = np.random.default_rng(seed)
    made = _traffic(
        scenario, number, floats("size", size, above=True), cable, packet or packet_of(told), paths, spread, rng
    )
    dealt = Spread("random") if len(made.way) > made.flows else None
    senders = sender(told, made)
    if other is not None:
        if made.flows < 2:
            raise ValueError("beside would be ignored: one flow is sent, by the first control; leave it out")
        senders = MixedSender(senders, sender(other, made), np.arange(made.flows) % 2 == 1)
    seen = run(made, senders, until, rng, switches, dt, every, repeats, dealt)
    name = preset_name if isinstance(preset_name, str) else "own"
    return Experiment(scenario, control, name, told, made, seen, switches, repeats, _ideal(made))


def _told(control: str, given: str | Control, rate: float, fill: Mapping[str, object] | None = None) -> Control:
    """The parameters of a sender's control: of a preset, or given as such."""
    if control == "marking":
        raise ValueError(f"control = {control!r} is the switch's side; give a sender's, such as 'dcqcn'")
    if isinstance(given, str):
        told = preset(control, given, rate, fill)
        assert not isinstance(told, Marking)
        return told
    if fill is not None:
        raise ValueError("fill goes with the name of a preset; these are parameters, use dataclasses.replace on them")
    if TYPES.get(control) is not type(given):
        fits = f"a preset's name or a {TYPES[control].__name__}" if control in TYPES else f"one of {', '.join(TYPES)}"
        raise ValueError(
            f"preset_name = {type(given).__name__}(...) does not fit control = {control[:40]!r}; "
            f"give control = {CONTROLS[type(given)]!r}, or {fits}"
        )
    return given


def _pair(beside: tuple[str, str | Control]) -> tuple[str, str | Control]:
    two = isinstance(beside, tuple | list) and len(beside) == 2
    if not (two and isinstance(beside[0], str) and isinstance(beside[1], (str, *CONTROLS))):
        raise ValueError(f"beside = {quoted(beside)} is not a control and its preset, such as ('dcqcn', 'paper')")
    return beside[0], beside[1]


def _refuse_to_mix(*controls: Control) -> None:
    """Credits are dealt by the receiver to all; telemetry re-paces the whole card."""
    for each in controls:
        if isinstance(each, (Credits, Hpcc, PowerTcp)):
            raise ValueError(
                f"beside mixes controls that decide flow by flow; {type(each).__name__} does not, so run it alone"
            )


def _check(
    scenario: Scenario, hosts: int | None, paths: Paths, around: Around | None, loss: float | None, seed: int
) -> int:
    """Refuse what makes no sense, or would be ignored, before anything is built; the number of hosts."""
    one_of("scenario", scenario, get_args(Scenario))
    one_of("paths", paths, get_args(Paths))
    if around is not None:
        one_of("around", around, get_args(Around))
    number = _HOSTS[scenario] if hosts is None else hosts
    if (most := MOST_PORTS.get(scenario)) and (number % 2 or not 2 <= number <= most):
        raise ValueError(f"hosts = {number} is the k of a fat-tree here; give an even number from 2 to {most}")
    if not 1 <= number <= MOST_HOSTS:
        raise ValueError(f"hosts = {number} must be between 1 and {MOST_HOSTS}; give the number of hosts that send")
    if loss is not None and not 0 <= loss <= 0.5:
        raise ValueError(f"loss = {loss:g} is a share of packets; give a number between 0 and 0.5")
    if scenario == "loss" and number > 1:
        raise ValueError(f"hosts = {number} would be ignored: in 'loss' one host sends; leave it out")
    if loss is not None and scenario != "loss":
        raise ValueError(f"loss = {loss:g} would be ignored in {scenario!r}; leave it out, or give scenario = 'loss'")
    if paths == "spray" and scenario not in MOST_PORTS:
        raise ValueError(f"paths = 'spray' would be ignored: {scenario!r} has one way; give a scenario on a fat-tree")
    if seed < 0:
        raise ValueError(f"seed = {seed} must be at least 0; give any whole number, such as 0")
    return number


def _traffic(
    scenario: Scenario, hosts: int, size: Floats, link: Link, packet: Packet, paths: Paths, spread: bool,
    rng: np.random.Generator,
) -> Traffic:  # fmt: skip
    """The flows of a scenario."""
    if scenario == "incast":
        return incast(hosts, size, link, packet, staggered(hosts, link, packet, rng) if spread else 0.0)
    if scenario == "victim":
        start = staggered(hosts + 1, link, packet, rng) if spread else 0.0
        return victim(hosts, size, link, packet, start=start)
    if scenario == "loss":
        return one_flow(size, link, packet)
    fabric = fat_tree(hosts, link)
    if scenario == "permutation":
        return permutation(fabric, size, packet, rng, paths)
    return all_to_all(fabric, size, packet, paths)


def _ideal(traffic: Traffic) -> Floats:
    """(F,) s of each flow at max-min fair rates, and the base round trip."""
    from netlib.topology import completion_times

    whole = traffic.flow[np.concatenate([[True], traffic.flow[1:] != traffic.flow[:-1]])]
    if len(traffic.way) > traffic.flows:  # free to use all ways: only NICs and receivers bind
        ends = np.stack([traffic.sender, traffic.receiver], axis=1)
        return np.asarray(completion_times(ends, traffic.wire, traffic.capacity) + traffic.base_rtt())
    return np.asarray(completion_times(traffic.way[whole], traffic.wire, traffic.capacity) + traffic.base_rtt())
