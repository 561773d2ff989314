"""Tables: every constant of NCCL's cost model, by version, with the file it was read in.

`tables.csv` holds one row for each constant and range of versions; this module reads it once and hands out SI values.
NCCL changes its constants about twice a year and the source is the only place that says so. A version for which no
table was read is answered with the nearest earlier one, and the answer says that it did so.
Read with the chapter "Collectives", section "NCCL decides".
"""

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from netlib.arguments import Floats, declared

ALGORITHMS = ("Tree", "Ring", "CollNetDirect", "CollNetChain", "NVLS", "NVLSTree", "PAT")
PROTOCOLS = ("LL", "LL128", "Simple")
GPUS = ("Volta", "Ampere", "Hopper", "Blackwell")
HARDWARE = ("NVLink", "PCIe", "network")
SPAN = ("1", "2", "more")
# The combinations that have a kernel in some version, in the order of NCCL's own printout.
ROWS = (
    *(("Tree", "LL"), ("Tree", "LL128"), ("Tree", "Simple"), ("Ring", "LL"), ("Ring", "LL128"), ("Ring", "Simple")),
    *(("CollNetDirect", "Simple"), ("CollNetChain", "LL"), ("CollNetChain", "Simple")),
    *(("NVLS", "Simple"), ("NVLSTree", "Simple"), ("PAT", "Simple")),
)
_EXPONENT = {"us": "e-6", "GB/s": "e9", "GB/s per channel": "e9"}  # appended to the digits, so that nothing is rounded
_FACTOR = {"GiB/s": 2**30}


@dataclass(frozen=True)
class Row:
    """One constant: SI `value`, the versions it holds in, what it applies to ("" for everything), its source."""

    first: tuple[int, ...]
    last: tuple[int, ...]
    table: str
    hardware: str
    algorithm: str
    protocol: str
    gpu: str
    nodes: str
    value: float
    source: str


@dataclass(frozen=True)
class Edition:
    """The table that answers for a version: `first` to `last` are the versions it was read in or is known to span.

    `asked` is the version that was asked for; `note` is "" when the table is that version's own.
    """

    asked: str
    first: str
    last: str
    source: str
    note: str

    @property
    def key(self) -> tuple[int, ...]:
        """The first version as numbers, to compare editions with.

        >>> edition("2.30.7").key
        (2, 30, 7)
        """
        return numbers(self.first)


