"""What buckets on a torus cost: closed forms.

`sides` (..., D) chips along each axis, `link` one direction of a cable. A chip sends and receives on all its links at
once. Read with the chapter "Collectives", section "On a torus".
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, floats, formula
from netlib.collectives.cost import ranks
from netlib.links import Link


@formula
def torus_bytes(size: ArrayLike, sides: ArrayLike, all_axes: bool = False, both_ways: bool = False) -> Floats:
    """(..., D) bytes that a reduce-scatter puts on each directed link of an axis; an all-gather as many.

    One bucket: (d_i - 1) size / (d_0 d_1 ... d_i) on axis i, in one direction. With `all_axes` the mean over the D
    buckets that begin with one axis each; with `both_ways` half in each direction, but where d = 2 there is one cable
    and both halves take it.

    >>> torus_bytes(64.0, [4, 4, 4]).tolist(), torus_bytes(64.0, [4, 4, 4], all_axes=True).tolist()
    ([48.0, 12.0, 3.0], [21.0, 21.0, 21.0])
    """
    each, size = ranks(sides, "sides"), floats("size", size)
    if not each.ndim or not each.shape[-1]:
        raise ValueError("sides needs an axis of sides, such as [4, 4, 4]")
    axes = each.shape[-1]
    sent = np.zeros(np.broadcast_shapes((*size.shape, 1), each.shape))
    for turn in range(axes if all_axes else 1):
        turned = np.roll(each, -turn, axis=-1)
        sent += np.roll((turned - 1) / np.cumprod(turned, axis=-1), turn, axis=-1) * size[..., None]
    return sent / (axes if all_axes else 1) / np.where(both_ways & (each > 2), 2, 1)


@formula
def torus_reduce_scatter_time(
    size: ArrayLike, sides: ArrayLike, link: Link, *, all_axes: bool = False, both_ways: bool = False
) -> Floats:
    """Sum of (d - 1) alpha and the bytes of the axes in turn: (n-1)/n size beta for one bucket in one direction.

    With `all_axes` all axes are busy at once: with equal sides each carries (n-1)/n size / D. With others the busiest
    axis sets the pace, and this is a bound: the buckets, which run at their own pace, may leave it idle for a while.
    `both_ways` halves the bytes. An all-gather takes as long.

    >>> round(float(torus_reduce_scatter_time(45e9, [16, 16], Link(0, 45e9), all_axes=True, both_ways=True)), 3)
    0.249
    """
    each = ranks(sides, "sides")
    sent = torus_bytes(size, each, all_axes, both_ways)
    busy = sent.max(axis=-1) if all_axes else sent.sum(axis=-1)
    return (each - 1).sum(axis=-1) * link.alpha + busy * link.beta


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
