from netlib.collectives.training import model, training_flops
from netlib.course.exercises import exercise
from netlib.hardware import fact
from netlib.units import show

A100 = fact("bf16-a100").value
TOKENS, SECONDS, GPUS = 6144 * 2048, 6.34, 12_288
MEGATRON, MEGASCALE, V3 = model("megatron-1t"), model("megascale-175b"), model("deepseek-v3")
HFU = 163e12 / A100
DAY, H800, PEAK = 272.8e9, 2048, fact("bf16-h100").value


def megascale() -> float:
    return TOKENS * float(training_flops(MEGASCALE)) / (SECONDS * GPUS * A100)


def megatron() -> float:
    ratio = float(training_flops(MEGATRON)) / float(training_flops(MEGATRON, recompute=True))
    return HFU * ratio


def deepseek() -> float:
    return DAY * float(training_flops(V3, causal=True)) / (86_400 * H800 * PEAK)


EXERCISE = exercise(
    id="mfu-01",
    chapter="collectives",
    skill="model and hardware FLOPs",
    stars=2,
    minutes=(8, 12),
    place=640,
    ask="Three published runs; A100 peak 312, H800 peak 989.4 TFLOP/s in BF16. `megascale`: 6,144 sequences of 2,048 "
    "tokens a step of 6.34 s on 12,288 A100; forward and backward pass cost 1.0774 TFLOP a token. What is its model "
    "FLOPs utilisation (MFU)? `megatron`: 163 TFLOP/s a GPU printed for a 1T model on A100, counting four passes of "
    "the layers: forward, again for recomputation, and backward, which is worth two. What is its MFU, without "
    "recomputation (take all FLOPs to be in the layers)? `deepseek`: 272.8 billion tokens a day on 2,048 H800, 250.46 "
    "GFLOP a token. What is its MFU against the BF16 peak?",
    answer=lambda: {"megascale": megascale(), "megatron": megatron(), "deepseek": deepseek()},
    unit={"megascale": "%", "megatron": "%", "deepseek": "%"},
    rtol=0.01,
    hints=(
        "MFU is what the model needs over what the GPUs could do in the time.",
        "MFU = tokens x FLOP a token / (seconds x GPUs x peak); without recomputation three passes of four remain.",
        "`megascale = 6144 * 2048 * 1.0774e12 / (6.34 * 12288 * ...)`",
    ),
    wrong={
        "megascale": {
            100 * megascale() / 2: "that takes the peak with sparsity, 624 TFLOP/s",
            100 * megascale() * 4 / 3: "that counts recomputation, which this system does not do and MFU never counts",
            100 * megascale() / 3: "that counts the forward pass alone",
        },
        "megatron": {
            100 * HFU: "that counts the recomputed pass: it is the hardware's utilisation, not the model's",
            100 * HFU * 4 / 3: "recomputation inflates the printed number; take it away",
            100 * HFU / 2: "one pass of four is recomputed, not two",
        },
        "deepseek": {
            100 * deepseek() / 2: "FP8 has twice the peak, but the question (and the paper) takes BF16's",
            100 * deepseek() * 24: "a day has 24 hours",
            100 * deepseek() * float(training_flops(V3) / training_flops(V3, causal=True)): (
                "that counts attention scores that a token may not see"
            ),
        },
    },
    right=(
        {"megascale": "55.8 %", "megatron": "39.2 %", "deepseek": "39.0 %"},
        (55.8, 39.2, 39.0),
        ("55.77%", "39.2%", "39%"),
    ),
    explain=lambda: (
        f"{show(megascale(), '%')} (the paper prints 55.2 %: its sliding window spares a little), "
        f"{show(megatron(), '%')} and {show(deepseek(), '%')} (printed 38.9 %). Megatron-LM's famous 52 % is what the "
        "hardware did, recomputation included; beside the other two it has to be read as 39 %. Before you compare two "
        "utilisations, ask which FLOPs, which peak, which attention."
    ),
)
