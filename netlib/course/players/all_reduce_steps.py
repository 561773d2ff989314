"""All-reduce, step by step: which rank sends which chunk to whom, and how long it takes."""

from collections.abc import Callable
from typing import Annotated

from netlib.collectives import (
    bidirectional_ring,
    double_tree_allreduce,
    halving_doubling_allreduce,
    nvls_allreduce,
    recursive_doubling_allreduce,
    ring_allreduce,
    tree_allreduce,
)
from netlib.collectives.schedule import Schedule
from netlib.course.explorer import Knob
from netlib.course.player import Scene, as_player
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import KiB, MiB

BUILDERS: dict[str, Callable[[int], Schedule]] = {  # one line each: name on the knob, what builds it
    "ring": ring_allreduce,
    "ring, both ways": bidirectional_ring,
    "binomial tree": tree_allreduce,
    "double tree": lambda n: double_tree_allreduce(n, segments=2),
    "recursive doubling": recursive_doubling_allreduce,
    "halving and doubling": halving_doubling_allreduce,
    "switch that adds": nvls_allreduce,
}


@as_player(
    "all-reduce-steps",
    title="All-reduce, step by step",
    caption="Every column is a rank, every cell one chunk of its buffer; the number says of how many ranks the cell "
    "holds the sum. Every rank has one NDR port: a step takes 5 µs, and the bytes of the rank that sends or receives "
    "most.",
    alt="A row of ranks, each a column of cells. Arrows above the row carry chunks to ranks further right, those below "
    "it to ranks further left; cells fill up and are ticked off when their sum is complete.",
)
def all_reduce_steps(
    algorithm: Annotated[str, Knob(*BUILDERS)],
    ranks: Annotated[int, Knob(2, 3, 4, 5, 6, 7, 8, default=4, unit="ranks")],
    size: Annotated[float, Knob(64 * KiB, 1 * MiB, 16 * MiB, 256 * MiB, default=16 * MiB, unit="iB", label="buffer")],
) -> Scene:
    """Any all-reduce that builds for 2 to 8 ranks can be added above."""
    return Scene(BUILDERS[algorithm](ranks), size, Link(5e-6, bandwidth("ndr-400")))
