"""Bandwidth: how many bytes of the buffer per second NCCL expects of each algorithm and protocol.

Two steps. The bus: channels x speed, shared by protocol (LL sends 4 bytes of 8, LL128 120 of 128) and capped by what a
channel was measured to do. Then the algorithm: a ring moves n/steps of it, a tree half, the switch its own share.
A result of 0 means that this version has no such combination. Source: the file named in tables.csv for each version.
"""

import numpy as np

from netlib.arguments import Floats
from netlib.collectives.nccl.graph import Channels, Cluster
from netlib.collectives.nccl.tables import ROWS, Edition, base, caps, known, ll_caps, rows, scalar

OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
GATHERS = ("all_gather", "reduce_scatter")


def generation(chosen: Edition, cluster: Cluster) -> str:
    """The GPU whose constants a version uses: up to 2.12 all but an all-Ampere job counts as Volta.

    >>> from netlib.collectives.nccl.graph import named
    >>> from netlib.collectives.nccl.tables import edition
    >>> generation(edition("2.12.12"), named("dgx-h100")), generation(edition("2.24.3"), named("dgx-b200"))
    ('Volta', 'Hopper')
    """
    if chosen.key < (2, 18):
        return "Ampere" if cluster.gpu == "Ampere" and not cluster.mixed else "Volta"
    return "Hopper" if cluster.gpu == "Blackwell" and chosen.key < (2, 25) else cluster.gpu


def steps(op: str, n: Floats) -> Floats:
    """Steps of a ring: 2(n-1) for all-reduce, n-1 for all-gather and reduce-scatter, n for broadcast and reduce.

    >>> import numpy as np
    >>> steps("all_reduce", np.array([8.0])).tolist(), steps("broadcast", np.array([8.0])).tolist()
    ([14.0], [8.0])
    """
    taken: Floats = 2 * (n - 1) if op == "all_reduce" else n - 1 if op in GATHERS else n
    return taken


def bandwidths(chosen: Edition, cluster: Cluster, op: str) -> Floats:
    """(12, *nodes) bytes/s of the buffer, rows as in `tables.ROWS`; 0 where the version has no such combination.

    >>> from netlib.collectives.nccl.graph import named
    >>> from netlib.collectives.nccl.tables import edition
    >>> by_row = bandwidths(edition("2.30.7"), named("dgx-h100"), "all_reduce")
    >>> round(float(by_row[ROWS.index(("Ring", "Simple"))]) / 1e9, 1)  # 360 x 8/14
    205.7
    """
    nodes = np.asarray(cluster.nodes, dtype=np.float64)
    makers = {
        "Ring": _ring,
        "Tree": _tree,
        "CollNetDirect": _collnet,
        "CollNetChain": _collnet,
        "NVLS": _nvls,
        "NVLSTree": _nvls,
        "PAT": _pat,
    }
    zero = np.zeros(np.broadcast_shapes(nodes.shape, np.shape(cluster.per_node)))
    found = []
    for algorithm, protocol in ROWS:
        there = base(chosen, algorithm, protocol) is not None and has(chosen, algorithm, op)
        value = makers[algorithm](chosen, cluster, op, algorithm, protocol) if there else zero
        found.append(np.broadcast_to(np.asarray(value, dtype=np.float64), zero.shape))
    return np.stack(found)


def has(chosen: Edition, algorithm: str, op: str) -> bool:
    """Does this version offer the algorithm for this operation?

    >>> from netlib.collectives.nccl.tables import edition
    >>> has(edition("2.30.7"), "Tree", "all_gather"), has(edition("2.30.7"), "PAT", "all_gather")
    (False, True)
    """
    if algorithm == "Ring":
        return True
    if algorithm == "PAT":
        return op in GATHERS
    in_switch = algorithm in ("NVLS", "CollNetDirect") and chosen.key >= (2, 20)
    return op == "all_reduce" or (op in GATHERS and in_switch)


def _at(values: Floats, nodes: Floats) -> Floats:
    """The entry for one node, two nodes or more."""
    return np.asarray(values[np.clip(nodes.astype(int), 1, 3) - 1])


def _split(graph: Channels, cluster: Cluster) -> tuple[Floats, Floats, Floats, Floats]:
    count, intra, inter = (np.asarray(each, dtype=np.float64) for each in (graph.count, graph.intra, graph.inter))
    return count, intra, inter, np.asarray(cluster.nodes, dtype=np.float64)


def _bus(chosen: Edition, cluster: Cluster, graph: Channels, *, inside: bool = False) -> Floats:
    """Channels x speed: the speed inside a node for up to two nodes, else that between nodes."""
    count, intra, inter, nodes = _split(graph, cluster)
    bus = count * (intra if inside else np.where(nodes <= 2, intra, inter))
    cap = [row.value for row in rows(chosen, "bus cap") if row.gpu == generation(chosen, cluster)]
    return np.minimum(bus, cap[0]) if cap else bus


def _ring(chosen: Edition, cluster: Cluster, op: str, algorithm: str, protocol: str) -> Floats:
    count, _, _, nodes = _split(cluster.ring, cluster)
    bus, gpu, n = _bus(chosen, cluster, cluster.ring), generation(chosen, cluster), cluster.ranks
    if protocol == "LL":
        share: float | Floats | None = scalar(chosen, "ring LL share")
        if share is None:
            low = known(chosen, "ring LL share all_reduce or network")
            high = low if op in ("all_reduce", "reduce") else known(chosen, "ring LL share otherwise")
            share = np.where(nodes > 1, low, high)
        bus = bus * share
        cap = ll_caps(chosen, gpu, cluster.cpu)
        bus = bus if cap is None else np.minimum(bus, _at(cap, nodes))
    if protocol == "LL128":
        alone = scalar(chosen, "ring LL128 share one GPU a node")
        share = np.where(np.asarray(cluster.per_node) < 2, alone or 0, known(chosen, "ring LL128 share"))
        share = known(chosen, "ring LL128 share") if alone is None else share
        bus = np.minimum(bus * share, count * _ll128_cap(chosen, "ring LL128 cap", gpu, op, nodes))
    return bus * n / steps(op, n)


