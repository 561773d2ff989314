"""Spreading: by which of its ways a packet goes.

Read with the chapter "Congestion control", section "Spraying".
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from netlib.arguments import Floats, one_of
from netlib.congestion.packets.places import Places
from netlib.congestion.packets.traffic import Ints, Traffic
from netlib.congestion.parameters import Checked

POLICIES = ("random", "round-robin", "adaptive", "flowlet")


@dataclass(frozen=True)
class Spread(Checked):
    """How a flow deals its packets over its ways.

    policy  "random": each packet by itself; "round-robin": one way after the other, from a random first one;
            "adaptive": the shortest queue among those that the first switch offers, then the next switch ...;
            "flowlet": adaptive, but a new way is chosen only after a pause of `gap`
    gap     s of silence that begins a new flowlet
    """

    policy: Literal["random", "round-robin", "adaptive", "flowlet"]
    gap: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("policy", self.policy, POLICIES)


class Ways:
    """The ways of every flow, and which of them its packets take."""

    def __init__(self, traffic: Traffic, at: Places, spread: Spread, rng: Generator, dt: float) -> None:
        self.rule, self.rng, self.wire, self.dt = spread, rng, traffic.packet.wire, dt
        flows, ways = traffic.flows, len(traffic.way)
        self._first = np.searchsorted(traffic.flow, np.arange(flows))
        self._count = np.bincount(traffic.flow, minlength=flows)
        self._turn = rng.integers(0, self._count)
        self._last, self._way = np.full(flows, -np.inf), self._first.copy()
        width, hops = int(self._count.max()), traffic.way.shape[1] - 1
        self._queue = np.full((ways, hops), len(at.link))  # of each hop; one more for "none"
        self._queue[at.way, at.hop - 1] = at.queue
        self._offer = np.minimum(self._first[:, None] + np.arange(width), ways - 1)  # (F, ways of a flow)
        self._has = np.arange(width) < self._count[:, None]
        self._bound = np.zeros(len(at.link) + 1)  # bytes ever sent towards each queue

    def share(self, step: int, packets: Floats, gone: Floats) -> Floats:
        """(S,) bytes on each way, of `packets` (F,); `gone` (Q,) bytes have left each queue."""
        flow = np.flatnonzero(packets)
        out = np.zeros(len(self._queue))
        if not len(flow):
            return out
        if self.rule.policy == "flowlet":
            now = step * self.dt
            new = flow[now - self._last[flow] > self.rule.gap]
            self._last[flow] = now
            if len(new):
                self._way[new] = self._emptiest(new, gone)
            out[self._way[flow]] = packets[flow] * self.wire
        else:
            each = np.repeat(flow, np.ceil(packets[flow]).astype(int))  # one entry for a packet
            size = np.ones(len(each))
            size[np.cumsum(np.ceil(packets[flow]).astype(int)) - 1] -= np.ceil(packets[flow]) - packets[flow]
            np.add.at(out, self._choose(each, gone), size * self.wire)
        if self.rule.policy in ("adaptive", "flowlet"):
            used = np.flatnonzero(out)
            np.add.at(self._bound, self._queue[used], out[used, None])
        return out

    def _choose(self, each: Ints, gone: Floats) -> Ints:
        """A way for each packet of the flows `each`."""
        if self.rule.policy == "random":
            return np.asarray(self._first[each] + self.rng.integers(0, self._count[each]))
        if self.rule.policy == "adaptive":
            return self._emptiest(each, gone)
        before = np.arange(len(each)) - np.searchsorted(each, each)  # packets of the same flow in this step
        way = self._first[each] + (self._turn[each] + before) % self._count[each]
        np.add.at(self._turn, each, 1)
        return np.asarray(way)

    def _emptiest(self, each: Ints, gone: Floats) -> Ints:
        """The way with the shortest queue at the first switch, at the second among what that leaves, and so on.

        A queue counts with what is on its way to it. Differences below a packet are left to chance.
        """
        length = np.append(np.maximum(self._bound[:-1] - gone, 0), 0)
        offer, open_ = self._offer[each], self._has[each]
        for hop in range(self._queue.shape[1]):
            queue = self._queue[offer, hop]
            cost = length[queue] + self.rng.random(len(length))[queue] * self.wire
            cost = np.where(open_, cost, np.inf)
            open_ = open_ & (cost <= cost.min(axis=1, keepdims=True))
        return np.asarray(np.take_along_axis(offer, open_.argmax(axis=1)[:, None], 1)[:, 0])
