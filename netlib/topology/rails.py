"""Rails and planes: which leaf a GPU is cabled to, and how many fabrics it is on.

A rail is one GPU index: the NICs of all GPUs "number 3" of a group of nodes meet on one leaf, so that a collective in
which each GPU talks to its namesakes needs one switch. A plane is one of several equal fabrics, each with a part of the
bandwidth of every GPU. A tier is a layer of switches. The three are independent. Read with the chapter "Scale-out",
section "Rails, planes, tiers".
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared
from netlib.links import Link
from netlib.topology.clos import leaf_ports, smallest_clos, three_tiers, two_tiers
from netlib.topology.fabric import KINDS, Fabric, Ints, affordable, indices, whole


@declared
def rail_optimised(
    nodes: int,
    rails: int,
    radix: int,
    link: Link,
    inside: Link | None = None,
    oversubscription: float = 1,
    up: Link | None = None,
) -> Fabric:
    """A Clos whose leaves are rails: GPU i of each node of a unit is on leaf i of the unit, spines join all leaves.

    nodes, rails      hosts are GPUs, node-major: GPU i of node m is host m rails + i
    unit              as many nodes as a leaf has host ports: radix r / (r + 1), r = `oversubscription`
    link, up          GPU to leaf; above (default: the same; a faster `up` splits ports, see `leaf_spine`)
    inside            GPU to one NVSwitch vertex per node, that serves its own GPUs only; none by default

    Two tiers as long as every leaf has its port on every spine (at most `radix` leaves), three beyond, in pods of
    radix / 2 leaves. Labels rail (hosts, leaves), node (hosts, NVSwitches) and, in three tiers, pod. Raises ValueError
    for what does not fit three tiers. Units and rails as in NVIDIA's DGX SuperPOD reference architectures.

    >>> fabric = rail_optimised(256, 8, 64, Link(1e-6, 50e9))
    >>> fabric.hosts.size, [int((fabric.tier == t).sum()) for t in (1, 2)]
    (2048, [64, 32])
    """
    nodes, rails, radix = whole("nodes", nodes), whole("rails", rails), whole("radix", radix, 2)
    down, ups = leaf_ports(radix, link, up, oversubscription)
    affordable(nodes * rails - -nodes // down * rails * ups * 2, nodes=nodes, rails=rails, radix=radix)
    unit, rail = np.divmod(np.arange(nodes * rails), rails)
    node, unit = unit, unit // down
    leaf = unit * rails + rail
    leaves = int(leaf[-1]) + 1
    labels = {"rail": np.concatenate([rail, np.arange(leaves) % rails]), "node": node}
    name = f"rail-optimised, {nodes} nodes x {rails} GPUs, radix {radix}, {oversubscription:g}:1"
    if leaves <= radix:
        fabric = two_tiers(name, leaf, ups, radix, link, up or link, labels=labels)
    else:
        half = radix // 2
        if radix % 2 or leaves > radix * half:
            most = max(0 if radix % 2 else radix * half // rails * down, radix // rails * down)
            if not most:
                raise ValueError(f"rails = {rails} need as many leaves, more than radix {radix} joins; give less")
            raise ValueError(
                f"nodes = {nodes} need {leaves} leaves of radix {radix}, which two tiers do not hold; give at most "
                f"{most}"
            )
        fabric = three_tiers(name, leaf, half, (ups, half, half), radix, link, up or link, labels=labels)
    return fabric if inside is None else with_nvswitch(fabric, node, inside)


@declared
def rail_only(nodes: int, rails: int, radix: int, link: Link, inside: Link | None) -> Fabric:
    """Each rail a fabric of its own: GPU i of all nodes on the smallest Clos, nothing between rails but the node.

    To reach another rail, data must first move inside the node over `inside` (see `rail_optimised`; None leaves the
    rails apart). Labels rail (hosts and switches) and node. Wang et al. 2024, arXiv 2307.12169.

    >>> fabric = rail_only(64, 8, 64, Link(1e-6, 50e9), inside=Link(1e-7, 450e9))
    >>> fabric.switches.size, fabric.cables
    (8, 1024)
    """
    nodes, rails = whole("nodes", nodes), whole("rails", rails)
    affordable(nodes * rails, nodes=nodes, rails=rails)
    one = smallest_clos(nodes, radix, link)
    affordable(one.cables * rails, nodes=nodes, rails=rails)
    hosts, switches = nodes * rails, one.vertices - nodes
    place = np.empty((rails, one.vertices), np.int64)  # where each vertex of each copy of `one` goes
    place[:, :nodes] = np.arange(nodes) * rails + np.arange(rails)[:, None]
    place[:, nodes:] = hosts + np.arange(rails * switches).reshape(rails, switches)
    rail = np.concatenate([np.tile(np.arange(rails), nodes), np.repeat(np.arange(rails), switches)])
    node = np.arange(hosts) // rails
    fabric = Fabric(
        name=f"rail-only, {nodes} nodes x {rails} GPUs, radix {radix}",
        hosts=np.arange(hosts, dtype=np.int32),
        tier=np.concatenate([np.zeros(hosts, np.int32), np.tile(one.tier[nodes:], rails)]),
        labels={
            "rail": rail.astype(np.int32),
            "node": np.concatenate([node, np.full(rails * switches, -1)]).astype(np.int32),
        },
        **_copies(one, place),
    )
    return fabric if inside is None else with_nvswitch(fabric, node, inside)


@declared
def multi_plane(fabric: Fabric, planes: int) -> Fabric:
    """The same fabric `planes` times over the same hosts, each plane with 1 / planes of the bandwidth.

    `fabric` is what one plane would be with the full bandwidth of a host; what lies inside the nodes stays single.
    Planes share nothing but hosts: a switch serves one plane. The port of a switch that is `planes` times slower fits
    `planes` times as often, so build `fabric` with the larger radix. Label plane (switches; -1 for hosts). Dual-plane:
    Qian et al., SIGCOMM 2024.

    >>> from netlib.topology.clos import leaf_spine
    >>> dual = multi_plane(leaf_spine(64, 16, Link(1e-6, 50e9)), 2)
    >>> dual.hosts.size, dual.switches.size, int(dual.degree[0]), float(dual.capacity[0])
    (64, 24, 2, 25000000000.0)
    """
    planes = whole("planes", planes)
    affordable(max(fabric.cables, fabric.vertices) * planes, planes=planes)
    switch = fabric.tier > 0
    kept, switches = int((~switch).sum()), int(switch.sum())
    place = np.empty((planes, fabric.vertices), np.int64)
    place[:, ~switch] = np.arange(kept)
    place[:, switch] = kept + np.arange(planes * switches).reshape(planes, switches)
    outside = switch[fabric.source] | switch[fabric.target]
    inner, outer = _only(fabric, ~outside), _only(fabric, outside)
    outer = replace(outer, capacity=outer.capacity / planes)
    links, shared = _copies(outer, place), _copies(inner, place[:1])
    of = np.concatenate([np.flatnonzero(~switch), np.tile(np.flatnonzero(switch), planes)])  # vertex that each copies
    plane = np.full(of.size, -1, np.int32)
    plane[kept:] = np.repeat(np.arange(planes), switches)
    return Fabric(
        name=f"{planes} planes of {fabric.name}",
        hosts=place[0][fabric.hosts].astype(np.int32),
        tier=fabric.tier[of],
        labels={**{key: value[of] for key, value in fabric.labels.items()}, "plane": plane},
        forwards=fabric.forwards[of],
        **{key: np.concatenate([links[key], shared[key]]) for key in links},
    )


@declared
def with_nvswitch(fabric: Fabric, node: ArrayLike, inside: Link) -> Fabric:
    """The fabric with one NVSwitch vertex for each node, cabled by `inside` to its hosts. `node` (H,) counts from 0.

    It stands for all NVSwitches of the node: full bandwidth between its GPUs. It does not forward, so that it carries
    no other node's traffic. Tier 0, label node.

    >>> from netlib.topology.clos import leaf_spine
    >>> pair = with_nvswitch(leaf_spine(4, 4, Link(1e-6, 50e9)), np.array([0, 0, 1, 1]), Link(1e-7, 450e9))
    >>> int(pair.of_kind("nvlink").sum()), bool(pair.forwards[-1])
    (8, False)
    """
    node = array("node", node)
    if node.shape != fabric.hosts.shape or not node.size or inside.shape:
        raise ValueError(
            f"node has shape {node.shape} and inside has shape {inside.shape}; give one node for each of the "
            f"{fabric.hosts.size} hosts, and one link"
        )
    node = indices("node", node, fabric.hosts.size)
    extra, old = int(node.max()) + 1, fabric.vertices
    pairs = np.stack([fabric.hosts, old + node], axis=1)
    blank = np.full(extra, -1, np.int32)
    labels = {key: np.concatenate([value, blank]) for key, value in fabric.labels.items()}
    label = np.concatenate([np.full(old, -1), np.arange(extra)]).astype(np.int32)
    label[fabric.hosts] = node
    many = 2 * len(node)
    return replace(
        fabric,
        tier=np.concatenate([fabric.tier, np.zeros(extra, np.int32)]),
        source=np.concatenate([fabric.source, pairs.ravel()]).astype(np.int32),
        target=np.concatenate([fabric.target, pairs[:, ::-1].ravel()]).astype(np.int32),
        capacity=np.concatenate([fabric.capacity, np.full(many, inside.bandwidth)]),
        latency=np.concatenate([fabric.latency, np.full(many, inside.alpha)]),
        kind=np.concatenate([fabric.kind, np.full(many, KINDS.index("nvlink"), np.int8)]),
        labels={**labels, "node": label},
        forwards=np.concatenate([fabric.forwards, np.zeros(extra, bool)]),
    )


def _only(fabric: Fabric, links: NDArray[np.bool_]) -> Fabric:
    """The fabric with these directed links (both directions of each cable) alone."""
    return fabric.without(cables=np.flatnonzero(~links[::2]))


def _copies(fabric: Fabric, place: NDArray[np.int64]) -> dict[str, Any]:
    """Arrays of the links of all copies of a fabric; vertex v of copy c goes to place[c, v]. Copy after copy."""
    ends: dict[str, Ints] = {
        "source": place[:, fabric.source].ravel().astype(np.int32),
        "target": place[:, fabric.target].ravel().astype(np.int32),
    }
    return {**ends, **{key: np.tile(getattr(fabric, key), len(place)) for key in ("capacity", "latency", "kind")}}
