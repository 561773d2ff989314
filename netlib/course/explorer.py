"""Explorers: a figure with at most three knobs, written once, alive in a notebook and in a printed-to-HTML page.

An explorer is a pure function from knobs to a `Figure`:

    @explorer(
        "wire-time",
        title="One message on one wire",
        caption="Short messages pay for the start, long ones for the bytes.",
        alt="A curve that is flat up to 100 kB and rises in proportion from there.",
    )
    def wire_time(alpha: Annotated[Array, Knob(1e-6, 2e-6, 5e-6, unit="s", label="latency")]) -> Figure:
        size = np.geomspace(KiB, GiB, 81)
        half = alpha * 50e9
        return Figure(
            x=Axis("message size", "iB", "log"),
            y=Axis("time", "s", "log"),
            elements=(Line("time", size, alpha + size / 50e9), Rule(half, "half is latency: {at}")),
            numbers={"half": Number(half, "iB", "half-latency size")},
            reading="Below {half} more than half of the time is latency.",
        )

Put it in `netlib/course/explorers/wire_time.py`; then `explore("wire-time")` shows it in a notebook,
`bake("wire-time")` is its HTML for the page, and `state("wire-time", alpha=2e-6)` are the plain numbers of one state.

How a view stays plain. Each knob arrives as an array whose last axis has length one, waiting for x: shape (1,) for
one state, (k1, k2, k3, 1) for the whole grid at once. Ordinary broadcasting, `alpha + size / rate`, then serves both.
A knob of strings arrives as an array of strings: `np.where(kind == "ring", a, b)`, or `pick(kind, {"ring": a, ...})`.
Something with two axes of its own (a heat map) takes `knob[..., None]`. Code that can only do one state at a time
goes through `each(f, knob, ...)`. Randomness takes an explicit seed inside the view: same knobs, same figure.
"""

import inspect
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isclose
from numbers import Integral, Real
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import numpy as np

from netlib.course.figure import Array, Figure, Heat, Part, changed, channels, each_part, parts
from netlib.course.words import nice, sentence, spoken

KNOBS = 3
SAMPLES = 1_000_000
SERIES = ("x", "y", "row", "start", "end", "label", "tall")  # channels of one length within a part


@dataclass(frozen=True, init=False)
class Knob:
    """A declared grid of values, numbers or strings, in the order in which the slider walks them.

    `unit` "s", "B", "iB", "B/s", "W", "flop/s" or "%" means SI values printed with a prefix; any other is printed as it
    stands. `default` shows the interesting case (the first value if left out). `label` replaces the parameter's name.

    >>> Knob(2e-6, 5e-6, unit="s").texts, Knob("ring", "all_reduce").texts
    (('2 µs', '5 µs'), ('ring', 'all-reduce'))
    """

    values: tuple[float | str, ...]
    unit: str
    default: float | str
    label: str

    def __init__(
        self, *values: float | str, unit: str = "", default: float | str | None = None, label: str = ""
    ) -> None:
        if not values or len(set(values)) < len(values):
            raise ValueError(f"values = {values} need at least one value and none twice")
        if default is not None and default not in values:
            raise ValueError(f"default = {default!r} is not one of the knob's values {values}")
        for name, value in (
            ("values", values),
            ("unit", unit),
            ("default", values[0] if default is None else default),
            ("label", label),
        ):
            object.__setattr__(self, name, value)

    @property
    def texts(self) -> tuple[str, ...]:
        """The values as the slider and the sentences say them."""
        return tuple(spoken(v) if isinstance(v, str) else nice(v, self.unit, short=True) for v in self.values)

    def index(self, value: float | str) -> int:
        """The place of a value on the grid; numbers match within 1e-9."""
        inexact = isinstance(value, Real) and not isinstance(value, Integral)
        for i, own in enumerate(self.values if isinstance(value, str | Real) else ()):
            if own == value or (inexact and isinstance(own, Real) and isclose(own, float(value), rel_tol=1e-9)):
                return i
        choices = ", ".join(map(str, self.values))
        raise ValueError(f"{repr(value)[:40]} is not on the knob's grid; choose one of {choices}")


