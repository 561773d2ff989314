"""What buckets on a torus cost: closed forms.

`sides` (..., D) chips along each axis, `link` one direction of a cable. A chip sends and receives on all its links at
once. Read with the chapter "Collectives", section "An algorithm as data".
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.collectives.cost import ranks
from netlib.links import Link


@declared
@formula
def torus_bytes(size: ArrayLike, sides: ArrayLike, all_axes: bool = False, both_ways: bool = False) -> Floats:
    """(..., D) bytes that a reduce-scatter puts on each directed link of an axis; an all-gather as many.

    One bucket: (d_i - 1) size / (d_0 d_1 ... d_i) on axis i, in one direction. With `all_axes` the mean over the D
    buckets that begin with one axis each; with `both_ways` half in each direction, but where d = 2 there is one cable
    and both halves take it.

    >>> torus_bytes(64.0, [4, 4, 4]).tolist(), torus_bytes(64.0, [4, 4, 4], all_axes=True).tolist()
    ([48.0, 12.0, 3.0], [21.0, 21.0, 21.0])
    """
    return np.asarray(_of_buckets(floats("size", size), _sides(sides), all_axes, both_ways).sum(axis=-2))


@declared
@formula
def torus_reduce_scatter_time(
    size: ArrayLike, sides: ArrayLike, link: Link, *, all_axes: bool = False, both_ways: bool = False
) -> Floats:
    """Sum of (d - 1) alpha and the bytes of the axes in turn: (n-1)/n size beta for one bucket in one direction.

    With `all_axes` all axes are busy at once, each bucket has a D-th of that. With equal sides the buckets never meet.
    With others they do, and this is a bound: a bucket's own time, or what the busiest axis carries, if that is more.
    `both_ways` halves the bytes. An all-gather takes as long.

    >>> round(float(torus_reduce_scatter_time(45e9, [16, 16], Link(0, 45e9), all_axes=True, both_ways=True)), 3)
    0.249
    """
    each = _sides(sides)
    sent = _of_buckets(floats("size", size), each, all_axes, both_ways)
    own = (each - 1).sum(axis=-1) * link.alpha + sent.sum(axis=-1).max(axis=-1) * link.beta
    return np.asarray(np.maximum(own, sent.sum(axis=-2).max(axis=-1) * link.beta))


@declared
@formula
def torus_allreduce_time(
    size: ArrayLike, sides: ArrayLike, link: Link, *, all_axes: bool = False, both_ways: bool = False
) -> Floats:
    """Reduce-scatter, then all-gather: 2 sum (d - 1) alpha + 2(n-1)/n size beta, in one direction along one axis.

    With equal sides, all axes and both directions: 2(n-1)/n size beta / (2 D).

    >>> round(float(torus_allreduce_time(1e9, [16, 16, 16], Link(0, 45e9), both_ways=True)) * 1e3, 1)
    22.2
    >>> round(float(torus_allreduce_time(1e9, [16, 16, 16], Link(0, 45e9), all_axes=True, both_ways=True)) * 1e3, 1)
    7.4
    """
    return 2 * torus_reduce_scatter_time(size, sides, link, all_axes=all_axes, both_ways=both_ways)


def _sides(sides: ArrayLike) -> Floats:
    each = ranks(sides, "sides")
    if not each.ndim or not each.shape[-1]:
        raise ValueError("sides needs an axis of sides, such as [4, 4, 4]")
    return each


def _of_buckets(size: Floats, sides: Floats, all_axes: bool, both_ways: bool) -> Floats:
    """(..., buckets, D) bytes that each bucket puts on each directed link of an axis."""
    turns = range(sides.shape[-1] if all_axes else 1)
    shares = []
    for turn in turns:
        turned = np.roll(sides, -turn, axis=-1)
        shares.append(np.roll((turned - 1) / np.cumprod(turned, axis=-1), turn, axis=-1))
    both = np.where(both_ways & (sides > 2), 2, 1)[..., None, :]
    return np.asarray(size[..., None, None] * np.stack(shares, axis=-2) / (len(turns) * both))
