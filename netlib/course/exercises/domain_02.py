from netlib.collectives import hierarchical_allreduce_time, multirail_ring_allreduce_time, serial_stages
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GRADS, NIC_800, NVLINK5
from netlib.units import show

G, RACKS = 72, 14
INSIDE, ACROSS = (float(stage) for stage in serial_stages(GRADS, G, RACKS, NVLINK5, NIC_800))


def time() -> float:
    return float(hierarchical_allreduce_time(GRADS, G, RACKS, NVLINK5, NIC_800))


EXERCISE = exercise(
    id="domain-02",
    chapter="collectives",
    skill="domain size",
    stars=2,
    minutes=(6, 10),
    place=42,
    ask="Put 72 GPUs in each NVLink domain: 14 racks, 1,008 GPUs, one NIC of 100e9 bytes/s per GPU, NVLink "
    "900e9 bytes/s, both one way; 140e9 bytes per GPU, serial hierarchy, no latency. What is the "
    "`time`, and which `share` of it is spent on NVLink? Three digits.",
    answer=lambda: {"time": time(), "share": INSIDE / time()},
    unit={"time": "s"},
    rtol={"time": 0.005, "share": 0.02},
    compare={"share": "complement"},
    ranks={"time": 72},
    hints=(
        "Same two stages, with g = 72 and 14 racks.",
        "time = ring(S, 72, NVLink) + ring(S/72, 14, NIC); share = first stage / time.",
        "`time = 2 * 71 / 72 * 140e9 / 900e9 + 2 * 13 / 14 * 140e9 / 72 / ...`",
    ),
    wrong={
        "time": {
            INSIDE: "that is the NVLink stage alone",
            INSIDE + ACROSS * 9: "each NIC carries 1/72 of the buffer now, not 1/8",
            float(
                multirail_ring_allreduce_time(GRADS, G, RACKS, NVLINK5, NIC_800)
            ): "that is the flat ring on all NICs",
        },
        "share": {
            ACROSS / (INSIDE + ACROSS): "that is the share of the NICs",
            0.5: "the halves are equal at g = 10, not at 72",
        },
    },
    right=(("343 ms", "89.5 %"), {"time": 0.343, "share": 0.895}),
    explain=lambda: (
        f"{show(INSIDE, 's')} on NVLink + {show(ACROSS, 's')} on the NICs = {show(time(), 's')}; NVLink "
        f"takes {show(INSIDE / time(), '%')}. A larger domain takes bytes off the NICs until NVLink is the "
        "slow half: faster NICs would now buy little."
    ),
)
