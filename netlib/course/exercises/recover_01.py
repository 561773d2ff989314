from netlib.congestion import preset, recovered_share, recovery_time
from netlib.course.exercises import exercise
from netlib.units import MB, gbps

PAPER = preset("dcqcn", "paper")
SLOW = preset("dcqcn", "ns3-datacenter")


def slow() -> float:
    return recovery_time(PAPER) * SLOW.increase_timer / PAPER.increase_timer


def unsent(timer: float) -> float:
    """Bytes that five ticks cost at 400 Gb/s: half of a tick's in the first, then a quarter, and so on."""
    return gbps(400) * timer * float((1 - recovered_share(range(5))).sum())


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
        f"{float(recovered_share(5)):.1%} in {recovery_time(PAPER) * 1e3:.3f} ms or in {slow() * 1e3:.1f} ms: sixteen "
        f"times apart, under the same name. At 400 Gb/s {unsent(PAPER.increase_timer) / MB:.1f} MB were not sent with "
        f"the one clock and {unsent(SLOW.increase_timer) / MB:.0f} MB with the other. Who says 'DCQCN' must say whose."
    ),
)
