"""The model's answer for a set-up: closed forms of `netlib.collectives` at achieved rates, plus fitted floors.

Holds for NVIDIA nodes with NVSwitch and one scale-up domain per node. Known to fail (and shown failing) for racks of
72 joined to other racks, for small messages on EFA, and wherever congestion or jitter rules. Rows about fabrics go to
`models_topology`, rows with a scenario of congestion to `models_congestion`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from netlib import collectives as c
from netlib.fidelity.models_congestion import predict_congestion
from netlib.fidelity.models_topology import predict_topology
from netlib.fidelity.prediction import Prediction, Unanswerable
from netlib.fidelity.rates import (
    BOUNDED_FROM,
    FULL_CHUNKS,
    NIC_SHARE,
    NVLS_RANKS,
    NVLSTREE_FROM,
    PLAIN_TREE_SHARE,
    PORTS,
    Generation,
)
from netlib.fidelity.setup import Setup, read_setup
from netlib.fidelity.tokens import counted
from netlib.links import Link

NIC = ("network card", "one transfer")
COPY = ("unidir_bw", "one domain")
LONGEST = 2_000
"""Characters of a cell: its words are searched for, which takes the square of their number."""


@dataclass(frozen=True)
class Constants:
    """All fitted constants, in seconds (and seconds per square root of a byte for the `root` terms)."""

    launch: Mapping[str, float]
    queued: Mapping[str, float]
    launch_root: Mapping[str, float]
    tree_level: float
    tree_root: float
    ring_step: float
    moe_floor: float


def predict(row: Mapping[str, str], fitted: Constants) -> Prediction:
    """The model's value for a row's metric. Raises Unanswerable with the reason when no model covers it."""
    for name, cell in row.items():
        if name not in ("note", "source_title", "source_locator") and len(cell or "") > LONGEST:
            raise Unanswerable(f"{name} has {len(cell):,} characters; up to {LONGEST:,} are read")
    metric, collective = (row.get("metric") or "").strip(), (row.get("collective") or "").strip()
    if scenario := (row.get("scenario") or "").strip():
        if "ECMP" in scenario:  # hashed flows are a fabric's, whoever asks
            return predict_topology({"topology": f"{scenario}: {row.get('params') or ''}", "metric": metric})
        return predict_congestion(row)
    if metric in ("busbw", "algbw"):
        setup = read_setup(row)
        if setup.collective not in c.OPS:
            raise Unanswerable(f"{collective[:30]!r} is not a collective that these models cover")
        time, note = collective_time(setup, fitted)
        rate = c.busbw(setup.size, time, setup.ranks, setup.collective)
        if metric == "algbw":
            rate = c.algbw(setup.size, time)
        return Prediction(float(rate) / 1e9, "GB/s", note)
    if copied := re.fullmatch(r"(uni|bi)dir(?:ectional)?[_ ](?:bw|bandwidth)", metric, re.IGNORECASE):
        setup = read_setup({**row, "message_bytes": "peak"})
        if setup.domains > 1:
            raise Unanswerable("a copy between two nodes is no NVLink copy")
        if re.search(r"\bPCIe?\b", " ".join(row.get(name) or "" for name in ("gpu", "topology", "system"))):
            raise Unanswerable("a copy over PCIe is no NVLink copy")
        ways = 2 if copied[1].lower() == "bi" else 1
        return Prediction(ways * nvlink(setup) / 1e9, "GB/s", "NVLinks x NCCL's speed per link", COPY)
    if metric == "latency" and collective.startswith("moe_"):
        setup = read_setup(row)
        return Prediction(
            (moe_wire_time(setup) + fitted.moe_floor) * 1e6, "us", "slower of NVLink and NIC share + floor"
        )
    if metric in ("bytes", "rate") and collective.startswith("moe_"):
        return counted(row)
    if metric == "logical bw" and collective.startswith("moe_"):
        setup = read_setup({**row, "message_bytes": "peak"})
        return Prediction(setup.size / moe_wire_time(setup) / 1e9, "GB/s", "all-to-all, the NIC's share outside")
    if metric in ("throughput", "bandwidth") and collective == "p2p":
        setup = read_setup(_card(row) | {"message_bytes": "peak"})
        return Prediction(nic_rate(replace(setup, nics=1)) / 1e9, "GB/s", "0.96 of the port's line rate", NIC)
    if collective.strip("-"):
        raise Unanswerable(f"no model of this chapter answers {metric[:40] or 'an empty metric'!r}")
    return predict_topology(row)


def _card(row: Mapping[str, str]) -> dict[str, str]:
    """A row about one card between two nodes, with the card's rate read from its text where no column has it."""
    filled = dict(row)
    if not (row.get("nic_gbps") or "").strip():
        text = f"{row.get('system') or ''} {row.get('topology') or ''}"
        printed = re.search(r"\b(\d{2,4}) ?G(?:b(?:ps|/s|E|it/s)?|E)?\b", text)
        named = next((rate for name, rate in PORTS.items() if re.search(rf"\b{name}\b", text)), None)
        if printed or named:
            filled["nic_gbps"] = printed[1] if printed else f"{named}"
    if (filled.get("nic_gbps") or "").strip():
        for column, least in (("nodes", "2"), ("ranks", "2"), ("nics_per_node", "1")):
            filled[column] = (row.get(column) or "").strip() or least
    return filled


