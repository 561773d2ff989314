"""Hardware: every number of a data sheet, with its unit, its direction and where it was read.

A vendor prints what is largest: NVLink as the sum of both directions, InfiniBand as one direction, PCIe either
way. The registry (`hardware.toml`) keeps each number as printed together with its direction, and hands out bytes/s
one way, so that no ratio in the book mixes the two. Read with "How to read this book", section "Numbers and units".
"""

import datetime
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from netlib.names import nearest
from netlib.units import Quantity, parse

Item = TypeVar("Item")

DIRECTIONS = ("one-way", "both-ways", "not-applicable")
SCOPES = ("lane", "link", "cable", "port", "adapter", "module", "chip", "switch", "GPU", "node", "rack")
KINDS = (
    *("nvlink", "nvswitch", "scaleup", "pcie", "infiniband", "ethernet", "ici"),
    *("memory", "nic", "compute", "optics", "reach", "latency", "power", "total", "count"),
)
_CHOICES = {
    "direction": DIRECTIONS,
    "scope": SCOPES,
    "kind": KINDS,
    "basis": ("nominal", "achieved"),
    "status": ("shipping", "announced"),
    "confidence": ("primary", "secondary"),
}


@dataclass(frozen=True)
class Fact:
    """One published number.

    `value` is SI and AS PRINTED (900 GB/s both ways stays 900e9): use `one_way` to compute.
    `dimension` is that of `units.parse`; `printed` is the source's spelling; `basis` is nominal or achieved.
    `confidence` is "primary" when the figure was read in the source named, "secondary" when only in pages about
    it.
    """

    id: str
    name: str
    kind: str
    value: float
    unit: str
    dimension: str
    printed: str
    direction: str
    scope: str
    basis: str
    status: str
    source: str
    locator: str
    as_of: datetime.date
    confidence: str
    note: str = ""

    @property
    def one_way(self) -> float:
        """Bytes/s in one direction: half of a both-ways figure, else the figure itself.

        A memory bus has no direction (it spends its whole rate on reads or on writes): its rate is returned as it
        is.

        >>> fact("nvlink4").value, fact("nvlink4").one_way
        (900000000000.0, 450000000000.0)
        """
        if self.dimension != "bytes/s":
            raise ValueError(f"fact {self.id!r} ({self.printed}) is not a bandwidth; use its value")
        return self.value / 2 if self.direction == "both-ways" else self.value

    @property
    def text(self) -> str:
        """The fact as the book prints it: one way, in the source's own unit.

        >>> fact("nvlink4").text, fact("ndr-400").text, fact("bf16-h100").text
        ('450 GB/s, one way', '400 Gb/s, one way', '989.4 TFLOP/s')
        """
        if self.direction == "not-applicable":
            return self.printed
        if self.direction == "one-way" or self.dimension != "bytes/s":
            return f"{self.printed}, one way"
        scaled, unit = self.one_way / parse(f"1 {self.unit}").value, self.unit
        if scaled < 1 and unit == "TB/s":
            scaled, unit = scaled * 1000, "GB/s"
        return f"{scaled:.6g} {unit}, one way"


@dataclass(frozen=True)
class Node:
    """A node (or a rack that is one NVLink domain): what a model of it needs.

    `up`: NVLink bytes/s one way per GPU. `out`: network bytes/s one way per GPU = nics x nic rate / gpus.
    `nvlink` and `nic` are the ids of the facts behind them; `switches` counts NVSwitch chips.
    """

    id: str
    name: str
    gpus: int
    nics: int
    up: float
    out: float
    switches: int
    nvlink: str
    nic: str
    status: str
    source: str
    locator: str
    as_of: datetime.date
    confidence: str
    note: str = ""


def fact(id: str) -> Fact:
    """The fact called `id`; an unknown id raises ValueError with the closest names.

    >>> fact("nvlink5").printed, fact("nvlink5").direction, fact("nvlink5").scope
    ('1.8 TB/s', 'both-ways', 'GPU')
    """
    return _pick(_facts(), id, "fact")


