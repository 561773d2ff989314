"""Graph: what NCCL's topology search hands to its cost model.

The search looks for channels (rings, trees, heads of the switch) and the speed that each may have inside a node and
between nodes. The cost model sees nothing else of the machine: channels x speed, the kind of link, the GPU and the
maker of the CPU. The search itself is not modelled. A `Cluster` states its result, and the named ones say where the
numbers come from: the log of a run ("24 coll channels") or the list of speeds that the search tries.
Read with the chapter "Collectives", section "NCCL decides".
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, clash, declared, declared_fields, floats, quoted, written
from netlib.collectives.nccl.tables import GPUS, edition, nvlink, speeds
from netlib.names import nearest

CPUS = ("Intel", "AMD", "ARM", "Power")
PATHS = ("PIX", "PXB", "PXN", "P2C", "PHB", "SYS")  # GPU to NIC, nearest first


@written
@dataclass(frozen=True, eq=False)
class Channels:
    """`count` channels, each `intra` bytes/s inside a node and `inter` bytes/s between nodes; all may be arrays.

    >>> Channels(16, 24e9, 24e9).total(2)
    384000000000.0
    """

    count: ArrayLike
    intra: ArrayLike
    inter: ArrayLike

    def __post_init__(self) -> None:
        _whole("count", self.count)
        floats("intra", self.intra, above=True)
        floats("inter", self.inter, above=True)

    @declared
    def total(self, nodes: int) -> float:
        """Bytes/s of all channels together on one node, or between several.

        >>> Channels(8, 40e9, 60e9).total(1)
        320000000000.0
        """
        return float(np.max(self.count)) * float(np.max(self.intra if nodes == 1 else self.inter))


@written
@dataclass(frozen=True, eq=False)
class Cluster:
    """A job as the cost model sees it. `nodes` and `per_node` may be arrays that broadcast.

    gpu          "Volta", "Ampere", "Hopper" or "Blackwell"
    nodes        NVLink domains that the job spans; per_node: its GPUs in each
    ring         channels of the rings; `tree` those of the trees (None: the same)
    nvls         channels of NVLS and NVLSTree (None: no switch that adds)
    collnet      channels of CollNet (None: the rings'); used when `collnet_enabled`
    cpu          maker of the CPU, which sets the LL cap and the cost of a post between nodes
    nvlink       the GPUs of a node are joined by NVLink (False: PCIe); nvswitch: by a switch
    path         the farthest way from a GPU to its NIC: PIX, PXB, PXN, P2C, PHB or SYS
    nic_latency  seconds that the NIC reports; counted twice for Simple
    plain_tree   the search fell back to the plain tree pattern
    same_rings   all channels visit the GPUs in the same order
    mixed        GPUs of different compute capability
    channels     channels of the communicator, for the ring's plateau (None: the count of the rings)
    about        where the counts come from
    """

    gpu: str
    nodes: ArrayLike
    per_node: ArrayLike
    ring: Channels
    tree: Channels | None = None
    nvls: Channels | None = None
    collnet: Channels | None = None
    cpu: str = "Intel"
    nvlink: bool = True
    nvswitch: bool = True
    path: str = "PXB"
    nic_latency: float = 0.0
    plain_tree: bool = False
    same_rings: bool = True
    mixed: bool = False
    collnet_enabled: bool = False
    channels: ArrayLike | None = None
    about: str = ""
    _called = ("nccl.named", "dgx-h100")

    def __post_init__(self) -> None:
        declared_fields(self)
        for name, value, choices in (("gpu", self.gpu, GPUS), ("cpu", self.cpu, CPUS), ("path", self.path, PATHS)):
            if value not in choices:
                raise ValueError(f"{name} = {quoted(value)} is not one of {', '.join(choices)}")
        shapes = {"nodes": _whole("nodes", self.nodes).shape, "per_node": _whole("per_node", self.per_node).shape}
        if sentence := clash(shapes):
            raise ValueError(sentence)
        if (self.ranks < 2).any():
            raise ValueError("nodes x per_node = 1 has nothing to communicate; give at least two ranks")
        if (self.ranks > 1e9).any():
            raise ValueError(f"nodes x per_node = {self.ranks.max():g} must be at most 1e9; give fewer nodes")
        floats("nic_latency", self.nic_latency)
        if self.channels is not None:
            _whole("channels", self.channels)

    @property
    def ranks(self) -> Floats:
        """GPUs in all, nodes x per_node.

        >>> named("dgx-h100", 128).ranks.tolist()
        1024.0
        """
        with np.errstate(over="ignore"):
            return np.asarray(self.nodes, dtype=np.float64) * np.asarray(self.per_node, dtype=np.float64)


def _whole(name: str, value: ArrayLike) -> Floats:
    array = floats(name, value, 1)
    if (array % 1 != 0).any():
        raise ValueError(f"{name} = {array[array % 1 != 0].flat[0]:g} must be whole; give a count, such as 8")
    return array


@declared
def nvls_channels(gpu: str, per_node: int, version: str = "2.30.7") -> Channels:
    """What the search finds for NVLS on one node of `per_node` GPUs, from the list of speeds that it tries.

    Each GPU is the head of one channel. A channel of speed w sends w down from each GPU and 2 w through its head, so
    a GPU carries (n+1) w: intra is the fastest listed speed with (n+1) w <= the planned NVLinks of a GPU. The second
    pass then raises `inter`, which one node does not use, until it is twice `intra` or the list ends; the cost model
    of 2.28 and later takes the smaller of the two all the same.
    Source: NVIDIA/nccl src/graph/search.cc, ncclTopoSearchTryNvls and ncclTopoCompute.

    >>> eight = nvls_channels("Hopper", 8)
    >>> eight.count, eight.intra, eight.inter
    (8, 40000000000.0, 60000000000.0)
    >>> nvls_channels("Blackwell", 8).intra
    80000000000.0
    """
    chosen = edition(version)
    if gpu not in ("Hopper", "Blackwell") or chosen.key < (2, 17):
        raise ValueError(
            f"gpu = {gpu[:40]!r} has no switch that adds in NCCL {version}; give Hopper, and 2.17 or later"
        )
    if not 2 <= per_node <= 32:
        raise ValueError(f"per_node = {per_node} must be from 2 to 32, the heads that NCCL allows")
    gpu = "Hopper" if chosen.key < (2, 25) else gpu  # older versions take Blackwell for Hopper
    tried = speeds(chosen, gpu)
    fits = tried[tried * (per_node + 1) <= nvlink(gpu)]
    intra = float(fits[0]) if len(fits) else float(tried[-1])
    higher = [float(speed) for speed in tried[::-1] if speed > intra]
    inter = intra
    while higher and inter < 2 * intra:
        inter = higher.pop(0)
    return Channels(per_node, intra, inter)


@dataclass(frozen=True)
class Machine:
    """A node type: its GPU, and (channels, bytes/s of each) of the rings on one node and on more; the NVLS speed."""

    gpu: str
    one: tuple[int, float]
    more: tuple[int, float]
    nvls_inter: float | None
    cpu: str
    about: str


_A100 = "24 channels on one node as NCCL prints them; 240 GB/s are 12 NVLinks at the 20 GB/s that it plans; "
_HOPPER = "24 channels on one node as NCCL prints them; of 370.8 GB/s its list of speeds allows 6 x 60 = 360; "
_B200 = "of 721.8 GB/s NCCL's list of speeds allows 8 x 90 = 720 on one node, doubled to 16 channels; "
_NDR = "between nodes assumed: two channels of 24 GB/s for each of 8 NICs (a port is planned at 48), NVLS at "
_HDR = "between nodes assumed: two channels of 12 GB/s for each of 8 HDR ports (a port is planned at 24)"
MACHINES: Mapping[str, Machine] = {
    "dgx-a100": Machine("Ampere", (24, 10e9), (16, 12e9), None, "AMD", _A100 + _HDR),
    "dgx-h100": Machine("Hopper", (24, 15e9), (16, 24e9), 45e9, "Intel", _HOPPER + _NDR + "45 GB/s"),
    "dgx-h200": Machine("Hopper", (24, 15e9), (16, 24e9), 45e9, "Intel", _HOPPER + _NDR + "45 GB/s"),
    "p5": Machine("Hopper", (24, 15e9), (16, 24e9), 45e9, "AMD", _HOPPER + _NDR + "45 GB/s"),
    "dgx-b200": Machine("Blackwell", (16, 45e9), (16, 24e9), 45.1e9, "Intel", _B200 + _NDR + "45.1 GB/s"),
    "p6-b200": Machine("Blackwell", (16, 45e9), (16, 24e9), 45.1e9, "Intel", _B200 + _NDR + "45.1 GB/s"),
}


@declared
def named(name: str, nodes: ArrayLike = 1, per_node: int = 8, version: str = "2.30.7") -> Cluster:
    """A cluster of a named node type: dgx-a100, dgx-h100, dgx-h200, p5, dgx-b200 or p6-b200.

    One node and several have different channels, so `nodes` may mix both. None of the counts was chosen to meet a
    measurement: `about` says where they were read, and what is assumed. NCCL's own search may divide the same rate
    into other channels; by its rules Hopper between nodes would get 8 x 45 = 360 GB/s, where logs show up to 384.

    >>> pod = named("dgx-h100", [1, 128])
    >>> pod.ranks.tolist(), pod.ring.inter.tolist()
    ([8.0, 1024.0], [15000000000.0, 24000000000.0])
    """
    if name not in MACHINES:
        raise ValueError(f"name = {name[:40]!r} is no node type of this module; {nearest(name, MACHINES)}")
    if not 1 <= per_node <= 8:
        raise ValueError(f"per_node = {per_node} must be from 1 to 8, the GPUs of a {name}; for a rack make a Cluster")
    machine = MACHINES[name]
    single = _whole("nodes", nodes) == 1
    count = np.where(single, machine.one[0], machine.more[0])
    speed = np.where(single, machine.one[1], machine.more[1])
    nvls = None
    if machine.nvls_inter is not None and per_node > 1 and edition(version).key >= (2, 17):
        inside = nvls_channels(machine.gpu, per_node, version)
        nvls = replace(inside, inter=np.where(single, inside.inter, machine.nvls_inter))
    return Cluster(
        machine.gpu, nodes, per_node, Channels(count, speed, speed), nvls=nvls, cpu=machine.cpu, about=machine.about
    )
