"""Bucket size: how much of an all-reduce is waiting, by how many gradients wait for each other."""

from typing import Annotated

import numpy as np

from netlib.collectives import bucket_size as balanced_bucket
from netlib.collectives import multirail_ring_allreduce_time, ring_allreduce_time
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import GB, MB, MiB

G, SHARE = 8, 0.1
DEFAULT = 25 * MiB  # bucket_cap_mb of PyTorch's DistributedDataParallel
NICS = tuple(bandwidth(port) for port in ("hdr-200", "ndr-400", "xdr-800"))
NVLINK = bandwidth("nvlink5")


@explorer(
    "bucket-size",
    title="How large a bucket?",
    caption="Share of an all-reduce that is latency, for nodes of eight GPUs with a NIC each. Rail rings take "
    "2(nodes-1) steps, a ring through every GPU more than eight times as many. Large buckets hide latency but start "
    "late; the mark shows where a tenth is lost.",
    alt="Two falling S-shaped curves of latency share over bucket size on a log axis, the rail ring's well to the "
    "left of the flat ring's; marks at a tenth of the time and at the usual 25 MiB bucket, which lies high on both "
    "curves.",
)
def bucket_size(
    alpha: Annotated[Array, Knob(1e-6, 2e-6, 5e-6, 10e-6, 20e-6, default=5e-6, unit="s", label="latency per step")],
    nodes: Annotated[Array, Knob(2, 8, 16, 32, 64, 128, 256, 512, 1024, default=64, unit="nodes of 8 GPUs")],
    nic: Annotated[Array, Knob(*NICS, default=NICS[1], unit="B/s", label="NIC per GPU, one way")],
) -> Figure:
    """Latency over the whole, from the closed forms with and without bytes."""
    size = np.geomspace(MB, 100 * GB, 81)
    out, up = Link(alpha, nic), Link(alpha, NVLINK)

    def rail(bytes_: float | Array) -> Array:
        return ring_allreduce_time(np.asarray(bytes_) / G, nodes, out)

    def flat(bytes_: float | Array) -> Array:
        return multirail_ring_allreduce_time(bytes_, G, nodes, up, out)

    tenth = balanced_bucket(SHARE, alpha, nic, G, nodes)
    return Figure(
        x=Axis("bucket", "B", "log"),
        y=Axis("latency's share of the time", "%", limits=(0.0, 1.0)),
        elements=(
            Line("rail rings", size, rail(0) / rail(size), "hierarchy"),
            Line("ring through every GPU", size, flat(0) / flat(size), "ring"),
            Rule(SHARE, "a tenth", along="y"),
            Rule(tenth, "rails: {at}"),
            Rule(float(DEFAULT), "PyTorch: {at}", ink="measured"),
        ),
        numbers={
            "tenth": Number(tenth, "B", "bucket with a tenth lost, rail rings"),
            "flat": Number(
                (1 / SHARE - 1) * flat(0) / (flat(1e9) - flat(0)) * 1e9, "B", "the same, ring through every GPU"
            ),
            "usual": Number(rail(0) / rail(DEFAULT), "%", "latency's share of a 25 MiB bucket, rail rings"),
            "steps": Number(2 * (nodes - 1), "steps", "steps of a rail ring"),
            "time": Number(rail(tenth), "s", "time of that bucket"),
        },
        reading="{steps} of {alpha} on {nodes}: rail rings lose a tenth to latency with buckets of {tenth} ({time} "
        "each), a ring through every GPU with {flat}.",
        failure=lambda s: (
            f"PyTorch's usual 25 MiB bucket spends {s['usual']:.1%} of its time waiting for steps: the NICs are "
            "almost idle."
            if s["usual"] > 0.75
            else ""
        ),
    )
