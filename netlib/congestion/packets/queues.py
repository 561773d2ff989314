"""Queues: first in, first out, exactly, with cumulative arrival curves.

Every link behind a switch has a queue. A(t) bytes have come to it and D(t) have left; the bytes that leave now are
those that came when A was D(t). So one number per queue, the time `since` when the byte now leaving came, says
for every flow what has left: the value that its own arrival curve had then. Nothing is sorted and no packet is held. A
queue that shared its rate among the flows present would let a newcomer overtake two milliseconds of backlog.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats
from netlib.congestion.packets.traffic import Ints, Traffic

_FIRST_DEPTH = 256  # steps of history at the start; doubled when a queue holds older bytes


@dataclass(frozen=True, eq=False)
class Places:
    """Where a way meets a queue: one place for each way and each link after its first, sorted by queue.

    way     (P,) whose place it is
    hop     (P,) which link of the way, 1 ...
    queue   (P,) number of the queue, 0 .. Q-1
    link    (Q,) the link that a queue feeds
    first   (Q,) its first place
    after   (P,) the next place of the way; -1 if the receiver comes next
    lag     (P,) steps from leaving the queue to what comes next
    came    (P,) the link by which the way comes to the queue
    entry   (S,) first place of each way;  exit (S,) its last place
    nic_lag (S,) steps from the NIC to the first place
    """

    way: Ints
    hop: Ints
    queue: Ints
    link: Ints
    first: Ints
    after: Ints
    lag: Ints
    came: Ints
    entry: Ints
    exit: Ints
    nic_lag: Ints


def places(traffic: Traffic, dt: float) -> Places:
    """The places of `traffic` in steps of `dt` seconds; a link takes one step at least.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> held = places(incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000)), 0.5e-6)
    >>> held.queue.tolist(), held.link.tolist(), held.lag.tolist()
    ([0, 0], [2], [2, 2])
    """
    way, hop = np.nonzero(traffic.way[:, 1:] >= 0)
    hop = hop + 1
    link = traffic.way[way, hop]
    order = np.lexsort((hop, way, link))
    way, hop, link = way[order], hop[order], link[order]
    used, first, queue = np.unique(link, return_index=True, return_inverse=True)
    number = np.full((len(traffic.way), traffic.way.shape[1] + 1), -1, np.int64)
    number[way, hop] = np.arange(len(way))
    last = (traffic.way >= 0).sum(axis=1) - 1
    each = traffic.latency[traffic.way] + traffic.packet.wire / traffic.capacity[traffic.way]
    steps = np.maximum(np.round(each / dt), 1).astype(np.int64)
    rows = np.arange(len(traffic.way))
    return Places(
        way, hop, queue, used, first, number[way, hop + 1], steps[way, hop], traffic.way[way, hop - 1],
        number[:, 1], number[rows, last], steps[:, 0],
    )  # fmt: skip


class Queues:
    """All queues of a traffic at one moment, and what they have seen.

    came, left   (P,) bytes that have come to a place and left it
    length       (Q,) bytes in the queue
    waited       (Q,) steps that the byte now leaving has waited
    """

    def __init__(self, at: Places, rides: int = 0) -> None:
        self.at = at
        count, queues = len(at.way), len(at.link)
        self.came, self.left = np.zeros(count), np.zeros(count)
        self.total, self.gone = np.zeros(queues), np.zeros(queues)
        self.length, self.waited = np.zeros(queues), np.zeros(queues)
        self.riding = np.zeros((rides, count))  # counters that travel with the bytes, such as marked packets
        self._seen = np.zeros(queues, np.int64)  # the last step whose arrivals have all left
        self._depth = _FIRST_DEPTH
        self._came = np.zeros((self._depth, count))
        self._total = np.zeros((self._depth, queues))
        self._rides = np.zeros((self._depth, rides, count))

    def arrive(self, step: int, coming: Floats, riding: Floats | None = None) -> None:
        """Take in `coming` bytes at every place, and what rides on them."""
        self.came += coming
        self.total += np.add.reduceat(coming, self.at.first)
        if step - int(self._seen.min()) >= self._depth - 1:
            self._deepen(step)
        row = step % self._depth
        self._came[row], self._total[row] = self.came, self.total
        if riding is not None:
            self.riding += riding
            self._rides[row] = self.riding

    def serve(self, step: int, room: Floats) -> tuple[Floats, Floats]:
        """Let at most `room` (Q,) bytes leave each queue: (P,) bytes that left, (rides, P) counters that have left."""
        self.gone = np.minimum(self.total, self.gone + room)
        self.length = self.total - self.gone
        seen = self._seen
        np.copyto(seen, step, where=self.length <= 0)
        while True:  # the last step whose arrivals have all left
            on = (seen < step) & (self._total[(seen + 1) % self._depth, self._queues] <= self.gone)
            if not on.any():
                break
            seen += on
        row, following = seen % self._depth, (seen + 1) % self._depth
        base = self._total[row, self._queues]
        width = np.where(seen < step, self._total[following, self._queues] - base, 1.0)
        part = (self.gone - base) / width
        self.waited = step - seen - part
        mine, where = self.at.queue, self._places
        low = self._came[row[mine], where]
        high = self._came[following[mine], where]
        left = low + np.where(seen < step, part, 0.0)[mine] * (high - low)
        out = np.maximum(left - self.left, 0.0)
        self.left = left
        return out, self._rides[row[mine], :, where].T

    @property
    def _queues(self) -> NDArray[np.int64]:
        return np.arange(len(self.at.link))

    @property
    def _places(self) -> NDArray[np.int64]:
        return np.arange(len(self.at.way))

    def _deepen(self, step: int) -> None:
        """Twice the history, each step in its new row."""
        steps = np.arange(max(step - self._depth + 1, 0), step)
        old, self._depth = steps % self._depth, 2 * self._depth
        for name in ("_came", "_total", "_rides"):
            held = getattr(self, name)
            wider = np.zeros((self._depth, *held.shape[1:]))
            wider[steps % self._depth] = held[old]
            setattr(self, name, wider)
