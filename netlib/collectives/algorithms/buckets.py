"""Buckets: collectives on a torus, one axis after the other, or along all axes and both directions at once.

Along each axis the chips form rings. After reduce-scatter along one axis a chip has a d-th of the buffer left to sum
along the next: the bucket empties. Chips count with the last axis fastest, as in `netlib.topology.torus`. The buffer
is numbered in one digit an axis, the first axis that is summed lowest.
Read with the chapter "Collectives", section "An algorithm as data". Algorithm: Barnett, Littlefield, Payne and van de
Geijn (1993), for one ring after the other; Jain and Sabharwal (2010) for all links at once.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared, written
from netlib.collectives.algorithms.rings import ring_all_gather, ring_reduce_scatter
from netlib.collectives.bounds import fits
from netlib.collectives.schedule import Phase, Schedule, schedule_of
from netlib.collectives.weaving import in_turn, side_by_side
from netlib.topology.fabric import whole


@written
def torus_reduce_scatter(sides: ArrayLike, *, all_axes: bool = False, both_ways: bool = False) -> Schedule:
    """Rings along axis 0, then of what is left along axis 1 ...: the sum of (d - 1) steps over the sides d.

    all_axes     as many parts of the buffer as there are axes; part j begins with axis j, so that all axes are busy.
                 With equal sides the parts step together; with others each part is a channel of its own.
    both_ways    half of each part goes round the other way

    Sums are added line by line: along the first axis in ring order, then the lines' sums along the next.

    >>> made = torus_reduce_scatter([4, 4])
    >>> made.steps, made.chunks, sorted(made.target.tolist()) == list(range(16))
    (6, 16, True)
    """
    return _parts("reduce_scatter", sides, all_axes, both_ways)


@written
def torus_all_gather(sides: ArrayLike, *, all_axes: bool = False, both_ways: bool = False) -> Schedule:
    """The reduce-scatter backwards: the last axis first, with more and more to carry.

    >>> torus_all_gather([4, 4], all_axes=True, both_ways=True).chunks
    64
    """
    return _parts("all_gather", sides, all_axes, both_ways)


@written
def torus_allreduce(sides: ArrayLike, *, all_axes: bool = False, both_ways: bool = False) -> Schedule:
    """Reduce-scatter, then all-gather: 2 x the sum of (d - 1) steps.

    >>> torus_allreduce([4, 4, 4]).steps, torus_allreduce([4, 4, 4], all_axes=True, both_ways=True).steps
    (18, 18)
    """
    return _parts("all_reduce", sides, all_axes, both_ways)


@declared
def _parts(op: str, sides: ArrayLike, all_axes: bool, both_ways: bool) -> Schedule:
    """One bucket, or one for each first axis and direction."""
    shape = tuple(whole("sides", side) for side in np.atleast_1d(array("sides", sides)).tolist())
    if not shape:
        raise ValueError("sides has no side; give the chips along each axis, such as (4, 4, 4)")
    fits(**{f"sides[{i}]": side for i, side in enumerate(shape)})
    axes = tuple(range(len(shape)))
    orders = [axes[turn:] + axes[:turn] for turn in (axes if all_axes else (0,))]
    ways = (False, True) if both_ways else (False,)
    made = [_together([_bucket(op, shape, order, mirrored) for mirrored in ways]) for order in orders]
    return _together(made)


def _together(made: list[Schedule]) -> Schedule:
    return side_by_side("bucket", made) if len(made) > 1 else made[0]


def _bucket(op: str, sides: tuple[int, ...], axes: tuple[int, ...], mirrored: bool) -> Schedule:
    """One bucket along `axes` in turn."""
    if op == "all_reduce":
        return in_turn(
            "bucket", op, [_bucket(half, sides, axes, mirrored) for half in ("reduce_scatter", "all_gather")]
        )
    n = math.prod(sides)
    number, digit, scale = np.arange(n).reshape(sides), np.zeros(n, np.int64), 1
    stages: list[list[Phase]] = []
    for axis in axes:
        side = sides[axis]
        line = np.moveaxis(number, axis, -1).reshape(-1, side)
        line = line[:, ::-1] if mirrored else line
        ring = ring_reduce_scatter(side) if op == "reduce_scatter" else ring_all_gather(side)
        left = n // (scale * side)  # what the axes still to come number: it travels along
        stages.append(
            [
                p.placed(line, scale=scale, offset=digit[line[:, 0]], blocks=left, apart=scale * side)
                for p in ring.phases
            ]
        )
        digit[line] += np.arange(side) * scale
        scale *= side
    owner: NDArray[np.int64] = np.argsort(digit)
    if op == "reduce_scatter":
        return schedule_of("bucket", op, n, [p for stage in stages for p in stage], chunks=n, target=owner)
    return schedule_of("bucket", op, n, [p for stage in stages[::-1] for p in stage], chunks=n, source=owner)
