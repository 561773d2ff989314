"""Twin: a figure as tables of text, for eyes that cannot use the picture, for print, and for copying numbers.

A table is laid out once for the whole grid as `Cell`s that point into the figure's arrays; the notebook and the page
then fill it for the state on show.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netlib.course.figure import Axis, Bars, Diagram, Figure, Heat, Line, Points, Spans, channels, parts
from netlib.course.words import NO_VALUE, nice


@dataclass(frozen=True)
class Cell:
    """A place in a table: item `item` of an array of part `key`, printed with `unit`, or as a category's name."""

    key: str
    channel: str
    item: int
    unit: str = ""
    categories: tuple[str, ...] = ()
    gap: str = NO_VALUE


Rows = tuple[tuple[Cell | str, ...], ...]


@dataclass(frozen=True)
class Table:
    """A head and rows; a cell is fixed text or a `Cell`."""

    head: tuple[str, ...]
    rows: Rows


def sample(count: int, most: int = 13) -> list[int]:
    """Which of `count` samples a table lists: both ends and evenly between.

    >>> sample(97, 5)
    [0, 24, 48, 72, 96]
    """
    return sorted({int(i) for i in np.linspace(0, count - 1, min(count, most)).round()})


def tables(figure: Figure) -> list[Table]:
    """The tables of a figure, of one state or of a grid."""
    found = []
    if figure.numbers:
        rows = tuple((n.label or name, Cell(f"n.{name}", "value", 0, n.unit)) for name, n in figure.numbers.items())
        found.append(Table(("number", "value"), rows))
    for p, panel in enumerate(figure.panels):
        keyed = {f"{p}.{i}": e for i, e in enumerate(panel.elements)}
        found += _curves(keyed, figure.x, panel.y)
        found += _bars({k: e for k, e in keyed.items() if isinstance(e, Bars)}, figure.x, panel.y)
        found += [_heat(k, e, figure.x, panel.y) for k, e in keyed.items() if isinstance(e, Heat)]
        found += [_links(k, e) for k, e in keyed.items() if isinstance(e, Diagram)]
        found += [_spans(k, e, figure.x, panel.y) for k, e in keyed.items() if isinstance(e, Spans)]
    return found


def fill(table: Table, figure: Figure) -> list[list[str]]:
    """The rows of a table as text, for one state."""
    arrays = {(k, n): v for k, part in parts(figure).items() for n, v, _ in channels(part)}

    def text(cell: Cell | str) -> str:
        if isinstance(cell, str):
            return cell
        value = float(arrays[cell.key, cell.channel].ravel()[cell.item])
        if not np.isfinite(value):
            return cell.gap
        return cell.categories[round(value)] if cell.categories else nice(value, cell.unit)

    return [[text(cell) for cell in row] for row in table.rows]


def _curves(keyed: Mapping[str, object], x: Axis, y: Axis) -> list[Table]:
    """Lines and points; those over the same x share a table."""
    groups: list[dict[str, Line | Points]] = []
    for key, part in keyed.items():
        if isinstance(part, Line | Points):
            same = [g for g in groups if np.array_equal(next(iter(g.values())).x, part.x, equal_nan=True)]
            if same:
                same[0][key] = part
            else:
                groups.append({key: part})
    found = []
    for group in groups:
        first = next(iter(group))
        head = (x.label, *(part.name for part in group.values()))
        items = sample(np.shape(group[first].x)[-1])
        notes = getattr(group[first], "notes", ())
        rows = tuple(
            (Cell(first, "x", i, x.unit), *(Cell(k, "y", i, y.unit) for k in group), *notes[i : i + 1]) for i in items
        )
        found.append(Table((*head, "note") if notes else head, rows))
    return found


def _bars(keyed: dict[str, Bars], x: Axis, y: Axis) -> list[Table]:
    if not keyed:
        return []
    rows: Rows = tuple((name, *(Cell(k, "y", i, y.unit) for k in keyed)) for i, name in enumerate(x.categories))
    return [Table((x.label, *(bar.name for bar in keyed.values())), rows)]


def _heat(key: str, heat: Heat, x: Axis, y: Axis) -> Table:
    xs, ys = np.asarray(heat.x, float), np.asarray(heat.y, float)
    columns = sample(xs.size, 6)
    axis = heat.colour
    rows: Rows = tuple(
        (nice(ys[j], y.unit), *(Cell(key, "z", j * xs.size + i, axis.unit, axis.categories) for i in columns))
        for j in sample(ys.size, 9)
    )
    return Table((f"{y.label} \\ {x.label}", *(nice(xs[i], x.unit) for i in columns)), rows)


def _links(key: str, diagram: Diagram) -> Table:
    ends = np.asarray(diagram.links, int)
    rows = tuple(
        (f"{diagram.boxes[a]} → {diagram.boxes[b]}", Cell(key, "load", i, "%", gap="broken"))
        for i, (a, b) in enumerate(ends)
    )
    return Table(("link", "load"), rows)


def _spans(key: str, spans: Spans, x: Axis, y: Axis) -> Table:
    """Some of a series' bars: where, from when, until when."""
    items = sample(np.shape(spans.start)[-1])
    rows: Rows = tuple(
        (
            Cell(key, "row", i, "", y.categories),
            Cell(key, "label", i),
            Cell(key, "start", i, x.unit),
            Cell(key, "end", i, x.unit),
        )
        for i in items
    )
    return Table((spans.name, "number", f"from, {x.label}", "until"), rows)
