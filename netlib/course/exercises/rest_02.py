from functools import cache
from typing import Literal

from netlib.congestion import preset
from netlib.congestion.fluid import timely_most_flows, timely_rest, timely_run
from netlib.congestion.parameters import Timely
from netlib.course.exercises import exercise
from netlib.units import KB, gbps

RATE, MANY = gbps(10), 20


def told(name: str) -> Timely:
    made = preset("timely", name)
    assert isinstance(made, Timely)
    return made


@cache
def kept() -> float:
    """Ratio of the two rates after a run of 20 ms: 7 and 3 Gb/s over a queue of 100 kB that stands still."""
    seen = timely_run(
        told("fluid"), RATE, 2, 4e-6, 0.02, start=[gbps(7), gbps(3)], queue=100 * KB, flat="rests", step=4e-6
    )
    return float(seen.rate[0, 0, -1] / seen.rate[0, 1, -1])


def queue(flows: int = MANY) -> float:
    return float(timely_rest(told("patched"), RATE, flows))


def band() -> float:
    """Flows at which the queue at rest makes the round trip as long as t_high: each flow adds the same bytes."""
    none, one = 2 * queue(1) - queue(2), queue(2) - queue(1)
    return (RATE * told("patched").t_high - none) / one


def most(form: Literal["exact", "published"]) -> int:
    """Flows up to which the patch's rest has a positive margin."""
    return timely_most_flows(told("patched"), RATE, form=form)


EXERCISE = exercise(
    id="rest-02",
    chapter="congestion",
    skill="a rest that is fair, and one that is not",
    stars=2,
    minutes=(8, 12),
    place=428,
    ask="Two TIMELY flows share 10 Gb/s, one has 7 and one has 3 Gb/s, and a queue of 100 kB stands still, inside "
    "the band of 50 to 500 us. The algorithm slows down when round trips rise, speeds up when they fall, and leaves "
    "the rate alone when they do neither. What is the ratio of the larger rate to the smaller one, long after "
    "(`kept`)? Patched TIMELY rests at q = C t_low (1 + N delta / (beta C)), with delta = 10 Mb/s, beta = 0.008 and "
    "t_low = 50 us. Which `queue` is that for 20 flows, in kB? And for which number of `flows` does it take a packet "
    "500 us to pass it, so that the rest leaves the band?",
    answer=lambda: {"kept": kept(), "queue": queue(), "flows": band()},
    unit={"kept": "x", "queue": "kB", "flows": "flows"},
    rtol={"kept": 0.02, "queue": 0.01, "flows": 0.01},
    hints=(
        "If the rates add up to the link, what does the queue do, and what does a control see that looks at its "
        "change?",
        "kept: nothing changes, so nothing evens out. queue: C t_low is 62.5 kB, and delta and C must be in the same "
        "unit. flows: set q / C to 500 us.",
        "`queue = 62.5e3 * (1 + 20 * 10e6 / (0.008 * 10e9))`",
    ),
    wrong={
        "kept": {
            1: "who would pull them together? The queue does not change, and its change is all that a sender sees",
            0.4286: "the larger over the smaller",
        },
        "queue": {
            70.3125: "that is for one flow",
            2187.5: "that is with t_high for t_low",
            62.5: "that is C t_low, where no flow adds anything",
            78.125: "that is for two flows",
            156.25: "that is what the flows add; C t_low comes on top",
            82.03: "delta is in bytes and C in bits; take both in the same unit",
            1312.5: "delta is in bits and C in bytes; take both in the same unit",
        },
        "flows": {
            576: "delta is in bytes and C in bits; take both in the same unit",
            9: "delta is in bits and C in bytes; take both in the same unit",
            80: "that many flows add the whole 500 us; C t_low is there as well",
            most(
                "published"
            ): "up to there the published margins are positive; the question is how far the rest itself goes",
            most("exact"): "up to there the rest is stable; the question is how far the rest itself goes",
        },
    },
    right=(("2.33x", "219 kB", "72 flows"), {"kept": 7 / 3, "queue": 218.75, "flows": 72}),
    explain=lambda: (
        f"The ratio stays {kept():.2f}, seven to three, for ever: a law that looks only at the change of the queue "
        "has as many rests as there are ways to share. The patch looks at the queue itself, and all its flows see the "
        f"same one: a single rest, and a fair one, {queue() / KB:.0f} kB for 20 flows. It grows with each flow and "
        f"leaves the band at {band():.0f} flows; it ceases to be stable long before: "
        f"beyond {most('published')} by the published margins, beyond {most('exact')} by those of its own equations."
    ),
)
