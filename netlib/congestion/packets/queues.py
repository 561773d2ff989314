"""Queues: first in, first out, exactly, with cumulative arrival curves.

Every link behind a switch has a queue. A(t) bytes have come to it and D(t) have left; the bytes that leave now are
those that came when A was D(t). So one number per queue, the time `since` when the byte now leaving came, says
for every flow what has left: the value that its own arrival curve had then. Nothing is sorted and no packet is held. A
queue that shared its rate among the flows present would let a newcomer overtake two milliseconds of backlog.
Read with the chapter "Congestion control", section "One bottleneck".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.lines import History, picked
from netlib.congestion.packets.places import Places

_FEW = 0.4  # share of places behind a backlog below which only those are looked up


class Queues:
    """All queues of a traffic at one moment, and what they have seen.

    came, left   (P,) bytes that have come to a place and left it
    total, gone  (Q,) the same of a whole queue
    length       (Q,) bytes in the queue
    waited       (Q,) steps that the byte now leaving has waited
    riding       (rides, P) counters that came with the bytes, such as marked packets;  rode  those that have left
    """

    def __init__(self, at: Places, rides: int = 0) -> None:
        self.at = at
        count, queues = len(at.way), len(at.link)
        self.came, self.left, self._out = np.zeros(count), np.zeros(count), np.zeros(count)
        self.total, self.gone = np.zeros(queues), np.zeros(queues)
        self.length, self.waited = np.zeros(queues), np.zeros(queues)
        self.riding, self.rode = np.zeros((rides, count)), np.zeros((rides, count))
        self._seen = np.full(queues, -1)  # the last step whose arrivals have all left
        self._oldest = 0
        self._came, self._total = History(1 + rides, count), History(queues)
        self._queue, self._place = np.arange(queues), np.arange(count)
        self._single = picked(at.queue, queues)  # one place for each queue: no sums
        self._one = len(at.link) == 1

    def arrive(self, step: int, coming: Floats, riding: Floats | None = None) -> None:
        """Take in `coming` bytes at every place, and what rides on them, (rides, P)."""
        self.came += coming
        if isinstance(self._single, slice):
            self.total += coming
        elif self._one:
            self.total += coming.sum()
        else:
            self.total += np.add.reduceat(coming, self.at.first)
        if riding is not None:
            self.riding += riding
        if self._total.full(step, self._oldest):
            self._oldest = int(self._seen.min())
        self._total.put(step, self.total, self._oldest)
        self._came.put(step, self.came if riding is None else np.vstack([self.came, self.riding]), self._oldest)

    def serve(self, step: int, room: Floats) -> Floats:
        """Let at most `room` (Q,) bytes leave each queue: (P,) bytes that left."""
        gone, seen = self.gone, self._seen
        gone += room
        np.minimum(gone, self.total, out=gone)
        np.subtract(self.total, gone, out=self.length)
        busy = self.length > 0
        np.copyto(seen, step, where=~busy)
        left = self.came.copy()
        if busy.any():
            self._look_up(step, left, busy)
        else:
            self.waited[:] = 0.0
            self.rode[:] = self.riding
        np.subtract(left, self.left, out=self._out)
        np.maximum(self._out, 0.0, out=self._out)
        self.left = left
        return self._out

    def _look_up(self, step: int, left: Floats, busy: np.ndarray) -> None:
        """What has `left` the places of queues that hold bytes: read from their curves, between two steps."""
        gone, seen, total = self.gone, self._seen, self._total.rows
        depth = len(total)
        queue = self._queue
        on = busy & (total[(seen + 1) % depth, queue] <= gone)
        while on.any():  # the last step whose arrivals have all left
            seen += on
            on &= total[(seen + 1) % depth, queue] <= gone
        row, following = seen % depth, (seen + 1) % depth
        base = total[row, queue]
        width = np.where(busy, total[following, queue] - base, 1.0)
        part = np.where(busy, (gone - base) / width, 0.0)
        np.subtract(step - seen, part, out=self.waited)
        mine, place = self.at.queue, self._place
        rides, count = self._came.rows.shape[1:]
        some: np.ndarray | slice = slice(None)
        behind = busy[mine]
        if np.count_nonzero(behind) < _FEW * count:
            some = np.flatnonzero(behind)
            mine, place = mine[some], place[some]
        size = rides * count
        early = (row * size).take(mine) + place
        later = (following * size).take(mine) + place
        part = part.take(mine)
        flat = self._came.rows.reshape(-1)
        low = flat.take(early)
        left[some] = low + part * (flat.take(later) - low)
        if rides > 1:
            self.rode[:] = self.riding
            for k in range(rides - 1):
                early += count
                later += count
                low = flat.take(early)
                self.rode[k, some] = low + part * (flat.take(later) - low)
