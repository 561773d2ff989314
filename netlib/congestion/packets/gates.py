"""Gates: how a switch that runs full holds back the links that fill it, hop by hop.

A switch counts the bytes that came in by each link and have not left: its ingress queues. With PFC it asks the far end
of a link to pause when that count is too high, and to go on when it has fallen; with credits the far end sends only
what it has been promised room for. Both act after the link's latency, and both stop the whole link: a flow that is
held back stops every flow behind it on the same link, wherever that one is going.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats
from netlib.congestion.packets.lines import Line
from netlib.congestion.packets.places import Places
from netlib.congestion.packets.traffic import Ints, Traffic
from netlib.congestion.parameters import Checked

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Pfc(Checked):
    """Priority flow control of each class.

    buffer    bytes of a switch for a class, which the thresholds of its ingress queues share. Headroom is unlimited:
              what arrives after a pause is kept beyond it
    alpha     a queue pauses its link above alpha x free bytes of the buffer; 0: above `xoff`
    xoff      bytes above which it pauses when alpha is 0
    hysteresis  bytes below the threshold at which the link may go on
    response  s from the decision until the far end stops, beyond the link's latency
    """

    buffer: float
    alpha: float
    xoff: float
    hysteresis: float
    response: float
    _positive = ("buffer",)
    _unlimited = ("buffer", "xoff", "alpha")

    def threshold(self, used: Floats) -> Floats:
        """Bytes of an ingress queue that pause its link, when the switch holds `used` bytes.

        >>> Pfc(buffer=32e6, alpha=0.125, xoff=0, hysteresis=2e3, response=0).threshold(np.array(16e6)).tolist()
        2000000.0
        """
        if self.alpha == 0:
            return np.full_like(used, self.xoff)
        return np.asarray(self.alpha * np.maximum(self.buffer - used, 0))


@dataclass(frozen=True)
class LinkCredits(Checked):
    """InfiniBand's credits: the far end may send what fits into `buffer` bytes of this link's ingress queue.

    buffer    bytes of the ingress queue of a link and lane
    response  s until freed room is announced, beyond the link's latency
    """

    buffer: float
    response: float
    _positive = ("buffer",)


class Pauses:
    """PFC on every link that enters a switch. A gate is a link and a lane: link x lanes + lane; without lanes, a link.

    paused  (G,) whether the far end of a gate is silent now;  wants (G,) whether it is meant to be
    frames  (G,) pause frames sent back over the link            (tx_prio_pause)
    time    (G,) s for which its sender was silent               (rx_prio_pause_duration)
    held    (G,) bytes in an ingress queue;  most  the most that it held
    """

    def __init__(self, traffic: Traffic, rule: Pfc, dt: float) -> None:
        self.rule, self.dt = rule, dt
        lanes = traffic.lanes
        gates = len(traffic.capacity) * lanes
        self._switch = np.repeat(traffic.enters, lanes) * lanes + np.tile(np.arange(lanes), len(traffic.enters))
        self._switches = int(self._switch.max()) + 1
        self.wants, self.paused, self._shut = np.zeros(gates, bool), np.zeros(gates, bool), False
        self.frames, self.time, self.most = np.zeros(gates), np.zeros(gates), np.zeros(gates)
        self.held = np.zeros(gates)
        self._lag = np.repeat(np.maximum(np.round((traffic.latency + rule.response) / dt), 1).astype(np.int64), lanes)
        self._coming = Line(self._lag)
        self._shared = rule.alpha > 0

    def watch(self, step: int, held: Floats) -> None:
        """Decide for every gate by the bytes `held` (G,) in its ingress queue; what was decided before arrives."""
        rule = self.rule
        most: Floats | float = rule.xoff
        if self._shared:
            used = np.bincount(self._switch, held, self._switches)
            most = rule.threshold(np.asarray(used, float)).take(self._switch)
        wants = held > most
        if self.wants.any():
            wants = np.where(self.wants, held > np.maximum(most - rule.hysteresis, 0), wants)
            self.frames += wants & ~self.wants
        elif wants.any():
            self.frames += wants
        self.wants = wants
        self._coming.put(step, wants.astype(float))
        self.paused = self._coming.get(step + 1) > 0
        self._shut = bool(self.paused.any())
        if self._shut:
            self.time += self.paused * self.dt
        self.held = held
        np.maximum(self.most, held, out=self.most)

    def room(self, gates: Ints, room: Floats) -> Floats:
        """What may go through `gates` in this step, of `room`."""
        return np.where(self.paused[gates], 0.0, room) if self._shut else room


class Promises:
    """Link credits on every link that enters a switch: what its far end may still send.

    spent     (G,) bytes sent through a gate
    promised  (G,) bytes that may have been sent by now; inf where the far end is a host
    """

    def __init__(self, traffic: Traffic, rule: LinkCredits, at: Places, dt: float) -> None:
        lanes = traffic.lanes
        gates = len(traffic.capacity) * lanes
        self.rule, self._buffer = rule, np.full(gates, np.inf)
        self._buffer[at.gate] = rule.buffer
        self.spent, self.promised = np.zeros(gates), self._buffer.copy()
        lag = np.maximum(np.round((traffic.latency + rule.response) / dt), 1).astype(np.int64)
        self._coming = Line(np.repeat(lag, lanes))

    def watch(self, step: int, freed: Floats) -> None:
        """Announce the bytes `freed` (G,) in each ingress queue since the beginning; older news arrives."""
        self._coming.put(step, freed)
        self.promised = self._buffer + self._coming.get(step + 1)

    def room(self, gates: Ints, room: Floats) -> Floats:
        """Bytes that may go through `gates` in this step, of `room`."""
        return np.minimum(room, np.maximum(self.promised[gates] - self.spent[gates], 0))

    def spend(self, gates: Ints, sent: Floats) -> None:
        """Count bytes that went through `gates`."""
        self.spent += np.bincount(gates, sent, len(self.spent))
