"""A sweep: an all-reduce of yours, timed over sizes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats
from netlib.course.lab_checks import wrong_sum
from netlib.course.ranks import Wiring, Work, on_ranks
from netlib.course.reasons import ended
from netlib.units import show, size_name


@dataclass(frozen=True)
class Sweep:
    """Times (s) over sizes (bytes), on the links' clock and on the wall; `right` if every result was the sum, and if
    not, `wrong` says what it looks like.

    `trouble` is that of a Run, or says that there is nothing to time.
    """

    sizes: Floats
    times: Floats
    wall: Floats
    right: bool
    trouble: str = ""
    wrong: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is something to compare."""
        return not self.trouble

    @property
    def verdict(self) -> str:
        """Whether every result was the sum, and why not."""
        return str(self) if self.trouble else ended(f"False, {self.wrong}") if self.wrong else str(self.right)

    def __repr__(self) -> str:
        if self.trouble:
            return ended(self.trouble[0].upper() + self.trouble[1:])
        rows = zip(self.sizes, self.times, self.wall, strict=True)
        lines = [f"{size_name(size):>9} {show(at, 'ms'):>8} (wall {show(wall, 'ms')})" for size, at, wall in rows]
        return "\n".join(lines)


def sweep(
    work: Work,
    n: int,
    sizes: Sequence[int],
    link: Wiring = None,
    *,
    repeat: int = 2,
    channels: int = 1,
) -> Sweep:
    """Time `work` as an all-reduce of each of the `sizes` (bytes, 8 to a number) on `n` ranks, the least of `repeat`.

    Every result is compared with the sum. A function that fails or returns nothing gives a Sweep that says so.
    """
    times, wall, wrong = [], [], ""
    for size in sizes:
        buffers = np.arange(n)[:, None] + np.arange(max(1, int(size) // 8))
        run = on_ranks(work, buffers, link, repeat=repeat, channels=channels)
        if run.trouble or not run.answered:
            words = run.trouble or "not answered yet: there is nothing to time"
            return Sweep(np.asarray(sizes, float), np.zeros(0), np.zeros(0), False, words)
        wrong = wrong or wrong_sum(work, run.values, buffers.sum(axis=0))
        times.append(run.time)
        wall.append(float(np.min(run.wall)))
    return Sweep(np.asarray(sizes, float), np.array(times), np.array(wall), not wrong, wrong=wrong)
