"""How old a signal may be: DCQCN's margin over flows and delay, as published and exact."""

from typing import Annotated

import numpy as np

from netlib.congestion import preset
from netlib.congestion.fluid import critical_delay, dcqcn_loop, phase_margin, published_loop
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule

CONTROL, MARKING = preset("dcqcn", "fluid"), preset("marking", "same-slope")
RATE = 5e9  # 40 Gb/s, as in the paper
FLOWS = np.array([2, 3, 4, 6, 8, 10, 12, 16, 20, 28, 36, 50, 64, 100], float)
DELAYS = (0.0, 4e-6, 20e-6, 50e-6, 85e-6, 100e-6)
EXACT, PUBLISHED = dcqcn_loop(CONTROL, MARKING, RATE, FLOWS), published_loop(CONTROL, MARKING, RATE, FLOWS)


@explorer(
    "stability-map",
    title="How old a signal may be",
    caption="Phase margin of DCQCN at 40 Gb/s by flows, for a delay of the marks: linearised exactly at the exact "
    "fixed point, and as published in 2016. Below zero a small push grows into a swing.",
    alt="Two curves of phase margin against flows, both lowest near ten; the published one is lower in the middle and "
    "higher at the right, and each may cross a horizontal line at zero.",
)
def stability_map(
    delay: Annotated[Array, Knob(*DELAYS, default=50e-6, unit="s", label="age of the signal")],
) -> Figure:
    """Margins of both loops at one delay."""
    exact = each(lambda late: phase_margin(EXACT, late), delay)
    published = each(lambda late: phase_margin(PUBLISHED, late, "delay"), delay)
    ten = int(np.flatnonzero(FLOWS == 10)[0])
    return Figure(
        x=Axis("flows", "", "log"),
        y=Axis("phase margin", "degrees", limits=(-25, 65)),
        elements=(
            Line("exact", FLOWS, exact, "model"),
            Line("published", FLOWS, published, "bound"),
            Rule(0.0, "below: swings", along="y", ink="failure"),
        ),
        numbers={
            "exact": Number(exact[..., ten : ten + 1], "degrees", "exact margin of ten flows"),
            "published": Number(published[..., ten : ten + 1], "degrees", "published margin of ten flows"),
            "late": Number(critical_delay(EXACT)[ten], "s", "critical delay of ten flows, exact"),
        },
        reading="With marks {delay} old, ten flows have a margin of {exact}, by the published form {published}. "
        "Exactly they begin to swing at {late}.",
        failure=lambda s: (
            "Ten flows swing: a small push grows into a cycle between an empty queue and a full one."
            if s["exact"] < 0
            else ""
        ),
    )
