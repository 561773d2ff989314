from functools import cache

import numpy as np

from netlib.course.exercises import exercise
from netlib.topology import completion_times, links_used, max_load_distribution

LINKS, LEAVES, DRAWS = 32, 16, 400


def empty() -> float:
    return 1 - float(links_used(LINKS, LINKS))


@cache
def mean() -> float:
    """Times longer than alone, mean over flows and draws: max-min fair on the links of hosts and spines."""
    rng = np.random.default_rng(4)
    host = np.arange(LINKS)
    slow = []
    for spine in rng.integers(0, LINKS, (DRAWS, LINKS)):
        paths = np.stack([host, LINKS + spine, 2 * LINKS + spine, 3 * LINKS + host], axis=1)
        slow.append(completion_times(paths, 1.0, np.ones(4 * LINKS)).mean())
    return float(np.mean(slow))


@cache
def last(leaves: int) -> float:
    """Flows on the hottest of all uplinks of so many leaves, on average."""
    below = np.cumsum(max_load_distribution(LINKS, LINKS))  # chance that no uplink of a leaf has more
    return float((1 - np.minimum(below, 1) ** leaves).sum())


EXERCISE = exercise(
    id="permute-01",
    chapter="congestion",
    skill="hashing against spraying",
    stars=3,
    minutes=(10, 18),
    place=434,
    ask="A leaf has 32 hosts and 32 uplinks, one to each spine, all equally fast. Its hosts send one flow each, equal "
    "in size, to the 32 hosts of another leaf. Sprayed over all spines each flow has a whole link. Now each flow is "
    "hashed to one spine, all equally likely, and links are shared fairly. Which share of the uplinks is `empty`, on "
    "average? How many times longer than sprayed does a flow take on average over all flows (`mean`), and how many "
    "times the last of the 32 (`last`)? Sixteen leaves do the same, each to a leaf of its own: how many times longer "
    "does the last flow of all take, on average over many draws (`all`)?",
    answer=lambda: {"empty": empty(), "mean": mean(), "last": last(1), "all": last(LEAVES)},
    unit={"empty": "", "mean": "x", "last": "x", "all": "x"},
    rtol={"empty": 0.01, "mean": 0.03, "last": 0.03, "all": 0.03},
    hints=(
        "Throw 32 balls into 32 bins a few thousand times. A flow takes as many times longer as there are balls in "
        "its own bin.",
        "empty = (1 - 1/32)^32. The mean over flows weighs a bin with its balls: 1 + 31/32. The last: the fullest bin, "
        "of one throw and of sixteen.",
        "`load = rng.multinomial(32, [1 / 32] * 32, size=10_000)`; then `load.max(axis=1).mean()` ...",
    ),
    wrong={
        "empty": {
            0.638: "that is the share in use",
            0.368: "that is the limit for very many links, 1/e",
            1 / 32: "a hash is no round robin: the next flow does not avoid the links in use",
        },
        "mean": {
            1: "that is the mean over uplinks; a full one has more flows, and each of them counts",
            1.567: "that is the mean over the uplinks in use; a full one has more flows, and each of them counts",
        },
        "last": {
            2: "that is the mean flow, not the last",
            32: "that is the worst that can happen, all on one uplink; on average it is far from it",
        },
        "all": {
            3.53: "that is the last of one leaf; among sixteen the unluckiest counts",
            56.5: "times do not add up: the sixteen leaves send at the same time",
        },
    },
    right=(
        {"empty": "36.2 %", "mean": 1.97, "last": 3.53, "all": 5.01},
        (0.362, "1.97x", "3.53x", "5.0x"),
    ),
    explain=lambda: (
        f"{empty():.1%} of the uplinks are empty while the fullest carries {last(1):.2f} flows; a flow takes "
        f"{mean():.2f} times as long on average, the last {last(1):.2f} times, the last of sixteen leaves "
        f"{last(LEAVES):.2f} times. A collective waits for the last, and the more it spans the unluckier the last is. "
        "No control of rates mends it: each flow already has its fair share of the wrong link. Spraying does, at the "
        "price of order."
    ),
)
