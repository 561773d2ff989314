"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
routing     `routes`: all shortest paths as a switch holds them; `paths`: the way of every flow  (the core)
hashing     the hash of a RoCEv2 five-tuple, queue pairs' source ports, a mixer of words
policies    which shortest path: ecmp, flowlets, minimal, d_mod_k, adaptive
spray       every packet its own way: exact loads
ledger      `Ledger`: bytes on every link; all-to-all without holding its flows
"""

from netlib.topology.fabric import KINDS, Cables, Fabric, build
from netlib.topology.hashing import five_tuple_hash, mix, source_port
from netlib.topology.ledger import Ledger, all_to_all_ledger, ledger
from netlib.topology.policies import adaptive, at_random, d_mod_k, ecmp, flowlets, minimal
from netlib.topology.routing import Hop, Routes, paths, routes
from netlib.topology.spray import spray, spray_all_to_all

__all__ = [
    "KINDS",
    "Cables",
    "Fabric",
    "Hop",
    "Ledger",
    "Routes",
    "adaptive",
    "all_to_all_ledger",
    "at_random",
    "build",
    "d_mod_k",
    "ecmp",
    "five_tuple_hash",
    "flowlets",
    "ledger",
    "minimal",
    "mix",
    "paths",
    "routes",
    "source_port",
    "spray",
    "spray_all_to_all",
]
