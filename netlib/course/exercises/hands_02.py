from netlib.collectives import hierarchical_allreduce_time, ring_allreduce_time
from netlib.course.exercises import exercise
from netlib.links import Link
from netlib.units import MB, show

UP, OUT = Link(0.1e-3, 12.5e6), Link(0.5e-3, 5e6)  # inside a node of the lab's cluster, and between nodes
SIZE = 1 * MB


def ring(size: float, n: float, link: Link) -> float:
    return float(ring_allreduce_time(size, n, link))


def times() -> dict[str, float]:
    return {
        "ring": ring(SIZE, 8, OUT),
        "rails": ring(SIZE / 2, 8, OUT),
        "serial": float(hierarchical_allreduce_time(SIZE, 2, 4, UP, OUT)),
    }


EXERCISE = exercise(
    id="hands-02",
    chapter="labs",
    skill="hierarchy and rails",
    stars=2,
    minutes=(6, 10),
    place=902,
    ask="The lab's cluster has 4 nodes of 2 ranks. Inside a node a link has alpha = 0.1 ms and 12.5e6 bytes/s, each "
    "rank's link out of the node has alpha = 0.5 ms and 5e6 bytes/s, one way. A message keeps its sender's link busy "
    "for alpha + b/B. All add 1 MB (1e6 bytes) in three ways. How many seconds does each take?\n\n"
    "`ring`: one ring 0, 1, 2 ... 7. `rails`: two rings at once, each with half of the buffer, which leave a node "
    "through different ranks. `serial`: exchange and add halves inside the node, a ring over 4 nodes for each half, "
    "exchange halves inside.",
    answer=times,
    unit="s",
    rtol=0.01,
    ranks={"ring": 8, "rails": 8, "serial": 8},
    hints=(
        "In a ring all ranks step together, so each step is as slow as its slowest hop.",
        "ring = 14 (0.5 ms + S/8 / B). The same with S/2 for rails. Inside, S/2 travels twice.",
        "`ring = 14 * (0.5e-3 + 1e6 / 8 / 5e6)`",
    ),
    wrong={
        "ring": {
            ring(SIZE, 8, UP): "a step is as slow as its slowest hop, and that one leaves a node",
            SIZE / 5e6: "that is the buffer over the bandwidth; count the ring's steps and pieces",
        },
        "rails": {
            ring(SIZE / 2, 8, UP): "both rings leave the nodes too, on links of 5e6 bytes/s",
            ring(SIZE, 8, OUT): "each of the two rings carries half of the buffer",
            ring(SIZE, 8, OUT) / 2: "the bytes are halved, the start-ups are not",
        },
        "serial": {
            (ring(SIZE, 2, UP) + ring(SIZE, 4, OUT)): "each rank takes only its half round the nodes",
            ring(SIZE / 2, 4, OUT): "that is the stage between nodes alone; the stages follow one another",
            (ring(SIZE, 2, UP) / 2 + ring(SIZE / 2, 4, OUT)): "halves travel inside twice: to be added, and back",
        },
    },
    right=(
        {"ring": "357 ms", "rails": "0.182 s", "serial": "233 ms"},
        (0.357, 0.182, 0.2332),
    ),
    explain=lambda: (
        "In seconds: "
        + ", ".join(f"{name} {show(time, 's', 4)}" for name, time in times().items())
        + ". The hierarchy looks "
        f"{show(times()['ring'] / times()['serial'])} times faster than the ring, but only because that ring left each "
        "node through one rank. Two rings beat it: they use all links all the time. In stages, the links between nodes "
        "rest while the nodes work inside."
    ),
)
