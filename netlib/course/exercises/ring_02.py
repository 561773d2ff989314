from math import isclose

import numpy as np

from netlib.collectives import ring_allreduce_time
from netlib.course.exercises import Law, exercise
from netlib.links import Link

NAMES = ("size", "n", "alpha", "bandwidth")


def ring_time(size: float, n: float, alpha: float, bandwidth: float) -> float:
    """The solution."""
    return 2 * (n - 1) * (alpha + size / n / bandwidth)


def executed(n: float) -> tuple[int, float, bool]:
    """Run a ring all-reduce on n ranks of n numbers: steps, share of the buffer that a rank sent, did it add up?"""
    ranks = range(int(n))
    buffers = [[rank + 10 * chunk for chunk in ranks] for rank in ranks]
    total = [sum(buffer[chunk] for buffer in buffers) for chunk in ranks]
    steps = sent = 0
    for adding in (True, False):
        for step in ranks[1:]:
            # a rank passes on what it has just completed: its own chunk first, one further back at each step
            chunks = [(rank - step + 1 if adding else rank - step + 2) % len(ranks) for rank in ranks]
            messages = [buffers[rank][chunks[rank]] for rank in ranks]
            for rank in ranks:
                after = buffers[(rank + 1) % len(ranks)]
                after[chunks[rank]] = messages[rank] + (after[chunks[rank]] if adding else 0)
            steps, sent = steps + 1, sent + 1
    return steps, sent / len(ranks), all(buffer == total for buffer in buffers)


def near(got: float, want: float) -> bool:
    return isclose(got, want, rel_tol=1e-6, abs_tol=1e-12)


LAWS = (
    Law(
        "one rank alone has nobody to talk to and needs no time",
        NAMES,
        ((100, 1, 1, 10),),
        lambda f, size, n, alpha, bandwidth: near(f(size, n, alpha, bandwidth), 0),
    ),
    Law(
        "without latency the time is the bytes that an executed ring makes each rank send, over the bandwidth",
        NAMES,
        ((100, 2, 0, 10), (300, 3, 0, 10), (800, 8, 0, 10)),
        lambda f, size, n, alpha, bandwidth: near(f(size, n, alpha, bandwidth), executed(n)[1] * size / bandwidth),
    ),
    Law(
        "an empty buffer still pays alpha once for every step that an executed ring takes",
        NAMES,
        ((0, 2, 1, 10), (0, 3, 1, 10), (0, 8, 0.5, 10)),
        lambda f, size, n, alpha, bandwidth: near(f(size, n, alpha, bandwidth), executed(n)[0] * alpha),
    ),
    Law(
        "latency and transfer simply add up",
        NAMES,
        ((100, 2, 1, 10), (1000, 5, 2, 4)),
        lambda f, size, n, alpha, bandwidth: near(
            f(size, n, alpha, bandwidth), f(0, n, alpha, bandwidth) + f(size, n, 0, bandwidth)
        ),
    ),
)

EXERCISE = exercise(
    id="ring-02",
    chapter="collectives",
    skill="the ring's formula",
    stars=2,
    minutes=(8, 15),
    place=12,
    ask="Write `ring_time(size, n, alpha, bandwidth)`: the seconds that a ring all-reduce of `size` bytes "
    "takes on `n` equal ranks, where each message of b bytes costs alpha + b / bandwidth (bytes/s, one "
    "way). All ranks send at the same time, adding costs nothing, n divides the buffer. Your function "
    "is held to four properties on small cases, two of them found by executing a ring, not by a formula.",
    answer=lambda: ring_time,
    laws=LAWS,
    hints=(
        "Count two things: how many steps there are, and how many bytes one step moves.",
        "Two passes of n-1 steps; each step moves one chunk of size/n bytes.",
        "`return 2 * (n - 1) * (alpha + ...)`",
    ),
    wrong={
        lambda size, n, alpha, bandwidth: (n - 1) * (alpha + size / n / bandwidth): "bytes that an executed ring",
        lambda size, n, alpha, bandwidth: 2 * n * (alpha + size / n / bandwidth): "one rank alone",
        lambda size, n, alpha, bandwidth: 2 * (n - 1) * (alpha + size / bandwidth): "bytes that an executed ring",
        lambda size, n, alpha, bandwidth: alpha + 2 * (n - 1) / n * size / bandwidth if n > 1 else 0: "an empty buffer",
        lambda size, n, alpha, bandwidth: 2 * (n - 1) * (alpha + 8 * size / n / bandwidth): "bytes that an executed",
        lambda size, n, alpha, bandwidth: 2 * (n - 1) * max(alpha, size / n / bandwidth): "simply add up",
    },
    right=(
        lambda s, n, a, b: 2 * (n - 1) * a + 2 * (n - 1) / n * s / b,
        lambda size, n, alpha, bandwidth: ring_allreduce_time(size, n, Link(alpha, bandwidth)),
        lambda size, n, alpha, bandwidth: np.float32(2 * (n - 1) * (alpha + np.float64(size) / n / bandwidth)),
    ),
    explain=lambda: (
        "Two passes of n-1 steps, each moving one chunk of size/n bytes: "
        "`2 * (n - 1) * (alpha + size / n / bandwidth)`. "
        "The bytes 2(n-1)/n size hardly depend on n; the latency 2(n-1) alpha is proportional to it."
    ),
)
