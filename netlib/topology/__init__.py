"""Topology: GPU networks as arrays of directed links, what they hold, and where the bytes go.

fabric      `Fabric`: vertices, directed links, labels; `build` makes one  (the core)
"""

from netlib.topology.fabric import KINDS, Cables, Fabric, build

__all__ = ["KINDS", "Cables", "Fabric", "build"]
