"""Clocks: timers of many flows at once, read in steps.

Read with the chapter "Congestion control", section "Marking".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard, Mask
from netlib.congestion.packets.traffic import Ints, Traffic

SLACK = 1e-10
"""s by which a clock may seem to be early: steps and periods are added up in floating point."""


def ticks(now: float, due: Floats, period: float) -> Ints | None:
    """(F,) how often each clock has ticked by `now`, or None if none has; `due` (F,) moves on, in place.

    >>> due = np.array([2e-6, 9e-6])
    >>> ticks(4e-6, due, 1e-6).tolist(), due.round(9).tolist()
    ([3, 0], [5e-06, 9e-06])
    """
    late = now + SLACK - due
    if not (late >= 0).any():
        return None
    if period <= 0:  # no clock: each look is a tick
        return (late >= 0).astype(np.int64)
    count = np.floor(np.maximum(late / period, -1)).astype(np.int64) + 1
    due += np.where(count > 0, count * period, 0)
    return count


class Rounds:
    """Round trips of every flow: one is over when something is acknowledged that was sent after it began.

    rtt  (F,) s of a round trip without queues
    """

    def __init__(self, traffic: Traffic) -> None:
        self.rtt = traffic.base_rtt()
        self._began = np.full(traffic.flows, -np.inf)

    def passed(self, now: float, delay: Floats) -> Mask:
        """(F,) whether what is acknowledged now, after `delay` (F,) s in queues, was sent after the round began."""
        return np.asarray(now - self.rtt - delay >= self._began - SLACK)

    def begin(self, now: float, on: Mask) -> None:
        """A new round for the flows `on`."""
        self._began[on] = now

    def over(self, now: float, heard: Heard, delay: Floats) -> Mask:
        """(F,) whether a round ends with this step's acknowledgements; the next one then begins."""
        over = (heard.acked > 0) & self.passed(now, delay)
        self.begin(now, over)
        return over
