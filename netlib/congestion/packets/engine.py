"""The packet-level engine: senders, links, queues and receivers in steps of a fraction of a microsecond.

Each step: what the receivers said arrives at the senders, whose controller sets rate and window; NICs send; queues take
in, mark and serve; what leaves goes to the next queue or to the receiver. Bytes are a fluid, packets are counted where
it matters: a mark, a CNP, a choice of way belongs to a packet. The same seed gives the same bits.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from netlib.arguments import Floats, declared, floats
from netlib.congestion.packets.gates import Pauses, Pfc
from netlib.congestion.packets.queues import Places, Queues, places
from netlib.congestion.packets.traffic import Ints, Traffic
from netlib.congestion.parameters import Marking

Mask = NDArray[np.bool_]
_WHOLE = 1e-6  # a packet counts as whole when no more than this share of it is missing, for rounding


@dataclass(eq=False)
class Heard:
    """What the senders hear in one step, by flow.

    acked    (F,) bytes on the wire, newly acknowledged
    marked   (F,) packets among them that carry a mark
    cnp      (F,) whether a CNP arrives
    lost     (F,) bytes reported missing
    """

    acked: Floats
    marked: Floats
    cnp: Mask
    lost: Floats
    _engine: "Engine"

    def delay(self) -> Floats:
        """(F,) s that the newest acknowledged byte has waited in all queues; only where `acked` > 0."""
        engine = self._engine
        waited = np.zeros(len(engine.traffic.way))
        for valid, queue, step in self.hops():
            waited += np.where(valid, engine.log_waited[step % engine.log, queue], 0)
        return engine.by_flow_mean(waited) * engine.dt

    def hops(self) -> Iterator[tuple[Mask, Ints, Ints]]:
        """From the last queue to the first: (S,) whether the way has it, its queue, the step when the byte left it."""
        engine = self._engine
        at = engine.at
        place = at.exit
        step = engine.step - engine.back - at.lag[place]
        valid = np.ones(len(place), bool)
        while valid.any():
            yield valid, at.queue[place], np.maximum(step, 0)
            came = step - np.round(engine.log_waited[np.maximum(step, 0) % engine.log, at.queue[place]]).astype(int)
            before = engine.before[place]
            valid = valid & (before >= 0)
            place = np.where(valid, before, place)
            step = np.where(valid, came - at.lag[place], step)


class Sender(Protocol):
    """A controller for all flows: it hears, and sets `rate` (F,) bytes/s and `window` (F,) bytes."""

    rate: Floats
    window: Floats

    def react(self, now: float, heard: Heard) -> None:
        """Change `rate` and `window` after what was heard at `now` seconds."""


@dataclass(frozen=True, eq=False)
class Run:
    """What happened. Times in s, bytes on the wire.

    finish      (F,) when the last byte was acknowledged, from the flow's start; nan if it was not
    acked       (F,) bytes acknowledged by the end
    marked      (F,) packets that reached the receiver with a mark        (np_ecn_marked_roce_packets)
    cnps        (F,) CNPs that the receiver sent                          (np_cnp_sent)
    peak        (Q,) longest queue;  link (Q,) the link it feeds
    time        (T,) moments of the series;  queue (T, Q) bytes;  rate (T, F) bytes/s received since the moment before
    steps, dt   how many steps of how many seconds
    """

    finish: Floats
    acked: Floats
    marked: Floats
    cnps: Floats
    peak: Floats
    link: Ints
    time: Floats
    queue: Floats
    rate: Floats
    steps: int
    dt: float


@dataclass(frozen=True)
class Switches:
    """What all switches of a run do.

    marking       which packets they mark; None: none
    pfc           how they pause what fills them; None: they have room for all
    cnp_interval  s between two CNPs that a receiver sends for one flow; 0: one for each marked packet
    """

    marking: Marking | None = None
    pfc: Pfc | None = None
    cnp_interval: float = 0.0


class Engine:
    """One run, step by step; `run` is the short way."""

    def __init__(self, traffic: Traffic, sender: Sender, switches: Switches, rng: Generator, dt: float) -> None:
        self.traffic, self.sender, self.rng, self.dt = traffic, sender, rng, dt
        self.marking, self.cnp_interval = switches.marking, switches.cnp_interval
        self.at: Places = places(traffic, dt)
        self.wire = traffic.packet.wire
        self.before = np.full(len(self.at.way), -1)
        self.before[self.at.after[self.at.after >= 0]] = np.flatnonzero(self.at.after >= 0)
        self.queues = Queues(self.at, rides=int(self.marking is not None))
        ways, flows, at = len(traffic.way), traffic.flows, self.at
        forward = at.nic_lag + np.bincount(at.way, at.lag, ways).astype(np.int64)
        latency = np.where(traffic.way >= 0, traffic.latency[traffic.way], 0).sum(axis=1)
        self.back = np.maximum(np.round((traffic.one_way() + latency) / dt).astype(np.int64) + 1 - forward, 1)
        self.step = 0
        self._ring = int(max(at.lag.max(), at.nic_lag.max())) + 2
        self._coming = np.zeros((self._ring, len(at.way)))
        self._riding = np.zeros((self._ring, len(at.way)))
        self._turn = int((self.back + at.lag[at.exit]).max()) + 2
        self._acks = np.zeros((self._turn, ways))
        self._marks = np.zeros((self._turn, ways))
        self._rode = np.zeros(len(at.way))
        self._every = np.arange(ways)
        self.left = traffic.wire.copy()  # bytes that still have to be sent
        self.sent, self.acked = np.zeros(flows), np.zeros(flows)
        self.marked, self.cnps = np.zeros(flows), np.zeros(flows)
        self.finish = np.full(flows, np.nan)
        self._next_cnp = np.zeros(flows)
        self._nic, self._of_nic = np.unique(traffic.sender, return_inverse=True)
        self._alone = len(self._nic) == flows
        self._first_way = np.searchsorted(traffic.flow, np.arange(flows))
        self._ways = np.bincount(traffic.flow, minlength=flows)
        self._one_way = ways == flows
        self._due = np.zeros(flows)  # when the next packet may leave
        self._served = np.zeros(flows, np.int64)
        self.log = 1 << int(np.ceil(np.log2(4 * self._turn + 64)))
        self.log_waited = np.zeros((self.log, len(at.link)))
        self.log_length = np.zeros((self.log, len(at.link)))
        self.log_gone = np.zeros((self.log, len(at.link)))
        self.peak = np.zeros(len(at.link))
        self._room = traffic.capacity[at.link] * dt
        self.pauses = Pauses(traffic, switches.pfc, dt) if switches.pfc else None
        self._nic_free = np.zeros(len(self._nic))
        self._nic_time = self.wire / traffic.capacity[self._nic]

    def by_flow(self, each: Floats) -> Floats:
        """(F,) sums over the ways of a flow."""
        return each if self._one_way else np.asarray(np.bincount(self.traffic.flow, each, self.traffic.flows), float)

    def by_flow_mean(self, each: Floats) -> Floats:
        """(F,) means over the ways of a flow, weighted by what was acknowledged on each in this step."""
        if self._one_way:
            return each
        weight = self._acks[self.step % self._turn]
        total = self.by_flow(weight)
        return np.divide(self.by_flow(each * weight), total, out=np.zeros_like(total), where=total > 0)

    def advance(self) -> None:
        """One step."""
        step, now = self.step, self.step * self.dt
        row = step % self._turn
        acked, marked = self.by_flow(self._acks[row]), self.by_flow(self._marks[row])
        self.acked += acked
        done = np.isnan(self.finish) & (self.acked >= self.traffic.wire - 0.5)
        if done.any():
            self.finish[done] = now + self.dt - self.traffic.start[done]
        self.sender.react(now, Heard(acked, marked, self._notices(now), np.zeros_like(acked), self))
        sent = self._send(now)
        self._pass_on(sent)
        self.step += 1

    def _notices(self, now: float) -> Mask:
        """(F,) where a CNP arrives now: its marks, on the way back as long as an acknowledgement."""
        marks = self.by_flow(self._marks[self.step % self._turn])
        due = (marks > 0) & (now >= self._next_cnp)
        if due.any():
            self._next_cnp[due] = now + self.cnp_interval
            self.cnps += due
        return due

    def _send(self, now: float) -> Floats:
        """(S,) bytes that the NICs send in this step: whole packets, each flow's spaced by its rate."""
        sender, traffic, end = self.sender, self.traffic, now + self.dt
        most = np.minimum(np.ceil((sender.window - self.sent + self.acked) / self.wire), self.left / self.wire)
        gap = self.wire / np.maximum(sender.rate, 1e-9)
        due = np.floor((end - self._due) / gap) + 1  # packets whose turn comes before the step ends
        want = np.where((traffic.start <= now) & (self._due < end), np.minimum(np.maximum(due, 1), most), 0)
        want = np.maximum(want, 0)
        given = self._share(want, now, end)
        self._due = np.where(given > 0, np.maximum(self._due, now) + given * gap, self._due)
        given *= self.wire
        self.sent += given
        self.left -= given
        if self._one_way:
            return given
        ways = np.zeros(len(traffic.way))
        going = np.flatnonzero(given)
        ways[self._first_way[going] + self.rng.integers(0, self._ways[going])] = given[going]
        return ways

    def _share(self, want: Floats, now: float, end: float) -> Floats:
        """(F,) packets that each flow's NIC lets go: one after the other, flows in turn."""
        free = np.maximum(self._nic_free, now)
        slots = np.maximum(np.ceil((end - free) / self._nic_time - 1e-9), 0)
        if self.pauses:
            slots = self.pauses.room(self._nic, slots)
        if self._alone:
            given = np.minimum(want, slots[self._of_nic])
        else:
            given = in_turn(want, self._of_nic, slots, self._served)
            self._served = np.where(given > 0, self.step, self._served)
        self._nic_free = free + np.bincount(self._of_nic, given, len(free)) * self._nic_time
        return given

    def _pass_on(self, sent: Floats) -> None:
        """What was sent comes to the queues, what leaves them goes on."""
        at, queues, step = self.at, self.queues, self.step
        row = step % self._ring
        coming, carried = self._coming[row], self._riding[row]
        self._coming[(step + at.nic_lag) % self._ring, at.entry] = sent
        marks = self._mark("arrival", queues.came + coming, coming)
        queues.arrive(step, coming, None if marks is None else (carried + marks)[None])
        room = self.pauses.room(at.link, self._room) if self.pauses else self._room
        out, rode = queues.serve(step, room)
        if self.pauses:
            held = np.bincount(at.came, queues.came - queues.left, len(self.traffic.capacity))
            self.pauses.watch(step, np.asarray(held, float))
        np.maximum(self.peak, queues.length, out=self.peak)
        left = np.zeros_like(out)
        if self.marking is not None:
            left, self._rode = rode[0] - self._rode, rode[0]
            marks = self._mark("departure", queues.left, out)
            left = left if marks is None else left + marks
        on = np.flatnonzero(at.after >= 0)
        if len(on):
            slot = (step + at.lag[on]) % self._ring
            self._coming[slot, at.after[on]] = out[on]
            self._riding[slot, at.after[on]] = left[on]
        slot = (step + at.lag[at.exit] + self.back) % self._turn
        self._acks[slot, self._every] = out[at.exit]
        self._marks[slot, self._every] = left[at.exit]
        row = step % self.log
        self.log_waited[row], self.log_length[row], self.log_gone[row] = queues.waited, queues.length, queues.gone

    def _mark(self, when: str, passed: Floats, moving: Floats) -> Floats | None:
        """(P,) packets of `moving` bytes that carry a new mark, after `passed` bytes in all."""
        marking = self.marking
        if marking is None:
            return None
        marks = np.zeros_like(moving)
        if marking.when != when:
            return marks
        chance = red(self.queues.length, marking)[self.at.queue]
        some = np.flatnonzero((chance > 0) & (moving > 0))
        if len(some):
            whole = np.floor(passed[some] / self.wire + _WHOLE) - np.floor((passed - moving)[some] / self.wire + _WHOLE)
            marks[some] = self.rng.binomial(whole.astype(int), chance[some])
        return marks


