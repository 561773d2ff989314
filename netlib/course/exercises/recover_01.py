from netlib.congestion import preset, recovered_share, recovery_time
from netlib.course.exercises import exercise

PAPER = preset("dcqcn", "paper")
SLOW = preset("dcqcn", "ns3-datacenter")


def slow() -> float:
    return recovery_time(PAPER) * SLOW.increase_timer / PAPER.increase_timer


EXERCISE = exercise(
    id="recover-01",
    chapter="congestion",
    skill="timers of DCQCN",
    stars=1,
    minutes=(4, 7),
    place=416,
    ask="A DCQCN flow was just cut to half (alpha = 1). Only its timer raises it, and each tick halves the gap to the "
    "old rate. After five ticks, which share of the old rate does it have (`share`)? How long do they take in ms with "
    "the paper's 55 us (`paper`) and with 900 us, as a popular simulator sets it (`slow`)?",
    answer=lambda: {"share": float(recovered_share(5)), "paper": recovery_time(PAPER), "slow": slow()},
    unit={"share": "", "paper": "ms", "slow": "ms"},
    rtol={"share": 0.002, "paper": 0.01, "slow": 0.01},
    hints=(
        "The gap begins at one half.",
        "share = 1 - 1/2 x (1/2)^5; time = 5 ticks.",
        "`1 - 0.5 ** 6`",
    ),
    wrong={
        "share": {1 - 0.5**5: "the gap is one half before the first tick, not one", 0.5: "that is right after the cut"},
        "paper": {0.055: "that is one tick", 0.33: "that is six ticks"},
        "slow": {0.9: "that is one tick"},
    },
    right=(("98.4 %", "0.275 ms", "4.5 ms"), {"share": 0.984375, "paper": "275 us", "slow": 4.5}),
    explain=lambda: (
        "98.4 % in 0.275 ms or in 4.5 ms: sixteen times apart, under the same name. At 400 Gb/s 4.5 ms are 225 MB that "
        "were not sent. Who says 'DCQCN' must say whose."
    ),
)
