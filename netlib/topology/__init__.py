"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
clos        leaf-spine, fat-tree and any-size three-tier Clos
rails       rail-optimised, rail-only, several planes
named       DGX SuperPOD, HPN, Meta 24K, MegaScale, Slingshot, TPU v4 and their published counts
forms       closed forms: hosts, switches, hops, bisection
"""

from netlib.topology.clos import clos3, fat_tree, leaf_spine, smallest_clos
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
from netlib.topology.rails import multi_plane, rail_only, rail_optimised, with_nvswitch

__all__ = [
    "KINDS",
    "PUBLISHED",
    "Cables",
    "Fabric",
    "Published",
    "alltoall_bisection_bytes",
    "build",
    "census",
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
    "hpn_pod",
    "leaf_spine",
    "megascale",
    "meta_24k",
    "multi_plane",
    "rail_only",
    "rail_optimised",
    "ring_bisection_bytes",
    "round_trip",
    "same_rail_share",
    "slingshot",
    "smallest_clos",
    "staged_loss",
    "staged_share",
    "superpod",
    "switch_hops",
    "torus_bisection_links",
    "torus_diameter",
    "torus_mean_hops",
    "tpu_v4_pod",
    "transceivers_per_host",
    "with_nvswitch",
]
