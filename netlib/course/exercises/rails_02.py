from netlib.collectives import hierarchical_allreduce_time, multirail_ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.course.exercises._cluster import GPUS, GRADS, NIC_800, NODES, NVLINK5
from netlib.units import show

CLUSTER = (GRADS, GPUS, NODES, NVLINK5, NIC_800)
SERIAL = float(hierarchical_allreduce_time(*CLUSTER))
PIPELINED = float(hierarchical_allreduce_time(*CLUSTER, segments=None))
RAILS = float(multirail_ring_allreduce_time(*CLUSTER))
ONE_NIC = float(multirail_ring_allreduce_time(*CLUSTER, nics=1))

EXERCISE = exercise(
    id="rails-02",
    chapter="collectives",
    skill="auditing a speed-up",
    stars=3,
    minutes=(8, 12),
    place=32,
    ask="An article compares a flat ring with the serial hierarchy on the cluster of rails-01 and finds the "
    "hierarchy 4.5 times faster. Compare it with the flat ring that NCCL runs, on all eight NICs: "
    "`speedup` is the time of that ring over the time of the serial hierarchy (stages one after the "
    "other, no latency). Then say which `assumption` made 4.5.",
    answer=lambda: {"speedup": RAILS / SERIAL, "assumption": "a"},
    unit={"speedup": "x"},
    compare={"assumption": "choice"},
    options={
        "assumption": {
            "a": "the flat ring uses one of a node's eight NICs",
            "b": "NVLink's bandwidth is counted both ways",
            "c": "latency is left out",
            "d": "the stages of the hierarchy do not overlap",
        }
    },
    hints=(
        "You have both times already: rails-01 and the last line of program-01.",
        "speedup = time of the eight-NIC ring / time of the serial hierarchy; below one means slower.",
        "`speedup = t_ring / ...`",
    ),
    wrong={
        "speedup": {
            ONE_NIC / SERIAL: "that is the article's comparison, with a ring on one NIC",
            SERIAL / RAILS: "the ratio is upside down: it says how much faster the ring is",
            RAILS / PIPELINED: "that is the perfectly pipelined hierarchy; this one runs its stages in series",
        },
        "assumption": {
            "b": "900e9 bytes/s is Blackwell's NVLink one way; the units are right",
            "c": "latency is left out on both sides, and including it helps the hierarchy",
            "d": "overlap would make the hierarchy faster still, not the ring slower",
        },
    },
    right=(
        {"speedup": "0.564x", "assumption": "A"},
        (0.56, "a)"),
        ("56.4 %", "The flat ring uses one of a node's eight NICs"),
    ),
    explain=lambda: (
        f"{show(RAILS, 's')} / {show(SERIAL, 's')} = {show(RAILS / SERIAL)}: without latency the serial "
        f"hierarchy is slower than the ring it is said to beat; perfectly pipelined it gains "
        f"{show(RAILS / PIPELINED, digits=4)}x. "
        "The 4.5 came from giving the flat ring one NIC of eight. What the hierarchy really buys is steps: "
        f"2(128-1) + 2(8-1) = {2 * (NODES - 1) + 2 * (GPUS - 1)} instead of 2(1024-1) = {2 * (GPUS * NODES - 1):,}."
    ),
)
