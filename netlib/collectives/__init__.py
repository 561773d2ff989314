"""Collectives: what it costs to add, gather and exchange buffers among ranks.

cost        all-reduce on equal links: ring, trees, doubling, halving-doubling  (the core)
clusters    all-reduce on nodes with NICs: hierarchical, multi-rail, in-network (the core)
busbw       algbw, busbw and what a log's numbers mean                          (the core)
primitives  reduce-scatter, all-gather, broadcast, reduce, all-to-all
traffic     bytes per step of data, sharded, tensor, pipeline and expert parallelism
crossing    where one algorithm overtakes another
nccl        what NCCL chooses, by version: its tuner, its environment variables and a lint for them
"""

from netlib.collectives.busbw import OPS, Op, algbw, busbw, busbw_factor, time_at_busbw
from netlib.collectives.clusters import (
    hierarchical_allreduce_time,
    inside_outside_balance,
    multirail_ring_allreduce_time,
    nvls_allreduce_time,
    serial_stages,
    sharp_allreduce_time,
)
from netlib.collectives.cost import (
    depth,
    double_tree_allreduce_time,
    halving_doubling_allreduce_time,
    recursive_doubling_allreduce_time,
    ring_allreduce_time,
    tree_allreduce_time,
)
from netlib.collectives.crossing import crossover_size
from netlib.collectives.primitives import (
    binomial_broadcast_time,
    binomial_reduce_time,
    bruck_all_gather_time,
    bruck_all_to_all_time,
    pairwise_all_to_all_time,
    pipelined_broadcast_time,
    ring_all_gather_time,
    ring_reduce_scatter_time,
    scatter_gather_broadcast_time,
)
from netlib.collectives.traffic import (
    bucket_size,
    dp_bytes,
    moe_bytes,
    outside_share,
    pp_bytes,
    shard_bytes,
    summed_bytes,
    tp_bytes,
    zero_bytes,
)

__all__ = [
    "OPS",
    "Op",
    "algbw",
    "binomial_broadcast_time",
    "binomial_reduce_time",
    "bruck_all_gather_time",
    "bruck_all_to_all_time",
    "bucket_size",
    "busbw",
    "busbw_factor",
    "crossover_size",
    "depth",
    "double_tree_allreduce_time",
    "dp_bytes",
    "halving_doubling_allreduce_time",
    "hierarchical_allreduce_time",
    "inside_outside_balance",
    "moe_bytes",
    "multirail_ring_allreduce_time",
    "nvls_allreduce_time",
    "outside_share",
    "pairwise_all_to_all_time",
    "pipelined_broadcast_time",
    "pp_bytes",
    "recursive_doubling_allreduce_time",
    "ring_all_gather_time",
    "ring_allreduce_time",
    "ring_reduce_scatter_time",
    "scatter_gather_broadcast_time",
    "serial_stages",
    "shard_bytes",
    "sharp_allreduce_time",
    "summed_bytes",
    "time_at_busbw",
    "tp_bytes",
    "tree_allreduce_time",
    "zero_bytes",
]
