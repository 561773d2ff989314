"""Collectives: what it costs to add, gather and exchange buffers among ranks.

schedule    `Schedule`: an algorithm as data                            (the core)
execution   `execute`: the schedule run on real arrays                  (the core)
cost        all-reduce on equal links, by closed form                   (the core)

bounds      what a schedule may hold: its memory, its ranks
weaving     schedules put together, one after the other or side by side
algorithms  builders of schedules: rings, trees, doublings, exchanges, hierarchies, tori, switches that add, experts

Engines:
turns       the messages of a schedule and their bytes, equal repetitions once
wiring      ranks on the hosts of a fabric: the links of each message, the bytes of each link
simulation  `simulate`: when a schedule ends on a fabric whose links it shares
events      messages that share links at the moments at which they are on the way
loggp       the LogGP model: closed forms, and a clock for any schedule

Closed forms:
primitives  reduce-scatter, all-gather, broadcast, reduce, scatter, all-to-all
clusters    all-reduce on nodes with NICs: hierarchical, multi-rail, in-network
torus_costs all-reduce along the axes of a torus
relay_costs all-to-all by rails, with and without PXN
crossing    where one algorithm overtakes another
busbw       algbw, busbw and what a log's numbers mean
limits      what busbw a schedule can print on a fabric
traffic     bytes per step of data, sharded, tensor, pipeline and expert parallelism

nccl        what NCCL chooses, by version: its tuner, its environment variables and a lint for them
training    a step of a named model on a named cluster: bytes, pipelines, overlap, time and MFU
"""

