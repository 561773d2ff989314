"""All-to-all, step by step: every block has one sender and one reader; Bruck saves steps and pays in bytes."""

from collections.abc import Callable
from typing import Annotated

from netlib.collectives import bruck_all_to_all, direct_all_to_all, pairwise_all_to_all
from netlib.collectives.schedule import Schedule
from netlib.course.explorer import Knob
from netlib.course.player import Scene, as_player
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import KiB, MiB

BUILDERS: dict[str, Callable[[int], Schedule]] = {
    "pairwise": pairwise_all_to_all,
    "direct": direct_all_to_all,
    "Bruck": bruck_all_to_all,
}


@as_player(
    "all-to-all-steps",
    title="All-to-all, step by step",
    caption="Chunk 0→3 is what rank 0 has for rank 3. Pairwise and direct send each chunk once; Bruck passes chunks on "
    "through others, in fewer steps and with more bytes. Every rank has one NDR port: a step takes 5 µs, and the bytes "
    "of the rank that sends or receives most.",
    alt="A row of ranks, each a column with a cell for every pair of ranks. Arrows carry chunks to their readers, "
    "where they are ticked off.",
)
def all_to_all_steps(
    algorithm: Annotated[str, Knob(*BUILDERS)],
    ranks: Annotated[int, Knob(2, 3, 4, 5, 6, 7, 8, default=4, unit="ranks")],
    size: Annotated[float, Knob(64 * KiB, 1 * MiB, 16 * MiB, 256 * MiB, default=1 * MiB, unit="iB", label="buffer")],
) -> Scene:
    """`size` is the send buffer of one rank, a block for each rank, its own included."""
    return Scene(BUILDERS[algorithm](ranks), size, Link(5e-6, bandwidth("ndr-400")))