def facts(kind: str | None = None) -> tuple[Fact, ...]:
    """All facts in the order of the data file, or those of one kind.

    >>> [f.id for f in facts("infiniband")]
    ['hdr-200', 'ndr-400', 'xdr-800']
    """
    if kind is not None and kind not in KINDS:
        raise ValueError(f"kind = {str(kind)[:40]!r} is not one of {', '.join(KINDS)}")
    return tuple(f for f in _facts().values() if kind in (None, f.kind))


def bandwidth(id: str) -> float:
    """Bytes/s ONE WAY of a bandwidth fact; refuses facts that are no bandwidth.

    >>> bandwidth("ndr-400"), bandwidth("nvlink5")
    (50000000000.0, 900000000000.0)
    """
    return fact(id).one_way


def node(id: str) -> Node:
    """The node called `id`.

    >>> dgx = node("dgx-h100")
    >>> dgx.gpus, dgx.nics, dgx.up, dgx.out
    (8, 8, 450000000000.0, 50000000000.0)
    """
    return _pick(_nodes(), id, "node")


def nodes() -> tuple[Node, ...]:
    """All nodes in the order of the data file.

    >>> nodes()[0].id
    'dgx-a100'
    """
    return tuple(_nodes().values())


def ratio(pair: str, as_printed: bool = False) -> float:
    """How many times faster the first of two facts is: "first/second", both one way.

    With `as_printed` the printed numbers are divided, which is refused when the two are printed in different
    directions: that mix is where "NVLink 5 is 28 x PCIe 5" comes from.

    >>> round(ratio("nvlink5/pcie5-x16"), 1), ratio("nvlink4/ndr-400")
    (14.3, 9.0)
    """
    names = [part.strip() for part in str(pair).split("/")]
    if len(names) != 2:
        raise ValueError(
            f"pair = {str(pair)[:80]!r} must be two fact ids with one slash, for example 'nvlink4/ndr-400'"
        )
    first, second = fact(names[0]), fact(names[1])
    if first.dimension != second.dimension:
        raise ValueError(
            f"pair = {pair!r} divides {first.dimension} by {second.dimension}; give two facts of one dimension"
        )
    if as_printed and first.direction != second.direction:
        raise ValueError(
            f"pair = {pair!r} mixes conventions: {first.id} is printed {first.direction}, {second.id} "
            f"{second.direction}; leave out as_printed to compare one way"
        )
    if as_printed or first.dimension != "bytes/s":
        return first.value / second.value
    return first.one_way / second.one_way


def _pick(table: dict[str, Item], id: str, what: str) -> Item:
    if isinstance(id, str) and id in table:
        return table[id]
    hint = nearest(id, table, f"see netlib.hardware.{what}s()")
    raise ValueError(f"{what} {str(id)[:40]!r} is not in the registry; {hint}")


@cache
def _tables() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("hardware.toml").read_text(encoding="utf-8"))


@cache
def _facts() -> dict[str, Fact]:
    made: dict[str, Fact] = {}
    for id, row in _tables()["fact"].items():
        fields = {"confidence": "primary", **row}
        for field, choices in _CHOICES.items():
            if fields[field] not in choices:
                legal = ", ".join(choices)
                raise ValueError(f"fact {id!r}: {field} = {fields[field]!r} is not one of {legal}")
        if "lane" in fields:  # PCIe: the effective rate is computed from the lane rate, not typed
            kept, sent = fields.pop("coding")
            rate = made[fields.pop("lane")].value * fields.pop("lanes") * kept / sent / 8
            quantity, printed = Quantity(rate, "bytes/s", "GB/s"), f"{rate / 1e9:.5g} GB/s"
        else:
            printed = fields.pop("value")
            quantity = parse(printed)
        made[id] = Fact(id=id, printed=printed, **vars(quantity), **fields)
    return made


@cache
def _nodes() -> dict[str, Node]:
    made: dict[str, Node] = {}
    for id, row in _tables()["node"].items():
        fields = {"confidence": "primary", **row}
        out = fields["nics"] * bandwidth(fields["nic"]) / fields["gpus"]
        made[id] = Node(id=id, up=bandwidth(fields["nvlink"]), out=out, **fields)
    return made
