"""Classes: what gradients get beside expert traffic, by priority and by weight."""

from functools import cache
from typing import Annotated, Literal

import numpy as np

from netlib.congestion import serve_packets, strict_shares, weighted_shares
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule, fixed

TRIED = np.array([0.2, 0.4, 0.6, 0.8, 0.95])
LINK, PACKET = 50e9, 4096.0  # bytes/s, bytes


@cache
def served(discipline: Literal["strict", "dwrr"], weight: float) -> Array:
    """Share of the link that gradients got at the loads tried, packet by packet."""
    weights = [1 - weight, weight]
    done = [serve_packets(discipline, [load * LINK, LINK], [PACKET] * 2, LINK, 0.5e-3, weights) for load in TRIED]
    return fixed(np.array([each.served[1] / each.served.sum() for each in done]))


@explorer(
    "class-shares",
    title="A priority is no guarantee",
    caption="Two classes on one link: experts offer a share of it, gradients would take all. Strict priority for "
    "experts leaves gradients the rest; a weight gives them at least its share, and what experts do not use. Points: a "
    "scheduler stepped packet by packet.",
    alt="Share of gradients against the load of experts: a straight line falls to nothing, another follows it and "
    "then stays level at the weight.",
)
def class_shares(
    weight: Annotated[Array, Knob(0.1, 0.3, 0.5, default=0.3, unit="%", label="weight of gradients")],
    load: Annotated[Array, Knob(*TRIED, default=0.8, unit="%", label="offered by experts")],
) -> Figure:
    """min(1 - load, ...) and max(weight, 1 - load)."""
    x = np.linspace(0, 1, 41)
    two = np.stack([x, np.ones_like(x)], axis=-1)
    strict = strict_shares(two)[..., 1]

    def by_weight(offered: Array, own: Array) -> Array:
        pair = np.stack(np.broadcast_arrays(offered, np.ones_like(own + offered)), axis=-1)
        weights = np.stack(np.broadcast_arrays(1 - own, own + 0 * offered), axis=-1)
        return np.asarray(weighted_shares(pair, weights)[..., 1])

    mine, alone = by_weight(load, weight), strict_shares(np.stack([load, np.ones_like(load)], axis=-1))[..., 1]
    seen = np.stack([served("dwrr", float(w)) for w in np.ravel(weight)]).reshape((*np.shape(weight)[:-1], len(TRIED)))
    return Figure(
        x=Axis("offered by experts / link", "%", limits=(0, 1)),
        y=Axis("gradients / link", "%", limits=(0, 1)),
        elements=(
            Line("experts first (strict)", x, strict, "lost"),
            Line("by weight", x, by_weight(x, weight), "useful"),
            Points("strict, packets", TRIED, served("strict", 0.3), "failure"),
            Points("by weight, packets", TRIED, seen),
            Rule(load + 0 * weight, "experts offer {at}"),
        ),
        numbers={
            "strict": Number(alone + 0 * weight, "%", "gradients, experts first"),
            "weighted": Number(mine, "%", "gradients, by weight"),
            "slower": Number(1 / alone + 0 * weight, "times", "gradients slower than alone, experts first"),
        },
        reading="When experts offer {load}, gradients get {strict} behind a strict queue, {slower} slower than alone, "
        "and {weighted} with a weight of {weight}.",
        failure=lambda s: (
            f"Behind the strict queue an all-reduce takes {s['slower']:.0f} times as long, whatever the configuration "
            "file calls guaranteed."
            if s["slower"] > 4
            else ""
        ),
    )
