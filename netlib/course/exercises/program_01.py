from netlib.collectives import hierarchical_allreduce_time, ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GPUS, GRADS, NIC_800, NODES, NVLINK5, RANKS
from netlib.units import show


def ring(size: float, n: float, link: object) -> float:
    return float(ring_allreduce_time(size, n, link))  # type: ignore[arg-type]


def lines() -> dict[str, float]:
    return {
        "node": ring(GRADS, GPUS, NVLINK5),
        "rack": ring(GRADS, 72, NVLINK5),
        "flat": ring(GRADS, RANKS, NIC_800),
        "hierarchical": float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK5, NIC_800)),
    }


EXERCISE = exercise(
    id="program-01",
    chapter="collectives",
    skill="unit discipline",
    stars=1,
    minutes=(6, 10),
    place=21,
    ask="All-reduce the gradients of a 70B model: 140e9 bytes per GPU. NVLink moves 900e9 bytes/s and a NIC 100e9 "
    "bytes/s, "
    "both one way and per GPU. No latency, no overlap. How many seconds, to two decimals?\n\n"
    "`node`: a ring over 8 GPUs on NVLink. `rack`: a ring over 72 GPUs on NVLink. "
    "`flat`: one ring over 1,024 GPUs, every hop at the speed of one NIC. "
    "`hierarchical`: reduce-scatter in each node of 8, all-reduce each GPU's eighth over the 128 nodes on its own "
    "NIC, "
    "all-gather in the node, the stages one after the other.",
    answer=lines,
    unit="s",
    rtol=0.02,  # the program prints two decimals: 0.31 is 1 % off
    ranks={"node": 8, "rack": 72, "flat": 1024, "hierarchical": 8},
    hints=(
        "One formula serves all four: a ring's bytes over the bandwidth.",
        "ring(S, N, B) = 2(N-1)/N S / B; the hierarchy is ring(S, 8, NVLink) + ring(S/8, 128, NIC).",
        "`node = 2 * 7 / 8 * 140e9 / 900e9`",
    ),
    wrong={
        "node": {
            GRADS / 900e9: "that is the buffer over the bandwidth; a ring sends 2(N-1)/N of it",
            ring(GRADS, GPUS, NIC_800): "that is at the NIC's speed; inside the node the ring runs on NVLink",
        },
        "rack": {ring(GRADS, GPUS, NVLINK5): "that is the ring over 8; here it has 72 ranks"},
        "flat": {
            ring(GRADS / GPUS, RANKS, NIC_800): "that spreads the ring over eight NICs; this one has the speed of one",
            ring(GRADS, RANKS, NVLINK5): "that is at NVLink's speed; a ring is as slow as its slowest hop",
        },
        "hierarchical": {
            ring(GRADS, GPUS, NVLINK5)
            + ring(GRADS, NODES, NIC_800): "each NIC carries an eighth of the buffer, not all",
            ring(GRADS / GPUS, NODES, NIC_800): "that is the NIC stage alone; the stages follow one another",
        },
    },
    right=(
        {"node": 0.27, "rack": 0.31, "flat": 2.80, "hierarchical": 0.62},
        ("272 ms", "306.8 ms", "2.797 s", "619 milliseconds"),
    ),
    explain=lambda: (
        "In seconds: "
        + ", ".join(f"{name} {show(time, 's')}" for name, time in lines().items())
        + ". The units close because every number is bytes, or bytes per second one way. The arithmetic is right; "
        f"what to make of flat / hierarchical = {show(lines()['flat'] / lines()['hierarchical'])} is the "
        "question of rails-02."
    ),
)
