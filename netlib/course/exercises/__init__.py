"""Exercises: one file each, named after its id (`ring-01` is `ring_01.py`), found by listing this folder.

An exercise states its assumptions in `ask`, computes its answer from netlib, and ships the wrong answers that must fail
with their message and the other right answers that must pass; the tests run them all. To add one, copy a file.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from netlib.course.exercises import _page
from netlib.names import nearest

COMPARISONS = ("relative", "exact", "excess", "complement", "choice")


@dataclass(frozen=True)
class Part:
    """One value that is asked for, and how it is compared.

    `want` is in SI (or a letter, for a choice). `compare`: "relative" (|got - want| <= rtol |want|), "exact" (counts),
    "excess" (rtol of want - 1, for ratios near one), "complement" (rtol of 1 - want, for shares near one), "choice".
    """

    name: str
    want: float | str
    unit: str = ""
    rtol: float = 0.01
    compare: str = "relative"
    ranks: int | None = None
    wrong: Mapping[Any, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Law:
    """A property that a learner's function must have: `holds(f, *case)` for each small case.

    `says` is a sentence about the function; `names` name the entries of a case in messages, each a number, True or
    False, or a list of numbers. f returns one number, or with `several` a tuple of as many as the learner returned.
    """

    says: str
    names: tuple[str, ...]
    cases: tuple[tuple[Any, ...], ...]
    holds: Callable[..., bool]
    several: bool = False


@dataclass(frozen=True)
class Exercise:
    """One exercise. `answer()` computes a number (SI), a choice's letter, a dict of parts, or, with `laws`, a function.

    `unit`, `rtol`, `compare` and `ranks` are one value for all parts or a dict by part. `wrong` maps a wrong answer, as
    a learner would type it, to its message (parts: part -> wrong answer -> message; function: wrong function -> words
    of the law it breaks). `right` lists other answers that must pass. `options` holds a choice: part -> letter -> text.
    `shown` is text to print as it is (a log, a program). `place` orders a chapter's sheet.
    """

    id: str
    chapter: str
    skill: str
    stars: int
    minutes: tuple[int, int]
    ask: str
    answer: Callable[[], Any]
    hints: tuple[str, str, str]
    explain: Callable[[], str]
    unit: str | Mapping[str, str] = ""
    rtol: float | Mapping[str, float] = 0.01
    compare: str | Mapping[str, str] = "relative"
    ranks: int | Mapping[str, int] | None = None
    wrong: Mapping[Any, Any] = field(default_factory=dict)
    right: tuple[Any, ...] = ()
    laws: tuple[Law, ...] = ()
    options: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    shown: str = ""
    place: int = 0

    def __post_init__(self) -> None:
        problem = _problem(self)
        if problem:
            raise ValueError(f"exercise {self.id!r}: {problem}")

    @property
    def parts(self) -> tuple[Part, ...]:
        """What is asked for, one Part per value; a single number is one Part with the name "". Empty for a function."""
        if self.laws:
            return ()
        answer = self.answer()
        several = isinstance(answer, Mapping)
        wants = answer if several else {"": answer}
        return tuple(
            Part(
                name,
                want if isinstance(want, str) else float(want),
                _of(self.unit, name, ""),
                _of(self.rtol, name, 0.01),
                _of(self.compare, name, "relative"),
                _of(self.ranks, name, None),
                self.wrong.get(name, {}) if several else self.wrong,
            )
            for name, want in wants.items()
        )


exercise = Exercise  # an exercise's file reads `EXERCISE = exercise(id=..., ask=..., ...)`


def ids() -> list[str]:
    """Every exercise's id, by listing this folder.

    >>> "ring-01" in ids()
    True
    """
    return [module.name.replace("_", "-") for module in iter_modules(__path__) if not module.name.startswith("_")]


def load(id: str) -> Exercise:
    """The exercise called `id`; imports only its file.

    >>> load("ring-01").chapter
    'collectives'
    """
    known = ids()
    if not isinstance(id, str) or id not in known:
        if not isinstance(id, str):
            raise ValueError(f"no exercise is called so: its id is text such as 'ring-01', not {_a(id)}")
        meant = nearest(id, known, "an id is a word and two digits, such as ring-01, and stands above its question")
        raise ValueError(f"no exercise is called {id[:40]!r}; {meant}")
    found: Exercise = import_module(f"{__name__}.{id.replace('-', '_')}").EXERCISE
    return found


def sheet(chapter: str) -> list[Exercise]:
    """A chapter's exercises in teaching order.

    >>> sheet("collectives")[0].id
    'ring-01'
    """
    found = [each for each in map(load, ids()) if each.chapter == chapter]
    if not found:
        chapters = sorted({load(id).chapter for id in ids()})
        raise ValueError(f"chapter = {chapter!r} has no exercises; use {' or '.join(chapters)}")
    return sorted(found, key=lambda each: (each.place, each.id))


def exercise_html(id: str) -> str:
    """The exercise for the rendered book: question, folded hints, folded explanation.

    >>> exercise_html("ring-01").count("<details")
    4
    """
    return _page.exercise_html(load(id))


def _a(value: object) -> str:
    """A number as it is, anything else by its type; a learner's object may raise when it is printed."""
    return str(value)[:40] if type(value) in (int, float, bool, type(None)) else f"a {type(value).__name__[:40]}"


def _of(value: Any, name: str, default: Any) -> Any:
    return value.get(name, default) if isinstance(value, Mapping) else value


def _problem(made: Exercise) -> str:
    """What is wrong with an exercise's plain fields, or ""."""
    compare = made.compare.values() if isinstance(made.compare, Mapping) else [made.compare]
    low, high = made.minutes
    if not re.fullmatch(r"[a-z][a-z0-9]*-\d\d", made.id):
        return "id must be a word and two digits, like ring-03"
    if made.stars not in (1, 2, 3):
        return f"stars = {made.stars!r} must be 1, 2 or 3"
    if not 0 < low <= high:
        return f"minutes = {made.minutes!r} must be (low, high) with 0 < low <= high"
    if len(made.hints) != 3 or not all(made.hints):
        return "hints must be three: a nudge, the formula, the first line"
    if not set(compare) <= set(COMPARISONS):
        return f"compare must be one of {', '.join(COMPARISONS)}"
    return ""
