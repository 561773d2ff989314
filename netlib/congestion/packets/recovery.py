"""Recovery: what receivers and senders do about a gap, go-back-N or selective repeat.

A gap is seen when a later packet of the same way comes, and the sender hears of it half a round trip later. When
nothing comes behind it, only the sender's timeout finds it. With go-back-N the receiver throws away everything after
the gap until the sender has gone back to it.
Read with the chapter "Congestion control", section "When packets are lost".
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from netlib.arguments import Floats, one_of
from netlib.congestion.packets.lines import Line, Notices
from netlib.congestion.packets.nics import Nics
from netlib.congestion.packets.traffic import Ints, Traffic
from netlib.congestion.parameters import Checked

_ROUND = 1e-3  # bytes
SCHEMES = ("go-back-n", "selective-repeat")


@dataclass(frozen=True)
class Recovery(Checked):
    """How lost packets are sent again.

    scheme   "go-back-n": everything from the gap on; "selective-repeat": what is missing
    timeout  s without an answer after which a sender repeats on its own; inf: never
    """

    scheme: Literal["go-back-n", "selective-repeat"]
    timeout: float
    _positive = ("timeout",)
    _unlimited = ("timeout",)

    def __post_init__(self) -> None:
        super().__post_init__()
        one_of("scheme", self.scheme, SCHEMES)


class Repeats:
    """Receivers that see gaps, and senders that fill them.

    delivered        (F,) bytes that the receiver keeps
    out_of_sequence  (F,) packets thrown away behind a gap (go-back-N), or bytes of gaps in packets (selective repeat)
    packet_seq_err   (F,) gaps that the sender was told of
    timeouts         (F,) (local_ack_timeout_err)
    repeated         (F,) packets that are sent again
    """

    def __init__(self, traffic: Traffic, nics: Nics, rule: Recovery, last: Ints, back: Ints, longest: int) -> None:
        ways, flows = len(traffic.way), traffic.flows
        self.rule, self.nics, self.wire, self.total = rule, nics, traffic.packet.wire, traffic.wire
        self._flow, self._flows, self._one = traffic.flow, flows, ways == flows
        if rule.scheme == "go-back-n" and not self._one:
            raise ValueError(
                "scheme = 'go-back-n' throws away what comes out of order, and flows of several ways do; "
                "give each flow one way, or 'selective-repeat'"
            )
        self._coming, self._gone, self._acks = Line(last), Line(last), Line(back)
        self._back = np.zeros(flows, np.int64)
        np.maximum.at(self._back, traffic.flow, back)
        self.told = Notices(flows, longest)
        self._unseen, self._lost = np.zeros(ways), np.zeros(ways)
        self.silent = np.zeros(flows)  # bytes lost of which nobody has told the sender
        self.delivered, self._at, self._part = np.zeros(flows), np.zeros(flows), np.zeros(flows)
        self._resume, self._fresh = np.zeros(flows), np.zeros(flows, bool)
        self._heard = traffic.start.copy()
        self.out_of_sequence, self.packet_seq_err = np.zeros(flows), np.zeros(flows)
        self.timeouts, self.repeated = np.zeros(flows), np.zeros(flows)

    def drop(self, flow: Ints, lost: Floats) -> None:
        """Count bytes lost without a word."""
        self.silent += np.bincount(flow, lost, self._flows)

    def _by_flow(self, each: Floats) -> Floats:
        return each if self._one else np.asarray(np.bincount(self._flow, each, self._flows), float)

    def arrive(self, step: int, out: Floats, lost: Floats) -> None:
        """(S,) bytes that leave the last queue, and `lost` (S,) bytes so far in front of them."""
        self._coming.put(step, out)
        self._gone.put(step, lost - self._lost)
        self._lost = lost
        came, gap = self._coming.get(step), self._gone.get(step)
        keep = self._back_n(step, came, gap) if self.rule.scheme == "go-back-n" else self._selective(step, came, gap)
        self._acks.put(step, keep)

    def acked(self, step: int) -> Floats:
        """(S,) bytes acknowledged to the sender now."""
        return self._acks.get(step)

    def _selective(self, step: int, came: Floats, gap: Floats) -> Floats:
        seen = np.where(came > 0, self._unseen, 0)
        self._unseen += gap - seen
        if (seen > _ROUND).any():
            told = self._by_flow(seen)
            told = np.minimum(told, self.silent)
            some = np.flatnonzero(told > _ROUND)
            self.silent -= told
            self.out_of_sequence += told / self.wire
            self.packet_seq_err[some] += 1
            self.told.put(step, some, self._back[some], told[some])
        self.delivered += self._by_flow(came)
        return came

    def _back_n(self, step: int, came: Floats, gap: Floats) -> Floats:
        """What the receiver keeps; positions count every byte ever sent, so that those of a new attempt are known."""
        before = self._at
        self._at = before + came + gap
        old = np.maximum(self._resume - before, 0)  # bytes of the attempt that failed, still to come
        new_gap = np.maximum(gap - old, 0)
        fresh = np.maximum(came - np.maximum(old - gap, 0), 0)
        hit = (new_gap > _ROUND) & (old < np.inf)
        half = np.floor(fresh / self.wire / 2 + 1e-9) * self.wire  # the gap is anywhere among them
        keep = np.where(old == np.inf, 0, np.where(hit, half, fresh))
        self._part += keep  # of a packet that is not complete
        keep = np.floor(self._part / self.wire + 1e-6) * self.wire
        self._part = np.where(hit | (old == np.inf), 0, np.maximum(self._part - keep, 0))
        tell = self._fresh & (came > 0)
        self._fresh = (self._fresh | hit) & ~tell
        self._resume[hit] = np.inf
        self.delivered += keep
        self.out_of_sequence += (came - keep) / self.wire
        if tell.any():
            some = np.flatnonzero(tell)
            self.packet_seq_err[some] += 1
            self.told.put(step, some, self._back[some], np.ones(len(some)))
        return keep

    def hear(self, step: int, now: float, acked: Floats) -> Floats:
        """(F,) bytes that senders learn to be lost at `step`: of gaps, of trimmed packets, and by timeouts."""
        nics = self.nics
        told = self.told.get(step)
        late = (nics.flying > _ROUND) & (now - self._heard > self.rule.timeout)
        answered = (acked > 0) | (told > 0) | (nics.flying <= _ROUND) | late
        self._heard[answered] = now
        if not late.any() and not told.any():
            return told
        self.timeouts += late
        if self.rule.scheme == "go-back-n":
            lost = self._go_back(np.flatnonzero((told > 0) | late))
        else:
            lost = told + np.where(late, self.silent, 0)
            self.silent[late] = 0
            lost = np.minimum(lost, nics.flying)
        nics.flying -= lost
        nics.left += lost
        self.repeated += lost / self.wire
        return lost

    def _go_back(self, who: Ints) -> Floats:
        """Senders begin again at the first byte that their receiver misses."""
        nics = self.nics
        kept = self.delivered[who]
        self._fresh[who], self._part[who] = False, 0.0
        self._resume[who] = nics.sent[who]
        lost = np.zeros(self._flows)
        lost[who] = np.maximum(self.total[who] - nics.left[who] - kept, 0)
        return lost
