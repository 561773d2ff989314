from netlib.congestion import dynamic_mark_bound, preset, static_mark_bound, static_pause_threshold
from netlib.congestion.parameters import Marking
from netlib.course.exercises import exercise
from netlib.units import KB, MB

CHIP = (64 * MB, 64, 2, 160 * KB)  # buffer, ports, lossless classes, headroom
BETA = 8


def pause() -> float:
    return float(static_pause_threshold(*CHIP))


def static() -> float:
    return float(static_mark_bound(*CHIP))


def dynamic() -> float:
    return float(dynamic_mark_bound(*CHIP, BETA))


def k_min() -> float:
    made = preset("marking", "sonic")
    assert isinstance(made, Marking)
    return made.k_min


def first() -> str:
    """With which thresholds the shipped mark comes first for certain."""
    return "a" if k_min() <= static() else "b" if k_min() <= dynamic() else "c"


EXERCISE = exercise(
    id="mark-01",
    chapter="congestion",
    skill="marks before pauses",
    stars=2,
    minutes=(7, 12),
    place=410,
    ask="The DCQCN authors' sum for a chip of today: 64 MB, 64 ports, 2 lossless classes, 160 kB of headroom for each "
    "port and class. If each port and class has the same fixed threshold, at which queue of an ingress port must it "
    "`pause` at the latest? In the worst case one ingress port fills all 64 egress queues. Below which mark on an "
    "egress queue does marking come first for certain, with these fixed thresholds (`static`), and with thresholds "
    "that move with what is free, beta = 8 (`dynamic`)? SONiC's template marks from 1 MiB on. With which thresholds "
    "is that `safe`?",
    answer=lambda: {"pause": pause(), "static": static(), "dynamic": dynamic(), "safe": first()},
    unit={"pause": "kB", "static": "kB", "dynamic": "kB"},
    compare={"safe": "choice"},
    options={"safe": {"a": "with both", "b": "with moving ones only", "c": "with neither"}},
    hints=(
        "First take the headroom of all ports and classes off the buffer. What is left is shared.",
        "pause = left / (2 x 64); static = pause / 64; dynamic = pause x beta / (beta + 1).",
        "`left = 64e6 - 2 * 64 * 160e3`",
    ),
    wrong={
        "pause": {
            500: "that is without headroom, which has to stay free for what arrives after the pause",
            680: "there are two classes, and each needs its threshold",
        },
        "static": {
            340: "one ingress port may feed all 64 egress queues, each of them still below its mark",
            10.625: "there are two classes, and each needs its threshold",
        },
        "dynamic": {
            604.4: "there are two classes, and each needs its threshold",
            544: "the classes multiply the ports, they do not add to beta",
            444.4: "that is without headroom, which has to stay free for what arrives after the pause",
            340: "the last step is missing: at the mark the queues take a part of what was free, beta / (beta + 1)",
            2720: "that is beta x the fixed one; by then the queues below their marks have used most of what was free",
            4.722: "where thresholds move, one port may use what others leave: do not divide by its 64 queues again",
        },
        "safe": {
            "a": "compare 1 MiB with your two bounds",
            "b": "compare 1 MiB with your bound for moving thresholds",
        },
    },
    right=(("340 kB", "5.31 kB", "302 kB", "c"), {"pause": 340, "static": 5.3125, "dynamic": "302.2", "safe": "C"}),
    explain=lambda: (
        f"Fixed thresholds pause at {pause() / KB:.0f} kB and ask for a mark below {static() / KB:.2f} kB, one "
        f"packet. Moving ones allow {dynamic() / KB:.0f} kB. A mark at {k_min() / KB:,.0f} kB is above both: in this "
        "worst case the switch pauses first. It is a worst case: with moving thresholds and one full queue the mark "
        "comes long before. But check the mark that a template ships against the buffer of your own chip."
    ),
)
