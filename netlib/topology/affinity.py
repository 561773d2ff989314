"""Affinity: the inside of a node as a tree of PCIe, and how near each GPU is to each NIC.

`nvidia-smi topo -m` prints one code for each pair of devices. The codes follow from what the path between the two
crosses, so they are computed here from the tree. Read with the chapter "Scale-up", section "The node from inside".
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import declared, quoted
from netlib.hardware import bandwidth, fact, node
from netlib.links import Link
from netlib.topology.fabric import Cables, Fabric, Ints, build, whole
from netlib.topology.hops import distances_to

PARTS = ("GPU", "NIC", "PCI", "HB", "CPU", "NVS")
"""Parts of a node, by the start of their names: GPU; NIC; PCIe switch or bridge; PCIe host bridge; CPU (one NUMA node);
NVSwitch."""

CODES = ("PIX", "PXB", "PHB", "NODE", "SYS")
"""Codes over PCIe, nearest first: at most one bridge; several bridges; a host bridge; two host bridges of one NUMA
node; two NUMA nodes. NV# (# bonded NVLinks) comes before all."""

_NAME = re.compile(rf"({'|'.join(PARTS)})(\d+)")


@dataclass(frozen=True, eq=False)
class Affinity:
    """How near the devices of a node are to one another.

    names   GPU0 ... then NIC0 ...
    codes   (n, n) text: X for itself, NV#, PIX, PXB, PHB, NODE, SYS, or N/A without a path
    numa    (n,) NUMA node of each device
    """

    names: tuple[str, ...]
    codes: NDArray[np.str_]
    numa: Ints

    @property
    def text(self) -> str:
        """The matrix as `nvidia-smi topo -m` lays it out: tabs between cells, NUMA node in the last column.

        The column with core numbers is left out, as a tree of PCIe does not hold them.

        >>> pc = node_tree("PC", {"GPU0": "CPU0", "NIC0": "CPU0"}, Link(0, 32e9))
        >>> affinity(pc).text.splitlines()[1].split("\\t")
        ['GPU0', ' X ', 'PHB', '0']
        """
        lines = ["\t".join(("", *self.names, "NUMA Affinity"))]
        for name, row, numa in zip(self.names, self.codes, self.numa, strict=True):
            cells = [" X " if code == "X" else str(code) for code in row]
            lines.append("\t".join([name, *cells, str(numa) if name.startswith("GPU") else ""]))
        return "\n".join(lines)

    def nearest_nics(self) -> tuple[tuple[str, ...], ...]:
        """For each GPU the NICs that are nearest to it, by code; more than one if they are equally near.

        >>> affinity(dgx_h100_tree()).nearest_nics()[1]
        ('NIC3',)
        """
        gpus = [i for i, name in enumerate(self.names) if name.startswith("GPU")]
        nics = [i for i, name in enumerate(self.names) if name.startswith("NIC")]
        order = {code: place for place, code in enumerate((*CODES, "N/A"))}
        found = []
        for gpu in gpus:
            rank = [order[str(self.codes[gpu, nic])] for nic in nics]
            found.append(tuple(self.names[nic] for nic, at in zip(nics, rank, strict=True) if at == min(rank)))
        return tuple(found)


