"""Credits of the receiver: nobody sends, after a first window, what the receiver has not asked for.

Read with the chapter "Congestion control", section "Receivers that ask".
"""

import numpy as np

from netlib.congestion.packets.engine import Heard, in_turn
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Credits


class CreditSender:
    """Senders of RCCC (UEC 1.0), EQDS (NSDI 2022) and NDP (SIGCOMM 2017), and the receivers that pace them.

    A sender may send `start` BDPs unasked; what it has not used when it first hears from the receiver is void. From
    then on the receiver deals a credit of one packet at a time, at `rate` of its link and in turn, to the senders that
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
        engine = heard._engine
        news = (heard.acked > 0) | (heard.lost > 0)
        self.credit -= engine.sent - self._sent + heard.lost  # what is lost is no longer counted as sent
        self._sent = engine.sent.copy()
        np.minimum(self.credit, 0, out=self.credit, where=news & ~self._asked)
        self._asked |= news
        self._arrived += heard.acked + heard.lost
        self._deal(now, engine.left)
        self.window = self._sent - engine.acked + self.credit

    def _deal(self, now: float, left: "np.typing.NDArray[np.float64]") -> None:
        """One packet's credit after the other, at the receivers' pace, to whoever has waited longest."""
        want = np.minimum(left, self._most) - self.credit
        if self.control.echo:
            want = np.minimum(want, self._arrived - self.granted)
        want = np.ceil(np.where(self._asked, want, 0) / self.wire - 1e-6)
        self._due += self._pace * (now - self._before)
        self._before = now
        given = in_turn(np.maximum(want, 0), self._of, np.floor(self._due / self.wire), self._turn)
        served = given > 0
        self._turn[served] = self._turn.max() + 1
        self.credit += given * self.wire
        self.granted += given * self.wire
        self._due -= np.bincount(self._of, given, len(self._due)) * self.wire
        np.minimum(self._due, self.wire, out=self._due)  # an idle receiver saves up one packet, no more
