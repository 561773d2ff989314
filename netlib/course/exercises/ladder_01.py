from netlib.course.exercises import exercise
from netlib.hardware import bandwidth, fact
from netlib.units import GB, show

LINKS = {
    "nvlink3": "nvlink3",
    "nvlink4": "nvlink4",
    "nvlink5": "nvlink5",
    "pcie5": "pcie5-x16",
    "nic400": "ndr-400",
    "nic800": "xdr-800",
}
NAMES = {
    "nvlink5": "NVLink 5",
    "nvlink4": "NVLink 4",
    "nvlink3": "NVLink 3",
    "nic800": "800G NIC",
    "pcie5": "PCIe 5 x16",
    "nic400": "400G NIC",
}
RATES = {part: bandwidth(id) for part, id in LINKS.items()}
OVER_PCIE, OVER_NIC = RATES["nvlink5"] / RATES["pcie5"], RATES["nvlink5"] / RATES["nic400"]
PRINTED = fact("nvlink5").value / RATES["pcie5"]  # the printed sum of both directions over one direction


def listed() -> str:
    return ", ".join(f"{name} {show(RATES[part], 'GB/s')}" for part, name in NAMES.items())


RANKED = ", ".join(NAMES[part] for part in sorted(RATES, key=RATES.__getitem__, reverse=True))
ORDERS = {
    "a": "NVLink 5, 800G NIC, NVLink 4, 400G NIC, NVLink 3, PCIe 5 x16",
    "b": "NVLink 5, NVLink 4, NVLink 3, PCIe 5 x16, 800G NIC, 400G NIC",
    "c": "NVLink 5, NVLink 4, NVLink 3, 800G NIC, PCIe 5 x16, 400G NIC",
    "d": "NVLink 5, NVLink 4, NVLink 3, 800G NIC, 400G NIC, PCIe 5 x16",
}
WHY = {
    "a": "bits were taken for bytes",
    "b": "PCIe's coding was left out",
    "c": "one number adds both directions, the other counts one",
    "d": "two generations of PCIe were mixed up",
}

EXERCISE = exercise(
    id="ladder-01",
    chapter="scale-up",
    skill="one-way bandwidth",
    stars=1,
    minutes=(5, 8),
    place=111,
    ask="Data sheets print, per GPU or per port: NVLink 3, 4 and 5 as 600, 900 and 1,800 GB/s, both directions added; "
    "PCIe 5 x16 as 32 GT/s for each of 16 lanes and each direction, of which 128 bits in 130 carry data; NICs as 400 "
    "and 800 Gb/s each way. Predict the `order` of the six, fastest first, one way. Then give each rate in GB/s, one "
    "way: `nvlink3`, `nvlink4`, `nvlink5`, `pcie5` (three digits), `nic400`, `nic800`. How many times PCIe 5 is NVLink "
    "5 (`over_pcie`, three digits), how many times the 400G NIC (`over_nic`)? An article prints 28 and 18 for the two: "
    "`why` is 28 wrong?",
    answer=lambda: {
        "order": next(letter for letter, text in ORDERS.items() if text == RANKED),
        **RATES,
        "over_pcie": OVER_PCIE,
        "over_nic": OVER_NIC,
        "why": "c",
    },
    unit={**dict.fromkeys(LINKS, "GB/s"), "over_pcie": "x", "over_nic": "x"},
    rtol={"pcie5": 0.005, "over_pcie": 0.01},
    compare={
        "order": "choice",
        **{part: "exact" for part in LINKS if part != "pcie5"},
        "over_nic": "exact",
        "why": "choice",
    },
    options={"order": ORDERS, "why": WHY},
    hints=(
        "Bring all six to the same convention first: bytes, one direction.",
        "NVLink: half of what is printed. PCIe: lanes x transfers x 128/130 / 8. NIC: bits / 8.",
        "`nvlink4 = 900 / 2`; `pcie5 = 32 * 16 * ...`",
    ),
    wrong={
        "order": {
            "a": "that compares the bits of the NICs with the bytes of NVLink",
            "b": "PCIe 5 beats an 800G NIC only when its two directions are added",
            "d": "16 lanes of PCIe 5 feed more than one 400G NIC",
        },
        "nvlink3": {
            600: "that is the printed sum of both directions",
            25: "that is one link; there are twelve",
        },
        "nvlink4": {900: "that is the printed sum of both directions", 25: "that is one link; there are eighteen"},
        "nvlink5": {1800: "that is the printed sum of both directions", 50: "that is one link; there are eighteen"},
        "pcie5": {
            64: "two bits in 130 are coding and carry no data",
            2 * RATES["pcie5"] / GB: "that adds both directions; the question is one way",
            8 * RATES["pcie5"] / GB: "those are bits; eight make a byte",
        },
        "nic400": {400: "those are Gb/s; eight bits make a byte", 100: "a NIC's rate is printed one way already"},
        "nic800": {800: "those are Gb/s; eight bits make a byte", 200: "a NIC's rate is printed one way already"},
        "over_pcie": {
            28: "that is the article's number: what does it divide by what?",
            PRINTED: "one side adds both directions, the other does not",
            14.06: "the coding of PCIe is left out",
        },
        "over_nic": {
            36: "one side adds both directions, the other does not",
            9: "that is NVLink 4, or an 800G NIC",
        },
        "why": {
            "a": "bits for bytes would make a factor of eight; 28 is off by two",
            "b": "the coding is a percent and a half; 28 is off by a factor of two",
            "d": "generations do differ by two, but 32 GT/s is generation 5; look at NVLink's column instead",
        },
    },
    right=(
        {
            **{"order": "c", "nvlink3": 300, "nvlink4": "450 GB/s", "nvlink5": "0.9 TB/s", "pcie5": 63},
            **{"nic400": "400 Gb/s", "nic800": 100, "over_pcie": "14.3x", "over_nic": 18, "why": "C"},
        },
        (ORDERS["c"], 300, 450, 900, 63.015, 50, "800 Gb/s", 14.28, "18 times", WHY["c"]),
    ),
    explain=lambda: (
        f"{listed()}. NVLink 5 is {show(OVER_PCIE)} times PCIe 5 and {show(OVER_NIC)} times the 400G NIC. The "
        f"article's 28 divides the sum of NVLink's two directions by one direction of PCIe ({show(PRINTED)}); its 18 "
        "divides one way by one way. The same column cannot be both."
    ),
)
