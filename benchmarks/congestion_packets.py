"""The packet-level engine: 64 incasts side by side against packet simulators, and how time grows with flows and steps.

Ours runs here, on one core. The peers' seconds were recorded once, each alone on one core of another machine, a Xeon
shared with other work, so they are good to 30 %: read the ratios as orders of magnitude. Peers: ns-3.39
(inet-tub/ns3-datacenter at 6ddb4a4) and uet-htsim (ultraethernet/uet-htsim at 40ccb05), Release builds, one incast of
32 flows of 2 MB at 100 Gb/s. `python -m benchmarks.congestion_packets --costs` writes the table that the book draws.
"""

import argparse
import platform
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from benchmarks.congestion import fluid
from netlib.congestion.packets.engine import Engine, Heard, Switches
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.traffic import Packet, Traffic, incast, together
from netlib.congestion.parameters import Marking
from netlib.fidelity.peers import Case, law_of, recovery_of, switches_of, traffic_of
from netlib.links import Link

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "netlib" / "congestion" / "costs.csv"
LINK = Link(3.5e-6, 12.5e9)
WIRE = Packet(1000, 1038)
SCENARIOS, DT = 64, 0.5e-6

# CPU seconds of one 32:1 incast of 2 MB at the peers; recorded with the versions above.
RECORDED = {
    Case("htsim", "pauses", "incast", 32, 2e6): 0.464,
    Case("htsim", "NSCC", "incast", 32, 2e6): 0.168,
    Case("htsim", "RCCC", "incast", 32, 2e6): 0.136,
    Case("ns-3", "DCQCN", "incast", 32, 2e6, 100e3, 400e3): 0.67,
    Case("ns-3", "DCTCP", "incast", 32, 2e6, 100e3, 400e3): 0.63,
    Case("ns-3", "HPCC", "incast", 32, 2e6): 0.56,
    Case("ns-3", "PowerTCP", "incast", 32, 2e6): 0.64,
    Case("ns-3", "TIMELY", "incast", 32, 2e6): 0.56,
}


class Steady:
    """Line rate, and a window: no control, so that the engine alone is timed."""

    def __init__(self, traffic: Traffic, window: float) -> None:
        self.rate, self.window = traffic.line_rate, np.full(traffic.flows, window)

    def react(self, now: float, heard: Heard) -> None:
        """Nothing."""


def row(
    name: str, size: object, ours: float, peer: str | None = None, peer_s: float | None = None
) -> dict[str, object]:
    """A row as run.py wants it."""
    fields = {"name": name, "size": size, "ours_s": ours, "peer": peer, "peer_s": peer_s}
    return {**fields, "ratio": None if peer_s is None else ours / peer_s}


def engine(senders: int, scenarios: int, switches: Switches, window: float = 175e3) -> Engine:
    """Incasts side by side."""
    made = together([incast(senders, 2e6, LINK, WIRE)] * scenarios)
    return Engine(made, Steady(made, window), switches, np.random.default_rng(0), DT)


def to_the_end(run: Engine) -> tuple[float, float]:
    """Processor seconds until all flows are done, and the microseconds that passed for them."""
    begun = time.process_time()
    while run.open:
        run.advance()
    return time.process_time() - begun, float(run.finish.max() * 1e6)


def some_steps(run: Engine, steps: int = 400) -> float:
    """Processor seconds of a step, once the network is full."""
    for _ in range(150):
        run.advance()
    begun = time.process_time()
    for _ in range(steps):
        run.advance()
    return (time.process_time() - begun) / steps


def side_by_side(case: Case) -> Engine:
    """64 incasts of a peer's case, under the peer's own control, in one batch."""
    law, rng = law_of(case), np.random.default_rng(case.seed)
    made = together([traffic_of(case, law, rng) for _ in range(SCENARIOS)])
    return Engine(made, sender(law.control, made), switches_of(case, law), rng, DT, recovery_of(law))


def rows() -> list[dict[str, object]]:
    """64 incasts until they end, per incast, each control against its peer; then a step by number of flows."""
    found = []
    for case, recorded in RECORDED.items():
        seconds, last = to_the_end(side_by_side(case))
        name = f"64 incasts, {case.law}, each ({last:.0f} us)"
        found.append(row(name, case.hosts, seconds / SCENARIOS, f"{case.peer}, {case.law}", recorded))
    pfc = Switches(pfc=Pfc(np.inf, 0, 12 * 4150, 3 * 4150, 0))
    for flows in (512, 1024, 2048, 4096):
        found.append(row("a step of 32-flow incasts", flows, some_steps(engine(32, flows // 32, pfc))))
    marked = Switches(Marking(100e3, 400e3, 0.2, "departure"), pfc.pfc)
    found.append(row("a step, marking too", 2048, some_steps(engine(32, 64, marked))))
    return found


def costs() -> None:
    """Measure both engines, each grown in size and in steps, and write the table: best of three."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    lines = [
        "# Processor seconds. packets: incasts of 32 flows side by side, PFC, steps of 0.5 us, by flows; fluid: DCQCN",
        "# with delay, steps of 1 us, by scenarios.",
        f"# machine: {names[0].partition(': ')[2] if names else platform.machine()}, {len(names)} cores;"
        f" Python {platform.python_version()}, numpy {np.__version__}",
        f"# date: {datetime.now(UTC):%Y-%m-%d}; command: python -m benchmarks.congestion_packets --costs",
        "engine,grown,size,steps,seconds",
    ]
    pfc = Switches(pfc=Pfc(np.inf, 0, 12 * 4150, 3 * 4150, 0))

    def packets(flows: int, steps: int) -> float:
        return min(some_steps(engine(32, flows // 32, pfc), steps) for _ in range(3)) * steps

    cases: list[tuple[str, str, Callable[[int, int], float], list[tuple[int, int]]]] = [
        ("packets", "size", packets, [(32 * 4**k, 400) for k in range(6)]),
        ("packets", "steps", packets, [(2048, 200 * 2**k) for k in range(4)]),
        ("fluid", "size", lambda size, steps: fluid(size, steps)[0], [(4**k, 2000) for k in range(8)]),
        ("fluid", "steps", lambda size, steps: fluid(size, steps)[0], [(256, 2500 * 2**k) for k in range(5)]),
    ]
    for name, grown, measure, states in cases:
        for size, steps in states:
            lines.append(f"{name},{grown},{size},{steps},{measure(size, steps):.3g}")
            print(lines[-1], flush=True)
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--costs", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    if parser.parse_args().costs:
        costs()
    else:
        for each in rows():
            print(each)
