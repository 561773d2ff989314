from netlib.congestion import slowdown, strict_shares, weighted_shares
from netlib.course.exercises import exercise

LOAD = (0.8, 1.0)


def strict() -> float:
    return float(strict_shares(LOAD)[1])


def weighted() -> float:
    return float(weighted_shares(LOAD, [0.7, 0.3])[1])


EXERCISE = exercise(
    id="class-01",
    chapter="congestion",
    skill="priority and weight",
    stars=2,
    minutes=(5, 8),
    place=436,
    ask="Experts offer 80 % of a link, gradients always have more to send. Which share of the link do gradients get if "
    "experts have strict priority (`strict`), and with weights 70 to 30 (`weighted`)? And how many times `slower` than "
    "alone on the link are they behind the strict queue?",
    answer=lambda: {
        "strict": strict(),
        "weighted": weighted(),
        "slower": float(slowdown(LOAD, strict_shares(LOAD))[1]),
    },
    unit={"strict": "", "weighted": "", "slower": "x"},
    hints=(
        "A strict queue is served whenever it holds a packet.",
        "strict: 1 - 0.8; weighted: at least the weight, more if the other class leaves some.",
        "`slower = 1 / (1 - 0.8)`",
    ),
    wrong={
        "strict": {
            0.3: "30 % is what the configuration calls guaranteed; a strict queue in front of it knows no guarantee",
            0.8: "that is what the experts get",
        },
        "weighted": {0.2: "that is what a strict queue leaves; a weight holds its share against a greedy class"},
        "slower": {3.33: "that would be with 30 % of the link", 1.25: "that is what the experts' load costs alone"},
    },
    right=(("20 %", "30 %", "5x"), {"strict": 0.2, "weighted": "0.3", "slower": 5}),
    explain=lambda: (
        f"Strict priority leaves {strict():.0%}, so gradients are 5 times slower: the slow-down that the priority "
        f"was to prevent, moved to the other class. A weight of 30 gives {weighted():.0%} and takes nothing that "
        "experts need beyond their 70."
    ),
)
