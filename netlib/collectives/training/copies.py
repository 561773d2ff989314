"""Copies: to how many ranks and nodes a token of a mixture of experts travels.

Uniform routing: each token's `top_k` experts are a random set, either of all experts or, with `node_limit`, of those
in that many random nodes (DeepSeek-V3 takes 4 of 8). Real routers are skewed; the busiest rank then gets more.
Read with the chapter "Collectives", section "Who moves what".
"""

from dataclasses import dataclass

import numpy as np

from netlib.arguments import declared


@dataclass(frozen=True)
class Copies:
    """Copies of one token, its own rank and node included: one for each expert, rank or node that it visits.

    `experts` = top_k counts a copy for each expert (no deduplication), `ranks` one for each distinct rank, `nodes` one
    for each distinct node; the last two are expected values. `away_ranks` and `away_nodes` leave out its own.
    """

    experts: float
    ranks: float
    nodes: float
    away_experts: float
    away_ranks: float
    away_nodes: float


def _hit(groups: int, each: int, top_k: int) -> float:
    """Expected distinct groups among `groups` of `each` experts, hit by top_k experts drawn without replacement."""
    total = groups * each
    spared = np.arange(top_k, dtype=np.float64)  # C(total - each, k) / C(total, k) as a product
    missed = np.prod(np.maximum(total - each - spared, 0) / np.maximum(total - spared, 1))
    return float(groups * (1 - missed))


@declared
def token_copies(experts: int, top_k: int, ep: int, g: int, node_limit: int | None = None) -> Copies:
    """Copies of a token whose experts are spread over `ep` ranks in nodes of g.

    With G groups of e experts and k drawn from E, G (1 - C(E-e, k) / C(E, k)) groups are hit.

    >>> v3 = token_copies(experts=256, top_k=8, ep=64, g=8, node_limit=4)
    >>> v3.experts, round(v3.ranks, 2), round(v3.nodes, 2), round(v3.away_nodes, 2)
    (8, 7.36, 3.63, 3.18)
    """
    for name, value in (("experts", experts), ("top_k", top_k), ("ep", ep), ("g", g)):
        if value < 1:
            raise ValueError(f"{name} = {value} must be at least 1")
    if top_k > experts:
        raise ValueError(f"top_k = {top_k} must be at most experts = {experts}")
    if experts % ep:
        raise ValueError(f"experts = {experts} must be a multiple of ep = {ep}, so that each rank holds as many")
    local = min(ep, g)
    if ep % local:
        raise ValueError(f"ep = {ep} must be a multiple of g = {g}, or smaller")
    nodes, per_rank = ep // local, experts // ep
    chosen = nodes if node_limit is None else min(node_limit, nodes)
    if chosen < 1 or chosen * local * per_rank < top_k:
        raise ValueError(f"node_limit = {node_limit} leaves fewer than top_k = {top_k} experts; give more nodes")
    ranks = _hit(chosen * local, per_rank, top_k)
    crossed = _hit(chosen, local * per_rank, top_k)
    stay, home = (ep - 1) / ep, (nodes - 1) / nodes
    return Copies(top_k, ranks, crossed, top_k * stay, ranks * stay, crossed * home)
