"""DCQCN by three models: its fixed point, its equations with delay, and packets; where each says the queue stands.

`python -m netlib.fidelity.rest_runs` writes the table anew, in a few minutes.
Read with the chapter "Congestion control", section "Three models, one answer".
"""

import csv
import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Literal

import numpy as np

from netlib.congestion import Dcqcn, Marking, preset
from netlib.congestion.fluid import dcqcn_run, rest_point
from netlib.congestion.packets.engine import Switches, run
from netlib.congestion.packets.senders.dcqcn import DcqcnPaper
from netlib.congestion.packets.traffic import Packet, incast, together
from netlib.links import Link

TABLE = Path(__file__).with_name("rest_runs.csv")
RATE = 5e9  # 40 Gb/s, the link of the fluid study
FEWEST, SIDE_BY_SIDE = 8, 128  # links that share nothing, each with chances of its own; flows on them if that is more
PUSH = 1.02  # of the rate at rest: what senders start with, or no queue would ever begin
SETTLED = 0.05  # most by which the two halves of what counts may differ, as a share of the later one
_PACKET = Packet(1000, 1000)  # its packets, headers and all


@dataclass(frozen=True)
class RestCase:
    """`flows` of DCQCN with the paper's parameters; the signal is `delay` s old; the last half of a run counts.

    when     the moment of a packet at which the queue is looked at, as in `Marking`
    seconds  of packets; the fluid, which begins at line rate and not at its rest, runs four times as long
    dt       s of a step of packets
    ramp     preset of the marks
    silence  s in which a receiver answers a flow at most once
    times    link, flows and ramp are as many times as large: the same rest for each flow, and more that share chance
    """

    flows: int
    delay: float
    when: Literal["arrival", "departure"]
    seconds: float
    dt: float
    ramp: str = "dcqcn-paper"
    silence: float = 50e-6
    times: int = 1

    @property
    def capacity(self) -> float:
        """Bytes/s of the link."""
        return RATE * self.times

    @property
    def control(self) -> Dcqcn:
        """What the flows run."""
        return replace(preset("dcqcn", "fluid"), cnp_interval=self.silence)

    @property
    def marking(self) -> Marking:
        """The ramp for this link."""
        base = preset("marking", self.ramp)
        return replace(base, k_min=base.k_min * self.times, k_max=base.k_max * self.times, when=self.when)


@dataclass(frozen=True)
class Stood:
    """Bytes of queue: mean, 5th and 95th percentile; share of the time that it was empty; means of the two halves."""

    mean: float
    low: float
    high: float
    empty: float
    earlier: float
    later: float

    @property
    def settled(self) -> bool:
        """Whether the two halves agree within `SETTLED`.

        >>> Stood(100.0, 90.0, 110.0, 0.0, 96.0, 100.0).settled, Stood(100.0, 90.0, 110.0, 0.0, 94.0, 100.0).settled
        (True, False)
        """
        return abs(self.earlier - self.later) <= SETTLED * self.later


CASES = (
    RestCase(2, 4e-6, "departure", 0.06, 0.4e-6),
    RestCase(8, 4e-6, "departure", 0.06, 0.4e-6),
    RestCase(8, 4e-6, "departure", 0.06, 0.4e-6, "same-slope"),
    RestCase(64, 4e-6, "departure", 0.06, 0.4e-6, "same-slope", times=8),
    RestCase(8, 4e-6, "departure", 0.06, 0.4e-6, "same-slope", silence=1e-6),
    RestCase(64, 4e-6, "departure", 0.06, 0.4e-6),
    RestCase(64, 4e-6, "arrival", 0.06, 0.4e-6),
    RestCase(8, 85e-6, "departure", 0.12, 4e-6),
    RestCase(2, 10e-6, "departure", 2e-3, 1e-6),  # not settled, and soon run again by a test
)


def rest_queue(case: RestCase) -> float:
    """Bytes at the fixed point; nan if RED's ramp has none.

    >>> round(rest_queue(CASES[1]), -2)
    93800.0
    """
    return float(rest_point(case.control, case.marking, case.capacity, case.flows).queue)


def event_queue(case: RestCase) -> float:
    """Bytes at which cuts and gains cancel when they are counted event by event; nan if RED's ramp has no such queue.

    The silence t begins with an answer, so the next cut is t and a wait for a mark away, 1 / (p R) on average, and the
    timer of T s ticks on meanwhile. A cut is followed by k ticks with a chance of w_k = exp(-p R max(k T - t, 0)). With
    sums over k, F steps of fast recovery and gains A,

        alpha = 1 / (1 + sum w_k),    R alpha / 2 (1 - sum w_k 2^-k) = A sum_{k > F} w_k (1 - 2^-(k-F)):

    one answer raises alpha and each tick lowers it, and what fast recovery leaves of a cut is what later ticks gain.
    Chance has no part in it but for the wait; the byte counter, which ticks once in milliseconds, has none at all.

    >>> round(event_queue(CASES[2]), -2), round(event_queue(CASES[4]), -2)
    (119300.0, 94800.0)
    """
    from scipy.optimize import brentq

    it, mark, rate = case.control, case.marking, case.capacity / case.flows
    k = np.arange(1, 2000)

    def gap(share: float) -> float:
        marked = np.exp(share) * rate / _PACKET.wire  # packets/s
        times = np.array([it.increase_timer, it.alpha_timer])[:, None]
        ticks, calm = np.exp(-marked * np.maximum(k * times - case.silence, 0))
        lost = rate / 2 / (1 + calm.sum()) * (1 - (ticks * 0.5**k).sum())
        late = k > it.fast_recovery
        return float(np.log(lost / (it.additive * (ticks[late] * (1 - 0.5 ** (k[late] - it.fast_recovery))).sum())))

    share = float(np.exp(brentq(gap, np.log(1e-5), np.log(0.5))))
    return mark.k_min + share / mark.slope if share <= mark.p_max else float("nan")


