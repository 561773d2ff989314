"""HPCC's sender: windows by the utilisation that switches stamp on every packet.

Read with the chapter "Congestion control", section "Delay and telemetry".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard
from netlib.congestion.packets.senders.clocks import Rounds
from netlib.congestion.packets.senders.telemetry import LEAST_RATE, Stamp, Stamps
from netlib.congestion.packets.senders.windows import bdp
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Hpcc


class HpccSender:
    """HPCC (Li et al., SIGCOMM 2019, algorithm 1).

    A hop is used to u = min(q, q before) / (B T) + bytes that left / (B x time between), the flow to U, the moving
    mean of the largest u with weight (time between) / T. Every acknowledgement sets W = W_c eta / U + W_AI when
    U >= eta or after `max_stage` increases in a row, else W = W_c + W_AI; the reference W_c becomes W once per round
    trip. The rate is W / T. A window counts what packets carry, as in the authors' ns-3: on the wire it is longer by
    the headers.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> HpccSender(two, Hpcc(eta=0.95, max_stage=0, additive=80)).window.round().tolist()  # one BDP
    [202000.0, 202000.0]
    """

    def __init__(self, traffic: Traffic, control: Hpcc) -> None:
        self.control = control
        self.line, self.rtt = traffic.line_rate, traffic.base_rtt()
        self.rate = self.line.copy()
        self._most = bdp(traffic)
        self.window = self._most.copy()
        self.reference = self.rate.copy()  # W_c / T
        self.used = np.ones(traffic.flows)  # U
        self.stage = np.zeros(traffic.flows, np.int64)
        self._stamps, self._rounds = Stamps(traffic), Rounds(traffic)

    def react(self, now: float, heard: Heard) -> None:
        """New windows for the flows that heard something."""
        new = self._stamps.answered(heard)
        if not new.any():
            return
        used, seconds = self._stamps.busiest(heard, new, utilised)
        over = new & self._rounds.passed(now, heard.delay())
        self._rounds.begin(now, over)
        new &= seconds > 0  # the first stamp has none before it
        weight = np.minimum(seconds / self.rtt, 1.0)
        self.used = np.where(new, (1 - weight) * self.used + weight * used, self.used)
        cut = (self.used >= self.control.eta) | (self.stage >= self.control.max_stage)
        by = np.where(cut, self.used / self.control.eta, 1.0)
        rate = self.reference / np.maximum(by, 1e-9) + self.control.additive / self.rtt
        rate = np.where(new, np.clip(rate, LEAST_RATE * self.line, self.line), self.rate)
        heard._engine.nics.change_pace(self.rate, rate)
        self.rate = rate
        self.window = self._most * (self.rate / self.line)
        over &= new
        np.copyto(self.reference, self.rate, where=over)
        self.stage = np.where(over, np.where(cut, 0, self.stage + 1), self.stage)


def utilised(stamp: Stamp) -> Floats:
    """(S,) utilisation of one hop: what left it a second, and its queue as a share of a round trip's bytes."""
    return stamp.left / (stamp.capacity * stamp.seconds) + stamp.least / (stamp.capacity * stamp.rtt)
