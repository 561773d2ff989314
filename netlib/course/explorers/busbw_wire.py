"""busbw and the wire: what a printed number says about a link, by the algorithm that ran."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.collectives import busbw_factor, nvls_allreduce_time
from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Rule
from netlib.hardware import node
from netlib.links import Link
from netlib.units import GB

KINDS = {"A100 + 200G": node("dgx-a100"), "H100 + 400G": node("dgx-h100"), "B200 + 400G": node("dgx-b200")}
SWITCH_ADDS = {"A100 + 200G": False, "H100 + 400G": True, "B200 + 400G": True}  # NVLink SHARP came with NVSwitch 3
PLACES = ("algbw", "busbw", "wire if ring", "wire if NVLS", "wire if two-node tree")


@explorer(
    "busbw-wire",
    title="busbw is not a wire",
    caption="An all-reduce log prints busbw, which is algbw times 2(n-1)/n. Only under a ring is that a link's rate. "
    "Up to 8 ranks the link is a GPU's NVLink, beyond that a node's eight NICs together.",
    alt="Five bars in GB/s against a horizontal mark at the link's rate: algbw and busbw of the log, then the rate "
    "on the wire if a ring, the adding NVLink switch, or a tree of two nodes had run; a missing bar cannot run on "
    "these ranks.",
)
def busbw_wire(
    ranks: Annotated[Array, Knob(4, 8, 16, 32, 64, default=8, unit="ranks")],
    printed: Annotated[
        Array,
        Knob(
            *(k * GB for k in (100, 180, 240, 360, 400, 480, 600, 840)),
            default=480 * GB,
            unit="B/s",
            label="busbw printed",
        ),
    ],
    kind: Annotated[Array, Knob(*KINDS, default="H100 + 400G", label="hardware")],
) -> Figure:
    """Bytes on the busiest link per second of the same run, under three algorithms."""
    alg = printed / busbw_factor(ranks, "all_reduce")
    one_node = ranks <= 8
    link = np.where(
        one_node,
        pick(kind, {name: n.up for name, n in KINDS.items()}),
        pick(kind, {name: n.nics * n.out for name, n in KINDS.items()}),
    )
    per_byte = nvls_allreduce_time(1, ranks, Link(0.0, 1.0))  # bytes on a GPU's link for each byte of the buffer
    nvls = np.where(one_node & pick(kind, SWITCH_ADDS).astype(bool), alg * per_byte, np.nan)
    tree = np.where(ranks == 16, alg, np.nan)  # each node's sum crosses once each way
    ring, gap = printed + 0 * ranks, np.full_like(alg, np.nan)
    least = np.nanmin(np.stack([ring, nvls, tree]), axis=0)
    return Figure(
        x=Axis("what moves", categories=PLACES),
        y=Axis("rate", "B/s"),
        elements=(
            Bars("printed", np.concatenate([alg, ring, gap, gap, gap], axis=-1), "measured"),
            Bars("implied on the wire", np.concatenate([gap, gap, ring, nvls, tree], axis=-1), "model", stacked=True),
            Rule(link, "the link: {at}", along="y"),
        ),
        numbers={
            "algbw": Number(alg, "B/s", "algbw"),
            "link": Number(link, "B/s", "link, one way"),
            "ring": Number(ring, "B/s", "wire, ring"),
            "nvls": Number(nvls, "B/s", "wire, NVLS"),
            "tree": Number(tree, "B/s", "wire, two-node tree"),
            "least": Number(least, "B/s", "smallest wire rate"),
        },
        reading=_reading,
        failure=lambda s: (
            f"No algorithm here prints this on a link of {s['link'] / GB:,.0f} GB/s: suspect bits for bytes, both "
            "directions added, or another machine."
            if s["least"] > s["link"] * 1.001
            else f"No ring printed this: it would need {s['ring'] / GB:,.0f} GB/s on a link of {s['link'] / GB:,.0f}."
            if s["ring"] > s["link"] * 1.001
            else ""
        ),
    )


def _reading(s: Mapping[str, Any]) -> str:
    def rate(name: str) -> str:
        return f"{s[name] / GB:,.0f} GB/s"

    said = f"busbw {rate('printed')} on {s['ranks']:.0f} ranks is an algbw of {rate('algbw')}"
    ways = [
        f"{rate(name)} under {what}" for name, what in (("nvls", "NVLS"), ("tree", "a two-node tree")) if s[name] > 0
    ]
    return f"{said}; the busiest link carries {rate('ring')} under a ring" + "".join(f", {way}" for way in ways) + "."
