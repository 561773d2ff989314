"""What an all-reduce costs: closed forms.

Every one of `n` ranks holds `size` bytes and needs the sum. A rank sends to one other rank and receives from one other
rank at a time, at `link`'s alpha and beta = 1 / bandwidth each way; adding costs `gamma` seconds a byte.
Read with the chapter "Collectives", section "Ways to add". Formulas: Thakur, Rabenseifner and Gropp (2005);
Sanders, Speck and Traff (2009) for the two trees; where n is no power of two, counts are executed in the tests.
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, Number, floats, formula, written
from netlib.links import Link


def ranks(n: ArrayLike, name: str = "n") -> Floats:
    """`n` as whole numbers of ranks, at least one.

    >>> float(ranks(8))
    8.0
    """
    array = floats(name, n, 1, limit=True)  # infinity is refused below, as no whole number
    broken = ~np.isfinite(array) | (array != np.floor(array))
    if broken.any():
        raise ValueError(f"{name} = {array[broken].flat[0]:g} must be a whole number, such as 8")
    return array


@written
def depth(n: ArrayLike) -> Floats:
    """Levels of a binary tree over n ranks: ceil(log2 n).

    >>> depth([1, 8, 9]).tolist()
    [0.0, 3.0, 4.0]
    """
    mantissa, exponent = np.frexp(ranks(n))  # exact, where log2 of a large n is not
    return np.asarray(exponent - (mantissa == 0.5), dtype=np.float64)


@formula
def ring_allreduce_time(size: ArrayLike, n: ArrayLike, link: Link, gamma: Number = 0.0) -> Floats:
    """Ring: 2(n-1) alpha + 2(n-1)/n size beta + (n-1)/n size gamma. The least bytes, the most steps.

    >>> round(float(ring_allreduce_time(140e9, 8, Link(0, 900e9))), 6)
    0.272222
    """
    size, n, gamma = floats("size", size), ranks(n), floats("gamma", gamma)
    return 2 * (n - 1) * link.alpha + size * (n - 1) / n * (2 * link.beta + gamma)


@formula
def tree_allreduce_time(size: ArrayLike, n: ArrayLike, link: Link, gamma: Number = 0.0) -> Floats:
    """Binomial tree, whole buffers up and down: 2h (alpha + size beta) + h size gamma, h = ceil(log2 n).

    >>> round(float(tree_allreduce_time(0, 1024, Link(1e-6, 50e9))), 6)
    2e-05
    """
    size, h, gamma = floats("size", size), depth(n), floats("gamma", gamma)
    return h * (2 * link.time(size) + size * gamma)


@formula
def double_tree_allreduce_time(size: ArrayLike, n: ArrayLike, link: Link, segments: ArrayLike | None = None) -> Floats:
    """Double binary tree: each tree reduces and then broadcasts half of the buffer, cut into `segments` pieces.

    4 (h + k) (alpha + size beta / 2k), h = ceil(log2 n), k segments per tree. `segments=None` takes the best real
    k = sqrt(h size beta / 2 alpha), at least 1, which gives 2 size beta + 4h alpha + 2 sqrt(8 h alpha size beta).
    Reduce and broadcast follow one another; NCCL overlaps them. This is the published count, a bound: executed it
    takes 4 to 6 steps less, twice `double_tree_broadcast_time`.

    >>> round(float(double_tree_allreduce_time(1e9, 1024, Link(0, 50e9), segments=1e9)), 6)
    0.04
    """
    size, h = floats("size", size), depth(n)
    some = np.asarray(h > 0, dtype=np.float64)  # one rank sends nothing
    alpha, beta = np.asarray(link.alpha, dtype=np.float64), some * link.beta
    if segments is not None:
        k = ranks(segments, "segments")
        return 4 * (h + k) * (some * alpha + size * beta / (2 * k))
    best = 4 * h * alpha + size * (2 * beta) + np.sqrt(size) * (2 * np.sqrt(8 * h * alpha * beta))
    coarse = 4 * (h + 1) * some * alpha + size * (2 * (h + 1) * beta)
    return np.where(size * (h * beta) < 2 * alpha, coarse, best)


@formula
def double_tree_broadcast_time(size: ArrayLike, n: ArrayLike, link: Link, segments: ArrayLike | None = None) -> Floats:
    """Double binary tree, broadcast or reduce, as executed: (2(h + k - 1) - e)(alpha + size beta / 2k), k segments per
    tree, e = 0 where n is a power of two or 3 mod 4, otherwise 1.

    The published 2(h + k) steps are 2 + e more. `segments=None` takes the best real k = sqrt(a size beta / 4 alpha),
    at least 1, with a = 2(h - 1) - e: a alpha + size beta + 2 sqrt(a alpha size beta).

    >>> round(float(double_tree_broadcast_time(1e9, 1024, Link(0, 50e9), segments=1e9)), 6)
    0.02
    >>> round(float(double_tree_broadcast_time(0, 1024, Link(1e-6, 50e9), segments=1)), 6)
    2e-05
    """
    size, n = floats("size", size), ranks(n)
    short = (_power_of_two(n)[1] > 0) & (n % 4 != 3)
    fill = np.where(n == 1, 0, 2 * (depth(n) - 1) - short)
    alpha = np.asarray(link.alpha, dtype=np.float64)
    if segments is not None:
        k = ranks(segments, "segments")
        time = (fill + 2 * k) * (alpha + size * link.beta / (2 * k))
    else:
        best = fill * alpha + size * link.beta + 2 * np.sqrt(fill * alpha * size * link.beta)
        coarse = (fill + 2) * (alpha + size * link.beta / 2)
        time = np.where(fill * size * link.beta < 4 * alpha, coarse, best)
    return np.where(n == 1, 0.0, time)


@formula
def recursive_doubling_allreduce_time(size: ArrayLike, n: ArrayLike, link: Link, gamma: Number = 0.0) -> Floats:
    """Recursive doubling: log2 n rounds of whole buffers, lg n (alpha + size beta + size gamma).

    With n not a power of two the ranks beyond p = 2^floor(lg n) fold in first and are told the sum last:
    (lg p + 2)(alpha + size beta) + (lg p + 1) size gamma.

    >>> round(float(recursive_doubling_allreduce_time(0, 8, Link(1e-6, 50e9))), 6)
    3e-06
    """
    size, gamma = floats("size", size), floats("gamma", gamma)
    rounds, extra = _power_of_two(n)
    return (rounds + 2 * extra) * link.time(size) + (rounds + extra) * size * gamma


@formula
def halving_doubling_allreduce_time(size: ArrayLike, n: ArrayLike, link: Link, gamma: Number = 0.0) -> Floats:
    """Recursive halving, then doubling (Rabenseifner): 2 lg n alpha + 2(n-1)/n size beta + (n-1)/n size gamma.

    The ring's bytes in the tree's steps, if n is a power of two; otherwise 2 alpha + 2 size beta + size gamma more
    on p = 2^floor(lg n) ranks.

    >>> round(float(halving_doubling_allreduce_time(1e9, 8, Link(0, 50e9))), 6)
    0.035
    """
    size, gamma = floats("size", size), floats("gamma", gamma)
    rounds, extra = _power_of_two(n)
    share = 1 - np.exp2(-rounds)  # (p-1)/p
    return 2 * (rounds + extra) * link.alpha + 2 * (share + extra) * size * link.beta + (share + extra) * size * gamma


def _power_of_two(n: ArrayLike) -> tuple[Floats, Floats]:
    """floor(log2 n), and 1 where n is not a power of two."""
    mantissa, exponent = np.frexp(ranks(n))
    return np.asarray(exponent - 1, dtype=np.float64), np.asarray(mantissa != 0.5, dtype=np.float64)