@declared
def node_tree(
    name: str,
    parents: Mapping[str, str],
    pcie: Link,
    socket: Link | None = None,
    nvlinks: Mapping[tuple[str, str], int] | None = None,
    nvlink: Link | None = None,
) -> Fabric:
    """The inside of a node: `parents` says what each part is plugged into, by names such as GPU0, PCI3, HB1, CPU0.

    Each chain ends at a CPU (one for each NUMA node); a device right under a CPU uses it as its host bridge. `pcie` is
    the link of every plug, `socket` that between each two CPUs (default: as `pcie`). `nvlinks` counts the NVLinks
    between two parts, {("GPU0", "NVS0"): 5}, each a `nvlink`. Hosts are the GPUs, then the NICs, by number; all is
    tier 0; labels `part` (place in PARTS), `number`, `numa` (-1 for an NVSwitch) and `node` (0).

    >>> pc = node_tree("PC", {"GPU0": "CPU0", "GPU1": "PCI0", "NIC0": "PCI0", "PCI0": "CPU0"}, Link(0, 32e9))
    >>> pc.hosts.size, pc.vertices, pc.cables
    (3, 5, 4)
    """
    bonds = dict(nvlinks or {})
    parts = {each: _part("parents", each) for pair in parents.items() for each in pair}
    parts |= {each: _part("nvlinks", each) for pair in bonds for each in pair}
    _check(parents, parts, bonds, nvlink)
    order = sorted(parts, key=lambda each: parts[each])
    number = {each: place for place, each in enumerate(order)}
    kind, index = np.array([parts[each] for each in order]).T
    root = {each: _root(each, parents) for each in order}
    cpus = np.flatnonzero(kind == PARTS.index("CPU"))
    a, b = np.triu_indices(cpus.size, 1)
    cables = [
        Cables([number[each] for each in parents], [number[each] for each in parents.values()], pcie, "pcie"),
        Cables(cpus[a], cpus[b], socket or pcie, "socket"),
    ]
    if bonds and nvlink:
        ends = np.repeat([[number[one], number[two]] for one, two in bonds], list(bonds.values()), axis=0)
        cables.append(Cables(ends[:, 0], ends[:, 1], nvlink, "nvlink"))
    devices = kind < 2
    return build(
        name,
        len(order),
        hosts=np.flatnonzero(devices),
        tier=np.zeros(len(order)),
        cables=cables,
        labels={
            "part": kind,
            "number": index,
            "numa": [parts[root[each]][1] if each in root and root[each].startswith("CPU") else -1 for each in order],
            "node": np.zeros(len(order)),
        },
        forwards=~devices,
    )


@declared
def affinity(fabric: Fabric) -> Affinity:
    """The codes of `nvidia-smi topo -m` for a fabric from `node_tree`, from what each path over PCIe crosses.

    Two NUMA nodes: SYS. One CPU and a host bridge below it: NODE. One host bridge (or the CPU as such): PHB. Else by
    the PCIe bridges crossed: PXB for two and more, PIX for at most one. NV# counts the NVLinks that join two GPUs
    directly, plus, for each NVSwitch, those that both can use.

    >>> box = affinity(pcie_tree())
    >>> [str(box.codes[0, i]) for i in range(5)], str(box.codes[4, 8])
    (['X', 'PIX', 'PXB', 'PXB', 'SYS'], 'PHB')
    """
    part, number = fabric.label("part"), fabric.label("number")
    devices = fabric.hosts
    bonded = fabric.of_kind("nvlink")
    far = distances_to(fabric.without(cables=np.flatnonzero(bonded[::2])), np.arange(fabric.vertices)).astype(int)
    there = far[np.ix_(devices, devices)]
    reach = far[devices]  # (n, V): links from each vertex to each device
    on_path = (reach[:, None, :] >= 0) & (reach[:, None, :] + reach[None, :, :] == there[:, :, None])
    crossed = {name: (on_path & (part == place)).sum(axis=2) for place, name in enumerate(PARTS)}
    links = np.zeros((fabric.vertices, fabric.vertices), int)
    np.add.at(links, (fabric.source[bonded], fabric.target[bonded]), 1)
    to_switch = links[np.ix_(devices, np.flatnonzero(part == PARTS.index("NVS")))]
    bond = links[np.ix_(devices, devices)] + np.minimum(to_switch[:, None], to_switch[None]).sum(axis=2)
    codes = np.select(
        [
            np.eye(devices.size, dtype=bool),
            bond > 0,
            there < 0,
            crossed["CPU"] > 1,
            (crossed["CPU"] == 1) & (crossed["HB"] > 0),
            (crossed["CPU"] == 1) | (crossed["HB"] == 1),
            crossed["PCI"] > 1,
        ],
        ["X", np.char.add("NV", bond.astype(str)), "N/A", "SYS", "NODE", "PHB", "PXB"],
        default="PIX",
    )
    names = tuple(f"{PARTS[part[v]]}{number[v]}" for v in devices)
    return Affinity(names, codes, fabric.label("numa")[devices])


