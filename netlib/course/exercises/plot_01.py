from netlib.congestion import frame_rate
from netlib.course.exercises import exercise

BARS = (12, 18, 25, 8, 189, 45, 33, 27, 52, 19, 22, 14)


def mean(window: float) -> float:
    return float(frame_rate(BARS, window))


EXERCISE = exercise(
    id="plot-01",
    chapter="congestion",
    skill="units of a counter",
    stars=1,
    minutes=(3, 6),
    place=406,
    ask="A plot shows twelve bars of pause frames: 12, 18, 25, 8, 189, 45, 33, 27, 52, 19, 22, 14. Its x axis runs "
    "over twelve milliseconds, its y axis says 'per 100 ms'. Both cannot be. What is the mean rate in frames a second "
    "if a bar is 100 ms (`slow`), and if it is 1 ms (`fast`)?",
    answer=lambda: {"slow": mean(100e-3), "fast": mean(1e-3)},
    unit={"slow": "1/s", "fast": "1/s"},
    hints=(
        "A rate is a count over the time in which it was counted.",
        "mean of the bars / width of a bar",
        "`sum(bars) / len(bars) / 0.1`",
    ),
    wrong={
        "slow": {
            sum(BARS) / len(BARS): "that is frames in a bar; divide by the bar's width",
            sum(BARS): "that is the number of all frames; divide by the time they took",
        },
        "fast": {mean(100e-3): "that is for bars of 100 ms"},
    },
    right=((387, 38667), {"slow": 386.7, "fast": 38666.7}),
    explain=lambda: (
        f"{mean(0.1):.0f} or {mean(1e-3):,.0f} frames a second, a factor of a hundred, from one picture. At 400 Gb/s "
        "the first is 3 % of the time paused at most, the second more than all of it. Label the window."
    ),
)
