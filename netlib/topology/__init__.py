"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
direct      dragonfly, dragonfly+, torus and mesh
domains     NVLink domains: NVL72, HGX, any n
distances   `distances_to`, `host_classes`: links crossed between any two places
"""

from netlib.topology.direct import dragonfly, dragonfly_plus, torus
from netlib.topology.distances import distances_to, host_classes, passes
from netlib.topology.domains import hgx_h100, nvl72, nvlink_domain, nvlink_node
from netlib.topology.fabric import KINDS, Cables, Fabric, build

__all__ = ["KINDS", "Cables", "Fabric", "build"]
__all__ += ["distances_to", "host_classes", "passes"]
__all__ += ["dragonfly", "dragonfly_plus", "torus"]
__all__ += ["hgx_h100", "nvl72", "nvlink_domain", "nvlink_node"]
