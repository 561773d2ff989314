"""Presets: what papers, drivers and simulators set, as dated data with a source for each value.

"DCQCN" in the field is not the published one: between the paper, a NIC and a simulator the weights, clocks and steps
differ by factors of eight to fifty. So a result names its preset. `presets.toml` keeps each value as printed; what has
no meaning in bytes and seconds is kept too, and refused.
"""

import datetime
import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Literal, overload

from netlib.arguments import declared, floats
from netlib.congestion.parameters import (
    Control,
    Credits,
    Dcqcn,
    Dctcp,
    Hpcc,
    Marking,
    Nscc,
    PowerTcp,
    Swift,
    Timely,
    Uncontrolled,
)
from netlib.names import nearest
from netlib.units import parse

Fill = Mapping[str, object]

TYPES: Mapping[str, Any] = {
    "dcqcn": Dcqcn,
    "timely": Timely,
    "dctcp": Dctcp,
    "swift": Swift,
    "hpcc": Hpcc,
    "powertcp": PowerTcp,
    "nscc": Nscc,
    "credits": Credits,
    "uncontrolled": Uncontrolled,
    "marking": Marking,
}
CONTROLS: Mapping[type, str] = {made: name for name, made in TYPES.items()}
# The dimension of each field that is no plain number, so that 40 Mb/s is never read as 40 MB.
DIMENSION: Mapping[str, str] = {
    **dict.fromkeys(("alpha_timer", "cnp_interval", "cut_interval", "increase_timer", "t_low", "t_high"), "s"),
    **dict.fromkeys(("min_rtt", "base", "per_hop", "fs_range", "reference_rtt"), "s"),
    **dict.fromkeys(("byte_counter", "segment", "k_min", "k_max", "reference"), "bytes"),
    **dict.fromkeys(("hyper", "min_rate", "delta"), "bytes/s"),
    "timely.hyper": "1",
    "dcqcn.additive": "bytes/s",
    "dctcp.additive": "bytes",
    "hpcc.additive": "bytes",
}


@dataclass(frozen=True)
class Setting:
    """One value of a preset: as `printed`, and as `value` in SI; None where `unusable` says why it has none there."""

    field: str
    value: float | str | None
    printed: str
    source: str
    locator: str
    as_of: datetime.date
    confidence: str
    note: str = ""
    unusable: str = ""


@dataclass(frozen=True)
class Preset:
    """A preset with its sources. Values of the fields in `scaled` hold for a link of `per` bytes/s (0: for any)."""

    control: str
    name: str
    title: str
    settings: tuple[Setting, ...]
    per: float = 0.0
    scaled: tuple[str, ...] = ()
    note: str = ""

    @property
    def missing(self) -> tuple[str, ...]:
        """Fields that no value in bytes and seconds is printed for.

        >>> preset_record("dcqcn", "connectx").missing
        ('byte_counter',)
        """
        return tuple(each.field for each in self.settings if each.unusable)


@declared
def preset_names(control: str) -> tuple[str, ...]:
    """The presets of a control ("dcqcn", "timely", ...) or of "marking", in the order of the data file.

    >>> preset_names("timely")
    ('paper', 'fluid', 'patched', 'ns3-datacenter')
    """
    return tuple(_tables().get(_control(control), {}))


@declared
def preset_record(control: str, name: str) -> Preset:
    """The preset with the source, the day and the note of each value; unknown pairs raise ValueError with what exists.

    >>> made = preset_record("hpcc", "paper")
    >>> made.settings[1].printed, made.settings[1].note
    ('0', 'the 5 in print is called a typo')
    """
    known = preset_names(control)
    if name not in known:
        raise ValueError(f"name = {name[:40]!r} is no preset of {control}; give one of {', '.join(known)}")
    return _preset(control, name)


