"""The other collectives: closed forms in the same model as `cost`.

`size` is what nccl-tests prints: the whole buffer, that is n shards for reduce-scatter, all-gather and all-to-all.
Read with the chapter "Collectives", section "The family".
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, Number, floats, formula
from netlib.collectives.cost import depth, ranks
from netlib.links import Link


@formula
def ring_reduce_scatter_time(size: ArrayLike, n: ArrayLike, link: Link, gamma: Number = 0.0) -> Floats:
    """Ring: (n-1) alpha + (n-1)/n size (beta + gamma). Half of a ring all-reduce.

    >>> round(float(ring_reduce_scatter_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    size, n, gamma = floats("size", size), ranks(n), floats("gamma", gamma)
    return (n - 1) * link.alpha + (n - 1) / n * size * (link.beta + gamma)


@formula
def ring_all_gather_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Ring: (n-1) alpha + (n-1)/n size beta. The other half.

    >>> round(float(ring_all_gather_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    return ring_reduce_scatter_time(size, n, link)


@formula
def bruck_all_gather_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Bruck: ceil(lg n) alpha + (n-1)/n size beta. Doubling blocks, any n.

    >>> round(float(bruck_all_gather_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    size, n = floats("size", size), ranks(n)
    return depth(n) * link.alpha + (n - 1) / n * size * link.beta


@formula
def halving_reduce_scatter_time(size: ArrayLike, n: ArrayLike, link: Link, gamma: Number = 0.0) -> Floats:
    """Recursive halving: lg n alpha + (n-1)/n size (beta + gamma), if n is a power of two.

    Otherwise n - p ranks fold in, p = 2^floor(lg n): (lg p + 2) alpha + (1 + (p - 1 + m)/n) size (beta + gamma), where
    m = sum over j < lg p of min(n - p, 2^j) counts the chunks of folded ranks on the busiest way.

    >>> round(float(halving_reduce_scatter_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    size, n, gamma = floats("size", size), ranks(n), floats("gamma", gamma)
    levels = depth(n + 1) - 1  # floor(lg n)
    power = np.exp2(levels)
    fold, moved = n - power, power - 1
    for j in range(int(np.max(levels, initial=0))):
        moved = moved + np.where(j < levels, np.minimum(fold, 2.0**j), 0)
    return (levels + 2 * (fold > 0)) * link.alpha + ((fold > 0) + moved / n) * size * (link.beta + gamma)


@formula
def doubling_all_gather_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Recursive doubling: lg n alpha + (n-1)/n size beta, if n is a power of two; otherwise as
    `halving_reduce_scatter_time`, which it is, backwards.

    >>> round(float(doubling_all_gather_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    return halving_reduce_scatter_time(size, n, link)


@formula
def binomial_scatter_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Scatter down a binomial tree, or gather up it: ceil(lg n) alpha + (n-1)/n size beta, for any n.

    >>> round(float(binomial_scatter_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    return bruck_all_gather_time(size, n, link)


@formula
def linear_scatter_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """The root sends to one rank after another, or gets from them: (n-1)(alpha + size beta / n).

    >>> round(float(linear_scatter_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    return ring_reduce_scatter_time(size, n, link)


@formula
def binomial_broadcast_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Binomial tree: ceil(lg n) (alpha + size beta). Good while size is small.

    >>> round(float(binomial_broadcast_time(1e9, 8, Link(0, 50e9))), 6)
    0.06
    """
    return depth(n) * link.time(size)


@formula
def binomial_reduce_time(size: ArrayLike, n: ArrayLike, link: Link, gamma: Number = 0.0) -> Floats:
    """Binomial tree: ceil(lg n) (alpha + size beta + size gamma). The broadcast run backwards, adding.

    >>> round(float(binomial_reduce_time(1e9, 8, Link(0, 50e9))), 6)
    0.06
    """
    return depth(n) * (link.time(size) + floats("size", size) * floats("gamma", gamma))


@formula
def scatter_gather_broadcast_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Scatter down a binomial tree, then ring all-gather (van de Geijn):
    (ceil(lg n) + n - 1) alpha + 2(n-1)/n size beta.

    >>> round(float(scatter_gather_broadcast_time(1e9, 8, Link(0, 50e9))), 6)
    0.035
    """
    size, n = floats("size", size), ranks(n)
    return (depth(n) + n - 1) * link.alpha + 2 * (n - 1) / n * size * link.beta


@formula
def pipelined_broadcast_time(size: ArrayLike, n: ArrayLike, link: Link, segments: ArrayLike | None = None) -> Floats:
    """A chain of n ranks and k segments: (n-2+k)(alpha + size beta / k). `segments=None` takes the best real
    k = sqrt((n-2) size beta / alpha): (n-2) alpha + size beta + 2 sqrt((n-2) alpha size beta).

    >>> round(float(pipelined_broadcast_time(1e9, 8, Link(0, 50e9))), 6)
    0.02
    """
    size, n = floats("size", size), ranks(n)
    alpha = np.asarray(link.alpha, dtype=np.float64)
    if segments is not None:
        k = ranks(segments, "segments")
        time = (n - 2 + k) * (alpha + size * link.beta / k)
    else:
        hops = np.maximum(n - 2, 0)
        best = hops * alpha + size * link.beta + 2 * np.sqrt(hops * alpha * size * link.beta)
        # fewer than one segment is no choice: small messages travel whole
        time = np.where(hops * size * link.beta < alpha, (hops + 1) * link.time(size), best)
    return np.where(n == 1, 0.0, time)


@formula
def pairwise_all_to_all_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """n-1 exchanges of one block: (n-1) alpha + (n-1)/n size beta.

    >>> round(float(pairwise_all_to_all_time(8e9, 8, Link(0, 50e9))), 6)
    0.14
    """
    return ring_reduce_scatter_time(size, n, link)


@formula
def bruck_all_to_all_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Bruck: in round j every block whose distance has bit j set moves on; ceil(lg n) alpha + size beta x (set bits)/n,
    the bits being those of 0 ... n-1. For powers of two that is lg n (alpha + size beta / 2).

    >>> round(float(bruck_all_to_all_time(8e9, 8, Link(0, 50e9))), 6)
    0.24
    """
    size, n = floats("size", size), ranks(n)
    return depth(n) * link.alpha + _set_bits_below(n) / n * size * link.beta


def _set_bits_below(n: Floats) -> Floats:
    """Set bits of all numbers 0 ... n-1: bit j is set in whole blocks of 2^j and in part of the last."""
    total = np.zeros_like(n)
    for j in range(int(depth(np.max(n, initial=1)))):
        half = 2.0**j
        total += np.floor(n / (2 * half)) * half + np.maximum(0, n % (2 * half) - half)
    return total
