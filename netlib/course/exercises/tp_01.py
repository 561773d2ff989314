from netlib.collectives import tp_bytes
from netlib.course.exercises import exercise
from netlib.hardware import bandwidth, fact
from netlib.units import GB, show

PARAMETERS, LAYERS, HIDDEN, TOKENS, TP, MFU = 70e9, 80, 8192, 8192, 8, 0.4
SENT = float(tp_bytes(LAYERS, TOKENS, HIDDEN, 2, TP))
COMPUTE = 6 * PARAMETERS * TOKENS / (TP * MFU * fact("bf16-h100").value)


def share(rate: float, sent: float = SENT) -> float:
    return sent / rate / (sent / rate + COMPUTE)


def rate_for(part: float) -> float:
    """The rate at which the all-reduces take this part of the step."""
    return SENT * (1 - part) / part / COMPUTE


NVLINK, NIC = bandwidth("nvlink4"), bandwidth("ndr-400")

EXERCISE = exercise(
    id="tp-01",
    chapter="scale-up",
    skill="tensor parallelism's share",
    stars=3,
    minutes=(8, 14),
    place=131,
    ask="A 70B model (80 layers, hidden size 8,192) is cut over 8 H100 by tensor parallelism. A step has 8,192 tokens "
    "and computes 6 x 70e9 x tokens FLOP, without recomputation, on 8 GPUs at 40 % of 989.4 TFLOP/s. Each layer makes "
    "four all-reduces of tokens x hidden numbers in BF16, by a ring: 2 x 7/8 of them leave each GPU. No latency, "
    "nothing overlaps. Which share of the step (computing plus all-reduces) are the all-reduces over `nvlink`, 450 "
    "GB/s one way, and over one `nic` of 400 Gb/s per GPU? And which `rate`, in GB/s one way, brings them to 25 %?",
    answer=lambda: {"nvlink": share(NVLINK), "nic": share(NIC), "rate": rate_for(0.25)},
    unit={"nvlink": "%", "nic": "%", "rate": "GB/s"},
    rtol=0.01,
    ranks={"rate": 8},
    hints=(
        "Two times: computing, and bytes over a rate. The share is one over their sum.",
        "bytes = 80 x 4 x 8192 x 8192 x 2 x 2(8-1)/8; compute = 6 x 70e9 x 8192 / (8 x 0.4 x 989.4e12).",
        "`t = 75.2e9 / rate; share = t / (t + ...)`",
    ),
    wrong={
        "nvlink": {
            100 * share(2 * NVLINK): "that uses the sum of both directions, or counts half of the bytes",
            100 * SENT / NVLINK / COMPUTE: "that is the all-reduces over the computing; the step is both",
            100 * share(NVLINK, SENT / LAYERS): "that is one layer; there are eighty",
        },
        "nic": {
            100 * SENT / NIC / COMPUTE: "that is the all-reduces over the computing; the step is both",
            100 * share(8 * NIC): "that gives each GPU eight NICs",
            100 * share(NIC, SENT / 2): "that counts half of the bytes: four all-reduces a layer, two passes each",
        },
        "rate": {
            SENT / 0.25 / COMPUTE / GB: "that makes them a quarter of the computing; the step is both together",
            SENT / COMPUTE / GB: "at that rate they take half of the step",
            rate_for(0.75) / GB: "at that rate they take three quarters",
        },
    },
    right=(
        {"nvlink": "13.3 %", "nic": "58 %", "rate": "207 GB/s"},
        (13.32, 58.04, 207.5),
        ("13.3%", "58.0%", "1.66 Tb/s"),
    ),
    explain=lambda: (
        f"Each GPU sends {show(SENT, 'GB')} and computes for {show(COMPUTE, 's')}. Over NVLink the all-reduces take "
        f"{show(share(NVLINK), '%')} of the step, over the NIC {show(share(NIC), '%')}; a quarter needs "
        f"{show(rate_for(0.25), 'GB/s')}. No law forbids tensor parallelism across the domain: it has a price, which "
        "four NICs, overlap or a wider model lower. Tokens cancel: both times grow with them."
    ),
)
