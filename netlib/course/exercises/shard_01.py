from netlib.collectives import dp_bytes, zero_bytes
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GRADS, RANKS
from netlib.units import GB, show

DDP = float(dp_bytes(GRADS, RANKS))
FSDP = float(zero_bytes(GRADS, RANKS, stage=3))

EXERCISE = exercise(
    id="shard-01",
    chapter="collectives",
    skill="traffic of sharding",
    stars=2,
    minutes=(6, 10),
    place=61,
    ask="A 70B model in BF16 (140 GB of weights, 140 GB of gradients) trains on 1,024 GPUs with data "
    "parallelism only. How many GB does each GPU send per step with ring collectives: `ddp` all-reduces "
    "the gradients; `fsdp` (ZeRO-3, sharded over all 1,024) all-gathers the weights for the forward and "
    "again for the backward pass and reduce-scatters the gradients, all in BF16, one micro-batch a "
    "step? And what is the `ratio` fsdp / ddp?",
    answer=lambda: {"ddp": DDP, "fsdp": FSDP, "ratio": FSDP / DDP},
    unit={"ddp": "GB", "fsdp": "GB", "ratio": "x"},
    rtol={"ddp": 0.005, "fsdp": 0.005, "ratio": 0.02},
    compare={"ratio": "excess"},
    ranks={"ddp": 1024, "fsdp": 1024},
    hints=(
        "Count passes: how often does the whole model's worth of bytes go round the ring?",
        "All-reduce is two passes, FSDP three; each pass sends (N-1)/N of 140 GB.",
        "`ddp = 2 * 1023 / 1024 * 140`",
    ),
    wrong={
        "ddp": {
            GRADS / GB: "that is one pass; an all-reduce is a reduce-scatter and an all-gather",
            GRADS * RANKS / GB: "that adds up all GPUs' buffers; the question is per GPU",
        },
        "fsdp": {
            DDP / GB: "that is ZeRO-1 or 2; stage 3 gathers the weights a second time",
            2 * DDP / GB: "that is four passes; count them again",
        },
        "ratio": {1: "that holds for ZeRO-1 and 2, not for FSDP", DDP / FSDP: "the ratio is upside down"},
    },
    right=({"ddp": 280, "fsdp": 420, "ratio": 1.5}, ("279.7 GB", "419.6e9 B", "1.5x"), ("260.5 GiB", "0.42 TB", 1.5)),
    explain=lambda: (
        f"DDP {show(DDP, 'GB', 4)}, FSDP {show(FSDP, 'GB', 4)}: {show(FSDP / DDP, digits=2)} times as much. "
        "Sharding the weights too saves memory and pays with traffic; it hides well, because each layer's "
        "gather can run while another layer computes. Source: Rajbhandari et al. 2020, section on communication."
    ),
)
