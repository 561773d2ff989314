"""How many bytes does each rank send? By collective, by algorithm, by number of ranks."""

from typing import Annotated

import numpy as np

from netlib.collectives import (
    binomial_broadcast_time,
    bruck_all_gather_time,
    double_tree_allreduce_time,
    nvls_allreduce_time,
    recursive_doubling_allreduce_time,
    ring_all_gather_time,
    ring_allreduce_time,
    ring_reduce_scatter_time,
)
from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import GB

RANKS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
WIRE = Link(0.0, 1.0)  # one buffer a second and no latency: a closed form's seconds are then the buffers sent


def _sent(collective: Array, n: Array) -> dict[str, Array]:
    """Buffers that the busiest rank sends."""
    one, gap = np.ones_like(n, float), np.full(n.shape, np.nan)
    reduce_scatter, all_gather = ring_reduce_scatter_time(1, n, WIRE), ring_all_gather_time(1, n, WIRE)
    ring = {
        "all_reduce": ring_allreduce_time(1, n, WIRE),
        "reduce_scatter": reduce_scatter,
        "all_gather": all_gather,
        "broadcast": one,
    }
    doubling = {
        "all_reduce": recursive_doubling_allreduce_time(1, n, WIRE),
        "reduce_scatter": reduce_scatter,
        "all_gather": bruck_all_gather_time(1, n, WIRE),
        "broadcast": binomial_broadcast_time(1, n, WIRE),
    }
    tree = {
        "all_reduce": double_tree_allreduce_time(1, n, WIRE),
        "reduce_scatter": gap,
        "all_gather": gap,
        "broadcast": one,
    }
    # an adding, copying switch: every rank still shows it all that others need, but copies nothing itself
    switch = {
        "all_reduce": nvls_allreduce_time(1, n, WIRE),
        "reduce_scatter": one,
        "all_gather": one / n,
        "broadcast": one,
    }
    every = {"ring": ring, "doubling": doubling, "tree": tree, "switch": switch}
    return {name: pick(collective, choices) for name, choices in every.items()}


@explorer(
    "ring-bytes",
    title="How many bytes does each rank send?",
    caption="Bytes leaving the busiest rank, in multiples of the buffer. The ring sends the least that ranks can do "
    "among themselves and hardly more on 1,024 ranks than on 16; doubling pays a whole buffer for each round; a switch "
    "that adds halves the ring's share at best.",
    alt="Lines over 2 to 1,024 ranks on a log axis: doubling climbs in a straight line to 10 buffers, the double tree "
    "lies at 2, the ring bends towards 2 from below, and the adding switch falls from 1.5 to 1.",
)
def ring_bytes(
    collective: Annotated[Array, Knob("all_reduce", "reduce_scatter", "all_gather", "broadcast")],
    ranks: Annotated[Array, Knob(*RANKS, default=8, unit="ranks")],
    size: Annotated[Array, Knob(1 * GB, 14 * GB, 140 * GB, default=140 * GB, unit="B", label="buffer")],
) -> Figure:
    """Bytes from the closed forms on a wire without latency; no algorithm here adds traffic to hide."""
    n = np.array(RANKS, float)
    lines = _sent(collective, n)
    here = _sent(collective, ranks)
    extra = (here["doubling"] - here["ring"]) * size / bandwidth("ndr-400")
    return Figure(
        x=Axis("ranks", "", "log"),
        y=Axis("sent by the busiest rank", "buffers", limits=(0.0, 10.5)),
        elements=(
            Line("doubling", n, lines["doubling"], "compute"),
            Line("double tree", n, lines["tree"], "tree"),
            Line("ring", n, lines["ring"], "ring"),
            Line("adding switch", n, lines["switch"], "in-network"),
            Rule(ranks, "{at} ranks", ink="measured"),
        ),
        numbers={
            "buffers": Number(here["ring"], "× the buffer", "ring"),
            "each": Number(here["ring"] * size, "B", "ring, bytes sent by each rank"),
            "busiest": Number(here["doubling"] * size, "B", "doubling, bytes sent by the busiest rank"),
            "switch": Number(here["switch"] * size, "B", "adding switch, bytes sent by each rank"),
            "extra": Number(extra, "s", "doubling's extra time on a 400 Gb/s NIC"),
        },
        reading="A ring {collective} of {size} on {ranks} sends {each} from each rank, {buffers}; doubling sends "
        "{busiest} from its busiest rank, an adding switch asks each for {switch}.",
        failure=lambda s: (
            f"Doubling would keep the busiest rank's 400 Gb/s NIC {s['extra']:.3g} s longer than the ring: "
            "whole buffers every round do not suit messages of this size."
            if s["extra"] > 1
            else ""
        ),
    )