@declared
def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers: "2.30.7", "v2.30.7-1" and "2.30" are understood.

    >>> numbers("v2.30.7-1"), numbers("2.30")
    ((2, 30, 7), (2, 30))
    """
    found = re.fullmatch(r"\s*v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?(?:-\d+)?(?:\+\S*)?\s*", version)
    if not found:
        raise ValueError(f"version = {version[:40]!r} is no version of NCCL; write it as in '2.30.7'")
    return tuple(int(part) for part in found.groups() if part is not None)


def integer(text: str) -> int | None:
    """A whole number as a shell would write it; None for anything else.

    >>> integer(" 22 "), integer("-2"), integer("2.5"), integer("9" * 5000)
    (22, -2, None, None)
    """
    return int(text) if re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text) else None


def editions() -> tuple[str, ...]:
    """The first version of each table, oldest first.

    >>> editions()[0], editions()[-1]
    ('2.4.8', '2.30.7')
    """
    return tuple(_dotted(row.first) for row in _rows() if row.table == "edition")


@declared
def edition(version: str) -> Edition:
    """The table that answers for `version`; without a patch number, the last one known of that minor version.

    >>> edition("2.26.2").first, edition("2.26.2").note
    ('2.25.1', '')
    >>> edition("2.14.3").note
    'no table was read for NCCL 2.14.3; answered with that of 2.12.12, the nearest earlier one'
    """
    asked = numbers(version)
    key = asked if len(asked) == 3 else (*asked, 10**6)
    spans = [row for row in _rows() if row.table == "edition"]
    earlier = [row for row in spans if row.first <= key]
    if not earlier:
        raise ValueError(
            f"version = {version[:40]!r} is older than the first table, that of 2.4.8; give 2.4.8 or later"
        )
    row = earlier[-1]
    known = row.first <= asked <= row.last if len(asked) == 3 else row.first[:2] <= asked <= row.last[:2]
    told = f"no table was read for NCCL {_dotted(asked)}; answered with that of {_dotted(row.last)}"
    note = "" if known else f"{told}, the nearest earlier one"
    return Edition(_dotted(asked), _dotted(row.first), _dotted(row.last), row.source, note)


def rows(chosen: Edition, table: str) -> tuple[Row, ...]:
    """The rows of one table that hold in an edition.

    >>> {row.value for row in rows(edition("2.30.7"), "NVLS efficiency")} == {0.85, 0.74}
    True
    """
    return _held(chosen.key, table)


def scalar(chosen: Edition, name: str) -> float | None:
    """A factor, divisor or cost of an edition by its name in the table; None where that version has none.

    >>> scalar(edition("2.30.7"), "tree share"), scalar(edition("2.7.8"), "NVLS share")
    (0.92, None)
    """
    found = rows(chosen, name)
    return found[0].value if found else None


def known(chosen: Edition, name: str) -> float:
    """A scalar that this edition must have.

    >>> known(edition("2.30.7"), "tree share")
    0.92
    """
    value = scalar(chosen, name)
    if value is None:
        raise ValueError(f"name = {name[:60]!r} is not in the table of NCCL {chosen.first}; see tables.csv")
    return value


def base(chosen: Edition, algorithm: str, protocol: str) -> float | None:
    """Seconds that every operation costs; None if this version does not know the combination.

    >>> base(edition("2.30.7"), "Ring", "LL"), base(edition("2.12.12"), "NVLS", "Simple")
    (6.6e-06, None)
    """
    return _one(chosen, "base", algorithm=algorithm, protocol=protocol)


def hop(chosen: Edition, hardware: str, algorithm: str, protocol: str) -> float:
    """Seconds of one hop over "NVLink", "PCIe" or the "network".

    >>> hop(edition("2.30.7"), "network", "Ring", "Simple")
    1.4e-05
    """
    return _one(chosen, "hop", hardware=hardware, algorithm=algorithm, protocol=protocol) or 0.0


def caps(chosen: Edition, table: str, gpu: str) -> Floats | None:
    """(3,) bytes/s per channel on one node, two nodes and more; None where the version has no such cap.

    A GPU newer than the version is taken for the newest that the version knows, as NCCL does.

    >>> caps(edition("2.30.7"), "tree cap", "Hopper").tolist()
    [38700000000.0, 41400000000.0, 36000000000.0]
    """
    found: dict[str, dict[str, float]] = {}
    for row in rows(chosen, table):
        found.setdefault(row.gpu, {})[row.nodes] = row.value
    names = [name for name in reversed(GPUS[: GPUS.index(gpu) + 1]) if name in found]
    return np.array([found[names[0]][span] for span in SPAN]) if names else None


def ll_caps(chosen: Edition, gpu: str, cpu: str) -> Floats | None:
    """(3,) bytes/s that LL reaches in all: by GPU on one node, by the maker of the CPU on more.

    >>> ll_caps(edition("2.30.7"), "Hopper", "Intel").tolist()
    [141000000000.0, 39000000000.0, 20400000000.0]
    """
    held = rows(chosen, "ll cap")
    if not held:
        return None
    inside = {row.gpu: row.value for row in held if row.nodes == "1"}
    newest = next(name for name in reversed(GPUS[: GPUS.index(gpu) + 1]) if name in inside)
    maker = "AMD" if cpu == "AMD" else "Intel"
    outside = {row.nodes: row.value for row in held if row.hardware == maker}
    return np.array([inside[newest], outside["2"], outside["more"]])


def correction(chosen: Edition, algorithm: str, protocol: str, gpu: str = "") -> Floats:
    """(buckets,) what a tree's bandwidth is multiplied by, for sizes from 64 B up in powers of two; () for none.

    >>> correction(edition("2.30.7"), "Tree", "Simple").shape, float(correction(edition("2.7.8"), "Tree", "LL")[12])
    ((23,), 0.4)
    """
    held = [row for row in rows(chosen, "correction") if (row.algorithm, row.protocol) == (algorithm, protocol)]
    return np.array([row.value for row in held if row.gpu in ("", gpu)])


def speeds(chosen: Edition, gpu: str) -> Floats:
    """(speeds,) bytes/s that the search tries for a channel inside a node, fastest first.

    >>> speeds(edition("2.30.7"), "Hopper")[:3].tolist()
    [60000000000.0, 50000000000.0, 40000000000.0]
    """
    return np.array([row.value for row in rows(chosen, "channel speed") if row.gpu == gpu])


def nvlink(gpu: str) -> float:
    """Bytes/s one way that NCCL plans with for the NVLinks of a GPU.

    >>> nvlink("Hopper")
    370800000000.0
    """
    return next(row.value for row in _rows() if row.table == "NVLink of a GPU" and row.gpu == gpu)


def _one(chosen: Edition, table: str, **wanted: str) -> float | None:
    found = [row.value for row in rows(chosen, table) if all(getattr(row, key) == v for key, v in wanted.items())]
    return found[0] if found else None


@cache
def _held(key: tuple[int, ...], table: str) -> tuple[Row, ...]:
    return tuple(row for row in _rows() if row.table == table and row.first <= key <= row.last)


def _dotted(key: tuple[int, ...]) -> str:
    return ".".join(str(part) for part in key)


@cache
def _rows() -> tuple[Row, ...]:
    """The data file, read once."""
    with Path(__file__).with_name("tables.csv").open(newline="") as file:
        return tuple(
            Row(
                first=numbers(each["first"]),
                last=numbers(each["last"]),
                value=float((each["value"] or "0") + _EXPONENT.get(each["unit"], "")) * _FACTOR.get(each["unit"], 1),
                **{key: each[key] for key in ("table", "hardware", "algorithm", "protocol", "gpu", "source")},
                nodes=each["nodes"],
            )
            for each in csv.DictReader(file)
        )