def red(length: Floats, marking: Marking) -> Floats:
    """Share of packets that is marked at each queue length.

    >>> red(np.array([0, 105e3, 205e3, 300e3]), Marking(5e3, 205e3, 0.01)).tolist()
    [0.0, 0.005, 1.0, 1.0]
    """
    rising = np.clip((length - marking.k_min) * marking.slope, 0, 1) if marking.k_max > marking.k_min else 0.0
    return np.asarray(np.where(length >= marking.k_max, 1.0, np.where(length > marking.k_min, rising, 0.0)))


def in_turn(want: Floats, group: Ints, slots: Floats, served: Ints) -> Floats:
    """Packets that each flow of a NIC sends when it has `slots` left: one each, the flow served longest ago first.

    >>> in_turn(np.array([3.0, 1.0, 3.0]), np.array([0, 0, 0]), np.array([5.0]), np.array([2, 0, 1])).tolist()
    [2.0, 1.0, 2.0]
    """
    given, rest = np.zeros_like(want), slots.copy()
    while True:
        open_ = np.flatnonzero((given < want) & (rest[group] > 0))
        if not len(open_):
            return given
        order = open_[np.lexsort((served[open_], group[open_]))]
        whose = group[order]
        place = np.arange(len(order)) - np.searchsorted(whose, whose)
        let = order[place < rest[whose]]
        given[let] += 1
        rest -= np.bincount(group[let], minlength=len(rest))


