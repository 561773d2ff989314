"""The next speeds: how much of a message is sent before anybody can have said stop."""

from typing import Annotated

import numpy as np

from netlib.congestion import incast_peak, pause_time, preset
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.units import MB

RATES = 12.5e9 * 2.0 ** np.arange(6)  # 100 Gb/s ... 3.2 Tb/s


@explorer(
    "next-speed",
    title="Before anybody can say stop",
    caption="Share of a message that its sender has put on the wire before the first feedback can arrive, by port "
    "speed, and how many messages a sender could send while DCQCN's timer ticks once, set as in ns-3, PowerTCP's "
    "copy. What counts in round trips keeps its pace; what counts in microseconds falls behind with every generation. "
    "The burst is what arrives too much; a switch that trims cuts it off, and the data are sent again.",
    alt="On log axes straight lines rise with the port's speed: the share sent before feedback reaches 100 per cent "
    "and stays there.",
)
def next_speed(
    message: Annotated[
        Array, Knob(0.02 * MB, 0.1 * MB, 0.5 * MB, 2 * MB, 16 * MB, 100 * MB, default=2 * MB, unit="B", label="message")
    ],
    trip: Annotated[Array, Knob(2e-6, 5e-6, 10e-6, 20e-6, 50e-6, default=10e-6, unit="s", label="round trip")],
    senders: Annotated[Array, Knob(8, 32, 128, 512, default=32, unit="senders")],
) -> Figure:
    """min(1, rate trip / message); the first burst; ticks."""
    blind = np.minimum(RATES * trip / message, 1.0)
    at = RATES[4]
    slow = preset("dcqcn", "ns3-datacenter").increase_timer
    return Figure(
        x=Axis("port, one way", "B/s", "log"),
        y=Axis("sent before any feedback", "%", "log", limits=(2e-4, 1.5)),
        elements=(
            Line("of one message", RATES, blind + 0 * senders, "rate"),
            Rule(1.0, "all of it", along="y", ink="failure"),
            Rule(at, "{at}"),
        ),
        numbers={
            "blind": Number(np.minimum(at * trip / message, 1.0) + 0 * senders, "%", "sent blind at 1.6 Tb/s"),
            "bdp": Number(at * trip + 0 * message + 0 * senders, "B", "bandwidth x round trip at 1.6 Tb/s"),
            "burst": Number(incast_peak(senders, at * trip) + 0 * message, "B", "first burst of the incast"),
            "ticks": Number(
                slow * at / message + 0 * trip + 0 * senders, "", "messages in one tick of ns-3, PowerTCP's copy"
            ),
            "pause": Number(pause_time(at), "s", "longest pause at 1.6 Tb/s"),
        },
        reading="At 1.6 Tb/s and {trip}, {blind} of {message} is on the way before its sender hears anything, and "
        "{senders} together queue {burst}, or their switch trims most of that and it is sent again. While a timer of "
        "900 us ticks once, {ticks} such messages could be sent; the longest pause lasts {pause}.",
        failure=lambda s: (
            "The whole message is sent blind: control after the fact has nothing left to control."
            if s["blind"] >= 1
            else ""
        ),
    )
