"""DCQCN's timer in the queue: the same incast with the presets of a paper, a card and two simulators."""

from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.congestion import preset
from netlib.congestion.experiments import Experiment, experiment
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Rule

PRESETS = {
    "ns-3, 900 us": "ns3-datacenter",
    "ns-3, 300 us": "ns3",
    "paper's timers, 55 us": "paper",
    "ConnectX, 300 us": "connectx-timer",
}
UNTIL, STEP, EVERY = 5e-3, 1e-6, 20
TIME = np.arange(0, UNTIL, EVERY * STEP)


@cache
def seen(name: str) -> Experiment:
    """The run of a preset."""
    return experiment("incast", "dcqcn", PRESETS[name], until=UNTIL, dt=STEP, every=EVERY)


def trace(name: Any, series: str) -> Array:
    """The queue, or the mean allowed rate."""
    found = seen(str(name)).run
    rows = found.series[series]
    return np.asarray(np.interp(TIME, found.time, rows.mean(axis=1), right=np.nan))


@explorer(
    "dcqcn-heartbeat",
    title="The heartbeat of a timer",
    caption="Eight hosts send 2 MB each to one at 100 Gb/s; marks from 400 KB, all from 1.6 MB. Only DCQCN's "
    "parameters differ. With slow timers the queue beats: full, empty until the timer fires, full again.",
    alt="Above, a queue with separate hills a timer apart; below, the mean rate that senders are allowed, which falls "
    "to nothing after each hill and jumps when the timer fires.",
)
def dcqcn_heartbeat(
    parameters: Annotated[Array, Knob(*PRESETS, default="ns-3, 900 us", label="preset")],
) -> Figure:
    """The packet engine, in steps of a microsecond."""

    def number(f: Any) -> Array:
        return each(lambda p: float(f(seen(str(p)))), parameters)

    ideal = 8 * 2000 * 1038 / 12.5e9 + 14e-6
    timer = each(lambda p: preset("dcqcn", PRESETS[str(p)], 12.5e9).increase_timer, parameters)
    last = number(lambda s: np.nan if np.isnan(s.run.finish).any() else s.run.finish.max())
    return Figure(
        x=Axis("time", "s", limits=(0, UNTIL)),
        y=Axis("queue", "B"),
        elements=(
            Line("queue", TIME, each(lambda p: trace(p, "queue"), parameters), "queue", area=True),
            Rule(ideal, "the least: {at}"),
            Rule(last, "all done at {at}", ink="failure"),
        ),
        below=Panel(
            Axis("allowed, mean", "B/s"),
            (Line("allowed", TIME, each(lambda p: trace(p, "allowed"), parameters), "rate"),),
        ),
        numbers={
            "timer": Number(timer, "s", "increase timer"),
            "last": Number(last, "s", "last finish"),
            "peak": Number(number(lambda s: s.run.peak.max()), "B", "longest queue"),
            "times": Number(last / ideal, "times", "the least time"),
        },
        reading=lambda s: (
            f"With a timer of {s['timer'] * 1e6:.0f} us the queue reaches {s['peak'] / 1e6:.2f} MB, and "
            + (
                f"the last sender is done after {s['last'] * 1e3:.2f} ms, {s['times']:.2f} times the least."
                if s["last"] == s["last"]
                else "some are not done in the time shown."
            )
        ),
        failure=lambda s: (
            "The link is idle most of the time: the queue is gone long before the timer lets anybody send again."
            if not s["times"] < 2
            else ""
        ),
    )
