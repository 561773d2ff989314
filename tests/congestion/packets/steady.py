"""A sender that never reacts, and small traffics: what the tests of the packet engine run."""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Engine, Heard
from netlib.congestion.packets.traffic import Packet, Traffic
from netlib.links import Link

RATE = 12.5e9
LINK = Link(2e-6, RATE)
PACKET = Packet(1000, 1000)
US = 1e-6


class Steady:
    """A fixed share of line rate, and a fixed window."""

    def __init__(self, traffic: Traffic, share: Floats | float = 1.0, window: float = np.inf) -> None:
        self.rate = traffic.line_rate * share
        self.window = np.full(traffic.flows, window)
        self.lost = np.zeros(traffic.flows)

    def react(self, now: float, heard: Heard) -> None:
        """Note what was lost, and do nothing about it."""
        self.lost += heard.lost


def flown(engine: Engine) -> Floats:
    """(F,) bytes of each flow that are on cables and in queues, counted there."""
    at, queues = engine.at, engine.queues
    way = np.bincount(at.way, queues.came - queues.left, len(engine.traffic.way))
    coming = engine._coming._ring.copy()
    coming[engine.step % engine._coming.turn] = 0 if engine._coming._same else coming[engine.step % engine._coming.turn]
    return np.bincount(engine.traffic.flow, way, engine.traffic.flows)
