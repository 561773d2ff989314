from netlib.collectives import busbw_factor
from netlib.course.exercises import exercise
from netlib.units import GB, show

PRINTED = 480 * GB


def algbw() -> float:
    return float(PRINTED / busbw_factor(8, "all_reduce"))


EXERCISE = exercise(
    id="busbw-01",
    chapter="collectives",
    skill="busbw",
    stars=2,
    minutes=(4, 6),
    place=51,
    ask="An nccl-tests log of all_reduce on 8 GPUs shows a busbw of 480 GB/s. How many bytes of the "
    "caller's buffer are reduced per second (the algbw column), in GB/s?",
    answer=algbw,
    unit="GB/s",
    rtol=0.005,
    ranks=8,
    hints=(
        "busbw is a formula on top of what was measured.",
        "busbw = algbw x 2(n-1)/n for all_reduce.",
        "`algbw = 480 / ...`",
    ),
    wrong={
        480: "that is busbw itself, as the log prints it",
        480 * 1.75: "multiplied instead of divided",
        240: "divided by 2, not by 2(n-1)/n",
        480 / 0.875: "that is the factor of all_gather, (n-1)/n; an all_reduce makes two passes",
    },
    right=("274 GB/s", "274.3 GBps", "0.2743 TB/s", "2194 Gb/s", "255.5 GiB/s", 274.2857),
    explain=lambda: (
        f"480 / (2 x 7/8) = {show(algbw(), 'GB/s', 4)}. busbw scales algbw so that a perfect ring on equal "
        "links would print the link's speed whatever n is. Source: nccl-tests, doc/PERFORMANCE.md."
    ),
)
