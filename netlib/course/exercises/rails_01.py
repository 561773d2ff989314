from netlib.collectives import hierarchical_allreduce_time, multirail_ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GPUS, GRADS, NIC_800, NODES, NVLINK5
from netlib.units import show

CLUSTER = (GRADS, GPUS, NODES, NVLINK5, NIC_800)


def rails() -> float:
    return float(multirail_ring_allreduce_time(*CLUSTER))


ONE_NIC = float(multirail_ring_allreduce_time(*CLUSTER, nics=1))

EXERCISE = exercise(
    id="rails-01",
    chapter="collectives",
    skill="rings over all NICs",
    stars=2,
    minutes=(6, 10),
    place=31,
    ask="1,024 GPUs, 128 nodes of 8, 140e9 bytes per GPU, NVLink 900e9 and a NIC per GPU 100e9 bytes/s, one "
    "way, no latency. NCCL does not run one flat ring: it opens eight, each through all 1,024 ranks, "
    "each with an eighth of the buffer, each leaving a node through another NIC. How many seconds does "
    "the all-reduce take? Three digits.",
    answer=rails,
    unit="s",
    rtol=0.004,  # the pipelined hierarchy is only 0.7 % away
    ranks=8,
    hints=(
        "Each of the eight rings is a flat ring over 1,024 ranks; they run side by side.",
        "2(N-1)/N (S/8) / B_out, unless the NVLink inside the node is slower: it carries 7/8 of the ring bytes.",
        "`2 * 1023 / 1024 * 140e9 / 8 / ...`",
    ),
    wrong={
        ONE_NIC: "that sends everything through one of the eight NICs",
        float(
            hierarchical_allreduce_time(*CLUSTER, segments=None)
        ): "that is the perfectly pipelined hierarchy, near but another schedule: its rings have 128 ranks",
        float(hierarchical_allreduce_time(*CLUSTER)): "that is the hierarchy; here the rings are flat",
        GRADS / (GPUS * 100e9): "the ring's factor 2(N-1)/N is missing",
    },
    right=("350 ms", "0.350 s", 0.3497, "349658 us", "0.35"),
    explain=lambda: (
        f"A flat ring crosses a node's border once per ring, so eight rings share eight NICs: {show(rails(), 's')}, "
        f"an eighth of {show(ONE_NIC, 's')}. NVLink carries seven eighths of the ring's bytes at nine times "
        "the speed and is no bottleneck. Source: NCCL's maintainers describe rings over all NICs in "
        "NVIDIA/nccl issues 471 and 530."
    ),
)
