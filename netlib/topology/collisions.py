"""Collisions under ECMP as statistics: flows that choose a link by hash are balls thrown into bins.

A hash gives each flow one of n equal uplinks, whatever the others do. Some links get several flows, some none, and a
collective waits for the fullest link. All of it is exact: no simulation. Read with the chapter "Scale-out", section
"Where the bytes go".
"""

from math import ceil, isqrt

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula

MOST_FLOWS = 100_000
MOST_LINKS = 100_000


@declared
def max_load_distribution(flows: int, links: int) -> Floats:
    """P[c]: the probability that the fullest of `links` carries c of `flows` (up to where it falls below 1e-17).

    P(max <= c) = m! / n^m x the coefficient of x^m in (sum of x^k / k! for k <= c)^n, for m flows and n links. Scaling
    x by m/n makes it the chance that n Poisson numbers of mean m/n, none above c, sum to m, over the chance that they
    sum to m. The coefficient is read off by a Fourier sum at more points than the sum of the numbers can stray.
    Holds to 1e-10 for up to 100,000 flows and as many links.

    Source: Raab and Steger, "Balls into bins" (RANDOM 1998), for what to expect of it; the generating function is that
    of Flajolet and Sedgewick, Analytic Combinatorics (2009), section II.3.

    Two flows on two links share one half of the time:

    >>> max_load_distribution(2, 2).round(12).tolist()
    [0.0, 0.5, 0.5]
    """
    from scipy.special import gammaln, pdtrc

    m, n = (
        int(_whole(name, value, most))
        for name, value, most in (("flows", flows, MOST_FLOWS), ("links", links, MOST_LINKS))
    )
    if m == 0 or n == 1:
        return np.asarray(np.arange(m + 1) == m, float)
    mean = m / n
    top = np.arange(ceil(mean), m + 1)
    top = top[: 1 + np.count_nonzero(n * pdtrc(top, mean) > 1e-18)]  # beyond, the fullest link is never found
    k = np.arange(max(0, int(mean - 10 * mean**0.5)), top[-1] + 1)  # links with fewer are never found either
    weight = np.exp(k * np.log(mean) - mean - gammaln(k + 1))
    points = 10 * isqrt(m) + 60  # ten standard deviations of a Poisson number of mean m
    angle = 2 * np.pi * np.arange(points // 2 + 1) / points
    terms = weight[:, None] * np.exp(1j * np.outer(k - mean, angle))
    below = np.cumsum(terms, axis=0)[top[0] - k[0] :] ** n
    twice = np.full(angle.size, 2)  # the other half of the circle mirrors this one, but for its two ends
    twice[[0, -1]] = 1
    chance = np.real(below) @ twice
    chance = np.clip(chance / chance[-1], 0, 1)
    return np.concatenate([np.zeros(top[0]), np.diff(chance, prepend=0)])


@formula
def expected_max_load(flows: ArrayLike, links: ArrayLike) -> Floats:
    """Mean number of flows on the fullest of `links`, for `flows` that hash independently and evenly.

    Exact, from `max_load_distribution`, for each pair of a grid.

    >>> expected_max_load([2, 3], 2).round(9).tolist()
    [1.5, 2.25]
    """
    m, n = _whole("flows", flows, MOST_FLOWS), _whole("links", links, MOST_LINKS)
    m, n = np.broadcast_arrays(m, n)
    pairs, place = np.unique(np.stack([m.ravel(), n.ravel()]), axis=1, return_inverse=True)
    each = [max_load_distribution(int(a), int(b)) for a, b in pairs.T]
    means = np.array([p @ np.arange(p.size) for p in each])
    return means[place].reshape(m.shape)


@formula
def ecmp_speed(flows: ArrayLike, links: ArrayLike) -> Floats:
    """Speed of equal flows under ECMP against an even spread: mean load over mean largest load, 0 to 1.

    (flows / links) / E[max]. A collective is done when the fullest link is done. Idle links count as lost, so fewer
    flows than links are slow here even if none meet.

    >>> ecmp_speed([1, 2], 2).round(9).tolist()
    [0.5, 0.666666667]
    """
    m, n = _whole("flows", flows, MOST_FLOWS, least=1), _whole("links", links, MOST_LINKS)
    return np.asarray(m / n / expected_max_load(m, n))


@formula
def links_used(flows: ArrayLike, links: ArrayLike) -> Floats:
    """Expected share of `links` that carry any of `flows`: 1 - (1 - 1/links)^flows; 1 - 1/e for as many as links.

    It is no throughput: the links in use are not equally full.

    >>> links_used([1, 2], 2).tolist()
    [0.5, 0.75]
    """
    m, n = _whole("flows", flows, np.inf), _whole("links", links, np.inf)
    return np.asarray(1 - (1 - 1 / n) ** m)


def _whole(name: str, value: ArrayLike, most: float, least: float = 0) -> Floats:
    """Whole numbers in a range, as floats; links count from one."""
    array = floats(name, value, max(least, 1) if name == "links" else least)
    if np.any(array != np.floor(array)):
        raise ValueError(f"{name} = {array[array != np.floor(array)].flat[0]:g} must be whole: count {name}")
    if np.any(array > most):
        raise ValueError(f"{name} = {array.max():g} is beyond {most:g}, where the sums are exact; give fewer")
    return array
