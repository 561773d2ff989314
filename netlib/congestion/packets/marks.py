"""Marks: which packets a switch marks, by the length of the queue.

Read with the chapter "Congestion control", section "Marking".
"""

import numpy as np
from numpy.random import Generator

from netlib.arguments import Floats
from netlib.congestion.packets.traffic import Ints
from netlib.congestion.parameters import Marking

_WHOLE = 1e-6  # a packet counts as whole when no more than this share of it is missing, for rounding


def red(length: Floats, marking: Marking) -> Floats:
    """Share of packets that is marked at each queue length.

    >>> red(np.array([0, 105e3, 205e3, 300e3]), Marking(5e3, 205e3, 0.01)).tolist()
    [0.0, 0.005, 1.0, 1.0]
    """
    rising = np.clip((length - marking.k_min) * marking.slope, 0, 1) if marking.k_max > marking.k_min else 0.0
    return np.asarray(np.where(length >= marking.k_max, 1.0, np.where(length > marking.k_min, rising, 0.0)))


def whole(passed: Floats, moving: Floats, wire: float) -> Ints:
    """Packets that end among the last `moving` of `passed` bytes.

    >>> whole(np.array([2500.0, 2500.0]), np.array([600.0, 400.0]), 1000.0).tolist()
    [1, 0]
    """
    ends = np.floor(passed / wire + _WHOLE) - np.floor((passed - moving) / wire + _WHOLE)
    return np.asarray(ends.astype(np.int64))


def new_marks(
    passed: Floats, moving: Floats, length: Floats, queue: Ints, marking: Marking, wire: float, rng: Generator
) -> Floats | None:
    """(P,) packets among `moving` bytes that get a mark, after `passed` bytes in all; None if no queue marks.

    `length` (Q,) are the queues' bytes, `queue` (P,) says in which each place is.
    """
    if not (length > marking.k_min).any() and not (length >= marking.k_max).any():
        return None
    chance = red(length, marking).take(queue)
    some = np.flatnonzero((chance > 0) & (moving > 0))
    if not len(some):
        return None
    marks = np.zeros_like(moving)
    marks[some] = rng.binomial(whole(passed[some], moving[some], wire), chance[some])
    return marks
