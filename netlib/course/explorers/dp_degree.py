"""Data-parallel degree: a sum over all GPUs that no wire carries, and what each NIC really sends."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.collectives import dp_bytes, shard_bytes, summed_bytes
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule
from netlib.hardware import bandwidth
from netlib.units import GB

GPUS, MODEL = 1024, 140 * GB  # a 70B model in BF16
MEMORY = 80 * GB  # of one A100 or H100 (NVIDIA data sheets)
CLAIM = 1.4e12  # bytes "synchronised" a step, as one of the articles this book answers has it


@explorer(
    "dp-degree",
    title="1.4 TB a step?",
    caption="Gradients of a 70B model on 1,024 GPUs. Multiplying GPUs by model counts buffers that no wire carries at "
    "once; more tensor or pipeline parallelism shrinks both that sum and what a NIC sends. 1.4 TB needs ten replicas, "
    "which 1,024 GPUs cannot form.",
    alt="Log-log lines over the data-parallel degree: the sum of all buffers rises from 140 GB to 143 TB, bytes per "
    "NIC run a thousand times lower and flatten, and a cross marks the claimed 1.4 TB at degree ten.",
)
def dp_degree(
    tp: Annotated[Array, Knob(1, 2, 4, 8, 10, 16, default=8, label="tensor parallel")],
    pp: Annotated[Array, Knob(1, 2, 4, 8, 10, 16, default=1, label="pipeline parallel")],
) -> Figure:
    """Everything over the degree D = 1,024 / (TP x PP), and the layout chosen."""
    d = np.array([2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], float)
    degree = GPUS / (tp * pp)
    whole = degree == np.floor(degree)
    dp = np.where(whole, degree, np.nan)
    shard = np.where(whole, shard_bytes(MODEL, tp, pp), np.nan)
    summed = np.where(whole, summed_bytes(MODEL, GPUS, tp, pp), np.nan)
    sent = np.where(whole, dp_bytes(shard_bytes(MODEL, tp, pp), np.where(whole, degree, 1)), np.nan)

    def failure(s: Mapping[str, Any]) -> str:
        if np.isnan(s["dp"]):
            return f"TP {s['tp']:.0f} x PP {s['pp']:.0f} = {s['tp'] * s['pp']:.0f} does not divide 1,024 GPUs."
        if 2 * s["shard"] > MEMORY:
            return (
                f"Does not fit: weights and gradients alone take {2 * s['shard'] / GB:,.0f} GB of a GPU's "
                f"{MEMORY / GB:.0f}, before any optimiser state."
            )
        return ""

    return Figure(
        x=Axis("data-parallel degree", "", "log"),
        y=Axis("bytes a step", "B", "log"),
        elements=(
            Line("summed", d, MODEL * d, "bound"),
            Line("per NIC", d, dp_bytes(MODEL * d / GPUS, d), "nic"),
            Line("held by a GPU", d, MODEL * d / GPUS, "compute"),
            Points("the claim", [CLAIM / MODEL], [CLAIM], "failure"),
            Rule(dp, "chosen: {at} replicas", ink="measured"),
        ),
        numbers={
            "dp": Number(dp, "replicas", "data-parallel degree"),
            "shard": Number(shard, "B", "gradients of one GPU"),
            "summed": Number(summed, "B", "summed over 1,024 GPUs"),
            "sent": Number(sent, "B", "sent by each NIC, ring"),
            "seconds": Number(sent / bandwidth("ndr-400"), "s", "on one 400 Gb/s NIC"),
            "claim": Number(CLAIM / MODEL, "replicas", "degree behind 1.4 TB"),
        },
        reading=lambda s: (
            "No layout: the claimed 1.4 TB likewise would need 10 replicas of 102.4 GPUs."
            if np.isnan(s["dp"])
            else f"TP {s['tp']:.0f} x PP {s['pp']:.0f} leaves {s['dp']:,.0f} replicas: buffers add up to "
            f"{s['summed'] / 1e12:.3g} TB, yet each NIC sends {s['sent'] / GB:.3g} GB in {s['seconds']:.3g} s."
        ),
        failure=failure,
    )
