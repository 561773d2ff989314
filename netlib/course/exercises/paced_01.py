from collections.abc import Callable
from math import isclose

import numpy as np

from netlib.congestion import paced_queue, paced_queue_limit
from netlib.course.exercises import Law, exercise

Queue = Callable[[list[float]], float]
NAMES = ("flows",)
DRAWS = 300


def mean_queue(phases: list[float]) -> float:
    """The solution: the work left, packet by packet, twice around."""
    n = len(phases)
    arrive = sorted(each * n for each in phases)
    work = area = 0.0
    for _ in range(2):  # the first time round begins empty and is thrown away
        area = 0.0
        for this, following in zip(arrive, [*arrive[1:], arrive[0] + n], strict=True):
            work += 1
            gap = following - this
            busy = min(gap, work)
            area += work * busy - busy**2 / 2
            work -= busy
    return area / n


def near(got: float, want: float) -> bool:
    return isclose(got, want, rel_tol=0.02)  # a simulation in small steps is welcome


def draw(n: float, seed: int) -> list[float]:
    return [float(each) for each in np.random.default_rng(seed).random(int(n))]


def together(f: Queue, n: float) -> bool:
    return near(f([0.0] * int(n)), n / 2)


def spaced(f: Queue, n: float) -> bool:
    return near(f([k / n for k in range(int(n))]), 0.5)


def turned(f: Queue, n: float) -> bool:
    phases = draw(n, 1)
    return all(near(f([(each + by) % 1 for each in phases[::-1]]), f(phases)) for by in (0.25, 0.5, 0.75))


def at_random(f: Queue, n: float) -> bool:
    """Monte Carlo: the mean of many draws lies within four standard errors of Ramanujan's Q(n) / 2."""
    found = np.array([f(draw(n, seed)) for seed in range(DRAWS)])
    return bool(abs(found.mean() - float(paced_queue(n))) <= 4 * found.std() / DRAWS**0.5 + 0.01)


def begins_empty(phases: list[float]) -> float:
    """Once around, from an empty queue at time 0."""
    n = len(phases)
    arrive = sorted(each * n for each in phases)
    work = area = now = 0.0
    for at in [*arrive, float(n)]:
        busy = min(at - now, work)
        area += work * busy - busy**2 / 2
        work, now = work - busy + 1, at
    return area / n


def whole_packets(phases: list[float]) -> float:
    """A packet counts as one until it has left."""
    return mean_queue(phases) + 0.5


def arrays(phases: list[float]) -> float:
    """Another right way: the work before each packet as a running maximum."""
    n = len(phases)
    at = np.sort(phases) * n
    twice = np.append(at, at + n)
    lead = np.arange(2 * n) - twice
    work = (lead - np.minimum.accumulate(lead) + 1)[n:]
    busy = np.minimum(np.diff(np.append(twice[n:], twice[0] + 2 * n)), work)
    return float((work * busy - busy**2 / 2).sum() / n)


LAWS = (
    Law(
        "if all packets come at the same moment the queue falls from n packets to none in one period",
        NAMES,
        ((1,), (4,), (9,)),
        together,
    ),
    Law(
        "if packets come evenly spaced nobody waits: the packet being sent is half gone on average",
        NAMES,
        ((2,), (5,), (16,)),
        spaced,
    ),
    Law(
        "it neither matters when one begins to look at a periodic queue nor in which order the flows are named",
        NAMES,
        ((3,), (8,), (20,)),
        turned,
    ),
    Law(
        "over many random phases the mean is what Ramanujan's function gives (by Monte Carlo, within its error)",
        NAMES,
        ((2,), (10,), (30,)),
        at_random,
    ),
)

EXERCISE = exercise(
    id="paced-01",
    chapter="congestion",
    skill="what perfect pacing leaves in a queue",
    stars=3,
    minutes=(12, 20),
    place=430,
    ask="n flows fill a link exactly, each paced: one packet in each period, and a period is as long as n packets take "
    "on the link. Nothing is ever sent too fast, and still a queue stands, because packets of different flows meet. "
    "Write `mean_queue(phases)`: `phases` is a list with the moment in the period, from 0 to below 1, at which each "
    "flow sends its packet; the same in every period. Return the mean over a period of what is left to send, in "
    "packets; the one that is being sent counts with what is left of it. Your function is held to three cases that one "
    "can know, and then to a Monte Carlo over random phases.",
    answer=lambda: mean_queue,
    laws=LAWS,
    hints=(
        "Follow one number, the packets left to send. It jumps by 1 at each arrival and falls by 1 in each packet "
        "time, but not below 0. What it is at the end of a period it is at the beginning of the next.",
        "Count time in packets (phase x n). Between two arrivals `gap` apart the work falls for busy = min(gap, work), "
        "and the area below it is work x busy - busy^2 / 2. Go around twice, and divide the second area by n.",
        "`arrive = sorted(phase * len(phases) for phase in phases)`",
    ),
    wrong={
        whole_packets: "falls from n packets to none",
        lambda phases: float(paced_queue_limit(len(phases))): "falls from n packets to none",
        lambda phases: len(phases) / 2: "evenly spaced",
        begins_empty: "when one begins to look",
        lambda phases: max(phases.count(each) for each in phases) / 2: "Ramanujan",
    },
    right=(arrays, lambda phases: np.float64(mean_queue([each % 1 for each in phases]))),
    explain=lambda: (
        "The work left jumps by 1 and falls at 1, twice around. Random phases leave "
        f"{float(paced_queue(100)):.1f} packets for a hundred flows and {float(paced_queue(5000)):.0f} for 5,000, near "
        f"sqrt(pi n / 8) = {float(paced_queue_limit(100)):.1f} and {float(paced_queue_limit(5000)):.0f}: rates may be "
        "perfect, the queue still grows with the root of the number of flows. A delay target that ignores this calls a "
        "healthy link congested, which is why Swift's target is longer for small windows."
    ),
)
