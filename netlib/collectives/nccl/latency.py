"""Latency: what an operation costs before its bytes count.

A base, that every kernel pays, and hops: n steps around a ring of which 2(nodes-1) cross the network, the depth of a
tree twice, the switch once. Simple waits for a whole chunk at each hop, LL for a line: hence 14 against 2.7
microseconds in the network. Source: the file named in tables.csv for each version.
"""

import numpy as np

from netlib.arguments import Floats
from netlib.collectives.nccl.bandwidth import GATHERS, has, steps
from netlib.collectives.nccl.graph import Cluster
from netlib.collectives.nccl.tables import ROWS, Edition, base, hop, known, scalar


def latencies(chosen: Edition, cluster: Cluster, op: str, overhead: float | None = None) -> Floats:
    """(12, *nodes) seconds, rows as in `tables.ROWS`; 0 where the version has no such combination.

    `overhead` replaces the seconds that posting a message to the network costs (NCCL_NET_OVERHEAD).

    >>> from netlib.collectives.nccl.graph import named
    >>> from netlib.collectives.nccl.tables import edition
    >>> by_row = latencies(edition("2.30.7"), named("dgx-h100"), "all_reduce")
    >>> round(float(by_row[ROWS.index(("Ring", "LL"))]) * 1e6, 1)  # 6.6 + 14 x 0.6
    15.0
    """
    shape = np.broadcast_shapes(np.shape(cluster.nodes), np.shape(cluster.per_node))
    found = []
    for algorithm, protocol in ROWS:
        start = base(chosen, algorithm, protocol)
        there = start is not None and has(chosen, algorithm, op)
        value = (start or 0.0) + _hops(chosen, cluster, op, algorithm, protocol, overhead) if there else 0.0
        found.append(np.broadcast_to(np.asarray(value, dtype=np.float64), shape))
    return np.stack(found)


def post_cost(chosen: Edition, cluster: Cluster) -> float:
    """Seconds that the CPU takes to post one message between nodes: 1 us, 2 us on AMD; 0 before 2.18.

    >>> from netlib.collectives.nccl.graph import named
    >>> from netlib.collectives.nccl.tables import edition
    >>> post_cost(edition("2.30.7"), named("dgx-h100")), post_cost(edition("2.30.7"), named("dgx-a100"))
    (1e-06, 2e-06)
    """
    return scalar(chosen, "post cost AMD" if cluster.cpu == "AMD" else "post cost") or 0.0


def _depth(nodes: Floats) -> Floats:
    """log2 rounded down, as NCCL counts the levels of a tree of nodes."""
    return np.frexp(nodes)[1] - 1.0


def _inside(chosen: Edition, cluster: Cluster, algorithm: str, protocol: str) -> float:
    """Seconds of a hop inside a node."""
    hardware = "NVLink" if cluster.nvlink else "PCIe"
    power = cluster.cpu == "Power" and chosen.key >= (2, 12)
    if power and (hardware, algorithm, protocol) == ("PCIe", "Tree", "Simple"):
        algorithm = "Ring"  # NCCL favours trees on Power
    return hop(chosen, hardware, algorithm, protocol)


def _across(chosen: Edition, cluster: Cluster, algorithm: str, protocol: str) -> Floats:
    """Seconds of a hop between nodes, with what the NIC reports."""
    network = np.asarray(hop(chosen, "network", algorithm, protocol))
    if chosen.key >= (2, 23):  # with one GPU a node nothing hides the hop: the tree's figure for all
        exposed = hop(chosen, "network", "Tree", protocol)
        network = np.where(np.asarray(cluster.per_node) == 1, exposed, network)
    if chosen.key < (2, 12):
        return network
    if chosen.key < (2, 18):
        return np.asarray(cluster.nic_latency) if cluster.nic_latency else network
    return network + cluster.nic_latency * (2 if protocol == "Simple" else 1)


def _hops(chosen: Edition, cluster: Cluster, op: str, algorithm: str, protocol: str, overhead: float | None) -> Floats:
    nodes, g = np.asarray(cluster.nodes, dtype=np.float64), np.asarray(cluster.per_node, dtype=np.float64)
    inside = np.asarray(_inside(chosen, cluster, algorithm, protocol))
    across = _across(chosen, cluster, algorithm, protocol)
    if protocol == "LL":
        inside = np.where(nodes > 1, inside * (scalar(chosen, "LL hop factor network") or 1.0), inside)
    if algorithm == "Ring" and op in ("broadcast", "reduce"):
        return _pipeline(chosen, cluster, op, protocol)
    if algorithm == "Ring":
        post = post_cost(chosen, cluster) if overhead is None else overhead
        post *= known(chosen, "post cost Simple factor") if protocol == "Simple" and post else 1.0
        inside = np.where(nodes > 1, np.maximum(inside, post), inside)
        crossing = _crossings(chosen, op, nodes)
        return np.asarray((steps(op, cluster.ranks) - crossing) * inside + crossing * across)
    if algorithm == "Tree":
        return np.asarray(2 * ((g - 1) * inside + _depth(nodes) * across))
    if algorithm == "CollNetDirect":
        return np.asarray(
            2 * (np.minimum(1, g - 1) * inside + (g - 1) * known(chosen, "CollNetDirect per peer")) + across
        )
    if algorithm == "CollNetChain":
        return np.asarray(2 * (g - 1) * inside + across)
    if algorithm == "PAT":
        per_level = across / known(chosen, "PAT log divisor")
        return np.asarray(_depth(nodes) * per_level + cluster.ranks * known(chosen, "PAT per rank"))
    if algorithm == "NVLS":
        network = hop(chosen, "network", algorithm, protocol) if chosen.key < (2, 20) else across
        return inside + np.where(nodes > 1, network, 0.0)
    if chosen.key < (2, 20):  # 2.18 walked a chain of nodes
        return np.asarray(2 * (nodes - 1) * hop(chosen, "network", algorithm, protocol))
    return inside + 2 * _depth(nodes) * across


def _crossings(chosen: Edition, op: str, nodes: Floats) -> Floats:
    """Steps of a ring that cross the network; 2.12 to 2.22 counted two more for an all-reduce."""
    if op in GATHERS:
        return nodes - 1
    extra = 0 if chosen.key < (2, 12) or chosen.key >= (2, 23) else 1
    return np.where(nodes > 1, 2 * (nodes - 1 + extra), 0)


def _pipeline(chosen: Edition, cluster: Cluster, op: str, protocol: str) -> Floats:
    """Broadcast and reduce: one hop if all rings have the same order, since data flow; else a hop for each rank."""
    nodes = np.asarray(cluster.nodes, dtype=np.float64)
    family = "Tree" if protocol == "Simple" and not cluster.same_rings else "Ring"
    inside, network = _inside(chosen, cluster, family, protocol), hop(chosen, "network", family, protocol)
    each = np.where(nodes == 1, inside, network)
    return each * (1.0 if cluster.same_rings else steps(op, cluster.ranks))
