"""Ring or tree? Time of an all-reduce against message size, one NIC per rank."""

from typing import Annotated

import numpy as np

from netlib.collectives import crossover_size, depth, double_tree_allreduce_time, ring_allreduce_time
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import GiB, KiB, MiB

BUCKET = 25 * MiB  # a data-parallel trainer's usual gradient bucket


@explorer(
    "ring-or-tree",
    title="Ring or tree?",
    caption="All-reduce in one flat ring or tree over every GPU, each with its own NDR port. Left of the crossing "
    "steps cost more than bytes and the double tree wins; right of it the ring, which sends fewest bytes, wins by a "
    "little. More nodes or slower steps push the crossing to the right.",
    alt="Two curves of time against message size on log axes. Both start flat, the ring far above the tree, and run "
    "into the same rising line; a vertical mark stands where they cross.",
)
def ring_or_tree(
    nodes: Annotated[Array, Knob(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, default=16, unit="nodes of 8 GPUs")],
    alpha: Annotated[Array, Knob(2e-6, 5e-6, 10e-6, 20e-6, default=10e-6, unit="s", label="latency per step")],
) -> Figure:
    """Ring and double tree over flat ranks, with the larger of the two lower bounds, of steps and of bytes."""
    size = np.geomspace(KiB, 16 * GiB, 97)
    n = 8 * nodes
    nic = Link(alpha, bandwidth("ndr-400"))
    ring = ring_allreduce_time(size, n, nic)
    bound = np.maximum(depth(n) * alpha, 2 * (n - 1) / n * size * nic.beta)
    crossing = crossover_size(
        lambda s: double_tree_allreduce_time(s, n, nic), lambda s: ring_allreduce_time(s, n, nic), low=1.0, high=1e15
    )
    waiting = 2 * (n - 1) * alpha / ring_allreduce_time(BUCKET, n, nic)
    return Figure(
        x=Axis("message size", "iB", "log"),
        y=Axis("time", "s", "log"),
        elements=(
            Line("lower bound", size, bound, "bound"),
            Line("ring", size, ring, "ring"),
            Line("double tree", size, double_tree_allreduce_time(size, n, nic), "tree"),
            Rule(crossing, "ring wins from {at}"),
        ),
        numbers={
            "gpus": Number(n, "GPUs", "ranks"),
            "crossing": Number(crossing, "iB", "ring wins from"),
            "steps": Number(2 * (n - 1), "steps", "steps of the ring"),
            "waiting": Number(waiting, "%", "latency in a ring all-reduce of 25 MiB"),
        },
        reading="On {gpus} the double tree wins up to {crossing}; there the ring's {steps} of {alpha} stop mattering "
        "and its fewer bytes win.",
        failure=lambda s: (
            f"A 25 MiB gradient bucket on the ring is {s['waiting']:.0%} waiting: the NICs are almost idle."
            if s["waiting"] > 0.9
            else ""
        ),
    )
