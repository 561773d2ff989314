"""Ranks: a function of yours, run by several processes that can only talk through sockets.

    run = on_ranks(my_allreduce, buffers, link)     one process per buffer, all links shaped to `link`
    run.values, run.time, run.sent                  what each returned, how long it took, who sent whom how many bytes

Each rank is a process of its own: a fork, so that a function written in a notebook needs no file. Where a system cannot
fork (Windows) or does not bear it (macOS), each rank is a thread, and the same sockets carry the same bytes.
"""

import io
import multiprocessing
import pickle
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

import numpy as np

from netlib.arguments import Floats, declared, floats, quoted
from netlib.course.peers import Rank
from netlib.course.reasons import reason
from netlib.course.wires import SLACK, Array, Clock, Ends, Seat, Stuck, close, seat_of, sockets_for
from netlib.links import Link

Work = Callable[[Rank, Array], Any]
Wiring = Callable[[int, int], Link] | Link | None
LONGEST = 86_400.0  # s
Word = tuple[Any, ...]  # what a rank tells the conductor: ("ready",), ("done", ...) or ("failed", ...)


@dataclass(frozen=True)
class Run:
    """What happened: `values` per rank, seconds of each repetition, and matrices (source, destination) of one run.

    Seconds are those of the links' clock; `wall` holds those of the wall, which a busy machine makes longer.

    `trouble` is one sentence when a rank failed or nobody moved, else ""; `printed` is what the ranks printed.
    """

    values: list[Any]
    times: Floats
    wall: Floats
    sent: Array
    messages: Array
    trouble: str = ""
    printed: str = ""

    @property
    def time(self) -> float:
        """Seconds until the slowest rank was done: the least of the repetitions, since a busy machine can only add."""
        return float(np.min(self.times)) if self.times.size else float("nan")

    @property
    def answered(self) -> bool:
        """Whether the function is more than a stub: it failed, or returned something."""
        return bool(self.trouble) or any(value is not None and value is not Ellipsis for value in self.values)


def can_fork() -> bool:
    """Whether ranks are processes here."""
    return sys.platform.startswith("linux")


@declared
def on_ranks(
    work: Work,
    buffers: Sequence[Array] | Array,
    link: Wiring = None,
    *,
    repeat: int = 1,
    channels: int = 1,
    patience: float = 5.0,
    limit: float = 30.0,
    fork: bool | None = None,
) -> Run:
    """Run `work(rank, buffer)` on one rank per buffer, all started at the same moment, `repeat` times.

    `link` shapes every link, or is a function of (source, destination); None leaves the sockets as fast as they are.
    `channels` is how many things a rank does at once (`Rank.together`). Nobody waits longer than `patience` seconds for
    a peer, nor the caller longer than `limit` for one repetition. Never raises for what `work` does: see `Run.trouble`.
    """
    if not (isinstance(buffers, (list, tuple)) or (isinstance(buffers, np.ndarray) and buffers.ndim)):
        raise ValueError(f"buffers = {quoted(buffers)} must be a list of arrays, one for each rank")
    n = len(buffers)
    for name, seconds in (("patience", patience), ("limit", limit)):
        if not 0 < float(floats(name, seconds)) <= LONGEST:
            raise ValueError(f"{name} = {seconds:g} must be above 0 and at most {LONGEST:g} seconds")
    if not n or repeat < 1 or channels < 1:
        raise ValueError(f"{n} buffers, repeat = {repeat}, channels = {channels}: each must be at least 1")
    ends = sockets_for(n, channels)
    crew = _Crew(n, can_fork() if fork is None else fork)
    try:
        for rank in range(n):
            links = [_link(link, rank, to) for to in range(n)]
            crew.start(rank, ends, links, work, np.array(buffers[rank]), repeat, patience)
        if crew.fork:
            close(ends, but=-1)
        return crew.conduct(repeat, limit)
    finally:
        crew.end()
        close(ends, but=-1)


def _link(link: Wiring, source: int, to: int) -> Link | None:
    if source == to:
        return None
    found = link(source, to) if callable(link) else link
    if found is not None and not (isinstance(found, Link) and not found.shape):
        raise ValueError(f"link = {quoted(found)} must be one Link, a function that returns one, or None")
    return found


