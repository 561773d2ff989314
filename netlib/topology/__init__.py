"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
clos        leaf-spine, fat-tree and any-size three-tier Clos
forms       closed forms: hosts, switches, hops, bisection
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
distances   `distances_to`, `host_classes`: links crossed between any two places
"""

from netlib.topology.clos import clos3, fat_tree, leaf_spine
from netlib.topology.direct import dragonfly, dragonfly_plus, torus
from netlib.topology.distances import distances_to, host_classes, passes
from netlib.topology.domains import hgx_h100, nvl72, nvlink_domain, nvlink_node
from netlib.topology.fabric import KINDS, Cables, Fabric, build
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

__all__ = [
    "KINDS",
    "Cables",
    "Fabric",
    "alltoall_bisection_bytes",
    "build",
    "clos3",
    "clos_bisection_links",
    "clos_hosts",
    "clos_switches",
    "clos_tiers",
    "domain_bisection",
    "domain_pairs",
    "dragonfly_bisection_links",
    "dragonfly_groups",
    "dragonfly_hosts",
    "dragonfly_plus_hosts",
    "fat_tree",
    "leaf_spine",
    "ring_bisection_bytes",
    "round_trip",
    "same_rail_share",
    "staged_loss",
    "staged_share",
    "switch_hops",
    "torus_bisection_links",
    "torus_diameter",
    "torus_mean_hops",
    "transceivers_per_host",
]
__all__ += ["distances_to", "host_classes", "passes"]
__all__ += ["dragonfly", "dragonfly_plus", "torus"]
__all__ += ["hgx_h100", "nvl72", "nvlink_domain", "nvlink_node"]
