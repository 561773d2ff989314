from netlib.collectives import nvls_allreduce_time, ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.units import show

WIRE = Link(0, 1)  # one buffer a second: seconds are the buffers on each rank's link


def bound(n: float) -> float:
    return float(ring_allreduce_time(1, n, WIRE) / nvls_allreduce_time(1, n, WIRE))


def ranks() -> int:
    """The fewest ranks with a bound of 1.9; the tolerance is for rounding alone."""
    return next(n for n in range(2, 1000) if bound(n) >= 1.9 - 1e-9)


EXERCISE = exercise(
    id="nvls-01",
    chapter="scale-up",
    skill="in-network reduction",
    stars=2,
    minutes=(6, 10),
    place=161,
    ask="A ring all-reduce of S bytes puts 2(N-1)/N S on each GPU's link, each way. A switch that adds (NVLS) takes "
    "each rank's buffer, returns the sum of the rank's own 1/N and sends every sum to all: (N+1)/N S, each way. Bytes "
    "alone, same links: how many times faster can NVLS be at most with N = 8 (`n8`), with N = 72 (`n72`; four "
    "digits for both), and from which `ranks` N on is it 1.9 times or more?",
    answer=lambda: {"n8": bound(8), "n72": bound(72), "ranks": ranks()},
    unit={"n8": "x", "n72": "x", "ranks": "ranks"},
    rtol={"n8": 0.005, "n72": 0.005},
    compare={"n8": "excess", "n72": "excess", "ranks": "exact"},
    hints=(
        "Divide the two byte counts; S and the link's rate cancel.",
        "speed-up = 2(N-1)/N over (N+1)/N; set it to 1.9 and solve for N.",
        "`n8 = (2 * 7 / 8) / (9 / ...)`",
    ),
    wrong={
        "n8": {
            2: "that is the limit for very many ranks, or (N-1)/N for NVLS, which sends (N+1)/N",
            1.75: "that counts S alone on the wire; a rank also sends or gets the sum of its own slice",
            (9 / 8) / (14 / 8): "the ratio is upside down",
        },
        "n72": {
            2: "that is the limit for very many ranks",
            2 * 71 / 72: "that counts S alone on the wire; a rank also sends or gets the sum of its own slice",
            bound(8): "that is for eight ranks",
        },
        "ranks": {
            20: "that solves 2(N-1)/N = 1.9, as if NVLS sent S alone",
            72: "it is more than 1.9 there already; how few are enough?",
            38: "just below 1.9; solve it exactly",
        },
    },
    right=({"n8": 1.556, "n72": "1.945x", "ranks": 39}, (14 / 9, 142 / 73, "39 ranks"), ("155.6 %", "194.5 %", 39.0)),
    explain=lambda: (
        f"2(N-1)/(N+1) is {show(bound(8), digits=4)} for 8 GPUs and {show(bound(72), digits=4)} for 72; it reaches "
        f"1.9 at N = {ranks()} and 2 never. This is also why a log may print more than the link's rate: busbw "
        "charges every algorithm with the ring's bytes, and NVLS puts fewer on the wire (busbw-02). Measured gains are "
        "smaller: adding in the switch fills less of the links than a ring."
    ),
)
