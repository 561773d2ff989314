"""Rules: which combinations NCCL takes into account at all, and why not the others.

A fast combination that is switched off is the usual surprise in a log, so each one that is off carries its reasons.
Source: the enabling part of src/graph/tuning.cc in the version's file (tables.csv).
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from netlib.collectives.nccl.bandwidth import GATHERS, has
from netlib.collectives.nccl.graph import Cluster
from netlib.collectives.nccl.selection import selected
from netlib.collectives.nccl.tables import ALGORITHMS, PROTOCOLS, ROWS, Edition, base

Bools = NDArray[np.bool_]
Where = bool | np.bool_ | Bools
_SWITCH = ("Hopper", "Blackwell")


def enabled(
    chosen: Edition, cluster: Cluster, op: str, variables: Mapping[str, str]
) -> tuple[Bools, tuple[tuple[str, ...], ...]]:
    """(12, *nodes) which combinations are on, and for each row the reasons why it is off (for some of the nodes).

    >>> from netlib.collectives.nccl.graph import named
    >>> from netlib.collectives.nccl.tables import edition
    >>> on, why = enabled(edition("2.30.7"), named("dgx-h100"), "all_reduce", {})
    >>> why[ROWS.index(("NVLSTree", "Simple"))]
    ('NVLSTree needs several nodes',)
    """
    shape = np.broadcast_shapes(np.shape(cluster.nodes), np.shape(cluster.per_node))
    on, why = [], []
    for algorithm, protocol in ROWS:
        off = [
            (text, np.broadcast_to(where, shape))
            for text, where in _off(chosen, cluster, op, algorithm, protocol, variables)
        ]
        off = [(text, where) for text, where in off if where.any()]
        row = np.ones(shape, dtype=bool)
        for _, where in off:
            row = row & ~where
        on.append(row)
        why.append(tuple(text for text, _ in off))
    stacked = np.stack(on)
    return _chosen(chosen, stacked, why, op, variables)


def _off(
    chosen: Edition, cluster: Cluster, op: str, algorithm: str, protocol: str, variables: Mapping[str, str]
) -> list[tuple[str, Where]]:
    """Every reason for which a combination is off, with the nodes it holds for."""
    name = f"{algorithm}/{protocol}"
    if base(chosen, algorithm, protocol) is None:
        return [(f"NCCL {chosen.first} has no {name}", True)]
    if not has(chosen, algorithm, op):
        return [(f"{algorithm} does no {op} in NCCL {chosen.first}", True)]
    nodes, per_node = np.asarray(cluster.nodes), np.asarray(cluster.per_node)
    collnet = _flag(variables, "NCCL_COLLNET_ENABLE", cluster.collnet_enabled)
    found: list[tuple[str, Where]] = []
    if protocol == "LL128" and "NCCL_PROTO" not in variables:
        found += [(reason, True) for reason in _ll128(chosen, cluster, variables)]
    if algorithm in ("NVLS", "NVLSTree"):
        usable = cluster.nvls is not None and cluster.gpu in _SWITCH and cluster.nvlink and cluster.nvswitch
        found.append((f"{algorithm} needs an NVSwitch that adds (Hopper or later)", not usable))
        found.append((f"{algorithm} is switched off by NCCL_NVLS_ENABLE=0", variables.get("NCCL_NVLS_ENABLE") == "0"))
        if usable and cluster.nvls is not None and chosen.key >= (2, 28):
            found.append((f"{algorithm} needs two channels", np.asarray(cluster.nvls.count) < 2))
    if algorithm == "NVLSTree":
        found.append(("NVLSTree needs several nodes", nodes == 1))
    if algorithm == "NVLS" and not collnet:
        found.append(("NVLS between nodes needs CollNet (NCCL_COLLNET_ENABLE and its plugin)", nodes > 1))
    if algorithm.startswith("CollNet"):
        found.append((f"{algorithm} needs CollNet (NCCL_COLLNET_ENABLE and its plugin)", not collnet))
    if algorithm == "CollNetDirect":
        found.append(("CollNetDirect needs an NVSwitch", not cluster.nvswitch))
    if algorithm in ("CollNetDirect", "NVLS") and op in GATHERS:
        heads = np.asarray((cluster.collnet or cluster.ring).count)
        found.append((f"{algorithm} needs a NIC for each GPU here", (nodes > 1) & (per_node > heads)))
    if algorithm == "PAT":
        forced = variables.get("NCCL_PAT_ENABLE")
        found.append(("PAT is switched off by NCCL_PAT_ENABLE=0", forced == "0"))
        found.append(("PAT needs one GPU in each node", (per_node > 1) & (forced != "1")))
    return found


def _ll128(chosen: Edition, cluster: Cluster, variables: Mapping[str, str]) -> list[str]:
    """LL128 relies on 128-byte stores that arrive whole: only where NVIDIA tested that they do."""
    reasons, hopper = [], cluster.gpu in _SWITCH
    near: tuple[str, ...] = ("PIX", "PXB")
    if hopper and chosen.key >= (2, 18):
        wide = chosen.key < (2, 27) or variables.get("NCCL_LL128_C2C", "1") != "0"
        near += ("PXN",) if chosen.key < (2, 27) else ("PXN", "P2C") if wide else ()
    if cluster.path not in near:
        reasons.append(f"LL128 needs a NIC at {near[-1]} or nearer, not {cluster.path}")
    if not cluster.nvlink:
        reasons.append("LL128 needs NVLink inside the node")
    if cluster.mixed and not (hopper and chosen.key >= (2, 30)):
        reasons.append("LL128 needs GPUs of one compute capability")
    newest = "Ampere" if chosen.key < (2, 18) else "Hopper" if chosen.key < (2, 25) else "Blackwell"
    known = ("Volta", "Ampere", "Hopper", "Blackwell")
    if known.index(cluster.gpu) > known.index(newest):
        reasons.append(f"LL128 is off for {cluster.gpu} in NCCL {chosen.first}")
    return reasons


def _flag(variables: Mapping[str, str], name: str, default: bool) -> bool:
    return variables[name].strip() not in ("", "0") if name in variables else default


def _chosen(
    chosen: Edition, on: Bools, why: list[tuple[str, ...]], op: str, variables: Mapping[str, str]
) -> tuple[Bools, tuple[tuple[str, ...], ...]]:
    """What the user's lists leave, with the fall-backs that a version has."""
    algorithms, protocols = frozenset(ALGORITHMS), frozenset(PROTOCOLS)
    if "NCCL_ALGO" in variables and (chosen.key >= (2, 18) or op == "all_reduce"):  # before, others had one only
        algorithms = selected(variables["NCCL_ALGO"], op, chosen.asked)
    if "NCCL_PROTO" in variables:
        protocols = selected(variables["NCCL_PROTO"], op, chosen.asked, PROTOCOLS)
    if chosen.key < (2, 20) and op != "all_reduce":
        algorithms = algorithms | {"Ring"}  # never switched off, so that NCCL_ALGO=Tree runs real programs
    before, kept = on, []
    for number, (algorithm, protocol) in enumerate(ROWS):
        reasons = why[number]
        for named, allowed, variable in ((algorithm, algorithms, "NCCL_ALGO"), (protocol, protocols, "NCCL_PROTO")):
            if named not in allowed:
                reasons += (f"{named} is not in {variable}={variables[variable]}",)
        why[number] = reasons
        kept.append(before[number] & (algorithm in algorithms and protocol in protocols))
    after = np.stack(kept)
    if (2, 20) <= chosen.key < (2, 24):  # rings come back where nothing is left
        ring = np.array([algorithm == "Ring" and protocol in protocols for algorithm, protocol in ROWS])
        lost = ~after.any(axis=0)
        after = after | (before & ring.reshape(-1, *[1] * (before.ndim - 1)) & lost)
    return after, tuple(why)
