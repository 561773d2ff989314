"""NIC and PCIe: a path is as fast as its narrowest link."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Points
from netlib.hardware import bandwidth
from netlib.units import GB

SLOTS = {"PCIe 4": bandwidth("pcie4-x16"), "PCIe 5": bandwidth("pcie5-x16"), "PCIe 6": bandwidth("pcie6-x16")}
PORTS = {"200G": bandwidth("hdr-200"), "400G": bandwidth("ndr-400"), "800G": bandwidth("xdr-800")}
PLACES = ("PCIe slot", "network port", "what gets through")
COPY, WRITE = bandwidth("pcie5-x16-copy"), bandwidth("efa-200-write")


@explorer(
    "nic-and-pcie",
    title="The slot or the port?",
    caption="A NIC sits between two links, and the narrower one decides. Rates count one way, after the coding of the "
    "lanes (128 bits of 130, in generation 6 242 bytes of a flit of 256). The marks are measured: a copy into an H200 "
    "over 16 lanes of generation 5, and writes through a 200G card.",
    alt="Three bars: the slot, the port, and what gets through, which is as high as the lower of the two; a mark on "
    "the first or last bar lies a little below its top.",
)
def nic_and_pcie(
    slot: Annotated[Array, Knob(*SLOTS, default="PCIe 5", label="generation")],
    lanes: Annotated[Array, Knob(8, 16, default=16, unit="lanes")],
    port: Annotated[Array, Knob(*PORTS, default="800G", label="network port")],
) -> Figure:
    """min(slot, port)."""
    inner, outer = pick(slot, SLOTS) * lanes / 16, pick(port, PORTS)
    got = np.minimum(inner, outer)
    gap = np.full_like(got, np.nan)
    copied = np.where((slot == "PCIe 5") & (lanes == 16), COPY, np.nan) + 0 * outer
    written = np.where((port == "200G") & (inner > outer), WRITE, np.nan)
    return Figure(
        x=Axis("where", categories=PLACES),
        y=Axis("rate, one way", "B/s"),
        elements=(
            Bars("slot", np.concatenate([inner + 0 * got, gap, gap], axis=-1), "compute"),
            Bars("port", np.concatenate([gap, outer + 0 * got, gap], axis=-1), "nic", stacked=True),
            Bars("path", np.concatenate([gap, gap, got], axis=-1), "useful", stacked=True),
            Points("measured", [0.0, 2.0], np.concatenate([copied, written], axis=-1)),
        ),
        numbers={
            "inner": Number(inner + 0 * got, "B/s", "slot, one way"),
            "outer": Number(outer + 0 * got, "B/s", "port, one way"),
            "got": Number(got, "B/s", "what gets through"),
            "idle": Number(1 - got / outer, "%", "of the port idle"),
        },
        reading="{lanes} of {slot} carry {inner}, a port of {port} {outer}: {got} get through.",
        failure=_failure,
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["idle"] <= 0:
        return ""
    return (
        f"The slot is the limit: {s['idle']:.0%} of the port stay idle ({s['got'] / GB:.3g} of {s['outer'] / GB:.3g} "
        "GB/s)."
    )
