"""Agreement: a formula of the book and the same number found another way, compared while the book is built.

The first way is a closed form. The second shares no formula with it: it counts on a built fabric, walks it breadth
first, cuts it by max-flow, routes traffic over it, or executes a schedule. The cases stand in a list, awkward ones
among them, and a page shows the worst gap under the formula (`{agreement} id`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

Way = Callable[..., ArrayLike]
Case = tuple[Any, ...]


@dataclass(frozen=True)
class Agreement:
    """Two ways to one number.

    id         its name in a page
    what       what both compute, in one clause
    first      the closed form; called with the members of a case
    second     the other way, called with the same
    cases      the arguments of each case
    way        how the second way finds it, as the badge says: "counted on the graph", "max-flow", "executed"
    tolerance  largest relative gap that counts as agreement; 0 for whole numbers, which must be equal
    """

    id: str
    what: str
    first: Way
    second: Way
    cases: tuple[Case, ...]
    way: str = "counted on the graph"
    tolerance: float = 0.0

    def __post_init__(self) -> None:
        if not self.cases:
            raise ValueError(f"cases of {self.id!r} are empty; list at least one tuple of arguments")


@dataclass(frozen=True)
class Checked:
    """An agreement, computed: the relative gap of each case, and whether all are within the tolerance."""

    agreement: Agreement
    gaps: tuple[float, ...]

    @property
    def worst(self) -> float:
        """The largest gap."""
        return max(self.gaps)

    @property
    def holds(self) -> bool:
        """Whether both ways agree in every case."""
        return self.worst <= self.agreement.tolerance

    @property
    def worst_case(self) -> Case:
        """The case with the largest gap."""
        return self.agreement.cases[int(np.argmax(self.gaps))]

    @property
    def sentence(self) -> str:
        """What the badge says.

        >>> doubled = Agreement("doubled", "twice n", lambda n: 2 * n, lambda n: n + n, ((1,), (3,)), "added")
        >>> check(doubled).sentence
        'agrees: closed form = added, 2 cases, largest gap 0'
        """
        a = self.agreement
        cases = f"{len(a.cases)} case{'s' * (len(a.cases) > 1)}"
        if self.holds:
            within = f" (up to {a.tolerance:.1g} allowed)" if self.worst else ""
            return f"agrees: closed form = {a.way}, {cases}, largest gap {self.worst:.2g}{within}"
        bad = sum(gap > a.tolerance for gap in self.gaps)
        return f"does not agree: closed form is not what was {a.way} in {bad} of {cases}; {self.shown(self.worst_case)}"

    @property
    def names(self) -> tuple[str, str]:
        """The names of both functions."""
        return name(self.agreement.first), name(self.agreement.second)

    @property
    def shown_cases(self) -> list[str]:
        """The arguments of each case, as a person writes them."""
        return [f"({', '.join(map(_short, case))})" for case in self.agreement.cases]

    def shown(self, case: Case) -> str:
        """One case with both values."""
        values = (_short(way(*case)) for way in (self.agreement.first, self.agreement.second))
        return f"{name(self.agreement.first)}({', '.join(map(_short, case))}) = {' against '.join(values)}"


def check(agreement: Agreement) -> Checked:
    """Compute both ways for every case, now.

    >>> check(Agreement("halves", "half of n", lambda n: n / 2, lambda n: n // 2, ((4,), (5,)), "counted")).worst
    0.2
    """
    return Checked(agreement, tuple(gap(agreement.first(*c), agreement.second(*c)) for c in agreement.cases))


def gap(first: ArrayLike, second: ArrayLike) -> float:
    """Largest |first - second| / max(|first|, |second|); infinite for shapes that differ or a value that is no number.

    >>> gap([1, 2], [1, 2.5])
    0.2
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return float("inf")
    scale = np.maximum(np.abs(a), np.abs(b))
    return float(np.max(np.abs(a - b) / np.where(scale > 0, scale, 1), initial=0.0))


def name(way: Way) -> str:
    """The function's name, as the badge prints it.

    >>> name(partial(gap, second=2))
    'gap'
    """
    return name(way.func) if isinstance(way, partial) else getattr(way, "__name__", type(way).__name__)


def _short(value: Any) -> str:
    """A value as a person writes it: 512, 0.385, (4, 4, 8)."""
    if isinstance(value, str):
        return value
    if np.ndim(value):
        return f"({', '.join(_short(each) for each in np.asarray(value).tolist())})"
    return f"{float(value):.6g}"
