from netlib.collectives import hierarchical_allreduce_time
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GPUS, GRADS, NIC_800, NIC_1600, NODES, NVLINK5, NVLINK6
from netlib.units import show

BEFORE = float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK5, NIC_800))
AFTER = float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK6, NIC_1600))
NIC_ONLY = float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK5, NIC_1600))

EXERCISE = exercise(
    id="domain-03",
    chapter="collectives",
    skill="balance",
    stars=1,
    minutes=(3, 5),
    place=43,
    ask="Rubin pairs NVLink 6 (1,800e9 bytes/s per GPU) with 200e9 bytes/s of NICs per GPU, both one way. "
    "How many times as fast is the serial hierarchy of program-01 (128 nodes of 8, 140e9 bytes, no "
    "latency, no overlap) as on 900e9 and 100e9?",
    answer=lambda: BEFORE / AFTER,
    unit="x",
    rtol=0.01,
    compare="excess",
    hints=(
        "What changed in each of the two stages?",
        "Both stages shrink by the same factor.",
        "`(t_nvlink + t_nic) / (t_nvlink / 2 + ...)`",
    ),
    wrong={
        BEFORE / NIC_ONLY: "that changes the NICs only (domain-01); NVLink doubled too",
        4: "two stages in series, each twice as fast, do not multiply",
        AFTER / BEFORE: "the ratio is upside down: old time over new",
    },
    right=("2x", "2.0 times", 2.0),
    explain=lambda: (
        f"{show(BEFORE, 's')} / {show(AFTER, 's')} = {show(BEFORE / AFTER)}. A generation that doubles both "
        "links keeps the balance, so nothing else has to change; doubling one of them buys less (domain-01)."
    ),
)
