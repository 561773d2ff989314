"""One incast under each control: queue, rates, what senders hear and what is paused, at the same moments."""

from typing import Annotated, Any

import numpy as np

from netlib.congestion.experiments import experiment
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Rule
from netlib.course.kept import kept
from netlib.links import Link
from netlib.units import MiB

CONTROLS = {
    "none, pauses only": ("uncontrolled", "line-rate", "nothing"),
    "DCQCN (ns-3, HPCC's copy)": ("dcqcn", "ns3", "marks"),
    "DCTCP": ("dctcp", "ns3", "marks"),
    "Swift": ("swift", "htsim", "the round trip"),
    "HPCC": ("hpcc", "paper", "queue and rate of every hop"),
    "PowerTCP": ("powertcp", "ns3-datacenter", "queue and rate of every hop"),
    "NSCC": ("nscc", "uec-1.0", "marks, the round trip and trimmed packets"),
    "RCCC": ("credits", "rccc", "the receiver's credits and trimmed packets"),
}
SIZE, LINK, LINE = 5e5, Link(3.5e-6, 12.5e9), 12.5e9
UNTIL, STEP, EVERY = 1e-3, 1.5e-6, 8
TIME = np.arange(0, UNTIL, EVERY * STEP)


def run(control: str, senders: float, buffer: float) -> dict[str, Any]:
    """One state: series at TIME, per sender where there are several, and what the reading tells."""
    law, name, _ = CONTROLS[control]
    made = experiment(
        "incast", law, name, hosts=int(senders), size=SIZE, link=LINK, until=UNTIL, dt=STEP, every=EVERY,
        buffer=None if law in ("nscc", "credits") else buffer,  # their switches trim at one round trip of bytes
    )  # fmt: skip
    seen, series = made.run, made.run.series
    room = LINE * EVERY * STEP  # bytes that the receiver's link takes between two moments
    rows = {
        "queue": series["queue"][:, 0],
        "allowed": np.minimum(series["allowed"], LINE).mean(axis=1),
        "delivered": series["rate"].mean(axis=1),
        "marked": np.minimum(series["marks"].sum(axis=1) * made.traffic.packet.wire / room, 1.0),
        "again": np.minimum(series["lost"].sum(axis=1) / room, 1.0) if "lost" in series else 0 * seen.time,
        "paused": series["pause"].mean(axis=1) if "pause" in series else 0 * seen.time,
    }
    done = seen.finish[np.isfinite(seen.finish)]
    told = {
        "peak": seen.peak.max(), "undone": seen.finish.size - done.size,
        "first": done.min(initial=np.inf) if done.size else np.nan, "last": done.max() if done.size else np.nan,
    }  # fmt: skip
    return {name: np.interp(TIME, seen.time, row, right=0.0) for name, row in rows.items()} | told


CONTROL = Knob(*CONTROLS, default="DCQCN (ns-3, HPCC's copy)", label="control")
SENDERS = Knob(8, 16, default=8, unit="senders")
BUFFER = Knob(32 * MiB, 4 * MiB, default=32 * MiB, unit="iB", label="the switch's buffer")
KEPT = kept(
    __file__,
    {"control": CONTROL, "senders": SENDERS, "buffer": BUFFER},
    run,
    "An incast of 0.5 MB a sender every 12 us: queue in bytes, rates of a sender in bytes/s, shares of the link.",
)


@explorer(
    "incast-traces",
    title="One incast, eight answers",
    caption="Eight or sixteen hosts send half a megabyte each to one, over 100 Gb/s and a round trip of 14 us. From "
    "top to bottom, at the same moments: the queue in front of the receiver; what a sender is allowed on average and "
    "what it delivers; the packets that were marked, or trimmed and sent again; the share of time in which the "
    "senders' cables were paused. DCQCN and DCTCP are set as in the copy of ns-3 of HPCC's authors, PowerTCP as in its "
    "own authors' copy. Every control that starts at line rate begins with the same hill, but "
    "for NSCC and RCCC, whose switch trims it.",
    alt="Four strips over the same time. On top, a queue that rises steeply and falls in a way of its own for each "
    "control; below it the allowed rate, which drops from the line rate, and the delivered rate, which is flat; then "
    "marks and repeats, densest under the hill; at the bottom pauses, most often none.",
)
def incast_traces(
    control: Annotated[Array, CONTROL],
    senders: Annotated[Array, SENDERS],
    buffer: Annotated[Array, BUFFER],
) -> Figure:
    """The packet engine's, in steps of a microsecond, kept."""
    state = control, senders, buffer
    least = senders * 500 * 1038 / LINE + 0 * buffer
    paused = KEPT.read("paused", *state)

    def line(label: str, name: str, ink: str, area: bool = False) -> Line:
        return Line(label, TIME, KEPT.read(name, *state), ink, area)

    return Figure(
        x=Axis("time", "s", limits=(0, UNTIL)),
        y=Axis("queue", "B"),
        height=0.7,
        elements=(line("queue", "queue", "queue", area=True), Rule(least, "all bytes need {at}")),
        below=(
            Panel(
                Axis("rate of a sender", "B/s"),
                (line("allowed", "allowed", "rate"), line("delivered", "delivered", "useful")),
                height=0.6,
            ),
            Panel(
                Axis("share of packets", "%", limits=(0, 1.02)),
                (line("marked", "marked", "latency"), line("trimmed, sent again", "again", "lost")),
                height=0.45,
            ),
            Panel(
                Axis("share of time", "%", limits=(0, 1.02)),
                (Line("paused", TIME, paused, "failure", area=True),),
                height=0.35,
            ),
        ),
        numbers={
            "peak": Number(KEPT.read("peak", *state), "B", "longest queue"),
            "first": Number(KEPT.read("first", *state), "s", "first finish"),
            "last": Number(KEPT.read("last", *state), "s", "last finish of those that are done"),
            "times": Number(KEPT.read("last", *state) / least, "times", "the least, last finish"),
            "undone": Number(KEPT.read("undone", *state), "flows", "not done in the time shown"),
            "paused": Number((paused * EVERY * STEP).sum(axis=-1, keepdims=True), "s", "paused, mean of the cables"),
        },
        reading=lambda s: (
            f"{s['control']}, {s['senders']:.0f} senders, who hear {CONTROLS[s['control']][2]}: the queue reaches "
            f"{s['peak'] / 1e6:.2f} MB"
            + (
                f"; the first sender is done after {s['first'] * 1e6:,.0f} us"
                if np.isfinite(s["first"])
                else "; no sender is done in the time shown"
            )
            + (f", {s['undone']:.0f} are not done by the end" if s["undone"] else ", all before the end")
            + (f"; a cable is paused for {s['paused'] * 1e6:,.0f} us." if s["paused"] > 5e-7 else "; nobody is paused.")
        ),
        failure=lambda s: (
            "Senders are done much later than a full link would be: rates were cut below what it can carry."
            if s["undone"] or s["times"] > 1.3
            else "Senders are paused: the switch ran out of room before they slowed down."
            if s["paused"] > 5e-7
            else ""
        ),
    )
