"""Every function of the arithmetic, every argument wrong in every way: a result or one clear sentence, at once."""

import inspect

import numpy as np
import pytest

from netlib.congestion import (
    arbitration,
    buffers,
    comparison,
    counters,
    credits,
    differences,
    headroom,
    latency,
    losses,
    pauses,
    preset,
    presets,
    recovery,
    schedulers,
    shares,
    thresholds,
)
from netlib.links import Link
from tests.nonsense import needed, one_sentence_or_a_result

PAPER, NS3 = preset("dcqcn", "paper"), preset("dcqcn", "ns3-datacenter")
GIVEN = {
    "rate": 50e9, "frames": 10.0, "counts": [1, 2], "window": 8, "storm": 1.0, "detection": 0.4, "restoration": 2.0,
    "gbit": 100, "length": 40, "cell": 144.0, "asic": "spectrum-1", "version": "1.0.3", "mtu_sent": 1500,
    "mtu_received": 1500, "delay": 5, "buffer": 12e6, "ports": 32, "priorities": 8, "headroom": 22.4e3, "beta": 8.0,
    "time": 0.1, "senders": 32, "queue": 1e6, "bdp": 1e5, "rtt": 1e-5, "flows": 4, "trials": 3,
    "rng": np.random.default_rng(0), "loss": 0.01, "scheme": "go-back-n", "packets": 10, "offered": [1.0, 1.0],
    "weights": [1, 1], "served": [1.0, 0.5], "discipline": "dwrr", "packet": 4, "capacity": 100.0, "seconds": 0.1,
    "credits": 1e5, "ticks": 50, "tables": arbitration.TABLES["nccl"], "limit": 4, "high_packet": 4096,
    "low_packet": 4096, "events": 3, "control": PAPER, "line": 5e9, "current": 1e9, "target": 2e9, "share": 0.5,
    "crisp": Link(2e-6, 25e9), "wide": Link(8e-6, 50e9), "link": Link(2e-6, 25e9), "ranks": 8,
    "marked": 100, "cnps": 10, "gap": 1e-5,
    "high": ((0, 1),), "low": ((1, 1),),
}  # fmt: skip
OWN = {
    "preset": {"control": "dcqcn", "name": "paper"},
    "preset_names": {"control": "dcqcn"},
    "preset_record": {"control": "dcqcn", "name": "paper"},
    "dimension_of": {"control": "dcqcn", "field": "g"},
    "simulate_lane": {"buffer": 100},
    "differences": {"a": PAPER, "b": NS3},
    "difference_table": {"rows": differences(PAPER, NS3)},
}
MODULES = (
    *(arbitration, buffers, comparison, counters, credits, headroom, latency),
    *(losses, pauses, presets, recovery, schedulers, shares, thresholds),
)
CALLS = [
    (name, call)
    for module in MODULES
    for name, call in vars(module).items()
    if inspect.isfunction(call) and inspect.unwrap(call).__module__ == module.__name__ and not name.startswith("_")
]


@pytest.mark.parametrize(("name", "call"), [*CALLS, ("Arbitration", arbitration.Arbitration)])
def test_a_wrong_argument_gives_one_sentence_or_a_result(name, call) -> None:
    one_sentence_or_a_result(call, needed(call, OWN.get(name, {}), GIVEN), PAPER, NS3, arbitration.TABLES["opensm"])


def test_the_sweep_reaches_every_function() -> None:
    assert len(CALLS) > 50
    assert {"preset", "walk_recovery", "simulate_lane", "weighted_shares"} <= {name for name, _ in CALLS}
