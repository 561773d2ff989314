"""Scale-across: what distance does to one transfer between two sites."""

from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule
from netlib.hardware import bandwidth
from netlib.links import bytes_in_flight
from netlib.topology import round_trip
from netlib.units import GB, KB, MB

KM = 1000.0
PORTS = tuple(bandwidth(f"ethernet-{rate}") for rate in (100, 200, 400, 800))


@explorer(
    "scale-across",
    title="How much is on the way?",
    caption="A sender keeps what is not yet acknowledged: rate times round trip. Fibre takes 5 µs for a kilometre each "
    "way. With a smaller window the sender stops and waits, and its rate falls as one over the distance.",
    alt="Achieved rate over distance on log axes: level at the port's rate, then falling in proportion once the "
    "window is smaller than the bytes in flight; marks at the chosen distance and where the fall begins.",
)
def scale_across(
    distance: Annotated[Array, Knob(0.1, 1.0, 10.0, 100.0, 1000.0, default=10.0, unit="km of fibre", label="distance")],
    port: Annotated[Array, Knob(*PORTS, default=PORTS[-1], unit="B/s", label="port, one way")],
    window: Annotated[Array, Knob(500 * KB, 4 * MB, 32 * MB, 256 * MB, 2 * GB, default=32 * MB, unit="B")],
) -> Figure:
    """min(port, window / round trip)."""
    shown = np.geomspace(0.05, 2000, 121)
    rtt = round_trip(KM * distance)
    need, rate = bytes_in_flight(port, rtt), np.minimum(port, window / rtt)
    edge = window / port / round_trip(KM)
    return Figure(
        x=Axis("distance", "km", "log"),
        y=Axis("achieved rate", "B/s", "log", limits=(1e7, 2e11)),
        elements=(
            Line("with this window", shown, np.minimum(port, window / round_trip(KM * shown)), "nic"),
            Points("chosen", distance, rate),
            Rule(edge, "window too small from {at}"),
        ),
        numbers={
            "rtt": Number(rtt, "s", "round trip of light"),
            "need": Number(need, "B", "bytes in flight at full rate"),
            "rate": Number(rate, "B/s", "achieved rate"),
            "share": Number(rate / port, "%", "of the port"),
            "edge": Number(edge, "km", "reach of this window"),
        },
        reading="Over {distance} light is back after {rtt}; a full {port} then has {need} on the way, and a window of "
        "{window} gives {rate}, {share} of the port.",
        failure=lambda s: (
            f"The window is too small: the port idles {1 - s['share']:.0%} of the time, waiting for acknowledgements."
            if s["share"] < 0.5
            else ""
        ),
    )
