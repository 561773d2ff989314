"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
rates       max-min fair rates, completion times, the link that holds a flow
ecmp        exact statistics of flows that choose links by hash
clos        leaf-spine, fat-tree and any-size three-tier Clos
forms       closed forms: hosts, switches, hops, bisection
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
hops        `distances_to`, `host_classes`: links between any two places
metrics     diameter, mean hops, oversubscription
cuts        bisection by maximum flow, how many paths
rails       rail-optimised, rail-only, several planes
named       DGX SuperPOD, HPN, Meta 24K, MegaScale, Slingshot, TPU v4 and their published counts
"""

from netlib.topology.clos import (
    clos3,
    fat_tree,
    leaf_spine,
    smallest_clos,
)
from netlib.topology.cuts import (
    Cut,
    bisection,
    disjoint_paths,
    path_count,
    worst_half,
)
from netlib.topology.direct import (
    dragonfly,
    dragonfly_plus,
    torus,
)
from netlib.topology.domains import (
    hgx_h100,
    nvl72,
    nvlink_domain,
    nvlink_node,
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
from netlib.topology.hops import (
    distances_to,
    host_classes,
    passes,
)
from netlib.topology.metrics import (
    Distances,
    connected,
    diameter,
    distances,
    mean_hops,
    mean_switch_distance,
    oversubscription,
    switch_diameter,
)
from netlib.topology.named import (
    PUBLISHED,
    Published,
    census,
    hpn_pod,
    megascale,
    meta_24k,
    slingshot,
    superpod,
    tpu_v4_pod,
)
from netlib.topology.rails import (
    multi_plane,
    rail_only,
    rail_optimised,
    with_nvswitch,
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
    "PUBLISHED",
    "Cables",
    "Cut",
    "Distances",
    "Fabric",
    "Published",
    "Subflows",
    "alltoall_bisection_bytes",
    "bisection",
    "bottleneck",
    "build",
    "census",
    "clos3",
    "clos_bisection_links",
    "clos_hosts",
    "clos_switches",
    "clos_tiers",
    "completion_times",
    "connected",
    "diameter",
    "disjoint_paths",
    "distances",
    "distances_to",
    "domain_bisection",
    "domain_pairs",
    "dragonfly",
    "dragonfly_bisection_links",
    "dragonfly_groups",
    "dragonfly_hosts",
    "dragonfly_plus",
    "dragonfly_plus_hosts",
    "ecmp_speed",
    "expected_max_load",
    "fat_tree",
    "hgx_h100",
    "host_classes",
    "hpn_pod",
    "is_max_min",
    "leaf_spine",
    "links_used",
    "max_load_distribution",
    "max_min_rates",
    "mean_hops",
    "mean_switch_distance",
    "megascale",
    "meta_24k",
    "multi_plane",
    "nvl72",
    "nvlink_domain",
    "nvlink_node",
    "oversubscription",
    "passes",
    "path_count",
    "rail_only",
    "rail_optimised",
    "ring_bisection_bytes",
    "round_trip",
    "same_rail_share",
    "slingshot",
    "smallest_clos",
    "staged_loss",
    "staged_share",
    "subflows",
    "superpod",
    "switch_diameter",
    "switch_hops",
    "torus",
    "torus_bisection_links",
    "torus_diameter",
    "torus_mean_hops",
    "tpu_v4_pod",
    "transceivers_per_host",
    "with_nvswitch",
    "worst_half",
]
