"""Checks of the all-reduces that a learner writes in a lab: is the sum right, and who sent how much to whom?

Each runs the function on real ranks (`netlib.course.ranks`), on 1 to 9 of them, and answers with a `Report`: what
holds, and if something does not, for how many ranks and what it looks like. Sums are of whole numbers, so they are
exact. To tell why a sum is wrong, rank r gives 64^r: the digits of the result say whose part is missing or in it twice.
"""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from netlib.collectives import ring_allreduce_time
from netlib.course import journal
from netlib.course.answers import said
from netlib.course.judge import OPEN, RIGHT, WRONG, Reply
from netlib.course.ranks import Run, Work, on_ranks
from netlib.course.reasons import ended, reason
from netlib.course.wires import Array
from netlib.links import Fit, Link

NUMBERS = 5040  # divides by twice any number of ranks up to 10, so that all pieces are equal and bytes exact
BASE = 64
NEAR = 0.01  # how near a fitted constant must come
SUMS, BYTES, STEPS = 0.6, 0.25, 0.15  # how a check's points are shared out


@dataclass(frozen=True)
class Report(Reply):
    """A reply with the `share` (0 to 1) of the points that it earns."""

    share: float = 0.0

    __repr__ = Reply.__repr__

    def points(self, worth: float) -> float:
        """The points earned of `worth`; a graded cell ends in them.

        >>> Report("lab-ring", "wrong", "Not yet.", share=0.6).points(20)
        12.0
        """
        return round(float(worth) * self.share, 2)


@dataclass(frozen=True)
class Limit:
    """What one rank may send at most among `n`: `buffers` times its buffer in so many `messages`, and `why`."""

    buffers: Callable[[int], float]
    messages: Callable[[int], int]
    why: str
    advice: Callable[[int], str] = lambda n: ""


def _rounds(n: int) -> int:
    """log2 n, rounded down."""
    return n.bit_length() - 1


def _odd(n: int) -> int:
    """1 where n is no power of two: one more message folds the rest in, and one tells them."""
    return int(n & (n - 1) > 0)


RING = Limit(lambda n: 2 * (n - 1) / n, lambda n: 2 * (n - 1), "a ring sends one of n pieces in each of 2(n-1) steps")
DOUBLING = Limit(
    lambda n: _rounds(n) + _odd(n),
    lambda n: _rounds(n) + _odd(n),
    "recursive doubling sends whole buffers, but only log2 n of them",
    lambda n: "; 2^k ranks can double, the others must fold in first and be told last" if _odd(n) else "",
)
PAIRS = Limit(
    lambda n: (n - 2) / n,
    lambda n: n - 2,
    "only half of the buffer goes round the nodes, in a ring over every other rank",
)


def check_ring(function: Work, ranks: Iterable[int] = range(1, 10), seed: int = 1) -> Report:
    """Whether `function(me, buffer)` is a ring all-reduce."""
    return _report("lab-ring", function, ranks, seed, RING, lambda run: run)


def check_doubling(function: Work, ranks: Iterable[int] = range(1, 10), seed: int = 1) -> Report:
    """Whether `function(me, buffer)` is a recursive-doubling all-reduce, for any number of ranks."""
    return _report("lab-doubling", function, ranks, seed, DOUBLING, lambda run: run)


def check_pairs(function: Work, ranks: Iterable[int] = (2, 4, 6, 8), seed: int = 1) -> Report:
    """Whether `function(me, buffer)` is a hierarchical all-reduce on nodes of two ranks: 0 and 1, 2 and 3, ...

    What counts is what leaves a node.
    """
    return _report("lab-pairs", function, ranks, seed, PAIRS, _outside)


def _outside(run: Run) -> Run:
    """The run without what stays in a node."""
    node = np.arange(len(run.values)) // 2
    leaves = node[:, None] != node[None, :]
    return Run(run.values, run.times, run.wall, run.sent * leaves, run.messages * leaves)


