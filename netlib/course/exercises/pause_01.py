from netlib.congestion import paused_share
from netlib.course.exercises import exercise
from netlib.units import gbps

RATE = gbps(400)


def share(frames: float) -> float:
    return float(paused_share(frames, RATE))


EXERCISE = exercise(
    id="pause-01",
    chapter="congestion",
    skill="pause frames and pause time",
    stars=1,
    minutes=(4, 6),
    place=404,
    ask="A 400 Gb/s port receives pause frames for one class. Each asks for the longest pause there is, 65,535 quanta "
    "of 512 bit, none overlaps another and none is taken back early. For which share of the time is the class paused "
    "at most, with 10 frames a second (`ten`) and with 100 (`hundred`)?",
    answer=lambda: {"ten": share(10), "hundred": share(100)},
    unit={"ten": "", "hundred": ""},
    hints=(
        "How long does one quantum last at this speed?",
        "share = frames/s x 65,535 x 512 bit / rate",
        "`one = 65535 * 512 / 400e9`, then ...",
    ),
    wrong={
        "ten": {
            share(10)
            / 4: "a quantum is 512 bit times of this port: at 400 Gb/s it is four times as long as at 1.6 Tb/s",
            65535 * 512 / 50e9 * 10: "512 are bits, and 400 Gb/s counts bits too: do not divide by eight once more",
            10 / 65535: "that is frames over quanta; multiply frames by the time of one pause",
        },
        "hundred": {share(10): "that is for 10 frames a second"},
    },
    right=(("0.0839 %", "0.839 %"), {"ten": 0.000839, "hundred": "0.00839"}),
    explain=lambda: (
        f"One pause lasts 65,535 x 512 bit / 400 Gb/s = 83.9 us, so ten a second are {share(10):.3%} and a hundred "
        f"{share(100):.2%} of the time at most. A count of frames is no measure of harm: alarm on paused time."
    ),
)
