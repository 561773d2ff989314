"""NICs: whole packets, each flow's spaced by its rate and held by its window, the flows of a NIC in turn.

Read with the chapter "Congestion control", section "Marking".
"""

from collections.abc import Callable

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.lanes import Lanes
from netlib.congestion.packets.lines import picked
from netlib.congestion.packets.traffic import Ints, Traffic

_NONE = 1e-9  # bytes/s and packets that count as nothing
Room = Callable[[Ints, Floats], Floats]


class Nics:
    """All sending NICs of a traffic.

    left    (F,) bytes that still have to be sent, for the first time or again
    flying  (F,) bytes sent and neither acknowledged nor reported lost
    sent    (F,) bytes sent, repeats included
    """

    def __init__(self, traffic: Traffic, dt: float, lanes: Lanes | None) -> None:
        self.dt, self.wire, self.flows = dt, traffic.packet.wire, traffic.flows
        self.left, self.flying, self.sent = traffic.wire, np.zeros(self.flows), np.zeros(self.flows)
        self._nic, self._of = np.unique(traffic.sender, return_inverse=True)
        self._alone = len(self._nic) == self.flows
        self._same = picked(self._of, len(self._nic))
        self._due = traffic.start.copy()  # when the next packet may leave
        self._served = np.zeros(self.flows, np.int64)
        self._free = np.zeros(len(self._nic))
        self._time = self.wire / traffic.capacity[self._nic]
        self._lane, self._lanes = traffic.lane, traffic.lanes
        self.gate = traffic.sender * self._lanes + self._lane
        weights = lanes.weights if lanes else ()
        self._cost = 1 / np.array(weights) if weights else None  # of a packet of each lane; None: the first lane first
        self._spent = np.zeros((len(self._nic), self._lanes))
        self._late = traffic.start.max(initial=0.0)

    def send(self, step: int, rate: Floats, window: Floats, room: Room | None) -> Floats:
        """(F,) packets that leave in this step. `room` says how many of some packets a gate lets through."""
        now, wire = step * self.dt, self.wire
        end = now + self.dt
        due = np.maximum(self._due, now)
        per = np.maximum(rate, _NONE)
        per /= wire  # packets a second
        want = np.floor((end - due) * per)
        want += 1
        most = np.ceil((window - self.flying) / wire)
        np.minimum(most, self.left / wire, out=most)
        np.minimum(want, most, out=want)
        np.maximum(want, 0, out=want)
        want *= self._due < end
        given = self._share(want, now, end, room)
        np.copyto(self._due, due + given / per, where=given > 0)
        bytes_ = given * wire
        self.sent += bytes_
        self.flying += bytes_
        self.left -= bytes_
        return given

    def change_pace(self, before: Floats, after: Floats) -> None:
        """A rate that changes from `before` to `after` (F,) also changes the gap that a flow is waiting in."""
        self._due += self.wire / np.maximum(after, _NONE) - self.wire / np.maximum(before, _NONE)

    def _share(self, want: Floats, now: float, end: float, room: Room | None) -> Floats:
        """(F,) packets that each flow's NIC lets go: one after the other, flows in turn, lanes by their rule."""
        free = np.maximum(self._free, now)
        slots = np.maximum(np.ceil((end - free) / self._time - _NONE), 0)
        if self._alone:
            given = np.minimum(want, slots[self._same])
            if room:
                given = np.minimum(given, room(self.gate, given))
        elif self._lanes == 1:
            if room:
                slots = np.minimum(slots, room(self._nic, slots))
            given = in_turn(want, self._of, slots, self._served)
        else:
            given = self._by_lane(want, slots, room)
        used = given if isinstance(self._same, slice) else np.bincount(self._of, given, len(free))
        self._free = free + used * self._time
        return given

    def _by_lane(self, want: Floats, slots: Floats, room: Room | None) -> Floats:
        """The same where flows of several lanes share a NIC."""
        lanes, nics = self._lanes, len(slots)
        asked = np.bincount(self._of * lanes + self._lane, want, nics * lanes)
        if room:
            gate = (self._nic[:, None] * lanes + np.arange(lanes)).reshape(-1)
            asked = np.minimum(asked, room(gate, np.asarray(asked, float)))
        asked = np.ceil(asked.reshape(nics, lanes) - _NONE)
        turns = self._turns(asked, slots)
        given = np.zeros_like(want)
        for lane in range(lanes):
            given += in_turn(np.where(self._lane == lane, want, 0), self._of, turns[:, lane], self._served)
        return given

    def _turns(self, asked: Floats, slots: Floats) -> Floats:
        """(NICs, lanes) packets of each lane: one after the other, always of the lane that is furthest behind."""
        row, turns = np.arange(len(slots)), np.zeros_like(asked)
        if self._cost is not None:  # a lane that was idle may catch up one packet and no more
            front = np.where(asked > 0, self._spent, np.inf).min(axis=1, keepdims=True)
            late = np.isfinite(front) & (asked == 0)
            self._spent = np.where(late, np.maximum(self._spent, front - self._cost), self._spent)
        for turn in range(int(slots.max(initial=0))):
            behind = self._spent if self._cost is not None else np.tile(np.arange(asked.shape[1]), (len(row), 1))
            lane = np.where(turns < asked, behind, np.inf).argmin(axis=1)
            one = (turn < slots) & (turns[row, lane] < asked[row, lane])
            turns[row, lane] += one
            if self._cost is not None:
                self._spent[row, lane] += one * self._cost[lane]
        return turns


def in_turn(want: Floats, group: Ints, slots: Floats, served: Ints) -> Floats:
    """Packets that each flow of a NIC sends when it has `slots` left: one each, the flow served longest ago first.

    `served` (F,) are the rounds in which each was served last; it is brought up to date.

    >>> in_turn(np.array([3.0, 1.0, 3.0]), np.array([0, 0, 0]), np.array([5.0]), np.array([2, 0, 1])).tolist()
    [2.0, 1.0, 2.0]
    """
    given, rest, turn = np.zeros_like(want), slots.copy(), int(served.max())
    while True:
        open_ = np.flatnonzero((given < want) & (rest[group] > 0))
        if not len(open_):
            return given
        turn += 1
        order = open_[np.lexsort((served[open_], group[open_]))]
        whose = group[order]
        place = np.arange(len(order)) - np.searchsorted(whose, whose)
        let = order[place < rest[whose]]
        given[let] = np.minimum(given[let] + 1, want[let])  # the last packet of a flow may be a part of one
        served[let] = turn + place[place < rest[whose]]  # the order within a round counts too
        turn += len(order)
        rest -= np.bincount(group[let], minlength=len(rest))
