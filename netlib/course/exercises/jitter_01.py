from netlib.congestion import break_even_step
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.units import KB, MB, gbps

CRISP, WIDE, RANKS = Link(2e-6, gbps(200)), Link(8e-6, gbps(400)), 512


def step() -> float:
    return float(break_even_step(CRISP, WIDE))


EXERCISE = exercise(
    id="jitter-01",
    chapter="congestion",
    skill="latency against bandwidth",
    stars=2,
    minutes=(6, 10),
    place=440,
    ask="One fabric has 200 Gb/s ports and 2 us a step, another 400 Gb/s and 8 us, both always. Below how many bytes "
    "in a serial step does the first win (`step`, in kB)? And below which all-reduce in a flat ring of 512 ranks "
    "(`ring`, in MB)?",
    answer=lambda: {"step": step(), "ring": step() * RANKS},
    unit={"step": "kB", "ring": "MB"},
    hints=(
        "Write both times of one step and set them equal.",
        "2 us + V / 25 GB/s = 8 us + V / 50 GB/s; a ring's step moves S / N.",
        "`V = 6e-6 * 25e9 * 50e9 / (50e9 - 25e9)`",
    ),
    wrong={
        "step": {
            2400: "bits and bytes are mixed: 200 Gb/s are 25 GB/s",
            400: "subtract the latencies, 8 - 2 us",
            150: "that is 6 us at 25 GB/s; the other link needs time for the bytes as well",
        },
        "ring": {0.3: "that is one step; a ring's step moves only a 512th of the buffer", 307.2: "that is 1,024 ranks"},
    },
    right=(("300 kB", "153.6 MB"), {"step": "0.3 MB", "ring": 153.6}),
    explain=lambda: (
        f"{step() / KB:.0f} kB a step, {step() * RANKS / MB:.1f} MB a call. For a 25 MiB bucket the crisp fabric is "
        "more than twice as fast, for a gradient of gigabytes it is nearly half as fast. Raise the bytes in a step "
        "before you buy slower links."
    ),
)
