"""Credits of the receiver: nobody sends, after a first window, what the receiver has not asked for.

Read with the chapter "Congestion control", section "Credits from the receiver".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard
from netlib.congestion.packets.nics import in_turn
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Credits


class CreditSender:
    """Senders of RCCC (UEC 1.0), EQDS (NSDI 2022) and NDP (SIGCOMM 2017), and the receivers that pace them.

    A sender may send `start` BDPs unasked; what it has not used when it first hears from the receiver is void. From
    then on the receiver deals credits of `packets` packets, at `rate` of its link and in turn, to the senders that
    have something left and hold less than `backlog` BDPs of credit. What a switch trimmed is sent again, on a new
    credit. Credits come back with the acknowledgements: a receiver decides by what it knew half a round trip ago.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> CreditSender(two, Credits(start=1.0, rate=1.0, backlog=1.5)).window.round().tolist()  # one BDP
    [202000.0, 202000.0]
    """

    def __init__(self, traffic: Traffic, control: Credits) -> None:
        self.control, self.wire = control, traffic.packet.wire
        self.rate = traffic.line_rate
        bdp = self.rate * traffic.base_rtt()
        self.credit = control.start * bdp  # bytes that may still be sent
        self.window = self.credit.copy()
        self._most = control.backlog * bdp
        self._asked = np.zeros(traffic.flows, bool)  # whether the receiver knows of the flow
        receivers, self._of = np.unique(traffic.receiver, return_inverse=True)
        self._pace = control.rate * traffic.capacity[receivers]
        self._due = np.zeros(len(receivers))  # bytes that each receiver may ask for now
        self._before = 0.0
        self._sent = np.zeros(traffic.flows)
        self._turn = np.zeros(traffic.flows, np.int64)
        self.granted = np.zeros(traffic.flows)
        self._arrived = np.zeros(traffic.flows)

    def react(self, now: float, heard: Heard) -> None:
        """Spend what was sent, deal new credits."""
        nics = heard._engine.nics
        news = (heard.acked > 0) | (heard.lost > 0)
        self.credit -= nics.sent - self._sent
        self._sent = nics.sent.copy()
        np.minimum(self.credit, 0, out=self.credit, where=news & ~self._asked)
        self._asked |= news
        self._arrived += heard.acked + heard.lost
        self._deal(now, nics.left)
        self.window = nics.flying + self.credit

    def _deal(self, now: float, left: Floats) -> None:
        """One packet's credit after the other, at the receivers' pace, to whoever has waited longest."""
        want = np.minimum(left, self._most) - self.credit
        if self.control.echo:
            want = np.minimum(want, self._arrived - self.granted)
        want = np.ceil(np.where(self._asked, want, 0) / self.wire - 1e-6)
        np.maximum(want, 0, out=want)
        self._due += self._pace * (now - self._before)
        self._before = now
        size = self.control.packets
        given = in_turn(np.ceil(want / size), self._of, np.floor(self._due / (size * self.wire) + 1e-9), self._turn)
        served = given > 0
        if served.any():
            given = np.minimum(given * size, want) * self.wire
            self.credit += given
            self.granted += given
            self._due -= np.bincount(self._of, given, len(self._due))
        np.minimum(self._due, size * self.wire, out=self._due)  # an idle receiver saves up one credit, no more
