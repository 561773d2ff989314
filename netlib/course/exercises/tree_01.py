from netlib.arguments import Floats
from netlib.collectives import (
    binomial_reduce_time,
    crossover_size,
    double_tree_allreduce_time,
    ring_allreduce_time,
    tree_allreduce_time,
)
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.units import MB, show

N, LINK = 64, Link(5e-6, 50e9)


def tree(size: Floats) -> Floats:
    return tree_allreduce_time(size, N, LINK)


def ring(size: Floats) -> Floats:
    return ring_allreduce_time(size, N, LINK)


def crossing() -> float:
    return float(crossover_size(tree, ring))


def pipelined_crossing() -> float:
    return float(crossover_size(lambda size: double_tree_allreduce_time(size, N, LINK), ring))


EXERCISE = exercise(
    id="tree-01",
    chapter="collectives",
    skill="ring or tree",
    stars=3,
    minutes=(8, 15),
    place=13,
    ask="64 ranks, alpha = 5 us per step, 50 GB/s one way, adding is free. A binomial tree reduces the "
    "whole buffer up 6 levels and broadcasts it down 6 levels, unpipelined. A ring makes 2(N-1) steps "
    "with chunks of S/N. From which buffer size on is the ring faster? In MB.",
    answer=crossing,
    unit="MB",
    rtol=0.01,
    hints=(
        "Write both times as a + b S; where are the lines equal?",
        "tree: 12 (alpha + S/B); ring: 126 alpha + 2 (63/64) S/B.",
        "`S = (126 - 12) * 5e-6 * 50e9 / ...`",
    ),
    wrong={
        float(crossover_size(lambda size: binomial_reduce_time(size, N, LINK), ring))
        / MB: "that tree only goes up; an all-reduce must come down again",
        (126 - 12) * 5e-6 * 50e9 / 12 / MB: "the ring has to move its bytes too: subtract its 2(N-1)/N",
        126 * 5e-6 * 50e9 / (12 - 126 / 64) / MB: "the tree has latency too: subtract its 12 steps",
    },
    right=("2.84 MB", "2841 kB", "2.71 MiB", 2.841),
    explain=lambda: (
        f"(126 - 12) alpha B / (12 - 2 x 63/64) = {show(crossing(), 'MB')}. Below it the tree's few steps "
        "win, above it the ring's few bytes. Pipelining changes the picture: a double tree whose pieces "
        "follow one another sends 2 S, hardly more than the ring, in fewer steps, so its "
        f"crossing lies higher, at {show(pipelined_crossing(), 'MB')} here."
    ),
)
