"""Units: bytes, seconds and bytes per second one way, and nothing else inside netlib.

Three traps cost practitioners a factor each, so each has one name here: bits and bytes (`gbps`, a factor 8), decimal
and binary prefixes (GB = 1e9 and GiB = 2**30, 7.4 % apart), and bandwidth quoted one way or both ways (`one_way`, 2).
Read with "How to read this book", section "Numbers and units".
"""

import itertools
import math
import re
from dataclasses import dataclass

KB, MB, GB, TB, PB = 1e3, 1e6, 1e9, 1e12, 1e15
KiB, MiB, GiB, TiB, PiB = 2**10, 2**20, 2**30, 2**40, 2**50


def gbps(rate: float) -> float:
    """Bytes per second of a port sold as `rate` Gb/s.

    >>> gbps(400)
    50000000000.0
    """
    return rate * 1e9 / 8


def one_way(both_ways: float) -> float:
    """Bytes per second in one direction of a link whose data sheet adds the two directions.

    NVLink 4 is sold as 900 GB/s per GPU; 450 GB/s leave the GPU while 450 GB/s arrive.

    >>> one_way(900e9)
    450000000000.0
    """
    return both_ways / 2


@dataclass(frozen=True)
class Quantity:
    """A number in SI units with its dimension.

    `dimension` is one of "bytes", "s", "bytes/s", "flop/s", "transfers/s", "W", "m", "1" (a plain number or ratio);
    `unit` is the spelling that was read, "" for a bare number.
    """

    value: float
    dimension: str
    unit: str = ""


_DECIMAL = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_SMALL = {"m": 1e-3, "u": 1e-6, "µ": 1e-6, "μ": 1e-6, "n": 1e-9, "p": 1e-12}
_WORDS = {"kilo": 1e3, "mega": 1e6, "giga": 1e9, "tera": 1e12, "peta": 1e15}
_BINARY_WORDS = {"kibi": 2.0**10, "mebi": 2.0**20, "gibi": 2.0**30, "tebi": 2.0**40}
_SMALL_WORDS = {"milli": 1e-3, "micro": 1e-6, "nano": 1e-9}


_AMBIGUOUS = re.compile(r"^[kmgtp]b(/s|/sec)?$")


