"""Wires: the sockets between ranks, the ports that shape them, and the clock that they are read by.

Sockets are blocking. A link is shaped by making both ends sleep: a message of b bytes arrives alpha + b/bandwidth after
it was sent, and a rank owns one port per kind of link, on which its messages queue. Time is read from the links: a rank
is done when its last message was due. A rank that is late by less than `SLACK` counts as punctual, so a busy machine
does not change what is measured.
"""

import socket
import threading
import time
from bisect import insort
from collections.abc import Sequence
from dataclasses import dataclass, field
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netlib.links import Link

Array = NDArray[Any]
Ends = dict[tuple[int, int, int], tuple[socket.socket, socket.socket]]

SLACK = 0.5  # s
HEAD = Struct("!dQ8s")  # when the message arrives (monotonic clock), its bytes, the kind of its numbers
TAKEN = b"!"
ROOM = 2**18  # bytes of buffer asked of a socket; a quarter of what it grants is sure to fit


class Stuck(RuntimeError):
    """A rank that waits for a peer in vain; the text says for whom and for what."""


@dataclass
class Seat:
    """What one rank's process holds: its sockets, its ports' queues, and the count of what it sent."""

    rank: int
    links: Sequence[Link | None]
    sockets: dict[tuple[int, int, int], socket.socket]
    patience: float
    lock: threading.Lock = field(default_factory=threading.Lock)
    taken: dict[tuple[Any, Any], list[tuple[float, float]]] = field(default_factory=dict)
    untaken: dict[tuple[int, int], int] = field(default_factory=dict)
    sent: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    messages: Array = field(default_factory=lambda: np.zeros(0, np.int64))

    def begin(self) -> None:
        """Forget the run before."""
        self.taken = {}
        self.sent, self.messages = (np.zeros(len(self.links), np.int64) for _ in range(2))

    def book(self, to: int, size: int, ready: float) -> float:
        """Queue a message on the port that leads to `to`; returns when it arrives, 0 on an unshaped link."""
        link = self.links[to]
        with self.lock:
            self.sent[to] += size
            self.messages[to] += 1
            if link is None:
                return 0.0
            taken = self.taken.setdefault((link.alpha, link.bandwidth), [])
            start, length = ready, float(link.time(size))
            for begin, end in taken:  # the first gap that is wide enough
                if start + length <= begin:
                    break
                start = max(start, end)
            insort(taken, (start, start + length))
            return start + length


@dataclass
class Clock:
    """When a rank was done with all it did so far; `late` is how much later that may be in fact."""

    at: float
    late: float

    def ready(self) -> float:
        """When its next message starts."""
        self.at = max(self.at, time.monotonic() - self.late)
        return self.at

    def reach(self, due: float) -> None:
        """Sleep until `due`."""
        self.at = max(self.at, due)
        time.sleep(max(0.0, self.at - time.monotonic()))


def exactly(wire: socket.socket, size: int) -> bytearray:
    """The next `size` bytes."""
    found = bytearray(size)
    view = memoryview(found)
    while view:
        got = wire.recv_into(view)
        if not got:
            raise ConnectionError
        view = view[got:]
    return found


def sockets_for(n: int, channels: int) -> Ends:
    """A pair of connected sockets (sender's end, receiver's end) for each ordered pair of ranks and each channel."""
    made: Ends = {}
    try:
        for key in ((s, d, c) for s in range(n) for d in range(n) for c in range(channels) if s != d):
            made[key] = socket.socketpair()
            made[key][0].setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, ROOM)
            made[key][1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM)
    except OSError as error:
        close(made, -1)
        sentence = f"{n} ranks with {channels} channels need {2 * n * (n - 1) * channels} sockets"
        raise ValueError(f"{sentence}, more than this system opens ({error.strerror}); ask for fewer") from None
    return made


def seat_of(
    rank: int,
    made: Ends,
    links: Sequence[Link | None],
    patience: float,
) -> Seat:
    """The ends that belong to one rank: of what it sends the first, of what it receives the second."""
    own = {key: ends[key[1] == rank] for key, ends in made.items() if rank in key[:2]}
    for end in own.values():
        end.settimeout(patience)
    return Seat(rank, links, own, patience)


def close(made: Ends, but: int) -> None:
    """Close all ends but those of one rank, so that a rank that ends is heard of."""
    for (source, to, _), ends in made.items():
        for end, owner in zip(ends, (source, to), strict=True):
            if owner != but:
                end.close()
