from netlib.congestion import preset
from netlib.congestion.parameters import Nscc
from netlib.course.exercises import exercise
from netlib.links import bytes_in_flight
from netlib.units import KB, gbps

RATE, RTT = gbps(400), 12e-6
REACTIONS = {
    "a": "the window shrinks, once in a round trip",
    "b": "the window stays; the packets go another way",
    "c": "the window grows by a fixed amount in a round trip, the same for all flows",
    "d": "the window grows in proportion to what is missing to the target",
}


def told() -> Nscc:
    made = preset("nscc", "uec-1.0")
    assert isinstance(made, Nscc)
    return made


def product() -> float:
    return float(bytes_in_flight(RATE, RTT))


EXERCISE = exercise(
    id="nscc-01",
    chapter="congestion",
    skill="mark and delay together",
    stars=1,
    minutes=(4, 7),
    place=432,
    ask="A sender of UEC's NSCC has a link of 400 Gb/s and a round trip of 12 us when all queues are empty. It aims at "
    "a queueing delay of 0.75 such round trips (its switches trim), and its first and largest window is 1.5 "
    "bandwidth-delay products. How many bytes stand in the bottleneck's `queue` when the aim is met? How large is the "
    "first `window`? And what happens to it on an acknowledgement that is marked while its delay is short of the aim "
    "(`marked`), and on one without a mark whose delay is beyond it (`late`)?",
    answer=lambda: {
        "queue": told().target * product(),
        "window": told().max_window * product(),
        "marked": "b",
        "late": "c",
    },
    unit={"queue": "kB", "window": "kB"},
    compare={"marked": "choice", "late": "choice"},
    options={"marked": REACTIONS, "late": REACTIONS},
    hints=(
        "A delay in a queue is a number of bytes at the link's rate. And who marks, if the way as a whole is not late?",
        "queue = 0.75 x rate x round trip; window = 1.5 x the same.",
        "`product = 50e9 * 12e-6`",
    ),
    wrong={
        "queue": {
            600: "that is the product itself: what is in flight without a queue",
            4800: "400 Gb/s are bits",
            112.5: "that is the aim at 100 Gb/s",
        },
        "window": {
            600: "that is one product; the first window is larger, or no queue could ever stand",
            1050: "that is the product and the queue; the window is bounded by 1.5 products",
        },
        "marked": {
            "a": "the delay says that this way as a whole is fine: less in flight would idle it",
            "c": "a mark is no reason to grow",
            "d": "a mark is no reason to grow",
        },
        "late": {
            "a": "a queue without a mark is short at its last packet, or drains already; nobody is asked to slow down",
            "b": "another way is tried where something is marked",
            "d": "nothing is missing to the target here: the delay is beyond it",
        },
    },
    right=(("450 kB", "900 kB", "b", "c"), {"queue": 450, "window": "0.9 MB", "marked": "B", "late": "(c)"}),
    explain=lambda: (
        f"Rate x round trip is {product() / KB:.0f} kB, so {told().target * product() / KB:.0f} kB stand in the queue "
        f"and {told().max_window * product() / KB:.0f} kB may be in flight at first. Marked and not late: one of the "
        "many ways is full and the others are not, so change the way and keep the window. Late without a mark: the "
        "queue is on its way down, and a small step that is the same for all makes shares fair. Only marked and late "
        "cuts. NSCC therefore keeps a standing queue on purpose; HPCC aims at none."
    ),
)
