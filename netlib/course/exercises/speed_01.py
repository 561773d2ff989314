from netlib.course.exercises import exercise
from netlib.links import bytes_in_flight
from netlib.units import KB, MB, gbps

TRIP, TIMER = 10e-6, 900e-6


def blind(gbit: float, seconds: float = TRIP) -> float:
    return float(bytes_in_flight(gbps(gbit), seconds))


EXERCISE = exercise(
    id="speed-01",
    chapter="congestion",
    skill="sent before any feedback",
    stars=1,
    minutes=(3, 6),
    place=442,
    ask="A sender starts at line rate, and the first feedback is back after 10 us. Up to which size is a message "
    "wholly sent by then at 100 Gb/s (`old`), and at 1.6 Tb/s (`new`)? A rate that was cut waits 900 us for the tick "
    "of a timer: how many bytes does a link of 1.6 Tb/s carry in that `wait`?",
    answer=lambda: {"old": blind(100), "new": blind(1600), "wait": blind(1600, TIMER)},
    unit={"old": "kB", "new": "MB", "wait": "MB"},
    hints=(
        "What is on the way before the first answer is a rate times a time.",
        "bytes = rate in bytes/s x seconds",
        "`old = 100e9 / 8 * 10e-6`",
    ),
    wrong={
        "old": {1000: "100 Gb/s are bits"},
        "new": {
            16: "1.6 Tb/s are bits",
            0.125: "that is at 100 Gb/s",
            1: "10 us is the whole round trip, do not halve it",
        },
        "wait": {1440: "1.6 Tb/s are bits", 11.25: "that is at 100 Gb/s"},
    },
    right=(("125 kB", "2 MB", "180 MB"), {"old": 125, "new": "2000 kB", "wait": 180}),
    explain=lambda: (
        f"{blind(100) / KB:.0f} kB and {blind(1600) / MB:.0f} MB. Most messages of an all-to-all are shorter than "
        "that: they are sent before anybody can object. And while one timer of 900 us runs, "
        f"{blind(1600, TIMER) / MB:.0f} MB could have passed. A control that counts round trips keeps up with the "
        "rate; one that counts microseconds does not. What decides before sending (credits, schedules, spraying) "
        "needs no feedback at all."
    ),
)
