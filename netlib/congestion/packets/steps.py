"""Steps: the packet-level engine from the inside, one advance at a time.

Each step: what the receivers said arrives at the senders, whose controller sets rate and window; NICs send; queues take
in, mark and serve; what leaves goes to the next queue or to the receiver. Bytes are a fluid, packets are counted where
it matters: a mark, a CNP, a loss, a choice of way belongs to a packet. The same seed gives the same bits.
Read with the chapter "Congestion control", section "One bottleneck".
"""

import numpy as np
from numpy.random import Generator

from netlib.arguments import Floats
from netlib.congestion.packets.doors import Doors
from netlib.congestion.packets.drops import Drops, Losses
from netlib.congestion.packets.hearing import Heard, Mask, Sender
from netlib.congestion.packets.lines import Line, picked
from netlib.congestion.packets.marks import new_marks
from netlib.congestion.packets.nics import Nics
from netlib.congestion.packets.order import Order
from netlib.congestion.packets.places import Places, lag_to, places, rest, way_back
from netlib.congestion.packets.queues import Queues
from netlib.congestion.packets.recovery import Recovery, Repeats
from netlib.congestion.packets.spreading import Spread, Ways
from netlib.congestion.packets.stamps import Stamped
from netlib.congestion.packets.switches import Switches
from netlib.congestion.packets.traffic import Traffic


