"""Arbitration: which virtual lane of an InfiniBand port may send next.

Two tables of (lane, weight), high and low; a weight counts blocks of 64 bytes. The high table goes first until it has
sent `limit` x 4,096 bytes, then one packet of the low table may pass. Data and rules as in OpenSM and in the flit-level
model hcyang99/ib_model, vlarb.cc.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, declared_fields, floats, formula
from netlib.congestion.credits import BLOCK

UNIT = 4096  # bytes of one step of the limit
UNLIMITED = 255  # this limit never lets a low packet pass while a high one waits


@dataclass(frozen=True)
class Arbitration:
    """The tables of one port: `high` and `low` as ((lane, weight), ...) and the `limit` (0: one high packet)."""

    high: tuple[tuple[int, int], ...]
    low: tuple[tuple[int, int], ...]
    limit: int

    def __post_init__(self) -> None:
        declared_fields(self)
        for name, table in (("high", self.high), ("low", self.low)):
            pairs = floats(name, table)
            if pairs.size and (pairs.ndim != 2 or pairs.shape[1] != 2 or (pairs != np.floor(pairs)).any()):
                raise ValueError(f"{name} = {str(table)[:40]!r} is no list of (lane, weight); write ((0, 4), (1, 1))")
            rows = tuple((int(lane), int(weight)) for lane, weight in pairs) if pairs.size else ()
            if any(lane > 15 or weight > 255 for lane, weight in rows):
                raise ValueError(f"{name} has a lane beyond 15 or a weight beyond 255; both are limited by their bits")
            object.__setattr__(self, name, rows)
        if not 0 <= self.limit <= UNLIMITED:
            raise ValueError(f"limit = {self.limit} must be between 0 and {UNLIMITED}")


TABLES: Mapping[str, Arbitration] = {
    # OpenSM, osm_base.h: OSM_DEFAULT_QOS_*; lanes of weight 0 are never chosen
    "opensm": Arbitration(((0, 4),), tuple((lane, 4 if lane else 0) for lane in range(15)), 0),
    # The example in NVIDIA's documentation of NCCL for two service levels
    "nccl": Arbitration(((1, 4),), ((0, 1), (1, 4)), UNLIMITED),
}


@declared
@formula
def arbitrate(tables: Arbitration, packet: ArrayLike, packets: int, busy: Sequence[int] | None = None) -> Floats:
    """(lanes,) bytes sent by each lane in the next `packets` packets, if the lanes of `busy` always have one waiting.

    `packet` is the size (bytes) of a lane's packets, one number or one for each lane; `busy` all lanes by default. An
    entry may send while its weight is not used up, the last packet whole; then its table's next entry has its turn.

    >>> sent = arbitrate(Arbitration(((0, 64),), ((1, 64),), limit=4), 4096, 1000, busy=[0, 1])
    >>> (sent / sent.sum()).round(2).tolist()  # four high packets, then one low
    [0.8, 0.2]
    """
    size = np.atleast_1d(floats("packet", packet, above=True))
    lanes = max((lane + 1 for lane, _ in (*tables.high, *tables.low)), default=0)
    if not lanes or size.ndim != 1 or size.size not in (1, lanes):
        raise ValueError(f"packet has {size.size} entries for {lanes} lanes; give one size, or one for each lane")
    if not 1 <= packets <= 10**6:
        raise ValueError(f"packets = {packets} must be between 1 and 1e6")
    waiting = set(range(lanes)) if busy is None else {int(each) for each in floats("busy", busy).ravel()}
    length = np.broadcast_to(size, (lanes,)).tolist()
    high = _Turn([each for each in tables.high if each[0] in waiting and each[1]])
    low = _Turn([each for each in tables.low if each[0] in waiting and each[1]])
    sent = np.zeros(lanes)
    room, passed = float(tables.limit * UNIT), 0  # of the limit; high packets since the last low one
    for _ in range(packets):
        urgent = tables.limit == UNLIMITED or room > 0 or not passed
        first = bool(high.entries) and (urgent or not low.entries)
        chosen = high if first else low
        if not chosen.entries:
            break
        lane = chosen.lane(length)
        sent[lane] += length[lane]
        room, passed = (room - length[lane], passed + 1) if first else (float(tables.limit * UNIT), 0)
    return sent


class _Turn:
    """One table: whose turn it is, and how much of its weight is left."""

    def __init__(self, entries: Sequence[tuple[int, int]]) -> None:
        self.entries = list(entries)
        self.at, self.left = 0, float(self.entries[0][1] * BLOCK) if self.entries else 0.0

    def lane(self, length: Sequence[float]) -> int:
        """The lane whose packet goes now; the table moves on when its weight is used up."""
        if self.left <= 0:
            self.at = (self.at + 1) % len(self.entries)
            self.left = self.entries[self.at][1] * BLOCK
        lane = self.entries[self.at][0]
        self.left -= length[lane]
        return lane


@formula
def low_share(limit: ArrayLike, high_packet: ArrayLike, low_packet: ArrayLike) -> Floats:
    """Share of a link that all low lanes keep while the high table always has packets. Broadcasts.

    low / (low + k high), where k = ceil(4,096 limit / high) packets pass before the low one, at least one; 0 for a
    limit of 255.

    >>> low_share([0, 4, 255], 4096, 4096).tolist()
    [0.5, 0.2, 0.0]
    """
    steps = floats("limit", limit)
    long, short = floats("high_packet", high_packet, above=True), floats("low_packet", low_packet, above=True)
    if (steps > UNLIMITED).any():
        raise ValueError(f"limit = {steps.max():g} must be between 0 and {UNLIMITED}")
    passes = np.maximum(np.ceil(UNIT * steps / long), 1)
    return np.where(steps == UNLIMITED, 0.0, short / (short + passes * long))
