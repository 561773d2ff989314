"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
routing     `routes`: all shortest paths as a switch holds them; `paths`: the way of every flow  (the core)
hashing     the hash of a RoCEv2 five-tuple, queue pairs' source ports, a mixer of words
policies    which shortest path: ecmp, flowlets, minimal, d_mod_k, adaptive
spray       every packet its own way: exact loads
ledger      `Ledger`: bytes on every link; all-to-all without holding its flows
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
hops        `distances_to`, `host_classes`: links between any two places
metrics     diameter, mean hops, oversubscription
cuts        bisection by maximum flow, how many paths
"""

from netlib.topology.cuts import Cut, bisection, disjoint_paths, path_count, worst_half
from netlib.topology.direct import dragonfly, dragonfly_plus, torus
from netlib.topology.domains import hgx_h100, nvl72, nvlink_domain, nvlink_node
from netlib.topology.fabric import KINDS, Cables, Fabric, build
from netlib.topology.hashing import five_tuple_hash, mix, source_port
from netlib.topology.hops import distances_to, host_classes, passes
from netlib.topology.ledger import Ledger, all_to_all_ledger, ledger
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
from netlib.topology.spray import spray, spray_all_to_all

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
    "at_random",
    "bisection",
    "build",
    "connected",
    "d_mod_k",
    "diameter",
    "disjoint_paths",
    "distances",
    "distances_to",
    "dragonfly",
    "dragonfly_plus",
    "ecmp",
    "five_tuple_hash",
    "flowlets",
    "hgx_h100",
    "host_classes",
    "ledger",
    "mean_hops",
    "mean_switch_distance",
    "minimal",
    "mix",
    "nvl72",
    "nvlink_domain",
    "nvlink_node",
    "oversubscription",
    "passes",
    "path_count",
    "paths",
    "routes",
    "source_port",
    "spray",
    "spray_all_to_all",
    "switch_diameter",
    "torus",
    "worst_half",
]
