from netlib.course.exercises import exercise
from netlib.hardware import bandwidth, fact
from netlib.units import GB, show

PORT = bandwidth("cx8")
GEN5, GEN6 = bandwidth("pcie5-x16"), bandwidth("pcie6-x16")
RAW6 = fact("pcie6-lane").value * 16 / 8
LIMITS = {"a": "the PCIe slot", "b": "the network port", "c": "both, exactly equal", "d": "the GPU's memory"}


def limit() -> str:
    return "a" if GEN6 < PORT else "b"


EXERCISE = exercise(
    id="pcie-01",
    chapter="scale-up",
    skill="the narrowest link",
    stars=1,
    minutes=(4, 7),
    place=171,
    ask="A ConnectX-8 has a network port of 800 Gb/s each way. Generation 5 of PCIe moves 32 GT/s on each of 16 lanes, "
    "128 bits of every 130 are data; generation 6 moves 64 GT/s, and 242 bytes of every flit of 256 are data (headers "
    "of packets included). In GB/s one way, three digits: what does the slot carry in generation 5 (`gen5`) and in "
    "generation 6 (`gen6`)? Which share of the port stays `idle` behind a slot of generation 5? And what is the "
    "`limit` in generation 6?",
    answer=lambda: {"gen5": GEN5, "idle": 1 - GEN5 / PORT, "gen6": GEN6, "limit": limit()},
    unit={"gen5": "GB/s", "idle": "%", "gen6": "GB/s"},
    rtol={"gen5": 0.005, "idle": 0.01, "gen6": 0.005},
    compare={"limit": "choice"},
    options={"limit": LIMITS},
    hints=(
        "A path is as fast as its narrowest link: compare slot and port in the same unit.",
        "slot = lanes x transfers x data / sent / 8; idle = 1 - slot / port.",
        "`gen5 = 32 * 16 * 128 / 130 / ...`",
    ),
    wrong={
        "gen5": {
            64: "two bits in 130 are coding and carry no data",
            2 * GEN5 / GB: "that adds both directions",
            100: "that is the port; the question is the slot",
        },
        "idle": {
            100 * GEN5 / PORT: "that is the share that is used",
            36: "the coding is left out",
            50: "that is the step from one generation to the next",
        },
        "gen6": {
            RAW6 / GB: "14 of the 256 bytes are no data",
            RAW6 * 128 / 130 / GB: "generation 6 sends flits; 128/130 is the coding of generations 3 to 5",
            118: "that counts the packets' bytes alone, 236 of 256; the question says 242",
        },
        "limit": {
            "a": "the slot carries more than the port now",
            "c": "compare your two numbers: one is larger by a fifth",
            "d": "a GPU's memory moves thousands of GB/s",
        },
    },
    right=(
        {"gen5": 63, "idle": "37 %", "gen6": 121, "limit": "b"},
        ("63.0 GB/s", 37, "121.0 GB/s", "The network port"),
        ("504 Gb/s", "37.0%", "968 Gb/s", "b)"),
    ),
    explain=lambda: (
        f"Generation 5 carries {show(GEN5, 'GB/s')} of the port's {show(PORT, 'GB/s')}: {show(1 - GEN5 / PORT, '%')} "
        f"stay idle. Generation 6 carries {show(GEN6, 'GB/s')}, and the port is the limit again. Look for the "
        "narrowest link before you buy a faster one; a slot of eight lanes halves it once more."
    ),
)
