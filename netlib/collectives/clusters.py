"""All-reduce on a cluster of nodes: `g` ranks in each of `nodes` nodes, fast links inside, NICs outside.

`up` is a rank's link inside the node (NVLink), `out` its own NIC's link to other nodes. `size` bytes per rank.
Read with the chapter "Collectives", section "One cluster, three schedules".
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, Number, floats, formula
from netlib.collectives.cost import ranks, ring_allreduce_time
from netlib.collectives.primitives import binomial_broadcast_time, ring_reduce_scatter_time
from netlib.links import Link


@formula
def hierarchical_allreduce_time(
    size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link, *, segments: ArrayLike | None = 1
) -> Floats:
    """Reduce-scatter inside, all-reduce of size/g across on every rail at once, all-gather inside.

    In series: ring(size, g, up) + ring(size/g, nodes, out). With the buffer cut into k segments one is summed inside
    while the one before crosses and the one before that is gathered, so that NVLink and NIC overlap: with `inside` and
    `across` for one segment, T(k) = max(k inside, inside + k across). NVLink is never idle, or the NIC only while the
    first segment is summed and the last one gathered. `segments=None` takes the best real k; without latency that
    leaves the slower of the two.

    >>> nvlink, nic = Link(0, 900e9), Link(0, 100e9)
    >>> round(float(hierarchical_allreduce_time(140e9, 8, 128, nvlink, nic)), 6)
    0.619488
    >>> round(float(hierarchical_allreduce_time(140e9, 8, 128, nvlink, nic, segments=None)), 6)
    0.347266
    """
    size, g, nodes = floats("size", size), ranks(g, "g"), ranks(nodes, "nodes")

    def stages(piece: Number) -> tuple[Floats, Floats]:
        return ring_allreduce_time(piece, g, up), ring_allreduce_time(piece / g, nodes, out)

    def pipelined(k: Floats) -> Floats:
        inside, across = stages(size / k)
        return np.maximum(k * inside, inside + k * across)

    if segments is not None:
        return pipelined(floats("segments", segments, 1.0))
    latency = stages(0.0)
    transfer = tuple(whole - fixed for whole, fixed in zip(stages(size), latency, strict=True))
    # k inside grows with k, inside + k across falls and then grows: best is k = 1, the bottom, or where they cross,
    # (latency inside - across) k^2 + (transfer inside - across - latency inside) k = transfer inside
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        bottom = np.sqrt(transfer[0] / latency[1])
        half = transfer[0] - transfer[1] - latency[0]
        root = np.sqrt(half**2 + 4 * (latency[0] - latency[1]) * transfer[0])
        crossings = [2 * transfer[0] / (half + sign * root) for sign in (1, -1)]
    candidates = [np.clip(np.nan_to_num(k, nan=1.0, posinf=1e15), 1, 1e15) for k in (1.0, bottom, *crossings)]
    return np.asarray(np.min(np.broadcast_arrays(*(pipelined(k) for k in candidates)), axis=0))


@formula
def hierarchical_reduce_scatter_time(size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link) -> Floats:
    """Reduce-scatter inside, then of size/g along every rail; the all-gather, backwards, takes as long.

    >>> round(float(hierarchical_reduce_scatter_time(8e9, 8, 4, Link(0, 450e9), Link(0, 50e9))), 6)
    0.030556
    """
    size, g, nodes = floats("size", size), ranks(g, "g"), ranks(nodes, "nodes")
    return ring_reduce_scatter_time(size, g, up) + ring_reduce_scatter_time(size / g, nodes, out)


@formula
def hierarchical_broadcast_time(size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link) -> Floats:
    """The root deals out size/g to each rank of its node, every rail broadcasts it down a tree, every node gathers.

    >>> round(float(hierarchical_broadcast_time(8e9, 8, 4, Link(0, 450e9), Link(0, 50e9))), 6)
    0.071111
    """
    size, g, nodes = floats("size", size), ranks(g, "g"), ranks(nodes, "nodes")
    return np.asarray(2 * (g - 1) * up.time(size / g) + binomial_broadcast_time(size / g, nodes, out))


@formula
def multirail_ring_allreduce_time(
    size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link, *, nics: ArrayLike | None = None
) -> Floats:
    """One ring per NIC through all n = g x nodes ranks, each leaving a node through its own NIC: what NCCL calls Ring.

    2(n-1)/n size x max(1 / (nics B_out), (g-1) / (g B_up)) and the latency of the longest way round: 2(n-1) hops, of
    which 2 nodes (for g >= 3) cross a NIC. Alpha is delay here, as in NCCL's rings, where a NIC sends the next slice
    while the last one flies; if a rank waits for that, as in a step of `simulate`, it pays the NIC's alpha 2(n-1)
    times. `nics` per node, at most g (default g). With nics = g every rank is the
    exit of one ring, so its NVLink carries the other (g-1)/g of the bytes; with fewer, some rank is no exit and
    carries all.

    >>> nvlink, nic = Link(0, 900e9), Link(0, 100e9)
    >>> round(float(multirail_ring_allreduce_time(140e9, 8, 128, nvlink, nic)), 6)
    0.349658
    >>> round(float(multirail_ring_allreduce_time(140e9, 8, 128, nvlink, nic, nics=1)), 6)
    2.797266
    """
    size, g, nodes = floats("size", size), ranks(g, "g"), ranks(nodes, "nodes")
    nics = g if nics is None else ranks(nics, "nics")
    if (nics > g).any():
        raise ValueError(
            f"nics = {np.max(nics):g} must be at most g = {np.max(g):g}; give a rank's NICs as one faster link"
        )
    n = g * nodes
    inside = np.where(nics == g, (g - 1) / g, np.minimum(1.0, g - 1)) * up.beta
    across = out.beta / nics
    crossings = np.where(nodes > 1, 2 * nodes - np.maximum(0, 3 - g), 0)
    hops = 2 * (n - 1)
    latency = crossings * out.alpha + np.where(g > 1, hops - crossings, 0) * up.alpha
    byte_time = np.where(nodes > 1, np.maximum(inside, across), up.beta)
    return latency + 2 * (n - 1) / n * size * byte_time


@formula
def nvls_allreduce_time(size: ArrayLike, n: ArrayLike, link: Link, segments: ArrayLike | None = None) -> Floats:
    """The switch adds (NVLink SHARP): each rank reduces and broadcasts its own 1/n of the buffer through the switch.

    A rank's link carries size (its data, for everybody's slice) plus size/n (its slice's sum) each way:
    2 alpha + (1 + 1/n) size beta. Against the ring's 2(n-1)/n that is at most 2(n-1)/(n+1) times faster.
    That is the limit of fine pieces that pass the switch without delay. With k `segments`, each stored at every hop (a
    hop is half an alpha), there are k + 3 steps: (k+3)/2 alpha + ((k-1)(n+1) + 4n)/(kn) size beta for k >= 3; the
    pipeline then fills and drains at full width.

    >>> round(float(nvls_allreduce_time(8e9, 8, Link(0, 450e9))), 6)
    0.02
    >>> round(float(nvls_allreduce_time(8e9, 8, Link(0, 450e9), segments=64)), 6)
    0.020799
    """
    size, n = floats("size", size), ranks(n)
    if segments is None:
        return np.where(n > 1, 2 * link.alpha + (1 + 1 / n) * size * link.beta, 0.0)
    k = ranks(segments, "segments")
    widths = np.where(k < 3, (2 * n - 1) * k + 3, (k - 1) * (n + 1) + 4 * n)
    return np.where(n > 1, (k + 3) / 2 * link.alpha + widths / (k * n) * size * link.beta, 0.0)


@formula
def two_shot_allreduce_time(size: ArrayLike, n: ArrayLike, link: Link) -> Floats:
    """Every rank to every other at once, twice: 2 alpha + 2(n-1)/n size beta. The ring's bytes, the least latency.

    >>> round(float(two_shot_allreduce_time(8e9, 8, Link(1e-6, 450e9))), 6)
    0.031113
    """
    size, n = floats("size", size), ranks(n)
    return np.where(n > 1, 2 * link.alpha + 2 * (n - 1) / n * size * link.beta, 0.0)


@formula
def sharp_allreduce_time(size: ArrayLike, levels: ArrayLike, link: Link, segments: ArrayLike | None = None) -> Floats:
    """A tree of adding switches, `levels` high (SHARP): up once, down once, 2 levels alpha + size beta.

    With k `segments`, each stored at every hop: (2 levels + k - 1)(alpha + size beta / k).

    >>> round(float(sharp_allreduce_time(1e9, 2, Link(1e-6, 50e9))), 6)
    0.020004
    >>> round(float(sharp_allreduce_time(1e9, 2, Link(1e-6, 50e9), segments=100)), 6)
    0.020703
    """
    size, hops = floats("size", size), 2 * ranks(levels, "levels")
    if segments is None:
        return hops * link.alpha + size * link.beta
    k = ranks(segments, "segments")
    return (hops + k - 1) * (link.alpha + size / k * link.beta)


@formula
def inside_outside_balance(up: Link, out: Link, nodes: ArrayLike = np.inf) -> Floats:
    """The domain size g at which both halves of the serial hierarchy cost the same, latency apart.

    Setting (g-1)/B_up = (nodes-1)/(nodes B_out): g = 1 + (B_up / B_out) (nodes-1)/nodes.

    >>> round(float(inside_outside_balance(Link(0, 900e9), Link(0, 100e9))), 6)
    10.0
    """
    nodes = floats("nodes", nodes, 1, limit=True)
    return 1 + out.beta / up.beta * (1 - 1 / nodes)


@formula
def serial_stages(size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link) -> tuple[Floats, Floats]:
    """The serial hierarchy's two shares: seconds on NVLink (reduce-scatter and all-gather), seconds on the NICs.

    >>> inside, across = serial_stages(140e9, 8, 128, Link(0, 900e9), Link(0, 100e9))
    >>> round(float(inside), 6), round(float(across), 6)
    (0.272222, 0.347266)
    """
    size, g, nodes = floats("size", size), ranks(g, "g"), ranks(nodes, "nodes")
    return 2 * ring_reduce_scatter_time(size, g, up), ring_allreduce_time(size / g, nodes, out)
