"""Words: numbers, ticks and sentences as a figure prints them, in the notebook and in the page alike.

The page's script gets the prefix ladders and the ticks from here, so there is one truth.
"""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from netlib.course.figure import Axis
from netlib.units import show

NO_VALUE = "–"

# unit -> (factor, printed), smallest first
LADDERS: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")),
    "B": ((1.0, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB")),
    "iB": ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"), (2.0**40, "TiB")),
    "B/s": ((1.0, "B/s"), (1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s"), (1e12, "TB/s"), (1e15, "PB/s")),
    "W": ((1.0, "W"), (1e3, "kW"), (1e6, "MW")),
    "flop/s": ((1.0, "flop/s"), (1e9, "Gflop/s"), (1e12, "Tflop/s"), (1e15, "Pflop/s")),
    "%": ((0.01, "%"),),
}
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def rung(value: float, unit: str) -> tuple[float, str]:
    """The factor and the name of the prefixed unit that suits a value.

    >>> rung(0.0028, "s"), rung(50e9, "B/s"), rung(12, "GPUs")
    ((0.001, 'ms'), (1000000000.0, 'GB/s'), (1.0, 'GPUs'))
    """
    ladder = LADDERS.get(unit, ((1.0, unit),))
    if value == 0 or not math.isfinite(value):
        return next((r for r in ladder if r[0] == 1.0), ladder[0])
    # 999.9 µs is said as 1.00 ms, 1023.9 MiB as 1.00 GiB
    return [ladder[0], *(r for r in ladder if float(f"{abs(value) / r[0]:.2e}") >= 1)][-1]


def nice(value: float, unit: str = "", short: bool = False) -> str:
    """A value to three significant digits with the prefix that fits; `short` drops trailing zeros.

    >>> nice(2.797266, "s"), nice(2**20, "iB", short=True), nice(0.87, "%"), nice(1024, "GPUs", short=True)
    ('2.80 s', '1 MiB', '87.0 %', '1,024 GPUs')
    >>> nice(3.1e-9), nice(16, "GPUs"), nice(float("nan"), "s")
    ('3.10×10⁻⁹', '16 GPUs', '–')
    """
    value = float(value)
    if not math.isfinite(value):
        return NO_VALUE
    short = short or (unit not in LADDERS and value == round(value))  # a count has no decimals
    value *= 1 + 1e-12  # ties go up, as in the page's script
    factor, name = rung(value, unit)
    scaled = value / factor
    if scaled and not 1e-3 <= abs(scaled) < 1e7:
        digits, exponent = f"{scaled:.2e}".split("e")
        digits = digits.rstrip("0").rstrip(".") if short else digits
        power = "10" + str(int(exponent)).translate(_SUPERSCRIPT)
        number = power if digits == "1" else f"{digits}×{power}"
    else:
        number = show(scaled)
        number = number.rstrip("0").rstrip(".") if short and "." in number else number
    return f"{number} {name}".rstrip()


def spoken(name: str) -> str:
    """A name of the library as people say it; anything else stays.

    >>> spoken("reduce_scatter"), spoken("NCCL_ALGO=Ring")
    ('reduce-scatter', 'NCCL_ALGO=Ring')
    """
    return name.replace("_", "-") if re.fullmatch(r"[a-z]+(_[a-z]+)+", name) else name


def axis_label(axis: Axis, limits: tuple[float, float]) -> str:
    """The label with its unit, as drawn beside the axis.

    >>> axis_label(Axis("time", "s", "log"), (1e-6, 1)), axis_label(Axis("bandwidth", "B/s"), (0, 4e11))
    ('time (s, log scale)', 'bandwidth (GB/s)')
    """
    if axis.categories:
        return axis.label
    unit = rung(limits[1], axis.unit)[1]
    if axis.scale == "log":  # the ticks carry their own prefixes
        unit = {"iB": "bytes", "B": "bytes"}.get(axis.unit, axis.unit)
    notes = [unit] * bool(unit) + ["log scale"] * (axis.scale == "log")
    return f"{axis.label} ({', '.join(notes)})" if notes else axis.label


def ticks(axis: Axis, limits: tuple[float, float]) -> tuple[list[tuple[float, str, int]], list[int]]:
    """Every tick worth a label as (value, text, number), and the strides by which a narrow picture thins them.

    With stride k the ticks whose number is a multiple of k stay.

    >>> ticks(Axis("x", "s"), (0, 1))[0][:3]
    [(0.0, '0', 0), (0.1, '0.1', 1), (0.2, '0.2', 2)]
    >>> [text for _, text, _ in ticks(Axis("time", "s", "log"), (1e-6, 2e-3))[0]]
    ['1 µs', '10 µs', '100 µs', '1 ms']
    """
    low, high = limits
    if axis.categories:
        return [(float(i), name, i) for i, name in enumerate(axis.categories)], [1]
    if axis.scale == "log":
        base, strides = (2.0, [1, 2, 5, 10, 20]) if axis.unit == "iB" else (10.0, [1, 2, 3, 6, 12])
        steps: Sequence[float] = (1.0,)
        if math.log(high / low, base) < 2 and base == 10:
            steps, strides = (1.0, 2.0, 5.0), [1, 3]
        first, last = math.floor(math.log(low, base)), math.ceil(math.log(high, base))
        found = [(m * base**e, e * len(steps) + i) for e in range(first, last + 1) for i, m in enumerate(steps)]
        inside = [(v, n) for v, n in found if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        # a unit without prefixes stands in the axis label once
        return [(v, nice(v, axis.unit if axis.unit in LADDERS else "", short=True), n) for v, n in inside], strides
    factor = rung(high, axis.unit)[0]
    span = (high - low) / factor
    power = 10.0 ** math.floor(math.log10(span / 10))
    step = next(m * power for m in (1, 2, 2.5, 5, 10, 20) if span / (m * power) <= 10.001)
    numbers = range(math.ceil(low / factor / step - 1e-9), math.floor(high / factor / step + 1e-9) + 1)
    return [(n * step * factor, _plain(n * step), n) for n in numbers], [1, 2, 5, 10]


def _plain(value: float) -> str:
    """A tick's number without rounding noise: 0.30000000000000004 is 0.3."""
    value = float(f"{value:.6g}")
    if value and not 1e-4 <= abs(value) < 1e7:
        return nice(value, short=True)
    return f"{value:,.6f}".rstrip("0").rstrip(".")


def thin(found: list[tuple[float, str, int]], strides: list[int], most: int) -> list[tuple[float, str, int]]:
    """The ticks left when at most `most` labels fit.

    >>> len(thin(*ticks(Axis("x", "s"), (0, 1)), most=6))
    6
    """
    for stride in strides:
        kept = [t for t in found if t[2] % stride == 0]
        if len(kept) <= most:
            break
    return kept


def sentence(words: Any, values: Mapping[str, Any], texts: Mapping[str, Any]) -> str:
    """A state's sentence: a function of the plain values, or a template over their texts; see `Figure.reading`.

    >>> sentence("{n} wait {t}", {}, {"n": "16 GPUs", "t": "2.80 s"})
    '16 GPUs wait 2.80 s'
    """
    return str(words(values)) if callable(words) else str(words).format(**texts)