@dataclass(frozen=True)
class Knobbed:
    """What has knobs and words: an explorer, or a player (netlib.course.player)."""

    id: str
    title: str
    caption: str
    alt: str
    view: Callable[..., Any]
    knobs: Mapping[str, Knob]

    @property
    def shape(self) -> tuple[int, ...]:
        """How many values each knob has."""
        return tuple(len(knob.values) for knob in self.knobs.values())

    @property
    def start(self) -> tuple[int, ...]:
        """The default state as places on the grid."""
        return tuple(knob.index(knob.default) for knob in self.knobs.values())

    def index(self, **values: float | str) -> tuple[int, ...]:
        """Knob values as places on the grid; a knob left out stands at its default."""
        found = list(self.start)
        for name, value in values.items():
            if name not in self.knobs:
                raise ValueError(f"{name!r} is not a knob of {self.id}; it has {', '.join(self.knobs) or 'none'}")
            try:
                found[list(self.knobs).index(name)] = self.knobs[name].index(value)
            except ValueError as error:
                raise ValueError(f"{name} = {error}") from None
        return tuple(found)


@dataclass(frozen=True)
class Explorer(Knobbed):
    """A view with its knobs and its words; call it with knob values for the figure of one state."""

    @cached_property
    def grid(self) -> Figure:
        """The figure of every state at once, from one call of the view."""
        open_mesh = np.meshgrid(*(np.array(k.values) for k in self.knobs.values()), indexing="ij")
        figure = self.view(**{name: m[..., None] for name, m in zip(self.knobs, open_mesh, strict=True)})
        return _spread(self, figure, self.shape)

    def at(self, index: tuple[int, ...]) -> Figure:
        """The figure of the state at these places, from a call of the view with that state alone."""
        chosen = zip(self.knobs.items(), index, strict=True)
        figure = self.view(**{name: np.array([knob.values[i]]) for (name, knob), i in chosen})
        return _spread(self, figure, ())

    def __call__(self, **values: float | str) -> Figure:
        """The figure at these knob values."""
        return self.at(self.index(**values))

    def words(self, figure: Figure, index: tuple[int, ...]) -> tuple[str, str]:
        """Reading and failure of one state; `figure` is that state's."""
        chosen = {name: (k.values[i], k.texts[i]) for (name, k), i in zip(self.knobs.items(), index, strict=True)}
        for name, number in figure.numbers.items():
            value = float(np.ravel(number.value)[0])
            chosen[name] = value, nice(value, number.unit)
        values, texts = ({name: pair[k] for name, pair in chosen.items()} for k in (0, 1))
        return sentence(figure.reading, values, texts), sentence(figure.failure, values, texts)


def explorer(id: str, *, title: str, caption: str, alt: str) -> Callable[[Callable[..., Figure]], Explorer]:
    """Make an explorer of a view; its knobs are its parameters, annotated `Annotated[Array, Knob(...)]`."""
    return lambda view: Explorer(id, title, caption, alt, view, knobs_of("explorer", id, view, title, caption, alt))


def knobs_of(kind: str, id: str, view: Callable[..., Any], title: str, caption: str, alt: str) -> dict[str, Knob]:
    """The knobs of a view: its parameters, each annotated with one; refused without words or with too many."""
    if not title or not caption or not alt or caption == alt:
        raise ValueError(f"{kind} {id!r} needs a title, a caption and an alt text that says what the picture shows")
    knobs: dict[str, Knob] = {}
    hints = get_type_hints(view, include_extras=True)
    for name in inspect.signature(view).parameters:
        found = [a for a in get_args(hints.get(name))[1:] if isinstance(a, Knob)]
        if get_origin(hints.get(name)) is not Annotated or len(found) != 1:
            raise ValueError(f"parameter {name!r} of {kind} {id!r} must be annotated Annotated[Array, Knob(...)]")
        knobs[name] = found[0]
    if len(knobs) > KNOBS:
        raise ValueError(f"{kind} {id!r} has {len(knobs)} knobs; keep the {KNOBS} that teach and fix the others")
    return knobs


