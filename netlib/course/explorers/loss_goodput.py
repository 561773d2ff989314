"""Goodput under loss: go back, or repeat what is missing."""

from functools import cache
from typing import Annotated

import numpy as np

from netlib.congestion import go_back_n_goodput, halving_loss, selective_repeat_goodput, simulate_transfer
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule, fixed

TRIED = np.array([1e-4, 1e-3, 5e-3, 1e-2, 2e-2, 5e-2])
PACKETS = 20_000


@cache
def walked(window: int) -> Array:
    """Goodput of a go-back-N receiver that is stepped packet by packet, at the losses tried."""
    rng = np.random.default_rng(window)
    return fixed(np.array([simulate_transfer("go-back-n", float(p), window, PACKETS, rng).goodput for p in TRIED]))


@explorer(
    "loss-goodput",
    title="What a lost packet costs",
    caption="Share of a link's rate that arrives in order. Go-back-N throws away a window for each loss, selective "
    "repeat one packet. Points: a receiver and a sender stepped packet by packet, which know no formula.",
    alt="Against the share of packets lost, on a log axis, one curve stays near 100 per cent and another falls "
    "early, through scattered points that lie on it.",
)
def loss_goodput(
    window: Annotated[Array, Knob(30, 122, 500, default=122, unit="packets", label="window")],
    loss: Annotated[Array, Knob(*TRIED, default=1e-2, unit="%", label="loss")],
) -> Figure:
    """(1 - p) / (1 - p + p W) and 1 - p."""
    p = np.geomspace(1e-5, 0.1, 61)
    seen = each(lambda w: walked(int(w)), window)
    return Figure(
        x=Axis("packets lost", "%", "log"),
        y=Axis("goodput / rate", "%", limits=(0, 1)),
        elements=(
            Line("selective repeat", p, selective_repeat_goodput(p), "useful"),
            Line("go-back-N", p, go_back_n_goodput(p, window), "lost"),
            Points("go-back-N, stepped", TRIED, seen),
            Rule(loss + 0 * window, "{at} lost"),
        ),
        numbers={
            "back": Number(go_back_n_goodput(loss, window), "%", "go-back-N"),
            "selective": Number(selective_repeat_goodput(loss + 0 * window), "%", "selective repeat"),
            "half": Number(halving_loss(window), "%", "loss at which go-back-N delivers half"),
        },
        reading="With {window} in a round trip and {loss} lost, go-back-N delivers {back} and selective repeat "
        "{selective}. Go-back-N is down to half at {half}.",
        failure=lambda s: (
            f"{1 - s['back']:.0%} of what is sent is thrown away: such a network has to be lossless, or its NICs "
            "changed."
            if s["back"] < 0.5
            else ""
        ),
    )