@overload
def preset(control: Literal["dcqcn"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Dcqcn:
    """Dcqcn."""


@overload
def preset(control: Literal["timely"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Timely:
    """Timely."""


@overload
def preset(control: Literal["dctcp"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Dctcp:
    """Dctcp."""


@overload
def preset(control: Literal["swift"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Swift:
    """Swift."""


@overload
def preset(control: Literal["hpcc"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Hpcc:
    """Hpcc."""


@overload
def preset(control: Literal["powertcp"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> PowerTcp:
    """PowerTcp."""


@overload
def preset(control: Literal["nscc"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Nscc:
    """Nscc."""


@overload
def preset(control: Literal["credits"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Credits:
    """Credits."""


@overload
def preset(control: Literal["marking"], name: str, rate: float | None = ..., fill: Fill | None = ...) -> Marking:
    """Marking."""


@overload
def preset(control: str, name: str, rate: float | None = ..., fill: Fill | None = ...) -> Control | Marking:
    """Control."""


@declared
def preset(control: str, name: str, rate: float | None = None, fill: Fill | None = None) -> Control | Marking:
    """The parameters of a preset, in SI, for a link of `rate` bytes/s; `fill` gives or replaces fields.

    `rate` scales what the source states per link rate, and is needed only there. A field that the source gives in a
    unit without SI meaning raises ValueError until `fill` has it.

    >>> preset("marking", "alibaba", rate=12.5e9).k_max
    1600000.0
    >>> preset("dcqcn", "connectx", fill={"byte_counter": float("inf")}).increase_timer
    0.0003
    >>> preset("dcqcn", "connectx")
    Traceback (most recent call last):
    ValueError: dcqcn 'connectx' has no usable byte_counter (rpg_byte_reset = 32767 is the largest value of a 15-bit \
field; the firmware's unit is not documented); give it in fill={'byte_counter': ...}
    """
    made = preset_record(control, name)
    given = dict(fill or {})
    known = [each.field for each in made.settings]
    for field in given:
        if field not in known:
            raise ValueError(f"fill has {str(field)[:40]!r}, which is no field of {control}; {nearest(field, known)}")
    if made.scaled and rate is None:
        raise ValueError(f"{control} {name!r} is stated per {made.per:g} bytes/s of link; give rate in bytes/s")
    given_rate = made.per if rate is None else float(floats("rate", rate, above=True))
    scale = given_rate / made.per if made.per else 1.0
    values: dict[str, object] = {}
    for each in made.settings:
        if each.field in given:
            values[each.field] = given[each.field]
        elif each.unusable:
            lacking = ", ".join(field for field in made.missing if field not in given)
            wanted = ", ".join(f"{field!r}: ..." for field in made.missing if field not in given)
            raise ValueError(
                f"{control} {name!r} has no usable {lacking} ({each.unusable}); give it in fill={{{wanted}}}"
            )
        else:
            value = each.value
            values[each.field] = value * scale if each.field in made.scaled and isinstance(value, float) else value
    built: Control | Marking = TYPES[control](**values)
    return built


@declared
def dimension_of(control: str, field: str) -> str:
    """ "s", "bytes", "bytes/s", or "1" for a plain number: what a field of a control is measured in.

    >>> dimension_of("dcqcn", "additive"), dimension_of("dctcp", "additive"), dimension_of("dcqcn", "g")
    ('bytes/s', 'bytes', '1')
    """
    return DIMENSION.get(f"{control}.{field}") or DIMENSION.get(field, "1")


def _control(control: str) -> str:
    if control not in TYPES:
        raise ValueError(f"control = {control[:40]!r} has no presets; give one of {', '.join(TYPES)}")
    return control


@cache
def _tables() -> dict[str, dict[str, dict[str, Any]]]:
    """The data file as it stands: control, name, table."""
    return tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))


@cache
def _preset(control: str, name: str) -> Preset:
    """Read when it is asked for: a table with a slip stops its own preset and no other."""
    return _read(control, name, _tables()[control][name])


def _read(control: str, name: str, row: Mapping[str, Any]) -> Preset:
    """One table of the data file; a value in another dimension, or a field too many or too few, raises ValueError."""
    wanted = {each.name: each.type for each in fields(TYPES[_control(control)])}
    needed = {each.name for each in fields(TYPES[control]) if each.default is MISSING}
    if not needed <= set(row["values"]) <= set(wanted):
        raise ValueError(f"{control} {name!r} has fields {', '.join(row['values'])}; give {', '.join(wanted)}")
    base = {key: row.get(key, "primary") for key in ("source", "locator", "as_of", "confidence")}
    settings = []
    for field, given in row["values"].items():
        cell = given if isinstance(given, dict) else {"value": given}
        usable = "unusable" not in cell
        value = _si(control, name, field, cell["value"], wanted[field]) if usable else None
        rest = {key: cell.get(key, base[key]) for key in base}
        note, reason = cell.get("note", ""), cell.get("unusable", "")
        settings.append(Setting(field, value, str(cell["value"]), **rest, note=note, unusable=reason))
    per = parse(row["per"]).value if "per" in row else 0.0
    return Preset(control, name, row["title"], tuple(settings), per, tuple(row.get("scaled", ())), row.get("note", ""))


def _si(control: str, name: str, field: str, printed: str | bool, kind: object) -> float | str | bool:
    """What is printed, in SI: a switch and a name stay, "1/256" is a ratio, anything else is read with its unit."""
    if isinstance(printed, bool) or kind not in (int, float):
        return printed
    if printed == "inf":
        return float("inf")
    if "/" in printed and " " not in printed:
        return float(Fraction(printed))
    expected, told = dimension_of(control, field), f"{control} {name!r}, {field} = {printed!r}"
    example = f"{printed.split()[0]} {_EXAMPLE[expected]}".strip() if printed.strip() else "a number"
    try:
        quantity = parse(printed)
    except ValueError as error:
        raise ValueError(f"{told} cannot be read ({error}); write for example {example!r}") from None
    if quantity.dimension != expected:
        what = "has no unit" if quantity.dimension == "1" else f"is in {quantity.dimension}, not in {expected}"
        raise ValueError(f"{told} {what}; write for example {example!r}")
    return int(quantity.value) if kind is int else float(f"{quantity.value:.12g}")  # 55 us are 5.5e-05 s


_EXAMPLE = {"s": "us", "bytes": "KB", "bytes/s": "Mb/s", "1": ""}
