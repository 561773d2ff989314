from netlib.course.exercises import exercise
from netlib.hardware import bandwidth, fact, node
from netlib.topology import domain_bisection, domain_pairs, nvl72
from netlib.units import TB, show

RACK = nvl72()
GPUS = node("gb200-nvl72").gpus
LINKS = RACK.cables
TOTAL = float(RACK.capacity.sum())  # every directed link once: both ways
ONE_WAY = TOTAL / 2
BISECTION = float(domain_bisection(GPUS, bandwidth("nvlink5")))
COUNTS = {
    "a": "what all GPUs can send in one direction at the same time",
    "b": "the bandwidth between the two halves of the rack",
    "c": "sending and receiving of all GPUs added up",
    "d": "the memory bandwidth of the rack",
}


def pairs() -> float:
    return float(domain_pairs(GPUS, int(RACK.degree[RACK.hosts].max())))


def asics() -> float:
    return LINKS / fact("nvswitch4-ports").value


EXERCISE = exercise(
    id="nvl72-01",
    chapter="scale-up",
    skill="counting a domain",
    stars=2,
    minutes=(6, 10),
    place=121,
    ask="A GB200 NVL72 has 72 GPUs. Each has 18 NVLinks of 50 GB/s one way; a link is two lanes each way, and a lane "
    "is one pair of wires. Every link goes to a switch chip (ASIC) of 72 ports, and no port stays empty. How many "
    "`links`, wire `pairs` and `asics` are there, exactly? In TB/s: what do all GPUs send and receive together "
    "(`total`), what do they send (`one_way`), and what can one half of the GPUs send to the other half "
    "(`bisection`, one way)? The box prints the largest of the three, its `aggregate` bandwidth: what does it count?",
    answer=lambda: {
        "links": LINKS,
        "pairs": pairs(),
        "asics": asics(),
        "total": TOTAL,
        "one_way": ONE_WAY,
        "bisection": BISECTION,
        "aggregate": "c",
    },
    unit={
        **{"links": "links", "pairs": "pairs", "asics": "chips"},
        **{"total": "TB/s", "one_way": "TB/s", "bisection": "TB/s"},
    },
    rtol=0.002,
    compare={"links": "exact", "pairs": "exact", "asics": "exact", "aggregate": "choice"},
    options={"aggregate": COUNTS},
    hints=(
        "Count from the GPUs' side: what leaves one GPU, times the GPUs.",
        "links = n l, pairs = 4 n l, chips = n l / ports; one_way = n B, bisection = n/2 x B.",
        "`links = 72 * 18`; `one_way = links * 50e9`",
    ),
    wrong={
        "links": {
            72 * 71 / 2: "that wires every GPU to every other; here all links go to switches",
            2 * LINKS: "that counts the two directions; a link is both",
            72 * 9: "a switch tray holds two chips, and each GPU has a link to both",
        },
        "pairs": {
            2 * LINKS: "a lane each way is two pairs, but a link has two lanes each way",
            LINKS: "those are the links",
            8 * LINKS: "that counts both ends of every wire, or every direction twice",
        },
        "asics": {
            9: "those are the switch trays; a tray holds two chips",
            72: "that is the number of ports on one chip",
            36: "check the ports: links over ports",
        },
        "total": {
            130: "that is the data sheet's rounding; multiply",
            ONE_WAY / TB: "that is one direction only",
        },
        "one_way": {TOTAL / TB: "that adds both directions", BISECTION / TB: "that is what one half sends"},
        "bisection": {
            ONE_WAY / TB: "that is what all GPUs send; only half of them sit on one side of the cut",
            TOTAL / TB: "that counts every GPU and both directions",
            TOTAL / 8 / TB: "count again: half the GPUs, one direction, the full rate of each",
        },
        "aggregate": {
            "a": "that is half of it",
            "b": "that is a quarter of it",
            "d": "72 memories of 8 TB/s add up to more than four times as much",
        },
    },
    right=(
        {
            **{"links": 1296, "pairs": "5,184", "asics": 18, "total": "129.6 TB/s", "one_way": "64800 GB/s"},
            **{"bisection": 32.4, "aggregate": "c"},
        },
        ("1,296", 5184.0, "18 chips", 129.6, 64.8, "32.4e12 B/s", COUNTS["c"]),
    ),
    explain=lambda: (
        f"{LINKS:,} links of four pairs are {pairs():,.0f} pairs; 72 ports a chip make {asics():.0f} chips. "
        f"All links, both ways: {show(TOTAL, 'TB/s', 4)}, sold as 130. One way {show(ONE_WAY, 'TB/s')}, and between "
        f"two halves {show(BISECTION, 'TB/s')}: a quarter of the number on the box. No cut is narrower than the GPUs' "
        "own links, so an all-to-all runs at their rate."
    ),
)
