"""Every public function with every argument wrong in every way: a result or one clear sentence, at once."""

import inspect

import numpy as np
import pytest

from netlib.congestion import fluid
from netlib.congestion.parameters import Hpcc, PowerTcp, Swift
from tests.congestion.fluid.paper import PAPER, PATCHED, RED
from tests.nonsense import needed, one_sentence_or_a_result

LOOP = fluid.dcqcn_loop(PAPER, RED, 5e9, 2)
PLANE = fluid.Plane("power", 12.5e9, 20e-6, 10e3, 45e3)
SWIFT = Swift(25e-6, 1e-6, 50e-6, 0.1, 100.0, 1.0, 0.8, 0.5, 0.001)
GIVEN = {
    "control": PAPER, "marking": RED, "capacity": 5e9, "flows": 2, "delay": 0.02, "delays": 0.02, "seconds": 0.1,
    "propagation": 0.02, "rtt": 0.02, "queue": 10e3, "loop": LOOP, "plane": PLANE, "window": 300e3, "time": 1e-3,
    "gain": 45e3, "hops": 1.0,
}  # fmt: skip
OWN = {
    "hpcc_rest": {"control": Hpcc(0.95, 0, 80.0)}, "power_tcp_rest": {"control": PowerTcp(0.9, 100.0, False)},
    "window_run": {"control": PowerTcp(0.9, 100.0, False)}, "swift_target": {"control": SWIFT},
    **{f"timely_{name}": {"control": PATCHED} for name in ("run", "rest", "margin", "most_flows", "convergence")},
}  # fmt: skip
STEPS = {  # long steps: what is refused or not is the same, and done at once
    "dcqcn_run": {"step": 0.01, "rng": np.random.default_rng(0)},
    "timely_run": {"step": 0.01, "rng": np.random.default_rng(0)},
    "window_run": {"step": 0.01},
    "growth": {"step": 0.002},
    "dcqcn_verdicts": {"step": 0.005, "seconds": 0.25},
    "plane_path": {"points": 5, "seconds": 1e-3},
}
SKIP = ("integrate", "checked_step")  # take functions of ours, tested where they stand
CALLS = {
    name: call for name, call in vars(fluid).items()
    if name in fluid.__all__ and inspect.isfunction(call) and name not in SKIP
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CALLS))
def test_nonsense(name):
    call = CALLS[name]
    right = {**needed(call, OWN.get(name, {}), GIVEN), **STEPS.get(name, {})}
    one_sentence_or_a_result(call, right)


@pytest.mark.parametrize("made", [fluid.PiMarking, fluid.Plane])
def test_nonsense_for_data(made):
    right = {"reference": 2e5, "proportional": 1e-8, "integral": 2e-7}
    right = (
        right if made is fluid.PiMarking else {"kind": "power", "capacity": 1e9, "rtt": 1e-5, "beta": 0, "gain": 1e4}
    )
    one_sentence_or_a_result(made, right)
