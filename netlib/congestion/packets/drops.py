"""Drops: switches that run full, links that lose packets, and headers that go on without their bytes.

Read with the chapter "Congestion control", section "When packets are lost".
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from netlib.arguments import Floats
from netlib.congestion.packets.marks import whole
from netlib.congestion.packets.places import Places
from netlib.congestion.packets.queues import Queues
from netlib.congestion.packets.traffic import Ints, Traffic
from netlib.congestion.parameters import Checked

_ROUND = 1e-3  # bytes


@dataclass(frozen=True)
class Buffers(Checked):
    """Room of a switch; what does not fit is lost, the newest first (drop tail).

    queue   bytes of each queue; inf: no limit of its own
    shared  bytes of a switch, for all its queues together
    alpha   a queue may hold alpha x the free bytes of `shared`; inf: all of them
    trim    True: the switch cuts a packet that does not fit and sends its header on at once, past all queues
    """

    queue: float
    shared: float = np.inf
    alpha: float = np.inf
    trim: bool = False
    _positive = ("queue", "shared", "alpha")
    _unlimited = ("queue", "shared", "alpha")


class Drops:
    """What is lost on the way to each place.

    lost  (P,) bytes lost there so far, headers that were sent on included;  cut  (P,) bytes of trimmed packets
    """

    def __init__(self, traffic: Traffic, at: Places, buffers: Buffers | None, chance: Floats, rng: Generator) -> None:
        self.at, self.buffers, self.rng, self.wire = at, buffers, rng, traffic.packet.wire
        self.lost, self.cut = np.zeros(len(at.way)), np.zeros(len(at.way))
        self._switch = traffic.enters[at.came]
        self._of_queue = self._switch[at.first]
        self._switches = int(self._switch.max()) + 1
        self._cable = Losses(chance[at.came], self.wire, rng) if (chance > 0).any() else None

    def take(self, coming: Floats, queues: Queues, room: Floats) -> tuple[Floats, Floats, Floats]:
        """(P,) bytes of `coming` that get in, are lost without a word, and are cut to their headers."""
        none = np.zeros_like(coming)
        gone = self._cable.of(coming) if self._cable else none
        if gone.any():
            coming = coming - gone
        kept = self._fit(coming, queues, room) if self.buffers and coming.any() else coming
        over = coming - kept
        self.lost += gone + over
        if self.buffers and self.buffers.trim:
            self.cut += over
            return kept, gone, over
        return kept, gone + over, none

    def _fit(self, coming: Floats, queues: Queues, room: Floats) -> Floats:
        buffers, length = self.buffers, queues.length
        assert buffers
        most = np.full(len(length), buffers.queue)
        if buffers.shared < np.inf:
            used = np.bincount(self._of_queue, length, self._switches)
            free = np.maximum(buffers.shared - used, 0)
            if buffers.alpha < np.inf:
                # q <= alpha (B - others - q), so that the bytes of this very step count
                most = np.minimum(most, buffers.alpha / (1 + buffers.alpha) * (free[self._of_queue] + length))
            coming = fitting(coming, self._switch, free, self.wire, self.rng)
        return fitting(coming, self.at.queue, np.maximum(most - length, 0) + room, self.wire, self.rng)


class Losses:
    """Cables that destroy each packet with some probability: whole packets, as their bytes come by."""

    def __init__(self, chance: Floats, wire: float, rng: Generator) -> None:
        self._chance, self._wire, self._rng = chance, wire, rng
        self._passed, self._owed = np.zeros(len(chance)), np.zeros(len(chance))

    def of(self, coming: Floats) -> Floats:
        """Bytes of `coming` that are destroyed."""
        self._passed += coming
        some = np.flatnonzero((coming > 0) & (self._chance > 0))
        hit = self._rng.binomial(whole(self._passed[some], coming[some], self._wire), self._chance[some])
        self._owed[some] += hit * self._wire
        gone = np.minimum(self._owed, coming)
        self._owed -= gone
        return gone


def fitting(coming: Floats, group: Ints, free: Floats, wire: float, rng: Generator) -> Floats:
    """What of `coming` bytes fits into the `free` bytes of each group: whole packets, in an order drawn by `rng`.

    >>> rng = np.random.default_rng(0)
    >>> fitting(np.array([2e3, 2e3, 1e3]), np.array([0, 0, 1]), np.array([3500.0, 3500.0]), 1e3, rng).sum()
    np.float64(4000.0)
    """
    over = np.bincount(group, coming, len(free)) > free + _ROUND
    if not over.any():
        return coming
    some = np.flatnonzero(over[group] & (coming > 0))
    some = some[rng.permutation(len(some))]
    some = some[np.argsort(group[some], kind="stable")]
    whose, size = group[some], coming[some]
    before = np.cumsum(size) - size
    before -= before[np.searchsorted(whose, whose)]
    fit = np.clip(free[whose] - before, 0, size)
    kept = coming.copy()
    kept[some] = np.where(fit < size, np.floor(fit / wire + 1e-9) * wire, size)
    return kept
