"""Peers: what a function on one rank sees of the others. `netlib.course.ranks` starts the ranks.

A message is handed over: `send` returns when the receiver has taken it. So a circle in which everybody sends first
stands still, as it may in MPI, and is told after some seconds of patience.
"""

import socket
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from netlib.course.wires import HEAD, TAKEN, Array, Clock, Seat, Stuck, exactly

_WAYS = {"send": "to", "receive": "from", "talk": "to"}  # in the sentence that refuses a rank


@dataclass
class Turn:
    """Things done together start in their order: each waits with its first message for the first message before it."""

    own: threading.Event = field(default_factory=threading.Event)
    next: threading.Event = field(default_factory=threading.Event)

    def take(self, function: Callable[["Rank", Array], Any], me: "Rank", part: Array) -> Any:
        """Run one of them; when it ends, no other waits for it."""
        try:
            return function(me, part)
        finally:
            self.own.wait()
            self.next.set()


class Rank:
    """One rank, as your function sees it: it is `rank` of `n`, and sends one-dimensional arrays to the others."""

    def __init__(
        self, seat: Seat, members: Sequence[int], clock: Clock, channel: int = 0, turn: "Turn | None" = None
    ) -> None:
        self._seat, self._members, self._clock, self._channel = seat, tuple(members), clock, channel
        self._turn = turn
        self.rank = self._members.index(seat.rank)
        self.n = len(self._members)

    def send(self, to: int, array: Array) -> None:
        """Send `array` to rank `to`; returns when `to` has taken it."""
        peer, due, message = self._packed(to, array)
        self._push(peer, message)
        self._settle(peer)
        self._clock.reach(due)

    def receive(self, source: int) -> Array:
        """Wait for an array from rank `source`."""
        array, due = self._take(source)
        self._clock.reach(due)
        return array

    def exchange(self, to: int, array: Array, source: int) -> Array:
        """Send `array` to rank `to` and, at the same time, receive from rank `source` (MPI calls it Sendrecv)."""
        peer, due, message = self._packed(to, array)
        wire = self._wire(self._seat.rank, peer)
        if (
            len(message) <= wire.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 4
        ):  # the socket takes it at once, so there is nobody to wait for
            self._push(peer, message)
            found, arrived = self._take(source)
        else:
            with ThreadPoolExecutor(1) as out:
                pushed = out.submit(self._push, peer, message)
                found, arrived = self._take(source)
                pushed.result()
        self._clock.reach(max(due, arrived))
        return found

    def finish(self) -> None:
        """Wait until all that this rank ever sent was taken."""
        for peer, channel in list(self._seat.untaken):
            self._settle(peer, channel)

    def group(self, members: Sequence[int]) -> "Rank":
        """The same rank among `members` only, renumbered in their order; it must be one of them."""
        if not isinstance(members, (Sequence, range, np.ndarray)):
            raise ValueError(f"members = {members!r} must be a list of ranks, such as [0, 1]")
        chosen = [self._peer(member, "talk") if member != self.rank else self._seat.rank for member in members]
        if self._seat.rank not in chosen or len(set(chosen)) < len(chosen):
            raise ValueError(f"members = {[*members]} must name rank {self.rank} and nobody twice")
        return Rank(self._seat, chosen, self._clock, self._channel, self._turn)

    def together(self, function: Callable[["Rank", Array], Any], parts: Sequence[Array]) -> list[Any]:
        """`function(rank, part)` for all parts at the same time; they share this rank's ports. Results in order.

        `function` may also be a list, one for each part.
        """
        several = function if isinstance(function, (list, tuple)) else [function] * len(parts)
        if len(several) != len(parts):
            raise ValueError(
                f"{len(several)} functions for {len(parts)} parts; give one function, or one for each part"
            )
        start, turns = self._clock.at, [Turn()]
        selves, tasks = [], []
        turns[0].own.set()
        with ThreadPoolExecutor(max(1, len(parts))) as crew:
            for k, (f, part) in enumerate(zip(several, parts, strict=True)):
                turns.append(Turn())
                turns[k].next = turns[k + 1].own
                selves.append(
                    Rank(self._seat, self._members, Clock(start, self._clock.late), self._channel + k, turns[k])
                )
                tasks.append(crew.submit(turns[k].take, f, selves[k], part))
        self._clock.at = max([start, *(me._clock.at for me in selves)])
        return [task.result() for task in tasks]

    def _peer(self, rank: int, what: str) -> int:
        """The process behind one rank of this group."""
        try:
            number = int(rank) if rank == int(rank) else -1  # 1.5 is no rank
        except (TypeError, ValueError, OverflowError):
            number = -1
        if not 0 <= number < self.n:
            raise ValueError(f"there is no rank {rank!r} to {what} {_WAYS[what]}: ranks are 0 to {self.n - 1}")
        if number == self.rank:
            raise ValueError(f"a rank cannot {what} {_WAYS[what]} itself, and this is rank {self.rank} of {self.n}")
        return self._members[number]

    def _packed(self, to: int, array: Array) -> tuple[int, float, bytes]:
        peer, flat = self._peer(to, "send"), np.ascontiguousarray(array)
        if self._turn:
            self._turn.own.wait()
        if flat.ndim != 1 or flat.dtype.kind not in "iuf":
            raise ValueError(f"a message is a one-dimensional array of numbers, not {flat.ndim}-d {flat.dtype}")
        due = self._seat.book(peer, flat.nbytes, self._clock.ready())
        if self._turn:
            self._turn.next.set()
        return peer, due, HEAD.pack(due, flat.nbytes, flat.dtype.str.encode()) + flat.tobytes()

    def _push(self, peer: int, message: bytes) -> None:
        """Hand a message to the socket, once all those before it were taken."""
        self._settle(peer)
        try:
            self._wire(self._seat.rank, peer).sendall(message)
        except OSError:
            raise Stuck(f"rank {self._seat.rank} waits for rank {peer} to take its message") from None
        self._seat.untaken[peer, self._channel] = 1

    def _settle(self, peer: int, channel: int | None = None) -> None:
        """Wait until the last message to `peer` was taken."""
        channel = self._channel if channel is None else channel
        if not self._seat.untaken.pop((peer, channel), 0):
            return
        try:
            if self._seat.sockets[self._seat.rank, peer, channel].recv(1) == TAKEN:
                return
        except OSError:
            pass
        raise Stuck(f"rank {self._seat.rank} waits for rank {peer} to take its message")

    def _take(self, source: int) -> tuple[Array, float]:
        peer = self._peer(source, "receive")
        wire = self._wire(peer, self._seat.rank)
        try:
            due, size, kind = HEAD.unpack(exactly(wire, HEAD.size))
            array = np.frombuffer(exactly(wire, size), kind.rstrip(b"\0").decode())
            wire.sendall(TAKEN)
        except OSError:
            raise Stuck(f"rank {self._seat.rank} waits for a message from rank {peer}") from None
        return array, due

    def _wire(self, source: int, to: int) -> socket.socket:
        try:
            return self._seat.sockets[source, to, self._channel]
        except KeyError:
            sentence = f"{self._channel + 1} things at once need as many channels: on_ranks(..., channels=...)"
            raise ValueError(sentence) from None