def _spellings() -> dict[str, tuple[float, str]]:
    """Every accepted spelling of a unit -> (factor to SI, dimension)."""
    table: dict[str, tuple[float, str]] = {
        "": (1.0, "1"),
        "x": (1.0, "1"),
        "times": (1.0, "1"),
        "%": (0.01, "1"),
    }
    words = {"": 1.0, **_WORDS, **_BINARY_WORDS}
    for names, prefixes, size in (
        (("B",), {**_DECIMAL, **_BINARY}, 1.0),
        (("b", "bit", "bits"), {**_DECIMAL, **_BINARY}, 1 / 8),
        (("byte", "bytes", "Byte", "Bytes"), {**_DECIMAL, **_BINARY, **words}, 1.0),
        (("bit", "bits"), words, 1 / 8),
    ):
        for name, (prefix, factor) in itertools.product(names, prefixes.items()):
            table[prefix + name] = (factor * size, "bytes")
            for per_second in ("/s", "ps", "/sec", "/second", " per second"):
                table[prefix + name + per_second] = (factor * size, "bytes/s")
    for name, seconds in {"s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0}.items():
        small = {"": 1.0, **_SMALL} if name in ("s", "sec") else {"": 1.0, **_SMALL_WORDS}
        for prefix, factor in small.items():
            table[prefix + name] = (factor * seconds, "s")
    for name, seconds in {"min": 60.0, "minute": 60.0, "h": 3600.0, "hour": 3600.0, "day": 86400.0}.items():
        table[name] = table[name + "s"] = (seconds, "s")
    for prefix, factor in _DECIMAL.items():
        for name in ("FLOP/s", "FLOPS", "FLOPs", "flop/s"):
            table[prefix + name] = (factor, "flop/s")
        table[prefix + "T/s"] = (factor, "transfers/s")
        table[prefix + "W"] = (factor, "W")
    for name, metres in {"m": 1.0, "km": 1e3}.items():
        table[name] = (metres, "m")
    # lower-case "gbps" is the trade's spelling of gigabits; "gb/s" is not, and is refused below
    for prefix in "kmgt":
        table[prefix + "bps"] = (_DECIMAL[prefix.upper()] / 8, "bytes/s")
    return {unit: meaning for unit, meaning in table.items() if not _AMBIGUOUS.match(unit)}


_UNITS = _spellings()
# a comma separates thousands and nothing else: "3,2 ms" is refused, not read as 32
_NUMBER = re.compile(r"^[+-]?((\d{1,3}(,\d{3})+|\d[\d_]*)(\.\d*)?|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)


def parse(text: str) -> Quantity:
    """Read a number with a unit, in any spelling that has one meaning.

    Raises ValueError for an unknown unit, for no number, and for "gb", which may be gigabits or gigabytes.

    >>> parse("400 Gb/s").value == parse("50 GB/s").value == parse("50GBps").value
    True
    >>> parse("1 GiB")
    Quantity(value=1073741824.0, dimension='bytes', unit='GiB')
    >>> parse("250 ms").value, parse("1,024").dimension
    (0.25, '1')
    """
    cleaned = " ".join(str(text).split())
    match = _NUMBER.match(cleaned)
    if not match:
        raise ValueError(
            f"text = {cleaned[:40]!r} does not start with a number; write for example '2.8 s' or '400 Gb/s'"
        )
    unit = cleaned[match.end() :].strip()
    if _AMBIGUOUS.match(unit):
        raise ValueError(
            f"unit {unit!r} is ambiguous: write {unit[0].upper()}b for bits or {unit[0].upper()}B for bytes"
        )
    if unit not in _UNITS:
        raise ValueError(f"unit {unit[:20]!r} is not known; write for example s, ms, us, B, GB, GiB, GB/s or Gb/s")
    factor, dimension = _UNITS[unit]
    value = float(match.group().replace(",", "").replace("_", "")) * factor
    if math.isinf(value):
        raise ValueError(f"text = {cleaned[:40]!r} is beyond 1e308; check its exponent")
    return Quantity(value, dimension, unit)


def show(value: float, unit: str = "", digits: int = 3) -> str:
    """`value` (SI) in `unit`, to `digits` significant digits; whole digits are never dropped.

    >>> show(2.797266, "s"), show(0.0874, "ms"), show(50e9, "GB/s"), show(1024)
    ('2.80 s', '87.4 ms', '50.0 GB/s', '1,024')
    """
    if not isinstance(unit, str) or unit not in _UNITS:
        raise ValueError(f"unit = {unit!r} is not known; write for example s, ms, us, B, GB, GiB, GB/s or Gb/s")
    if digits not in range(1, 16):
        raise ValueError(f"digits = {digits!r} must be a whole number from 1 to 15, all that a float holds")
    try:
        scaled = float(value / _UNITS[unit][0])
    except (TypeError, OverflowError):
        told = repr(value[:40]) if isinstance(value, str) else " ".join(str(value).split())[:40]
        raise ValueError(f"value = {told} is not one number; show an array entry by entry") from None
    if scaled == 0 or not math.isfinite(scaled):
        printed = f"{scaled:g}"
    else:
        rounded = float(f"{scaled:.{digits - 1}e}")  # 9.997 is 10.0, one digit before the point more
        printed = f"{scaled:,.{max(0, digits - 1 - math.floor(math.log10(abs(rounded))))}f}"
    return f"{printed} {unit}".rstrip() if unit != "%" else f"{printed} %"


def size_name(size: float) -> str:
    """A byte count as nccl-tests users say it: binary prefixes.

    >>> size_name(2**20), size_name(16 * 2**30), size_name(1536)
    ('1 MiB', '16 GiB', '1.5 KiB')
    """
    for name, step in (("GiB", GiB), ("MiB", MiB), ("KiB", KiB)):
        if size >= step:
            return f"{size / step:g} {name}"
    return f"{size:g} B"
