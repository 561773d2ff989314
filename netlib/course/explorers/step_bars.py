"""A step in parts: how a layout divides the seconds among work, waiting for each axis and the pipeline's bubble."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives.training import Layout, TrainingStep, model, runs, step_flows, step_time, with_batch
from netlib.collectives.training.published import BUCKET, cluster
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Rule

SHAPE, MACHINE = model("megascale-175b"), cluster("a100")
BATCH, MEMORY = 768, 80e9  # sequences in a step; bytes of one A100 (NVIDIA data sheet)
GPUS, TP, PP = (256, 512, 1024), (1, 2, 4, 8, 16), (1, 2, 4, 8, 16)
HIDE: tuple[Mapping[str, float] | None, ...] = (None, {"tp": 1.0, "pp": 1.0})
PARTS = ("matrix products", "memory", "waits for tp", "waits for pp", "waits for dp", "bubble")
INKS = ("compute", "latency", "nvlink", "nic", "queue", "bound")
PAPERS = ("megascale-baseline", "megascale")
PRINTED = {gpus: [next(run for run in runs(paper) if run.gpus == gpus) for paper in PAPERS] for gpus in GPUS}


def layout_of(gpus: int, tp: int, pp: int) -> Layout:
    """Chunks as MegaScale has them, six a stage, where the pipeline divides the layers and the batch; else one."""
    chosen = with_batch(Layout(tp=tp, pp=pp, dp=gpus // (tp * pp), zero=1, sequence_parallel=tp > 1), BATCH)
    chunks = pp > 1 and SHAPE.layers % (6 * pp) == 0 and chosen.microbatches % pp == 0
    return replace(chosen, virtual=6 if chunks else 1)


def steps(gpus: int, tp: int, pp: int) -> tuple[TrainingStep, ...]:
    """The step with nothing hidden, and with everything that can be; ValueError where the layout does not fit."""
    layout = layout_of(gpus, tp, pp)
    flows = step_flows(SHAPE, layout)
    return tuple(
        step_time(
            SHAPE, layout, MACHINE, flows, hidden=hide, bucket=BUCKET if hide else None, fused_attention=bool(hide)
        )
        for hide in HIDE
    )


@cache
def state(gpus: int, tp: int, pp: int) -> Array:
    """(2, parts) seconds, MFU of both, share of exposed communication, bytes a GPU must hold."""
    try:
        both = steps(gpus, tp, pp)
    except ValueError:
        return np.full(2 * len(PARTS) + 5, np.nan)
    seconds = [[dict(step.parts).get(name, 0.0) for name in PARTS] for step in both]
    held = SHAPE.parameters / (tp * pp) * (2 + 2 + 12 * tp * pp / gpus)  # weights, gradients, shards of Adam's state
    return np.array([*seconds[0], *seconds[1], *(step.mfu for step in both), both[0].share, both[0].total, held])


@explorer(
    "step-bars",
    title="Where a step's time goes",
    caption="A 175B model, 768 sequences of 2,048 tokens, A100 nodes of eight with a 200 Gb/s card a GPU, ZeRO-1 and "
    "sequence parallelism. Nothing is fitted, and kernels run at the best measured rate: a bound from below. Lines: "
    "what MegaScale's authors printed for their layout, 8 x 8, before and after their work.",
    alt="Two stacked bars of GPU seconds for each sequence, with nothing and with everything hidden, below two level "
    "lines of published times; waiting for tensor parallelism is the largest part after the matrix products.",
)
def step_bars(
    tp: Annotated[Array, Knob(*TP, default=8, label="tensor parallel")],
    pp: Annotated[Array, Knob(*PP, default=8, label="pipeline parallel")],
    gpus: Annotated[Array, Knob(*GPUS, default=1024, unit="GPUs", label="cluster")],
) -> Figure:
    """Seconds of a step, part by part, with nothing and with everything hidden."""
    found = each(state, gpus, tp, pp)
    n = len(PARTS)
    seconds = found[..., : 2 * n].reshape(*found.shape[:-1], 2, n)
    of_one = seconds * (gpus / BATCH)[..., None]  # GPU seconds of one sequence: any size on one scale
    bare, hidden, share, total, held = (found[..., 2 * n + i : 2 * n + i + 1] for i in range(5))
    before, after = (each(lambda g, i=i: PRINTED[g][i].seconds, gpus) + 0 * held for i in (0, 1))

    def failure(s: Mapping[str, Any]) -> str:
        if np.isnan(s["total"]):
            return f"TP {s['tp']:.0f} x PP {s['pp']:.0f} does not divide the layers, the GPUs or the batch."
        if s["held"] > MEMORY:
            return f"Does not fit: weights, gradients and Adam's shard take {s['held'] / 1e9:,.0f} GB of a GPU's 80."
        if s["share"] > 0.35:
            return (
                f"With nothing hidden, {s['share']:.0%} of the step is waiting: tensor parallelism has left its node."
            )
        return ""

    return Figure(
        x=Axis("communication", categories=("nothing hidden", "all that can be hidden")),
        y=Axis("GPU time for a sequence", "s"),
        elements=(
            *(
                Bars(name, of_one[..., k], ink, stacked=k > 0)
                for k, (name, ink) in enumerate(zip(PARTS, INKS, strict=True))
            ),
            Rule(before * gpus / BATCH, "printed, Megatron-LM at 8 x 8: {at}", along="y", ink="measured"),
            Rule(after * gpus / BATCH, "printed, MegaScale: {at}", along="y", ink="measured"),
        ),
        numbers={
            "total": Number(total, "s", "step with nothing hidden"),
            "bare": Number(bare, "%", "MFU with nothing hidden"),
            "hidden": Number(hidden, "%", "MFU with everything hidden"),
            "share": Number(share, "%", "of the step waits for communication, nothing hidden"),
            "held": Number(held, "B", "weights, gradients and optimiser state of a GPU"),
            "before": Number(before, "s", "printed: Megatron-LM"),
            "after": Number(after, "s", "printed: MegaScale"),
        },
        reading=lambda s: (
            "This layout does not run."
            if np.isnan(s["total"])
            else f"TP {s['tp']:.0f}, PP {s['pp']:.0f}, {s['gpus'] / s['tp'] / s['pp']:.0f} replicas: "
            f"{s['total']:.3g} s a step and {s['bare']:.0%} MFU with nothing hidden, {s['hidden']:.0%} with all; "
            f"{s['share']:.0%} of the first is waiting."
        ),
        failure=failure,
    )
