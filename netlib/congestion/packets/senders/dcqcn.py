"""DCQCN's senders: the machine of the paper and the one that network cards run.

Both keep two rates, the one in force and the target that it remembers; a notice (CNP) cuts, a timer and a byte counter
raise. They differ in who decides when: in the paper each CNP acts at once, in a card a CNP waits for a clock.
Read with the chapter "Congestion control", section "Marking".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard, Mask
from netlib.congestion.packets.senders.clocks import SLACK, ticks
from netlib.congestion.packets.senders.windows import bdp
from netlib.congestion.packets.traffic import Traffic
from netlib.congestion.parameters import Dcqcn

_LEAST = 1e-4  # of the line: a floor where the parameters have none, or the next packet would be due in hours


class _Rates:
    """What both machines share: two rates, alpha, and the step upwards."""

    def __init__(self, traffic: Traffic, control: Dcqcn) -> None:
        self.control, self.line = control, traffic.line_rate
        self.floor = np.minimum(np.where(control.min_rate > 0, control.min_rate, _LEAST * self.line), self.line)
        self.rate, self.target = self.line.copy(), self.line.copy()
        self.alpha = np.full(traffic.flows, control.initial_alpha)
        self._whole = bdp(traffic, control.window)
        self.window = self._whole.copy()

    def _rise(self, on: Mask, gain: Floats) -> None:
        """The target gains `gain`, and the rate goes half of the way to it."""
        np.copyto(self.target, np.minimum(self.target + gain, self.line), where=on)
        np.copyto(self.rate, (self.rate + self.target) / 2, where=on)

    def _cut(self, on: Mask) -> None:
        np.copyto(self.rate, np.maximum(self.rate * (1 - self.alpha / 2), self.floor), where=on)

    def _follow(self) -> None:
        """The window in proportion to the rate."""
        if np.isfinite(self.control.window):
            self.window = self._whole * self.rate / self.line


class DcqcnPaper(_Rates):
    """DCQCN as published (Zhu et al., SIGCOMM 2015, figure 7).

    A CNP: target = rate, rate x (1 - alpha / 2), alpha = (1 - g) alpha + g; timer, byte counter and both stages start
    again. `alpha_timer` s without one: alpha = (1 - g) alpha, again and again. A timer of `increase_timer` s and every
    `byte_counter` bytes are each an increase and count their stage up: both stages <= F only halve the gap to the
    target; beyond it the target gains `additive`; once both are beyond, `hyper` times the smaller excess (0: additive).
    Bytes count when they are acknowledged. Flows start at line rate, and alpha's clock at the first CNP.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> paper = Dcqcn("paper", 1 / 256, 55e-6, 50e-6, 0.0, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> DcqcnPaper(incast(2, 1e6, Link(1e-6, 5e9), Packet(1000, 1000)), paper).rate.tolist()
    [5000000000.0, 5000000000.0]
    """

    def __init__(self, traffic: Traffic, control: Dcqcn) -> None:
        super().__init__(traffic, control)
        flows = traffic.flows
        self.timed, self.counted = np.zeros(flows, np.int64), np.zeros(flows, np.int64)
        self.bytes = np.zeros(flows)
        self._calm, self._timer, self._may_cut = (np.full(flows, np.inf) for _ in range(3))
        self._may_cut[:] = -np.inf

    def react(self, now: float, heard: Heard) -> None:
        """CNPs first, then what timers and counters bring to those without one."""
        control = self.control
        cut = heard.cnp & (now + SLACK >= self._may_cut)
        if cut.any():
            np.copyto(self.target, self.rate, where=cut)
            self._cut(cut)
            np.copyto(self.alpha, (1 - control.g) * self.alpha + control.g, where=cut)
            self.timed[cut] = self.counted[cut] = 0
            self.bytes[cut] = 0
            self._calm[cut], self._timer[cut] = now + control.alpha_timer, now + control.increase_timer
            self._may_cut[cut] = now + control.cut_interval
        calm = ticks(now, self._calm, control.alpha_timer)
        if calm is not None:
            self.alpha *= (1 - control.g) ** calm
        if np.isfinite(control.byte_counter):
            self.bytes += heard.acked
            full = self.bytes >= control.byte_counter
            if full.any():
                self.bytes[full] -= control.byte_counter
                self._increase(full, self.counted)
        timed = ticks(now, self._timer, control.increase_timer)
        if timed is not None:
            self._increase(timed > 0, self.timed)
        self._follow()

    def _increase(self, on: Mask, stage: Floats) -> None:
        """One increase, counted in `stage`."""
        control = self.control
        stage += on
        least = np.minimum(self.timed, self.counted) - control.fast_recovery
        most = np.maximum(self.timed, self.counted) - control.fast_recovery
        fast = least * control.hyper if control.hyper > 0 else np.full(len(least), control.additive)
        self._rise(on, np.where(least > 0, fast, np.where(most > 0, control.additive, 0.0)))


class DcqcnVendor(_Rates):
    """DCQCN as cards and ns-3 run it.

    The first CNP starts two clocks and sets alpha and the target. Every `alpha_timer`: alpha = (1 - g) alpha, + g if a
    CNP came since. Every `cut_interval`: if a CNP came since, a cut, and the timer of increases starts again. The
    target follows the rate down only in the first cut after an increase, unless `clamp_target`. Increases come from the
    timer alone: the first F halve the gap, the next gains `additive`, all later ones `hyper`. A byte counter, if there
    is one, adds increases of the same kind.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> card = Dcqcn("vendor", 1 / 256, 1e-6, 0.0, 4e-6, 9e-4, float("inf"), 1, 6e6, 12e6, 12e6, 1.0, False)
    >>> DcqcnVendor(incast(2, 1e6, Link(1e-6, 12.5e9), Packet(1000, 1038)), card).alpha.tolist()
    [1.0, 1.0]
    """

    def __init__(self, traffic: Traffic, control: Dcqcn) -> None:
        super().__init__(traffic, control)
        flows = traffic.flows
        self.stage = np.zeros(flows, np.int64)
        self.bytes = np.zeros(flows)
        self._woken, self._heard_alpha, self._heard_cut = (np.zeros(flows, bool) for _ in range(3))
        self._next_alpha, self._next_cut, self._timer = (np.full(flows, np.inf) for _ in range(3))

    def react(self, now: float, heard: Heard) -> None:
        """What was heard waits; then alpha's clock, the clock of cuts and the timer, in this order."""
        control = self.control
        if heard.cnp.any():
            first = heard.cnp & ~self._woken
            self._woken |= first
            self._heard_cut |= heard.cnp
            self._heard_alpha |= heard.cnp & ~first
            self._next_alpha[first], self._next_cut[first] = now + control.alpha_timer, now + control.cut_interval
            np.copyto(self.target, self.rate, where=first)
        self._breathe(now)
        tick = ticks(now, self._next_cut, control.cut_interval)
        if tick is not None:
            self._notice(now, (tick > 0) & self._heard_cut)
        if np.isfinite(control.byte_counter):
            self.bytes += heard.acked
            full = self.bytes >= control.byte_counter
            if full.any():
                self.bytes[full] -= control.byte_counter
                self._increase(full)
        timed = ticks(now, self._timer, control.increase_timer)
        if timed is not None:
            self._increase(timed > 0)
        self._follow()

    def _breathe(self, now: float) -> None:
        """Alpha's clock: a CNP counts in the first tick after it."""
        keep = 1 - self.control.g
        tick = ticks(now, self._next_alpha, self.control.alpha_timer)
        if tick is not None:
            gain = self.control.g * keep ** np.maximum(tick - 1, 0)
            self.alpha = keep**tick * self.alpha + np.where((tick > 0) & self._heard_alpha, gain, 0.0)
            self._heard_alpha &= tick == 0

    def _notice(self, now: float, cut: Mask) -> None:
        """A tick of the cuts' clock for those that heard a CNP since the last."""
        np.copyto(self.target, self.rate, where=cut & ((self.stage > 0) | self.control.clamp_target))
        self._cut(cut)
        self.stage[cut] = 0
        self.bytes[cut] = 0
        self._heard_cut &= ~cut
        self._timer[cut] = now + self.control.increase_timer

    def _increase(self, on: Mask) -> None:
        past = self.stage - self.control.fast_recovery
        gain = np.where(past > 0, self.control.hyper, np.where(past == 0, self.control.additive, 0.0))
        self._rise(on, gain)
        self.stage += on