def _report(
    id: str, function: object, ranks: Iterable[int], seed: int, limit: Limit, counted: Callable[[Run], Run]
) -> Report:
    if function is None or function is Ellipsis:
        return Report(id, OPEN, "Not answered yet.")
    if not callable(function):
        return Report(id, WRONG, "Not yet: a function is asked for; give its name without calling it.")
    status, message, share = _judge(function, ranks, seed, limit, counted)
    note = "" if status == OPEN else journal.keep(id, "answer", said(function), status)
    return Report(id, status, f"{message} {note}".rstrip(), share=share)


def _judge(
    function: Work, ranks: Iterable[int], seed: int, limit: Limit, counted: Callable[[Run], Run]
) -> tuple[str, str, float]:
    """Status, sentence and share. Sums are looked at for all numbers of ranks before anything is counted."""
    runs = []
    for n in ranks:
        buffers = np.random.default_rng([seed, n]).integers(-999, 1000, (n, NUMBERS))
        run = on_ranks(function, buffers)
        if not run.answered:
            return OPEN, "Not answered yet: the function returns nothing; it must return the sum.", 0.0
        if problem := run.trouble or wrong_sum(function, run.values, buffers.sum(axis=0)):
            return WRONG, ended(f"Not yet, with {_count(n)}: {problem}{_advice(run)}{limit.advice(n)}"), 0.0
        runs.append(counted(run))
    sentences, share = [], SUMS
    for part, problem in ((BYTES, _most_bytes(runs, limit)), (STEPS, _most_messages(runs, limit))):
        share += 0.0 if problem else part
        sentences += [problem] if problem else []
    if sentences:
        return WRONG, f"The sums are right, but {sentences[0]}: {limit.why}.", share
    return RIGHT, "Right: the sums, the bytes and the number of messages.", 1.0


def wrong_sum(function: Work, values: Sequence[Any], total: Array) -> str:
    """What is wrong with the results of an all-reduce, whose part is missing or in it twice; "" if all are the sum."""
    problem = _unlike(values, total)
    return (_whose(function, len(values)) or problem) if problem.endswith("sum") else problem


def check_fit(function: object, sizes: Array, n: int, link: Link) -> Report:
    """Whether `function(sizes, times, n)` gives back alpha and bandwidth of `link` from a ring's own closed form.

    `steps` and `volume` are what a learner forgets: then alpha is that of all steps, or B that of whole buffers.
    """
    if function is None or function is Ellipsis:
        return Report("lab-fit", OPEN, "Not answered yet.")
    if not callable(function):
        return Report("lab-fit", WRONG, "Not yet: a function is asked for; give its name without calling it.")
    try:
        fit = function(sizes, ring_allreduce_time(sizes, n, link), n)
    except (Exception, SystemExit) as error:
        return Report("lab-fit", WRONG, ended(f"Not yet: your function {reason(error, function)}"))
    if fit is None or fit is Ellipsis:
        return Report("lab-fit", OPEN, "Not answered yet: the function returns nothing; it must return the Fit.")
    if not isinstance(fit, Fit):
        kind = type(fit).__name__
        return Report(
            "lab-fit", WRONG, f"Not yet: your function returned a {kind}; return what fit_alpha_beta returns."
        )
    alpha, rate = float(fit.alpha / link.alpha), float(fit.bandwidth / link.bandwidth)
    steps, share = 2 * (n - 1), 2 * (n - 1) / n
    told = [
        f"alpha is that of all {steps} steps; tell the fit the steps" if abs(alpha / steps - 1) < NEAR else "",
        f"B is {rate:.3g} times the link's: {share:g} buffers cross it; tell the fit the volume"
        if abs(rate * share - 1) < NEAR
        else "",
    ]
    told = [each for each in told if each]
    if not told and (abs(alpha - 1) > NEAR or abs(rate - 1) > NEAR):
        told = [f"alpha is {alpha:.3g} times and B {rate:.3g} times the link's"]
    if told:
        return Report("lab-fit", WRONG, ended(f"Not yet: {', and '.join(told)}"))
    words = "Right: the constants come back from times that the formula made."
    return Report("lab-fit", RIGHT, words, share=1.0)


