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
from netlib.congestion.packets.traffic import Ints, Traffic
from netlib.congestion.parameters import Checked

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Pfc(Checked):
    """Priority flow control of one class.

    buffer    bytes of a switch, shared by its ingress queues
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
    """PFC on every link that enters a switch.

    paused  (L,) whether the far end of a link is silent now
    frames  (L,) pause frames sent back over the link            (tx_prio_pause)
    time    (L,) s for which its sender was silent               (rx_prio_pause_duration)
    most    (L,) most bytes an ingress queue held
    """

    def __init__(self, traffic: Traffic, rule: Pfc, dt: float) -> None:
        self.rule, self.dt = rule, dt
        links = len(traffic.capacity)
        self._switch, switches = traffic.enters, int(traffic.enters.max()) + 1
        self._switches = switches
        self._wants, self.paused = np.zeros(links, bool), np.zeros(links, bool)
        self.frames, self.time, self.most = np.zeros(links), np.zeros(links), np.zeros(links)
        self._lag = np.maximum(np.round((traffic.latency + rule.response) / dt), 1).astype(np.int64)
        self._turn = int(self._lag.max()) + 1
        self._coming = np.zeros((self._turn, links), bool)
        self._every = np.arange(links)

    def watch(self, step: int, held: Floats) -> None:
        """Decide for every link by the bytes `held` (L,) in its ingress queue; what was decided before arrives."""
        used = np.asarray(np.bincount(self._switch, held, self._switches), float)[self._switch]
        most = self.rule.threshold(used)
        wants = np.where(self._wants, held > np.maximum(most - self.rule.hysteresis, 0), held > most)
        self.frames += wants & ~self._wants
        self._wants = wants
        self._coming[(step + self._lag) % self._turn, self._every] = wants
        self.paused = self._coming[(step + 1) % self._turn]
        self.time += self.paused * self.dt
        np.maximum(self.most, held, out=self.most)

    def room(self, links: Ints, room: Floats) -> Floats:
        """Bytes that may go over `links` in this step, of `room`."""
        return np.where(self.paused[links], 0.0, room)