def fluid_run(case: RestCase, step: float = 2e-6) -> Stood:
    """The equations with delay, from line rate.

    >>> fluid_run(CASES[-1]).settled  # eight milliseconds are too few
    False
    """
    seen = dcqcn_run(
        case.control, case.marking, case.capacity, [case.flows], case.delay, 4 * case.seconds, step=step, every=10
    )
    return _stood(seen.queue[0, seen.time > 2 * case.seconds, None])


def packet_run(case: RestCase, seed: int = 0) -> Stood:
    """Senders, receivers and a marking switch, packet by packet, on `FEWEST` links or more that share nothing.

    Senders start as if they had long rested: with rate, target and alpha of the fixed point, `PUSH` above it. From line
    rate a run would need alpha's memory a few times over, 14 ms each, before it tells anything about a rest. The fixed
    point's rates do not depend on where the ramp ends.

    >>> packet_run(CASES[-1]).mean > 0
    True
    """
    control, marking, flows = case.control, case.marking, case.flows
    cable = Link((case.delay - 2 * _PACKET.wire / case.capacity) / 4, case.capacity)
    one = incast(flows, 3 * case.seconds * case.capacity / flows, cable, _PACKET)
    made = together([one] * max(FEWEST, SIDE_BY_SIDE // flows))
    rest = rest_point(control, marking, case.capacity, flows)
    sender = DcqcnPaper(made, control)
    sender.rate[:], sender.target[:], sender.alpha[:] = PUSH * rest.rate, rest.target, rest.alpha
    switches = Switches(marking=marking, cnp_interval=control.cnp_interval)
    seen = run(made, sender, case.seconds, np.random.default_rng(seed), switches, case.dt, every=8)
    return _stood(seen.queue[seen.time > case.seconds / 2])


def _stood(queue: np.ndarray) -> Stood:
    """Of (moments, links)."""
    low, high = np.quantile(queue, [0.05, 0.95])
    earlier, later = (float(half.mean()) for half in np.array_split(queue, 2))
    return Stood(float(queue.mean()), float(low), float(high), float((queue <= 0).mean()), earlier, later)


def write_rests(path: Path = TABLE, cases: tuple[RestCase, ...] = CASES) -> None:
    """Run both engines in all cases, and write what was seen."""
    names = ["engine", *(each.name for kind in (RestCase, Stood) for each in fields(kind))]
    with path.open("w", newline="", encoding="utf-8") as out:
        table = csv.DictWriter(out, names, lineterminator="\n")
        table.writeheader()
        for case in cases:
            for engine, found in (("fluid", fluid_run(case)), ("packets", packet_run(case))):
                shown = {name: f"{value:.10g}" for name, value in asdict(found).items()}
                table.writerow({"engine": engine} | asdict(case) | shown)
                out.flush()


@cache
def rests() -> Mapping[tuple[str, RestCase], Stood]:
    """What the table holds, by engine and case.

    >>> {engine for engine, case in rests()} == {"fluid", "packets"}
    True
    """
    text = (files("netlib.fidelity") / TABLE.name).read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        when: Literal["arrival", "departure"] = "arrival" if row["when"] == "arrival" else "departure"
        given = int(row["flows"]), float(row["delay"]), when, float(row["seconds"]), float(row["dt"])
        case = RestCase(*given, row["ramp"], float(row["silence"]), int(row["times"]))
        found[row["engine"], case] = Stood(*(float(row[each.name]) for each in fields(Stood)))
    return MappingProxyType(found)


def rest_gap(
    flows: int, ramp: str = "dcqcn-paper", silence: float = 50e-6, times: int = 1, *, events: bool = False
) -> float:
    """By which share the queue of packets stands above the fixed point; with `events`, the queue counted by events.

    Of signals 4 us old and marks on departure. ValueError if no such run is recorded, or it had not settled.

    >>> rest_gap(8, "same-slope") > rest_gap(8, "same-slope", silence=1e-6)
    True
    """
    asked = (flows, 4e-6, "departure", ramp, silence, times)
    for (engine, case), seen in rests().items():
        held = (case.flows, case.delay, case.when, case.ramp, case.silence, case.times)
        if engine == "packets" and held == asked and seen.settled:
            return (event_queue(case) if events else seen.mean) / rest_queue(case) - 1
    raise ValueError(f"flows = {flows} on the ramp {ramp!r} has no settled run; give those of a case in rest_runs")


if __name__ == "__main__":
    write_rests()
