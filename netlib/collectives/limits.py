"""What busbw a schedule can print on a fabric: the bytes on each wire against the formula.

busbw is algbw times a factor, so it passes a link's rate wherever fewer bytes than the ring's cross that link.
Read with the chapter "Collectives", section "Reading a log".
"""

import numpy as np

from netlib.arguments import declared
from netlib.collectives.busbw import busbw_factor
from netlib.collectives.schedule import Schedule
from netlib.collectives.wiring import Wiring, link_ledger
from netlib.topology.fabric import KINDS, Fabric


@declared
def busbw_limits(schedule: Schedule, fabric: Fabric | Wiring) -> dict[str, float]:
    """The busbw (bytes/s) at which the busiest link of each kind is full, latency apart: factor size / (its bytes /
    its capacity). Kinds that carry nothing are left out; the smallest of the others is what a log can show at most.

    Holds while all of the schedule's bytes can flow at once. Raises ValueError for a collective without a busbw.

    Eight GPUs on NVLink of 450 GB/s one way, by a ring and by a switch that adds:

    >>> from netlib.collectives import nvls_allreduce, ring_allreduce
    >>> from netlib.links import Link
    >>> from netlib.topology import nvlink_domain
    >>> node = nvlink_domain(8, 1, 1, Link(0, 450e9))
    >>> for made in (ring_allreduce(8), nvls_allreduce(8)):
    ...     {kind: round(limit / 1e9, 6) for kind, limit in busbw_limits(made, node).items()}
    {'nvlink': 450.0}
    {'nvlink': 700.0}
    """
    factor = float(busbw_factor(schedule.n, schedule.op))
    moved = link_ledger(schedule, fabric, 1.0)
    kinds = moved.fabric.kind
    busiest = {KINDS[kind]: float(moved.seconds[kinds == kind].max()) for kind in np.unique(kinds)}
    return {kind: factor / seconds for kind, seconds in busiest.items() if seconds > 0}
