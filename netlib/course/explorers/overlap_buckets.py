"""Overlap: the buckets of gradients beside the backward pass, and what is still under way when it has ended."""

from functools import cache
from typing import Annotated

import numpy as np

from netlib.collectives.training import Flow, Placement, call_time, model, reduced
from netlib.collectives.training.published import cluster
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Number, Rule, Spans
from netlib.units import GB, MB

SHAPE, TP, MACHINE = model("llama2-70b"), 8, cluster("h100")
GRADIENT = SHAPE.parameters * 2 / TP / SHAPE.layers  # bytes of a layer's BF16 gradients on one GPU
RATE = MACHINE.matmul / 2  # what a whole step reaches of the best matrix product
BUCKETS = (100 * MB, 500 * MB, 1 * GB, 2 * GB, 4 * GB, 20 * GB)
TOKENS, NODES = (2048, 4096, 8192), (4, 32, 128)


def backward(tokens: float) -> float:
    """Seconds of one layer's backward pass: four FLOPs for each weight and token, over the GPUs that share it."""
    return 4 * SHAPE.parameters / SHAPE.layers * tokens / (TP * RATE)


def cost(sizes: Array, nodes: int) -> Array:
    """Seconds of each bucket's all-reduce: one ring for each of the eight GPUs of a node, through its own card."""
    place = Placement("dp", nodes, 1, nodes)
    flow = Flow("dp", "all_reduce", "gradients", nodes, 1, 1.0)
    return np.array([call_time(flow, place, MACHINE, float(size)) for size in sizes])


@cache
def state(bucket: float, tokens: int, nodes: int) -> Array:
    """Exposed and hidden seconds, buckets, the backward pass alone; then start and end of each layer and bucket."""
    layers = SHAPE.layers
    done = reduced(np.full(layers, backward(tokens)), np.full(layers, GRADIENT), bucket, lambda s: cost(s, nodes))
    sent = np.full((3, layers), np.nan)
    sent[:, : done.start.size] = done.start, done.end, np.arange(1, done.start.size + 1)
    heads = [done.exposed, done.hidden, done.start.size, done.alone]
    return np.concatenate([heads, done.work_start, done.work_end, sent.ravel()])


@explorer(
    "overlap-buckets",
    title="What the backward pass can hide",
    caption="A 70B model, tensor parallel over the eight GPUs of a node; copies in other nodes reduce their gradients "
    "over one 400 Gb/s card a GPU. The last layer's gradients are ready first. A bucket waits until it is full and the "
    "one before is through; what runs past the mark is what the step pays.",
    alt="Two rows of bars over time: above, eighty thin bars of backward work; below, numbered buckets on the network "
    "that begin after the first layers and end a little, or much, after the work.",
)
def overlap_buckets(
    bucket: Annotated[Array, Knob(*BUCKETS, default=1 * GB, unit="B", label="bucket")],
    tokens: Annotated[Array, Knob(*TOKENS, default=8192, unit="tokens", label="in a replica's step")],
    nodes: Annotated[Array, Knob(*NODES, default=32, unit="replicas", label="data parallel")],
) -> Figure:
    """Two streams, event by event."""
    found = each(state, bucket, tokens, nodes)
    exposed, hidden, count, alone = (found[..., i : i + 1] for i in range(4))
    bars = found[..., 4:].reshape(*found.shape[:-1], 5, SHAPE.layers)
    return Figure(
        x=Axis("time since the backward pass began", "s"),
        y=Axis("who is busy", limits=(-0.6, 1.9), categories=("network", "compute")),
        elements=(
            Spans("a layer's backward pass", 1.0, bars[..., 0, :], bars[..., 1, :], ink="compute"),
            Spans("a bucket's all-reduce", 0.0, bars[..., 2, :], bars[..., 3, :], bars[..., 4, :], ink="nic"),
            Rule(alone, "computed at {at}", ink="measured"),
        ),
        numbers={
            "exposed": Number(exposed, "s", "exposed: after the backward pass"),
            "hidden": Number(hidden, "s", "hidden behind it"),
            "count": Number(count, "buckets"),
            "alone": Number(alone, "s", "backward pass alone"),
            "share": Number(exposed / (alone + exposed), "%", "of the time is exposed"),
        },
        reading="{count} of at least {bucket} over {nodes}: {hidden} of communication hide behind {alone} of work, "
        "{exposed} do not.",
        failure=lambda s: (
            "One bucket holds everything: it starts when there is nothing left to hide behind."
            if s["count"] == 1
            else f"The network needs longer than the work: {s['share']:.0%} of the time is waiting, at any bucket size."
            if s["hidden"] + s["exposed"] > s["alone"] and s["share"] > 0.2
            else ""
        ),
    )
