"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
hops        `distances_to`, `host_classes`: links between any two places
metrics     diameter, mean hops, oversubscription
cuts        bisection by maximum flow, how many paths
affinity    the PCIe tree of a node and its codes (PIX ... SYS, NV#)
failures    what remains without some links, switches or a plane
"""

from netlib.topology.affinity import Affinity, affinity, dgx_h100_tree, node_tree, pcie_tree
from netlib.topology.cuts import Cut, bisection, disjoint_paths, path_count, worst_half
from netlib.topology.direct import dragonfly, dragonfly_plus, torus
from netlib.topology.domains import hgx_h100, nvl72, nvlink_domain, nvlink_node
from netlib.topology.fabric import KINDS, Cables, Fabric, build
from netlib.topology.failures import Remains, labelled, what_remains
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

__all__ = ["KINDS", "Cables", "Fabric", "build"]
__all__ += ["distances_to", "host_classes", "passes"]
__all__ += ["dragonfly", "dragonfly_plus", "torus"]
__all__ += ["hgx_h100", "nvl72", "nvlink_domain", "nvlink_node"]
__all__ += ["Cut", "Distances", "bisection", "connected", "diameter", "disjoint_paths", "distances", "mean_hops"]
__all__ += ["mean_switch_distance", "oversubscription", "path_count", "switch_diameter", "worst_half"]
__all__ += ["Remains", "labelled", "what_remains"]
__all__ += ["Affinity", "affinity", "dgx_h100_tree", "node_tree", "pcie_tree"]