@dataclass
class _Crew:
    """The ranks of one run, as processes or threads, and a pipe to each."""

    n: int
    fork: bool
    hands: list[Any] = field(default_factory=list)
    pipes: list[Any] = field(default_factory=list)

    def start(
        self, rank: int, ends: Ends, links: list[Link | None], work: Work, buffer: Array, repeat: int, patience: float
    ) -> None:
        mine, theirs = multiprocessing.Pipe()
        seat = seat_of(rank, ends, links, patience)
        words = (seat, work, buffer, repeat, theirs, ends if self.fork else None)
        hand: Any
        if self.fork:
            hand = multiprocessing.get_context("fork").Process(target=_live, args=words, daemon=True)
        else:
            hand = threading.Thread(target=_live, args=words, daemon=True)
        with warnings.catch_warnings():  # Python 3.12 warns of a fork beside threads; a kernel has threads
            warnings.simplefilter("ignore", DeprecationWarning)
            hand.start()
        if self.fork:
            theirs.close()
        self.hands.append(hand)
        self.pipes.append(mine)

    def conduct(self, repeat: int, limit: float) -> Run:
        """Start all ranks at the same moment, as often as asked; stop at the first trouble."""
        times: list[float] = []
        wall: list[float] = []
        words: list[Word | None] = []
        for _ in range(repeat):
            words = self.hear(limit)
            if all(word and word[0] == "ready" for word in words):
                start = time.monotonic() + 0.005 + 0.002 * self.n
                for pipe in self.pipes:
                    pipe.send(start)
                words = self.hear(limit)
            if sentence := _trouble(words, limit):
                printed = "".join(word[-1] for word in words if word)
                none = np.zeros((self.n, self.n), np.int64)
                return Run([None] * self.n, np.zeros(0), np.zeros(0), none, none, sentence, printed)
            done = [word for word in words if word]
            times.append(max(word[1] for word in done))
            wall.append(max(word[2] for word in done))
        _, _, _, values, sent, messages, texts = zip(*done, strict=True)
        return Run(
            list(values), np.array(times), np.array(wall), np.array(sent), np.array(messages), "", "".join(texts)
        )

    def hear(self, limit: float) -> list[Word | None]:
        """The next word of each rank: ("gone",) from one that died, None from one that is still at it at the end."""
        words: dict[Any, Word] = {}
        end = time.monotonic() + limit
        while len(words) < self.n and (left := end - time.monotonic()) > 0:
            told: list[Any] = wait([pipe for pipe in self.pipes if pipe not in words], left)
            for pipe in told:
                try:
                    words[pipe] = pipe.recv()
                except (EOFError, OSError):
                    words[pipe] = ("gone", "")
        return [words.get(pipe) for pipe in self.pipes]

    def end(self) -> None:
        """Nobody is left: a process that does not end is ended; a thread cannot be, and runs out of peers."""
        for pipe in self.pipes:
            pipe.close()
        for hand in self.hands:
            hand.join(1.0)
            if self.fork and hand.is_alive():
                hand.kill()
                hand.join()


def _live(seat: Seat, work: Work, buffer: Array, repeat: int, pipe: Any, ends: Ends | None) -> None:
    """One rank: wait for the common start, work, tell; `repeat` times. In a process of its own all else is closed."""
    page = io.StringIO()
    late = SLACK if any(seat.links) else 0.0  # on bare sockets the wall clock counts
    if ends is not None:
        close(ends, but=seat.rank)
        sys.stdout = sys.stderr = page  # two ranks that print at once would print into each other's lines
    try:
        for left in reversed(range(repeat)):
            pipe.send(("ready", ""))
            clock = Clock(pipe.recv(), late)
            seat.begin()
            clock.reach(clock.at)
            start = clock.at
            me = Rank(seat, range(len(seat.links)), clock)
            value = work(me, buffer.copy())
            taken, wall = clock.ready() - start, time.monotonic() - start
            me.finish()
            word = ("done", taken, wall, None if left else value, seat.sent, seat.messages, _printed(page))
            try:
                pipe.send(word)
            except (AttributeError, TypeError, pickle.PicklingError):
                what = f"returned a {type(value).__name__}, which cannot be handed over; return an array of numbers"
                pipe.send(("failed", seat.rank, what, _printed(page)))
                break
    except (EOFError, BrokenPipeError):
        pass  # the conductor has left
    except Stuck as error:
        pipe.send(("stuck", str(error), _printed(page)))
    except BaseException as error:
        pipe.send(("failed", seat.rank, reason(error, work), _printed(page)))
    finally:
        for end in seat.sockets.values():
            end.close()
        pipe.close()


def _printed(page: io.StringIO) -> str:
    """What a rank has printed, if it has not closed its page."""
    return "" if page.closed else page.getvalue()


def _trouble(words: Sequence[Word | None], limit: float) -> str:
    """One sentence on what went wrong, "" if nothing did. An error explains why others wait, so it comes first."""
    for word in words:
        if word and word[0] == "failed":
            return f"rank {word[1]} {word[2]}"
    for rank, word in enumerate(words):
        if word is None:
            return f"rank {rank} still runs after {limit:g} s; is there a loop without an end?"
        if word[0] == "gone":
            return f"rank {rank} ended without a word"
    waiting = [str(word[1]) for word in words if word and word[0] == "stuck"]
    back = [f"rank {rank} has returned" for rank, word in enumerate(words) if word and word[0] == "done"]
    if not waiting:
        return ""
    shown = [*waiting[:3], *(["and so on"] if len(waiting) > 3 else []), *(back[:1] if len(back) < len(words) else [])]
    return f"the ranks stand still: {'; '.join(shown)}"
