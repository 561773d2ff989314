"""Headroom: what still arrives after the pause was decided."""

from typing import Annotated

import numpy as np

from netlib.congestion import cable_bytes, dynamic_headroom, static_headroom
from netlib.course.explorer import Knob, each, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule

SPEEDS = {"100 Gb/s": 100.0, "400 Gb/s": 400.0, "800 Gb/s": 800.0}
LENGTH = np.array([1, 5, 20, 40, 100, 200, 300, 500], float)
TABLE = np.array([5.0, 40.0, 300.0])
SHIPPED = np.array([static_headroom("spectrum-1", "1.0.3", 100, metre) for metre in TABLE], float)


@explorer(
    "pause-headroom",
    title="Room for what is on the way",
    caption="Bytes to keep free above the pause threshold for one port and one lossless class, by cable: what a "
    "switch system computes, what of it is on the cable, and the fixed table that the same system shipped (Spectrum, "
    "100 Gb/s only).",
    alt="A stepped line rises with the cable's length from a high start; a straight line of cable bytes rises from "
    "zero; for 100 Gb/s three points of a shipped table lie below the line at short cables and near it at 300 metres.",
)
def pause_headroom(
    speed: Annotated[Array, Knob(*SPEEDS, default="100 Gb/s", label="port")],
    length: Annotated[Array, Knob(5.0, 40.0, 100.0, 300.0, default=300.0, unit="m", label="cable")],
) -> Figure:
    """The formula at each length."""
    rate = pick(speed, SPEEDS)
    asked = each(lambda g: np.array([dynamic_headroom(float(g), metre) for metre in LENGTH], float), rate)
    own = each(lambda g, metre: float(dynamic_headroom(float(g), float(metre))), rate, length)
    wire = cable_bytes(length, rate / 8 * 1e9)
    return Figure(
        x=Axis("cable", "m"),
        y=Axis("headroom", "B"),
        elements=(
            Line("computed", LENGTH, asked, "model"),
            Line("on the cable", LENGTH, cable_bytes(LENGTH, rate / 8 * 1e9), "bound"),
            Points("shipped table", TABLE, np.where(rate == 100, SHIPPED, np.nan)),
            Rule(length + 0 * rate, "{at}"),
        ),
        numbers={
            "asked": Number(own, "B", "headroom of a port and class"),
            "wire": Number(wire, "B", "on the cable, both ways"),
            "all": Number(own * 64 * 2, "B", "for 64 ports and two classes"),
        },
        reading="{speed} over {length}: {asked} for each port and class, of which {wire} are on the cable. 64 ports "
        "with two lossless classes keep {all} free for this alone.",
        failure=lambda s: (
            "That is more than a whole switch of 64 MB would spare: fewer classes, shorter cables, or loss."
            if s["all"] > 32e6
            else ""
        ),
    )
