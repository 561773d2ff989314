"""Incast: how long a buffer lasts when many send to one."""

from typing import Annotated

import numpy as np

from netlib.congestion import incast_fill_time
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule

SIGNAL = 10e-6  # s, a round trip through three switches, there and back


@explorer(
    "incast-fill",
    title="How long a buffer lasts",
    caption="N senders at full rate and one port that drains. The queue grows at N - 1 times the rate of a port until "
    "the buffer is full; the second mark is a round trip of ten microseconds, the earliest moment at which any sender "
    "can have been told.",
    alt="A straight line of queue against time rises from zero and bends flat where it meets a horizontal mark, the "
    "buffer; two vertical marks stand at the round trip and at the moment when the buffer is full.",
)
def incast_fill(
    senders: Annotated[Array, Knob(2, 4, 8, 16, 32, 64, 128, default=32, unit="senders")],
    rate: Annotated[Array, Knob(12.5e9, 25e9, 50e9, 100e9, default=50e9, unit="B/s", label="a port, one way")],
    buffer: Annotated[Array, Knob(16e6, 64e6, 160e6, default=64e6, unit="B", label="buffer")],
) -> Figure:
    """(N - 1) rate t, up to the buffer."""
    full = incast_fill_time(buffer, senders, rate)
    time = np.linspace(0, 400e-6, 101)
    queue = np.minimum((senders - 1) * rate * time, buffer)
    return Figure(
        x=Axis("time", "s", limits=(0, 400e-6)),
        y=Axis("queue", "B", limits=(0, 170e6)),
        elements=(
            Line("queue", time, queue, "queue", area=True),
            Rule(buffer + 0 * rate, "the buffer", along="y"),
            Rule(SIGNAL, "one round trip", ink="latency"),
            Rule(np.where(full <= time[-1], full, np.nan), "full at {at}", ink="failure"),
        ),
        numbers={
            "full": Number(full, "s", "until the buffer is full"),
            "trips": Number(full / SIGNAL, "", "round trips until then"),
            "before": Number(np.minimum((senders - 1) * rate * SIGNAL, buffer), "B", "queue before any signal"),
        },
        reading="{senders} at {rate} fill {buffer} in {full}: {trips} round trips of 10 us. Before the first signal "
        "can act, {before} are queued.",
        failure=lambda s: (
            "The buffer is full before a sender can have heard anything: no reaction helps, only sending less."
            if s["trips"] <= 1
            else ""
        ),
    )
