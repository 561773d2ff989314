"""A published row's set-up: what was measured, on what. Reads the set-up columns only, never value, note or source."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from netlib.fidelity.prediction import Unanswerable
from netlib.fidelity.rates import Generation, generation
from netlib.units import gbps

COLLECTIVES = {"ring collectives": "all_reduce"}
_KNOWN = re.compile("auto|ring|tree|nvls|sharp|p2p|copy|rdma|v2", re.IGNORECASE)
_BLANK = ("", "-", "n/a", "not stated")
PEAK = 1e15  # bytes: a "peak" row is the limit of large messages


@dataclass(frozen=True)
class Setup:
    """One measurement's set-up. Bandwidths in bytes/s one way; `size` in bytes.

    `domain` is the number of ranks that share a scale-up fabric, `nvlink` what one GPU's links achieve (0 if the GPU is
    not stated), `nics` and `nic` the NICs of one node and the line rate of each. `version` is NCCL's, () if not stated;
    `queued` calls do not wait for the one before.
    """

    collective: str
    algorithm: str
    chip: Generation | None
    nvlink: float
    domain: int
    per_node: int
    nodes: int
    nics: int
    nic: float
    ranks: int
    size: float
    version: tuple[int, ...] = ()
    queued: bool = False

    @property
    def domains(self) -> int:
        """Scale-up domains in use: 1 when nothing crosses a NIC."""
        return -(-self.ranks // self.domain)


def read_setup(row: Mapping[str, str]) -> Setup:
    """The set-up of a row of the published table's columns. Raises Unanswerable with the reason.

    >>> row = dict(gpu="H100", nodes="2", gpus_per_node="8", nics_per_node="8", nic_gbps="400", ranks="16")
    >>> setup = read_setup(row | dict(message_bytes="peak", collective="all_reduce", algorithm="ring"))
    >>> setup.domains, setup.nics * setup.nic / 1e9
    (2, 400.0)
    """
    gpu = (row.get("gpu") or "").strip()
    chip = generation(gpu)
    if gpu and chip is None:
        raise Unanswerable(f"no link speeds known for the GPU {gpu[:30]!r}")
    where = f"{row.get('system') or ''} {row.get('topology') or ''}"
    rack = re.search(r"NVL(\d+)", where)
    per_node = _whole(row, "gpus_per_node") or (4 if gpu.upper().startswith("GB") else 8)
    nodes, ranks = _whole(row, "nodes"), _whole(row, "ranks")
    domain = max(int(rack[1]), per_node) if rack else per_node
    if ranks is None:
        if nodes is None:
            raise Unanswerable("neither ranks nor nodes are stated")
        ranks = nodes * per_node
    nics, line = _whole(row, "nics_per_node"), _number(row, "nic_gbps")
    if printed := re.search(r"(\d+)x(\d+)G\b", where):
        nics, line = nics or int(printed[1]), line or float(printed[2])
    algorithm = (row.get("algorithm") or "").strip()
    if algorithm and not _KNOWN.search(algorithm):
        raise Unanswerable(f"{algorithm[:30]!r} is not an algorithm that these models cover")
    collective = (row.get("collective") or "").strip()
    return Setup(
        collective=COLLECTIVES.get(collective, collective),
        algorithm=algorithm,
        chip=chip,
        nvlink=_scale_up(chip, _number(row, "scaleup_GBps_per_dir")),
        domain=domain,
        per_node=per_node,
        nodes=nodes or -(-ranks // per_node),
        nics=nics or 0,
        nic=gbps(line) if line else 0.0,
        ranks=ranks,
        size=_size(row),
        version=_version(where),
        queued="queued" in where,
    )


def _version(text: str) -> tuple[int, ...]:
    """NCCL's version where the text names it: "NCCL 2.27.7", or "NCCL 2.23 or older"."""
    found = re.search(r"\bNCCL v?(2\.\d+(?:\.\d+)?)\b", text)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def _scale_up(chip: Generation | None, stated: float | None) -> float:
    """Achieved bytes/s of one GPU. A stated rate that is no whole number of links was measured: it stands as it is."""
    if chip is None:
        return 0.0
    links = chip.links if stated is None else stated * 1e9 / chip.nominal
    return links * chip.planned if links == int(links) else links * chip.nominal


def _size(row: Mapping[str, str]) -> float:
    text = (row.get("message_bytes") or "").strip().lower()
    if text in ("peak", "large"):
        return PEAK
    size = _number(row, "message_bytes")
    if size is None:
        raise Unanswerable("the message size is not stated")
    return size


def _number(row: Mapping[str, str], column: str) -> float | None:
    """The number in a column, None where it is blank; a number that is none is a reason, not a blank."""
    text = (row.get(column) or "").replace(",", "").strip()
    if text.lower() in _BLANK or (text == "0" and column.startswith("nic")):  # no NIC is as good as none stated
        return None
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number < 1e18:
        raise Unanswerable(f"{column} {text[:30]!r} is no number above 0")
    return number


def _whole(row: Mapping[str, str], column: str) -> int | None:
    """A count; ">2" nodes is taken as twice the bound, since rings and trees of more than two nodes have one limit."""
    text = (row.get(column) or "").strip()
    if text.startswith(">"):
        return 2 * (_whole({column: text[1:]}, column) or 1)
    number = _number(row, column)
    if number is not None and number != int(number):
        raise Unanswerable(f"{column} {text[:30]!r} is no whole number")
    return None if number is None else int(number)
