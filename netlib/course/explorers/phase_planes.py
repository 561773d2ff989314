"""Voltage, current and power: where three laws push window and queue, from seven starts."""

from functools import cache
from typing import Annotated, Any, get_args

import numpy as np

from netlib.congestion.fluid.planes import Kind, Plane, plane_path
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule, fixed

RATE, TRIP, GAMMA = 12.5e9, 20e-6, 0.9  # the link and the round trip of the paper's figure, its gamma
FULL = RATE * TRIP
STARTS = FULL * np.array([(0.2, 0.0), (0.2, 0.8), (0.6, 0.5), (1.0, 1.0), (2.0, 0.0), (2.0, 1.0), (1.4, 0.4)])
UNTIL, MANY = 20 * TRIP, 81
SAYS = {
    "voltage": "the queue (DCTCP, Swift, HPCC)",
    "current": "the queue's change (TIMELY)",
    "power": "both (PowerTCP)",
}


@cache
def paths(law: Kind, added: float, update: float) -> Array:
    """(MANY, 2, starts) bytes: window and queue."""
    plane = Plane(law, RATE, TRIP, beta=added, gain=GAMMA / update)
    return fixed(plane_path(plane, STARTS[:, 0], STARTS[:, 1], UNTIL, MANY))


def drawn(law: Any, added: Any, update: Any) -> Array:
    """Windows, then queues, of all paths end to end, each followed by a gap."""
    path = np.pad(paths(law, float(added), float(update)), ((0, 1), (0, 0), (0, 0)), constant_values=np.nan)
    return np.asarray(path.transpose(1, 2, 0).ravel())


def told(law: Any, added: Any, update: Any) -> list[float]:
    """Lowest and highest last queue; idle time of starts with a full window; when all are near the rest."""
    path = paths(law, float(added), float(update))
    window, queue = path[:, 0], path[:, 1]
    idle = ((queue <= 0) & (window < 0.98 * FULL))[:, STARTS[:, 0] >= FULL].mean()
    rest = Plane(law, RATE, TRIP, float(added), GAMMA / float(update)).rest
    near = np.nan
    if rest is not None:
        far = np.hypot(window - rest[0], queue - rest[1]).max(axis=1) > 0.05 * FULL
        near = float(np.flatnonzero(far)[-1] + 1) * UNTIL / (MANY - 1) if far.any() and not far[-1] else np.nan
    return [queue[-1].min(), queue[-1].max(), idle, near]


@explorer(
    "phase-planes",
    title="Voltage, current, power",
    caption="All windows together against the queue at 100 Gb/s and a round trip of 20 us, from seven starts (circles) "
    "to where they are after twenty round trips (squares). On the axis below and left of the mark the link is idle. A "
    "law that sees the queue has one rest and overshoots on the way; one that sees its change has none of its own; "
    "the product goes straight there.",
    alt="A plane of window and queue with seven curved paths. For power all end in one square; for voltage they first "
    "run along the lower axis far to the left; for current they end in squares along a slanted line.",
)
def phase_planes(
    law: Annotated[Array, Knob(*get_args(Kind), default="power", label="what a law sees")],
    added: Annotated[Array, Knob(0.0, 10e3, 50e3, default=10e3, unit="B", label="added by all together")],
    update: Annotated[Array, Knob(2e-6, 20e-6, 200e-6, default=20e-6, unit="s", label="time between updates")],
) -> Figure:
    """Runge and Kutta along the vector field."""
    both = each(drawn, law, added, update)
    half = both.shape[-1] // 2
    window, queue = both[..., :half], both[..., half:]
    last = np.arange(MANY - 1, half, MANY + 1)
    low, high, idle, near = np.moveaxis(each(told, law, added, update), -1, 0)[..., None]
    return Figure(
        x=Axis("all windows together", "B", limits=(0, 2.6 * FULL)),
        y=Axis("queue", "B", limits=(0, 1.6 * FULL)),
        elements=(
            Line("path", window, queue, "rate"),
            Points("start", STARTS[:, 0], STARTS[:, 1], "measured"),
            Points("after twenty round trips", window[..., last], queue[..., last], "queue"),
            Rule(FULL, "fills the link: {at}"),
        ),
        numbers={
            "low": Number(low, "B", "shortest queue after twenty round trips"),
            "high": Number(high, "B", "longest queue after twenty round trips"),
            "idle": Number(idle, "%", "of the time idle, from starts with a full window"),
            "near": Number(near, "s", "until all are within 5 % of the rest"),
        },
        reading=lambda s: (
            f"A law that sees {SAYS[s['law']]}: after twenty round trips "
            + (
                f"the seven queues lie between {s['low'] / 1e3:,.0f} and {s['high'] / 1e3:,.0f} kB"
                if s["high"] - s["low"] > 500
                else f"all seven queues are {s['high'] / 1e3:,.0f} kB"
            )
            + (f"; all are at rest after {s['near'] * 1e6:,.0f} us." if np.isfinite(s["near"]) else ".")
        ),
        failure=lambda s: (
            (
                "No rest of its own: what is added is never taken back, and every queue goes on growing."
                if s["added"]
                else "No rest of its own: each start keeps a queue for ever, and the next disturbance another one."
            )
            if s["law"] == "current"
            else f"The window is cut too far: {s['idle']:.0%} of the time the link has nothing to send."
            if s["idle"] > 0.1
            else "Updates are too rare: the starts are still on their way."
            if np.isnan(s["near"])
            else ""
        ),
    )
