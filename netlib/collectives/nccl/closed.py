"""Closed: NCCL 2.4, whose whole tuner was one threshold.

Below it double trees, above it rings: a ring at 5 GB/s for each channel and 6 us a step, a tree at three quarters of
that and 15 us a level. Setting the two times equal gives the threshold, and users could set it by hand.
Source: NVIDIA/nccl@f40ce73 src/init.cc (v2.4.8-1), ncclTreeThreshold.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats, formula
from netlib.collectives.nccl.graph import Cluster
from netlib.collectives.nccl.tables import Edition, edition, known

Form = tuple[tuple[str, ...], Floats, Floats, NDArray[np.bool_], tuple[tuple[str, ...], ...]]


@declared
@formula
def tree_threshold(nodes: ArrayLike, per_node: ArrayLike, channels: ArrayLike, nvlink: bool = True) -> Floats:
    """Bytes below which NCCL 2.4 takes trees: Br Bt / (Br - Bt) (ring latency - tree latency).

    0 means never (one node, or a ring with the smaller latency), inf always (two nodes, where the tree's bandwidth
    was thought to be higher).

    >>> round(float(tree_threshold(8, 8, 4)))  # 60 GB/s x (378 - 73) us
    18300000
    """
    nodes, per_node = floats("nodes", nodes, 1), floats("per_node", per_node, 1)
    ring, tree = _bandwidths(edition("2.4.8"), nodes, floats("channels", channels, 1), nvlink)
    slow, quick = _latencies(edition("2.4.8"), nodes, per_node)
    gap = np.where(tree == ring, 1.0, ring - tree)
    meet = ring * tree / gap * (slow - quick)
    return np.where((nodes < 2) | (slow <= quick), 0.0, np.where(tree > ring, np.inf, meet))


def _bandwidths(chosen: Edition, nodes: Floats, channels: Floats, nvlink: bool) -> tuple[Floats, Floats]:
    if not nvlink:
        ring = np.full(np.broadcast_shapes(nodes.shape, channels.shape), known(chosen, "ring bandwidth PCIe"))
        return ring, ring * known(chosen, "tree share PCIe")
    ring = known(chosen, "ring bandwidth NVLink") * channels
    factor = np.where(nodes == 2, known(chosen, "tree factor two nodes"), 1.0)
    return ring + 0.0 * nodes, ring * known(chosen, "tree share NVLink") * factor


def _latencies(chosen: Edition, nodes: Floats, per_node: Floats) -> tuple[Floats, Floats]:
    levels = np.frexp(nodes)[1] - 1.0
    ring = known(chosen, "ring hop") * (nodes * per_node - 1)
    tree = known(chosen, "tree hop network") * levels + known(chosen, "tree hop inside") * (per_node - 1)
    return ring, tree


def closed_form(chosen: Edition, cluster: Cluster, op: str) -> Form:
    """Names, latency, bandwidth, enabled and reasons of the two rows that 2.4 knows, for `tune`.

    >>> from netlib.collectives.nccl.graph import named
    >>> names, *_ = closed_form(edition("2.4.8"), named("dgx-a100", 8), "all_reduce")
    >>> names
    ('Tree/Simple', 'Ring/Simple')
    """
    nodes, per_node = np.asarray(cluster.nodes, dtype=float), np.asarray(cluster.per_node, dtype=float)
    shape = np.broadcast_shapes(nodes.shape, per_node.shape)
    ring, tree = _bandwidths(chosen, nodes, np.asarray(cluster.ring.count, dtype=float), cluster.nvlink)
    slow, quick = _latencies(chosen, nodes, per_node)
    on = np.broadcast_to((nodes > 1) & (slow > quick) & (op == "all_reduce"), shape)
    why = (
        *(() if op == "all_reduce" else (f"Tree does no {op} in NCCL 2.4",)),
        *(("NCCL 2.4 takes rings on one node, and where they have the smaller latency",) if not on.all() else ()),
    )
    pair = [np.broadcast_to(each, shape) for each in (quick, slow, tree, ring)]
    return (
        ("Tree/Simple", "Ring/Simple"),
        np.stack(pair[:2]),
        np.stack(pair[2:]),
        np.stack([on, np.ones(shape, dtype=bool)]),
        (why, ()),
    )
