"""NCCL's choice as a map: message size against nodes, the algorithm above and the protocol below."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives.nccl import Tuning, edition, named, spans, tune
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Heat, Panel
from netlib.course.words import nice, spoken
from netlib.units import GiB, KiB

ALGORITHMS = {"Ring": "ring", "Tree": "tree", "switch adds": "in-network"}
CLASS = {"Ring": 0, "Tree": 1, "NVLS": 2, "NVLSTree": 2, "LL": 0, "LL128": 1, "Simple": 2}
PROTOCOLS = {"LL": "latency", "LL128": "nic", "Simple": "nvlink"}
SIZES = np.geomspace(KiB, 16 * GiB, 73)  # a third of a doubling
NODES = 2.0 ** np.arange(11)
VERSIONS = ("2.4.8", "2.7.8", "2.12.12", "2.18.5", "2.20.5", "2.24.3", "2.27.7", "2.30.7")
MACHINES = ("dgx-a100", "dgx-h100", "dgx-b200")
OPS = ("all_reduce", "all_gather")


@cache
def _tuned(version: str, machine: str, op: str) -> Tuning:
    return tune(version, named(machine, NODES, version=version), op)


@cache
def _map(version: str, machine: str, op: str) -> Array:
    """(2, nodes, sizes) numbers of the algorithm and of the protocol."""
    names = _tuned(version, machine, op).choose(SIZES[:, None]).name.T
    pairs = [[CLASS[word] for word in name.split("/")] for name in names.ravel()]
    return np.array(pairs, float).T.reshape(2, *names.shape)


@explorer(
    "nccl-choice",
    title="NCCL decides",
    caption="What NCCL's tuner takes, by the constants in its source. Nodes of eight GPUs with one card for each; the "
    "channels are those of NCCL's logs on one node and assumed between nodes. Above who wins, below with which "
    "protocol. Where the NVSwitch adds, NCCL says NVLS on one node and, where a tree joins the nodes, NVLSTree.",
    alt="Two maps of message size, 1 KiB to 16 GiB, against 1 to 1,024 nodes. In the upper one trees fill the upper "
    "left, rings the lower right, the adding switch the bottom row; in the lower one protocols change from left to "
    "right.",
)
def nccl_choice(
    version: Annotated[Array, Knob(*VERSIONS, default="2.30.7", label="NCCL")],
    machine: Annotated[Array, Knob(*MACHINES, default="dgx-h100", label="nodes of type")],
    op: Annotated[Array, Knob(*OPS, label="collective")],
) -> Figure:
    """Numbers of algorithms and protocols over sizes and nodes."""
    maps = each(lambda v, m, o: _map(v, m, o).ravel(), version, machine, op)
    maps = maps.reshape(*maps.shape[:-1], 2, NODES.size, SIZES.size)
    nodes = Axis("nodes", "", "log")
    who, how = Axis("algorithm", categories=tuple(ALGORITHMS)), Axis("protocol", categories=tuple(PROTOCOLS))
    return Figure(
        x=Axis("message size", "iB", "log"),
        y=nodes,
        elements=(Heat("algorithm", SIZES, NODES, maps[..., 0, :, :], who, tuple(ALGORITHMS.values())),),
        below=Panel(nodes, (Heat("protocol", SIZES, NODES, maps[..., 1, :, :], how, tuple(PROTOCOLS.values())),)),
        reading=_reading,
        failure=_failure,
    )


@cache
def _told(version: str, machine: str, op: str, nodes: int) -> str:
    found = spans(tune(version, named(machine, nodes, version=version), op), KiB, 16 * GiB)
    parts = [f"{each.name} to {nice(each.end, 'iB', short=True)}" for each in found[:-1]]
    return ", ".join([*parts, f"then {found[-1].name}" if parts else f"{found[-1].name} at every size"])


def _reading(s: Mapping[str, Any]) -> str:
    one, many = (_told(s["version"], s["machine"], s["op"], nodes) for nodes in (1, 16))
    return f"NCCL {s['version']}, {spoken(s['op'])}. One node: {one}. Sixteen nodes: {many}."


def _failure(s: Mapping[str, Any]) -> str:
    key = edition(s["version"]).key
    gpu = {"dgx-a100": "Ampere", "dgx-h100": "Hopper", "dgx-b200": "Blackwell"}[s["machine"]]
    if key < {"Ampere": (2, 7), "Hopper": (2, 18), "Blackwell": (2, 25)}[gpu]:
        return f"NCCL {s['version']} is older than {gpu}: it plans as for an older GPU."
    return ""
