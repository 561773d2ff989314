"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
clos        leaf-spine, fat-tree and any-size three-tier Clos
forms       closed forms: hosts, switches, hops, bisection
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
hops        `distances_to`, `host_classes`: links between any two places
metrics     diameter, mean hops, oversubscription
cuts        bisection by maximum flow, how many paths
affinity    the PCIe tree of a node and its codes (PIX ... SYS, NV#)
failures    what remains without some links, switches or a plane
"""

from netlib.topology.affinity import Affinity, affinity, dgx_h100_tree, node_tree, pcie_tree
from netlib.topology.clos import clos3, fat_tree, leaf_spine
from netlib.topology.cuts import Cut, bisection, disjoint_paths, path_count, worst_half
from netlib.topology.direct import dragonfly, dragonfly_plus, torus
from netlib.topology.domains import hgx_h100, nvl72, nvlink_domain, nvlink_node
from netlib.topology.fabric import KINDS, Cables, Fabric, build
from netlib.topology.failures import Remains, labelled, what_remains
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
from netlib.topology.hops import distances_to, host_classes, passes
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

__all__ = [
    "KINDS",
    "Affinity",
    "Cables",
    "Cut",
    "Distances",
    "Fabric",
    "Remains",
    "affinity",
    "alltoall_bisection_bytes",
    "bisection",
    "build",
    "clos3",
    "clos_bisection_links",
    "clos_hosts",
    "clos_switches",
    "clos_tiers",
    "connected",
    "dgx_h100_tree",
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
    "fat_tree",
    "hgx_h100",
    "host_classes",
    "labelled",
    "leaf_spine",
    "mean_hops",
    "mean_switch_distance",
    "node_tree",
    "nvl72",
    "nvlink_domain",
    "nvlink_node",
    "oversubscription",
    "passes",
    "path_count",
    "pcie_tree",
    "ring_bisection_bytes",
    "round_trip",
    "same_rail_share",
    "staged_loss",
    "staged_share",
    "switch_diameter",
    "switch_hops",
    "torus",
    "torus_bisection_links",
    "torus_diameter",
    "torus_mean_hops",
    "transceivers_per_host",
    "what_remains",
    "worst_half",
]
