from math import ceil

from netlib.congestion import cable_bytes, credit_reach
from netlib.course.exercises import exercise
from netlib.units import KB, KiB, gbps

MOST, FAR = 128 * KiB, 1000


def reach(gbit: float) -> float:
    return float(credit_reach(gbps(gbit)))


def buffer() -> float:
    return float(cable_bytes(FAR, gbps(400)))


def lanes() -> int:
    return ceil(buffer() / MOST)


EXERCISE = exercise(
    id="reach-01",
    chapter="congestion",
    skill="credits and distance",
    stars=1,
    minutes=(4, 7),
    place=402,
    ask="The counters of an InfiniBand lane can express credit for at most 128 KiB. A byte's credit is back one round "
    "trip after the byte was sent; take cable only, at 1.98e8 m/s. Over how many metres does one lane keep a link of "
    "400 Gb/s busy (`at400`), and one of 800 Gb/s (`at800`)? How large a `buffer` would a kilometre at 400 Gb/s need, "
    "in kB (of 1,000 bytes), and how many `lanes` of 128 KiB is that?",
    answer=lambda: {"at400": reach(400), "at800": reach(800), "buffer": buffer(), "lanes": lanes()},
    unit={"at400": "m", "at800": "m", "buffer": "kB", "lanes": "lanes"},
    compare={"lanes": "exact"},
    hints=(
        "For how long does 128 KiB keep the link busy? In that time the first credit has to be back.",
        "credit = rate x round trip, and round trip = 2 x metres / 1.98e8",
        "`seconds = 128 * 1024 / 50e9`, and light has to go there and back in it",
    ),
    wrong={
        "at400": {
            519: "the credit has to come back: that is a round trip, not a length",
            2076: "bits and bytes are mixed: 400 Gb/s are 50 GB/s",
        },
        "at800": {519: "twice the rate empties the credit in half the time; the reach does not grow with it"},
        "buffer": {
            252.5: "that is one way; the credit needs as long again to come back",
            131: "that is what the counters express, enough for a quarter of the way",
        },
        "lanes": {
            3: "three of them fall short of the buffer; round up",
            3.85: "a lane is there or it is not; give a whole number",
            2: "that is one way; the credit needs as long again to come back",
        },
    },
    right=(("260 m", "130 m", "505 kB", "4 lanes"), {"at400": "0.2595 km", "at800": 130, "buffer": 505, "lanes": 4}),
    explain=lambda: (
        f"{reach(400):.0f} m at 400 Gb/s and {reach(800):.0f} m at 800 Gb/s, less whatever the receiver takes for its "
        f"own work. A kilometre needs {buffer() / KB:.0f} kB: more memory alone does not help one lane, because its "
        f"counters cannot say so much; {lanes()} lanes side by side could carry it. Each doubling of the rate halves "
        "the reach."
    ),
)
