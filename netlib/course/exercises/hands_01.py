from netlib.collectives import crossover_size, recursive_doubling_allreduce_time, ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.units import show

ALPHA = 4e-3
LINK = Link(alpha=ALPHA, bandwidth=5e6)  # the lab's links, slow enough for eight processes on a laptop


def crossing(n: float, ring_steps: float, ring_share: float, rounds: float) -> float:
    """Where steps x alpha + share x S / B meet, for a slip in one of the counts."""
    return (ring_steps - rounds) * ALPHA / ((rounds - ring_share) * float(LINK.beta))


def size() -> float:
    return float(
        crossover_size(
            lambda size: recursive_doubling_allreduce_time(size, 8, LINK),
            lambda size: ring_allreduce_time(size, 8, LINK),
        )
    )


EXERCISE = exercise(
    id="hands-01",
    chapter="labs",
    skill="ring or doubling",
    stars=2,
    minutes=(5, 8),
    place=901,
    ask="The lab's 8 ranks add a buffer over links of alpha = 4 ms and 5e6 bytes/s one way, adding is free. Recursive "
    "doubling makes log2(8) rounds of whole buffers, the ring 2(N-1) steps of an N-th. From which buffer size on "
    "is the ring faster? In bytes.",
    answer=size,
    unit="B",
    rtol=0.02,
    ranks=8,
    hints=(
        "Write down both times and set them equal; what is left over on the alpha side, what on the byte side?",
        "14 alpha + 14/8 S/B = 3 alpha + 3 S/B.",
        "`size = (14 - 3) * 4e-3 * 5e6 / ...`",
    ),
    wrong={
        crossing(8, 7, 7 / 8, 3): "the ring goes round twice: it adds in the first pass and hands out in the second",
        crossing(8, 14, 2, 3): "the ring sends 2(N-1)/N of the buffer, not 2 of it",
        crossing(8, 14, 1.75, 4): "doubling 1, 2, 4 ranks reaches 8 in three rounds; a fourth has nothing to add",
        ALPHA * 5e6: "that is alpha times bandwidth, where half of one message's time is start-up",
    },
    right=("176 kB", "0.176 MB", "172 KiB", 175e3),
    explain=lambda: (
        "14 alpha + 1.75 S/B = 3 alpha + 3 S/B, so S = 11 alpha B / 1.25 = 8.8 alpha B = "
        f"{show(size(), 'B')}. Below it the ring's eleven extra steps cost more than doubling's 1.25 extra buffers. "
        "On a real network alpha is about a thousand times shorter and B ten thousand times larger, so the crossing "
        "lies about ten times higher."
    ),
)
