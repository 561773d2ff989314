"""Credits: how an InfiniBand link never overruns a buffer, counted block by block.

The receiver says how far the sender may count; the sender stops there. No headroom and no pause: what is on the cable
was paid for. The price is reach, because credits that travel cannot be spent.
Counting rules as in the flit-level model that Mellanox gave to OMNeT++ (hcyang99/ib_model, ibuf.cc and obuf.cc) and in
the InfiniBand specification, section 7.9.
"""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats, formula

BLOCK = 64  # bytes of one credit
MODULUS = 4096  # the counters on the wire have 12 bits
MOST_CREDITS = MODULUS // 2  # blocks that may be out: half of the numbers, so that "ahead" has one meaning
LIGHT = 1.98e8  # m/s in a cable


class LaneRun(NamedTuple):
    """One virtual lane by block times: blocks of `credit` that the sender sees, cumulative blocks `sent` and `arrived`
    (lost ones do not arrive), blocks `free` in the receiver's buffer, and `leaked`: blocks that were lost on the cable
    and are not yet credit again, by which the lane is narrower."""

    credit: NDArray[np.int64]
    sent: NDArray[np.int64]
    arrived: NDArray[np.int64]
    free: NDArray[np.int64]
    leaked: NDArray[np.int64]


@formula
def credit_rate(credits: ArrayLike, rtt: ArrayLike, rate: ArrayLike = np.inf) -> Floats:
    """Bytes/s of a lane with `credits` bytes of credit on a hop with `rtt` s there and back: min(rate, credits / rtt).

    >>> round(float(credit_rate(128 * 1024, 5e-6, 50e9)) / 1e9, 1)  # GB/s of 50
    26.2
    """
    bound = floats("credits", credits) / floats("rtt", rtt, above=True)
    return np.minimum(bound, floats("rate", rate, above=True, limit=True))


@formula
def credit_reach(rate: ArrayLike, credits: ArrayLike = MOST_CREDITS * BLOCK, processing: ArrayLike = 0.0) -> Floats:
    """Metres of cable over which a lane still runs at `rate` bytes/s: (credits / rate - processing) 1.98e8 / 2.

    `processing` are the seconds of a round trip that are not cable; 0 is the best case. By default all credits that the
    counters can express: 128 KiB. Nothing is negative: 0 m where processing takes all the time.

    >>> credit_reach([50e9, 100e9]).round().tolist()  # 400 and 800 Gb/s
    [260.0, 130.0]
    """
    time = floats("credits", credits) / floats("rate", rate, above=True) - floats("processing", processing)
    return np.maximum(time, 0) * LIGHT / 2


@declared
def simulate_lane(
    buffer: int,
    packet: int,
    delay: int,
    ticks: int,
    update: int = 1,
    resync: int = 0,
    lost: Sequence[int] = (),
    drain: float = 1.0,
) -> LaneRun:
    """Run one lane for `ticks` block times; lengths and the buffer are in blocks of 64 bytes, `delay` in block times.

    The sender counts the blocks it sent (FCTBS), the receiver those that came (ABR), each modulo 4,096; every `update`
    ticks the receiver sends FCCL = ABR + free blocks, at most 2,048 ahead. A packet goes only if all its blocks fit.
    `lost` names packets (0, 1, ...) that the cable destroys: their blocks never come back as credit, until the sender's
    own flow-control packet, every `resync` ticks (0: never), overwrites ABR with FCTBS. The receiver empties `drain`
    blocks in a tick.

    >>> run = simulate_lane(buffer=100, packet=1, delay=99, ticks=2000)  # 100 credits, a round trip of 199 ticks
    >>> round(float(run.sent[-1] - run.sent[1000]) / 999, 2)
    0.5
    """
    _whole(buffer=buffer, packet=packet, ticks=ticks, update=update)
    if not 0 <= delay <= 10**6 or not 0 <= resync <= 10**6:
        raise ValueError(f"delay = {delay} and resync = {resync} must be between 0 and 1e6 block times")
    if packet > min(buffer, MOST_CREDITS):
        raise ValueError(f"packet = {packet} never fits; give at most the buffer and {MOST_CREDITS} blocks")
    if floats("drain", drain) > 1:
        raise ValueError(f"drain = {drain:g} is beyond the link's own rate; give at most 1 block in a tick")
    gone = {int(each) for each in floats("lost", lost).ravel()}
    fctbs = fccl = abr = 0  # the three counters, modulo 4,096
    wire: deque[tuple[int, int, int]] = deque()  # arrives at; blocks, or 0 and the sender's counter
    back: deque[tuple[int, int]] = deque()  # arrives at; FCCL
    ruined: deque[int] = deque()  # blocks lost before each flow-control packet on the wire
    held, room, free_at, due = 0.0, buffer, 0, resync
    number = total = came = missing = known = 0
    out = np.zeros((5, ticks), np.int64)
    for now in range(ticks):
        while wire and wire[0][0] <= now:
            _, blocks, counter = wire.popleft()
            if blocks:
                abr, came, room = (abr + blocks) % MODULUS, came + blocks, room - blocks
            else:
                abr, known = counter, ruined.popleft()  # all before it has come, or never will
        held = min(held + drain, buffer - room)
        freed = int(held)
        room, held = room + freed, held - freed
        while back and back[0][0] <= now:
            fccl = back.popleft()[1]
        if now % update == 0:
            back.append((now + delay, (abr + min(room, MOST_CREDITS)) % MODULUS))
        if now >= free_at:
            if resync and now >= due:
                wire.append((now + delay, 0, fctbs))
                ruined.append(missing)
                due = now + resync
            if (fccl - fctbs - packet) % MODULUS <= MOST_CREDITS:
                fctbs, total, free_at = (fctbs + packet) % MODULUS, total + packet, now + packet
                if number in gone:
                    missing += packet
                else:
                    wire.append((now + packet + delay, packet, 0))
                number += 1
        ahead = (fccl - fctbs) % MODULUS
        out[:, now] = ahead if ahead <= MOST_CREDITS else 0, total, came, room, missing - known
    return LaneRun(*out)


def _whole(**given: int) -> None:
    for name, value in given.items():
        if not 1 <= value <= 10**6:
            raise ValueError(f"{name} = {value} must be between 1 and 1e6 blocks or block times")
