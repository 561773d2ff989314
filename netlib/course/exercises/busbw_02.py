from netlib.collectives import busbw_factor, nvls_allreduce_time, time_at_busbw
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.units import GB, show

PRINTED = 480 * GB
ALGBW = float(PRINTED / busbw_factor(8, "all_reduce"))
SENT = float(nvls_allreduce_time(1, 8, Link(0, 1)))  # at one byte a second, seconds are bytes


def wire() -> float:
    return SENT / float(time_at_busbw(1, PRINTED, 8, "all_reduce"))


EXERCISE = exercise(
    id="busbw-02",
    chapter="collectives",
    skill="busbw is not a wire",
    stars=3,
    minutes=(6, 10),
    place=52,
    ask="The 480 GB/s of busbw-01 were measured on 8 H100, whose NVLink moves 450 GB/s one way. NCCL used "
    "NVLS: the switch adds. Each GPU sends its whole buffer of S bytes for the switch to add, and then "
    "S/8 bytes, its slice of the sum, for the switch to hand to everybody. How fast is its link really "
    "busy sending, in GB/s?",
    answer=wire,
    unit="GB/s",
    rtol=0.005,
    ranks=8,
    hints=(
        "Go back to algbw first, then ask what each byte of the buffer costs on the wire.",
        "wire = algbw x (n+1)/n.",
        "`wire = algbw * ...`",
    ),
    wrong={
        480: "that is the ring's formula applied to another algorithm",
        ALGBW / GB: "that is algbw; each GPU also sends its slice of the sum",
        480 * SENT: "start from algbw, not from busbw",
        450: "that is the link's speed; the question is how much of it is used",
    },
    right=("308.6 GB/s", "309 GBps", "2469 Gbit/s", 308.57),
    explain=lambda: (
        f"{show(ALGBW, 'GB/s', 4)} x 9/8 = {show(wire(), 'GB/s', 4)}, {show(wire() / (450 * GB), '%', 2)} of "
        "the link. busbw passes 450 GB/s because it charges every algorithm with a ring's bytes; no wire "
        "does. It is a good yardstick between two logs of the same n and a bad speedometer."
    ),
)
