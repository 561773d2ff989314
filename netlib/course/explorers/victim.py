"""A flow that shares nothing but a sender with an incast."""

from typing import Annotated, Any

import numpy as np

from netlib.congestion.experiments import Around, experiment
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.course.kept import kept

SENDERS = 4
HELD: dict[str, tuple[str, str, Around]] = {
    "pauses": ("uncontrolled", "line-rate", "pause"),
    "room for all": ("uncontrolled", "line-rate", "room"),
    "pauses and DCQCN": ("dcqcn", "ns3", "pause"),
    "NSCC, trimming": ("nscc", "uec-1.0", "trim"),
}
UNTIL, STEP, EVERY = 2e-3, 1.5e-6, 30
TIME = np.arange(0, UNTIL, EVERY * STEP)
LINE = 12.5e9


def run(held: str) -> dict[str, Any]:
    """One state: shares of the line that the sender's two flows are acknowledged, at TIME."""
    control, name, around = HELD[held]
    found = experiment(
        "victim", control, name, hosts=SENDERS, size=24e6, around=around, until=UNTIL, dt=STEP, every=EVERY
    ).run
    return {
        flow: np.interp(TIME, found.time, found.rate[:, column]) / LINE
        for flow, column in {"victim": -1, "other": 0}.items()
    }


BY = Knob(*HELD, default="pauses", label="held back by")
KEPT = kept(__file__, {"held": BY}, run, "Shares of a sender's line: the victim's, and of its flow in the incast.")


@explorer(
    "victim",
    title="The victim",
    caption="Four hosts send to one at 100 Gb/s; the first of them has a second flow, to an idle neighbour. Shares of "
    "the line that the sender's two flows reach. A pause stops its cable for both; where switches have room, or "
    "senders slow down by themselves (DCQCN as in the copy of ns-3 of HPCC's authors), the second flow "
    "takes what the first leaves.",
    alt="Two curves of rate against time. Under pauses both fall to the same small share; otherwise the victim's curve "
    "runs well above the other.",
)
def victim(
    held: Annotated[Array, BY],
) -> Figure:
    """The packet engine's, kept; the last third of the time is the steady part."""
    own, other = KEPT.read("victim", held), KEPT.read("other", held)
    late = TIME > 1.2e-3
    return Figure(
        x=Axis("time", "s", limits=(0, UNTIL)),
        y=Axis("share of the line", "%", limits=(0, 1)),
        elements=(
            Line("the victim", TIME, own, "useful"),
            Line("its sender's part of the incast", TIME, other, "lost"),
            Rule(1 / SENDERS + np.zeros(held.shape), "a fair part of the incast", along="y"),
        ),
        numbers={
            "victim": Number(np.mean(own[..., late], axis=-1, keepdims=True), "%", "victim, late"),
            "part": Number(np.mean(other[..., late], axis=-1, keepdims=True), "%", "its sender's other flow, late"),
            "free": Number(1 - 1 / SENDERS + np.zeros(held.shape), "%", "of the line left for the victim"),
        },
        reading="{held}: in the end the victim has {victim} of the line beside {part} for the incast; "
        "{free} would be free for it.",
        failure=lambda s: (
            "Nothing the victim uses is busy but its own cable, and that is paused for somebody else's port."
            if s["victim"] < 0.6 * s["free"]
            else ""
        ),
    )
