"""PowerTCP's sender: windows by the power of the busiest hop, its voltage times its current.

Read with the chapter "Congestion control", section "Delay and telemetry".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard
from netlib.congestion.packets.senders.clocks import Rounds
from netlib.congestion.packets.senders.telemetry import LEAST_RATE, Stamp, Stamps
from netlib.congestion.packets.senders.windows import bdp
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import PowerTcp

_LEAST_CURRENT = 0.5  # of theta-PowerTCP, as in the authors' ns-3: a falling round trip is believed up to a half


class PowerTcpSender:
    """PowerTCP (Addanki et al., NSDI 2022, algorithms 1 and 2).

    Voltage is the queue plus a BDP, current what comes to the queue in a second: q' + mu. Their product over B^2 T is
    the power of a hop, 1 for a full link without a queue; of the largest a moving mean is kept, with weight (time
    between stamps) / T. Each acknowledgement sets W = gamma (W_c eta / power + beta) + (1 - gamma) W_c with beta =
    line rate x T / flows, and the reference W_c becomes W once per round trip, as in the authors' ns-3. Without
    stamps (theta) power is (RTT / T) x (RTT' + 1). The rate is W / T; a window counts what packets carry.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> PowerTcpSender(two, PowerTcp(gamma=0.9, flows=100, theta=False)).window.round().tolist()  # one BDP
    [202000.0, 202000.0]
    """

    def __init__(self, traffic: Traffic, control: PowerTcp) -> None:
        self.control = control
        self.line, self.rtt = traffic.line_rate, traffic.base_rtt()
        self._most = bdp(traffic)
        self.rate, self.window = self.line.copy(), self._most.copy()
        self.reference = self.rate.copy()  # W_c / T
        self.power = np.ones(traffic.flows)
        self._stamps, self._rounds = Stamps(traffic), Rounds(traffic)
        self._rtt_before, self._heard_at = np.zeros(traffic.flows), np.full(traffic.flows, -1.0)

    def react(self, now: float, heard: Heard) -> None:
        """New windows for the flows that heard something."""
        new = self._stamps.answered(heard)
        if not new.any():
            return
        delay = heard.delay()
        if self.control.theta:
            power, seconds = self._by_delay(now, new, delay)
        else:
            power, seconds = self._stamps.busiest(heard, new, powered)
        over = new & self._rounds.passed(now, delay)
        self._rounds.begin(now, over)
        new &= seconds > 0  # the first answer has none before it
        weight = np.minimum(seconds / self.rtt, 1.0)
        self.power = np.where(new, (1 - weight) * self.power + weight * power, self.power)
        gamma = self.control.gamma
        aim = self.reference * self.control.eta / np.maximum(self.power, 1e-9) + self.line / self.control.flows
        rate = gamma * aim + (1 - gamma) * self.reference
        rate = np.where(new, np.clip(rate, LEAST_RATE * self.line, self.line), self.rate)
        heard._engine.nics.change_pace(self.rate, rate)
        self.rate = rate
        self.window = self._most * (self.rate / self.line)
        np.copyto(self.reference, self.rate, where=over & new)

    def _by_delay(self, now: float, new: np.ndarray, delay: Floats) -> tuple[Floats, Floats]:
        """(F,) power by round trips alone, and the seconds since the round trip before."""
        rtt = self.rtt + delay
        seconds = np.where(new & (self._heard_at >= 0), now - self._heard_at, 0.0)
        slope = np.divide(rtt - self._rtt_before, seconds, out=np.zeros_like(rtt), where=seconds > 0)
        np.copyto(self._rtt_before, rtt, where=new)
        self._heard_at[new] = now
        return np.maximum(slope + 1, _LEAST_CURRENT) * rtt / self.rtt, seconds


def powered(stamp: Stamp) -> Floats:
    """(S,) power of one hop: (queue + B T) x (bytes that came a second), over B^2 T."""
    return (stamp.length / (stamp.capacity * stamp.rtt) + 1) * stamp.came / (stamp.seconds * stamp.capacity)
