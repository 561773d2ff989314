from netlib.collectives import hierarchical_allreduce_time, serial_stages
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GPUS, GRADS, NIC_800, NIC_1600, NODES, NVLINK5
from netlib.units import show

BEFORE = float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK5, NIC_800))
AFTER = float(hierarchical_allreduce_time(GRADS, GPUS, NODES, NVLINK5, NIC_1600))
INSIDE, ACROSS = (float(stage) for stage in serial_stages(GRADS, GPUS, NODES, NVLINK5, NIC_800))

EXERCISE = exercise(
    id="domain-01",
    chapter="collectives",
    skill="Amdahl's law",
    stars=2,
    minutes=(5, 8),
    place=41,
    ask="The serial hierarchy of program-01 (140e9 bytes per GPU, 128 nodes of 8, NVLink 900e9 bytes/s one "
    "way, no latency, no overlap) gets NICs of 1.6 Tb/s, 200e9 bytes/s one way, instead of 100e9. What "
    "is the new `time`, and how many times as fast is it (`speedup`: old time over new)? Three digits.",
    answer=lambda: {"time": AFTER, "speedup": BEFORE / AFTER},
    unit={"time": "s", "speedup": "x"},
    rtol={"time": 0.005, "speedup": 0.02},
    compare={"speedup": "excess"},
    ranks={"time": 8},
    hints=(
        "Only one of the two stages gets faster.",
        "time = NVLink stage + NIC stage / 2.",
        "`time = t_nvlink + ...`",
    ),
    wrong={
        "time": {
            BEFORE / 2: "that halves both stages; NVLink did not change",
            ACROSS / 2: "that is the NIC stage alone",
            BEFORE: "that is the time before the change",
        },
        "speedup": {
            2: "only the NIC stage is twice as fast; NVLink did not change",
            AFTER / BEFORE: "the ratio is upside down: old time over new",
        },
    },
    right=(("446 ms", "1.389x"), {"time": 0.4459, "speedup": 1.39}),
    explain=lambda: (
        f"{show(INSIDE, 's')} + {show(ACROSS, 's')} / 2 = {show(AFTER, 's')}, {show(BEFORE / AFTER, digits=4)} "
        f"times as fast. Amdahl: the NICs took {show(ACROSS / BEFORE, '%', 2)} of the time, and only that "
        "part halves."
    ),
)
