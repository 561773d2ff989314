"""Where trees end, by version of NCCL: a rule of thumb has a date."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives.nccl import Channels, Cluster, edition, last_size, named, tune
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points
from netlib.course.words import nice
from netlib.units import GiB, KiB

NODES = 2.0 ** np.arange(1, 11)
VERSIONS = ("2.4.8", "2.7.8", "2.12.12", "2.18.5", "2.20.3", "2.20.5", "2.24.3", "2.27.7", "2.28.3", "2.28.9", "2.30.7")
AMONG = ("rings and trees", "all algorithms")
MACHINES = ("dgx-a100", "dgx-h100", "dgx-b200", "16 channels of 24 GB/s")
NEWEST = VERSIONS[-1]


@cache
def _ends(version: str, machine: str, among: str) -> Array:
    """Bytes up to which trees are taken, by nodes; inf where they are always, 0 where never."""
    if machine == MACHINES[-1]:
        cluster = Cluster("Hopper", NODES, 8, Channels(16, 24e9, 24e9))
    else:
        cluster = named(machine, NODES, version=version)
    hidden = {"NCCL_ALGO": "Ring,Tree"} if among == AMONG[0] else {}
    return last_size(tune(version, cluster, variables=hidden), "Tree")


@explorer(
    "nccl-versions",
    title="A threshold with a date",
    caption="The largest all-reduce for which NCCL's tuner takes a tree, on nodes of eight GPUs. 2.4 had a formula of "
    "four constants, 2.5 brought the table and the corrections, 2.18 Hopper, 2.28 new speeds for the adding switch "
    "between nodes. Among all algorithms those speeds leave trees on Hopper the small messages only.",
    alt="On log axes the size at which trees end rises with 2 to 1,024 nodes, from a few MiB to many GiB. The curve of "
    "the chosen version lies above, below or on a dashed one for the newest, and marks show every version.",
)
def nccl_versions(
    version: Annotated[Array, Knob(*VERSIONS, default="2.4.8", label="NCCL")],
    machine: Annotated[Array, Knob(*MACHINES, default="dgx-h100", label="nodes")],
    among: Annotated[Array, Knob(*AMONG)],
) -> Figure:
    """The end of trees by nodes for one version and the newest, and all versions at 128 nodes."""
    ends = each(lambda v, m, a: _ends(v, m, a), version, machine, among)
    newest = each(lambda m, a: _ends(NEWEST, m, a), *np.broadcast_arrays(machine, among))
    newest = np.broadcast_to(newest, np.broadcast_shapes(newest.shape, ends.shape))
    at = {nodes: int(np.flatnonzero(nodes == NODES)[0]) for nodes in (2.0, 16.0, 128.0)}
    every = each(lambda m, a: [_ends(v, m, a)[at[128]] for v in VERSIONS], *np.broadcast_arrays(machine, among))
    every = np.broadcast_to(every, (*ends.shape[:-1], len(VERSIONS)))
    return Figure(
        x=Axis("nodes of eight GPUs", "", "log"),
        y=Axis("trees up to", "iB", "log", limits=(16 * KiB, 2048 * GiB)),
        elements=(
            Line(f"NCCL {NEWEST}", NODES, _drawn(newest), "bound"),
            Line("chosen version", NODES, _drawn(ends), "tree"),
            Points("every version, 128 nodes", np.full(len(VERSIONS), 128.0), _drawn(every), "measured", _notes()),
        ),
        numbers={
            "two": Number(ends[..., [at[2]]], "iB", "trees end on 2 nodes"),
            "sixteen": Number(ends[..., [at[16]]], "iB", "trees end on 16 nodes"),
            "many": Number(ends[..., [at[128]]], "iB", "trees end on 128 nodes"),
            "moved": Number(ends[..., [at[128]]] / newest[..., [at[128]]], "times", "of the newest, on 128 nodes"),
        },
        reading=_reading,
        failure=_failure,
    )


def _drawn(size: Array) -> Array:
    return np.where(np.isfinite(size) & (size > 0), size, np.nan)


def _reading(s: Mapping[str, Any]) -> str:
    sixteen, many = (nice(s[name], "iB") for name in ("sixteen", "many"))
    beside = "" if s["version"] == NEWEST else f", {s['moved']:.2g} times the size of {NEWEST}"
    return f"NCCL {s['version']} takes trees up to {sixteen} on 16 nodes and up to {many} on 128{beside}."


def _failure(s: Mapping[str, Any]) -> str:
    gpu = {"dgx-a100": "Ampere", "dgx-b200": "Blackwell"}.get(s["machine"], "Hopper")
    if edition(s["version"]).key < {"Ampere": (2, 7), "Hopper": (2, 18), "Blackwell": (2, 25)}[gpu]:
        always = " On two nodes it takes trees at every size." if np.isinf(s["two"]) else ""
        return f"NCCL {s['version']} is older than {gpu}: it plans as for an older GPU.{always}"
    return ""


def _notes() -> tuple[str, ...]:
    return tuple(f"NCCL {version}" for version in VERSIONS)
