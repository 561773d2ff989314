"""Overlap: exposed time over the size of the bucket, a curve with a best size."""

from functools import cache
from typing import Annotated

import numpy as np

from netlib.collectives.training import Flow, Placement, call_time, exposed_by_bucket
from netlib.course.explorer import Knob, each, explorer
from netlib.course.explorers.overlap_buckets import MACHINE, SHAPE, TP, backward
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.units import GB, MB, MiB

SIZES = np.geomspace(10 * MB, 20 * GB, 41)
DEFAULT = 25 * MiB  # bucket_cap_mb of PyTorch's DistributedDataParallel
# a layer's tensors in the order of the forward pass: queries, keys and values, their output, the three of the MLP
TENSORS = np.array([
    (SHAPE.heads + 2 * SHAPE.kv_heads) * SHAPE.head_dim * SHAPE.hidden,
    SHAPE.heads * SHAPE.v_dim * SHAPE.hidden,
    *[SHAPE.hidden * SHAPE.ffn] * 3,
]) * 2.0 / TP  # fmt: skip


@cache
def state(alpha: float, nodes: int, tokens: int) -> Array:
    """Exposed seconds for each size, and for PyTorch's; the backward pass alone."""
    gradients = np.tile(TENSORS, SHAPE.layers)
    work = backward(tokens) * SHAPE.layers * gradients / gradients.sum()
    place, flow = Placement("dp", nodes, 1, nodes), Flow("dp", "all_reduce", "gradients", nodes, 1, 1.0)
    per_byte = call_time(flow, place, MACHINE, 1e9) - call_time(flow, place, MACHINE, 5e8)
    start = 2 * (nodes - 1) * alpha  # a ring's steps in a row
    sizes = np.concatenate([SIZES, [DEFAULT]])
    return np.concatenate(
        [exposed_by_bucket(work, gradients, sizes, lambda s: start + s * per_byte / 5e8), [work.sum()]]
    )


@explorer(
    "overlap-curve",
    title="The best bucket",
    caption="The same 70B model, its gradients now tensor by tensor. Small buckets pay a ring's start-up hundreds of "
    "times, large ones are full too late. Between them lies a flat valley, which moves to the right with latency and "
    "with the number of replicas.",
    alt="A curve over the bucket's size that falls steeply from the left, stays low over about a decade and rises "
    "again to the right; marks show its lowest point and the usual 25 MiB on the steep side.",
)
def overlap_curve(
    alpha: Annotated[Array, Knob(1e-6, 2.7e-6, 5e-6, 10e-6, default=5e-6, unit="s", label="latency per step")],
    nodes: Annotated[Array, Knob(4, 16, 64, 256, default=256, unit="replicas", label="data parallel")],
    tokens: Annotated[Array, Knob(4096, 8192, 16384, default=16384, unit="tokens", label="in a replica's step")],
) -> Figure:
    """Exposed seconds from the two streams, bucket size by bucket size."""
    found = each(state, alpha, nodes, tokens)
    curve, usual, alone = found[..., : SIZES.size], found[..., -2:-1], found[..., -1:]
    best = curve.min(axis=-1, keepdims=True)
    at = SIZES[curve.argmin(axis=-1)][..., None]
    return Figure(
        x=Axis("bucket", "B", "log"),
        y=Axis("exposed in each step", "s", "log"),
        elements=(
            Line("exposed", SIZES, curve, "nic"),
            Line("backward pass alone", SIZES, alone, "compute"),
            Rule(at, "best: {at}"),
            Rule(float(DEFAULT), "PyTorch: {at}", ink="measured"),
        ),
        numbers={
            "best": Number(best, "s", "exposed with the best bucket"),
            "at": Number(at, "B", "the best bucket"),
            "usual": Number(usual, "s", "exposed with 25 MiB"),
            "alone": Number(alone, "s", "backward pass alone"),
        },
        reading="{alpha} a step, {nodes}: buckets of {at} leave {best} exposed, the usual 25 MiB {usual}.",
        failure=lambda s: (
            f"With 25 MiB the step waits {s['usual'] - s['best']:.2g} s longer than it must: all of it is start-up."
            if s["usual"] - s["best"] > 0.25 * s["alone"]
            else ""
        ),
    )
