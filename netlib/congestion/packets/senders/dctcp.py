"""DCTCP's sender: the share of marked packets decides how deep the cut is.

Read with the chapter "Congestion control", section "Marking".
"""

import numpy as np

from netlib.congestion.packets.engine import Heard
from netlib.congestion.packets.senders.clocks import Rounds
from netlib.congestion.packets.senders.windows import bdp
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Dctcp


class DctcpSender:
    """DCTCP (Alizadeh et al., SIGCOMM 2010), with one BDP as its first window: no slow start.

    Once per round trip alpha = (1 - g) alpha + g x (share of marked packets in it). The first mark cuts the window by
    alpha / 2 at once, and no other does for a round trip; a round trip that ends without such a cut in force adds
    `additive` bytes. No window is below a packet.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> DctcpSender(two, Dctcp(g=1 / 16, additive=1000)).window.round().tolist()
    [202000.0, 202000.0]
    """

    def __init__(self, traffic: Traffic, control: Dctcp) -> None:
        self.control, self.line, self.wire = control, traffic.line_rate, traffic.packet.wire
        self._bdp, flows = bdp(traffic), traffic.flows
        self.most = bdp(traffic, control.window)
        self.window, self.rate = np.minimum(self._bdp, self.most), self.line.copy()
        self.alpha = np.ones(flows)
        self._rounds, self._cuts = Rounds(traffic), Rounds(traffic)
        self._acked, self._marked, self._reduced = np.zeros(flows), np.zeros(flows), np.zeros(flows, bool)
        self._first = np.ones(flows, bool)

    def react(self, now: float, heard: Heard) -> None:
        """Alpha at the end of a round trip, a cut at the first mark, then the increase."""
        if not (heard.acked > 0).any():
            return
        delay, g = heard.delay(), self.control.g
        self._acked += heard.acked
        self._marked += heard.marked
        over = self._rounds.over(now, heard, delay)
        if over.any():
            share = np.minimum(self._marked * self.wire / np.maximum(self._acked, self.wire), 1.0)
            np.copyto(self.alpha, (1 - g) * self.alpha + g * share, where=over & ~self._first)
            self._acked[over] = self._marked[over] = 0
            self._first &= ~over
        self._reduced &= ~((heard.acked > 0) & self._cuts.passed(now, delay))
        cut = (heard.marked > 0) & ~self._reduced
        if cut.any():
            self.window = np.where(cut, np.maximum(self.window * (1 - self.alpha / 2), self.wire), self.window)
            self._reduced |= cut
            self._cuts.begin(now, cut)
        grown = np.minimum(self.window + self.control.additive, self.most)
        np.copyto(self.window, grown, where=over & ~self._reduced)
        if self.control.paced:
            self.rate = np.minimum(self.window / self._bdp, 1.0) * self.line
