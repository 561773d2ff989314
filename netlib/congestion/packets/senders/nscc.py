"""NSCC's sender (UEC 1.0): mark and delay together choose what a window does.

Read with the chapter "Congestion control", section "Credits from the receiver".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard, Mask
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Nscc

# What uet-htsim has beside the parameters (uec.cpp): weight of a delay in its mean, delay that counts as none, bytes
# after which a receiver acknowledges what carries no mark.
_WEIGHT, _NO_DELAY, _ACK_EVERY = 0.0125, 1e-6, 16384.0


class NsccSender:
    """NSCC of UEC 1.0, as its simulator uet-htsim has it.

    No mark, short delay: the window grows in proportion to what is missing to the target, and fast while a whole
    window has seen no delay. No mark, long delay: it grows by the fair increase. Mark, short delay: nothing, another
    way is tried. Mark, long delay: once per round trip it shrinks in proportion to what the mean delay is above the
    target. Growth is gathered and added after `adjust` packets or a round trip. A lost packet takes its bytes off the
    window; when little gets through at all, the window becomes what was achieved in a round trip (quick adapt), and
    what was in flight then is not listened to.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> law = Nscc(target=0.75, max_window=1.5, gamma=0.8, max_cut=0.5, fair=5, eta=0.15, proportional=4, fast=0.25,
    ...            gate=3, qa_target=4, adjust=8, reference=150e3, reference_rtt=12e-6)
    >>> NsccSender(two, law).cwnd.round().tolist()  # 1.5 BDP
    [303000.0, 303000.0]
    """

    def __init__(self, traffic: Traffic, control: Nscc) -> None:
        self.control, self.wire, flows = control, traffic.packet.wire, traffic.flows
        self.rate, self.rtt = traffic.line_rate, traffic.base_rtt()
        bdp, self.target = self.rate * self.rtt, control.target * self.rtt
        self.most = control.max_window * bdp
        scale = bdp / control.reference * traffic.packet.payload
        self._fair, self._eta = control.fair * scale, control.eta * scale
        self._near = control.proportional * scale / control.reference_rtt
        self._fast = control.fast * bdp / control.reference
        self.cwnd = self.most.copy()
        self.window = self.cwnd - self.wire + 1  # a packet leaves if all of it fits
        self.mean_delay = np.zeros(flows)
        self._news = np.zeros(flows)  # bytes since the last acknowledgement
        self.gain, self._since = np.zeros(flows), np.zeros(flows)  # bytes^2 to add, bytes acknowledged for it
        self._calm, self._rising = np.zeros(flows), np.zeros(flows, bool)
        self._achieved, self._qa_end, self._hit = np.zeros(flows), np.zeros(flows), np.zeros(flows, bool)
        self._ignored, self._ignore = np.zeros(flows), np.zeros(flows)
        self._cut_at, self._added_at = np.zeros(flows), np.zeros(flows)

    def react(self, now: float, heard: Heard) -> None:
        """Losses first, then what was acknowledged."""
        if heard.lost.any():
            self._lose(now, heard)
        if heard.acked.any():
            self._news += heard.acked
            marked = heard.marked > 0
            on = marked | (self._news >= np.minimum(_ACK_EVERY, self.cwnd - self.wire))
            on &= heard.acked > 0
            if on.any():
                self._acknowledge(now, on, marked, heard)
        self.window = self.cwnd - self.wire + 1

    def _acknowledge(self, now: float, on: Mask, marked: Mask, heard: Heard) -> None:
        """One acknowledgement for each flow in `on`."""
        delay, news, target = heard.delay(), np.where(on, self._news, 0.0), self.target
        self._news[on] = 0
        self._achieved += news
        self._since += news
        self._ignored += news
        late = delay >= target
        sample = np.where(~marked & (delay > target), self.rtt / 4, delay)
        self.mean_delay += np.where(on, _WEIGHT * (sample - self.mean_delay), 0)
        on = on & ~self._adapt(now, on, marked, delay, heard)
        self.gain += np.where(on & ~marked & late, self._fair * news, 0)
        self._increase(on & ~marked & ~late, delay, news)
        self._decrease(now, on & marked & late)
        self._bound()
        due = on & ((self._since > self.control.adjust * self.wire) | (now - self._added_at > self.rtt))
        self.cwnd += np.where(due, self.gain / self.cwnd, 0)
        eta = due & (now - self._added_at >= self.rtt)
        self.cwnd += np.where(eta, self._eta, 0)
        self._added_at[eta] = now
        self.gain[due] = self._since[due] = 0
        self._bound()

    def _increase(self, on: Mask, delay: Floats, news: Floats) -> None:
        """Fast where a whole window has seen no delay, else in proportion to what is missing to the target."""
        none = on & (delay < _NO_DELAY)
        self._calm = np.where(on, np.where(none, self._calm + news, 0), self._calm)
        self._rising = np.where(on, none & ((self._calm > self.cwnd) | self._rising), self._rising)
        fast = on & self._rising
        self.cwnd += np.where(fast, self._fast * news, 0)
        self.gain += np.where(on & ~fast, self._near * (self.target - delay) * news, 0)

    def _decrease(self, now: float, on: Mask) -> None:
        """Once per round trip, by the mean delay."""
        self._rising &= ~on
        self._calm[on] = 0
        cut = on & (self.mean_delay > self.target) & (now - self._cut_at > self.rtt)
        over = (self.mean_delay - self.target) / np.maximum(self.mean_delay, 1e-12)
        self.cwnd *= np.where(cut, np.maximum(1 - self.control.gamma * over, 1 - self.control.max_cut), 1.0)
        self._cut_at[cut] = now

    def _lose(self, now: float, heard: Heard) -> None:
        """Packets that were trimmed or lost: a long delay, and their bytes off the window."""
        on = heard.lost > 0
        self._ignored += heard.lost
        kept = (1 - _WEIGHT) ** (heard.lost / self.wire)
        self.mean_delay = kept * self.mean_delay + (1 - kept) * self.rtt
        self._hit |= on
        adapted = self._adapt(now, on, on, np.zeros_like(self.rtt), heard)
        self.cwnd -= np.where(on & ~adapted, heard.lost, 0)
        self._bound()

    def _adapt(self, now: float, on: Mask, marked: Mask, delay: Floats, heard: Heard) -> Mask:
        """(F,) where quick adapt acts, or has acted and what was in flight then still comes back."""
        deaf = on & marked & (self._ignored < self._ignore)
        look = on & ~deaf & (now > self._qa_end)
        bad = self._hit | (delay > self.control.qa_target * self.target)
        act = look & (self._qa_end > 0) & bad & (self._achieved < self.most / 2**self.control.gate)
        self.cwnd = np.where(act, np.maximum(self._achieved, self.wire), self.cwnd)
        np.copyto(self._ignore, heard._engine.nics.flying, where=act)
        self._ignored[act] = 0
        self._hit &= ~act
        self._achieved[look] = 0
        np.copyto(self._qa_end, now + self.rtt + self.target, where=look)
        self.gain[deaf | act] = self._since[deaf | act] = 0
        return deaf | act

    def _bound(self) -> None:
        np.clip(self.cwnd, self.wire, self.most, out=self.cwnd)
