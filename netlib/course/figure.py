"""Figure: a picture as plain data, so that matplotlib and the page draw the same numbers.

A `Figure` holds axes, elements and words, and no drawing code. Every array in it may have, in front of its own axis,
one axis per knob: then the figure holds a whole grid of states, and `take` picks one. Arrays without those leading
axes are the same in every state. NaN draws a gap.

    own axis of      shape of one state     shape of a grid with three knobs
    Line.x, Line.y   (X,)                   (k1, k2, k3, X)
    Heat.z           (Y, X)                 (k1, k2, k3, Y, X)
    Rule.at, Number  (1,)                   (k1, k2, k3, 1)
    Diagram.load     (edges,)               (k1, k2, k3, edges)
    Spans.start      (S,)                   (k1, k2, k3, S)
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
Words = str | Callable[[Mapping[str, Any]], str]


@dataclass(frozen=True)
class Axis:
    """One axis: a lower-case label, the SI unit of its values, its scale and its limits.

    `unit` is printed with the prefix that fits ("s": 1 ms; "B": 1 MB; "iB": bytes with binary prefixes, 1 MiB; "B/s";
    "W"; "flop/s"; "%": values 0-1); any other unit is printed as it stands. Limits left out are taken over the whole
    grid, so the frame never jumps. `categories` name the positions 0, 1, 2 ... of bars, or the classes of a heat map.
    """

    label: str
    unit: str = ""
    scale: Literal["linear", "log"] = "linear"
    limits: tuple[float, float] | None = None
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Line:
    """A curve through (x, y); `ink` is its concept. `area` fills the space below."""

    name: str
    x: ArrayLike
    y: ArrayLike
    ink: str = "model"
    area: bool = False
    own: ClassVar[dict[str, int]] = {"x": 1, "y": 1}


@dataclass(frozen=True)
class Points:
    """Separate marks, for measurements over a line; `notes` may name each one in the readout."""

    name: str
    x: ArrayLike
    y: ArrayLike
    ink: str = "measured"
    notes: tuple[str, ...] = ()
    own: ClassVar[dict[str, int]] = {"x": 1, "y": 1}


@dataclass(frozen=True)
class Bars:
    """One series of bars over the categories of the x axis: side by side, or `stacked` on the series before it."""

    name: str
    y: ArrayLike
    ink: str = "model"
    stacked: bool = False
    own: ClassVar[dict[str, int]] = {"y": 1}


@dataclass(frozen=True)
class Heat:
    """A field z over the cells around x (X,) and y (Y,); z has shape (Y, X).

    `colour` is the axis of z. With `colour.categories` z holds class numbers, `inks` names the concept of each class,
    and each region carries its name: who wins where.
    """

    name: str
    x: ArrayLike
    y: ArrayLike
    z: ArrayLike
    colour: Axis
    inks: tuple[str, ...] = ()
    own: ClassVar[dict[str, int]] = {"x": 1, "y": 1, "z": 2}


@dataclass(frozen=True)
class Rule:
    """A straight mark across the panel at one value, vertical (`along="x"`) or horizontal; NaN hides it.

    `text` is drawn beside it; `{at}` in it becomes the value with its unit.
    """

    at: ArrayLike
    text: str
    along: Literal["x", "y"] = "x"
    ink: str = "bound"
    own: ClassVar[dict[str, int]] = {"at": 1}


@dataclass(frozen=True)
class Diagram:
    """Boxes and directed links: width is capacity, colour and pattern are load.

    `at` (N, 2) places the boxes in the unit square, y upward (hosts bottom, spines top). `links` (E, 2) are pairs of
    box numbers. `load` (E,) is the share of each link's capacity in use: above 1 it is drawn as overload, NaN as a
    broken link. `width` (E,) is the capacity in any unit; only ratios matter. `fill` (N,), 0-1, fills the boxes (a
    queue, a share of memory).
    """

    name: str
    boxes: tuple[str, ...]
    at: ArrayLike
    links: ArrayLike
    load: ArrayLike
    width: ArrayLike = 1.0
    fill: ArrayLike = 0.0
    own: ClassVar[dict[str, int]] = {"at": 2, "links": 2, "load": 1, "width": 1, "fill": 1}


@dataclass(frozen=True)
class Spans:
    """One kind of work in a timetable: bars from `start` to `end` along x, in the rows that the y axis names.

    All arrays (S,); NaN draws none. `row` may be a fraction and `tall` less than 0.8, where two bars share a row.
    `label` is a number written into a bar that has room for it. The order of the series gives each a look of its own.
    """

    name: str
    row: ArrayLike
    start: ArrayLike
    end: ArrayLike
    label: ArrayLike = np.nan
    tall: ArrayLike = 0.8
    ink: str = "model"
    own: ClassVar[dict[str, int]] = {"row": 1, "start": 1, "end": 1, "label": 1, "tall": 1}


Element = Line | Points | Bars | Heat | Rule | Diagram | Spans


@dataclass(frozen=True)
class Number:
    """A named number of each state, with its unit: said in the reading, listed in the table, returned by `state`."""

    value: ArrayLike
    unit: str = ""
    label: str = ""
    own: ClassVar[dict[str, int]] = {"value": 1}


@dataclass(frozen=True)
class Panel:
    """A y axis and what is drawn on it; `height` is relative to the other panels."""

    y: Axis
    elements: tuple[Element, ...]
    height: float = 1.0


@dataclass(frozen=True)
class Figure:
    """A picture with its words.

    `reading` is one sentence per state that says what is seen: a template (`"the tree wins up to {crossing}"`, with
    the knobs and `numbers` by name, printed with units) or a function of a mapping of the same names to plain values.
    `failure` likewise says what is broken in a state ("" when nothing is). `below` is a second panel
    on the same x axis, or several from top to bottom; `height` is the first panel's. A diagram needs no axes.
    """

    elements: tuple[Element, ...]
    reading: Words
    x: Axis = Axis("")
    y: Axis = Axis("")
    failure: Words = ""
    numbers: Mapping[str, Number] = field(default_factory=dict)
    below: Panel | tuple[Panel, ...] = ()
    height: float = 1.0

    @property
    def panels(self) -> tuple[Panel, ...]:
        """The panels from top to bottom."""
        lower = (self.below,) if isinstance(self.below, Panel) else self.below
        return (Panel(self.y, self.elements, self.height), *lower)


Part = Element | Number


def fixed(values: Array) -> Array:
    """The array, closed to writers: what a cache hands to several figures.

    >>> fixed(np.zeros(2)).flags.writeable
    False
    """
    values.setflags(write=False)
    return values


def channels(part: Part) -> Iterator[tuple[str, Array, int]]:
    """The arrays of a part: name, values as floats (at least its own axes), number of own axes."""
    for name, own in part.own.items():
        values = np.asarray(getattr(part, name), float)
        yield name, values.reshape((1,) * (own - values.ndim) + values.shape), own


def each_part(figure: Figure, change: Callable[[Part], Any]) -> Figure:
    """The figure with every element and number replaced by `change` of it."""

    def all_of(elements: tuple[Element, ...]) -> tuple[Element, ...]:
        return tuple(change(e) for e in elements)

    below = tuple(replace(panel, elements=all_of(panel.elements)) for panel in figure.panels[1:])
    numbers = {name: change(number) for name, number in figure.numbers.items()}
    return replace(figure, elements=all_of(figure.elements), numbers=numbers, below=below)


def take(figure: Figure, index: tuple[int, ...]) -> Figure:
    """One state of a figure that holds a grid.

    >>> f = Figure((Line("a", x=[0, 1], y=np.arange(6).reshape(3, 2)),), "y")
    >>> take(f, (2,)).elements[0].y
    array([4., 5.])
    """

    def pick(part: Part) -> Part:
        return changed(part, {n: v if v.ndim == own else v[index] for n, v, own in channels(part)})

    return each_part(figure, pick)


def changed(part: Part, arrays: Mapping[str, Array]) -> Part:
    """The part with other arrays."""
    return type(part)(**{**part.__dict__, **arrays})


def parts(figure: Figure) -> dict[str, Part]:
    """Every element and number by a short key: "0.2" is element 2 of panel 0, "n.crossing" a number."""
    drawn = {f"{p}.{i}": e for p, panel in enumerate(figure.panels) for i, e in enumerate(panel.elements)}
    return {**drawn, **{f"n.{name}": number for name, number in figure.numbers.items()}}
