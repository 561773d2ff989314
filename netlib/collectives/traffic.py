"""How many bytes one training step puts on the network, by kind of parallelism.

Bytes that each rank sends (and receives) with ring collectives, before any overlap. `dp` replicas of a model whose
weights take `model` bytes; its gradients take as many. Read with the chapter "Collectives", section "Who moves what".
Sources: Rajbhandari et al. (2020) for ZeRO; Narayanan et al. (2021) for tensor and pipeline parallelism.
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.collectives.cost import ranks


@formula
def dp_bytes(model: ArrayLike, dp: ArrayLike) -> Floats:
    """Plain data parallelism all-reduces the gradients: 2(dp-1)/dp x model.

    >>> float(dp_bytes(140e9, 8))
    245000000000.0
    """
    dp = ranks(dp, "dp")
    return 2 * (dp - 1) / dp * floats("model", model)


@declared
@formula
def zero_bytes(model: ArrayLike, dp: ArrayLike, stage: int) -> Floats:
    """ZeRO. Stages 1 and 2 reduce-scatter gradients and all-gather weights: 2(dp-1)/dp x model, as much as all-reduce.
    Stage 3 (FSDP) shards the weights too and gathers them once forward, once backward: 3(dp-1)/dp x model.

    >>> float(zero_bytes(140e9, 8, stage=3))
    367500000000.0
    """
    if stage not in (0, 1, 2, 3):
        raise ValueError(f"stage = {stage!r} must be 0 (no sharding), 1, 2 or 3")
    return dp_bytes(model, dp) * (1.5 if stage == 3 else 1.0)


@formula
def tp_bytes(
    layers: ArrayLike,
    tokens: ArrayLike,
    hidden: ArrayLike,
    width: ArrayLike,
    tp: ArrayLike,
    allreduces: float = 4,
) -> Floats:
    """Tensor parallelism all-reduces activations `allreduces` times a layer (two forward, two backward):
    layers x allreduces x tokens x hidden x width x 2(tp-1)/tp, `width` bytes a number.

    >>> round(float(tp_bytes(80, 8192, 8192, 2, 8)) / 1e9, 1)
    75.2
    """
    payload = (
        floats("layers", layers)
        * floats("allreduces", allreduces)
        * floats("tokens", tokens)
        * floats("hidden", hidden)
    )
    return dp_bytes(payload * floats("width", width), ranks(tp, "tp"))


@formula
def pp_bytes(tokens: ArrayLike, hidden: ArrayLike, width: ArrayLike) -> Floats:
    """Pipeline parallelism sends one boundary's activations forward and as many gradients back: 2 tokens hidden width.

    >>> float(pp_bytes(8192, 8192, 2))
    268435456.0
    """
    return 2 * floats("tokens", tokens) * floats("hidden", hidden) * floats("width", width)


@formula
def moe_bytes(
    tokens: ArrayLike, top_k: ArrayLike, hidden: ArrayLike, width: ArrayLike, node_limit: ArrayLike = np.inf
) -> Floats:
    """Expert parallelism dispatches each token to `top_k` experts: tokens x top_k x hidden x width bytes a layer
    and rank.

    With `node_limit` a token goes to that many nodes at most and crosses the network once for each.

    >>> float(moe_bytes(4096, 8, 7168, 1)) / 1e6, float(moe_bytes(4096, 8, 7168, 1, node_limit=4)) / 1e6
    (234.881024, 117.440512)
    """
    copies = np.minimum(floats("top_k", top_k), floats("node_limit", node_limit, 1, limit=True))
    return floats("tokens", tokens) * copies * floats("hidden", hidden) * floats("width", width)


@formula
def outside_share(ep: ArrayLike, g: ArrayLike) -> Floats:
    """Share of a uniform all-to-all over `ep` ranks that leaves a scale-up domain of `g`: (ep - g) / ep.

    >>> float(outside_share(64, 8))
    0.875
    """
    ep, g = ranks(ep, "ep"), ranks(g, "g")
    return np.maximum(0.0, (ep - g) / ep)


@formula
def shard_bytes(model: ArrayLike, tp: ArrayLike, pp: ArrayLike = 1) -> Floats:
    """The part of the model that one rank holds and reduces: model / (tp pp).

    >>> float(shard_bytes(140e9, 8))
    17500000000.0
    """
    return floats("model", model) / (ranks(tp, "tp") * ranks(pp, "pp"))


@formula
def summed_bytes(model: ArrayLike, n: ArrayLike, tp: ArrayLike, pp: ArrayLike = 1) -> Floats:
    """All ranks' gradient buffers added up: model x dp, with dp = n / (tp pp). A number that no wire carries.

    >>> float(summed_bytes(140e9, 1024, 8)) / 1e12
    17.92
    """
    return floats("model", model) * ranks(n) / (ranks(tp, "tp") * ranks(pp, "pp"))


@formula
def bucket_size(share: ArrayLike, alpha: ArrayLike, bandwidth: ArrayLike, g: ArrayLike, nodes: ArrayLike) -> Floats:
    """The gradient bucket whose rail rings spend `share` of their time on latency.

    Each of g rails all-reduces size/g over `nodes` NICs: latency 2(nodes-1) alpha, transfer 2(nodes-1)/nodes
    size/(g B), so size = (1/share - 1) alpha bandwidth g nodes.

    >>> round(float(bucket_size(0.1, 5e-6, 50e9, 8, 64)) / 1e9, 6)
    1.152
    """
    share = floats("share", share, above=True)
    if (share >= 1).any():
        raise ValueError(f"share = {np.max(share):g} must be below 1: it is latency's part of the whole time")
    return (
        (1 / share - 1)
        * floats("alpha", alpha)
        * floats("bandwidth", bandwidth)
        * ranks(g, "g")
        * ranks(nodes, "nodes")
    )
