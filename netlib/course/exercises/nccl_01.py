from collections.abc import Callable
from functools import cache

from netlib.arguments import Floats
from netlib.collectives import crossover_size
from netlib.collectives.nccl import Tuning, spans, tune
from netlib.course.exercises import exercise
from netlib.fidelity.nccl_plans import plain_pod, rings_first, tree_ends
from netlib.units import MiB

VERSION = "2.30.7"
GPUS = (16, 32, 64, 128, 256, 512, 1024)
NAMES = {f"n{gpus}": gpus for gpus in GPUS}


def cost(tuning: Tuning, algorithm: str) -> Callable[[Floats], Floats]:
    """Seconds of an algorithm with its best protocol, as a function of the size."""
    own = [name.startswith(algorithm) for name in tuning.names]
    return lambda size: tuning.times(size)[own].min(axis=0)


@cache
def crossing(gpus: int) -> float:
    """Bytes at which rings take over for good, looked for where a tree is chosen for the last time."""
    tuning = tune(VERSION, plain_pod(gpus))
    start = [each.start for each in spans(tuning) if each.name.startswith("Tree")][-1]
    return float(crossover_size(cost(tuning, "Tree"), cost(tuning, "Ring"), low=max(start, 1.0), high=1e12))


def slips(gpus: int) -> dict[float, str]:
    """What one finds with one assumption changed, where it is far enough from the answer to be told apart."""
    meets = {
        tree_ends(gpus, channels=8): "that is with 8 channels; here there are 16",
        tree_ends(gpus, plain_tree=True): "that is with the plain tree pattern, which slows trees",
        tree_ends(gpus, cpu="AMD"): "that is with AMD's cost of a post, twice that of the Intel host asked for",
        tree_ends(gpus, version="2.4.8"): "that is the single threshold of NCCL 2.4",
        rings_first(gpus)[0]: "rings win there for the first time; trees come back, since their correction jumps",
    }
    return {
        size / MiB: says for size, says in meets.items() if 0 < size < 1e13 and abs(size / tree_ends(gpus) - 1) > 0.25
    }


EXERCISE = exercise(
    id="nccl-01",
    chapter="collectives",
    skill="NCCL's choice",
    stars=2,
    minutes=(8, 15),
    place=54,
    ask="Up to which message size does NCCL's tuner take a tree for an all-reduce, on 16, 32 ... 1,024 H100 "
    "(`n16` ... `n1024`, in MiB; 20 % is near enough)? Use the constants of NCCL 2.30.7 and assume: nodes of eight "
    "GPUs on NVLink, 16 channels of 24e9 bytes/s each, inside a node and between nodes; an Intel host (1 us for each "
    "post); the NIC reports no latency; LL128 allowed; no plain tree pattern; one operation at a time; only rings and "
    "trees (no NVLS, NVLSTree or CollNet). Where rings and trees take turns, the largest size at which a tree is "
    "chosen counts.",
    answer=lambda: {name: crossing(gpus) for name, gpus in NAMES.items()},
    unit="MiB",
    rtol=0.2,
    ranks=NAMES,
    hints=(
        "Tune one cluster, ask for its choice over many sizes, and look where the name last begins with Tree.",
        "A plain `Cluster` has rings and trees only: gpu, nodes, GPUs in each, and the channels of its rings.",
        '`nccl.tune("2.30.7", nccl.Cluster("Hopper", 2, 8, nccl.Channels(16, 24e9, 24e9))).choose(sizes).name`',
    ),
    wrong={name: slips(gpus) for name, gpus in NAMES.items()},
    right=(
        {name: tree_ends(gpus) / MiB for name, gpus in NAMES.items()},
        ("17 MiB", "136 MiB", "1.2 GiB", "2.8 GiB", "6.2 GiB", "13 GiB", "27 GiB"),
        (18.1, 135, 1193, 2856, 6295, 13308, 27364),
    ),
    explain=lambda: (
        "In MiB: "
        + ", ".join(f"{gpus} GPUs {crossing(gpus) / MiB:,.1f}" for gpus in GPUS)
        + ". With the GPUs the ring's latency grows in proportion and the tree's by one level, so no size is a "
        "tree's and none a ring's: pairs are. And the last number is fragile. With an AMD host it is "
        f"{tree_ends(1024, cpu='AMD') / MiB:,.0f}, with 8 channels {tree_ends(1024, channels=8) / MiB:,.0f}, with the "
        f"plain tree pattern {tree_ends(1024, plain_tree=True) / MiB:,.0f}: hence the tolerance. At 64 GPUs rings win "
        f"already from {rings_first(64)[0] / MiB:.0f} to {rings_first(64)[1] / MiB:.0f} MiB, where a tree's correction "
        "ends."
    ),
)
