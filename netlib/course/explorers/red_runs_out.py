"""Where DCQCN rests, and from how many flows on it has no rest."""

from typing import Annotated

import numpy as np

from netlib.congestion import Marking, preset
from netlib.congestion.fluid import cube_root_marks, most_flows, rest_point
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule

CONTROL = preset("dcqcn", "fluid")
FLOWS = np.unique(np.round(np.geomspace(2, 128, 41)))
K_MIN = 5e3


def marking(p_max: float, k_max: float) -> Marking:
    """The ramp of a state."""
    return Marking(k_min=K_MIN, k_max=k_max, p_max=p_max)


@explorer(
    "red-runs-out",
    title="Where the marks run out",
    caption="Queue at which N equal flows of DCQCN rest, from the exact fixed point, and what the popular cube-root "
    "formula makes of it. The ramp of marks ends at K_max: beyond the mark there is no rest, and the queue rides on "
    "K_max.",
    alt="Two curves of queue against flows rise on log axes, the cube root above; both end at a horizontal line, the "
    "ramp's end, where a vertical mark counts the most flows.",
)
def red_runs_out(
    k_max: Annotated[Array, Knob(100e3, 200e3, 400e3, 1e6, 2e6, 4e6, default=200e3, unit="B", label="K_max")],
    p_max: Annotated[Array, Knob(0.01, 0.05, 0.2, 1.0, default=0.01, unit="%", label="P_max")],
    rate: Annotated[Array, Knob(5e9, 12.5e9, 25e9, 50e9, 100e9, default=5e9, unit="B/s", label="bottleneck, one way")],
) -> Figure:
    """q* = K_min + p* / slope."""
    slope = p_max / (k_max - K_MIN)
    exact = each(lambda p, k, c: rest_point(CONTROL, marking(p, k), c, FLOWS).marks, p_max, k_max, rate)
    rough = each(lambda c: cube_root_marks(CONTROL, c, FLOWS), rate)
    most = each(lambda p, k, c: float(most_flows(CONTROL, marking(p, k), c)), p_max, k_max, rate)
    ten = each(lambda p, k, c: float(rest_point(CONTROL, marking(p, k), c, 10).marks), p_max, k_max, rate)
    queue = np.where(exact <= p_max, K_MIN + exact / slope, np.nan)
    guess = K_MIN + rough / slope
    return Figure(
        x=Axis("flows", "", "log"),
        y=Axis("queue at rest", "B", "log", limits=(5e3, 6e6)),
        elements=(
            Line("cube root", FLOWS, np.where(guess < 6e6, guess, np.nan), "bound"),
            Line("exact", FLOWS, queue, "queue"),
            Rule(k_max + 0 * p_max + 0 * rate, "K_max", along="y", ink="failure"),
            Rule(np.where(most < FLOWS[-1], most, np.nan), "no rest beyond {at} flows", ink="failure"),
        ),
        numbers={
            "most": Number(most, "flows", "most flows that rest"),
            "marks": Number(ten, "%", "packets marked with ten flows"),
            "ten": Number(np.where(ten <= p_max, K_MIN + ten / slope, np.nan), "B", "queue of ten flows at rest"),
        },
        reading=lambda s: (
            f"Up to {s['most']:,.0f} flows have a rest. Ten need {s['marks']:.2%} of their packets marked"
            + (f", at a queue of {s['ten'] / 1e3:,.0f} kB." if s["ten"] == s["ten"] else ", more than the ramp has.")
        ),
        failure=lambda s: (
            f"From {s['most'] + 1:.0f} flows on there is no rest: they need more marks than P_max, and the queue "
            "rides on K_max, where marking jumps to all."
            if s["most"] < 20
            else ""
        ),
    )
