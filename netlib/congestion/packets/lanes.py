"""Lanes: classes of traffic that share a link, each in a queue of its own.

InfiniBand calls them virtual lanes, Ethernet priorities. A link serves them in order or by weight, and never idles
while one of them waits. A pause or a lack of credits stops one lane and no other.
Read with the chapter "Congestion control", section "Lossless by credits".
"""

from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats, declared_fields, floats
from netlib.congestion.packets.places import Places


@dataclass(frozen=True)
class Lanes:
    """How links and NICs serve their lanes: the first lane first, or by `weights`, one for each lane."""

    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        declared_fields(self)
        object.__setattr__(self, "weights", tuple(floats("weights", self.weights, above=True).reshape(-1).tolist()))


def deal(want: Floats, room: Floats, rule: Lanes | None) -> Floats:
    """(N, C) what each lane gets of `room` (N,) when it has `want` (N, C): nothing idles while a lane waits.

    >>> deal(np.array([[8.0, 10.0]]), np.array([10.0]), Lanes()).tolist()
    [[8.0, 2.0]]
    >>> deal(np.array([[8.0, 10.0, 1.0]]), np.array([10.0]), Lanes((50, 30, 20))).tolist()
    [[5.625, 3.375, 1.0]]
    """
    if rule is None or not rule.weights:
        return np.clip(room[:, None] - (np.cumsum(want, axis=1) - want), 0, want)
    weight = np.array(rule.weights)
    given, rest = np.zeros_like(want), room.copy()
    for _ in range(want.shape[1]):  # each round fills a lane or uses up the room
        part = np.where(given < want, weight, 0)
        total = part.sum(axis=1)
        share = np.divide(rest, total, out=np.zeros_like(rest), where=total > 0)
        more = np.minimum(want - given, share[:, None] * part)
        given += more
        rest = np.maximum(rest - more.sum(axis=1), 0)
    return given


class Dealer:
    """The room of every link, dealt to the queues of its lanes in each step."""

    def __init__(self, at: Places, room: Floats, rule: Lanes | None) -> None:
        used, self._of = np.unique(at.link, return_inverse=True)
        self._lane, self._rule = at.lane, rule
        self._room = np.zeros(len(used))
        self._room[self._of] = room
        self._want = np.zeros((len(used), at.lanes))

    def room(self, want: Floats) -> Floats:
        """(Q,) bytes that may leave each queue, where `want` (Q,) are there and may go."""
        self._want[self._of, self._lane] = want
        return np.asarray(deal(self._want, self._room, self._rule)[self._of, self._lane])
