from netlib.collectives import moe_bytes, outside_share
from netlib.course.exercises import exercise
from netlib.hardware import bandwidth
from netlib.units import show

EP = 64
SENT = float(moe_bytes(4096, 8, 7168, 1))
NVLINK, NIC = bandwidth("nvlink5"), bandwidth("ndr-400")
SMALL = SENT * float(outside_share(EP, 8)) / NIC
LARGE = SENT * float(outside_share(EP, 1)) / NVLINK  # all but a rank's own share moves, and all of it inside

EXERCISE = exercise(
    id="moe-01",
    chapter="scale-up",
    skill="expert parallelism and domain size",
    stars=2,
    minutes=(6, 10),
    place=141,
    ask="The experts of a layer are spread over 64 ranks, one per GPU. Each rank holds 4,096 tokens and sends each to "
    "8 experts, hidden size 7,168, FP8 (one byte): uniform, no node limit, no copy saved, no latency. The tokens for a "
    "rank's own experts stay where they are. Domains of 8 GPUs: what leaves the domain goes through the GPU's own NIC "
    "of 50 GB/s, and the rest meanwhile over NVLink, which is faster. Domains of 72: all 64 ranks sit in one, NVLink "
    "900 GB/s one way. How long does the dispatch of a layer take in domains of 8 (`domain8`) and of 72 (`domain72`), "
    "in ms? How many times faster is the second (`ratio`)?",
    answer=lambda: {"domain8": SMALL, "domain72": LARGE, "ratio": SMALL / LARGE},
    unit={"domain8": "ms", "domain72": "ms", "ratio": "x"},
    rtol={"domain8": 0.005, "domain72": 0.008, "ratio": 0.01},
    ranks={"domain8": 64},
    hints=(
        "Which share of a rank's tokens goes to ranks outside of its domain, and which to itself?",
        "bytes = tokens x top-k x hidden x 1; outside = (64 - 8)/64; away from home = (64 - 1)/64.",
        "`domain8 = 4096 * 8 * 7168 * 56 / 64 / ...`",
    ),
    wrong={
        "domain8": {
            SENT / NIC * 1e3: "that sends everything outside; some of the 64 ranks are neighbours in the node",
            SENT * 0.875 / NIC / 8 * 1e3: "that gives each GPU eight NICs, or each token one expert",
            SENT * 0.125 / NIC * 1e3: "that is what stays inside",
        },
        "domain72": {
            SENT / NVLINK * 1e3: "the tokens for the rank's own experts do not move",
            SENT * 63 / 64 / NVLINK / 2 * 1e3: "that adds both directions of NVLink",
            SENT * 56 / 64 / NVLINK * 1e3: "inside the domain all but the rank's own share moves",
        },
        "ratio": {
            NVLINK / NIC: "that is the ratio of the links; the shares that move differ too",
            9: "that is the ratio of the domains",
            LARGE / SMALL: "the ratio is upside down",
        },
    },
    right=(
        {"domain8": "4.11 ms", "domain72": "257 us", "ratio": "16x"},
        (4.11, 0.257, 16),
        ("0.00411 s", "0.000257 s", "16 times"),
    ),
    explain=lambda: (
        f"A rank sends {show(SENT, 'MB')}. In domains of 8, {show(float(outside_share(EP, 8)), '%')} of it leaves: "
        f"{show(SMALL, 'ms')}. Of 72, nothing does: {show(LARGE, 'ms')}, {show(SMALL / LARGE)} times faster. "
        "Doubling NVLink in the nodes of eight would have changed nothing: the NIC is what they wait for. The domain's "
        "size beats the link's speed."
    ),
)
