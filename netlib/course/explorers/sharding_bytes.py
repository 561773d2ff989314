"""Sharding: what DDP and the stages of ZeRO send, and what they keep."""

from typing import Annotated

import numpy as np

from netlib.collectives import dp_bytes, zero_bytes
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Panel, Rule
from netlib.hardware import bandwidth
from netlib.units import GB

MEMORY = 80 * GB  # of one A100 or H100 (NVIDIA data sheets)
STAGES = ("DDP", "ZeRO-1", "ZeRO-2", "ZeRO-3 (FSDP)")
# Rajbhandari et al. (2020), section 3: bytes per parameter of weights, gradients and Adam's state in mixed precision
WEIGHTS, GRADIENTS, ADAM = 2, 2, 12


@explorer(
    "sharding-bytes",
    title="Sharding saves memory, not traffic",
    caption="One step of mixed-precision training, ring collectives. DDP's all-reduce is a reduce-scatter and an "
    "all-gather, so ZeRO-1 and 2 send the same; ZeRO-3 gathers the weights once more. What shrinks is the memory "
    "below.",
    alt="Upper panel: four stacked bars of bytes sent per rank, the first three equal and two blocks high, the "
    "fourth three blocks. Lower panel: memory per rank on a log axis, falling from DDP to ZeRO-3, with a mark at one "
    "GPU's memory.",
)
def sharding_bytes(
    dp: Annotated[
        Array, Knob(2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, default=1024, unit="ranks", label="data-parallel ranks")
    ],
    params: Annotated[Array, Knob(3, 7, 13, 34, 70, default=70, unit="billion", label="parameters")],
) -> Figure:
    """Bytes and resident model state per rank; activations come on top."""
    count = params * 1e9
    model = WEIGHTS * count
    half = dp_bytes(model, dp) / 2  # one reduce-scatter, or one all-gather
    sent = np.concatenate([zero_bytes(model, dp, stage) for stage in range(4)], axis=-1)
    kept = np.concatenate(
        [
            count
            * (WEIGHTS / (dp if stage > 2 else 1) + GRADIENTS / (dp if stage > 1 else 1) + ADAM / (dp if stage else 1))
            for stage in range(4)
        ],
        axis=-1,
    )
    fits = kept <= MEMORY
    first = np.where(fits.any(axis=-1), fits.argmax(axis=-1), np.nan)[..., None]
    return Figure(
        x=Axis("what is sharded", categories=STAGES),
        y=Axis("sent per rank and step", "B"),
        elements=(
            Bars("reduced", half * np.ones(4), "compute"),
            Bars("gathered", half * np.ones(4), "nic", stacked=True),
            Bars("gathered again", sent - 2 * half, "lost", stacked=True),
        ),
        below=Panel(
            Axis("kept per rank", "B", "log"),
            (Bars("kept", kept, "model"), Rule(MEMORY, "one GPU: {at}", along="y")),
            height=0.8,
        ),
        numbers={
            "ddp": Number(sent[..., :1], "B", "sent, DDP"),
            "fsdp": Number(sent[..., 3:], "B", "sent, ZeRO-3"),
            "seconds": Number(sent[..., 3:] / bandwidth("ndr-400"), "s", "ZeRO-3 on one 400 Gb/s NIC"),
            "whole": Number(kept[..., :1], "B", "kept, DDP"),
            "least": Number(kept[..., 3:], "B", "kept, ZeRO-3"),
            "first": Number(first, "", "least stage that fits"),
        },
        reading="On {dp} each rank sends {ddp} a step under DDP, ZeRO-1 and ZeRO-2 and {fsdp} under ZeRO-3, half as "
        "much again; it keeps {whole} under DDP and {least} under ZeRO-3.",
        failure=lambda s: (
            f"{s['params']:.0f} billion parameters fit no GPU of 80 GB at any stage: {s['least'] / GB:,.0f} GB remain."
            if np.isnan(s["first"])
            else f"DDP does not fit: {s['whole'] / GB:,.0f} GB on a GPU of 80. The first that does is "
            f"{STAGES[int(s['first'])]}."
            if s["first"] > 0
            else ""
        ),
    )
