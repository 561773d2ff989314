"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
routing     `routes`: all shortest paths as a switch holds them; `paths`: the way of every flow  (the core)
hashing     the hash of a RoCEv2 five-tuple, queue pairs' source ports, a mixer of words
policies    which shortest path: ecmp, flowlets, minimal, d_mod_k, adaptive
spraying    every packet its own way: exact loads
detours     one_global and valiant on a dragonfly, dimension_ordered on a torus, pxn onto the destination's rail
ledgers     `Ledger`: bytes on every link; all-to-all without holding its flows
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
hops        `distances_to`, `host_classes`: links between any two places
metrics     diameter, mean hops, oversubscription
cuts        bisection by maximum flow, how many paths
clos        leaf-spine, fat-tree and any-size three-tier Clos
forms       closed forms: hosts, switches, hops, bisection
"""

from netlib.topology.clos import clos3, fat_tree, leaf_spine
from netlib.topology.cuts import Cut, bisection, disjoint_paths, path_count, worst_half
from netlib.topology.detours import dimension_ordered, one_global, pxn, valiant
from netlib.topology.direct import dragonfly, dragonfly_plus, torus
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
from netlib.topology.hashing import five_tuple_hash, mix, source_port
from netlib.topology.hops import distances_to, host_classes, passes
from netlib.topology.ledgers import Ledger, all_to_all_ledger, ledger
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
from netlib.topology.policies import adaptive, at_random, d_mod_k, ecmp, flowlets, minimal
from netlib.topology.routing import Hop, Routes, paths, routes
from netlib.topology.spraying import spray, spray_all_to_all

__all__ = [
    "KINDS",
    "Cables",
    "Cut",
    "Distances",
    "Fabric",
    "Hop",
    "Ledger",
    "Routes",
    "adaptive",
    "all_to_all_ledger",
    "alltoall_bisection_bytes",
    "at_random",
    "bisection",
    "build",
    "clos3",
    "clos_bisection_links",
    "clos_hosts",
    "clos_switches",
    "clos_tiers",
    "connected",
    "d_mod_k",
    "diameter",
    "dimension_ordered",
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
    "ecmp",
    "fat_tree",
    "five_tuple_hash",
    "flowlets",
    "hgx_h100",
    "host_classes",
    "leaf_spine",
    "ledger",
    "mean_hops",
    "mean_switch_distance",
    "minimal",
    "mix",
    "nvl72",
    "nvlink_domain",
    "nvlink_node",
    "one_global",
    "oversubscription",
    "passes",
    "path_count",
    "paths",
    "pxn",
    "ring_bisection_bytes",
    "round_trip",
    "routes",
    "same_rail_share",
    "source_port",
    "spray",
    "spray_all_to_all",
    "staged_loss",
    "staged_share",
    "switch_diameter",
    "switch_hops",
    "torus",
    "torus_bisection_links",
    "torus_diameter",
    "torus_mean_hops",
    "transceivers_per_host",
    "valiant",
    "worst_half",
]
