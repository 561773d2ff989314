"""Congestion control: what a run of a fluid model costs, how it grows with flows and steps, and what a map costs.

Seconds are the processor's, on one core: what else the machine does is not counted. The budgets are 20 s for 256
scenarios x 200,000 steps and 3 s for a map of 50 x 50; the first is measured with a tenth of the steps. The peer is the
same model integrated one scenario after another, as a plain script does it.
"""

import time
from collections.abc import Callable

import numpy as np

from netlib.congestion.fluid import dcqcn_run, phase_margin, published_loop, stability_map
from netlib.congestion.parameters import Dcqcn, Marking

PAPER = Dcqcn("paper", 1 / 256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
RED = Marking(k_min=5e3, k_max=200e3, p_max=0.01)
STEP = 1e-6


def row(name: str, size: int, ours: float, peer: str | None = None, peer_s: float | None = None) -> dict[str, object]:
    """A row as run.py wants it."""
    fields = {"name": name, "size": size, "ours_s": ours, "peer": peer, "peer_s": peer_s}
    return {**fields, "ratio": None if peer_s is None else ours / peer_s}


def timed(call: Callable[[], object], repeat: int = 1) -> tuple[float, object]:
    """The least processor seconds of some calls, and what the last one gave."""
    best = np.inf
    for _ in range(repeat):
        begun = time.process_time()
        result = call()
        best = min(best, time.process_time() - begun)
    return float(best), result


def fluid(scenarios: int, steps: int, flows: int | None = None) -> tuple[float, object]:
    """Seconds of a batch of DCQCN runs: classes of identical flows, or `flows` distinct ones in each scenario."""
    delay = np.linspace(4e-6, 100e-6, scenarios)
    many = np.arange(scenarios) % 60 + 2 if flows is None else flows
    start = None if flows is None else np.linspace(0.1, 1.0, flows) * 5e9
    return timed(lambda: dcqcn_run(PAPER, RED, 5e9, many, delay, steps * STEP, start=start, step=STEP), 2)


def fluid_rows() -> list[dict[str, object]]:
    """Scenarios, steps and flows, each doubled or more: the time of one step, and how it grows."""
    found = []
    for scenarios in (1, 16, 64, 256, 1024):
        seconds, _ = fluid(scenarios, 5_000)
        found.append(row("fluid, 5,000 steps: scenarios", scenarios, seconds))
    for steps in (5_000, 10_000, 20_000):
        seconds, _ = fluid(256, steps)
        found.append(row("fluid, 256 scenarios: steps", steps, seconds))
    for flows in (16, 64, 256, 1024):
        seconds, _ = fluid(16, 2_000, flows)
        found.append(row("fluid, 16 x 2,000: flows", flows, seconds))
    ours, run = fluid(16, 5_000)
    one, alone = timed(lambda: dcqcn_run(PAPER, RED, 5e9, 2, 4e-6, 5_000 * STEP, step=STEP))
    np.testing.assert_array_equal(run.queue[0], alone.queue[0])  # type: ignore[attr-defined]
    found.append(row("fluid, 16 scenarios at once", 16, ours, "one by one", 16 * one))
    return found


def stability_rows() -> list[dict[str, object]]:
    """A map of phase margins, exact and published."""
    many, late = np.arange(2, 52), np.linspace(0, 100e-6, 50)
    exact, _ = timed(lambda: stability_map(PAPER, RED, 5e9, many, late), 3)
    loop = published_loop(PAPER, RED, 5e9, many).over((50, 50))
    published, _ = timed(lambda: phase_margin(loop, late, cut="delay"), 3)
    return [row("stability map, exact", 2500, exact), row("stability map, published", 2500, published)]


def rows() -> list[dict[str, object]]:
    """All measurements of this file."""
    return fluid_rows() + stability_rows()
