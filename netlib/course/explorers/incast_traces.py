"""One incast under each control: queue and rates at the same moments."""

from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.congestion.experiments import Experiment, experiment
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Rule
from netlib.links import Link

CONTROLS = {
    "none, pauses only": ("uncontrolled", "line-rate"),
    "DCQCN (ns-3)": ("dcqcn", "ns3"),
    "DCTCP": ("dctcp", "ns3"),
    "Swift": ("swift", "htsim"),
    "HPCC": ("hpcc", "paper"),
    "PowerTCP": ("powertcp", "ns3-datacenter"),
    "NSCC": ("nscc", "uec-1.0"),
    "RCCC": ("credits", "rccc"),
}
SIZE, LINK = 5e5, Link(3.5e-6, 12.5e9)
UNTIL, STEP, EVERY = 1e-3, 1.5e-6, 6
TIME = np.arange(0, UNTIL, EVERY * STEP)


@cache
def seen(control: str, senders: int) -> Experiment:
    """The run of a state."""
    return experiment(
        "incast", *CONTROLS[control], hosts=senders, size=SIZE, link=LINK, until=UNTIL, dt=STEP, every=EVERY
    )


def trace(control: Any, senders: Any, name: str) -> Array:
    """A series of a run at TIME: the queue, or the mean over the flows that are not done."""
    found = seen(str(control), int(senders)).run
    rows = found.series[name]
    series = rows[:, 0] if name == "queue" else rows.mean(axis=1)
    if name == "allowed":
        series = np.minimum(series, 12.5e9)
    return np.asarray(np.interp(TIME, found.time, series, right=np.nan))


@explorer(
    "incast-traces",
    title="One incast, eight answers",
    caption="Eight or sixteen hosts send half a megabyte each to one, over 100 Gb/s and a round trip of 14 us. Above "
    "the queue in front of the receiver; below, at the same moments, what a sender is allowed on average and what it "
    "delivers. Every control that starts at line rate begins with the same hill.",
    alt="Two strips over the same time. Above, a queue that rises steeply and falls in a way of its own for each "
    "control; below, the allowed rate, which drops from the line rate, and the delivered rate, which is flat.",
)
def incast_traces(
    control: Annotated[Array, Knob(*CONTROLS, default="DCQCN (ns-3)", label="control")],
    senders: Annotated[Array, Knob(8, 16, default=8, unit="senders")],
) -> Figure:
    """The packet engine, in steps of a microsecond."""

    def number(f: Any) -> Array:
        return each(lambda c, n: float(f(seen(str(c), int(n)))), control, senders)

    least = senders * 500 * 1038 / 12.5e9
    return Figure(
        x=Axis("time", "s", limits=(0, UNTIL)),
        y=Axis("queue", "B"),
        elements=(
            Line("queue", TIME, each(lambda c, n: trace(c, n, "queue"), control, senders), "queue", area=True),
            Rule(least + np.zeros(control.shape), "all bytes need {at}"),
        ),
        below=Panel(
            Axis("rate of a sender", "B/s"),
            (
                Line("allowed", TIME, each(lambda c, n: trace(c, n, "allowed"), control, senders), "rate"),
                Line("delivered", TIME, each(lambda c, n: trace(c, n, "rate"), control, senders), "useful"),
            ),
        ),
        numbers={
            "peak": Number(number(lambda s: s.run.peak.max()), "B", "longest queue"),
            "first": Number(number(lambda s: np.nanmin(np.append(s.run.finish, np.inf))), "s", "first finish"),
            "last": Number(number(lambda s: s.run.finish.max()) / least, "times", "the least, last finish"),
            "undone": Number(number(lambda s: np.isnan(s.run.finish).sum()), "flows", "not done in the time shown"),
        },
        reading=lambda s: (
            f"{s['control']}, {s['senders']:.0f} senders: the queue reaches {s['peak'] / 1e6:.2f} MB"
            + (
                f"; the first sender is done after {s['first'] * 1e6:,.0f} us"
                if np.isfinite(s["first"])
                else "; no sender is done in the time shown"
            )
            + (f", {s['undone']:.0f} are not done by the end." if s["undone"] else ", all before the end.")
        ),
        failure=lambda s: (
            "Senders are done much later than a full link would be: rates were cut below what it can carry."
            if s["undone"] or s["last"] > 1.3
            else ""
        ),
    )