def collective_time(s: Setup, fitted: Constants) -> tuple[float, str]:
    """Seconds for one collective, and the algorithm taken: the fastest that the row's algorithm column allows."""
    name = chip_of(s).name if s.chip else "Hopper"
    floor = fitted.launch.get(name, fitted.launch["Ampere"])
    if s.queued:
        floor = fitted.queued.get(name, floor)
    root = fitted.launch_root.get(name, fitted.launch_root["Ampere"])
    if s.collective == "alltoall":
        return floor + root * np.sqrt(s.size) + all_to_all_wire_time(s), "pairwise, slower of NVLink and NIC"
    if s.domains == 1:
        wire, algorithm = scale_up_time(s)
        return floor + root * np.sqrt(s.size) + wire, f"{algorithm} in one domain"
    ring = floor + ring_steps(s) * fitted.ring_step + ring_wire_time(s)
    if _forced_ring(s):
        return ring, "multi-rail ring"
    depth = np.log2(s.domains)
    wire, algorithm = tree_wire_time(s)
    tree = floor + fitted.tree_level * depth + fitted.tree_root * fill(s) + wire
    if "ree" in s.algorithm or "SHARP" in s.algorithm or tree <= ring:
        return tree, algorithm
    return ring, "multi-rail ring"


def fill(s: Setup) -> float:
    """Square root of levels x bytes that fill a tree's pipeline: those of the message, until its chunks are full.

    Chunks are full from 64 MiB for each rank on the way up: the others of a node, then one for each level of nodes. For
    two or three nodes and for racks no bound is known.
    """
    levels = float(np.log2(s.domains))
    full = FULL_CHUNKS * (s.domain - 1 + levels) if s.domains >= BOUNDED_FROM and s.domain <= 8 else np.inf
    return float(np.sqrt(levels * min(s.size, full)))


def ring_steps(s: Setup) -> float:
    """Serial steps of a ring: 2(n-1) for all-reduce, n-1 for its halves and for the others."""
    return (2.0 if s.collective == "all_reduce" else 1.0) * (s.ranks - 1)


def ring_wire_time(s: Setup) -> float:
    """Seconds that the slowest link of the multi-rail rings is busy."""
    rate = min(nic_rate(s), nvlink(s)) if s.chip else nic_rate(s)
    return float(c.time_at_busbw(s.size, rate, s.ranks, s.collective))


