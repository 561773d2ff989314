"""Frame: the limits of a figure's axes over its whole grid, so that nothing but the data moves under a slider."""

from dataclasses import dataclass

import numpy as np

from netlib.course.figure import Array, Axis, Bars, Diagram, Figure, Heat, Line, Panel, Points, Spans, channels

Limits = tuple[float, float]


@dataclass(frozen=True)
class Frame:
    """Limits of the x axis, of each panel's y axis, and of each heat map's colour (by panel, then element)."""

    x: Limits
    y: tuple[Limits, ...]
    colour: dict[tuple[int, int], Limits]


def frame(grid: Figure) -> Frame:
    """The frame of a figure that holds a grid (or one state)."""
    xs: list[Array] = []
    ys = []
    colour = {}
    for p, panel in enumerate(grid.panels):
        for i, part in enumerate(panel.elements):
            if isinstance(part, Line | Points):
                xs.append(np.ravel(part.x))
            elif isinstance(part, Spans):
                xs += [np.ravel(part.start), np.ravel(part.end)]
            elif isinstance(part, Heat):
                xs.append(edges(np.asarray(part.x, float), grid.x.scale == "log"))
                colour[p, i] = span([np.ravel(part.z)], part.colour, tight=True)
        ys.append(span(_heights(panel), panel.y, tight=any(isinstance(e, Heat) for e in panel.elements)))
    return Frame(span(xs, grid.x, tight=True), tuple(ys), colour)


def _heights(panel: Panel) -> list[Array]:
    """Every y that a panel must hold; stacked bars count with what they stand on."""
    found: list[Array] = []
    for part in panel.elements:
        if isinstance(part, Heat):
            found.append(edges(np.asarray(part.y, float), panel.y.scale == "log"))
        elif not isinstance(part, Diagram | Bars):
            found += [v.ravel() for name, v, _ in channels(part) if name == "y"]
    bars = [part for part in panel.elements if isinstance(part, Bars)]
    found += [np.ravel(top) for _, top in stacks(bars)]
    if bars and panel.y.scale == "linear":
        found.append(np.zeros(1))
    return found


def stacks(bars: list[Bars]) -> list[tuple[Array, Array]]:
    """The foot and the head of each series of bars."""
    found: list[tuple[Array, Array]] = []
    for bar in bars:
        y = np.asarray(bar.y, float)
        foot = np.nan_to_num(found[-1][1]) if bar.stacked and found else np.zeros_like(y)
        found.append((foot, foot + y))
    return found


def slots(bars: list[Bars]) -> list[int]:
    """Which place within its category each series takes; a stacked one shares the place of the one before it.

    >>> slots([Bars("a", [1]), Bars("b", [1], stacked=True), Bars("c", [1])])
    [0, 0, 1]
    """
    found: list[int] = []
    for bar in bars:
        found.append(0 if not found else found[-1] + (not bar.stacked))
    return found


def span(values: list[Array], axis: Axis, tight: bool = False) -> Limits:
    """Limits that hold the finite values, with a little air unless `tight`; declared limits and categories win.

    >>> span([np.array([0.0, 100.0])], Axis("a")), span([np.array([1.0, 100.0])], Axis("a", scale="log"), tight=True)
    ((0.0, 105.0), (1.0, 100.0))
    """
    if axis.limits:
        return axis.limits
    if axis.categories:
        return (-0.5, len(axis.categories) - 0.5)
    flat = np.concatenate([np.ravel(v) for v in values]) if values else np.array([0.0, 1.0])
    flat = flat[np.isfinite(flat) & ((flat > 0) | (axis.scale == "linear"))]
    if not flat.size:
        flat = np.array([1.0, 10.0])
    low, high = float(flat.min()), float(flat.max())
    if axis.scale == "log":
        air = 1.0 if tight else (high / low) ** 0.04
        low, high = low / air, high * air
        return (low / 2, high * 2) if low == high else (low, high)
    if low == high:
        return (min(low, 0.0), high * 1.05 or 1.0)
    air = 0.0 if tight else 0.05 * (high - low)
    return (0.0 if low >= 0 and not tight and low < 0.6 * high else low - air, high + air)


def edges(centres: Array, log: bool) -> Array:
    """The borders of cells around their centres: half-way between, in log space on a log axis.

    >>> edges(np.array([1.0, 2.0, 3.0]), log=False)
    array([0.5, 1.5, 2.5, 3.5])
    """
    c = np.log(centres) if log else centres
    step = np.diff(c) if c.size > 1 else np.ones(1)
    found = np.concatenate([[c[0] - step[0] / 2], c[: step.size] + step / 2, [c[-1] + step[-1] / 2]])[-c.size - 1 :]
    return np.exp(found) if log else np.asarray(found)
