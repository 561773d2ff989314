from netlib.collectives import inside_outside_balance
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import NIC_800, NODES, NVLINK5
from netlib.units import show


def balance(nodes: float = float("inf")) -> float:
    return round(float(inside_outside_balance(NVLINK5, NIC_800, nodes)), 9)


EXERCISE = exercise(
    id="domain-04",
    chapter="collectives",
    skill="balance",
    stars=3,
    minutes=(6, 12),
    place=44,
    ask="At which domain size g do the NVLink half and the NIC half of the serial hierarchy take the same "
    "time? NVLink 900e9 and one NIC of 100e9 bytes/s per GPU, one way, no latency, and so many nodes "
    "that (M-1)/M is 1.",
    answer=balance,
    unit="GPUs",
    compare="exact",
    hints=(
        "Write both halves as a function of g and set them equal; S cancels.",
        "2(g-1)/g S / B_up = 2 (S/g) / B_out.",
        "`(g - 1) / 900e9 = 1 / ...`",
    ),
    wrong={
        9: "that is the ratio of the bandwidths; in a ring a rank keeps its own chunk at home",
        balance(NODES): "that is for 128 nodes; the question takes (M-1)/M as 1",
        8: "at 8 the NIC half is still the longer one",
        18: "one of the bandwidths was taken both ways",
    },
    right=(10.0, "10 GPUs", "10"),
    explain=lambda: (
        f"2(g-1)/g S/B_up = 2 (S/g)/B_out gives g = 1 + B_up/B_out = {balance():g}. Below it the NICs are "
        f"the slow half, above it NVLink. With 128 nodes the exact value is {show(balance(NODES), digits=4)}."
    ),
)
