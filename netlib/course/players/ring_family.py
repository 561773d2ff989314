"""One ring, three collectives: what an all-reduce is made of, and that any order of the ranks makes a ring."""

from typing import Annotated

from netlib.collectives import ring_through
from netlib.course.explorer import Knob
from netlib.course.player import Scene, as_player
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import MiB


@as_player(
    "ring-family",
    title="One ring, three collectives",
    caption="A reduce-scatter leaves each rank one finished chunk, an all-gather starts there, and an all-reduce is "
    "the two in a row. Any order of the ranks is a ring; 16 MiB, a network card for each rank, 5 µs a step.",
    alt="A row of ranks, each a column of cells. Arrows lead from each rank to the next of the ring, whose cells fill "
    "up or are ticked off.",
)
def ring_family(
    collective: Annotated[str, Knob("reduce_scatter", "all_gather", "all_reduce")],
    ranks: Annotated[int, Knob(2, 3, 4, 5, 6, 7, 8, default=5, unit="ranks")],
    order: Annotated[str, Knob("as numbered", "evens, then odds")],
) -> Scene:
    """The order changes who talks to whom, and on equal links nothing else."""
    numbers = list(range(ranks))
    ring = numbers if order == "as numbered" else numbers[::2] + numbers[1::2]
    return Scene(ring_through(ring, collective), 16 * MiB, Link(5e-6, bandwidth("ndr-400")))
