"""Slots: the same fabric packet by packet, as a second model that shares no code with the engine.

A slot is the time of one packet on the fastest link. In each slot a link sends the first packet of its queue, if its
gate is open. Packets are whole, queues are first in first out, a lane may change at every hop, a NIC may hang and a
watchdog may throw a queue away. A packet takes a slot on every cable, however slow. Slower than the engine, and small
enough to be checked by hand: use it for a few switches.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from collections import deque
from collections.abc import Sequence

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array
from netlib.congestion.lossless.waiting import Waits, waits_from
from netlib.congestion.lossless.watchdogs import NEVER, Guard, Hang, Watchdog, whole_slots
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import Traffic


class Slots:
    """One run, slot by slot; `netlib.congestion.lossless.slotted.run_slots` is the short way.

    slot    s;  now  slots done;  wire  bytes of a packet;  lanes  of a link. A gate is link x lanes + lane
    shut    (G,) told to pause;  held (G,) packets that came by a gate and have not left;  most (G,) the most of them
    frames  (G,) pauses asked for;  stopped (G,) slots in which nothing could be sent
    sent, received, lost  (F,) packets;  guard  the watchdogs, if there are any
    """

    def __init__(
        self, traffic: Traffic, rule: Pfc | LinkCredits | None, rng: Generator, lane: ArrayLike | None = None,
        watchdog: Watchdog | None = None, hangs: Sequence[Hang] = (),
    ) -> None:  # fmt: skip
        self.wire, self.rng, self.rule = traffic.packet.wire, rng, rule
        self.slot = float(self.wire / traffic.capacity[np.unique(traffic.way[traffic.way >= 0])].max())
        gate, self.lanes = _gates(traffic, lane)
        gates = len(traffic.capacity) * self.lanes
        self.way = [row[links >= 0].tolist() for row, links in zip(gate, traffic.way, strict=True)]
        self.flow = traffic.flow.tolist()
        self._lag = (1 + np.round(traffic.latency / self.slot)).astype(int).tolist()
        response = rule.response if rule else 0.0
        self._news_lag = np.maximum(np.round((traffic.latency + response) / self.slot), 1).astype(int).tolist()
        self._work = (self.wire / traffic.capacity / self.slot).tolist()
        self._free = [0.0] * len(self._work)
        self.guard = Guard(watchdog, gates, self.slot) if watchdog else None
        self._left = np.round(traffic.wire / self.wire).astype(int).tolist()
        self._start = (traffic.start / self.slot).tolist()
        self._mine: dict[int, deque[int]] = {}  # flows of a NIC's gate, the next to send first
        for flow, way in zip(self.flow, self.way, strict=True):
            turns = self._mine.setdefault(way[0], deque())
            if flow not in turns:
                turns.append(flow)
        self._ways: list[list[int]] = [[] for _ in self._left]
        for number, flow in enumerate(self.flow):
            self._ways[flow].append(number)
        self._queue: dict[int, deque[tuple[int, int]]] = {g: deque() for way in self.way for g in way[1:]}
        self._ingress = sorted({g for way in self.way for g in way[:-1]})
        self._links: dict[int, deque[int]] = {}  # lanes of a link, the next to send first
        for each in sorted({*self._mine, *self._queue}):
            self._links.setdefault(each // self.lanes, deque()).append(each)
        self._order, self._used = sorted(self._links), sorted({g for way in self.way for g in way})
        self._switch = np.repeat(traffic.enters, self.lanes).tolist()
        self._turn = max(self._lag) + max(self._news_lag) + 2
        self._flying: list[list[tuple[int, int]]] = [[] for _ in range(self._turn)]
        self._news: list[list[tuple[int, bool]]] = [[] for _ in range(self._turn)]
        self.now = 0
        room, buffered = NEVER, set(self._ingress)
        if isinstance(rule, LinkCredits) and (room := int(rule.buffer // self.wire)) < 1:
            raise ValueError(f"rule: a buffer below a packet of {self.wire:g} bytes lets nothing pass; give more")
        self._credit = [room if g in buffered else NEVER for g in range(gates)]
        self.shut, self._wants = [False] * gates, [False] * gates
        self.held, self.most = [0] * gates, [0] * gates
        self.frames, self.stopped = [0] * gates, [0] * gates
        self.sent, self.received, self.lost = [0] * traffic.flows, [0] * traffic.flows, [0] * traffic.flows
        self._hangs = _hangs(traffic, hangs, self.slot, self.lanes)

    def advance(self) -> None:
        """One slot: news arrive, packets land, links send, switches decide."""
        now, row = self.now, self.now % self._turn
        for gate, hung in self._hangs.pop(now, ()):
            self.shut[gate] = self._wants[gate] = hung
        for gate, shut in self._news[row]:
            if isinstance(self.rule, LinkCredits):
                self._credit[gate] += 1
            else:
                self.shut[gate] = shut
        self._news[row] = []
        landed, self._flying[row] = self._flying[row], []
        first = now % len(landed) if landed else 0  # no link is always the first to fill a queue
        for way, hop in landed[first:] + landed[:first]:
            self._land(way, hop)
        for link in self._order:
            if self._free[link] <= now + 1e-9:
                self._serve(link)
        if isinstance(self.rule, Pfc):
            self._decide(self.rule)
        if self.guard is not None:
            for gate, queue in self._queue.items():
                if self.guard.bites(gate, self.closed(gate), bool(queue)):
                    self._drop(gate)
        for gate in self._used:
            self.stopped[gate] += self.closed(gate)
        self.now += 1

    def waits(self) -> Waits:
        """Who waits for whom now."""
        came, leaves = [], []
        for gate, queue in self._queue.items():
            came += [self.way[way][hop] for way, hop in queue]
            leaves += [gate] * len(queue)
        shut = np.array([self.closed(g) for g in range(len(self.shut))])
        asked = np.array(self._wants) if isinstance(self.rule, Pfc) else shut
        held = np.full(len(came), self.wire)
        return waits_from(shut, np.array(came, np.int64), np.array(leaves, np.int64), held, self.lanes, asked)

    def closed(self, gate: int) -> bool:
        """Whether nothing may be sent into a gate now."""
        return self.shut[gate] or self._credit[gate] < 1

    def _land(self, way: int, hop: int) -> None:
        path = self.way[way]
        if hop == len(path) - 1:
            self.received[self.flow[way]] += 1
            return
        gate = path[hop]
        self.held[gate] += 1
        self.most[gate] = max(self.most[gate], self.held[gate])
        if self.guard is not None and self.guard.dropping[path[hop + 1]]:
            self._throw(way, hop)
        else:
            self._queue[path[hop + 1]].append((way, hop))

    def _serve(self, link: int) -> None:
        gates = self._links[link]
        for _ in range(len(gates)):
            gate = gates[0]
            gates.rotate(-1)
            if self.closed(gate):
                continue
            if (packet := self._next(gate)) is not None:
                way, hop = packet
                if self._credit[gate] < NEVER:
                    self._credit[gate] -= 1
                self._flying[(self.now + self._lag[link]) % self._turn].append((way, hop + 1))
                free = self._free[link]  # what a link missed of its last slot counts, so that 1.25 slots a packet hold
                self._free[link] = (free if free > self.now - 1 else self.now) + self._work[link]
                return

    def _next(self, gate: int) -> tuple[int, int] | None:
        """The packet that leaves by a gate: the first of its queue, or a new one of the NIC's next flow."""
        if queue := self._queue.get(gate):
            way, hop = queue.popleft()
            self._leave(self.way[way][hop])
            return way, hop
        turns = self._mine.get(gate, deque())
        for _ in range(len(turns)):
            flow = turns[0]
            turns.rotate(-1)
            if self._left[flow] > 0 and self._start[flow] <= self.now:
                self._left[flow] -= 1
                self.sent[flow] += 1
                ways = self._ways[flow]
                return ways[int(self.rng.integers(len(ways)))] if len(ways) > 1 else ways[0], -1
        return None

    def _leave(self, gate: int) -> None:
        """A packet has left the buffer of a gate."""
        self.held[gate] -= 1
        if isinstance(self.rule, LinkCredits):
            self._tell(gate, False)

    def _tell(self, gate: int, shut: bool) -> None:
        self._news[(self.now + self._news_lag[gate // self.lanes]) % self._turn].append((gate, shut))

    def _decide(self, rule: Pfc) -> None:
        """Pause and resume, by the bytes in every ingress queue."""
        used: dict[int, int] = {}
        if rule.alpha:
            for gate in self._ingress:
                used[self._switch[gate]] = used.get(self._switch[gate], 0) + self.held[gate]
        for gate in self._ingress:
            most = rule.xoff
            if rule.alpha:
                most = rule.alpha * max(rule.buffer - used[self._switch[gate]] * self.wire, 0)
            limit = max(most - rule.hysteresis, 0) if self._wants[gate] else most
            wants = self.held[gate] * self.wire > limit
            if wants != self._wants[gate]:
                self._wants[gate] = wants
                self.frames[gate] += wants
                self._tell(gate, wants)

    def _drop(self, gate: int) -> None:
        """The watchdog throws a queue away."""
        for way, hop in self._queue[gate]:
            self._throw(way, hop)
        self._queue[gate].clear()

    def _throw(self, way: int, hop: int) -> None:
        self.lost[self.flow[way]] += 1
        self._leave(self.way[way][hop])


def _gates(traffic: Traffic, lane: ArrayLike | None) -> tuple[NDArray[np.int64], int]:
    """(S, hops) the gate of each link of each way, and how many lanes there are."""
    of = traffic.lane[traffic.flow][:, None] + np.zeros_like(traffic.way) if lane is None else array("lane", lane)
    if of.dtype.kind not in "iu" or of.shape not in ((), traffic.way.shape) or of.min() < 0 or of.max() > 15:
        raise ValueError(
            f"lane = {str(lane)[:40]!r} must be whole numbers, 0 to 15; give one, or one for each link of each way, "
            f"shape {traffic.way.shape}"
        )
    of = np.where(traffic.way >= 0, of, 0)
    lanes = int(of.max()) + 1
    return np.where(traffic.way >= 0, traffic.way * lanes + of, -1).astype(np.int64), lanes


def _hangs(traffic: Traffic, hangs: Sequence[Hang], slot: float, lanes: int) -> dict[int, list[tuple[int, bool]]]:
    """By slot, the gates that a NIC begins to pause or lets go."""
    ends = set(traffic.receiver.tolist()) - set(traffic.way[:, :-1][traffic.way[:, 1:] >= 0].tolist())
    found: dict[int, list[tuple[int, bool]]] = {}
    for each in hangs:
        if each.link not in ends:
            raise ValueError(f"hangs: link = {each.link} leads to no receiver; give one of {sorted(ends)}")
        for moment, hung in ((each.begin, True), (each.end, False)):
            at = whole_slots(moment, slot) if moment else 0
            found.setdefault(at, []).extend((each.link * lanes + lane, hung) for lane in range(lanes))
    return found
