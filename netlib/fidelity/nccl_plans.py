"""NCCL's plans beside published logs: what its tuner expects and chooses, for prose, figures and exercises.

A plan is a sum of constants from NCCL's source for a stated machine and version. A log is what such a machine did. The
functions here return one number or one name, so that a page can print it. Nothing is fitted.
Read with the chapter "Collectives", section "NCCL decides".
"""

from collections.abc import Mapping
from functools import cache

import numpy as np

from netlib.arguments import Floats, declared
from netlib.collectives import busbw
from netlib.collectives.nccl import Channels, Cluster, Tuning, last_size, lint_nccl_env, named, spans, tune
from netlib.collectives.nccl import nvls_channels as nvls_channels  # a page may call it
from netlib.fidelity.cite import log, measured_time
from netlib.fidelity.rows import published_rows
from netlib.names import nearest

# published table -> node type, nodes, version of NCCL (the table's own words, or those of the page that it stands on)
LOGS: Mapping[str, tuple[str, int, str]] = {
    "AZA100": ("dgx-a100", 1, "2.18.5"),
    "AZH100": ("dgx-h100", 1, "2.18.5"),
    "AZH200": ("dgx-h200", 1, "2.20.5"),
    "H200x8": ("dgx-h200", 1, "2.27.7"),
    "H200x8q": ("dgx-h200", 1, "2.30.7"),
    "B200x8": ("p6-b200", 1, "2.27.7"),
    "B200x8q": ("p6-b200", 1, "2.30.7"),
    "B200x32": ("p6-b200", 4, "2.27.7"),
    "B200x32q": ("p6-b200", 4, "2.30.7"),
}
PICKED = "auto picked "


