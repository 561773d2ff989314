from math import ceil

from netlib.course.exercises import exercise
from netlib.hardware import bandwidth
from netlib.links import bytes_in_flight
from netlib.units import GB, show

TRIP, LOAD = 1e-6, 128
RATES = {"h100": bandwidth("nvlink4"), "b200": bandwidth("nvlink5")}
NEED = {chip: float(bytes_in_flight(rate, TRIP)) for chip, rate in RATES.items()}
ALONE = LOAD / NEED["h100"] * RATES["h100"]


def loads() -> int:
    return ceil(NEED["h100"] / LOAD)


EXERCISE = exercise(
    id="flight-01",
    chapter="scale-up",
    skill="bytes in flight",
    stars=1,
    minutes=(4, 7),
    place=151,
    ask="A remote load takes a round trip of 1 µs, whoever makes it. How many kB must be under way at any moment to "
    "keep all NVLinks of an `h100` busy (18 links of 50 GB/s, both ways added), and those of a `b200` (18 links of 100 "
    "GB/s, both ways added)? Loads are 128 bytes: how many `loads` is that on the H100, rounded up to a whole load? "
    "And how many GB/s does a thread get `alone` that waits for each of its loads? kB = 1,000 bytes, rates one way.",
    answer=lambda: {**NEED, "loads": loads(), "alone": ALONE},
    unit={"h100": "kB", "b200": "kB", "loads": "loads", "alone": "GB/s"},
    rtol={"h100": 0.005, "b200": 0.005, "alone": 0.005},
    compare={"loads": "exact"},
    hints=(
        "Little's law: what is inside a pipe is its rate times the time spent inside.",
        "bytes in flight = B x round trip; loads = bytes / 128, rounded up.",
        "`h100 = 18 * 50e9 / 2 * ...`",
    ),
    wrong={
        "h100": {
            900: "that uses both directions; the answers come back one way",
            225: "the round trip is 1 µs, both ways included",
            50: "that is a 400G NIC; start from NVLink's rate one way",
        },
        "b200": {
            1800: "that uses both directions; the answers come back one way",
            3600: "that uses both directions and the trip twice",
        },
        "loads": {
            3515: "a link that lacks one load is not full: round up",
            2 * loads(): "that is the B200, or both directions",
            439: "that is for 1,024 bytes a load",
        },
        "alone": {
            1.024: "those are Gb/s; eight bits make a byte",
            RATES["h100"] / GB: "that is the whole link; one load at a time cannot fill it",
        },
    },
    right=(
        {"h100": "450 kB", "b200": "0.9 MB", "loads": 3516, "alone": "128 MB/s"},
        (450, "900e3 B", "3,516", 0.128),
        ("439.5 KiB", "878.9 KiB", "3516 loads", "1.024 Gb/s"),
    ),
    explain=lambda: (
        f"{show(RATES['h100'], 'GB/s')} x 1 µs = {show(NEED['h100'], 'kB')}, on a B200 {show(NEED['b200'], 'kB')}. In "
        f"loads of 128 bytes the H100 needs {loads():,} of them under way; a thread alone moves "
        f"{show(ALONE, 'GB/s')}. Loads need parallelism: thousands of threads, or copies that ask for much at once."
    ),
)
