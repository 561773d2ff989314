"""Placement: the same layout numbered in six ways, and what each puts on NVLink and on the network card."""

from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Annotated

import numpy as np

from netlib.collectives.training import Flow, Layout, Placement, by_order, model, step_flows, with_batch
from netlib.collectives.training.published import cluster
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Panel
from netlib.hardware import bandwidth
from netlib.links import Link

SHAPE = model("gpt3-175b")
AXES = ("tp", "dp", "pp")
ORDERS = tuple(permutations(AXES))
SIZES = {"8 x 16 x 8": (8, 16, 8), "8 x 64 x 2": (8, 64, 2), "4 x 32 x 8": (4, 32, 8), "2 x 32 x 16": (2, 32, 16)}
NICS = tuple(bandwidth(port) for port in ("hdr-200", "ndr-400", "xdr-800"))
BATCH = 1536


def wires(flows: tuple[Flow, ...], places: tuple[Placement, ...]) -> tuple[float, float]:
    """Bytes of a step that a GPU sends over NVLink, and through its card."""
    where = {place.axis: place for place in places}
    out = sum(flow.outside(where[flow.axis]) for flow in flows)
    return sum(flow.sent for flow in flows) - out, out


@cache
def state(size: str, nic: float, g: int) -> Array:
    """(6 orders, 7): seconds of work, of waiting for tp, dp, pp, of the bubble; bytes over NVLink and card."""
    tp, dp, pp = SIZES[size]
    layout = with_batch(Layout(tp=tp, dp=dp, pp=pp), BATCH)
    machine = replace(cluster("h100"), out=Link(cluster("h100").out.alpha, nic), g=g)
    flows = step_flows(SHAPE, layout, g=g)
    found = {one.order: one for one in by_order(SHAPE, layout, machine, flows)}
    rows = []
    for order in ORDERS:
        step = found[order].step
        waits = [step.exposed.get(axis, 0.0) for axis in AXES]
        rows.append([step.matmul + step.memory, *waits, step.bubble, *wires(flows, found[order].places)])
    return np.array(rows).ravel()


@explorer(
    "placement-orders",
    title="Which axis belongs into the node?",
    caption="GPT-3 175B on 1,024 H100, tensor x data x pipeline. Ranks are numbered with one axis innermost; what is "
    "innermost shares NVLink. The bytes that a GPU sends are the same in all six bars, and so is the work. What "
    "changes is the wire, and with it the step. Nothing is hidden.",
    alt="Six stacked bars of step time above six pairs of bars of bytes: the two orders with tensor parallelism "
    "innermost are shortest and put almost all bytes on NVLink, the others take about twice as long.",
)
def placement_orders(
    size: Annotated[Array, Knob(*SIZES, label="tensor x data x pipeline")],
    nic: Annotated[Array, Knob(*NICS, default=NICS[1], unit="B/s", label="card per GPU, one way")],
    g: Annotated[Array, Knob(4, 8, 16, 64, default=8, unit="GPUs", label="in a domain")],
) -> Figure:
    """Seconds and bytes of every order."""
    found = each(state, size, nic, g)
    table = found.reshape(*found.shape[:-1], len(ORDERS), 7)
    total = table[..., :5].sum(axis=-1)
    first, worst = total[..., :1], total.max(axis=-1, keepdims=True)
    best = total.argmin(axis=-1)[..., None]
    pipeline = table[..., 3] + table[..., 4]
    series = (
        ("work", table[..., 0], "compute"),
        ("waits for tensor", table[..., 1], "nvlink"),
        ("waits for data", table[..., 2], "queue"),
        ("waits in the pipeline", pipeline, "bound"),
    )
    return Figure(
        x=Axis("order of the axes, innermost first", categories=tuple(" ".join(order) for order in ORDERS)),
        y=Axis("time of a step", "s"),
        elements=tuple(Bars(name, part, ink, stacked=k > 0) for k, (name, part, ink) in enumerate(series)),
        below=Panel(
            Axis("sent by a GPU", "B"),
            (Bars("over NVLink", table[..., 5], "rail"), Bars("through its card", table[..., 6], "rate")),
            height=0.6,
        ),
        numbers={
            "first": Number(first, "s", "step with tp innermost, then dp"),
            "worst": Number(worst, "s", "step in the slowest order"),
            "times": Number(worst / first, "", "slowest over tp dp pp"),
            "best": Number(best + 1.0, "", "fastest order, by its place from the left"),
            "bytes": Number(table[..., :1, 5] + table[..., :1, 6], "B", "sent by a GPU, in every order"),
            "card": Number(table[..., :1, 6], "B", "of it through the card with tp innermost"),
        },
        reading=lambda s: (
            f"A GPU sends {s['bytes'] / 1e9:.3g} GB in every order. With tp innermost {s['card'] / 1e9:.3g} GB of "
            f"them take the card and a step {s['first']:.3g} s; the slowest order {s['times']:.2g} times as long, "
            f"the fastest is {' '.join(ORDERS[int(s['best']) - 1])}."
        ),
        failure=lambda s: (
            f"Tensor groups of {_tp(s['size'])} do not fit domains of {s['g']:.0f}: they leave it in every order."
            if _tp(s["size"]) > s["g"]
            else f"Numbered carelessly, the same job takes {s['times']:.2g} times as long."
            if s["times"] > 2.5
            else ""
        ),
    )


def _tp(size: str) -> int:
    return SIZES[size][0]