class Engine:
    """One run, step by step; `run` is the short way.

    step, dt     steps done, of how many seconds
    at           where ways meet queues;  back (S,) steps from the receiver to the sender
    log, log_*   the last `log` steps of every queue: what a switch can stamp on a packet (INT). `log_waited` in steps,
                 `log_length` and `log_gone` (all that ever left) in bytes; the row of a step is step % log
    """

    def __init__(
        self, traffic: Traffic, sender: Sender, switches: Switches, rng: Generator, dt: float,
        recovery: Recovery | None = None, spread: Spread | None = None,
    ) -> None:  # fmt: skip
        self.traffic, self.sender, self.rng, self.dt = traffic, sender, rng, dt
        self.marking, self.cnp_interval = switches.marking, switches.cnp_interval
        self.at: Places = places(traffic, dt)
        self.wire = traffic.packet.wire
        ways, flows, at, links = len(traffic.way), traffic.flows, self.at, len(traffic.capacity)
        self.step = 0
        self.back = way_back(traffic, at, dt)
        last = at.lag[at.exit]
        self._one_way = ways == flows
        self._first = np.searchsorted(traffic.flow, np.arange(flows))
        self.acks = np.zeros(ways)  # bytes on each way that are acknowledged in this step

        # What can happen at all: what cannot costs nothing.
        chance = switches.chance(links)
        lossy = switches.losing(chance, recovery)
        self._many = bool((at.after >= 0).any())
        self._mark_rides = self.marking is not None and (self._many or self.marking.when == "arrival")
        self._loss_rides = lossy
        rides = int(self._mark_rides) + int(lossy)
        self.queues = Queues(at, rides)
        self.nics = Nics(traffic, dt, switches.lanes)
        self.ways = None if self._one_way else Ways(traffic, at, spread or Spread("random"), rng, dt)
        self.order = None if self._one_way else Order(traffic)
        self.doors = Doors(traffic, at, switches, dt)
        self.pauses, self.promises = self.doors.pauses, self.doors.promises
        self.drops = Drops(traffic, at, switches.buffers, chance, rng) if lossy else None
        self.rest = rest(at)
        end = chance[traffic.receiver[traffic.flow]]
        self._last_cable = Losses(end, self.wire, rng) if (end > 0).any() else None
        longest = int(self.rest.max() + self.back.max()) + 2
        self.repeats = Repeats(traffic, self.nics, recovery, last, self.back, longest) if recovery else None

        # Cables: to every place, and back from the last one.
        on, lag = np.flatnonzero(at.after >= 0), lag_to(at)
        self._from, self._to = on, at.after[on]
        self._entry, self._exit = picked(at.entry, len(at.way)), picked(at.exit, len(at.way))
        self._coming = Line(lag)
        self._riding = [Line(lag) for _ in range(rides if self._many else 0)]
        self._acks, self._marks = Line(last + self.back), Line(last + self.back)
        self._rode, self._next = np.zeros((rides, len(at.way))), np.zeros(len(at.way))
        self._lost_on_last = np.zeros(ways)

        self.acked, self.marked, self.cnps = np.zeros(flows), np.zeros(flows), np.zeros(flows)
        self.finish, self._total, self._undone = np.full(flows, np.nan), traffic.wire - 0.5, np.ones(flows, bool)
        self.open = flows  # flows that are not done
        self._next_cnp = np.zeros(flows)
        self._nothing, self._no_cnp = np.zeros(flows), np.zeros(flows, bool)
        self.stamps = Stamped(len(at.link), traffic.way.shape[1] - 1, longest)
        self.peak = np.zeros(len(at.link))
        self.trimmed = np.zeros(flows)

    @property
    def log(self) -> int:
        """Steps in the log."""
        return len(self.stamps.waited)

    @property
    def log_waited(self) -> Floats:
        """(log, Q) steps that the byte then leaving had waited."""
        return self.stamps.waited

    @property
    def log_length(self) -> Floats:
        """(log, Q) bytes in the queue."""
        return self.stamps.length

    @property
    def log_gone(self) -> Floats:
        """(log, Q) bytes that had ever left it."""
        return self.stamps.gone

    def by_flow(self, each: Floats) -> Floats:
        """(F,) sums over the ways of a flow."""
        return each if self._one_way else np.asarray(np.add.reduceat(each, self._first), float)

    def by_flow_mean(self, each: Floats) -> Floats:
        """(F,) means over the ways of a flow, weighted by what was acknowledged on each in this step."""
        if self._one_way:
            return each
        total = self.by_flow(self.acks)
        return np.divide(self.by_flow(each * self.acks), total, out=np.zeros_like(total), where=total > 0)

    def advance(self) -> None:
        """One step."""
        step, now = self.step, self.step * self.dt
        self.acks = self.repeats.acked(step) if self.repeats else self._acks.get(step)
        acked, marked, cnp = self.by_flow(self.acks), self._nothing, self._no_cnp
        self.acked += acked
        self.nics.flying -= acked
        if self.marking is not None:
            marked = self.by_flow(self._marks.get(step))
            self.marked += marked
            cnp = self._notices(marked, now)
        done = self._undone & (self.acked >= self._total)
        if done.any():
            self.finish[done] = now + self.dt - self.traffic.start[done]
            self._undone &= ~done
            self.open = int(np.count_nonzero(self._undone))
        lost = self.repeats.hear(step, now, acked) if self.repeats else self._nothing
        self.sender.react(now, Heard(acked.copy(), marked.copy(), cnp, lost, self))
        self._pass_on(self._send(step))
        self.step += 1

    def _notices(self, marked: Floats, now: float) -> Mask:
        """(F,) where a CNP arrives now: its marks, on the way back as long as an acknowledgement."""
        if not marked.any():
            return self._no_cnp
        due = np.asarray((marked > 0) & (now >= self._next_cnp))
        self._next_cnp[due] = now + self.cnp_interval
        self.cnps += due
        return due

    def _send(self, step: int) -> Floats:
        """(S,) bytes that the NICs send in this step."""
        room = self.doors.packets if self.doors.shut else None
        packets = self.nics.send(step, self.sender.rate, self.sender.window, room)
        if self.promises:
            self.promises.spend(self.nics.gate, packets * self.wire)
        if self.ways is None:
            return packets * self.wire
        return self.ways.share(step, packets, self.queues.gone)

    def _pass_on(self, sent: Floats) -> None:
        """What was sent comes to the queues, what leaves them goes on."""
        queues, step = self.queues, self.step
        coming = self._coming.get(step)
        riding = np.array([line.get(step) for line in self._riding]) if self._riding else None
        if riding is None and len(self._rode):
            riding = np.zeros_like(self._rode)
        if self.drops:
            coming = self._drop(coming, riding)
        if self.marking is not None and self.marking.when == "arrival":
            self._mark(queues.came + coming, coming, None if riding is None else riding[0])
        queues.arrive(step, coming, riding)
        gone = queues.gone.copy()
        out = queues.serve(step, self.doors.bytes(queues))
        if self.doors.shut:
            self.doors.watch(step, queues, gone)
        np.maximum(self.peak, queues.length, out=self.peak)
        left = None
        if len(self._rode):
            now = (
                queues.rode if not self._mark_rides else np.vstack([np.floor(queues.rode[:1] + 1e-6), queues.rode[1:]])
            )
            left, self._rode = now - self._rode, now.copy()
        marks = left[0] if left is not None and self._mark_rides else None
        if self.marking is not None and self.marking.when == "departure":
            marks = np.zeros_like(out) if marks is None else marks
            self._mark(queues.left, out, marks)
        self._hand_over(sent, out, marks, left)
        self.stamps.note(step, queues)

    def _hand_over(self, sent: Floats, out: Floats, marks: Floats | None, left: Floats | None) -> None:
        """Put on the cables what NICs and queues let go."""
        step = self.step
        going = self._next
        going[self._entry] = sent
        if self._many:
            going[self._to] = out[self._from]
            for k, line in enumerate(self._riding):
                rides = np.zeros_like(going)
                assert left is not None
                rides[self._to] = (marks if k == 0 and marks is not None else left[k])[self._from]
                line.put(step, rides)
        self._coming.put(step, going)
        last = out[self._exit]
        if self.order:
            came = self.queues.left[self._exit]
            if self.drops:
                came = came + self._rode[-1][self._exit] + np.bincount(self.at.way, self.drops.cut, len(came))
            self.order.watch(step, sent, came)
        if marks is not None:
            self._marks.put(step, marks[self._exit])
        if self.repeats is None:
            self._acks.put(step, last)
            return
        lost = self._rode[-1][self._exit] if self._loss_rides else np.zeros_like(last)
        if self._last_cable:
            gone = self._last_cable.of(last)
            self._lost_on_last += gone
            self.repeats.drop(self.traffic.flow, gone)
            last = last - gone
        self.repeats.arrive(step, last, lost + self._lost_on_last)

    def _drop(self, coming: Floats, riding: Floats | None) -> Floats:
        """What gets in of `coming`; losses ride on what follows them, headers of trimmed packets go ahead."""
        assert self.drops
        assert self.repeats
        assert riding is not None
        coming, gone, cut = self.drops.take(coming, self.queues, self.doors.room)
        flow = self.traffic.flow
        if gone.any():
            riding[-1] += gone
            self.repeats.drop(flow[self.at.way], gone)
        some = np.flatnonzero(cut)
        if len(some):
            way = self.at.way[some]
            self.trimmed += np.bincount(flow[way], cut[some], self.traffic.flows) / self.wire
            self.repeats.told.put(self.step, flow[way], self.rest[some] + self.back[way], cut[some])
        return coming

    def _mark(self, passed: Floats, moving: Floats, marks: Floats | None) -> None:
        """Add to `marks` (P,) what the queues mark of `moving` bytes, after `passed` in all."""
        assert self.marking is not None
        assert marks is not None
        more = new_marks(passed, moving, self.queues.length, self.at.queue, self.marking, self.wire, self.rng)
        if more is not None:
            marks += more
