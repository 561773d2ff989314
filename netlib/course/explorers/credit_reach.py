"""Link credits: what a lane can carry over a length of cable."""

from typing import Annotated

import numpy as np

from netlib.congestion import credit_rate
from netlib.congestion import credit_reach as reach
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.units import KiB

METRE = 2 / 1.98e8  # s there and back for each metre of fibre


@explorer(
    "credit-reach",
    title="How far credits reach",
    caption="A lane may have as many bytes under way as its receiver has promised, so its rate is credits over round "
    "trip. InfiniBand's counter allows 128 KiB at most. The flat part is the port, the falling part the cable.",
    alt="On log axes the rate of a lane against cable length: flat at the port's rate, then falling with the length "
    "from a vertical mark on.",
)
def credit_reach(
    credits: Annotated[Array, Knob(16 * KiB, 32 * KiB, 64 * KiB, 128 * KiB, default=128 * KiB, unit="iB")],
    rate: Annotated[Array, Knob(12.5e9, 25e9, 50e9, 100e9, default=50e9, unit="B/s", label="port, one way")],
    processing: Annotated[Array, Knob(0.0, 0.5e-6, 1e-6, 2e-6, default=0.0, unit="s", label="delay at both ends")],
) -> Figure:
    """min(rate, credits / round trip)."""
    length = np.geomspace(1, 10e3, 81)
    carried = credit_rate(credits, length * METRE + processing, rate)
    far = reach(rate, credits, processing)
    kilometre = credit_rate(credits, 1e3 * METRE + processing, rate)
    return Figure(
        x=Axis("cable", "m", "log"),
        y=Axis("rate of the lane", "B/s", "log"),
        elements=(
            Line("the lane carries", length, carried, "rate"),
            Line("the port", length, rate + 0 * length, "bound"),
            Rule(np.where(far > 1, far, np.nan), "full up to {at}", ink="latency"),
        ),
        numbers={
            "far": Number(far, "m", "longest cable at full rate"),
            "kilometre": Number(kilometre, "B/s", "over a kilometre"),
            "share": Number(kilometre / rate, "%", "of the port over a kilometre"),
        },
        reading="{credits} of credits fill {rate} over {far} of cable. Over a kilometre the lane carries {kilometre}, "
        "{share} of the port.",
        failure=lambda s: (
            "The ends alone take longer than the credits last: the lane is slow on any cable." if s["far"] <= 1 else ""
        ),
    )
