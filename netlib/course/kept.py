"""Kept: the results of a slow explorer, in a table beside it.

A page is baked from every state of an explorer's grid. Where that takes more than three seconds the results are kept:

    CONTROL, SENDERS = Knob("dcqcn", "hpcc"), Knob(8, 16)

    def run(control: str, senders: float) -> dict[str, Any]:
        ...
        return {"queue": [...], "last": 1.3e-3}

    KEPT = kept(__file__, {"control": CONTROL, "senders": SENDERS}, run, "Queue and last finish of an incast.")

    @explorer("slow-incast", ...)
    def slow_incast(control: Annotated[Array, CONTROL], senders: Annotated[Array, SENDERS]) -> Figure:
        queue = KEPT.read("queue", control, senders)

`read` gives an array with the knobs' axes in front, as `each` would. `netlib kept slow-incast` computes the table anew.
The tests recompute states and compare, so that a table cannot outlive the model that made it.
"""

import argparse
import csv
import importlib
import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from netlib.course import explorers
from netlib.course.explorer import Knob, each
from netlib.course.figure import Array

DIGITS = 5
CLOSE = 2e-3  # of the largest value of a result: what another processor's rounding may move
Value = float | str


@dataclass(frozen=True)
class Kept:
    """Results of `run` for every state of a grid, read from `table` and never computed by a page.

    table   the csv file: a comment, then one row per state and result
    knobs   the explorer's knobs by name, in the order of its parameters
    run     takes a state's values by name, gives its results: numbers or series by name, the same names in each state
    about   one sentence: what the numbers are
    """

    table: Path
    knobs: Mapping[str, Knob]
    run: Callable[..., Mapping[str, Any]]
    about: str

    @property
    def command(self) -> str:
        """What to type to compute the table anew."""
        return f"netlib kept {self.table.stem.replace('_', '-')}"

    def states(self) -> Iterator[tuple[Value, ...]]:
        """The values of every state, the last knob fastest."""
        return itertools.product(*(knob.values for knob in self.knobs.values()))

    @cached_property
    def rows(self) -> dict[tuple[str, ...], dict[str, Array]]:
        """State as texts, to its results. A table whose states are not the knobs' is refused."""
        if not self.table.exists():
            raise ValueError(f"{self.table.name} is not there; compute it with `{self.command}`")
        lines = [line for line in self.table.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        head, *body = csv.reader(lines)
        wide = len(self.knobs)
        found: dict[tuple[str, ...], dict[str, Array]] = {}
        for row in body:
            values = np.array([float(v) if v else np.nan for v in row[wide + 1 :]])
            values.setflags(write=False)  # every page reads this very array
            found.setdefault(tuple(row[:wide]), {})[row[wide]] = values
        wanted = {_texts(state) for state in self.states()}
        if head[:wide] != list(self.knobs):
            raise ValueError(f"{self.table.name} has knobs {head[:wide]}, not {list(self.knobs)}; run `{self.command}`")
        if set(found) != wanted:
            odd = sorted(set(found) ^ wanted)[0]
            which = "lacks" if odd in wanted else "still has"
            raise ValueError(f"{self.table.name} {which} the state {', '.join(odd)}; run `{self.command}`")
        return found

    def read(self, name: str, *knobs: Array) -> Array:
        """A result at the knobs' values, the knobs' axes in front and its own last; short series end in gaps."""
        longest = max(len(self.of(name, *state)) for state in self.states())

        def one(*state: Value) -> Array:
            values = self.of(name, *state)
            return np.append(values, np.full(longest - len(values), np.nan))

        return each(one, *knobs)

    def of(self, name: str, *state: Value) -> Array:
        """A result of one state, as an array."""
        results = self.rows.get(_texts(state))
        if results is None:
            raise ValueError(f"{self.table.name} has no state {state}; run `{self.command}`")
        if name not in results:
            raise ValueError(f"{self.table.name} keeps no {name!r}; it has {', '.join(results)}")
        return results[name]

    def fresh(self, *state: Value) -> dict[str, Array]:
        """The results of one state, computed now and rounded as the table rounds."""
        found = self.run(**dict(zip(self.knobs, state, strict=True)))
        return {name: _rounded(np.ravel(np.asarray(values, float))) for name, values in found.items()}

    def stale(self, *state: Value) -> str:
        """A sentence if a state computed now is not what the table says, otherwise nothing."""
        new, old = self.fresh(*state), self.rows[_texts(state)]
        for name in sorted(new.keys() | old.keys()):
            a, b = new.get(name, np.zeros(0)), old.get(name, np.zeros(0))
            room = CLOSE * np.nanmax(np.abs(b), initial=0.0)
            if a.shape != b.shape or not np.allclose(a, b, rtol=CLOSE, atol=room, equal_nan=True):
                return f"{self.table.name}: {name} at {', '.join(_texts(state))} has changed; run `{self.command}`"
        return ""

    def write(self, told: Callable[[str], object] = lambda line: None) -> None:
        """Compute every state and replace the table; `told` hears of each state."""
        lines = [f"# {self.about}", f"# Computed by `{self.command}`; {DIGITS} digits, an empty field is no value."]
        lines += [",".join([*self.knobs, "result", "values"])]
        for state in self.states():
            told(", ".join(_texts(state)))
            for name, values in self.fresh(*state).items():
                texts = ["" if np.isnan(v) else f"{v:.{DIGITS}g}" for v in values]
                lines.append(",".join([*map(_quoted, _texts(state)), name, *texts]))
        self.table.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.__dict__.pop("rows", None)


def kept(file: str, knobs: Mapping[str, Knob], run: Callable[..., Mapping[str, Any]], about: str) -> Kept:
    """The table beside an explorer's file: `kept(__file__, ...)` in slow_incast.py is slow_incast.csv."""
    return Kept(Path(file).with_suffix(".csv"), knobs, run, about)


def of_explorer(id: str) -> Kept | None:
    """The table of an explorer; None if its results are computed when they are asked for."""
    module = importlib.import_module(explorers.load(id).view.__module__)
    return next((value for value in vars(module).values() if isinstance(value, Kept)), None)


def tables() -> list[str]:
    """The ids of the explorers that have a table."""
    return sorted(p.stem.replace("_", "-") for p in Path(explorers.__file__).parent.glob("*.csv"))


def run(asked: argparse.Namespace) -> int:
    """`netlib kept ID ...`: compute the tables of these explorers anew, of all that have one if none is named."""
    for id in asked.ids or tables():
        found = of_explorer(id)
        if found is None:
            raise ValueError(f"explorer {id!r} keeps no table; it computes its states when they are asked for")
        print(f"{found.table.name}:")
        found.write(print)
    return 0


def _texts(state: tuple[Value, ...]) -> tuple[str, ...]:
    return tuple(value if isinstance(value, str) else f"{value:.10g}" for value in state)


def _quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text


def _rounded(values: Array) -> Array:
    return np.array([float(f"{v:.{DIGITS}g}") for v in values])
