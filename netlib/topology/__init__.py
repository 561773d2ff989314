"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one                 (the core)
routing     `routes`: all shortest paths, as switches hold them; `paths` of given flows  (the core)
rates       `max_min_rates`: what flows get of links they share; `completion_times`      (the core)

Fabrics, built:
clos        leaf-spine, fat-tree, three tiers at any size
rails       rail-optimised, rail-only, several planes
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
affinity    the PCIe tree of a node and its codes (PIX ... SYS, NV#)
named       SuperPOD, HPN, Meta 24K, MegaScale, Slingshot, TPU v4, and their published counts

Fabrics, measured:
hops        links between any two places; hosts that are alike
metrics     diameter, mean hops, oversubscription
cuts        bisection by maximum flow, how many paths
failures    what remains without some links, switches or a plane
sizing      `bill`: switches, cables, transceivers, watts and cost
forms       the same by closed form: hosts, switches, hops, bisection

Flows, on their way:
flows       who sends how much to whom: lists of ranks, checked
hashing     the hash of a RoCEv2 five-tuple, source ports of queue pairs, a mixer of words
policies    which shortest path: ecmp, flowlets, minimal, d_mod_k, adaptive
spraying    every packet its own way: exact loads
ledgers     `Ledger`: bytes on every link; all-to-all without holding its flows
detours     one_global and valiant on a dragonfly, dimension_ordered on a torus, pxn onto the destination's rail
collisions  exact statistics of flows that choose links by hash
growth      what building, routing and sharing cost here, measured
"""

from netlib.topology.affinity import Affinity, affinity, dgx_h100_tree, node_tree, pcie_tree
from netlib.topology.clos import clos3, fat_tree, leaf_spine, one_switch, smallest_clos
from netlib.topology.collisions import ecmp_speed, expected_max_load, links_used, max_load_distribution
from netlib.topology.cuts import Cut, bisection, disjoint_paths, path_count, worst_half
from netlib.topology.detours import dimension_ordered, one_global, pxn, valiant
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
from netlib.topology.growth import Growth, measured_growth
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
from netlib.topology.policies import adaptive, at_random, d_mod_k, ecmp, flowlets, minimal
from netlib.topology.rails import multi_plane, rail_only, rail_optimised, with_nvswitch
from netlib.topology.rates import Subflows, bottleneck, completion_times, is_max_min, max_min_rates, subflows
from netlib.topology.routing import Hop, Routes, paths, routes
from netlib.topology.sizing import OPTICAL, Bill, bill, clos_bill
from netlib.topology.spraying import spray, spray_all_to_all

__all__ = [
    "KINDS",
    "OPTICAL",
    "PUBLISHED",
    "Affinity",
    "Bill",
    "Cables",
    "Cut",
    "Distances",
    "Fabric",
    "Growth",
    "Hop",
    "Ledger",
    "Published",
    "Remains",
    "Routes",
    "Subflows",
    "adaptive",
    "affinity",
    "all_to_all_ledger",
    "alltoall_bisection_bytes",
    "at_random",
    "bill",
    "bisection",
    "bottleneck",
    "build",
    "census",
    "clos3",
    "clos_bill",
    "clos_bisection_links",
    "clos_hosts",
    "clos_switches",
    "clos_tiers",
    "completion_times",
    "connected",
    "d_mod_k",
    "dgx_h100_tree",
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
    "ecmp_speed",
    "expected_max_load",
    "fat_tree",
    "five_tuple_hash",
    "flowlets",
    "hgx_h100",
    "host_classes",
    "hpn_pod",
    "is_max_min",
    "labelled",
    "leaf_spine",
    "ledger",
    "links_used",
    "max_load_distribution",
    "max_min_rates",
    "mean_hops",
    "mean_switch_distance",
    "measured_growth",
    "megascale",
    "meta_24k",
    "minimal",
    "mix",
    "multi_plane",
    "node_tree",
    "nvl72",
    "nvlink_domain",
    "nvlink_node",
    "one_global",
    "one_switch",
    "oversubscription",
    "passes",
    "path_count",
    "paths",
    "pcie_tree",
    "pxn",
    "rail_only",
    "rail_optimised",
    "ring_bisection_bytes",
    "round_trip",
    "routes",
    "same_rail_share",
    "slingshot",
    "smallest_clos",
    "source_port",
    "spray",
    "spray_all_to_all",
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
    "valiant",
    "what_remains",
    "with_nvswitch",
    "worst_half",
]
