from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netlib.collectives import Schedule, counts, execute, phase, schedule_of
from netlib.course.exercises import Law, exercise

Target = Callable[[int, int, int], float]
CASES = ((2,), (4,), (8,), (16,))


def target(rank: int, step: int, n: int) -> int:
    """The solution: partners 1, 2, 4 ... away exchange what they have."""
    far = 1 << step
    return rank ^ far if far < n else -1


def written(f: Target, n: int) -> Schedule:
    """The schedule that a function of (rank, step, n) stands for: steps until one in which nobody sends."""
    phases = []
    for step in range(n * n):  # enough for any that ends
        to = np.array([int(f(rank, step, n)) for rank in range(n)])
        sends = np.flatnonzero(to >= 0)
        if not sends.size:
            break
        phases.append(phase(0, sends, to[sends], 0, True))
    return schedule_of("yours", "all_reduce", n, phases)


def sends_well(f: Target, n: float) -> bool:
    """Whether every destination is another rank, or -1, a whole number each."""
    for step in range(int(n) ** 2):
        to = [f(rank, step, int(n)) for rank in range(int(n))]
        if not all(each == int(each) and -1 <= each < n and each != rank for rank, each in enumerate(to)):
            return False
        if max(to) < 0:
            return True
    return False


def parts(f: Target, n: float) -> NDArray[np.float64]:
    """How often each rank's sum (row) holds each rank's part (column), from an executed schedule."""
    counted: NDArray[np.float64] = execute(written(f, int(n)), np.eye(int(n))[:, None])[:, 0]
    return counted


def holds_none_twice(f: Target, n: float) -> bool:
    return bool((parts(f, n) <= 1).all())


def holds_all(f: Target, n: float) -> bool:
    return bool((parts(f, n) >= 1).all())


def is_quick(f: Target, n: float) -> bool:
    return counts(written(f, int(n)), 1.0).steps <= int(n).bit_length() - 1


def one_pair_at_a_time(rank: int, step: int, n: int) -> int:
    """Right, and slow: the same exchanges, one after the other."""
    far = [1 << j for j in range(n.bit_length() - 1)]
    pairs = [(low, low ^ apart) for apart in far for low in range(n) if not low & apart]
    if step >= len(pairs) or rank not in pairs[step]:
        return -1
    return sum(pairs[step]) - rank


LAWS = (
    Law(
        "every rank sends to another rank or, with -1, to nobody, and the steps come to an end",
        ("n",),
        CASES,
        sends_well,
    ),
    Law("executed on real numbers, nobody's sum holds a rank's part twice", ("n",), CASES, holds_none_twice),
    Law("executed on real numbers, no rank's part is missing in anybody's sum", ("n",), CASES, holds_all),
    Law("counted on the executed schedule, there are no more than log2 n steps", ("n",), CASES, is_quick),
)

EXERCISE = exercise(
    id="schedule-02",
    chapter="collectives",
    skill="writing a schedule",
    stars=3,
    minutes=(12, 20),
    place=18,
    ask="Write a schedule that adds in fewer steps than a ring. `target(rank, step, n)` returns the rank to which "
    "`rank` sends its whole buffer in `step` (0, 1, 2 ...), or -1 if it sends nothing; the receiver adds what comes to "
    "what it has. All messages of a step carry what was there before the step. The schedule ends with the first step "
    "in which nobody sends. n is a power of two, and all n ranks must end with the sum. Your schedule is executed and "
    "counted for 2, 4, 8 and 16 ranks: a sum with a part missing or twice is wrong, and so are more than log2 n steps.",
    answer=lambda: target,
    laws=LAWS,
    hints=(
        "After one step a rank can know of two ranks, after two of four. Who must talk to whom, so that nothing is "
        "added twice?",
        "In step s, ranks whose numbers differ in bit s alone exchange: both sums hold other ranks.",
        "`far = 2 ** step`, and then `return rank ^ far if ...`",
    ),
    wrong={
        lambda rank, step, n: (rank + 1) % n if step < n - 1 else -1: "part twice",
        lambda rank, step, n: rank ^ 1 if step < n.bit_length() - 1 else -1: "part twice",
        lambda rank, step, n: rank - 2**step if 2**step < n and rank >= 2**step else -1: "is missing",
        lambda rank, step, n: -1: "is missing",
        lambda rank, step, n: rank ^ (1 << step) if step < n.bit_length() else -1: "to another rank",
        lambda rank, step, n: (rank + 1) % n: "come to an end",
        one_pair_at_a_time: "no more than log2 n steps",
    },
    right=(
        lambda rank, step, n: rank ^ (n >> (step + 1)) if n >> (step + 1) else -1,
        lambda rank, step, n: (rank + 2**step) % n if 2**step < n else -1,
    ),
    explain=lambda: (
        "`rank ^ (1 << step)` while 2^step is below n, then -1: recursive doubling, log2 n steps instead of the ring's "
        f"2(n-1), {counts(written(target, 16), 1.0).steps} instead of 30 for 16 ranks. After step s a rank holds the "
        "sum of 2^(s+1) ranks, and its partner that of as many others, so nothing is added twice. The price: whole "
        f"buffers, {counts(written(target, 16), 1.0).sent[0]:g} of them from each of 16 ranks where the ring sends "
        "less than two. Sending 2^s ranks further on, without turning back, works as well."
    ),
)
