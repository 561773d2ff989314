from netlib.collectives import dp_bytes, summed_bytes
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GRADS, RANKS
from netlib.units import TB, show


def total() -> float:
    return float(summed_bytes(GRADS, RANKS, 1))


PER_GPU = float(dp_bytes(GRADS, RANKS))

EXERCISE = exercise(
    id="layout-02",
    chapter="collectives",
    skill="logical bytes and wire bytes",
    stars=1,
    minutes=(3, 5),
    place=92,
    ask="With pure data parallelism on 1,024 GPUs (no tensor or pipeline parallelism), what do all GPUs' "
    "gradient buffers of the 70B model in BF16 add up to, in TB? Count each GPU's buffer once, not what "
    "a ring sends.",
    answer=total,
    unit="TB",
    rtol=0.005,
    ranks=1024,
    hints=(
        "Every GPU holds all gradients.",
        "sum = 1,024 x 140 GB.",
        "`1024 * 140e9 / ...`",
    ),
    wrong={
        PER_GPU * RANKS / TB: "that is what the rings send in total; count each buffer once",
        PER_GPU / TB: "that is what one GPU sends",
        float(summed_bytes(GRADS, RANKS, 8)) / TB: "that is with tensor parallelism over 8",
        RANKS * 70e9 / TB: "BF16 takes two bytes a parameter",
    },
    right=("143.4 TB", "143360 GB", "0.1434 PB", "130.4 TiB", 143.36),
    explain=lambda: (
        f"1,024 x 140 GB = {show(total(), 'TB', 4)}. No link sees that: a ring makes each GPU send "
        f"{show(PER_GPU, 'GB', 4)}. Nor would the model fit: weights and gradients together take twice 140 "
        "GB on each GPU."
    ),
)
