"""Features of a measured curve: the floor, the half-peak size, what is not smooth.

Functions of plain arrays `size` (bytes, rising), `time` (s), `busbw` (bytes/s). Each returns nothing where the data do
not show the feature: a sweep that begins at 32 MiB has no latency floor to see. The thresholds are reading aids, not
physics, and are stated in each function.
"""

from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats


@dataclass(frozen=True)
class Floor:
    """A latency floor: median time (s) of the sizes from `first` to `last` (bytes) over which time hardly grows."""

    time: float
    first: float
    last: float


def by_size(size: Floats, time: Floats, busbw: Floats) -> tuple[Floats, Floats, Floats]:
    """One entry per size, rising: the best time and the best busbw of repeated sizes.

    >>> size, time, busbw = by_size(np.array([8.0, 4.0, 8.0]), np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]))
    >>> size.tolist(), time.tolist(), busbw.tolist()
    ([4.0, 8.0], [1.0, 2.0], [1.0, 2.0])
    """
    unique, where = np.unique(size, return_inverse=True)
    best_time, best_busbw = np.full(len(unique), np.inf), np.full(len(unique), -np.inf)
    np.fmin.at(best_time, where, time)
    np.fmax.at(best_busbw, where, busbw)
    return unique, best_time, np.where(np.isfinite(best_busbw), best_busbw, np.nan)


def latency_floor(size: Floats, time: Floats) -> Floor | None:
    """The floor, if the fastest row and its neighbours within 1.5 x span a factor of 4 in size or more.

    >>> latency_floor(np.array([8.0, 64.0, 2.0**20]), np.array([20e-6, 21e-6, 80e-6]))
    Floor(time=2.05e-05, first=8.0, last=64.0)
    >>> latency_floor(np.array([2.0**25, 2.0**26]), np.array([345e-6, 557e-6])) is None
    True
    """
    if len(size) == 0:
        return None
    flat = time <= 1.5 * np.min(time)
    first, last = float(np.min(size[flat])), float(np.max(size[flat]))
    # the flat part must be where the sweep begins (its first row may be a cold start)
    if last < 4 * first or first > 4 * size[0]:
        return None
    return Floor(float(np.median(time[flat])), first, last)


def half_peak(size: Floats, busbw: Floats) -> tuple[float, float] | None:
    """The two neighbouring sizes between which busbw first reaches half its peak; None if the first size already does.

    >>> half_peak(np.array([1.0, 2.0, 4.0]), np.array([10.0, 45.0, 80.0]))
    (1.0, 2.0)
    """
    reached = busbw >= np.nanmax(busbw) / 2 if len(busbw) and np.nanmax(busbw) > 0 else np.zeros(0, bool)
    if not reached.any() or reached[0]:
        return None
    first = int(np.argmax(reached))
    return float(size[first - 1]), float(size[first])


def dips(size: Floats, busbw: Floats) -> list[tuple[float, float, float]]:
    """`(size, before, there)` at the bottom of each dip: busbw 10 % or more below an earlier size, and recovered later.

    Below 2 % of the peak, where the printed digits run out, nothing is judged.

    >>> dips(np.array([1.0, 2.0, 4.0, 8.0]), np.array([100.0, 269.0, 227.0, 313.0]))
    [(4.0, 269.0, 227.0)]
    """
    found: list[tuple[float, float, float]] = []
    best, bottom = 0, -1
    for i in range(1, len(busbw)):
        if busbw[i] >= busbw[best]:
            if bottom >= 0 and busbw[best] >= 0.02 * np.nanmax(busbw):
                found.append((float(size[bottom]), float(busbw[best]), float(busbw[bottom])))
            best, bottom = i, -1
        elif busbw[i] <= 0.9 * busbw[best] and (bottom < 0 or busbw[i] < busbw[bottom]):
            bottom = i
    return found


def stalls(size: Floats, time: Floats) -> list[tuple[float, float, float]]:
    """`(first, last, time)`: sizes that differ by 4 x or more, take the same time within 15 %, and that time is more
    than 3 x that of a larger message. A wait of fixed length, then, and no bandwidth.

    >>> stalls(np.array([1.0, 2.0, 4.0, 8.0]) * 2**21, np.array([70.2e-3, 71.9e-3, 72.6e-3, 1.07e-3]))
    [(2097152.0, 8388608.0, 0.0719)]
    """
    found, i = [], 0
    while i < len(size):
        same = [j for j in range(i, len(size)) if np.all(np.abs(time[i : j + 1] / time[i] - 1) <= 0.15)]
        last = same[-1] if same else i
        if size[last] >= 4 * size[i] > 0 and last + 1 < len(size) and time[i] > 3 * np.min(time[last + 1 :]):
            found.append((float(size[i]), float(size[last]), float(np.median(time[i : last + 1]))))
        i = last + 1
    return found


def faster_when_larger(size: Floats, time: Floats) -> list[tuple[float, float]]:
    """`(size, next size)` where the next, larger message takes less than half the time.

    >>> faster_when_larger(np.array([8.0, 16.0, 32.0]), np.array([30e-6, 90e-6, 33e-6]))
    [(16.0, 32.0)]
    """
    return [(float(size[i]), float(size[i + 1])) for i in range(len(size) - 1) if time[i] > 2 * time[i + 1] > 0]
