"""What an incast costs under each control: the queue that stands, and how far apart the senders finish."""

from typing import Annotated, Any

import numpy as np

from netlib.congestion.experiments import Experiment, experiment
from netlib.course.explorer import Knob, explorer
from netlib.course.explorers.permutation import CONTROLS as OTHERS
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Panel, Rule
from netlib.course.kept import kept
from netlib.links import Link

CONTROLS = {
    "none": ("uncontrolled", "line-rate"),
    "DCQCN": ("dcqcn", "ns3"),
    **{name: OTHERS[name] for name in ("DCTCP", "Swift", "HPCC", "PowerTCP", "NSCC", "RCCC")},
    "EQDS": ("credits", "eqds"),
}
LINE, SIZE = 12.5e9, 2e6
SMALLEST = 1e-2  # round trips: what the log axis shows of an empty queue


def run(control: str, senders: float, trip: float) -> dict[str, Any]:
    """One state: queues while all send, in round trips of the link, and finishes over the least.

    Once with room for every byte, which is the control alone, and once with the switch that comes with the control.
    """
    step = min(0.5e-6, trip / 9)
    alone, whole = (
        experiment(
            "incast", *CONTROLS[control], hosts=int(senders), size=SIZE, link=Link(trip / 4, LINE), dt=step, every=8,
            around=around,
        )
        for around in ("room", None)
    )  # fmt: skip
    finish, packets = whole.run.finish / whole.ideal.max(), whole.traffic.wire.sum() / whole.traffic.packet.wire
    return {
        "alone": standing(alone).mean(), "mean": standing(whole).mean(), "high": np.percentile(standing(whole), 95),
        "trimmed": np.sum(whole.run.counters.get("trimmed", 0.0)) / packets,
        "first": finish.min(), "last": finish.max(), "least": whole.ideal.max(),
    }  # fmt: skip


def standing(made: Experiment) -> Array:
    """The queue in round trips of the link, from three tenths of the first finish up to it."""
    seen, first = made.run, made.run.finish.min()
    late = (seen.time > 0.3 * first) & (seen.time < first)
    return np.asarray(seen.queue[late, 0] / (LINE * made.traffic.base_rtt().max()))


CONTROL = Knob(*CONTROLS, default="RCCC", label="read")
SENDERS = Knob(8, 16, 32, default=8, unit="senders")
TRIP = Knob(4e-6, 14e-6, 40e-6, default=14e-6, unit="s", label="round trip")
KEPT = kept(
    __file__,
    {"control": CONTROL, "senders": SENDERS, "trip": TRIP},
    run,
    "An incast of 2 MB a sender: queues while all send in round trips of the link, alone with room for all; trimmed "
    "over all packets; finish over the least, least in s.",
)


def trips(waits: float) -> str:
    """Round trips, with as many digits as they deserve."""
    return f"{waits:,.0f}" if waits >= 10 else f"{waits:.2f}"


@explorer(
    "queue-by-control",
    title="What a control costs",
    caption="Hosts send 2 MB each to one at 100 Gb/s, from the same moment. Above, the queue in front of the receiver "
    "while all of them send, as time that it takes to drain, in round trips: the mean with room for every byte, which "
    "is the control's own; then with the switch that comes with it, which trims for NSCC, RCCC and EQDS and pauses "
    "for the others: the mean, and what it stays below for 19 twentieths of the time. Below, when the first and the "
    "last sender are done with that switch, over what a full link needs. DCQCN and DCTCP are set as in the copy of "
    "ns-3 of HPCC's authors, PowerTCP as in its own authors' copy. A bar that reaches the top goes on.",
    alt="Bars for nine controls in two strips. Above, on a log axis, queues from a hundredth of a round trip to over a "
    "hundred, those of receivers' credits much shorter with a switch that trims than with room for all; "
    "below, pairs of bars of first and last finish, most near a line at one, DCQCN's well above it.",
)
def queue_by_control(
    control: Annotated[Array, CONTROL],
    senders: Annotated[Array, SENDERS],
    trip: Annotated[Array, TRIP],
) -> Figure:
    """The packet engine's, kept."""

    def every(name: str) -> Array:
        return np.concatenate(
            [KEPT.read(name, np.full(senders.shape, each), senders, trip) + 0 * senders for each in CONTROLS], axis=-1
        )

    chosen = np.select([control == name for name in CONTROLS], [*range(len(CONTROLS))], np.nan)

    def own(name: str) -> Array:
        return KEPT.read(name, control, senders, trip)

    return Figure(
        x=Axis("control", categories=tuple(CONTROLS)),
        y=Axis("queue, round trips", "", "log", limits=(SMALLEST, 1000)),
        elements=(
            Bars("room for all", np.maximum(every("alone"), SMALLEST), "bound"),
            Bars("with its switch", np.maximum(every("mean"), SMALLEST), "queue"),
            Bars("19 of 20 below", np.maximum(every("high"), SMALLEST), "latency"),
            Rule(1.0, "one round trip", along="y"),
            Rule(chosen, "read below", ink="measured"),
        ),
        below=Panel(
            Axis("finish, times the least", "", limits=(0, 2)),
            (
                Bars("first done", every("first"), "useful"),
                Bars("last done", every("last"), "lost"),
                Rule(1.0, "a full link", along="y"),
            ),
            height=0.8,
        ),
        numbers={
            "alone": Number(own("alone"), "round trips", "mean queue with room for all, of the control that is read"),
            "waits": Number(own("mean"), "round trips", "mean queue with its switch"),
            "trimmed": Number(own("trimmed"), "%", "of the packets trimmed by the switch, repeats counted"),
            "first": Number(own("first"), "times", "the least, first finish"),
            "last": Number(own("last"), "times", "the least, last finish"),
            "deepest": Number(every("mean").max(axis=-1, keepdims=True), "round trips", "deepest mean queue of all"),
        },
        reading=lambda s: (
            f"{s['control']}, {s['senders']:.0f} senders, {s['trip'] * 1e6:.0f} us: while all send, a packet waits "
            f"{trips(s['alone'])} round trips where there is room for all"
            + (
                f", and {trips(s['waits'])} where the switch trims, which cuts {s['trimmed']:.0%} of the packets"
                if s["trimmed"]
                else f", and {trips(s['waits'])} where the switch pauses"
            )
            + f"; the first sender is done after {s['first']:.2f}, the last after {s['last']:.2f} of the "
            "time that a full link needs."
        ),
        failure=lambda s: " ".join(
            said
            for said, holds in (
                ("The switch keeps the queue short, not the control.", s["alone"] > 2 > s["waits"]),
                ("Too deep: everybody who shares the queue waits longer for it than for the path.", s["waits"] > 2),
                ("Idle: the link is empty for a part of the time.", s["last"] > 1.15),
                ("Unfair: the first has gone before the last had its share.", s["first"] < 0.85 * s["last"]),
            )
            if holds
        ),
    )