from netlib.collectives.algorithms.buckets import (
    torus_all_gather,
    torus_allreduce,
    torus_reduce_scatter,
)
from netlib.collectives.algorithms.doublings import (
    bruck_all_gather,
    bruck_reduce_scatter,
    doubling_all_gather,
    halving_doubling_allreduce,
    halving_reduce_scatter,
    recursive_doubling_allreduce,
)
from netlib.collectives.algorithms.exchanges import (
    all_to_all_v,
    bruck_all_to_all,
    direct_all_gather,
    direct_all_to_all,
    direct_allreduce,
    direct_reduce_scatter,
    linear_gather,
    linear_scatter,
    pairwise_all_to_all,
    send_recv,
)
from netlib.collectives.algorithms.experts import (
    Routing,
    moe_combine,
    moe_dispatch,
    routed,
    routing_of,
)
from netlib.collectives.algorithms.hierarchies import (
    hierarchical_all_gather,
    hierarchical_allreduce,
    hierarchical_broadcast,
    hierarchical_reduce_scatter,
    multirail_ring,
    multirail_ring_allreduce,
    railed_allreduce,
    ring_orders,
)
from netlib.collectives.algorithms.relays import (
    pxn_all_to_all,
    rail_all_to_all,
)
from netlib.collectives.algorithms.rings import (
    bidirectional_ring,
    pipelined_allreduce,
    pipelined_broadcast,
    pipelined_reduce,
    ring_all_gather,
    ring_allreduce,
    ring_reduce_scatter,
    ring_through,
)
from netlib.collectives.algorithms.switched import (
    nvls_all_gather,
    nvls_allreduce,
    nvls_reduce_scatter,
    nvls_tree_allreduce,
    sharp_allreduce,
    two_shot_allreduce,
)
from netlib.collectives.algorithms.trees import (
    binomial_broadcast,
    binomial_gather,
    binomial_reduce,
    binomial_scatter,
    scatter_gather_broadcast,
    tree_allreduce,
)
from netlib.collectives.algorithms.twotrees import (
    double_tree_allreduce,
    double_tree_broadcast,
    double_tree_reduce,
    double_trees,
)
from netlib.collectives.busbw import (
    OPS,
    Op,
    algbw,
    busbw,
    busbw_factor,
    time_at_busbw,
)
from netlib.collectives.clusters import (
    hierarchical_allreduce_time,
    hierarchical_broadcast_time,
    hierarchical_reduce_scatter_time,
    inside_outside_balance,
    multirail_ring_allreduce_time,
    nvls_allreduce_time,
    serial_stages,
    sharp_allreduce_time,
    two_shot_allreduce_time,
)
from netlib.collectives.cost import (
    depth,
    double_tree_allreduce_time,
    double_tree_broadcast_time,
    halving_doubling_allreduce_time,
    recursive_doubling_allreduce_time,
    ring_allreduce_time,
    tree_allreduce_time,
)
from netlib.collectives.crossing import (
    crossover_size,
)
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
from netlib.collectives.limits import busbw_limits
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
    binomial_scatter_time,
    bruck_all_gather_time,
    bruck_all_to_all_time,
    doubling_all_gather_time,
    halving_reduce_scatter_time,
    linear_scatter_time,
    pairwise_all_to_all_time,
    pipelined_broadcast_time,
    ring_all_gather_time,
    ring_reduce_scatter_time,
    scatter_gather_broadcast_time,
)
from netlib.collectives.relay_costs import (
    expected_copies,
    pxn_all_to_all_time,
    rail_all_to_all_time,
)
from netlib.collectives.schedule import Phase, Schedule, Step, phase, schedule_of
from netlib.collectives.simulation import (
    Run,
    simulate,
)
from netlib.collectives.torus_costs import (
    torus_allreduce_time,
    torus_bytes,
    torus_reduce_scatter_time,
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
from netlib.collectives.weaving import in_turn, side_by_side
from netlib.collectives.wiring import (
    Wiring,
    link_ledger,
    slowed,
    wired,
)

__all__ = [
    "OPS",
    "Counts",
    "LogGP",
    "Op",
    "Phase",
    "Routing",
    "Run",
    "Schedule",
    "Step",
    "Wiring",
    "algbw",
    "all_to_all_v",
    "at_first",
    "bidirectional_ring",
    "binomial_broadcast",
    "binomial_broadcast_time",
    "binomial_gather",
    "binomial_reduce",
    "binomial_reduce_time",
    "binomial_scatter",
    "binomial_scatter_time",
    "bruck_all_gather",
    "bruck_all_gather_time",
    "bruck_all_to_all",
    "bruck_all_to_all_time",
    "bruck_reduce_scatter",
    "bucket_size",
    "busbw",
    "busbw_factor",
    "busbw_limits",
    "counts",
    "crossover_size",
    "depth",
    "direct_all_gather",
    "direct_all_to_all",
    "direct_allreduce",
    "direct_reduce_scatter",
    "double_tree_allreduce",
    "double_tree_allreduce_time",
    "double_tree_broadcast",
    "double_tree_broadcast_time",
    "double_tree_reduce",
    "double_trees",
    "doubling_all_gather",
    "doubling_all_gather_time",
    "dp_bytes",
    "execute",
    "expected",
    "expected_copies",
    "halving_doubling_allreduce",
    "halving_doubling_allreduce_time",
    "halving_reduce_scatter",
    "halving_reduce_scatter_time",
    "hierarchical_all_gather",
    "hierarchical_allreduce",
    "hierarchical_allreduce_time",
    "hierarchical_broadcast",
    "hierarchical_broadcast_time",
    "hierarchical_reduce_scatter",
    "hierarchical_reduce_scatter_time",
    "in_the_end",
    "in_turn",
    "inside_outside_balance",
    "is_correct",
    "linear_gather",
    "linear_scatter",
    "linear_scatter_time",
    "link_ledger",
    "loggp_binomial_broadcast_time",
    "loggp_clock",
    "loggp_recursive_doubling_time",
    "loggp_ring_allreduce_time",
    "moe_bytes",
    "moe_combine",
    "moe_dispatch",
    "multirail_ring",
    "multirail_ring_allreduce",
    "multirail_ring_allreduce_time",
    "nvls_all_gather",
    "nvls_allreduce",
    "nvls_allreduce_time",
    "nvls_reduce_scatter",
    "nvls_tree_allreduce",
    "outside_share",
    "pairwise_all_to_all",
    "pairwise_all_to_all_time",
    "phase",
    "pipelined_allreduce",
    "pipelined_broadcast",
    "pipelined_broadcast_time",
    "pipelined_reduce",
    "pp_bytes",
    "pxn_all_to_all",
    "pxn_all_to_all_time",
    "rail_all_to_all",
    "rail_all_to_all_time",
    "railed_allreduce",
    "recursive_doubling_allreduce",
    "recursive_doubling_allreduce_time",
    "reduction_order",
    "ring_all_gather",
    "ring_all_gather_time",
    "ring_allreduce",
    "ring_allreduce_time",
    "ring_orders",
    "ring_reduce_scatter",
    "ring_reduce_scatter_time",
    "ring_through",
    "routed",
    "routing_of",
    "scatter_gather_broadcast",
    "scatter_gather_broadcast_time",
    "schedule_of",
    "send_recv",
    "serial_stages",
    "shard_bytes",
    "sharp_allreduce",
    "sharp_allreduce_time",
    "side_by_side",
    "simulate",
    "slowed",
    "summed_bytes",
    "time_at_busbw",
    "torus_all_gather",
    "torus_allreduce",
    "torus_allreduce_time",
    "torus_bytes",
    "torus_reduce_scatter",
    "torus_reduce_scatter_time",
    "tp_bytes",
    "tree_allreduce",
    "tree_allreduce_time",
    "two_shot_allreduce",
    "two_shot_allreduce_time",
    "wired",
    "zero_bytes",
]
