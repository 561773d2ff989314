"""TIMELY's sender: the rate follows the slope of the round trip; and its patch, which follows its height too.

Read with the chapter "Congestion control", section "Marking".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard, Mask
from netlib.congestion.packets.senders.clocks import SLACK, Rounds
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Timely


class TimelySender:
    """TIMELY (Mittal et al., SIGCOMM 2015), patched as in Zhu et al. (CoNEXT 2016) if `patched`.

    An update per `segment` acknowledged bytes, at most one per `min_rtt`; per round trip if `segment` is infinite.
    d = (1 - alpha) d + alpha (rtt - last rtt), gradient = d / min_rtt.
        rtt < t_low                 rate + delta
        rtt > t_high                rate x (1 - beta (1 - t_high / rtt))
        original, gradient <= 0     rate + delta; after `hai` increases in a row hyper x delta
        original, gradient > 0      rate x (1 - beta gradient)
        patched                     rate + (1 - w) delta - w beta rate (rtt / t_low - 1), w = 2 gradient + 1/2 in 0..1
    With an infinite `segment` increases below t_low grow too, as in ns-3. Flows start at line rate.

    An update does not wait for what the last one did. What an incast has sent at line rate comes back with longer and
    longer round trips, and each update in that time cuts again: with N senders the gradient nears (N - 1) / N where
    updates come each `min_rtt`, and far more where a segment takes longer, and then one cut takes all of the rate, for
    the printed law has no bound (code that its authors gave away, timely-code-snippet.cc, takes half at most). So all
    flows end on their floor before the queue is empty. From there updates come by segments, and the rate rises by a
    factor of e each segment / delta: 13 ms with the published values.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> patched = Timely(True, 0.875, 0.008, 1.25e6, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
    >>> TimelySender(incast(2, 1e6, Link(1e-6, 1.25e9), Packet(1000, 1000)), patched).rate.tolist()
    [1250000000.0, 1250000000.0]
    """

    def __init__(self, traffic: Traffic, control: Timely) -> None:
        self.control, self.line = control, traffic.line_rate
        self.rate, self.window = self.line.copy(), np.full(traffic.flows, np.inf)
        self.gradient, self.last = np.zeros(traffic.flows), np.full(traffic.flows, np.nan)
        self.rises = np.zeros(traffic.flows, np.int64)
        self.floor = np.minimum(control.min_rate or control.delta, self.line)
        self._rounds, self._rtt = Rounds(traffic), traffic.base_rtt()
        self._by_round = control.segment == np.inf
        self._bytes, self._next = np.zeros(traffic.flows), np.full(traffic.flows, -np.inf)

    def react(self, now: float, heard: Heard) -> None:
        """An update for the flows whose segment or round trip is complete."""
        if not (heard.acked > 0).any():
            return
        delay = heard.delay()
        due = self._rounds.over(now, heard, delay) if self._by_round else self._segments(now, heard)
        if not due.any():
            return
        rtt = self._rtt + delay
        known = due & ~np.isnan(self.last)
        slope = (rtt - self.last) / self.control.min_rtt
        weight = self.control.alpha
        np.copyto(self.gradient, (1 - weight) * self.gradient + weight * slope, where=known)
        np.copyto(self.last, rtt, where=due)
        self._update(known, rtt)

    def _segments(self, now: float, heard: Heard) -> Mask:
        """(F,) whether a segment is complete, and long enough after the one before."""
        control = self.control
        self._bytes += heard.acked
        due = (self._bytes >= control.segment) & (now + SLACK >= self._next) & (heard.acked > 0)
        self._bytes[due] %= control.segment
        self._next[due] = now + control.min_rtt
        return due

    def _update(self, on: Mask, rtt: Floats) -> None:
        control, rate, gradient = self.control, self.rate, self.gradient
        low, high = rtt < control.t_low, rtt > control.t_high
        if control.patched:
            weight = np.clip(2 * gradient + 0.5, 0, 1)
            between = rate + (1 - weight) * control.delta - weight * control.beta * rate * (rtt / control.t_low - 1)
            step = np.where(low, rate + control.delta, between)
        else:
            up = low | (~high & (gradient <= 0))
            counts = up & (self._by_round | ~low)
            larger = np.where(counts & (self.rises >= control.hai), control.hyper, 1.0)
            step = np.where(up, rate + larger * control.delta, rate * np.maximum(1 - control.beta * gradient, 0))
            self.rises = np.where(on, np.where(up, self.rises + counts, 0), self.rises)
        step = np.where(high, rate * (1 - control.beta * (1 - control.t_high / rtt)), step)
        np.copyto(self.rate, np.clip(step, self.floor, self.line), where=on)
