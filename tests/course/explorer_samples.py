"""Explorers that hold one of everything a figure can hold; the tests run them through both lives."""

from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, each, explorer, pick
from netlib.course.figure import Array, Axis, Bars, Diagram, Figure, Heat, Line, Number, Panel, Points, Rule, Spans

WORDS = {"title": "A sample", "caption": "What a reader should take away.", "alt": "What the picture looks like."}


@explorer("sample-bars", **WORDS)
def bars(
    kind: Annotated[Array, Knob("ring", "tree")], size: Annotated[Array, Knob(1e6, 1e9, unit="B", default=1e9)]
) -> Figure:
    """Stacked bars beside a lone series, with a horizontal rule."""
    start = pick(kind, {"ring": np.array([1e-3, 2e-3, 8e-3]), "tree": np.array([1e-4, 2e-4, 3e-4])})
    bytes_ = size / np.array([450e9, 100e9, 50e9])
    return Figure(
        x=Axis("where the ranks sit", categories=("one node", "one rack", "the whole cluster")),
        y=Axis("time", "s"),
        elements=(
            Bars("latency", start, "latency"),
            Bars("bytes", bytes_, "model", stacked=True),
            Bars("bound", bytes_ / 2, "bound"),
            Rule(0.015 + 0 * size, "step budget {at}", along="y", ink="failure"),
        ),
        reading="{kind} with {size}: the cluster pays most.",
    )


@explorer("sample-heat", **WORDS)
def heat(loss: Annotated[Array, Knob(1e-6, 1e-4, 1e-2, label="packet loss")]) -> Figure:
    """A numeric field with a gap."""
    window, rtt = np.geomspace(1e3, 1e8, 40), np.geomspace(1e-6, 1e-1, 24)
    rate = window / rtt[:, None] * np.exp(-loss[..., None] * window / 1e5)
    return Figure(
        x=Axis("window", "B", "log"),
        y=Axis("round trip", "s", "log"),
        elements=(Heat("rate", window, rtt, np.where(rate > 1e12, np.nan, rate), Axis("rate", "B/s", "log")),),
        reading="A loss of {loss} caps the rate.",
        failure=lambda s: "Nothing gets through." if s["loss"] > 1e-3 else "",
    )


@explorer("sample-classes", **WORDS)
def classes(alpha: Annotated[Array, Knob(1e-6, 1e-5, unit="s")]) -> Figure:
    """Who wins where."""
    size, ranks = np.geomspace(1e3, 1e10, 48), np.geomspace(8, 8192, 11)
    ring = 2 * ranks[:, None] * alpha[..., None] + 2 * size / 50e9
    tree = 4 * np.log2(ranks[:, None]) * alpha[..., None] + 2.6 * size / 50e9
    best = np.where(ring < tree, 0.0, 1.0)
    colour = Axis("fastest", categories=("ring", "tree"))
    return Figure(
        x=Axis("message size", "B", "log"),
        y=Axis("ranks", "GPUs", "log"),
        elements=(Heat("winner", size, ranks, best, colour, ("ring", "tree")),),
        reading="At {alpha} a step trees win the upper left.",
    )


@explorer("sample-diagram", **WORDS)
def diagram(
    broken: Annotated[Array, Knob("none", "one link", "one spine")],
    load: Annotated[Array, Knob(0.4, 0.8, 1.2, unit="%")],
) -> Figure:
    """Four leaves, two spines."""
    names = ("host 1", "host 2", "host 3", "host 4", "leaf 1", "leaf 2", "leaf 3", "leaf 4", "spine 1", "spine 2")
    at = [(x / 3, 0.0) for x in range(4)] + [(x / 3, 0.5) for x in range(4)] + [(1 / 3, 1.0), (2 / 3, 1.0)]
    links = [(h, 4 + h) for h in range(4)] + [(leaf, s) for leaf in (4, 5, 6, 7) for s in (8, 9)] + [(8, 4)]
    lost = {"none": np.zeros(13), "one link": np.eye(13)[4], "one spine": np.isin(np.arange(13), (4, 6, 8, 10, 12))}
    share = load * np.r_[np.ones(4), np.full(8, 0.5), 0.2]
    dead = pick(broken, lost)
    extra = np.where(dead.sum(axis=-1, keepdims=True) > 1, 2.0, 1.0)
    width = np.r_[np.full(4, 400), np.full(9, 800)]
    return Figure(
        elements=(
            Diagram(
                "load",
                names,
                at,
                links,
                np.where(dead > 0, np.nan, share * extra),
                width,
                np.r_[np.full(4, 0.3), np.zeros(6)],
            ),
        ),
        numbers={"worst": Number(np.max(share * extra, axis=-1, keepdims=True), "%", "fullest link")},
        reading="With {broken} lost the fullest link carries {worst}.",
        failure=lambda s: "A link is asked for more than it has." if s["worst"] > 1 else "",
    )


@explorer("sample-panels", **WORDS)
def panels(gain: Annotated[Array, Knob(0.1, 0.5, 2.5)]) -> Figure:
    """Three panels over one time axis; a simulation of one state at a time; measured points; an area; a late rule."""

    def queue(g: float) -> Array:
        q, rate, out = 0.0, 50e9, []
        for _ in range(200):
            rate = max(1e9, rate - g * 1e4 * (q - 1e5) / 1e1 + 2e7)
            q = max(0.0, q + (rate - 50e9) * 1e-6)
            out += [q, rate]
        return np.array(out)

    t = np.arange(200) * 1e-6
    both = each(queue, gain)
    return Figure(
        x=Axis("time", "s"),
        y=Axis("queue", "B"),
        elements=(
            Line("queue", t, both[..., ::2], "queue", area=True),
            Points("measured queue", [2e-5, 9e-5, 1.5e-4], [5e4, 1.1e5, np.nan], notes=("lab", "rack 7", "lost")),
            Rule(gain * 1.2e-4, "settled at {at}"),
        ),
        below=(
            Panel(Axis("rate", "B/s"), (Line("rate", t, both[..., 1::2], "rate"),), height=0.6),
            Panel(Axis("load", "%"), (Line("load", t, both[..., 1::2] / 50e9, "bound"),), height=0.4),
        ),
        height=0.8,
        reading="A gain of {gain} settles or rings.",
    )


@explorer("sample-spans", **WORDS)
def spans(late: Annotated[Array, Knob(0.0, 1.0, 4.0, unit="s", label="late by")]) -> Figure:
    """A timetable: two series share a row, one has a gap, one is labelled, one is striped."""
    return Figure(
        x=Axis("time", "s"),
        y=Axis("", categories=("network", "compute")),
        elements=(
            Spans("forward", [1.0, 1.0, np.nan], [0.0, 2.0, 3.0], [2.0, 4.0, 5.0], [1.0, 2.0, 3.0], ink="compute"),
            Spans("backward", [1.2, 1.2], np.array([4.0, 5.0]), np.array([5.0, 6.0]), tall=0.4, ink="useful"),
            Spans("reduce", [0.0, 0.0], 4 + late + np.array([0.0, 2.0]), 6 + late + np.array([0.0, 2.0]), ink="nic"),
            Rule(6.0, "computed at {at}"),
        ),
        reading="The network is {late} late.",
        failure=lambda s: "The step waits." if s["late"] > 1 else "",
    )


SAMPLES = (bars, heat, classes, diagram, panels, spans)
