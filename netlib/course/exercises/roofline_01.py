from netlib.course.exercises import exercise
from netlib.hardware import bandwidth, fact
from netlib.units import show

PEAK = {"h100": fact("bf16-h100").value, "b200": fact("bf16-b200").value}
NVLINK = {"h100": bandwidth("nvlink4"), "b200": bandwidth("nvlink5")}
NEED = {chip: PEAK[chip] / NVLINK[chip] for chip in PEAK}
LOCAL = PEAK["h100"] / bandwidth("hbm-h100")


def over_nic() -> float:
    return PEAK["h100"] / bandwidth("ndr-400")


EXERCISE = exercise(
    id="roofline-01",
    chapter="scale-up",
    skill="a roofline for remote bytes",
    stars=2,
    minutes=(4, 7),
    place=181,
    ask="A kernel fetches operands from another GPU's memory and overlaps that perfectly with computing. How many FLOP "
    "must it do with each byte that arrives, so that computing is not the one that waits? Dense BF16 at the peak: "
    "H100 989.4 TFLOP/s, B200 (in an HGX board) 2,250 TFLOP/s. NVLink as printed, both ways: 900 GB/s and 1.8 TB/s. "
    "Give `h100` and `b200` over NVLink, and `nic`: the H100 over its NIC of 400 Gb/s. FLOP per byte, three digits or "
    "more.",
    answer=lambda: {**NEED, "nic": over_nic()},
    unit={"h100": "FLOP/B", "b200": "FLOP/B", "nic": "FLOP/B"},
    rtol=0.01,
    hints=(
        "At the break-even point both take the same time: computing the FLOP and fetching the bytes.",
        "FLOP per byte = peak / rate of the link, one way.",
        "`h100 = 989.4e12 / 450e9`",
    ),
    wrong={
        "h100": {
            PEAK["h100"] / NVLINK["h100"] / 2: "operands arrive one way; half of the printed rate",
            LOCAL: "that is the roofline of its own memory, which is faster",
            2 * PEAK["h100"] / NVLINK["h100"]: "1,979 TFLOP/s is with sparsity; dense is half",
        },
        "b200": {
            PEAK["b200"] / NVLINK["b200"] / 2: "operands arrive one way; half of the printed rate",
            fact("bf16-gb200").value / NVLINK["b200"]: "that is the GPU of a GB200, which is sold faster",
            PEAK["b200"] / bandwidth("hbm-b200"): "that is the roofline of its own memory, which is faster",
        },
        "nic": {
            PEAK["h100"] / 400e9: "400 Gb/s are bits; eight make a byte",
            PEAK["h100"] / 100e9: "a NIC's rate is printed one way already",
            NEED["h100"]: "that is NVLink",
        },
    },
    right=({"h100": 2199, "b200": 2500, "nic": 19788}, ("2,199", 2500.0, "1.98e4"), (2.2e3, "2,500", "19,800")),
    explain=lambda: (
        f"989.4e12 / 450e9 = {show(NEED['h100'], digits=4)} FLOP for each byte over NVLink, on a B200 "
        f"{show(NEED['b200'], digits=4)}, over the NIC {show(over_nic(), digits=5)}; the H100's own memory asks for "
        f"{show(LOCAL)}. NVLink doubled and arithmetic grew more: the newer chip needs more work for each remote byte."
    ),
)
