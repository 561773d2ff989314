"""Pausing: the arithmetic of one paused link, of pauses that climb, and of who acts first, the mark or the pause.

Everything is a fluid: bytes come and go at constant rates between two decisions, and a decision takes one latency to
reach the far end and one more until the bytes on the cable have come. A packet of slack is left out.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula


@dataclass(frozen=True, eq=False)
class PauseCycle:
    """How one of n links that share an outgoing link is stopped and started, over and over.

    period   s from one pause to the next
    shut     share of the time in which the link is silent
    highest, lowest  bytes of its ingress queue
    speed    share of its rate that the outgoing link keeps: below 1 where the queue runs dry before the link restarts
    """

    period: Floats
    shut: Floats
    highest: Floats
    lowest: Floats
    speed: Floats


@declared
@formula
def pause_cycle(fan_in: ArrayLike, rate: float, loop: float, xoff: ArrayLike, hysteresis: ArrayLike) -> PauseCycle:
    """n links of `rate` bytes/s fill one of the same rate; each is paused above `xoff`, resumed `hysteresis` below it.

    A queue rises at rate (1 - 1/n) while its link is open and falls at rate / n while it is silent; both go on for
    `loop` seconds after a decision (twice the latency, and the response). So it peaks at xoff + rate (1 - 1/n) loop,
    falls to xoff - hysteresis - rate loop / n, and with the queue not empty
    period = n^2 (hysteresis + rate loop) / ((n - 1) rate). A larger hysteresis means fewer frames, no loss of speed
    until the queue runs dry, and no less headroom.

    All this is for links that pause in step. Out of step a link's bytes may stand behind the others' while it brings
    more: keep rate x loop of headroom. The outgoing link then finds bytes of others, and `speed` is a lower bound.

    >>> made = pause_cycle(2, 50e9, 2e-6, xoff=400e3, hysteresis=[0, 100e3])
    >>> made.period.round(8).tolist(), made.highest.tolist(), made.speed.tolist()
    ([8e-06, 1.6e-05], [450000.0, 450000.0], [1.0, 1.0])
    """
    n, full, gap = floats("fan_in", fan_in, 2), floats("xoff", xoff, above=True), floats("hysteresis", hysteresis)
    speed, lag = float(floats("rate", rate, above=True)), float(floats("loop", loop))
    if np.any(gap > full):
        raise ValueError(f"hysteresis = {gap.max():g} is above xoff = {full.min():g}; give at most XOFF")
    rise, fall = speed * (1 - 1 / n), speed / n
    after = full - gap - fall * lag
    lowest = np.maximum(after, 0)
    idle = np.maximum(-after, 0) / fall
    falling, rising = (gap + rise * lag) / fall + lag, (full - lowest) / rise + lag
    period = falling + rising
    if np.any(period == 0):
        raise ValueError("loop = 0 and hysteresis = 0 make pauses without end; give one of them above 0")
    highest = np.broadcast_to(full + rise * lag, period.shape).copy()
    return PauseCycle(period, falling / period, highest, lowest, 1 - idle / period)


@declared
@formula
def pause_arrival(hops: ArrayLike, xoff: float, latency: float, rate_in: float, rate_out: float) -> Floats:
    """Seconds from the first byte at a bottleneck until the link `hops` switches up from it stops sending.

    t = hops (xoff / (rate_in - rate_out) + latency): each switch fills to `xoff` while it takes in `rate_in` and lets
    go `rate_out`, then its pause takes a latency; only then does the next one fill. Bytes on the cable fall to the
    headroom. Deep buffers buy time, and nothing else: a slow receiver stops every tier in the end.

    >>> pause_arrival([1, 2, 3], xoff=100e3, latency=1e-6, rate_in=50e9, rate_out=0).round(9).tolist()
    [3e-06, 6e-06, 9e-06]
    """
    far, full = floats("hops", hops), float(floats("xoff", xoff))
    come, go = float(floats("rate_in", rate_in, above=True)), float(floats("rate_out", rate_out))
    if go >= come:
        raise ValueError(f"rate_out = {go:g} is not below rate_in = {come:g}; a queue then never fills")
    return np.asarray(far * (full / (come - go) + float(floats("latency", latency))))


@dataclass(frozen=True, eq=False)
class First:
    """Seconds from the first byte until a mark is set, a pause is decided, and the marked senders' cut is felt."""

    mark: Floats
    pause: Floats
    cut: Floats


@declared
@formula
def first_to_act(
    fan_in: ArrayLike, rate: float, round_trip: float, xoff: ArrayLike, k_min: ArrayLike, fan_out: ArrayLike = 1
) -> First:
    """n links feed m links of the same `rate` evenly: when the first mark, the first pause and the first cut come.

    Marks look at an egress queue, pauses at an ingress queue, and they hold the same bytes counted in two ways. All
    queues together grow at (n - m) rate. The m egress queues reach `k_min` at m k_min / ((n - m) rate); the n ingress
    queues reach `xoff` at n xoff / ((n - m) rate). So the pause precedes the mark if n xoff < m k_min: for a small
    fan-in, or a large fan-out. It precedes the cut, `round_trip` after the mark, if

        n xoff < m k_min + (n - m) rate round_trip.

    For a large fan-in that is xoff < rate round_trip: thresholds do not help there, only buffer does.

    >>> made = first_to_act([2, 8], 50e9, 10e-6, xoff=200e3, k_min=500e3)
    >>> (made.pause < made.mark).tolist(), (made.pause < made.cut).tolist()
    ([True, False], [True, True])
    """
    n, m = floats("fan_in", fan_in, 2), floats("fan_out", fan_out, 1)
    if np.any(m >= n):
        raise ValueError(f"fan_out = {m.max():g} is not below fan_in = {n.min():g}; nothing queues then")
    grow = (n - m) * float(floats("rate", rate, above=True))
    mark, pause = m * floats("k_min", k_min) / grow, n * floats("xoff", xoff) / grow
    cut = mark + float(floats("round_trip", round_trip))
    mark, pause, cut = np.broadcast_arrays(mark, pause, cut)
    return First(mark.copy(), pause.copy(), cut.copy())


@declared
@formula
def fan_in_for_marks(rate: float, round_trip: float, xoff: ArrayLike, k_min: ArrayLike) -> tuple[Floats, Floats]:
    """Fan-ins n into one link, lowest and highest, between which the cut after a mark comes before any pause.

    From `first_to_act` with m = 1 and x = rate round_trip: n (x - xoff) <= x - k_min. For xoff < x that is
    n <= (x - k_min) / (x - xoff): more senders pause before a mark can help. For xoff > x it is n >= (k_min - x) /
    (xoff - x): only a mark set high loses, against few senders.

    >>> lowest, highest = fan_in_for_marks(50e9, 8e-6, xoff=[300e3, 500e3], k_min=[100e3, 700e3])
    >>> lowest.tolist(), highest.tolist()
    ([0.0, 3.0], [3.0, inf])
    """
    full, least = floats("xoff", xoff, above=True), floats("k_min", k_min)
    flight = float(floats("rate", rate, above=True)) * float(floats("round_trip", round_trip))
    full, least = np.broadcast_arrays(full, least)
    ratio = (least - flight) / np.where(full == flight, 1.0, full - flight)
    equal = np.where(least > flight, np.inf, 0.0)  # xoff = x: all fan-ins alike
    lowest = np.where(full > flight, np.maximum(ratio, 0), np.where(full == flight, equal, 0.0))
    return lowest, np.where(full < flight, np.maximum(ratio, 0), np.inf)
