"""Bytes in flight: how many loads must be under way before a link is busy."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth
from netlib.links import bytes_in_flight as needed
from netlib.units import GB

LOAD = 128  # bytes of one load: a cache line
LINKS = {
    "400G NIC": bandwidth("ndr-400"),
    "PCIe 5 x16": bandwidth("pcie5-x16"),
    "NVLink 4": bandwidth("nvlink4"),
    "NVLink 5": bandwidth("nvlink5"),
}


@explorer(
    "bytes-in-flight",
    title="A link is as busy as its queue",
    caption="Little's law for loads of 128 bytes: the rate is what is under way divided by the round trip, until the "
    "link is full. A thread that waits for each load leaves almost all of an NVLink idle; thousands of threads, or "
    "wide copies, fill it.",
    alt="On log axes a straight line rises with the bytes in flight and turns flat where the link is full; one "
    "vertical mark stands at that corner, another at the loads chosen.",
)
def bytes_in_flight(
    trip: Annotated[Array, Knob(0.5e-6, 1e-6, 2e-6, 5e-6, 20e-6, default=1e-6, unit="s", label="round trip")],
    link: Annotated[Array, Knob(*LINKS, default="NVLink 4", label="link, one way")],
    loads: Annotated[Array, Knob(1, 64, 512, 1024, 4096, 16384, default=1024, unit="loads", label="under way")],
) -> Figure:
    """min(bytes / trip, bandwidth)."""
    rate = pick(link, LINKS)
    flight = np.geomspace(LOAD, 32e6, 81)
    want = needed(rate, trip)
    have = LOAD * loads
    got = np.minimum(have / trip, rate)
    return Figure(
        x=Axis("bytes in flight", "B", "log"),
        y=Axis("rate", "B/s", "log"),
        elements=(
            Line("the link carries", flight, np.minimum(flight / trip, rate), "nvlink"),
            Line("the link's bandwidth", flight, rate, "bound"),
            Rule(want, "full at {at}"),
            Rule(have + 0 * rate, "{at} under way", ink="measured"),
        ),
        numbers={
            "want": Number(want, "B", "bytes in flight for a full link"),
            "least": Number(np.ceil(want / LOAD - 1e-9), "loads", "loads of 128 bytes for a full link"),
            "have": Number(have + 0 * rate, "B", "bytes under way"),
            "got": Number(got, "B/s", "rate"),
            "busy": Number(got / rate, "%", "share of the link"),
        },
        reading="{loads} of 128 bytes are {have} under way; with a round trip of {trip} they bring {got}, {busy} of "
        "{link}, which is full with {want} ({least}).",
        failure=_failure,
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["busy"] > 0.999:
        return ""
    return (
        f"{1 - s['busy']:.1%} of the link is idle: {s['least']:,.0f} loads must be under way, not {s['loads']:,.0f}. "
        f"Each load alone brings {LOAD / s['trip'] / GB:.3g} GB/s."
    )
