"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
rates       max-min fair rates, completion times, the link that holds a flow
ecmp        exact statistics of flows that choose links by hash
"""

from netlib.topology.ecmp import ecmp_speed, expected_max_load, links_used, max_load_distribution
from netlib.topology.fabric import KINDS, Cables, Fabric, build
from netlib.topology.rates import Subflows, bottleneck, completion_times, is_max_min, max_min_rates, subflows

__all__ = [
    "KINDS",
    "Cables",
    "Fabric",
    "Subflows",
    "bottleneck",
    "build",
    "completion_times",
    "ecmp_speed",
    "expected_max_load",
    "is_max_min",
    "links_used",
    "max_load_distribution",
    "max_min_rates",
    "subflows",
]
