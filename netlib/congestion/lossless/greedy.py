"""Greedy: the sender that nothing but its switch holds back.

What pauses and credits do by themselves shows when no controller helps them.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

import numpy as np

from netlib.arguments import floats
from netlib.congestion.packets.engine import Heard
from netlib.congestion.packets.traffic import Traffic

ENDLESS = 1e12  # bytes of a flow that outlasts every run
MOST_STEPS = 4_000_000  # minutes of computing


class Greedy:
    """Every flow at line rate, as much as its NIC lets go.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> float(Greedy(incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))).rate[0])
    50000000000.0
    """

    def __init__(self, traffic: Traffic) -> None:
        self.rate = traffic.line_rate.copy()
        self.window = np.full(traffic.flows, np.inf)

    def react(self, now: float, heard: Heard) -> None:
        """Nothing that is heard changes it."""


def step_of(traffic: Traffic) -> float:
    """Seconds of an engine's step that are fair to the flows of a NIC: a packet, or a tenth of a round trip.

    In a longer step a NIC sends several packets, and does not share them evenly among its flows.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> round(step_of(incast(2, 1e6, Link(1e-6, 12.5e9), Packet(4000, 4000))) * 1e9)
    320
    """
    packet = traffic.packet.wire / traffic.line_rate.max()
    return float(min(packet, traffic.base_rtt().min() / 10))


def steps_in(until: float, step: float) -> int:
    """How many steps of `step` seconds a run of `until` has: at least one, and not more than anybody waits for.

    >>> steps_in(1e-3, 1e-6)
    1000
    """
    if floats("until", until, above=True) > MOST_STEPS * step:
        raise ValueError(
            f"until = {until:g} s are more than {MOST_STEPS:,} steps of {step:.2g} s; give less, or slower links"
        )
    return max(round(until / step), 1)
