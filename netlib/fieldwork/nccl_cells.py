"""nccl-tests cells: a printed number and how far it was rounded.

nccl-tests prints two decimals where they fit, so a printed 0.02 GB/s may be 0.015 or 0.025. Every cell therefore
keeps the worth of its last digit, and everything computed from cells is an interval.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from netlib import units
from netlib.arguments import Floats


class Cell(NamedTuple):
    """A printed number (SI) and `step`, the worth of its last printed digit."""

    value: float
    step: float


MISSING = Cell(math.nan, math.nan)
_HALF_STEP = 0.501  # half a unit of the last printed digit, and a little for binary rounding


@dataclass(frozen=True, eq=False)
class Half:
    """One half of a table, out-of-place or in-place: seconds, bytes/s; NaN where nothing was printed.

    `wrong` is the last column: wrong elements, or the relative error in tables before 2021. The `_step` arrays hold
    the worth of the last printed digit, so a true value lies within half a step of the printed one.
    """

    time: Floats
    algbw: Floats
    busbw: Floats
    wrong: Floats
    time_step: Floats
    algbw_step: Floats
    busbw_step: Floats

    @property
    def present(self) -> bool:
        """Whether this half was printed at all."""
        return bool(np.isfinite(self.time).any())

    def span(self, name: str) -> tuple[Floats, Floats]:
        """The lowest and highest true value behind each printed `time`, `algbw` or `busbw`."""
        value, slack = getattr(self, name), _HALF_STEP * getattr(self, f"{name}_step")
        return np.maximum(0.0, value - slack), value + slack


def half_of(cells: Sequence[Mapping[str, Cell]]) -> Half:
    """One cell mapping per row -> arrays."""
    value = {n: np.array([row.get(n, MISSING).value for row in cells]) for n in ("time", "algbw", "busbw", "wrong")}
    step = {f"{n}_step": np.array([row.get(n, MISSING).step for row in cells]) for n in ("time", "algbw", "busbw")}
    return Half(**value, **step)


_SIZE = re.compile(r"^(?:.*[:>\]#])?(\d[\d_,]*|\d+(?:\.\d+)?[KMGT]i?B)$")
_NUMBER = re.compile(r"^([-+]?\d[\d_,]*(?:\.\d+)?)(?:e([-+]?\d{1,3}))?([A-Za-z/]*)\*?$", re.IGNORECASE)
_NO_NUMBER = ("n/a", "nan", "-nan", "inf", "-")


def read_cell(word: str, power: int = 0) -> Cell | None:
    """The number that a cell prints, times 10**`power` unless it carries its own unit; None if it is no number.

    >>> read_cell("97.5"), read_cell("2e-07"), read_cell("0.82GBps", 9)
    (Cell(value=97.5, step=0.1), Cell(value=2e-07, step=1e-07), Cell(value=820000000.0, step=10000000.0))
    """
    if word.lower() in _NO_NUMBER:
        return MISSING
    match = _NUMBER.match(word)
    if not match:
        return None
    mantissa, exponent, unit = match.groups()
    factor = 1.0
    if unit:
        try:
            quantity = units.parse("1" + unit)
        except ValueError:
            return None
        if quantity.dimension not in ("s", "bytes/s"):
            return None
        power, factor = 0, quantity.value
    power += int(exponent or 0)
    digits = mantissa.replace("_", "").replace(",", "")
    decimals = len(digits.partition(".")[2])
    value = float(f"{digits}e{power}") * factor
    return Cell(value, float(f"1e{power - decimals}") * factor) if math.isfinite(value) else None


def read_size(word: str) -> float | None:
    """Bytes (or elements) in a size cell: digits with any separators, or a word such as 32KiB.

    >>> read_size("1048_576"), read_size("32KiB"), read_size("[1,0]<stdout>:17179869184"), read_size("12.5")
    (1048576.0, 32768.0, 17179869184.0, None)
    """
    match = _SIZE.match(word)
    if not match:
        return None
    text = match.group(1)
    if text[-1] == "B":
        return units.parse(text).value
    digits = text.replace("_", "").replace(",", "")
    return float(digits) if len(digits) <= 20 else None
