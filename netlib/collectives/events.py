"""Events: messages that share links at the moments at which they are on the way.

Between two events, a start or an end, every message moves at its max-min fair rate. A message that is spread over
several ways moves its parts in step, so that its fullest link holds it. Read with the chapter "Collectives", section
"An algorithm as data".
"""

from dataclasses import dataclass, field
from heapq import heappop, heappush

import numpy as np

from netlib.arguments import Floats
from netlib.collectives.schedule import Schedule
from netlib.collectives.turns import Places
from netlib.collectives.wiring import Ways
from netlib.topology.hops import ragged
from netlib.topology.rates import completion_times

NEAR = 1e-12  # moments that are this close are one


def rates(flows: int, flow: Places, link: Places, share: Floats, capacity: Floats) -> Floats:
    """(flows,) max-min fair bytes/s of messages that are spread: entry k puts `share[k]` of `flow[k]` on `link[k]`.

    As topology.max_min_rates, which has one way for each flow: raise all rates together; a link all of whose messages
    see their lowest level there is full, and stops them. A message without links is infinitely fast.

    Message 0 is spread over two links, the second of which it shares:

    >>> rates(2, np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0.5, 0.5, 1]), np.array([9.0, 9.0])).tolist()
    [6.0, 6.0]
    """
    speed = np.full(flows, np.inf)
    used, link = np.unique(link, return_inverse=True)
    room = capacity[used].astype(float)
    while flow.size:
        weight, level = np.bincount(link, share, room.size), np.full(room.size, np.inf)
        np.divide(room, weight, out=level, where=weight > 0)
        seen, lowest = level[link], np.full(flows, np.inf)
        np.minimum.at(lowest, flow, seen)
        here = seen == lowest[flow]
        closes = np.bincount(link[here], minlength=room.size) == np.bincount(link, minlength=room.size)
        stops = np.zeros(flows, bool)
        stops[flow[here & closes[link]]] = True
        speed[stops] = lowest[stops]
        gone = stops[flow]
        room = np.maximum(room - np.bincount(link[gone], share[gone] * speed[flow[gone]], room.size), 0)
        flow, link, share = flow[~gone], link[~gone], share[~gone]
    return speed


def transfer_times(ways: Ways, which: Places, size: Floats, capacity: Floats) -> Floats:
    """(M,) seconds until each of messages that begin together has sent its `size` bytes over the ways of pair `which`.

    >>> ways = Ways(np.array([0, 1]), np.array([0, 0]), np.ones(2), np.zeros(2), np.array([[0], [0]]))
    >>> transfer_times(ways, np.array([0, 1]), np.array([10.0, 30.0]), np.array([10.0])).tolist()
    [2.0, 4.0]
    """
    flow, entry = _entries(ways, which)
    link, many, alone = ways.link[entry], np.bincount(ways.link[entry]), np.full(which.size, np.inf)
    np.minimum.at(alone, flow, capacity[link] / ways.share[entry])
    ends: Floats = size / alone
    now, left = 0.0, np.array(size, float)
    shared = np.zeros(which.size, bool)
    shared[flow[many[link] > 1]] = True  # who has all its links to itself is done at their rate
    if ways.rows is not None:
        ends[shared] = completion_times(ways.rows[which[shared]], size[shared], capacity)
        return ends
    open_ = np.flatnonzero(shared & (left > 0))
    while open_.size:
        flow, entry = _entries(ways, which[open_])
        speed = rates(open_.size, flow, ways.link[entry], ways.share[entry], capacity)
        need = left[open_] / speed
        now += float(need.min())
        done = need <= need.min() * (1 + NEAR)
        left[open_] -= speed * need.min()
        ends[open_[done]] = now
        open_ = open_[~done]
    return ends


def _entries(ways: Ways, which: Places) -> tuple[Places, Places]:
    """The entries of `ways` that belong to messages over pairs `which`: (message, place)."""
    begin, end = np.searchsorted(ways.pair, which), np.searchsorted(ways.pair, which, side="right")
    flow, nth = ragged(end - begin)
    return flow, begin[flow] + nth


@dataclass(frozen=True, eq=False)
class Messages:
    """A schedule written out, message by message, with what each must wait for.

    step, src, dst (M,); bytes, added (M,) as in Turn; after: for each message, the ones that must be done before it
    """

    step: Places
    src: Places
    dst: Places
    bytes: Floats
    added: Floats
    after: list[list[int]]


