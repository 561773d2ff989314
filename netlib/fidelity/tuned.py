"""The second model: what NCCL itself plans, by version. Nothing in it was fitted.

`netlib.collectives.nccl` rebuilds NCCL's tuner: latency and bandwidth of each algorithm and protocol, and the choice. A
row is turned into a node type whose channels are known, the row's version (2.27.7 where none is stated, the version of
the logs that print a choice) and the variables that its algorithm column stands for. Other machines get a reason.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache

from netlib import collectives as c
from netlib.collectives.nccl import Choice, Cluster, Tuning, named, tune
from netlib.fidelity.models import nic_rate
from netlib.fidelity.prediction import Prediction, Unanswerable
from netlib.fidelity.setup import Setup, read_setup

UNSTATED = "2.27.7"
OPS = ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce")
NODES = {"Ampere": "dgx-a100", "Hopper": "dgx-h100", "Blackwell": "dgx-b200"}
CLOUD = {"Hopper": "p5", "Blackwell": "p6-b200"}  # the same with other CPUs
BETWEEN = {"Ampere": 8 * 24e9, "Hopper": 8 * 48e9, "Blackwell": 8 * 48e9}  # bytes/s that those nodes have outside


def planned(row: Mapping[str, str]) -> Prediction:
    """The busbw (or algbw) that NCCL expects of its own choice. Raises Unanswerable with the reason.

    >>> row = dict(gpu="H200", nodes="1", gpus_per_node="8", ranks="8", system="H200, NCCL 2.27.7", algorithm="auto")
    >>> row |= dict(collective="all_reduce", message_bytes=str(2**30), metric="busbw")
    >>> round(planned(row).value), planned(row).note
    (464, 'NVLS/Simple in NCCL 2.27.7')
    """
    setup = read_setup(row)
    choice, version = _choice(row, setup)
    rate = c.busbw(setup.size, float(choice.seconds), setup.ranks, setup.collective)
    if (row.get("metric") or "").strip() == "algbw":
        rate = c.algbw(setup.size, float(choice.seconds))
    return Prediction(float(rate) / 1e9, "GB/s", f"{choice.name} in NCCL {version}")


def chosen(row: Mapping[str, str]) -> str:
    """The algorithm and protocol that NCCL chooses for a row's set-up, such as "Ring/LL"; Unanswerable if unknown."""
    return str(_choice(row, read_setup(row))[0].name)


def same(choice: str, seen: str) -> bool:
    """Is this the choice that was seen? What was seen may leave the protocol out.

    >>> same("NVLS/Simple", "NVLS"), same("NVLS/Simple", "ring"), same("Ring/LL", "ring/LL128")
    (True, False, False)
    """
    want, have = seen.strip().lower().split("/"), choice.lower().split("/")
    return have[: len(want)] == want


def _choice(row: Mapping[str, str], s: Setup) -> tuple[Choice, str]:
    """What is chosen, and NCCL's version."""
    if s.collective not in OPS:
        raise Unanswerable(f"NCCL has no tuner for {s.collective[:30]!r}")
    version = ".".join(map(str, s.version)) or UNSTATED
    machine = _machine(s, f"{row.get('system') or ''} {row.get('topology') or ''}")
    try:
        tuning = _tuned(machine, s.nodes, min(s.ranks, s.per_node), version, s.collective, s.algorithm)
        return tuning.choose(s.size), version
    except ValueError as reason:  # a version that nobody has, a variable that leaves nothing
        raise Unanswerable(str(reason)) from None


def _machine(s: Setup, where: str) -> str:
    """The node type whose channels are known and that this set-up is."""
    if s.chip is None or s.chip.name not in NODES:
        raise Unanswerable("NCCL's channels are known for nodes of A100, H100, H200 and B200 only")
    full = s.nvlink == s.chip.links * s.chip.planned
    if s.domain > 8 or not full or (s.domains > 1 and (s.per_node != 8 or s.ranks != 8 * s.nodes)):
        raise Unanswerable("NCCL's channels are not known for such a node")
    if s.domains > 1 and abs(nic_rate(s) / BETWEEN[s.chip.name] - 1) > 0.01:
        raise Unanswerable("NCCL's channels are not known for such network cards")
    cloud = re.search(r"EFA|\bp[56]", where)
    return CLOUD.get(s.chip.name, NODES[s.chip.name]) if cloud else NODES[s.chip.name]


@cache
def _tuned(machine: str, nodes: int, per_node: int, version: str, op: str, algorithm: str) -> Tuning:
    cluster: Cluster = named(machine, nodes if nodes * per_node > 8 else 1, per_node, version)
    if "SHARP" in algorithm and "auto" not in algorithm:
        cluster = replace(cluster, collnet_enabled=True)
    return tune(version, cluster, op, variables=_variables(algorithm))


def _variables(algorithm: str) -> dict[str, str]:
    """The environment variables that an algorithm column stands for; none where NCCL was left to itself."""
    word = algorithm.lower()
    if "enable=0" in word:
        return {"NCCL_NVLS_ENABLE": "0"}
    if "auto" in word or "sharp" in word or "available" in word:
        return {}
    forced = next((name for name in ("NVLSTree", "NVLS", "Tree", "Ring") if name.lower() in word), "")
    return {"NCCL_ALGO": forced} if forced else {}