def each(f: Callable[..., Any], *knobs: Array) -> Array:
    """Run `f`, which takes plain values, for every state; its results (numbers or arrays) stack in front of their axes.

    >>> each(lambda n, kind: [n, 2.0 * n], np.array([[3], [4]]), np.array([["a"], ["b"]]))
    array([[3., 6.],
           [4., 8.]])
    """
    first = np.broadcast_arrays(*knobs)
    results = [np.atleast_1d(f(*(k[i][0].item() for k in first))) for i in np.ndindex(first[0].shape[:-1])]
    return np.array(results, float).reshape(first[0].shape[:-1] + results[0].shape)


def pick(knob: Array, choices: Mapping[str, Any]) -> Array:
    """By a knob of strings, one of several arrays.

    >>> pick(np.array(["tree"]), {"ring": 1.0, "tree": np.array([2.0, 3.0])})
    array([2., 3.])
    """
    unknown = set(np.unique(knob).tolist()) - set(choices)
    if unknown:
        raise ValueError(
            f"knob value {sorted(unknown)[0]!r} has no choice; give one for each of {sorted(set(choices) | unknown)}"
        )
    return np.select([knob == name for name in choices], list(choices.values()), np.nan)


def find(which: str | Explorer) -> Explorer:
    """The explorer of an id; an explorer is its own."""
    from netlib.course.explorers import load

    return which if isinstance(which, Explorer) else load(which)


def state(which: str | Explorer, **values: float | str) -> dict[str, Any]:
    """One state as plain numbers: each element by name (and "x" of the first), each number, `reading` and `failure`."""
    own = find(which)
    index = own.index(**values)
    figure = own.at(index)
    found: dict[str, Any] = {}
    for key, part in parts(figure).items():
        for channel, array, _ in channels(part):
            plain = array.tolist()
            if key.startswith("n."):
                found[key[2:]] = plain[0]
            elif channel == "x":
                found.setdefault("x", plain)
            elif channel in ("y", "z", "load", "start"):
                found[getattr(part, "name", key)] = plain
    found["reading"], found["failure"] = own.words(figure, index)
    return found


def bake(which: str | Explorer) -> str:
    """The explorer as HTML for a page: real sliders, no kernel. Needs `assets/explorer.js` and `.css` once per site."""
    from netlib.course import page

    return page.bake(find(which))


def explore(which: str | Explorer) -> Any:
    """Show an explorer in a notebook: sliders and a figure that follows; in the book build, its baked page figure."""
    from netlib.course import live

    return live.explore(find(which))


def states(which: Knobbed) -> list[tuple[int, ...]]:
    """Every state of the grid, as places."""
    return list(itertools.product(*(range(k) for k in which.shape)))


def _spread(own: Explorer, figure: Figure, shape: tuple[int, ...]) -> Figure:
    """Give every array of a figure its full shape, or say which one does not fit."""

    def fit(part: Part) -> Part:
        name = getattr(part, "name", "") or getattr(part, "text", "") or getattr(part, "label", "") or "a number"
        arrays = list(channels(part))
        longest = max((v.shape[-1] for n, v, _ in arrays if n in SERIES), default=1)
        found = {}
        for channel, value, axes in arrays:
            tail = value.shape[-axes:]
            if channel in SERIES and axes == 1 and tail == (1,):
                tail = (longest,)  # one value for a whole curve: a level
            fixed = value.ndim == axes
            try:
                found[channel] = np.broadcast_to(value, tail if fixed else shape + tail)
            except ValueError:
                raise ValueError(
                    f"{channel} of {name!r} in explorer {own.id!r} has shape {value.shape}, not {shape + tail}: "
                    "keep the knobs' axes in front, x last, or use each()"
                ) from None
            if isinstance(part, Heat) and channel != "z" and not fixed:
                raise ValueError(f"{channel} of {name!r} in explorer {own.id!r} must be the same in every state")
        if sum(v.size for v in found.values()) > SAMPLES:
            raise ValueError(f"{name!r} in explorer {own.id!r} holds over {SAMPLES:,} samples; make a grid coarser")
        return changed(part, found)

    return each_part(figure, fit)
