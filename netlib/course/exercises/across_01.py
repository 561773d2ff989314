from netlib.course.exercises import exercise
from netlib.hardware import bandwidth
from netlib.links import bytes_in_flight
from netlib.topology import round_trip
from netlib.units import show

RATE = bandwidth("ethernet-800")


def flight(metres: float) -> float:
    return float(bytes_in_flight(RATE, round_trip(metres)))


def back(metres: float) -> float:
    return float(round_trip(metres))


EXERCISE = exercise(
    id="across-01",
    chapter="scale-out",
    skill="scale-across",
    stars=1,
    minutes=(3, 6),
    place=290,
    ask="Two sites are joined by 800 Gb/s Ethernet over fibre, in which light needs 5 microseconds for a kilometre. A "
    "sender may go on only while it holds a copy of everything not yet acknowledged, so it needs rate x round trip. "
    "How many bytes is that over ten kilometres (`near`), and over a thousand (`far`)?",
    answer=lambda: {"near": flight(10e3), "far": flight(1000e3)},
    unit={"near": "MB", "far": "GB"},
    hints=(
        "First the round trip: there and back.",
        "bytes = rate in bytes/s x 2 x distance x 5e-9 s/m.",
        "`near = 100e9 * 2 * 10e3 * ...`",
    ),
    wrong={
        "near": {
            5: "that is one way; the acknowledgement has to come back",
            80: "the rate is given in bits",
            1000: "that is the longer distance",
        },
        "far": {
            0.5: "that is one way; the acknowledgement has to come back",
            8: "the rate is given in bits",
            0.01: "that is the shorter distance",
        },
    },
    right=(("10 MB", "1 GB"), {"near": 10, "far": "1000 MB"}, (10.0, 1.0)),
    explain=lambda: (
        f"10 km: {show(back(10e3), 'ms')} there and back, {show(flight(10e3), 'MB')} in flight. 1,000 km: "
        f"{show(back(1000e3), 'ms')} and {show(flight(1000e3), 'GB')}, for each port. Over the 100 m of a hall it "
        "is a hundredth of the first: distance turns a network of short queues into one of long pipes."
    ),
)
