from netlib.collectives import hierarchical_allreduce_time, ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GPUS, GRADS, NIC_400, NODES, NVLINK4, NVLINK4_BOTH_WAYS, RANKS
from netlib.units import show


def lines() -> dict[str, float]:
    return {
        "node": float(ring_allreduce_time(GRADS, GPUS, NVLINK4)),
        "flat": float(ring_allreduce_time(GRADS, RANKS, NIC_400)),
        "hierarchical": float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK4, NIC_400)),
    }


MIXED = float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK4_BOTH_WAYS, NIC_400))

EXERCISE = exercise(
    id="program-02",
    chapter="collectives",
    skill="unit discipline",
    stars=2,
    minutes=(6, 10),
    place=22,
    ask="The same all-reduce (140e9 bytes per GPU, no latency, no overlap, stages in series) on H100 nodes. "
    "The data sheet says: NVLink 900 GB/s per GPU, both directions added; one 400 Gb/s NIC per GPU. How "
    "many seconds for the ring over 8 GPUs (`node`), the single ring over 1,024 GPUs at one NIC's speed "
    "(`flat`) and the hierarchy of 128 nodes of 8 (`hierarchical`)? Three digits.",
    answer=lines,
    unit="s",
    rtol=0.005,
    ranks={"node": 8, "flat": 1024, "hierarchical": 8},
    hints=(
        "Bring both links to one convention first: bytes per second, one way.",
        "900 GB/s both ways is 450 GB/s one way; 400 Gb/s is 50 GB/s.",
        "`node = 2 * 7 / 8 * 140e9 / 450e9`",
    ),
    wrong={
        "node": {
            float(ring_allreduce_time(GRADS, GPUS, NVLINK4_BOTH_WAYS)): "NVLink's two directions are added in the data "
            "sheet; a ring sends one way"
        },
        "flat": {
            GRADS / 400e9 * 2 * (RANKS - 1) / RANKS: "a 400 Gb/s NIC moves 50 GB/s; bits were read as bytes",
        },
        "hierarchical": {
            MIXED: "NVLink was counted both ways and the NIC one way; one convention for both",
            float(ring_allreduce_time(GRADS / GPUS, NODES, NIC_400)): "that is the NIC stage alone",
        },
    },
    right=({"node": 0.544, "flat": 5.59, "hierarchical": 1.24}, ("544 ms", "5590 ms", "1239 ms")),
    explain=lambda: (
        "In seconds: "
        + ", ".join(f"{name} {show(time, 's')}" for name, time in lines().items())
        + f". Mixing 900 (both ways) with 50 (one way) gives {show(MIXED, 's')} for the hierarchy, "
        f"{show(1 - MIXED / lines()['hierarchical'], '%', 2)} too little: only the NVLink stage is wrong, so "
        "the error hides."
    ),
)
