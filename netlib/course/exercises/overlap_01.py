from netlib.collectives.training import exposed_by_bucket
from netlib.course.exercises import exercise
from netlib.units import show

LAYERS, WORK, GRADIENT, SLOW, FAST = 8, 0.020, 250e6, 20e9, 50e9
RANKS = 64


def exposed(bucket: float, rate: float = FAST) -> float:
    per_byte = 2 * (RANKS - 1) / RANKS / rate
    return float(exposed_by_bucket([WORK] * LAYERS, [GRADIENT] * LAYERS, bucket, lambda size: size * per_byte))


EXERCISE = exercise(
    id="overlap-01",
    chapter="collectives",
    skill="exposed communication",
    stars=2,
    minutes=(8, 14),
    place=630,
    ask="The backward pass goes through 8 layers, 20 ms each. Each layer leaves 250 MB of gradients, all-reduced over "
    "64 replicas by a ring: 2 x 63/64 of a bucket at 50 GB/s, no start-up. A bucket is reduced as soon as it is full "
    "and the one before it is through. How many ms of communication are left when the last layer's work has ended, "
    "with buckets of one layer (`one`), of four (`four`), of all eight (`all`)? And with buckets of one layer at 20 "
    "GB/s (`slow`)?",
    answer=lambda: {
        "one": exposed(GRADIENT),
        "four": exposed(4 * GRADIENT),
        "all": exposed(8 * GRADIENT),
        "slow": exposed(GRADIENT, SLOW),
    },
    unit={"one": "ms", "four": "ms", "all": "ms", "slow": "ms"},
    rtol=0.005,
    ranks={"all": RANKS},
    hints=(
        "Is the network faster than the work? Then only the last bucket sticks out. If not, the buckets queue.",
        "A layer's all-reduce takes 1.969 x 250 MB / B. Fast: that of the last bucket. Slow: all, less 7 x 20 ms.",
        "`one = 2 * 63 / 64 * 0.25e9 / 50e9 * 1e3`",
    ),
    wrong={
        "one": {
            1e3 * exposed(8 * GRADIENT): "that is all of it; seven eighths run beside the work",
            1e3 * GRADIENT / FAST: "an all-reduce is two passes: 2 x 63/64 of the bucket",
        },
        "four": {
            1e3 * exposed(GRADIENT): "the last bucket holds four layers",
            1e3 * exposed(8 * GRADIENT): "the first bucket runs beside the work of the last four layers",
        },
        "all": {
            1e3 * exposed(GRADIENT): "one bucket holds all eight layers",
            1e3 * 8 * GRADIENT / FAST: "an all-reduce is two passes: 2 x 63/64 of the bucket",
        },
        "slow": {
            1e3 * exposed(GRADIENT, SLOW) - 1e3 * WORK: "the first layer's work hides nothing: no bucket is full yet",
            2.5e3 * exposed(GRADIENT): "that is the last bucket alone; at this rate it has to queue",
            1e3 * exposed(8 * GRADIENT, SLOW): "that is all of it; part runs beside the work",
        },
    },
    right=(
        {"one": "9.84 ms", "four": "39.4 ms", "all": "78.8 ms", "slow": "56.9 ms"},
        (9.84, 39.38, 78.75, 56.88),
        ("0.00984 s", "0.0394 s", "0.0788 s", "0.0569 s"),
    ),
    explain=lambda: (
        f"At 50 GB/s a layer's all-reduce takes {show(exposed(GRADIENT), 'ms')}, less than its 20 ms of work: only the "
        f"last bucket is exposed, so its size decides: {show(exposed(4 * GRADIENT), 'ms')} with four layers, "
        f"{show(exposed(8 * GRADIENT), 'ms')} with all in one bucket. At 20 GB/s it takes longer than "
        f"the work, buckets queue, and {show(exposed(GRADIENT, SLOW), 'ms')} stick out; larger buckets start later and "
        f"leave more, {show(exposed(4 * GRADIENT, SLOW), 'ms')} with four layers. Start-ups, left out here, are what "
        "forbids very small ones."
    ),
)