def messages(schedule: Schedule, size: float) -> Messages:
    """All messages of a schedule, in order, each with those that it waits for.

    Of its own channel: the messages of both its ends in the last step in which they took part. Of every channel: those
    of earlier steps that wrote what it carries or where it goes, and those that read the place that it writes.

    >>> from netlib.collectives import ring_allreduce
    >>> messages(ring_allreduce(2), 10).after
    [[], [], [0, 1], [0, 1]]
    """
    volume, everyone, chunks = schedule.bytes_of(size), schedule.n + schedule.switches, schedule.chunks
    wrote: dict[int, list[int]] = {}
    read: dict[int, list[int]] = {}
    turn: dict[tuple[int, int], list[int]] = {}
    after: list[list[int]] = []
    held: list[Floats] = []
    for number, step in enumerate(schedule.written_out()):
        pair, which = np.unique(step.src.astype(np.int64) * everyone + step.dst, return_inverse=True)
        sent, added = (np.bincount(which, volume[step.chunk] * part, pair.size) for part in (1, step.add))
        ends = np.stack([pair // everyone, pair % everyone], axis=1)
        first, waits = len(after), [set[int]() for _ in pair]
        for i, both in enumerate(ends.tolist()):
            waits[i].update(*(turn.get((rank, step.channel), []) for rank in both))
        source, target = ((rank.astype(np.int64) * chunks + step.chunk).tolist() for rank in (step.src, step.dst))
        for i, a, b in zip(which.tolist(), source, target, strict=True):
            waits[i].update(wrote.get(a, []), wrote.get(b, []), read.get(b, []))
        for b in set(target):
            wrote[b], read[b] = [], []
        for i, a, b in zip(which.tolist(), source, target, strict=True):
            wrote[b].append(first + i)
            read.setdefault(a, []).append(first + i)
        took: dict[tuple[int, int], list[int]] = {}
        for i, both in enumerate(ends.tolist()):
            for rank in both:
                took.setdefault((rank, step.channel), []).append(first + i)
        turn |= took
        after.extend(sorted(each) for each in waits)
        held.append(np.column_stack([np.full(pair.size, number), ends, sent, added]))
    table = np.concatenate([np.zeros((0, 5)), *held])
    step_, src, dst = table[:, :3].T.astype(np.int64)
    return Messages(step_, src, dst, table[:, 3], table[:, 4], after)


@dataclass(eq=False)
class _Clock:
    """Moments that are known, earliest first."""

    heap: list[tuple[float, int]] = field(default_factory=list)

    def due(self, now: float) -> list[int]:
        """The messages whose moment has come."""
        found = []
        while self.heap and self.heap[0][0] <= now + NEAR * abs(now):
            found.append(heappop(self.heap)[1])
        return found

    @property
    def next(self) -> float:
        return self.heap[0][0] if self.heap else np.inf


def as_data_come(
    sent: Messages, ways: Ways, which: Places, capacity: Floats, delay: Floats, adding: Floats, late: Floats
) -> tuple[Floats, Places]:
    """(M,) when each message is done, and the message that it waited for last (-1: none).

    A message goes when all those before it are done and both its ranks are there (`late`). It takes its `delay`, then
    its bytes at the rate that it gets among all that move at that moment, then `adding` seconds.

    >>> ways = Ways(np.array([0]), np.array([0]), np.ones(1), np.zeros(1), np.array([[0]]))
    >>> two = Messages(*np.array([[0, 1], [0, 0], [1, 1]]), np.array([10.0, 10.0]), np.zeros(2), [[], [0]])
    >>> ends, cause = as_data_come(two, ways, np.zeros(2, int), np.array([10.0]), np.ones(2), np.zeros(2), np.zeros(2))
    >>> ends.tolist(), cause.tolist()
    ([2.0, 4.0], [-1, 0])
    """
    many = len(sent.after)
    waits = np.array([len(each) for each in sent.after], np.int64)
    before: list[list[int]] = [[] for _ in range(many)]
    for i, each in enumerate(sent.after):
        for j in each:
            before[j].append(i)
    there = np.maximum(late[sent.src], late[sent.dst])
    ends, cause, left = np.full(many, np.nan), np.full(many, -1), sent.bytes.copy()
    goes, done = _Clock(), _Clock()
    moving, speed, now = np.zeros(0, np.int64), np.zeros(0), 0.0
    for i in np.flatnonzero(waits == 0).tolist():
        heappush(goes.heap, (float(there[i] + delay[i]), i))
    while goes.heap or done.heap or moving.size:
        flight = float((left[moving] / speed).min(initial=np.inf))
        later = min(now + flight, goes.next, done.next)
        left[moving] -= speed * (later - now) if later > now else 0
        now = later
        arrived = left[moving] <= NEAR * np.maximum(sent.bytes[moving], speed * now)  # as near as `now` can tell
        for i in moving[arrived].tolist():
            heappush(done.heap, (now + float(adding[i]), i))
        for i in done.due(now):
            ends[i] = now
            for j in before[i]:
                waits[j] -= 1
                if not waits[j]:
                    cause[j] = i if now >= there[j] else -1
                    heappush(goes.heap, (max(now, float(there[j])) + float(delay[j]), j))
        started = goes.due(now)
        if started or arrived.any():
            moving = np.concatenate([moving[~arrived], np.array(started, np.int64)])
            flow, entry = _entries(ways, which[moving])
            speed = rates(moving.size, flow, ways.link[entry], ways.share[entry], capacity)
    return ends, cause
