from netlib.collectives import summed_bytes
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GRADS, RANKS
from netlib.units import TB, show

CLAIM = 1.4 * TB


def degree() -> float:
    # summed = dp x model, and with tp = pp = 1 and n ranks dp is n: one more replica adds one model
    return CLAIM / float(summed_bytes(GRADS, 1, 1))


EXERCISE = exercise(
    id="layout-01",
    chapter="collectives",
    skill="logical bytes and wire bytes",
    stars=2,
    minutes=(4, 7),
    place=91,
    ask="An article says that the gradients of a 70B model on 1,024 GPUs add up to 1.4 TB per step. Model "
    "parallelism splits the 140 GB of BF16 gradients inside a replica; every data-parallel replica "
    "holds them once. Adding up all GPUs' gradient buffers, for which data-parallel degree is the sum "
    "1.4 TB? (Then look whether 1,024 divides by it.)",
    answer=degree,
    unit="replicas",
    compare="exact",
    hints=(
        "Tensor and pipeline parallelism split a replica's gradients; they do not multiply them.",
        "sum = DP x 140 GB.",
        "`1.4e12 / ...`",
    ),
    wrong={
        RANKS / 10: "that is how many GPUs one replica would have",
        RANKS: "that is pure data parallelism, and adds up to a hundred times as much",
        1.4e12 / 70e9: "BF16 takes two bytes a parameter",
        1.4e12 / 280e9: "BF16 gradients take two bytes a parameter, not four",
    },
    right=("10 replicas", 10.0, "10"),
    explain=lambda: (
        f"1.4 TB / 140 GB = {degree():g} replicas. But 1,024 / {degree():g} = {show(RANKS / degree(), digits=4)} "
        "is no whole number of GPUs, so no real layout of 1,024 GPUs gives 1.4 TB. And the sum is a logical "
        "number: what a wire carries is 2(DP-1)/DP times the shard."
    ),
)