@declared
def run(
    traffic: Traffic, sender: Sender, until: float, rng: Generator, switches: Switches | None = None,
    dt: float = 0.25e-6, every: int = 16,
) -> Run:  # fmt: skip
    """Run `traffic` under the controller `sender` until all flows are done, `until` seconds at most.

    dt  s of a step: below a packet's time on the fastest link;  every  steps between two moments of the series
    """
    if floats("dt", dt, above=True) > traffic.base_rtt().min() / 8:
        raise ValueError(
            f"dt = {dt:g} is too long for a round trip of {traffic.base_rtt().min():.3g} s; give a tenth of it"
        )
    if every < 1:
        raise ValueError(f"every = {every} must be at least 1; give the steps between two moments of the series")
    engine = Engine(traffic, sender, switches or Switches(), rng, dt)
    time, queue, rate = [0.0], [np.zeros(len(engine.at.link))], [np.zeros(traffic.flows)]
    before = np.zeros(traffic.flows)
    while engine.step * dt < until and np.isnan(engine.finish).any():
        engine.advance()
        if engine.step % every == 0:
            time.append(engine.step * dt)
            queue.append(engine.queues.length.copy())
            rate.append((engine.acked - before) / (every * dt))
            before = engine.acked.copy()
    return Run(
        engine.finish, engine.acked, engine.marked, engine.cnps, engine.peak, engine.at.link,
        np.array(time), np.array(queue), np.array(rate), engine.step, dt,
    )  # fmt: skip
