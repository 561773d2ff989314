from netlib.collectives import bucket_size
from netlib.course.exercises import exercise
from netlib.units import GB, show

ALPHA, BANDWIDTH, NODES, GPUS = 5e-6, 50e9, 64, 8


def bucket(share: float = 0.1, g: int = GPUS, nodes: int = NODES) -> float:
    return float(bucket_size(share, ALPHA, BANDWIDTH, g, nodes))


EXERCISE = exercise(
    id="bucket-01",
    chapter="collectives",
    skill="bucket size",
    stars=3,
    minutes=(8, 15),
    place=101,
    ask="Gradients are all-reduced in buckets on 64 nodes of 8 GPUs. Inside a node a bucket is first spread "
    "over the eight GPUs at no cost; then each of eight rails runs a ring over the 64 nodes with its "
    "eighth of the bucket: 126 steps of 5 us each, 50 GB/s one way per NIC. How large must the bucket "
    "be, in GB, for latency to take one tenth of the total time of the rail ring?",
    answer=bucket,
    unit="GB",
    rtol=0.01,
    ranks=64,
    hints=(
        "If latency is a tenth of the whole, the transfer is nine tenths: nine times the latency.",
        "9 x 126 x alpha = 2 x 63/64 x (S/8) / B.",
        "`S = 9 * 126 * 5e-6 * 50e9 * 8 / ...`",
    ),
    wrong={
        bucket(1 / 11) / GB: "there latency is a tenth of the transfer; the question says a tenth of the total",
        bucket(nodes=GPUS * NODES) / GB: "that is one flat ring over 512 ranks on each rail; the rail rings have 64",
        bucket(g=1) / GB: "that is one rail's share; the bucket is spread over eight",
        bucket(0.9) / GB: "there latency takes nine tenths",
    },
    right=("1.15 GB", "1152 MB", "1.073 GiB", 1.152, "1.15e9 B"),
    explain=lambda: (
        f"126 x 5 us = {show(126 * ALPHA, 'us')} of latency; nine times that for the bytes gives "
        f"{show(bucket(), 'GB', 4)}. Small buckets overlap earlier with the backward pass, large ones waste "
        "less on latency: that is the trade a framework's bucket size makes, and why a hierarchy (fewer "
        "steps) permits smaller buckets."
    ),
)
