from netlib.collectives.training import Layout, axis_bytes, model, step_flows
from netlib.course.exercises import exercise
from netlib.units import GB, show

REPLICAS, MICRO = 64, 8
SHAPE = model("llama2-70b")


def sent(stage: int, local: bool = False, m: int = MICRO) -> float:
    layout = Layout(dp=REPLICAS, microbatches=m, zero=stage, local=local)
    return axis_bytes(step_flows(SHAPE, layout))["dp"]


DDP, FSDP, LOCAL = sent(0), sent(3), sent(3, local=True)

EXERCISE = exercise(
    id="zero-01",
    chapter="collectives",
    skill="sharding and gradient accumulation",
    stars=2,
    minutes=(6, 10),
    place=620,
    ask="Llama 2 70B (68.98 billion parameters, weights and gradients in BF16) trains on 64 GPUs, with data "
    "parallelism only and 8 microbatches a step. How many GB does a GPU send in a step by rings: `ddp`, which adds "
    "gradients locally and all-reduces once; `fsdp` (ZeRO-3), which in every microbatch gathers the weights for the "
    "forward and again for the backward pass and reduce-scatters the gradients; `local`, FSDP that keeps whole "
    "gradients and reduce-scatters them only after the last microbatch? How many times `ddp` is `fsdp` (`ratio`)?",
    answer=lambda: {"ddp": DDP, "fsdp": FSDP, "local": LOCAL, "ratio": FSDP / DDP},
    unit={"ddp": "GB", "fsdp": "GB", "local": "GB", "ratio": "x"},
    rtol=0.005,
    ranks={"ddp": REPLICAS, "fsdp": REPLICAS, "local": REPLICAS},
    hints=(
        "Count how often the whole model goes round the ring, microbatch by microbatch.",
        "One pass sends 63/64 of the model. Passes: all-reduce 2; FSDP 3 in each microbatch; local 2 in each, and 1.",
        "`once = 63 / 64 * 68.98 * 2; ddp = 2 * once`",
    ),
    wrong={
        "ddp": {
            DDP * MICRO / GB: "gradients are added locally first; they travel once a step",
            DDP / 2 / GB: "that is one pass; an all-reduce is a reduce-scatter and an all-gather",
        },
        "fsdp": {
            sent(3, m=1) / GB: "that is one microbatch; weights are gathered anew for each",
            2 * MICRO * DDP / 2 / GB: "the gradients are missing: a third pass in every microbatch",
            LOCAL / GB: "that reduces the gradients once; here each microbatch does",
        },
        "local": {
            FSDP / GB: "that reduces the gradients in every microbatch",
            sent(3, m=1) / GB: "that gathers the weights for one microbatch only",
        },
        "ratio": {
            FSDP / DDP / MICRO: "that is the ratio with one microbatch",
            LOCAL / DDP: "that is `local` over `ddp`",
            MICRO: "passes, not microbatches: three in each against two in all",
        },
    },
    right=(
        {"ddp": "272 GB", "fsdp": "3259 GB", "local": "2309 GB", "ratio": "12x"},
        (271.6, "3.26 TB", "2.31 TB", 12),
        ("271.6e9 B", "3259e9 B", "2309e9 B", "12 times"),
    ),
    explain=lambda: (
        f"{show(DDP, 'GB', 4)}, {show(FSDP, 'GB', 4)} and {show(LOCAL, 'GB', 4)}: FSDP sends {show(FSDP / DDP)} times "
        "what DDP does, since DDP pays once a step and FSDP in every microbatch. The factor 1.5 holds for one "
        "microbatch only. With many, shard only the optimizer (ZeRO-1), or shard inside a node and copy across. "
        "Source: Rajbhandari et al. 2020, section on communication; PyTorch's FSDP documentation, no_sync."
    ),
)
