from netlib.collectives import algbw, busbw
from netlib.course.exercises import exercise
from netlib.units import GB, GiB, show

# microsoft/superbenchmark @ f1f5c72, tests/data/nccl_allreduce.log: 8 x A100-SXM4-40GB in one node, out of place
SIZE, TIME = 1 * GiB, 8159.5e-6


def value() -> float:
    return float(busbw(SIZE, TIME, 8, "all_reduce"))


EXERCISE = exercise(
    id="log-01",
    chapter="collectives",
    skill="reading a log",
    stars=2,
    minutes=(4, 7),
    place=53,
    ask="This row comes from a real nccl-tests log: all_reduce on 8 A100 in one node (out of place; "
    "published with Microsoft's superbenchmark). Two columns are blanked. Compute busbw, in GB/s; "
    "nccl-tests prints decimal gigabytes.",
    shown="#       size         count    type   redop     time   algbw   busbw\n"
    "#        (B)    (elements)                     (us)  (GB/s)  (GB/s)\n"
    "  1073741824     268435456   float     sum   8159.5     ...     ...",
    answer=value,
    unit="GB/s",
    rtol=0.005,
    ranks=8,
    hints=(
        "Two steps: bytes over seconds, then the factor of the operation.",
        "busbw = size / time x 2(n-1)/n.",
        "`1073741824 / 8159.5e-6 * ...`",
    ),
    wrong={
        float(algbw(SIZE, TIME)) / GB: "that is algbw; busbw multiplies it by 2(n-1)/n",
        float(busbw(SIZE, TIME, 8, "all_gather"))
        / GB: "that is the factor of all_gather; an all_reduce makes two passes",
        float(busbw(1e9, TIME, 8)) / GB: "1 GiB is 1,073,741,824 bytes, not 1e9",
        2 * float(algbw(SIZE, TIME)) / GB: "the factor is 2(n-1)/n, not 2",
    },
    right=("230.3 GB/s", "230 GBps", "1842 Gb/s", "214.5 GiB/s", 230.29),
    explain=lambda: (
        f"{SIZE:,} B / 8,159.5 us = {show(float(algbw(SIZE, TIME)), 'GB/s', 5)}, times 2 x 7/8 = "
        f"{show(value(), 'GB/s', 5)}, as the log prints it. That is {show(value() / 300e9, '%', 2)} of the "
        "300 GB/s that an A100's NVLink moves one way: a healthy node."
    ),
)
