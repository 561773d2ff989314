"""DCQCN's timer in the queue: the same incast with the presets of a paper, a card and two simulators."""

from typing import Annotated, Any

import numpy as np

from netlib.congestion import preset
from netlib.congestion.experiments import experiment
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Rule
from netlib.course.kept import kept

PRESETS = {
    "ns-3, PowerTCP's copy, 900 us": "ns3-datacenter",
    "ns-3, HPCC's copy, 300 us": "ns3",
    "ns-3, HPCC's copy, the paper's clocks": "ns3-paper",
    "the paper, 55 us": "paper",
    "ConnectX, 300 us": "connectx-timer",
}
UNTIL, STEP, EVERY = 6e-3, 1e-6, 20
TIME = np.arange(0, UNTIL, EVERY * STEP)


def run(parameters: str, senders: float) -> dict[str, Any]:
    """One state: queue and mean allowed rate at TIME, to the last finish; peak, last finish, silences."""
    made = experiment("incast", "dcqcn", PRESETS[parameters], hosts=int(senders), until=UNTIL, dt=STEP, every=EVERY)
    seen = made.run
    last = np.nan if np.isnan(seen.finish).any() else seen.finish.max()
    queue = seen.queue[:, 0]
    shown = np.nan_to_num(last, nan=UNTIL) + EVERY * STEP > TIME
    return {
        "queue": np.interp(TIME[shown], seen.time, queue, right=0.0),
        "allowed": np.interp(TIME[shown], seen.time, seen.series["allowed"].mean(axis=1)),
        "peak": seen.peak.max(),
        "last": last,
        "ideal": made.ideal.max(),
        "empty": (queue[seen.time < np.nan_to_num(last, nan=UNTIL)] < 1e3).mean(),
        "beat": beat(seen.time, queue),
    }


def beat(time: Array, queue: Array) -> float:
    """Mean s from the start of one hill of the queue to the start of the next; nan with fewer than two."""
    full = queue > 20e3
    starts = time[1:][full[1:] & ~full[:-1]]
    return float(np.diff(starts).mean()) if starts.size > 1 else np.nan


PARAMETERS = Knob(*PRESETS, default="ns-3, PowerTCP's copy, 900 us", label="preset")
SENDERS = Knob(4, 8, default=8, unit="senders")
KEPT = kept(
    __file__,
    {"parameters": PARAMETERS, "senders": SENDERS},
    run,
    "An incast of 2 MB a sender every 20 us: queue in bytes, mean allowed rate in bytes/s; finishes and beats in s.",
)


@explorer(
    "dcqcn-heartbeat",
    title="The heartbeat of a timer",
    caption="Hosts send 2 MB each to one at 100 Gb/s; marks from 400 kB, all from 1.6 MB. Only DCQCN's parameters "
    "differ; of ns-3 there are HPCC's authors' copy and PowerTCP's. "
    "With slow timers the queue beats: full, empty until the timer fires, full again.",
    alt="Above, a queue with separate hills, a timer's tick of silence between them; below, the mean rate that senders "
    "are allowed, which falls to nothing after each hill and jumps when the timer fires.",
)
def dcqcn_heartbeat(
    parameters: Annotated[Array, PARAMETERS],
    senders: Annotated[Array, SENDERS],
) -> Figure:
    """The packet engine's, in steps of a microsecond, kept."""

    def own(name: str) -> Array:
        return KEPT.read(name, parameters, senders)

    timer = each(lambda p, n: preset("dcqcn", PRESETS[p], 12.5e9).increase_timer, parameters, senders)
    queue = own("queue")
    time = TIME[: queue.shape[-1]]
    return Figure(
        x=Axis("time", "s", limits=(0, UNTIL)),
        y=Axis("queue", "B"),
        elements=(
            Line("queue", time, queue, "queue", area=True),
            Rule(own("ideal"), "the least: {at}"),
            Rule(own("last"), "all done at {at}", ink="failure"),
        ),
        below=Panel(
            Axis("allowed, mean", "B/s"),
            (Line("allowed", time, own("allowed"), "rate"),),
        ),
        numbers={
            "timer": Number(timer, "s", "increase timer"),
            "last": Number(own("last"), "s", "last finish"),
            "peak": Number(own("peak"), "B", "longest queue"),
            "times": Number(own("last") / own("ideal"), "times", "the least time"),
            "empty": Number(own("empty"), "%", "of the time the queue is empty"),
            "beat": Number(own("beat"), "s", "from hill to hill"),
        },
        reading=lambda s: (
            f"With a timer of {s['timer'] * 1e6:.0f} us the queue reaches {s['peak'] / 1e6:.2f} MB and is empty for "
            f"{s['empty']:.0%} of the time"
            + (f"; hills begin every {s['beat'] * 1e3:.2g} ms" if s["beat"] == s["beat"] else "")
            + (
                f". The last of {s['senders']:.0f} is done after {s['last'] * 1e3:.2f} ms, {s['times']:.2f} times the "
                "least."
                if s["last"] == s["last"]
                else ". Some are not done in the time shown."
            )
        ),
        failure=lambda s: (
            "The link is idle most of the time: the queue is gone long before senders may fill the link again."
            if not s["times"] < 2
            else ""
        ),
    )
