"""Wires: the cluster a job runs on, and how long each of its collectives takes there.

Ring collectives inside a node take `up`, across nodes one ring per NIC (`netlib.collectives.clusters`); all-to-all
is as slow as the slower of NVLink and NIC. Collectives of different axes are each timed as if alone on their links.
Read with the chapter "Collectives", section "Who moves what".
"""

from dataclasses import dataclass

import numpy as np

from netlib.arguments import declared, declared_fields, floats
from netlib.collectives.clusters import multirail_ring_allreduce_time
from netlib.collectives.cost import ring_allreduce_time
from netlib.collectives.training.layout import Placement
from netlib.collectives.training.volumes import Flow
from netlib.links import Link


@dataclass(frozen=True)
class Cluster:
    """GPUs in nodes of g. `peak` FLOP/s is what a utilisation is measured against; `matmul` FLOP/s is what matrix
    products reach (an input: measured on one GPU, never taken from the run that is predicted; above `peak` only
    with narrower numbers than those of `peak`); `memory` bytes/s is what
    passes over activations reach. `up` is a GPU's NVLink, `out` its share of the NICs.
    """

    name: str
    peak: float
    matmul: float
    up: Link
    out: Link
    g: int = 8
    memory: float = float("inf")
    _called = ("training.cluster", "a100")

    def __post_init__(self) -> None:
        declared_fields(self)
        for name in ("peak", "matmul", "memory"):
            floats(name, getattr(self, name), above=True, limit=name == "memory")
        if self.matmul > 4 * self.peak:  # peak of BF16, products in FP4
            told = f"matmul = {self.matmul:g} must be at most 4 x peak = {4 * self.peak:g} FLOP/s"
            raise ValueError(f"{told}, what narrower numbers gain; check the units")
        if self.g < 1:
            raise ValueError(f"g = {self.g} must be at least 1 GPU in a node")
        if self.up.shape or self.out.shape:
            raise ValueError("up and out must each be one link; a step is computed for one cluster at a time")


@declared
def call_time(flow: Flow, place: Placement, cluster: Cluster, payload: float | None = None) -> float:
    """Seconds of one call of a collective, `payload` bytes in place of its own if given.

    >>> cluster = Cluster("8 x A100", 312e12, 271e12, Link(0, 300e9), Link(0, 25e9))
    >>> round(call_time(Flow("tp", "all_reduce", "", 8, 1, 24e6), Placement("tp", 8, 8, 1), cluster), 6)
    0.00014
    >>> round(call_time(Flow("dp", "all_reduce", "", 8, 1, 1e9), Placement("dp", 8, 1, 8), cluster), 6)
    0.07
    """
    size = flow.payload if payload is None else float(floats("payload", payload))
    if place.size == 1 or size == 0:
        return 0.0
    if flow.collective == "send":
        return float((cluster.up if place.inside else cluster.out).time(size))
    if flow.collective == "all_to_all":
        return _exchange(flow, place, cluster, size)
    if place.inside:
        whole = ring_allreduce_time(size, place.size, cluster.up)
    elif place.local * place.nodes == place.size:
        whole = multirail_ring_allreduce_time(size, place.local, place.nodes, cluster.up, cluster.out)
    else:  # nodes hold unequal parts of a group: one ring, at the pace of the network
        whole = ring_allreduce_time(size, place.size, cluster.out)
    return float(whole if flow.collective == "all_reduce" else whole / 2)


def _exchange(flow: Flow, place: Placement, cluster: Cluster, size: float) -> float:
    """All-to-all in pairs: n-1 messages, the NIC's and NVLink's share at the same time."""
    n, scale = place.size, size / flow.payload if flow.payload else 0.0
    away = 0.0 if place.inside else flow.outside(place) / flow.calls * scale
    # sent once for each node, the copies for its ranks are made inside: NVLink carries all of them
    inside = size * ((n - 1) if flow.crossing is not None else (place.local - 1)) / n
    messages = n - 1 if flow.crossing is None or place.inside else place.nodes - 1
    hop = cluster.up if place.inside else cluster.out
    return float(messages * np.asarray(hop.alpha) + np.maximum(inside * cluster.up.beta, away * cluster.out.beta))
