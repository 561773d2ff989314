"""Swift's sender: towards a target delay, with windows that may be less than a packet.

Read with the chapter "Congestion control", section "Marking".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Swift


class SwiftSender:
    """Swift (Kumar et al., SIGCOMM 2020), the part of the fabric.

    target = base + hops x per_hop + clip(a / sqrt(w) + b, 0, fs_range), w in packets, full at `fs_least` and none at
    `fs_most` (flow scaling: with more flows each window is smaller, and the target leaves room for their bursts).
    Below the target w + ai per round trip; above it, once per round trip, w x max(1 - beta (d - target) / d, 1 -
    max_cut); a loss cuts by `max_cut`. A window below one packet is a pause: one packet each rtt / w. The first window,
    and the largest, fills the target delay at line rate.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> flat = Swift(8e-6, 1e-6, 0.0, 0.1, 100.0, 1.0, 0.8, 0.5, 0.001)
    >>> SwiftSender(two, flat).packets.round(6).tolist()  # 10 us at 50 packets per us
    [500.0, 500.0]
    """

    def __init__(self, traffic: Traffic, control: Swift) -> None:
        self.control, self.line, self.wire = control, traffic.line_rate, traffic.packet.wire
        self._rtt = traffic.base_rtt()
        links = np.zeros(traffic.flows)
        np.maximum.at(links, traffic.flow, (traffic.way >= 0).sum(axis=1))
        self.base = control.base + control.per_hop * links
        self.most = np.maximum(self.line * np.maximum(self.base, self._rtt) / self.wire, control.min_window)
        self.packets = self.most.copy()
        self._may_cut = np.full(traffic.flows, -np.inf)
        span = control.fs_least**-0.5 - control.fs_most**-0.5
        self._scale = control.fs_range / span if span > 0 else 0.0
        self.rate, self.window = self.line.copy(), self.packets * self.wire

    def target(self) -> Floats:
        """(F,) s of delay that each flow aims at now."""
        control = self.control
        scaling = self._scale * (self.packets**-0.5 - control.fs_most**-0.5)
        return np.asarray(self.base + np.clip(scaling, 0, control.fs_range))

    def react(self, now: float, heard: Heard) -> None:
        """A longer window for what was acknowledged in time, a shorter one at most once per round trip."""
        new, lost = heard.acked > 0, heard.lost > 0
        if not (new.any() or lost.any()):
            return
        control, packets = self.control, self.packets
        rtt = self._rtt + heard.delay()
        late = rtt / self.target()
        gain = control.ai * heard.acked / self.wire / np.maximum(packets, 1)
        may_cut = (now >= self._may_cut) & (lost | (new & (late > 1)))
        share = np.where(lost, control.max_cut, np.minimum(control.beta * np.maximum(1 - 1 / late, 0), control.max_cut))
        changed = np.where(may_cut, packets * (1 - share), np.where(new & (late < 1), packets + gain, packets))
        self._may_cut[may_cut] = now + rtt[may_cut]
        self.packets = np.clip(changed, control.min_window, self.most)
        self.window = self.packets * self.wire
        paced = self.window / rtt
        self.rate = np.where(self.packets < 1, np.where(new | lost, paced, self.rate), self.line)