def scale_up_time(s: Setup) -> tuple[float, str]:
    """Wire seconds inside one domain, by ring or (where the generation has it) by the adding switch."""
    chip, rate = chip_of(s), nvlink(s)
    ring = float(c.time_at_busbw(s.size, rate, min(s.ranks, s.domain), s.collective))
    few = min(s.ranks, s.domain) < NVLS_RANKS
    if chip.nvls_share is None or few or s.collective != "all_reduce" or _forced_ring(s):
        return ring, "ring"
    nvls = float(c.nvls_allreduce_time(s.size, min(s.ranks, s.domain), Link(0.0, chip.nvls_share * rate)))
    forced = s.algorithm == "NVLS"
    return (nvls, "NVLS") if forced or nvls < ring else (ring, "ring")


def tree_wire_time(s: Setup) -> tuple[float, str]:
    """Wire seconds of a double binary tree of domains: the slower of the busiest domain's NICs and the inside.

    The busiest of k domains passes `size` bytes each way for k = 2, 1.5 size for 3, 2 size from 4 on; with adding
    switches in the network (SHARP) `size` for any k.
    """
    passes = {2: 1.0, 3: 1.5}.get(s.domains, 2.0)
    if "SHARP" in s.algorithm and "auto" not in s.algorithm:
        passes = 1.0
    inside, algorithm = scale_up_time(replace(s, algorithm="ring") if plain_tree(s) else s)
    across = passes * s.size / nic_rate(s)
    if algorithm == "ring":
        across /= PLAIN_TREE_SHARE
    return max(inside, across), "NVLS in the domain, tree across" if algorithm == "NVLS" else "double binary tree"


def plain_tree(s: Setup) -> bool:
    """Left to itself on four nodes of Hopper or more, an older NCCL takes no NVLSTree."""
    forced = s.algorithm.startswith("NVLS") or "SHARP" in s.algorithm
    older = bool(s.version) and s.version < NVLSTREE_FROM
    return older and s.domains > 3 and chip_of(s).name == "Hopper" and not forced


def all_to_all_wire_time(s: Setup) -> float:
    """Wire seconds of an all-to-all: the slower of the share that stays inside and the share that leaves."""
    outside = float(c.outside_share(s.ranks, s.domain))
    inside = max(0.0, 1 - outside - 1 / s.ranks)
    times = [inside * s.size / nvlink(s)] if s.chip else []
    if outside:
        times.append(outside * s.size * s.domain / nic_rate(s))
    return max(times)


def moe_wire_time(s: Setup) -> float:
    """Wire seconds of one expert-parallel dispatch or combine of `size` bytes per rank."""
    outside = float(c.outside_share(s.ranks, s.per_node))
    inside = (1 - outside) * s.size / nvlink(s)
    return max(inside, outside * s.size * s.per_node / nic_rate(s)) if outside else inside


def nvlink(s: Setup) -> float:
    """Achieved scale-up bytes/s of one rank, one way, or the reason why it is not known."""
    chip_of(s)
    return s.nvlink


def nic_rate(s: Setup) -> float:
    """Achieved bytes/s through all NICs of one domain, one way."""
    if not (s.nics and s.nic):
        raise Unanswerable("NICs per node and their rate are not stated")
    return s.nics * s.nic * NIC_SHARE * s.domain / s.per_node


def chip_of(s: Setup) -> Generation:
    """The NVLink generation, or the reason why there is no answer."""
    if s.chip is None:
        raise Unanswerable("the GPU, so its scale-up link, is not stated")
    return s.chip


def _forced_ring(s: Setup) -> bool:
    """A ring was asked for, or EFA's tuner chose: past two nodes its published logs show Ring."""
    word = s.algorithm.lower()
    asked = "ring" in word and "auto" not in word and "tree" not in word
    return asked or (s.collective != "all_reduce") or ("ofi" in word and s.domains > 2)
