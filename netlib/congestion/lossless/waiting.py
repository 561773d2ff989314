"""Waiting: which link stands still because of which, at one moment of a run.

A gate is a link and a lane. It is shut when its far end may not send: it was told to pause, or has no credits left.
The bytes that came in by a shut gate wait for the gates that they leave by; where such a gate is open they wait for
bandwidth, and that one is the cause. Where all are shut, and wait for each other in a cycle, nothing moves ever again.
Read with the chapter "Congestion control", section "Lossless by pause".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats, declared, floats, quoted
from netlib.congestion.lossless.dependencies import cycle_of
from netlib.congestion.packets.engine import Engine

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Waits:
    """Who waits for whom. Gates are link x lanes + lane.

    shut    (G,) whether nothing may be sent into a gate
    asked   (G,) whether its far end still wants that; where not, the news that it may go on is under way
    came    (W,) gate by which bytes came ...
    leaves  (W,) ... and the gate by which they will leave
    held    (W,) how many bytes, above 0
    lanes   lanes of a link
    """

    shut: Mask
    asked: Mask
    came: Ints
    leaves: Ints
    held: Floats
    lanes: int = 1
    _made = "waits_of(engine)"


@dataclass(frozen=True, eq=False)
class Cause:
    """An open gate that shut gates wait for, directly or behind each other.

    gate     what they all wait for
    shut     (N,) gates that stand still because of it, the nearest first
    depth    (N,) how many gates away
    towards  (N,) the gate that each waits for on the way
    held     (N,) bytes that wait in each for that gate
    """

    gate: int
    shut: Ints
    depth: Ints
    towards: Ints
    held: Floats


@declared
def waits_of(engine: Engine) -> Waits:
    """Who waits for whom in a running engine with pauses.

    >>> from netlib.congestion.lossless.greedy import Greedy
    >>> from netlib.congestion.packets.engine import Switches
    >>> from netlib.congestion.packets.gates import Pfc
    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> pfc = Pfc(buffer=1e9, alpha=0, xoff=1e5, hysteresis=2e3, response=0)
    >>> engine = Engine(two, Greedy(two), Switches(pfc=pfc), np.random.default_rng(0), 0.2e-6)
    >>> for _ in range(35): engine.advance()
    >>> seen = waits_of(engine)
    >>> seen.shut.tolist(), seen.came.tolist(), seen.leaves.tolist()
    ([True, True, False], [0, 1], [2, 2])
    """
    if not isinstance(engine, Engine):
        raise ValueError(f"engine = {quoted(engine)} is not an Engine; make one as netlib.congestion.packets.run does")
    if engine.pauses is None:
        raise ValueError("engine has no pauses, so no link waits for another; run it with Switches(pfc=Pfc(...))")
    at = engine.at
    held = np.maximum(engine.queues.came - engine.queues.left, 0)
    return waits_from(engine.pauses.paused, at.gate, at.door[at.queue], held, at.lanes, engine.pauses.wants)


def waits_from(shut: Mask, came: Ints, leaves: Ints, held: Floats, lanes: int = 1, asked: Mask | None = None) -> Waits:
    """Waits from bytes `held` that came by one gate and leave by another; equal pairs are summed.

    Without `asked` every gate that is shut is meant to be.

    >>> waits_from(np.array([True, False]), np.array([0, 0]), np.array([1, 1]), np.array([2.0, 3.0])).held.tolist()
    [5.0]
    """
    some = held > 0.5  # half a byte: what rounding leaves of an empty queue
    pair, which = np.unique(came[some].astype(np.int64) * len(shut) + leaves[some], return_inverse=True)
    first, second = np.divmod(pair, len(shut))
    total = np.bincount(which, held[some], len(pair)).astype(float)
    return Waits(shut.copy(), (shut if asked is None else asked).copy(), first, second, total, lanes)


@declared
def waiting_cycle(waits: Waits) -> Ints:
    """A shortest cycle of shut gates that wait for each other, in order; empty if there is none.

    A cycle is needed for a deadlock and does not prove one: bytes of a gate may wait elsewhere too. See `stuck`.

    >>> ring = waits_from(np.ones(2, bool), np.array([0, 1]), np.array([1, 0]), np.array([1e5, 1e5]))
    >>> waiting_cycle(ring).tolist()
    [0, 1]
    """
    both = waits.shut[waits.came] & waits.shut[waits.leaves]
    return cycle_of(len(waits.shut), waits.came[both], waits.leaves[both])


@declared
def stuck(waits: Waits, resume: float) -> Mask:
    """(G,) gates that will never open again, when a gate opens once it holds `resume` bytes or fewer.

    The largest set S of gates that are shut, are meant to be, and hold each more than `resume` bytes that wait for
    gates in S. Nothing in S can move first: its bytes wait for gates in S, which are shut, and so it stays above
    `resume`. `resume` is XOFF less hysteresis for pauses, and the buffer less a packet for credits; it must not move.

    >>> ring = waits_from(np.ones(2, bool), np.array([0, 1]), np.array([1, 0]), np.array([1e5, 1e5]))
    >>> stuck(ring, resume=9e4).tolist(), stuck(ring, resume=1e5).tolist()
    ([True, True], [False, False])
    """
    floats("resume", resume)
    never = waits.shut & waits.asked
    while True:
        waiting = never[waits.came] & never[waits.leaves]
        held = np.bincount(waits.came[waiting], waits.held[waiting], len(never))
        still = never & (held > resume)
        if (still == never).all():
            return still
        never = still


@declared
def causes(waits: Waits) -> list[Cause]:
    """Who started it: each open gate that shut gates wait for, with all that stand still behind it; the worst first.

    A gate may wait for several causes and is listed under each. Gates that are stuck in a cycle wait for no cause.

    >>> line = waits_from(np.array([True, True, False]), np.array([0, 1]), np.array([1, 2]), np.array([2e5, 1e5]))
    >>> [(one.gate, one.shut.tolist(), one.depth.tolist()) for one in causes(line)]
    [(2, [1, 0], [1, 2])]
    """
    behind: dict[int, list[int]] = {}
    for row, gate in enumerate(waits.leaves.tolist()):
        if waits.shut[waits.came[row]]:
            behind.setdefault(gate, []).append(row)
    found = []
    for root in sorted(gate for gate in behind if not waits.shut[gate]):
        depth, rows, level = {root: 0}, [], [root]
        while level:  # breadth first: the nearest gates first
            following = []
            for gate in level:
                for row in behind.get(gate, ()):
                    came = int(waits.came[row])
                    if came not in depth:
                        depth[came] = depth[gate] + 1
                        rows.append(row)
                        following.append(came)
            level = following
        at = np.array(rows, np.int64)
        far = np.array([depth[int(gate)] for gate in waits.came[at]], np.int64)
        found.append(Cause(root, waits.came[at], far, waits.leaves[at], waits.held[at]))
    return sorted(found, key=lambda one: (-len(one.shut), one.gate))
