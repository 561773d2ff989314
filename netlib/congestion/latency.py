"""Latency or bandwidth: which of two links is faster, a slow one with a steady clock or a fast one that hesitates.

A collective takes `k` steps of latency and moves V bytes: k alpha + V / B. What decides is V / k, the bytes of a step.
"""

from netlib.arguments import Floats, declared, floats, formula
from netlib.links import Link


@formula
def break_even_step(crisp: Link, wide: Link) -> Floats:
    """Bytes of a serial step at which two links tie: (alpha2 - alpha1) B1 B2 / (B2 - B1). Below, `crisp` wins.

    Multiply by the number of ranks for a ring's buffer: it moves S / N in each step. Raises ValueError unless one link
    has the lower latency and the other the higher bandwidth. Broadcasts over arrays in the links.

    >>> crisp, wide = Link(2e-6, 25e9), Link(8e-6, 50e9)
    >>> round(float(break_even_step(crisp, wide))), round(float(break_even_step(crisp, wide)) * 512 / 1e6, 1)
    (300000, 153.6)
    """
    late = floats("alpha", wide.alpha) - floats("alpha", crisp.alpha)
    slow = floats("bandwidth", crisp.bandwidth)
    fast = floats("bandwidth", wide.bandwidth)
    if (late <= 0).any() or (fast <= slow).any():
        raise ValueError("crisp must have the lower alpha and wide the higher bandwidth; give the links in this order")
    return late * slow * fast / (fast - slow)


@declared
@formula
def jittered(link: Link, ranks: int) -> Link:
    """`link` whose latency is exponential with mean alpha, in steps that wait for the slowest of `ranks`: alpha H_n.

    H_n = 1 + 1/2 + ... + 1/n. An upper bound for a ring, whose ranks wait for a neighbour and not for all.

    >>> jittered(Link(2e-6, 25e9), 512).alpha / 2e-6 > 6.8
    True
    """
    if not 1 <= ranks <= 10**7:
        raise ValueError(f"ranks = {ranks} must be between 1 and 1e7")
    slowest = sum(1 / each for each in range(ranks, 0, -1))
    return Link(floats("alpha", link.alpha) * slowest, link.bandwidth)