def _ll128_cap(chosen: Edition, table: str, gpu: str, op: str, nodes: Floats) -> Floats:
    """Bytes/s of one channel under LL128; 2.7 had one cap for each operation, the same for rings and trees."""
    each = [row.value for row in rows(chosen, "ring LL128 cap") if row.algorithm == op]
    if each:
        return np.asarray(each[0])
    cap = caps(chosen, table, gpu)
    assert cap is not None
    return _at(cap, nodes)


def _tree(chosen: Edition, cluster: Cluster, op: str, algorithm: str, protocol: str) -> Floats:
    graph = cluster.tree or cluster.ring
    count, _, _, nodes = _split(graph, cluster)
    gpu = generation(chosen, cluster)
    bus = _bus(chosen, cluster, graph) * known(chosen, "tree share")
    cap, total = caps(chosen, "tree cap", gpu), rows(chosen, "tree total cap")
    if cap is not None:
        bus = np.minimum(bus, count * _at(cap, nodes))
    if total:  # 2.7 capped the whole tree, and higher for LL128 on Ampere
        special = [row.value for row in total if (row.gpu, row.protocol) == (gpu, protocol)]
        bus = np.minimum(bus, _at(np.array(special or [row.value for row in total if not row.gpu]), nodes))
    if protocol == "LL":
        bus, least = bus / known(chosen, "tree LL divisor"), ll_caps(chosen, gpu, cluster.cpu)
        bus = bus if least is None else np.minimum(bus, _at(least, nodes))
    if protocol == "LL128":
        one, more = known(chosen, "tree LL128 share one node"), known(chosen, "tree LL128 share network")
        share = scalar(chosen, "tree LL128 cap share") or 1.0
        top = count * _ll128_cap(chosen, "tree LL128 cap", gpu, op, nodes) * share
        bus = np.minimum(bus * np.where(nodes == 1, one, more), top)
    plain_share = scalar(chosen, "plain tree share")
    return bus / 2 * (plain_share if cluster.plain_tree and plain_share is not None else 1.0)


def _collnet(chosen: Edition, cluster: Cluster, op: str, algorithm: str, protocol: str) -> Floats:
    graph, g = cluster.collnet or cluster.ring, np.asarray(cluster.per_node, dtype=np.float64)
    count, intra, inter, _ = _split(graph, cluster)
    if op in GATHERS:
        network = scalar(chosen, "CollNetDirect gather network share")
        if network is not None:
            return g * np.minimum(intra, inter * network)
        eight = known(chosen, "CollNetDirect gather share of 8 GPUs")
        one, weight = known(chosen, "CollNetDirect gather share of 1 GPU"), (g - 1) / 7
        return g * intra * (weight * eight + (1 - weight) * one)
    bus = _bus(chosen, cluster, graph, inside=True) * (scalar(chosen, "CollNet share") or 1.0)
    if protocol == "LL":
        bus = bus * known(chosen, "CollNet LL share")
    hopper = scalar(chosen, "CollNetDirect Hopper share")
    if algorithm == "CollNetDirect" and hopper is not None:  # from 2.18: all GPUs need a NIC for full speed
        bus = bus / (g / count - (g / count - 1) / 2)
        bus = bus * hopper if cluster.gpu in ("Hopper", "Blackwell") else bus
    return bus / 2


def _nvls(chosen: Edition, cluster: Cluster, op: str, algorithm: str, protocol: str) -> Floats:
    if cluster.nvls is None or cluster.gpu not in ("Hopper", "Blackwell"):
        return np.asarray(0.0)
    count, intra, inter, nodes = _split(cluster.nvls, cluster)
    n, g, tree = cluster.ranks, np.asarray(cluster.per_node, dtype=np.float64), algorithm == "NVLSTree"
    efficiency = [row.value for row in rows(chosen, "NVLS efficiency") if row.gpu == cluster.gpu]
    if efficiency:  # from 2.28: one channel of the count is overhead; an all-reduce keeps both directions busy
        inside = intra * efficiency[0] * (count - 1) / count * (2.0 if op == "all_reduce" else (g - 1) / g)
        speed = np.minimum(inside, inter * np.where((nodes <= 2) & tree, 2, 1))
        cap = caps(chosen, "NVLSTree cap", cluster.gpu)
        if tree and cap is not None:
            speed = np.minimum(speed, _at(cap, nodes))
        return count * speed * (n / steps(op, n) if op == "all_reduce" else 1.0)
    if chosen.key < (2, 20):
        bus = count * np.where(nodes <= 2, intra, inter)
        share = known(chosen, "NVLSTree share") * nodes / np.maximum(2 * (nodes - 1), 1)
        return bus * (share if tree else known(chosen, "NVLS share"))
    across = np.where(nodes <= 2, inter, inter / 2) if tree else inter
    kept = op in GATHERS and chosen.key >= (2, 23)
    return count * np.minimum(intra, across) * (1.0 if kept else known(chosen, "NVLS share"))


def _pat(chosen: Edition, cluster: Cluster, op: str, algorithm: str, protocol: str) -> Floats:
    return _bus(chosen, cluster, cluster.ring) * known(chosen, "PAT share")
