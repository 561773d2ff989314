"""Simulation: when a schedule ends on a fabric whose links it shares.

The third of three engines. It knows messages, links and who waits for whom; no closed form. Read with the chapter
"Collectives", section "An algorithm as data".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.collectives.events import as_data_come, messages, transfer_times
from netlib.collectives.schedule import Schedule
from netlib.collectives.turns import Places, Turn, turns
from netlib.collectives.wiring import Ways, Wiring, carried, laid
from netlib.topology.fabric import Fabric
from netlib.topology.ledgers import Ledger

PACES = ("step", "rank", "data")
NEAR = 1e-15  # delays that change by less than this in a repetition, relative to the time so far, have settled


@dataclass(frozen=True, eq=False)
class Run:
    """A schedule that has been simulated.

    seconds  from the start until every rank is done
    finish   (n,) when each rank has sent and received its last message
    ends     (S,) when the last message of each step ends, repetitions counted
    ledger   bytes on every link
    chain    (K, 3) step, source and destination of the messages that followed one another without a gap until the end:
             who waited for whom. None unless it was asked for
    """

    seconds: float
    finish: Floats
    ends: Floats
    ledger: Ledger
    chain: Places | None = None

    @property
    def busiest(self) -> int:
        """The link that carries most for its capacity: its number in the fabric."""
        return int(np.argmax(self.ledger.seconds))

    @property
    def busy(self) -> float:
        """Share of the time in which that link carries something; 0 if nothing was sent."""
        return self.ledger.busiest / self.seconds if self.seconds else 0.0


@declared
@formula
def simulate(
    schedule: Schedule,
    fabric: Fabric | Wiring,
    size: float,
    *,
    pace: str = "step",
    start: float = 0.0,
    gamma: float = 0.0,
    late: ArrayLike = 0.0,
    trace: bool = False,
) -> Run:
    """Run a schedule on a buffer of `size` bytes over a fabric, and take the time.

    A message takes `start`, the latency of its links, its bytes over the rate that it gets, and `gamma` for each byte
    that the receiver adds. Messages that share a link share it max-min fairly. `late` (n,) is when each rank comes.

    pace="step"   everybody waits for the slowest message of each step. Exact for that rule: the messages of a step
                  begin together, and one that ends leaves its share to the others.
    pace="rank"   a rank goes on when its own messages of the step have ended; a message begins when both its ranks are
                  ready, so latencies of a pair's messages add up. What a message takes is what it takes at pace "step":
                  exact while it shares its links with nobody or with messages that begin when it does; otherwise its
                  rate is approximate, not the waiting.
    pace="data"   the same for every channel by itself: channels overlap as far as their data allow, and rates change
                  with every message that begins or ends. Exact, and slow: for some thousand messages.

    At the paces "step" and "rank" channels take turns, in the order of the phases.

    >>> from netlib.collectives import ring_allreduce
    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> run = simulate(ring_allreduce(8), one_switch(8, Link(1e-6, 50e9)), 4e9)
    >>> round(run.seconds, 9)  # 14 steps of 2 us and 0.5 GB / 50 GB/s
    0.140028
    """
    if pace not in PACES:
        raise ValueError(f"pace = {pace!r} is none of {', '.join(PACES)}; give one of them")
    fixed, each = float(floats("start", start)), float(floats("gamma", gamma))
    comes = floats("late", late)
    if comes.shape not in ((), (schedule.n,)):
        raise ValueError(f"late has shape {comes.shape}; give one number, or one for each of {schedule.n} ranks")
    network = fabric.fabric if isinstance(fabric, Wiring) else fabric
    plan = _Plan(schedule, float(size), *laid(schedule, fabric), network.capacity, fixed, each)
    ready = np.zeros(schedule.n + schedule.switches)
    ready[: schedule.n] = comes
    ends, chain = {"step": _by_step, "rank": _by_rank, "data": _by_data}[pace](plan, ready, trace)
    finish = ready[: schedule.n]
    moved = carried(fabric, plan.ways, plan.total())
    return Run(float(finish.max(initial=0)), finish, ends, moved, chain if trace else None)


@dataclass(frozen=True, eq=False)
class _Plan:
    """A schedule on its links: the pairs that talk, and what a message costs."""

    schedule: Schedule
    size: float
    ways: Ways
    pair: Places
    capacity: Floats
    start: float
    gamma: float

    def which(self, src: Places, dst: Places) -> Places:
        """The pair of each message."""
        return np.searchsorted(self.pair, src * (self.schedule.n + self.schedule.switches) + dst)

    def turns(self) -> Iterator[tuple[Turn, Floats]]:
        """Every turn, and the seconds that each of its messages takes beside the others of its step."""
        known: tuple[bytes, Floats] = b"", np.zeros(0)
        for turn in turns(self.schedule, self.size):
            which = self.which(turn.src, turn.dst)
            key = b"".join(each.tobytes() for each in (which, turn.bytes, turn.bounds))
            if key != known[0]:  # the two halves of a ring move the same
                steps = [slice(*bounds) for bounds in pairwise(turn.bounds)]
                moves = [transfer_times(self.ways, which[one], turn.bytes[one], self.capacity) for one in steps]
                known = key, np.concatenate([np.zeros(0), *moves])
            yield turn, self.start + self.ways.latency[which] + known[1] + self.gamma * turn.added

    def total(self) -> Floats:
        """(Q,) bytes of each pair."""
        total = np.zeros(self.pair.size)
        for turn in turns(self.schedule, self.size):
            total += np.bincount(self.which(turn.src, turn.dst), turn.bytes * turn.repeats, total.size)
        return total


_Ends = tuple[Floats, Places]


def _by_step(plan: _Plan, ready: Floats, trace: bool) -> _Ends:
    """Everybody begins each step when the slowest message of the last one has ended. Changes `ready`."""
    now = float(ready.max(initial=0))
    ends, chain, number = [], [], 0
    for turn, seconds in plan.turns():
        steps = [slice(*bounds) for bounds in pairwise(turn.bounds)]
        slowest = np.array([seconds[one].max(initial=0) for one in steps])
        length = float(slowest.sum())
        until = np.cumsum(slowest)
        ends.append((now + length * np.arange(turn.repeats)[:, None] + until).ravel())
        begin = now + length * (turn.repeats - 1)
        for one, end, lasts in zip(steps, until, slowest, strict=True):
            for rank in (turn.src[one], turn.dst[one]):
                np.maximum.at(ready, rank, begin + end - lasts + seconds[one])
        if trace:
            held = [one.start + int(np.argmax(seconds[one])) for one in steps if one.start < one.stop]
            at = [i for i, one in enumerate(steps) if one.start < one.stop]
            for repetition in range(turn.repeats):
                first = number + repetition * len(steps)
                chain.append(np.stack([first + np.array(at, int), turn.src[held], turn.dst[held]], axis=1))
        now += length * turn.repeats
        number += len(steps) * turn.repeats
    return _joined(ends), np.concatenate([np.zeros((0, 3), int), *chain])


def _by_rank(plan: _Plan, ready: Floats, trace: bool) -> _Ends:
    """Each rank goes on when its own messages have ended. Changes `ready`.

    A repetition that makes all its ranks later by the same time does so ever after: whoever waits, waits for the
    differences, and these have not changed. The repetitions that are left are then added at once.
    """
    ends: list[Floats] = []
    past: list[tuple[Places, Places, Floats, Floats]] = []
    for turn, seconds in plan.turns():
        steps = [_Step.of(turn, seconds, slice(*bounds)) for bounds in pairwise(turn.bounds)]
        ranks = np.unique(np.concatenate([turn.src, turn.dst]))
        left = turn.repeats
        while left:
            before, last = ready[ranks], np.zeros(len(steps))
            for i, step in enumerate(steps):
                begin = np.maximum(ready[step.src], ready[step.dst])
                end = begin + step.seconds
                if trace:
                    past.append((step.src, step.dst, ready.copy(), end))
                ready[step.ranks] = np.maximum.reduceat(end[step.order], step.first) if end.size else end
                last[i] = end.max(initial=ends[-1][-1] if ends and not i else last[i - 1])
            ends.append(last)
            left -= 1
            later = ready[ranks] - before
            if left and not trace and np.ptp(later) <= NEAR * ready.max():
                ends.append((last + later.max() * np.arange(1, left + 1)[:, None]).ravel())
                ready[ranks] += later.max() * left
                left = 0
    return _joined(ends), _followed(past, ready[: plan.schedule.n])


@dataclass(frozen=True, eq=False)
class _Step:
    """The messages of a step by the ranks that take part: those of ranks[i] begin at order[first[i]]."""

    src: Places
    dst: Places
    seconds: Floats
    ranks: Places
    order: Places
    first: Places

    @classmethod
    def of(cls, turn: Turn, seconds: Floats, one: slice) -> "_Step":
        src, dst = turn.src[one], turn.dst[one]
        both = np.concatenate([src, dst])
        order = np.argsort(both, kind="stable")
        ranks, first = np.unique(both[order], return_index=True)
        return cls(src, dst, seconds[one], ranks, order % max(src.size, 1), first)


def _followed(past: list[tuple[Places, Places, Floats, Floats]], finish: Floats) -> Places:
    """From the rank that is done last, back through the messages that it waited for."""
    chain: list[tuple[int, int, int]] = []
    rank, moment = (int(np.argmax(finish)), finish.max()) if finish.size else (0, 0.0)
    for number, (src, dst, ready, end) in reversed(list(enumerate(past))):
        held = np.flatnonzero((end == moment) & ((src == rank) | (dst == rank)))
        if held.size:
            a, b = int(src[held[0]]), int(dst[held[0]])
            chain.append((number, a, b))
            rank = a if ready[a] >= ready[b] else b
            moment = ready[rank]
    return np.array(chain[::-1], int).reshape(-1, 3)


def _by_data(plan: _Plan, ready: Floats, trace: bool) -> _Ends:
    """Every message goes when those that it needs are done. Changes `ready`."""
    sent = messages(plan.schedule, plan.size)
    which = plan.which(sent.src, sent.dst)
    delay = plan.start + plan.ways.latency[which]
    done, cause = as_data_come(sent, plan.ways, which, plan.capacity, delay, plan.gamma * sent.added, ready)
    ends = np.zeros(plan.schedule.steps)
    for rank in (sent.src, sent.dst):
        np.maximum.at(ready, rank, done)
    np.maximum.at(ends, sent.step, done)
    chain = [int(np.argmax(done))] if trace and done.size else []
    while chain and cause[chain[-1]] >= 0:
        chain.append(int(cause[chain[-1]]))
    held = chain[::-1]
    return ends, np.stack([sent.step[held], sent.src[held], sent.dst[held]], axis=1)


def _joined(ends: list[Floats]) -> Floats:
    return np.concatenate([np.zeros(0), *ends])
