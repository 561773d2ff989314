"""Four lines: one all-reduce on 8, 72 and 1,024 GPUs, from other people's link speeds or from the data sheets'."""

from typing import Annotated

import numpy as np

from netlib.collectives import hierarchical_allreduce_time, ring_allreduce_time, serial_stages
from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Bars, Figure, Number
from netlib.hardware import bandwidth, fact, node
from netlib.links import Link
from netlib.units import GB

MIXED = "Hopper, directions mixed"
RUBIN = node("rubin-nvl72")
UP = {  # NVLink bytes/s of a GPU
    "Blackwell + 800G": bandwidth("nvlink5"),
    "Blackwell + 400G": bandwidth("nvlink5"),
    "Hopper + 400G": bandwidth("nvlink4"),
    "Rubin + 2 x 800G": RUBIN.up,
    MIXED: fact("nvlink4").value,  # the slip itself: the printed sum of both directions
}
OUT = {  # NIC bytes/s of a GPU
    "Blackwell + 800G": bandwidth("xdr-800"),
    "Blackwell + 400G": bandwidth("ndr-400"),
    "Hopper + 400G": bandwidth("ndr-400"),
    "Rubin + 2 x 800G": RUBIN.out,
    MIXED: bandwidth("ndr-400"),
}
PLACES = ("8 GPUs, one node", "72 GPUs, one domain", "1,024 GPUs, one ring", "1,024 GPUs, two levels")


@explorer(
    "four-lines",
    title="Four lines, five data sheets",
    caption="Gradients summed with no latency: on one node, in one rack, by a single ring through one NIC a node, "
    "and by reduce-scatter on NVLink, all-reduce on eight rails, all-gather on NVLink. Every rate counts one "
    "direction; the last preset breaks that rule.",
    alt="Four stacked bars of time. The two left bars are NVLink alone and short; the single ring is by far the "
    "tallest and all NIC; the two-level bar is a fraction of it, part NVLink and part NIC.",
)
def four_lines(
    preset: Annotated[Array, Knob(*UP, label="hardware")],
    size: Annotated[Array, Knob(14 * GB, 70 * GB, 140 * GB, default=140 * GB, unit="B", label="gradients")],
) -> Figure:
    """The four closed forms on a preset's links."""
    up, out = Link(0.0, pick(preset, UP)), Link(0.0, pick(preset, OUT))
    truth = Link(0.0, pick(preset, UP | {MIXED: bandwidth("nvlink4")}))
    inside, across = serial_stages(size, 8, 128, up, out)
    node_time, rack_time = ring_allreduce_time(size, 8, up), ring_allreduce_time(size, 72, up)
    flat, none = ring_allreduce_time(size, 1024, out), np.zeros_like(inside)
    both = inside + across
    return Figure(
        x=Axis("where the ranks sit", categories=PLACES),
        y=Axis("time", "s"),
        elements=(
            Bars("NVLink", np.concatenate([node_time, rack_time, none, inside], axis=-1), "nvlink"),
            Bars("NIC", np.concatenate([none, none, flat, across], axis=-1), "nic", stacked=True),
        ),
        numbers={
            "node": Number(node_time, "s", PLACES[0]),
            "rack": Number(rack_time, "s", PLACES[1]),
            "flat": Number(flat, "s", PLACES[2]),
            "both": Number(both, "s", PLACES[3]),
            "inside": Number(inside, "s", "of which NVLink"),
            "across": Number(across, "s", "of which NIC"),
            "ratio": Number(flat / both, "times", "one ring over two levels"),
            "truth": Number(
                hierarchical_allreduce_time(size, 8, 128, truth, out), "s", "two levels, every rate one way"
            ),
        },
        reading="{preset}, {size}: {node} on 8 GPUs, {rack} on 72, {flat} by one ring over 1,024, and {both} on two "
        "levels ({inside} NVLink + {across} NIC), {ratio} faster than the ring, which leaves seven of eight NICs idle.",
        failure=lambda s: (
            "Units mixed: 900 GB/s adds both directions of Hopper's NVLink, 50 GB/s is one direction of the NIC. Two "
            f"levels take {s['truth']:.3f} s, not {s['both']:.3f} s: the slip hides {1 - s['both'] / s['truth']:.0%}."
            if s["preset"] == MIXED
            else ""
        ),
    )
