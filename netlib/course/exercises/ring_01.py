from netlib.collectives import ring_allreduce_time, ring_reduce_scatter_time
from netlib.course.exercises import exercise
from netlib.links import Link

ONE = Link(0, 1)  # at one byte a second, seconds are bytes


def sent(n: int) -> float:
    return float(ring_allreduce_time(1, n, ONE))


EXERCISE = exercise(
    id="ring-01",
    chapter="collectives",
    skill="bytes per rank",
    stars=1,
    minutes=(3, 5),
    place=11,
    ask="A ring all-reduce adds a buffer of S bytes over N ranks. How many bytes does each rank send, as a "
    "multiple of S, for N = 8 and for N = 1,024? Count what it sends, not what it receives; N divides "
    "the buffer evenly. Four digits, please: the second answer is close to a round number and is not "
    "that number.",
    answer=lambda: {"n8": sent(8), "n1024": sent(1024)},
    unit="S",
    rtol={"n8": 1e-3, "n1024": 3e-4},
    ranks={"n8": 8, "n1024": 1024},
    hints=(
        "The ring passes the buffer round twice: once to add, once to hand out the sums.",
        "In each pass a rank sends N-1 of N equal chunks.",
        "`n8 = 2 * (8 - 1) / 8`, and the same for 1,024.",
    ),
    wrong={
        "n8": {
            float(ring_reduce_scatter_time(1, 8, ONE)): "that is one pass; an all-reduce makes two",
            2 * sent(8): "what a rank receives is counted too; the question is what it sends",
            2: "that is the limit for ever more ranks",
            2 * (8 - 1): "that is the number of steps; each step moves one chunk, not the whole buffer",
            2 * 8 / (8 - 1): "the fraction is upside down",
        },
        "n1024": {
            2: "that is the limit for ever more ranks; give four digits",
            float(ring_reduce_scatter_time(1, 1024, ONE)): "that is one pass; an all-reduce makes two",
            2 * (1024 - 1): "that is the number of steps; each step moves one chunk, not the whole buffer",
            2 * 1024 / (1024 - 1): "the fraction is upside down",
        },
    },
    right=(
        {"n8": "1.75 S", "n1024": "1.998 S"},
        (1.75, 1.998),
        ["1.75x", "1.998 x S"],
        {"n1024": 2 - 2 / 1024, "n8": 7 / 4},
    ),
    explain=lambda: (
        "Each rank sends N-1 chunks of S/N bytes to reduce-scatter and as many to all-gather: 2(N-1)/N S, "
        f"so {sent(8):.4g} S on 8 ranks and {sent(1024):.4g} S on 1,024. As long as ranks do the adding, "
        "no algorithm lets its busiest rank send less (Patarasuk and Yuan 2009). From 8 to 1,024 ranks the bytes "
        f"grow by {sent(1024) / sent(8) - 1:.0%}, "
        f"the number of steps, 2(N-1), by a factor of {1023 / 7:.0f}. That is why a large ring dies of "
        "latency and not of bandwidth."
    ),
)
