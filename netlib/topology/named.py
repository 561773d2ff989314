"""Named fabrics: real machines, built from what was published about them and checked against its counts.

Each docstring says what is published, where, and what we assume. `PUBLISHED` holds the counts; the tests compare them
with the built fabric, one by one. Link speeds come from the registry. `ALPHA` is our assumption throughout. Read with
the chapter "Scale-out", section "Where the systems are".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from netlib.arguments import declared, quoted
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.topology.clos import three_tiers, two_tiers
from netlib.topology.direct import dragonfly, torus
from netlib.topology.domains import nvl72
from netlib.topology.fabric import Fabric, affordable, whole
from netlib.topology.rails import multi_plane, rail_optimised, with_nvswitch

ALPHA = 1e-6
"""Seconds for each hop, cable and switch: a round number, in place of a value that nobody published per fabric."""


@declared
def superpod(units: int, system: str = "b200", inside: Link | None = None) -> Fabric:
    """NVIDIA's DGX SuperPOD of `units` scalable units of DGX B200 or B300 systems, 8 GPUs each, one leaf per rail.

    Published: the component tables of three reference architectures (chapter "DGX SuperPOD Architecture").

    b200        unit 32 systems; 64-port 400G InfiniBand. Leaves N / 32; spines N / 64 up to 2,048 GPUs; above, spines
                N / 32 and cores N / 64; N cables in each layer
    b300        unit 64 systems; Ethernet in two planes, 2 x 400G for each GPU. A switch of 64 x 800G ports is 128 x
                400G, so a plane of two tiers holds 128^2 / 2 = 8,192 GPUs: N / 64 leaves and N / 128 spines in each
                plane, N / 32 and N / 64 in all. One published cable carries two of our 400G cables
    b300-xdr    unit 72 systems; InfiniBand with 144 x 800G ports. Leaves N / 72. N / 144 spines would be 16 and 32 at 4
                and 8 units; the table prints 18 and 36, which are the next numbers that divide the 72 uplinks of a
                leaf: as here, cables are shared out evenly

    Assumed: leaf i serves rail i of one unit; from 16 units on (b200), pods of four units and core groups as in a
    fat-tree. `inside` adds an NVSwitch per system, as in `rail_optimised`.

    >>> fabric = superpod(16)
    >>> fabric.hosts.size, [int((fabric.tier == t).sum()) for t in (1, 2, 3)]
    (4096, [128, 128, 64])
    """
    affordable(2 * 256 * whole("units", units), units=units)
    if system == "b200":
        return rail_optimised(32 * units, 8, 64, Link(ALPHA, bandwidth("ndr-400")), inside)
    if system == "b300":
        return multi_plane(rail_optimised(64 * units, 8, 128, Link(ALPHA, bandwidth("ethernet-800")), inside), 2)
    if system == "b300-xdr":
        return rail_optimised(72 * units, 8, 144, Link(ALPHA, bandwidth("xdr-800")), inside)
    raise ValueError(f"system = {quoted(system)} is not known; use b200, b300 or b300-xdr")


@declared
def hpn_pod(segments: int = 15, inside: Link | None = None) -> Fabric:
    """Alibaba's HPN pod: two tiers in two planes, 15 segments of 1,024 GPUs.

    Published (Qian et al., SIGCOMM 2024, sections 3 to 6): 1,024 GPUs in a segment, 15 segments in a pod, 8 rails, 2
    planes, NICs of 2 x 200G, one port to each plane; 51.2 Tb/s switches; 16 first switches in a segment, one for each
    rail and plane, each with 128 active and 8 spare ports of 200G down and 60 x 400G up (25.6 / 24.0 = 1.067:1); 60
    aggregation switches in each plane, 15:1 to the core. It follows that these have 15 segments x 8 rails = 120
    cables down and 8 up (120 / 8 = 15): hence 15 segments.
    Left out: the spare ports and the core that joins pods. Label group is the segment.

    >>> pod = hpn_pod()
    >>> pod.hosts.size, [int((pod.tier == t).sum()) for t in (1, 2)]
    (15360, [240, 120])
    """
    segments = whole("segments", segments)
    if segments > 15:
        raise ValueError(f"segments = {segments} do not fit the 120 ports of an aggregation switch; give 1 to 15")
    node, rail = np.divmod(np.arange(segments * 1024), 8)
    segment = node // 128
    one = two_tiers(
        f"Alibaba HPN pod, {segments} segments",
        segment * 8 + rail,
        60,
        120,
        Link(ALPHA, 2 * bandwidth("ethernet-200")),  # both ports of a NIC: multi_plane halves them
        Link(ALPHA, 2 * bandwidth("ethernet-400")),
        spines=60,
        labels={
            "rail": np.concatenate([rail, np.arange(segments * 8) % 8]),
            "group": np.concatenate([segment, np.arange(segments * 8) // 8]),
            "node": node,
        },
    )
    return multi_plane(one if inside is None else with_nvswitch(one, node, inside), 2)


def meta_24k() -> Fabric:
    """Meta's RoCE cluster of 24,576 H100 that trained Llama 3: 8 pods, 7:1 between them.

    Published (Llama 3 Herd of Models, arXiv 2407.21783, 3.3.1): 400G for each GPU; racks of 16 GPUs behind one switch;
    192 racks, 3,072 GPUs in a pod with full bisection; 8 pods joined at 1:7. The uplinks of a rack hold twice its GPUs
    (Gangidi et al., SIGCOMM 2024; read in a summary by G. Lockwood).
    Assumed: 16 cluster switches in a pod, each with two cables from each rack and 28 up, and 16 aggregation switches.
    1:7 is read as the bandwidth of a pod's GPUs over that to other pods. 3,072 / 7 cables are no whole number: the
    speed of the top cables (0.98 x 400G) makes the ratio exact.

    >>> fabric = meta_24k()
    >>> fabric.hosts.size, int(fabric.label("pod").max()) + 1
    (24576, 8)
    """
    rate = bandwidth("ethernet-400")
    link, top = Link(ALPHA, rate), Link(ALPHA, 3072 * rate / 7 / (16 * 28))
    node = np.arange(8 * 3072) // 8
    return three_tiers(
        "Meta 24K RoCE", np.arange(8 * 3072) // 16, 192, (32, 384, 28), 256, link, link, top, {"node": node}
    )


@declared
def megascale(servers: int = 1536, inside: Link | None = None) -> Fabric:
    """ByteDance's MegaScale: three tiers of 64 x 400G switches, 12,288 GPUs by default.

    Published (Jiang et al., NSDI 2024, arXiv 2402.15627, 3.6): three tiers, 32 ports down and 32 up; eight 200G NICs of
    a server on eight switches; a 400G port down split into two 200G ones, so 64 servers share a set of first switches;
    12,288 GPUs trained the 175B model.
    Assumed: pods as in a fat-tree, of 32 first switches = 4 sets, and 128 top switches: 96 would have the ports, but
    four in each of 32 groups share out the 32 cables of a spine evenly.

    >>> fabric = megascale()
    >>> fabric.hosts.size, [int((fabric.tier == t).sum()) for t in (1, 2, 3)]
    (12288, [192, 192, 128])
    """
    affordable(2 * 8 * whole("servers", servers), servers=servers)
    fast = Link(ALPHA, bandwidth("ethernet-400"))
    return rail_optimised(servers, 8, 64, Link(ALPHA, bandwidth("ethernet-200")), inside, up=fast)


@declared
def slingshot(groups: int) -> Fabric:
    """HPE Slingshot: a dragonfly of 64-port 200G switches, 32 in a group of 512 endpoints.

    Published: 64 ports of 200 Gb/s, 16 endpoints on each switch, 32 switches in a fully connected group, at most three
    switch-to-switch hops (De Sensi et al., SC 2020, arXiv 2008.08886). That leaves 64 - 16 - 31 = 17 global ports on a
    switch, 544 in a group: 545 groups of 512, 279,040 endpoints, as announced (insideHPC, March 2020); 278,528 =
    544 x 512 is quoted too (G. Lockwood, Slingshot). Machines have far fewer groups, with several cables for each
    pair, as built here.
    Assumed: 200G for all cables, global ones dealt as in `dragonfly`.

    >>> fabric = slingshot(4)
    >>> fabric.hosts.size, fabric.switches.size
    (2048, 128)
    """
    return dragonfly(16, 32, 17, Link(ALPHA, bandwidth("ethernet-200")), whole("groups", groups, 2))


def tpu_v4_pod() -> Fabric:
    """Google's TPU v4 pod: 4,096 chips in a 16 x 16 x 16 torus.

    Published: 4,096 chips in 64 cubes of 4 x 4 x 4, joined by 48 optical switches (Jouppi et al., ISCA 2023, arXiv
    2304.01433); six links of a chip, 45 GB/s one way each (How to Scale Your Model). 12,288 links; those between cubes,
    3,072, are optical. The all-reduce bandwidth that Google prints, 1.1 PB/s, is 4,096 x 6 x 45 GB/s.
    Assumed: nothing but `ALPHA`.

    >>> pod = tpu_v4_pod()
    >>> pod.hosts.size, pod.cables
    (4096, 12288)
    """
    return torus([16, 16, 16], Link(ALPHA, bandwidth("ici-v4")))


@declared
def census(fabric: Fabric) -> dict[str, int]:
    """What there is to count: hosts; for each tier its switches and their most cables down and up; cables; labels.

    >>> from netlib.topology.clos import leaf_spine
    >>> counts = census(leaf_spine(2048, 64, Link(1e-6, 50e9)))
    >>> counts["hosts"], counts["tier 1 switches"], counts["tier 1 up"], counts["cables 1-2"]
    (2048, 64, 32, 2048)
    """
    low, high = fabric.tier[fabric.source], fabric.tier[fabric.target]
    counts = {"hosts": fabric.hosts.size, "tiers": int(fabric.tier.max(initial=0))}
    for tier in range(1, counts["tiers"] + 1):
        counts[f"tier {tier} switches"] = int((fabric.tier == tier).sum())
        for way, mask in (("down", high < low), ("up", high > low)):
            ends = np.bincount(fabric.source[mask & (low == tier)], minlength=1)
            counts[f"tier {tier} {way}"] = int(ends.max())
    pairs, many = np.unique(np.stack([low, high])[:, low <= high], axis=1, return_counts=True)
    for (a, b), count in zip(pairs.T.tolist(), many.tolist(), strict=True):
        counts[f"cables {a}-{b}"] = count // 2 if a == b else count
    for name, label in fabric.labels.items():
        counts[f"{name}s"] = np.unique(label[label >= 0]).size
    return counts


@dataclass(frozen=True)
class Published:
    """Published counts of one fabric: `make` builds it, `counts` as named by `census`.

    `per_cable` is how many of our cables one published cable holds; it applies to the counts of cables.
    """

    make: Callable[[], Fabric]
    counts: Mapping[str, int]
    source: str
    per_cable: int = 1

    def built(self) -> dict[str, float]:
        """The same counts, taken from the built fabric.

        >>> PUBLISHED["superpod-b200-2"].built() == dict(PUBLISHED["superpod-b200-2"].counts)
        True
        """
        found = census(self.make())
        return {key: found.get(key, 0) / (self.per_cable if key.startswith("cables") else 1) for key in self.counts}


_SUPERPOD = "NVIDIA, DGX SuperPOD reference architecture, {}, chapter DGX SuperPOD Architecture, component table"
_TABLES = {  # units: leaves, spines, cores
    "b200": {
        2: (16, 8, 0),
        4: (32, 16, 0),
        8: (64, 32, 0),
        16: (128, 128, 64),
        32: (256, 256, 128),
        64: (512, 512, 256),
    },
    "b300": {1: (16, 8, 0), 2: (32, 16, 0), 4: (64, 32, 0), 8: (128, 64, 0), 16: (256, 128, 0)},
    "b300-xdr": {1: (8, 4, 0), 2: (16, 8, 0), 4: (32, 18, 0), 8: (64, 36, 0), 18: (144, 72, 0)},
}


def _row(system: str, units: int) -> Published:
    """One row of a SuperPOD table. At 18 units b300-xdr prints 9,216 GPUs, but 1,296 systems and 10,368 cables."""
    gpus = {"b200": 256, "b300": 512, "b300-xdr": 576}[system] * units
    counts = {f"tier {tier} switches": many for tier, many in enumerate(_TABLES[system][units], 1)}
    counts |= {
        "hosts": gpus,
        "cables 0-1": gpus,
        "cables 1-2": gpus,
        "cables 2-3": gpus * bool(counts["tier 3 switches"]),
    }
    return Published(lambda: superpod(units, system), counts, _SUPERPOD.format(system.upper()), 1 + (system == "b300"))


PUBLISHED: Mapping[str, Published] = {
    **{f"superpod-{system}-{units}": _row(system, units) for system, rows in _TABLES.items() for units in rows},
    "hpn-pod": Published(
        hpn_pod,
        {
            "hosts": 15360,
            "groups": 15,
            "rails": 8,
            "planes": 2,
            "tier 1 switches": 15 * 16,
            "tier 1 down": 128,
            "tier 1 up": 60,
            "tier 2 switches": 2 * 60,
            "tier 2 down": 120,
        },
        "Qian et al., Alibaba HPN, SIGCOMM 2024, sections 3 to 6",
    ),
    "meta-24k": Published(
        meta_24k,
        {"hosts": 24576, "pods": 8, "tiers": 3, "tier 1 switches": 8 * 192, "tier 1 down": 16, "tier 1 up": 32},
        "Llama Team, The Llama 3 Herd of Models, arXiv 2407.21783, section 3.3.1",
    ),
    "megascale": Published(
        megascale,
        {
            "hosts": 12288,
            "tiers": 3,
            "rails": 8,
            "tier 1 down": 64,
            "tier 1 up": 32,
            "tier 2 down": 32,
            "tier 2 up": 32,
        },
        "Jiang et al., MegaScale, NSDI 2024, arXiv 2402.15627, section 3.6",
    ),
    "slingshot-group": Published(
        lambda: slingshot(2),
        {"hosts": 2 * 512, "tier 1 switches": 2 * 32, "tier 1 down": 16},
        "De Sensi et al., An In-Depth Analysis of the Slingshot Interconnect, SC 2020, arXiv 2008.08886",
    ),
    "slingshot-largest": Published(
        lambda: slingshot(544),
        {"hosts": 278528},
        "G. Lockwood, Slingshot (secondary): 544 groups; by the ports of its switches 545 fit, as announced in 2020",
    ),
    "nvl72": Published(
        nvl72,
        {"hosts": 72, "tier 1 switches": 18, "cables 0-1": 1296},
        "NVIDIA, DGX SuperPOD reference architecture, DGX GB200: 9 trays of 2 chips, a link from each GPU to each chip",
    ),
    "tpu-v4-pod": Published(
        tpu_v4_pod,
        {"hosts": 4096, "x0s": 16, "x1s": 16, "x2s": 16},
        "Jouppi et al., TPU v4, ISCA 2023, arXiv 2304.01433",
    ),
}
"""Published counts of named fabrics, by name."""
