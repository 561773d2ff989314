"""What a taper costs: an all-reduce across pods whose uplinks are oversubscribed."""

from typing import Annotated

import numpy as np

from netlib.collectives import ring_allreduce_time, shard_bytes
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule
from netlib.hardware import bandwidth
from netlib.links import Link

PARAMETERS, MODEL = 405e9, 128
NIC = bandwidth("ndr-400")
STEP = 10.0  # seconds of a training step that the all-reduce is set against


@explorer(
    "taper",
    title="What a taper costs",
    caption="A 405B model, split 128 ways inside each pod, gradients in BF16, one ring across the pods for each "
    "shard, all NICs crossing at once. Meta tapers its top tier 7:1. A reduce-scatter among the replicas inside a pod "
    "shrinks the shard before it meets the taper.",
    alt="Straight rising lines of time over the taper on log axes, one without and one with a reduce-scatter inside "
    "the pod; the second lies lower by the number of replicas, and a mark stands at seven to one.",
)
def taper(
    ratio: Annotated[Array, Knob(1, 2, 3, 4, 7, 10, 15, default=7, unit=": 1", label="taper")],
    pods: Annotated[Array, Knob(2, 4, 8, 16, default=8, unit="pods")],
    replicas: Annotated[Array, Knob(1, 2, 4, 8, 24, default=24, unit="replicas a pod", label="scattered over")],
) -> Figure:
    """Ring across the pods at the NIC's rate divided by the taper."""
    shown = np.geomspace(1, 16, 33)
    shard = float(shard_bytes(2 * PARAMETERS, MODEL, 1))

    def time(size: float | Array, taper: float | Array) -> Array:
        return ring_allreduce_time(size, pods, Link(0.0, NIC / np.asarray(taper)))

    own = time(shard / replicas, ratio)
    return Figure(
        x=Axis("taper of the top tier", ": 1", "log"),
        y=Axis("time across the pods", "s", "log", limits=(1e-3, 1e1)),
        elements=(
            Line("whole shard crosses", shown, time(shard, shown), "nic"),
            Line("scattered first", shown, time(shard / replicas, shown), "useful"),
            Points("chosen", ratio, own),
            Rule(7.0, "Meta: {at}", ink="measured"),
        ),
        numbers={
            "shard": Number(shard, "B", "gradients of one GPU"),
            "full": Number(time(shard, 1.0), "s", "whole shard, no taper"),
            "tapered": Number(time(shard, ratio), "s", "whole shard, this taper"),
            "time": Number(own, "s", "this taper, scattered"),
            "share": Number(own / STEP, "%", "of a step of ten seconds"),
        },
        reading="A shard of {shard} takes {full} across {pods} without a taper and {tapered} with {ratio}; scattered "
        "over {replicas} it takes {time}.",
        failure=lambda s: (
            f"{s['time']:.2g} s of a ten-second step cross the taper: the job should shrink its traffic inside the "
            "pod first."
            if s["share"] > 0.2
            else ""
        ),
    )
