"""DCQCN by three models: its fixed point, its equations with delay, and packets; where each says the queue stands.

`python -m netlib.fidelity.rest_runs` writes the table anew: the packets of a twentieth of a second take minutes.
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

from netlib.congestion import preset
from netlib.congestion.fluid import dcqcn_run, rest_point
from netlib.congestion.packets.engine import Switches, run
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.traffic import Packet, incast
from netlib.links import Link

TABLE = Path(__file__).with_name("rest_runs.csv")
RATE = 5e9  # 40 Gb/s, the link of the fluid study
STARTS = 0.5e-3  # s for each flow, over which starts are spread
_PACKET = Packet(1000, 1000)  # its packets, headers and all


@dataclass(frozen=True)
class RestCase:
    """`flows` of DCQCN with the paper's parameters; the signal is `delay` s old; the last half of a run counts.

    when     the moment of a packet at which the queue is looked at, as in `Marking`
    seconds  of packets; the fluid runs four times as long, since nothing shakes it into its rest
    dt       s of a step of packets
    """

    flows: int
    delay: float
    when: Literal["arrival", "departure"]
    seconds: float
    dt: float


@dataclass(frozen=True)
class Stood:
    """Bytes of queue: mean, 5th and 95th percentile; and the share of the time that it was empty."""

    mean: float
    low: float
    high: float
    empty: float


CASES = (
    RestCase(2, 4e-6, "departure", 0.05, 0.25e-6),
    RestCase(8, 4e-6, "departure", 0.05, 0.25e-6),
    RestCase(64, 4e-6, "departure", 0.06, 0.25e-6),
    RestCase(64, 4e-6, "arrival", 0.06, 0.25e-6),
    RestCase(8, 85e-6, "departure", 0.05, 1e-6),
    RestCase(16, 10e-6, "departure", 5e-3, 1e-6),  # some still to come, and soon run again by a test
)


def rest_queue(case: RestCase) -> float:
    """Bytes at the fixed point; nan if RED's ramp has none.

    >>> round(rest_queue(CASES[1]), -2)
    93800.0
    """
    return float(rest_point(preset("dcqcn", "fluid"), preset("marking", "dcqcn-paper"), RATE, case.flows).queue)


def fluid_run(case: RestCase, step: float = 2e-6) -> Stood:
    """The equations with delay, from line rate.

    >>> round(fluid_run(CASES[-1]).mean / 1e3)  # kB
    159
    """
    control, marking = preset("dcqcn", "fluid"), preset("marking", "dcqcn-paper")
    seen = dcqcn_run(control, marking, RATE, [case.flows], case.delay, 4 * case.seconds, step=step, every=10)
    return _stood(seen.queue[0, seen.time > 2 * case.seconds])


def packet_run(case: RestCase, seed: int = 0) -> Stood:
    """Senders, receivers and a marking switch, packet by packet, from line rate; starts spread over `STARTS` a flow.

    Senders that begin at one instant keep their timers in step and swing together, and those that begin behind a long
    queue hear of it late and make it longer; a fluid knows neither.

    >>> packet_run(CASES[-1]).mean > 0
    True
    """
    control = preset("dcqcn", "fluid")
    cable = Link((case.delay - 2 * _PACKET.wire / RATE) / 4, RATE)
    rng = np.random.default_rng(seed)
    start = rng.uniform(0, STARTS * case.flows, case.flows)
    made = incast(case.flows, 3 * case.seconds * RATE / case.flows, cable, _PACKET, start=start)
    marking = replace(preset("marking", "dcqcn-paper"), when=case.when)
    switches = Switches(marking=marking, cnp_interval=control.cnp_interval)
    seen = run(made, sender(control, made), case.seconds, rng, switches, case.dt, every=8)
    return _stood(seen.queue[seen.time > case.seconds / 2, 0])


def _stood(queue: np.ndarray) -> Stood:
    low, high = np.quantile(queue, [0.05, 0.95])
    return Stood(float(queue.mean()), float(low), float(high), float((queue <= 0).mean()))


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
        case = RestCase(int(row["flows"]), float(row["delay"]), when, float(row["seconds"]), float(row["dt"]))
        found[row["engine"], case] = Stood(*(float(row[each.name]) for each in fields(Stood)))
    return MappingProxyType(found)


if __name__ == "__main__":
    write_rests()
