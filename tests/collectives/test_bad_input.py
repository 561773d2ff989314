"""Every public function of the package, of nccl and of training, every argument wrong in every way: a result or one
clear sentence, at once."""

import inspect
import warnings
from fractions import Fraction

import numpy as np
import pytest

from netlib import collectives
from netlib.collectives import (
    LogGP,
    direct_allreduce,
    moe_dispatch,
    nccl,
    nvls_allreduce,
    phase,
    ring_all_gather,
    ring_allreduce,
    ring_reduce_scatter,
    routing_of,
    schedule_of,
    training,
    wired,
)
from netlib.links import Link
from netlib.topology import one_switch, rail_optimised

LINK = Link(1e-6, 50e9)
RING, STAR = ring_allreduce(4), one_switch(4, LINK)
MODEL, LAYOUT = training.model("gpt3-175b"), training.Layout(tp=8, dp=2, pp=8, microbatches=8)
MACHINE = training.Cluster("x", 1e15, 8e14, Link(0, 450e9), LINK)
ROUTING = routing_of([[[0, 3]], [[1, 2]]], total=4, g=2, nodes=1)
FLOWS = training.step_flows(MODEL, LAYOUT)
DGX = nccl.named("dgx-h100", 2)
RUN = training.runs("megatron")[0]

GIVEN = {  # a right value for each argument that has no default
    "n": 4, "size": 1e6, "sizes": [1e6], "link": LINK, "up": Link(0, 450e9), "out": LINK, "g": 4, "nodes": 2, "op": "all_reduce",
    "model": 1e9, "dp": 8, "tp": 8, "pp": 8, "ep": 8, "stage": 2, "schedule": RING, "buffers": np.ones((4, 4)), "fabric": STAR,
    "rng": np.random.default_rng(0), "time": 1e-3, "busbw": 1e11, "radix": 2, "sides": [2, 2], "tokens": 8, "hidden": 64,
    "width": 2, "layers": 4, "top_k": 2, "total": 8, "groups": 2, "levels": 2, "share": 0.9, "alpha": 1e-6, "bandwidth": 5e10,
    "volume": [[0, 6], [2, 0]], "order": [0, 2, 1, 3], "experts": [[[0, 3]], [[1, 2]]], "routing": ROUTING, "name": "x",
    "schedules": [RING, RING], "phases": [], "step": 0, "src": [0, 1], "dst": [1, 0], "chunk": [0, 1], "add": True,
    "cables": [1], "factor": 4.0, "L": 1e-6, "o": 1e-6, "G": 1e-11, "version": "2.30.7", "gpu": "Hopper", "per_node": 8,
    "settings": {"NCCL_ALGO": "ring"}, "text": "NCCL_ALGO=ring", "cluster": DGX, "channels": 4, "p": 4, "m": 8, "v": 2,
    "layout": LAYOUT, "axis": "tp", "sequences": 16, "id": "gpt3-175b", "flows": FLOWS, "flow": FLOWS[0], "bucket": 25e6,
    "place": training.placement(LAYOUT, "tp", 8), "backward": [1.0, 1.0], "gradients": [1e7, 1e7], "cost": lambda size: size * 1e-9,
    "compute": [1.0, 1.0], "gather": [0.5, 0.5], "paper": "megatron", "run": RUN, "shape": MODEL, "small": lambda size: 1e-6 + 2 * size * 1e-9,
    "large": lambda size: 1e-5 + size * 1e-9, "reduce_inside": ring_reduce_scatter(4), "across": ring_allreduce(2),
    "gather_inside": ring_all_gather(4), "forward": 1.0, "overlapped": 2.5, "weight": 0.5, "count": 4, "intra": 1e9, "inter": 1e9,
    "ring": nccl.Channels(4, 1e10, 1e10), "tuning": nccl.tune("2.30.7", DGX), "rows": training.side_by_side(),
}  # fmt: skip
OWN = {
    "collectives": {
        "LogGP": {"g": 0.0},
        "expected_copies": {"total": 8},
        "routing_of": {"g": 2, "nodes": 1, "total": 4},
        "shard_bytes": {"tp": 8},
            },
    "nccl": {"named": {"name": "p5"}, "variable": {"name": "NCCL_ALGO"}, "symmetric_times": {"op": "all_reduce"}},
    "training": {
        "step_flows": {"model": MODEL}, "step_time": {"model": MODEL, "cluster": MACHINE},
        "by_order": {"model": MODEL, "cluster": MACHINE}, "call_time": {"cluster": MACHINE},
        "check_fit": {"model": MODEL}, "stage_layers": {"model": MODEL}, "token_copies": {"experts": 64, "ep": 8, "g": 8},
        "timetable": {"schedule": training.one_f_one_b(2, 4)}, "dualpipe_idle": {"backward": 2.0},
        "zero_bubble_idle": {"backward": 2.0}, "Cluster": {"peak": 1e15, "matmul": 8e14, "name": "x"}, "placement": {"g": 8},
    },
}  # fmt: skip
for each in ("loggp_binomial_broadcast_time", "loggp_recursive_doubling_time", "loggp_ring_allreduce_time", "loggp_clock"):
    OWN["collectives"][each] = {"model": LogGP(1e-6, 1e-6, 0, 1e-11)}
MADE = {
    "collectives": {"Counts", "Op", "Routing", "Run", "Step", "Wiring", "Phase", "Schedule"},
    "nccl": {"Choice", "Symmetric", "Tuning", "Variable", "Verdict"},
    "training": {"Beside", "Copies", "Flow", "Model", "Ordered", "Overlap", "Pipeline", "Placement", "PublishedRun", "Timetable", "TrainingStep"},
}  # fmt: skip
PACKAGES = {"collectives": collectives, "nccl": nccl, "training": training}
NAMES = [
    (package, name)
    for package, module in PACKAGES.items()
    for name in module.__all__
    if callable(getattr(module, name)) and name not in MADE[package]
]
WRONG = [
    "abc", "8", b"8", None, float("nan"), float("inf"), -float("inf"), -1, 0, 1, True, 2.5, 2.0, 10**9, 10**30, 1e308, [],
    np.array([]), [[1, 2], [3, 4]], [[1], [2, 3]], [1, 2, 3], ["a", "b"], {"a": 1}, {1}, Fraction(1, 2), 1 + 2j,
    np.uint8(200), np.int8(100), np.array(4), np.array([np.nan]), object(), LINK, Link(0, [1e9, 2e9]), STAR, RING, DGX,
    MODEL, LAYOUT, ROUTING, lambda *given: None,
]  # fmt: skip
NOT_OURS = (
    "array element",
    "could not",
    "broadcast together",
    "ambiguous",
    "object has no",
    "identity",
    "Maximum allowed",
)
