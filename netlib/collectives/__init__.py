"""Collectives: what it costs to add, gather and exchange buffers among ranks.

schedule    `Schedule`: an algorithm as data                                    (the core)
execution   `execute`: the schedule run on real arrays                          (the core)
rings       rings and chains as schedules
wiring      ranks on the hosts of a fabric: the links of each message, the bytes of each link
simulation  `simulate`: when a schedule ends on a fabric whose links it shares
events      messages that share links at the moments at which they are on the way

cost        all-reduce on equal links: ring, trees, doubling, halving-doubling  (the core)
clusters    all-reduce on nodes with NICs: hierarchical, multi-rail, in-network (the core)
busbw       algbw, busbw and what a log's numbers mean                          (the core)
primitives  reduce-scatter, all-gather, broadcast, reduce, all-to-all
traffic     bytes per step of data, sharded, tensor, pipeline and expert parallelism
crossing    where one algorithm overtakes another
loggp       the LogGP model: closed forms, and a clock for any schedule
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
from netlib.collectives.execution import (
    Counts,
    at_first,
    counts,
    execute,
    expected,
    in_the_end,
    is_correct,
    reduction_order,
)
from netlib.collectives.loggp import (
    LogGP,
    loggp_binomial_broadcast_time,
    loggp_clock,
    loggp_recursive_doubling_time,
    loggp_ring_allreduce_time,
)
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
from netlib.collectives.rings import ring_all_gather, ring_allreduce, ring_reduce_scatter, ring_through
from netlib.collectives.schedule import Phase, Schedule, Step, in_turn, phase, schedule_of, side_by_side
from netlib.collectives.simulation import Run, simulate
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
from netlib.collectives.wiring import Wiring, link_ledger, slowed, wired

__all__ = [
    "OPS",
    "Counts",
    "LogGP",
    "Op",
    "Phase",
    "Run",
    "Schedule",
    "Step",
    "Wiring",
    "algbw",
    "at_first",
    "binomial_broadcast_time",
    "binomial_reduce_time",
    "bruck_all_gather_time",
    "bruck_all_to_all_time",
    "bucket_size",
    "busbw",
    "busbw_factor",
    "counts",
    "crossover_size",
    "depth",
    "double_tree_allreduce_time",
    "dp_bytes",
    "execute",
    "expected",
    "halving_doubling_allreduce_time",
    "hierarchical_allreduce_time",
    "in_the_end",
    "in_turn",
    "inside_outside_balance",
    "is_correct",
    "link_ledger",
    "loggp_binomial_broadcast_time",
    "loggp_clock",
    "loggp_recursive_doubling_time",
    "loggp_ring_allreduce_time",
    "moe_bytes",
    "multirail_ring_allreduce_time",
    "nvls_allreduce_time",
    "outside_share",
    "pairwise_all_to_all_time",
    "phase",
    "pipelined_broadcast_time",
    "pp_bytes",
    "recursive_doubling_allreduce_time",
    "reduction_order",
    "ring_all_gather",
    "ring_all_gather_time",
    "ring_allreduce",
    "ring_allreduce_time",
    "ring_reduce_scatter",
    "ring_reduce_scatter_time",
    "ring_through",
    "scatter_gather_broadcast_time",
    "schedule_of",
    "serial_stages",
    "shard_bytes",
    "sharp_allreduce_time",
    "side_by_side",
    "simulate",
    "slowed",
    "summed_bytes",
    "time_at_busbw",
    "tp_bytes",
    "tree_allreduce_time",
    "wired",
    "zero_bytes",
]