@declared
def dgx_h100_tree(alpha: float = 0.0) -> Fabric:
    """The inside of a DGX H100: two CPUs, and under each four pairs of GPU and NIC and one card with two more ports.

    Each pair sits behind bridges of its own below its own host bridge, so a GPU is PXB to its NIC, NODE to the others
    of its socket and SYS to the rest. Names as in the matrix of an 8 x H100 node in vllm-project/vllm issue 6746 (NIC1,
    NIC2 and NIC7, NIC8 are the cards). NVLinks as `hgx_h100`; PCIe 5 x16; the link between the CPUs is taken as one
    more of those, as its rate is in no data sheet of the registry. `alpha`: seconds for one link, 0 by default.

    >>> int(dgx_h100_tree().of_kind("nvlink").sum()) // 2
    144
    """
    box = node("dgx-h100")
    parents = {f"HB{i}": f"CPU{i // 5}" for i in range(10)}
    for i, nic in enumerate((0, 3, 4, 5, 6, 9, 10, 11)):  # GPU i and its NIC: top bridge 3i, one bridge below for each
        top, bridge = f"PCI{3 * i}", 5 * (i // 4) + i % 4
        parents |= {top: f"HB{bridge}", f"PCI{3 * i + 1}": top, f"PCI{3 * i + 2}": top}
        parents |= {f"GPU{i}": f"PCI{3 * i + 1}", f"NIC{nic}": f"PCI{3 * i + 2}"}
    for card, nic in enumerate((1, 7)):
        parents |= {f"PCI{24 + card}": f"HB{5 * card + 4}", f"NIC{nic}": f"PCI{24 + card}"}
        parents |= {f"NIC{nic + 1}": f"PCI{24 + card}"}
    links, chips = int(fact(f"{box.nvlink}-links").value), box.switches
    spread = {chip: len(range(chip, links, chips)) for chip in range(chips)}
    nvlinks = {(f"GPU{g}", f"NVS{chip}"): spread[chip] for g in range(box.gpus) for chip in spread}
    pcie, nvlink = (Link(alpha, bandwidth(id)) for id in ("pcie5-x16", f"{box.nvlink}-link"))
    return node_tree("DGX H100 node", parents, pcie, nvlinks=nvlinks, nvlink=nvlink)


@declared
def pcie_tree(alpha: float = 0.0) -> Fabric:
    """A box without NVLink: two CPUs, under each four GPUs behind two layers of PCIe switches, one NIC at CPU1.

    As the node of lattice/quda issue 669, with PCIe 4 x16. `alpha`: seconds for one link, 0 by default.

    >>> pcie_tree().hosts.size
    9
    """
    parents = {"NIC0": "CPU1"}
    for i in range(8):
        parents |= {f"GPU{i}": f"PCI{2 + i // 2}", f"PCI{2 + i // 2}": f"PCI{i // 4}", f"PCI{i // 4}": f"CPU{i // 4}"}
    return node_tree("PCIe box", parents, Link(alpha, bandwidth("pcie4-x16")))


def _part(argument: str, name: str) -> tuple[int, int]:
    """(place in PARTS, number) of a name."""
    found = _NAME.fullmatch(str(name))
    if not found:
        raise ValueError(f"{argument} = {quoted(name)} is no part of a node; use {', '.join(PARTS)} with a number")
    return PARTS.index(found[1]), int(found[2])


def _root(name: str, parents: Mapping[str, str]) -> str:
    """Where the chain of parents ends, or the part at which it comes round."""
    seen = {name}
    while name in parents and parents[name] not in seen:
        name = parents[name]
        seen.add(name)
    return name


def _check(
    parents: Mapping[str, str],
    parts: Mapping[str, tuple[int, int]],
    bonds: Mapping[tuple[str, str], int],
    nvlink: Link | None,
) -> None:
    for child, parent in parents.items():
        if parent[:3] in ("GPU", "NIC", "NVS") or child[:3] in ("CPU", "NVS"):
            raise ValueError(f"parents puts {child} under {parent}; GPU, NIC, PCI and HB go under PCI, HB or CPU")
    for each in parts:
        if each[:3] != "NVS" and not _root(each, parents).startswith("CPU"):
            raise ValueError(f"parents leads from {each} to {_root(each, parents)}; every chain must end at a CPU")
    for (one, two), count in bonds.items():
        whole("nvlinks", count)
        if one == two or {one[:3], two[:3]} - {"GPU", "NVS"}:
            raise ValueError(f"nvlinks joins {one} and {two}; an NVLink joins two GPUs, or a GPU and an NVS")
    if bonds and nvlink is None:
        raise ValueError("nvlink = None has no rate for the nvlinks that are given; pass nvlink=Link(alpha, bandwidth)")
