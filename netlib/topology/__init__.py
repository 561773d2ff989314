"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
rates       max-min fair rates, completion times, the link that holds a flow
ecmp        exact statistics of flows that choose links by hash
clos        leaf-spine, fat-tree and any-size three-tier Clos
forms       closed forms: hosts, switches, hops, bisection
"""

from netlib.topology.clos import (
    clos3,
    fat_tree,
    leaf_spine,
)
from netlib.topology.ecmp import (
    ecmp_speed,
    expected_max_load,
    links_used,
    max_load_distribution,
)
from netlib.topology.fabric import (
    KINDS,
    Cables,
    Fabric,
    build,
)
from netlib.topology.forms import (
    alltoall_bisection_bytes,
    clos_bisection_links,
    clos_hosts,
    clos_switches,
    clos_tiers,
    domain_bisection,
    domain_pairs,
    dragonfly_bisection_links,
    dragonfly_groups,
    dragonfly_hosts,
    dragonfly_plus_hosts,
    ring_bisection_bytes,
    round_trip,
    same_rail_share,
    staged_loss,
    staged_share,
    switch_hops,
    torus_bisection_links,
    torus_diameter,
    torus_mean_hops,
    transceivers_per_host,
)
from netlib.topology.rates import (
    Subflows,
    bottleneck,
    completion_times,
    is_max_min,
    max_min_rates,
    subflows,
)

__all__ = [
    "KINDS",
    "Cables",
    "Fabric",
    "Subflows",
    "alltoall_bisection_bytes",
    "bottleneck",
    "build",
    "clos3",
    "clos_bisection_links",
    "clos_hosts",
    "clos_switches",
    "clos_tiers",
    "completion_times",
    "domain_bisection",
    "domain_pairs",
    "dragonfly_bisection_links",
    "dragonfly_groups",
    "dragonfly_hosts",
    "dragonfly_plus_hosts",
    "ecmp_speed",
    "expected_max_load",
    "fat_tree",
    "is_max_min",
    "leaf_spine",
    "links_used",
    "max_load_distribution",
    "max_min_rates",
    "ring_bisection_bytes",
    "round_trip",
    "same_rail_share",
    "staged_loss",
    "staged_share",
    "subflows",
    "switch_hops",
    "torus_bisection_links",
    "torus_diameter",
    "torus_mean_hops",
    "transceivers_per_host",
]
