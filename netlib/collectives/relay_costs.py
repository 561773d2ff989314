"""What all-to-all costs on nodes, and how often a token crosses: closed forms.

`g` ranks in each of `nodes` nodes, `up` a rank's link inside the node, `out` its NIC's link. `size` is what one rank
sends in all, its own block included, as nccl-tests counts it.
Read with the chapter "Collectives", section "An algorithm as data".
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.collectives.cost import ranks
from netlib.collectives.primitives import pairwise_all_to_all_time
from netlib.links import Link


@formula
def rail_all_to_all_time(size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link) -> Floats:
    """By rail inside, then along the rails: (g-1)(alpha + size/g beta) on NVLink, (nodes-1)(alpha + size/nodes beta) on
    the NICs, one after the other.

    >>> round(float(rail_all_to_all_time(8e9, 8, 4, Link(0, 450e9), Link(0, 50e9))), 6)
    0.135556
    """
    size, g, nodes = floats("size", size), ranks(g, "g"), ranks(nodes, "nodes")
    return pairwise_all_to_all_time(size, g, up) + pairwise_all_to_all_time(size, nodes, out)


@formula
def pxn_all_to_all_time(size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link) -> Floats:
    """One block of size/n after the other, n = g nodes; NVLink hands over the next block while a NIC sends one.

    (nodes-1) x (NIC + (g-1) x the slower of NIC and NVLink) for blocks that leave, (g-1) x NVLink for those that stay:
    (nodes-1) g NIC + (g-1) NVLink where the NIC is the slower.

    >>> round(float(pxn_all_to_all_time(8e9, 8, 4, Link(0, 450e9), Link(0, 50e9))), 6)
    0.123889
    """
    size, g, nodes = floats("size", size), ranks(g, "g"), ranks(nodes, "nodes")
    block = size / (g * nodes)
    nvlink, nic = up.time(block), out.time(block)
    return np.asarray((nodes - 1) * (nic + (g - 1) * np.maximum(nic, nvlink)) + (g - 1) * nvlink)


@declared
@formula
def expected_copies(top_k: int, total: ArrayLike, groups: ArrayLike) -> Floats:
    """How many of `groups` a token's experts lie in on average, if all choices of `top_k` of `total` are as likely.

    With e = total / groups experts in each: groups x (1 - C(total - e, top_k) / C(total, top_k)). With groups = nodes
    it is how often a token must be sent if each node gets it once; of those (nodes - 1) / nodes leave the node.

    >>> round(float(expected_copies(8, 256, 8)), 3), round(float(expected_copies(8, 256, 64)), 3)
    (5.295, 7.676)
    """
    total, groups = ranks(total, "total"), ranks(groups, "groups")
    if (total % groups != 0).any():
        raise ValueError(f"total = {_told(total)} experts must divide among groups = {_told(groups)}")
    picks = float(ranks(top_k, "top_k"))
    if (picks > total).any():
        raise ValueError(f"top_k = {picks:g} must be at most total = {np.min(total):g}")
    missed = np.ones(np.broadcast_shapes(total.shape, groups.shape))
    for pick in range(int(picks)):
        missed = missed * np.maximum(0.0, total - total / groups - pick) / (total - pick)
    return groups * (1 - missed)


def _told(value: Floats) -> str:
    """A number, or the numbers of an array, in one line."""
    return f"{value:g}" if not value.ndim else str(value.tolist())[:40]