@declared
def plain_pod(gpus: int, channels: int = 16, cpu: str = "Intel", plain_tree: bool = False) -> Cluster:
    """H100 nodes of eight with 16 channels of 24 GB/s inside and between nodes, and rings and trees only.

    It has no switch that adds and no CollNet, LL128 is allowed, and the NIC reports no latency.

    >>> plain_pod(1024).ranks.tolist()
    1024.0
    """
    if gpus % 8 or gpus < 8:
        raise ValueError(f"gpus = {gpus} must be whole nodes of eight; give 8, 16, 24 ...")
    rings = Channels(channels, 24e9, 24e9)
    return Cluster("Hopper", gpus // 8, 8, rings, cpu=cpu, plain_tree=plain_tree)


@declared
def tree_ends(
    gpus: int, version: str = "2.30.7", channels: int = 16, cpu: str = "Intel", plain_tree: bool = False
) -> float:
    """Bytes up to which NCCL takes trees for an all-reduce on a plain pod; beyond them, rings.

    >>> [round(tree_ends(gpus) / 2**20, 1) for gpus in (16, 1024)]
    [18.2, 27611.0]
    """
    return _tree_ends(gpus, version, channels, cpu, plain_tree)


@declared
def rings_first(gpus: int, version: str = "2.30.7") -> tuple[float, float]:
    """Bytes from which and up to which a plain pod takes a ring for the first time; trees may come back after it.

    >>> [round(size / 2**20) for size in rings_first(64)]
    [410, 512]
    """
    found = spans(tune(version, plain_pod(gpus)))
    first = next(place for place, each in enumerate(found) if each.name.startswith("Ring"))
    last = next((place for place in range(first, len(found)) if not found[place].name.startswith("Ring")), len(found))
    return found[first].start, found[last - 1].end


@declared
def planned(
    size: float,
    machine: str = "dgx-h100",
    nodes: int = 1,
    version: str = "2.30.7",
    name: str = "",
    setting: str = "",
    per_node: int = 8,
) -> float:
    """Seconds that NCCL expects of an all-reduce; of its own choice unless `name` says of what.

    `setting` is a line such as "NCCL_ALGO=Ring".

    >>> round(planned(2**20) * 1e6, 1), round(planned(2**20, name="NVLS/Simple") * 1e6, 1)
    (28.0, 28.9)
    """
    tuning = _tuned(machine, nodes, version, setting, per_node)
    return float(tuning.time(name, size) if name else tuning.choose(size).seconds)


@declared
def chosen(
    size: float,
    machine: str = "dgx-h100",
    nodes: int = 1,
    version: str = "2.30.7",
    setting: str = "",
    per_node: int = 8,
) -> str:
    """What NCCL takes for an all-reduce: "Ring/LL" and the like.

    >>> chosen(2**20), chosen(2**21), chosen(2**28, nodes=128)
    ('Ring/LL', 'NVLS/Simple', 'Tree/LL128')
    """
    return str(_tuned(machine, nodes, version, setting, per_node).choose(size).name)


@declared
def planned_busbw(
    size: float,
    machine: str = "dgx-h100",
    nodes: int = 1,
    version: str = "2.30.7",
    name: str = "",
    setting: str = "",
    per_node: int = 8,
) -> float:
    """The busbw in bytes/s that a log would print if the plan came true.

    >>> round(planned_busbw(2**34, "p6-b200", 4, name="Ring/Simple") / 1e9)
    382
    """
    seconds = planned(size, machine, nodes, version, name, setting, per_node)
    return float(busbw(size, seconds, nodes * per_node))


@declared
def plain_price(setting: str, gpus: int, size: float, version: str = "2.30.7") -> float:
    """How many times as long an all-reduce on a plain pod is planned with a line such as "NCCL_ALGO=Ring".

    >>> round(plain_price("NCCL_ALGO=Ring", 1024, 2**28), 2)
    3.36
    """
    free = tune(version, plain_pod(gpus)).choose(size).seconds
    forced = tune(version, plain_pod(gpus), variables=_line(setting)).choose(size).seconds
    return float(forced / free)


@declared
def verdict(setting: str, version: str = "2.30.7") -> str:
    """The lint's one word on a line such as "NCCL_IB_RETRY_CNT=7", for 128 DGX H100.

    >>> verdict("NCCL_IB_RETRY_CNT=7"), verdict("NCCL_ALGO=Ring")
    ('no-op', 'harmful')
    """
    return lint_nccl_env(_line(setting), version)[0].verdict


@declared
def seen_choices() -> int:
    """How many published rows of one node say what NCCL chose, without being told to."""
    return len(_seen())


@declared
def same_choices(version: str = "2.27.7") -> int:
    """How many of them the constants of a version choose too; the logs are of 2.27.7.

    >>> same_choices() == seen_choices()
    True
    """
    return sum(
        chosen(size, machine, 1, version, per_node=ranks).lower().startswith(name)
        for machine, ranks, size, name in _seen()
    )


@declared
def plan_error(id: str, version: str = "", name: str = "") -> float:
    """The plan's busbw over a published one, minus one: positive where NCCL expects too much.

    >>> round(plan_error("NVLS-007"), 2), round(plan_error("H200x8-020"), 2)
    (-0.13, -0.03)
    """
    row = next((each for each in published_rows() if each["id"] == id), None)
    if row is None or row["id"].rpartition("-")[0] not in (*LOGS, "NVLS"):
        raise ValueError(f"id = {id[:40]!r} is no row of {', '.join(LOGS)} or NVLS")
    prefix, ranks, size = id.rpartition("-")[0], int(row["ranks"]), float(row["message_bytes"])
    machine, nodes, own = LOGS.get(prefix, (f"dgx-{row['gpu'].lower()}", 1, "2.27.7"))
    off = "NCCL_NVLS_ENABLE=0" if "NVLS_ENABLE=0" in row["algorithm"] else ""
    seconds = planned(size, machine, nodes, version or own, name, off, ranks // nodes)
    return measured_time(id) / seconds - 1


@declared
def log_errors(prefix: str, version: str = "") -> tuple[Floats, Floats]:
    """Sizes of one published table, and the plan's time over the measured one minus one.

    >>> size, error = log_errors("H200x8")
    >>> len(size), round(float(error[-1]), 2)
    (20, 0.03)
    """
    if prefix not in LOGS:
        raise ValueError(f"prefix = {prefix[:40]!r} is no table with a known version; {nearest(prefix, LOGS)}")
    machine, nodes, own = LOGS[prefix]
    _, size, time = log(prefix)
    seconds = _tuned(machine, nodes, version or own, "", 8).choose(size).seconds
    return size, np.asarray(seconds / time - 1)


@declared
def plan_shortfalls(least: float, most: float) -> tuple[float, float]:
    """By which share of a log its plan is too short, at least and at most, over all rows of those sizes in `LOGS`.

    >>> [round(share, 2) for share in plan_shortfalls(2 * 2**20, 32 * 2**20)]
    [0.17, 0.78]
    """
    found = []
    for prefix in LOGS:
        size, error = log_errors(prefix)
        found += (-error[(size >= least) & (size <= most)]).tolist()
    if not found:
        raise ValueError(f"least = {least:g} and most = {most:g} leave no row; the tables go from 1 KiB to 16 GiB")
    return min(found), max(found)


@cache
def _tree_ends(gpus: int, version: str, channels: int, cpu: str, plain_tree: bool) -> float:
    return float(last_size(tune(version, plain_pod(gpus, channels, cpu, plain_tree)), "Tree"))


@cache
def _tuned(machine: str, nodes: int, version: str, setting: str, per_node: int) -> Tuning:
    return tune(version, named(machine, nodes, per_node, version), variables=_line(setting))


@cache
def _seen() -> tuple[tuple[str, int, float, str], ...]:
    """(node type, ranks, bytes, start of the name in small letters) of every row that names NCCL's own choice."""
    found = []
    for row in published_rows():
        size = float(row["message_bytes"]) if row["message_bytes"].isdigit() else 0.0
        if row["id"].startswith("H200x8-"):
            found.append(("dgx-h200", 8, size, "ring/ll" if size <= 2**20 else "nvls/simple"))
        elif row["algorithm"].startswith(PICKED):
            picked = row["algorithm"].removeprefix(PICKED).lower()
            found.append((f"dgx-{row['gpu'].lower()}", int(row["ranks"]), size, f"{picked}/"))
    return tuple(found)


def _line(setting: str) -> dict[str, str]:
    name, equals, value = setting.partition("=")
    if setting and not equals:
        raise ValueError(f"setting = {setting[:60]!r} is no assignment; write NAME=value")
    return {name: value} if setting else {}