def _count(n: int) -> str:
    return f"{n} rank" + "s" * (n > 1)


def _advice(run: Run) -> str:
    if "to take its message" in run.trouble and "raised" not in run.trouble:
        return ". Whoever sends waits until the other receives: let both happen at once (exchange), or take turns"
    return ""


def _unlike(values: Sequence[Any], total: Array) -> str:
    """What is wrong with the results, "" if all are the sum."""
    for rank, value in enumerate(values):
        shape = np.shape(value) if isinstance(value, (np.ndarray, list, tuple)) else None
        if shape != total.shape:
            what = type(value).__name__ if shape is None else f"an array of shape {shape}"
            return f"rank {rank} returned {what} instead of {len(total)} numbers"
        if not np.array_equal(np.asarray(value), total):
            return f"rank {rank} does not end with the sum"
    return ""


def _whose(function: Work, n: int) -> str:
    """Run again with 64^r from rank r: whose part is missing or in the result twice, "" if that does not tell."""
    run = on_ranks(function, np.array([[BASE**rank] * NUMBERS for rank in range(n)]))
    if run.trouble or _unlike(run.values, np.zeros(NUMBERS)).endswith("numbers"):
        return ""
    times = np.array([[np.asarray(value) // BASE**rank % BASE for rank in range(n)] for value in run.values])
    finished = (times == 1).all(axis=1).sum(axis=1)  # numbers of each rank that are the sum
    if (times < 1).any() and (finished == NUMBERS // n).all() and run.messages.sum(axis=1).max() < n:
        return f"each rank ends with 1 of {n} pieces of the sum; the second half, handing the pieces round, is missing"
    never = (times < 1).all(axis=2, keepdims=True)  # not in one number of the result
    for wrong, words in ((never, "lacks"), (times > 1, "holds more than once"), (times < 1, "lacks in part")):
        if wrong.any():
            rank, giver, _ = np.argwhere(wrong)[0]
            return f"the result of rank {rank} {words} what rank {giver} gave"
    return "all parts are added, but pieces end in the wrong place"


def _most_bytes(runs: Sequence[Run], limit: Limit) -> str:
    for run in runs:
        n, most = len(run.values), int(run.sent.sum(axis=1).max())
        if most > limit.buffers(n) * NUMBERS * 8 + 0.5:
            return f"with {_count(n)} one sends {most / (NUMBERS * 8):.4g} times its buffer instead of " + (
                f"{limit.buffers(n):.4g}"
            )
    return ""


def _most_messages(runs: Sequence[Run], limit: Limit) -> str:
    for run in runs:
        n, most = len(run.values), int(run.messages.sum(axis=1).max())
        if most > limit.messages(n):
            return f"with {_count(n)} one sends {most} messages instead of {limit.messages(n)}"
    return ""


def held_back(question: str, cases: int = 4) -> list[tuple[int, int]]:
    """Numbers of ranks (2 to 9) and of buffer elements for the held-back tests, chosen by a hash.

    The key of a term comes from the environment (`NETLIB_LAB_KEY`) and is never committed; the student's name, where a
    grader gives one (`NETLIB_LAB_STUDENT`), makes the cases that student's own. Hash bytes, not a random generator:
    next year's numpy must choose the same.

    >>> len(held_back("ring"))
    4
    """
    words = [os.environ.get("NETLIB_LAB_KEY", "open"), "01_allreduce", question]
    words.append(os.environ.get("NETLIB_LAB_STUDENT", "").strip().lower())
    bytes_ = hashlib.sha256("|".join(words).encode()).digest()
    return [(2 + bytes_[2 * k] % 8, 50 + bytes_[2 * k + 1]) for k in range(cases)]
