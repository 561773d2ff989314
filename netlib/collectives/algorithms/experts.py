"""Experts: where tokens go in a mixture-of-experts layer, and the schedules that take them there and back.

A gate picks `top_k` experts for every token; the ranks hold equally many experts each, in order. Dispatch sends a token
to the ranks of its experts; combine adds what they return at the token's own rank.
Read with the chapter "Collectives", section "An algorithm as data". Sources: DeepSeek-AI (2024), DeepSeek-V3, sections
2.1.2 and 3.2.2, for the node limit and for one crossing a node; deepseek-ai/DeepEP, README, for the two kernels.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared
from netlib.collectives.algorithms.hierarchies import ACROSS, INSIDE
from netlib.collectives.bounds import fits
from netlib.collectives.schedule import Ints, Phase, Schedule, phase, schedule_of
from netlib.topology.fabric import whole

_Array = NDArray[Any]

COPIES = ("node", "rank", "expert")
"""What is sent once: a token to each node, to each rank, or to each expert."""


@dataclass(frozen=True, eq=False)
class Routing:
    """Which experts the gate picked.

    experts      (n, T, k) of token t of rank r
    total        experts in all, total / n on each rank, in order
    g, nodes     ranks in a node, nodes; n = g x nodes
    """

    experts: Ints
    total: int
    g: int
    nodes: int
    _made = "routed(...) or routing_of(...)"

    @property
    def n(self) -> int:
        """Ranks."""
        return self.g * self.nodes

    @property
    def ranks(self) -> Ints:
        """(n, T, k) rank of each chosen expert."""
        return self.experts // np.int32(self.total // self.n)


@declared
def routing_of(experts: ArrayLike, total: int, g: int, nodes: int) -> Routing:
    """A `Routing` from given choices, (n, T, k): what a trace holds.

    >>> routing_of([[[0, 3]], [[1, 2]]], total=4, g=2, nodes=1).ranks.tolist()
    [[[0, 1]], [[0, 1]]]
    """
    chosen, n = array("experts", experts), whole("g", g) * whole("nodes", nodes)
    total = _divided(total, n)
    if chosen.dtype.kind not in "iu" or chosen.ndim != 3 or len(chosen) != n or not chosen.size:
        raise ValueError(
            f"experts has shape {chosen.shape}; give whole numbers ({n}, tokens, top_k), one row for each of {n} ranks"
        )
    if chosen.min() < 0 or chosen.max() >= total:
        raise ValueError(f"experts must hold 0 to {total - 1}; total = {total}")
    return Routing(chosen.astype(np.int32), total, g, nodes)


@declared
def routed(
    rng: Generator,
    tokens: int,
    total: int,
    top_k: int,
    g: int,
    nodes: int,
    *,
    node_limit: int | None = None,
    skew: float = 0.0,
) -> Routing:
    """A gate's choice for `tokens` tokens on each rank: the `top_k` of `total` experts with the highest affinity.

    Affinity is sigmoid(popularity + noise): Gumbel noise for each token and expert, drawn as -log of an exponential
    number; `skew` times a normal number for each expert, so that with skew = 0 all are equally popular. With
    `node_limit` M a token may use M nodes only, those whose best ceil(top_k / M) affinities have the highest sum, as in
    DeepSeek-V3.

    >>> made = routed(np.random.default_rng(0), tokens=128, total=256, top_k=8, g=8, nodes=8, node_limit=4)
    >>> made.experts.shape, max(len(set(row)) for row in (made.ranks // 8).reshape(-1, 8).tolist())
    ((64, 128, 8), 4)
    """
    n = whole("g", g) * whole("nodes", nodes)
    tokens, top_k, total = whole("tokens", tokens), whole("top_k", top_k), _divided(total, n)
    limit = nodes if node_limit is None else min(whole("node_limit", node_limit), nodes)
    each = total // nodes
    if top_k > limit * each:
        raise ValueError(f"top_k = {top_k} must be at most {limit * each}, the experts of {limit} nodes")
    if not 0 <= skew <= 100:
        raise ValueError(f"skew = {skew:g} must be at least 0 and at most 100")
    fits(tokens=tokens, total=total), fits(ranks=n, tokens=tokens, top_k=top_k)
    shunned, best = np.exp(-skew * rng.standard_normal(total)), -(-top_k // limit)
    chosen = np.empty((n, tokens, top_k), np.int32)
    for rank in range(n):  # one rank at a time, to hold (tokens, total) numbers only
        affinity = 1 / (1 + shunned * rng.standard_exponential((tokens, total)))
        if limit < nodes:
            of_node = affinity.reshape(tokens, nodes, each)
            worth = np.partition(of_node, -min(best, each), axis=-1)[..., -min(best, each) :].sum(axis=-1)
            closed = np.argsort(-worth, axis=-1)[:, limit:]
            np.put_along_axis(of_node, closed[..., None], -1.0, axis=1)
        chosen[rank] = np.argpartition(-affinity, top_k - 1, axis=-1)[:, :top_k]
    return Routing(chosen, total, g, nodes)


@declared
def moe_dispatch(routing: Routing, copies: str = "node") -> Schedule:
    """Each token to the ranks of its experts.

    copies  "node": once over the network to each node, to the rank on the sender's rail, which copies it to the others
            over NVLink (DeepEP's normal kernels); two steps
            "rank": once to each rank, directly; one step
            "expert": once for each expert, directly, even to one rank (DeepEP's low-latency kernels); one step

    `size` is a rank's tokens: T x bytes of a token, or T x top_k x bytes with "expert". A chunk is a token, T r + t;
    with "expert" it is a choice, (T r + t) top_k + j.

    >>> made = moe_dispatch(routing_of([[[0, 3]], [[1, 2]]], total=4, g=2, nodes=1), "rank")
    >>> made.source.tolist(), made.target.tolist(), made.phases[0].dst.tolist()
    ([0, 1], [[0, 1], [0, 1]], [1, 0])
    """
    owner, ranks = _chunks(routing, copies)
    phases = [phase(0, src, dst, chunk, False, channel=way) for src, dst, chunk, way in _hops(routing, copies)]
    return _exchange(f"dispatch, a copy a {copies}", routing, phases, owner, ranks)


@declared
def moe_combine(routing: Routing, copies: str = "node") -> Schedule:
    """What the experts return for each token, weighted already, added up at the token's rank: dispatch backwards.

    With "node" a node's results are added first, at the rank on the token's rail, and cross once; with "rank" each
    rank's results are added there; with "expert" every result comes home by itself, to be added there.

    >>> made = moe_combine(routing_of([[[0, 3]], [[1, 2]]], total=4, g=2, nodes=1), "rank")
    >>> made.source.tolist(), made.target.tolist(), bool(made.phases[0].add.all())
    ([[0, 1], [0, 1]], [0, 1], True)
    """
    owner, ranks = _chunks(routing, copies)
    back = _hops(routing, copies)[::-1]
    phases = [phase(0, dst, src, chunk, copies != "expert", channel=way) for src, dst, chunk, way in back]
    return _exchange(f"combine, a copy a {copies}", routing, phases, ranks, owner)


def _chunks(routing: Routing, copies: str) -> tuple[_Array, _Array]:
    """(P,) the rank of each chunk's token; (P, k) or (P,) the ranks of its experts."""
    if copies not in COPIES:
        raise ValueError(f"copies = {copies!r} must be one of {', '.join(COPIES)}")
    n, tokens, top_k = routing.experts.shape
    ranks = routing.ranks
    if copies == "expert":
        return np.repeat(np.arange(n), tokens * top_k), ranks.ravel()
    return np.repeat(np.arange(n), tokens), ranks.reshape(-1, top_k)


def _hops(routing: Routing, copies: str) -> list[tuple[_Array, _Array, _Array, int]]:
    """src, dst, chunk and channel of each hop on the way to the experts."""
    owner, ranks = _chunks(routing, copies)
    chunk, rank = _pairs(ranks)
    home = owner[chunk]
    if copies != "node":
        return _sent((home, rank, chunk, ACROSS))
    far, node = _pairs(ranks // routing.g)
    rail = owner[far] % routing.g
    relay = rank // routing.g * routing.g + home % routing.g
    return _sent((owner[far], node * routing.g + rail, far, ACROSS), (relay, rank, chunk, INSIDE))


def _pairs(places: _Array) -> tuple[_Array, _Array]:
    """Each chunk with each of its places, once."""
    rows = np.sort(places.reshape(len(places), -1), axis=1)
    new = np.ones(rows.shape, bool)
    new[:, 1:] = rows[:, 1:] != rows[:, :-1]
    return np.nonzero(new)[0], rows[new].astype(np.int64)


def _sent(*hops: tuple[_Array, _Array, _Array, int]) -> list[tuple[_Array, _Array, _Array, int]]:
    """The hops that have a message, without what stays where it is."""
    moved = [(src[src != dst], dst[src != dst], chunk[src != dst], way) for src, dst, chunk, way in hops]
    return [hop for hop in moved if hop[0].size]


def _exchange(name: str, routing: Routing, phases: list[Phase], source: _Array, target: _Array) -> Schedule:
    chunks = len(source)
    weight = np.full(chunks, routing.n / chunks)
    return schedule_of(name, "alltoallv", routing.n, phases, weight=weight, source=source, target=target)


def _divided(total: int, n: int) -> int:
    if whole("total", total) % n:
        raise ValueError(f"total = {total} experts do not divide among {n} ranks; give a multiple of {n}")
    return total
