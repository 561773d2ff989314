"""Shapes: how each element of a figure becomes matplotlib artists, and how those move to another state."""

from collections.abc import Callable
from typing import Any

import numpy as np

from netlib.course.figure import Array, Axis, Bars, Diagram, Figure, Heat, Line, Panel, Points, Rule, Spans
from netlib.course.frame import Frame, Limits, edges, slots, stacks
from netlib.course.ink import INKS, RAMP_LIGHT, TEXT, ink
from netlib.course.spans import draw_spans
from netlib.course.words import axis_label, nice

Move = Callable[[Any, Panel], None]


def element(
    ax: Any, part: Any, figure: Figure, panel: Panel, frame: Frame, place: tuple[int, int]
) -> tuple[list[Any], Move]:
    """The artists of an element in its first state, and the function that moves them to another."""
    if isinstance(part, Line):
        return _line(ax, part, frame.y[place[0]][0])
    if isinstance(part, Points):
        look = ink(part.ink)
        (marks,) = ax.plot(
            part.x, part.y, look.marker, color=look.light, ms=5, mfc="white", mew=1.5, label=part.name, zorder=3
        )
        return [marks], lambda new, _: marks.set_data(new.x, new.y)
    if isinstance(part, Bars):
        return _bars(ax, part, panel)
    if isinstance(part, Rule):
        order = [e is part for e in panel.elements if isinstance(e, Rule)].index(True)
        return _rule(ax, part, figure.x if part.along == "x" else panel.y, order)
    if isinstance(part, Heat):
        return _heat(ax, part, figure.x, panel.y, frame.colour[place])
    if isinstance(part, Spans):
        return draw_spans(ax, part, panel)
    return _diagram(ax, part)


def _line(ax: Any, part: Line, floor: float) -> tuple[list[Any], Move]:
    look = ink(part.ink)
    style = (0, tuple(d / 2 for d in look.dash)) if look.dash else "-"
    (line,) = ax.plot(part.x, part.y, color=look.light, lw=2, ls=style, label=part.name)
    if not part.area:
        return [line], lambda new, _: line.set_data(new.x, new.y)
    (below,) = ax.fill([], [], color=look.light, alpha=0.2, lw=0)

    def move(new: Line, around: Panel) -> None:
        line.set_data(new.x, new.y)
        x, y = np.asarray(new.x), np.nan_to_num(np.asarray(new.y), nan=floor)
        below.set_xy(np.column_stack([np.r_[x[0], x, x[-1]], np.r_[floor, y, floor]]))

    move(part, Panel(Axis(""), ()))
    return [below, line], move


def _bars(ax: Any, part: Bars, panel: Panel) -> tuple[list[Any], Move]:
    look = ink(part.ink)
    series = [e for e in panel.elements if isinstance(e, Bars)]
    n = next(i for i, e in enumerate(series) if e is part)
    count, slot, width = len(np.asarray(part.y)), slots(series)[n], 0.8 / (slots(series)[-1] + 1)
    left = np.arange(count) - 0.4 + width * slot
    boxes = ax.bar(
        left,
        np.ones(count),
        width,
        align="edge",
        color=look.light,
        hatch=look.hatch,
        edgecolor="white",
        lw=0.5,
        label=part.name,
    )

    def move(new: Bars, around: Panel) -> None:
        foot, head = stacks([e for e in around.elements if isinstance(e, Bars)])[n]
        for box, low, high in zip(boxes, foot, head, strict=True):
            box.set(y=low, height=np.nan_to_num(high - low))

    move(part, panel)
    return list(boxes), move


def _rule(ax: Any, part: Rule, axis: Axis, order: int) -> tuple[list[Any], Move]:
    """A mark and its text, a line lower for each rule before it; outside the frame, a note at the edge that points."""
    look, upright = ink(part.ink), part.along == "x"
    line = (ax.axvline if upright else ax.axhline)(1, color=look.light, lw=1.5, ls=(0, (3, 2)))
    text = ax.text(
        0, 0, "", va="top" if upright else "bottom", bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 1}
    )
    low, high = ax.get_xlim() if upright else ax.get_ylim()

    def move(new: Rule, around: Panel) -> None:
        at = float(np.ravel(new.at)[0])
        seen = np.isfinite(at)
        inside = bool(seen and low <= at <= high)
        line.set_visible(inside)
        text.set_visible(seen)
        if not seen:
            return
        (line.set_xdata if upright else line.set_ydata)([at, at])
        words = new.text.format(at=nice(at, axis.unit))
        share = (
            float((ax.transData + ax.transAxes.inverted()).transform((at, at))[0 if upright else 1])
            if inside
            else at > high
        )
        if upright:
            right = share > 0.6
            text.set(x=min(max(share, 0.0), 1.0) + (-0.01 if right else 0.01), ha="right" if right else "left")
            text.set_y(0.98 - 0.08 * order)
            words = words if inside else (f"{words} →" if at > high else f"← {words}")
        else:
            text.set(x=0.01, y=min(max(share, 0.0), 0.94) + 0.01, ha="left")
            words = words if inside else (f"{words} ↑" if at > high else f"{words} ↓")
        text.set(text=words, transform=ax.transAxes)

    move(part, Panel(axis, ()))
    return [line, text], move


def _heat(ax: Any, part: Heat, x: Axis, y: Axis, limits: Limits) -> tuple[list[Any], Move]:
    from matplotlib.colors import BoundaryNorm, ListedColormap, LogNorm, Normalize
    from matplotlib.patches import Rectangle

    classes = part.colour.categories
    norm: Any
    if classes:
        colours = ListedColormap([ink(name).light + "90" for name in part.inks])
        norm = BoundaryNorm(np.arange(len(classes) + 1) - 0.5, len(classes))
        for name, own in zip(part.inks, classes, strict=True):
            ax.add_patch(Rectangle((0, 0), 0, 0, facecolor=ink(name).light + "90", label=own))
    else:
        colours = ListedColormap(RAMP_LIGHT)
        norm = (LogNorm if part.colour.scale == "log" else Normalize)(*limits)
        ax.set_title(f"{axis_label(part.colour, limits)}: {nice(limits[0], part.colour.unit)} (light) to "
                     f"{nice(limits[1], part.colour.unit)} (dark)", loc="right", fontsize=9, pad=18)  # fmt: skip
    xe = edges(np.asarray(part.x, float), x.scale == "log")
    ye = edges(np.asarray(part.y, float), y.scale == "log")
    mesh = ax.pcolormesh(xe, ye, np.asarray(part.z), cmap=colours, norm=norm, shading="flat", rasterized=True)
    names = [ax.text(0, 0, name, ha="center", va="center", visible=False) for name in classes]

    def move(new: Heat, around: Panel) -> None:
        z = np.asarray(new.z)
        mesh.set_array(z)
        for k, text in enumerate(names):
            place = middle(z == k)
            text.set_visible(place is not None)
            if place is not None:
                text.set(x=float(np.asarray(new.x)[place[1]]), y=float(np.asarray(new.y)[place[0]]))

    move(part, Panel(y, ()))
    return [mesh, *names], move


def middle(inside: Array) -> tuple[int, int] | None:
    """A cell well inside a region: the middle of the longest run in its median row; None if that run is short.

    >>> middle(np.array([[False, True, True, True, False], [False, False, True, False, False]]))
    (0, 2)
    """
    if not inside.any():
        return None
    row = int(np.searchsorted(np.cumsum(inside.sum(axis=1)), inside.sum() / 2))
    borders = np.flatnonzero(np.diff(np.r_[0, inside[row].astype(int), 0]))
    start, end = max(zip(borders[::2], borders[1::2], strict=True), key=lambda run: int(run[1] - run[0]))
    return (row, int(start + end - 1) // 2) if end - start >= 3 else None


def _diagram(ax: Any, part: Diagram) -> tuple[list[Any], Move]:
    at, links = np.asarray(part.at, float), np.asarray(part.links, int)
    wide = np.broadcast_to(np.asarray(part.width, float), (len(links),))
    key = {"load up to 40 %": 0.4, "up to 100 %": 1.0, "overloaded": 2.0, "broken": float("nan")}
    for name, load in key.items():
        ax.plot([], [], lw=3, label=name, **dict(zip(("color", "linestyle"), load_look(load), strict=True)))
    both = {(int(a), int(b)) for a, b in links}
    artists: list[Any] = []
    lines = []
    for (a, b), w in zip(links, wide / wide.max(), strict=True):
        way = at[b] - at[a]
        aside = np.array([way[1], -way[0]]) / (np.hypot(*way) or 1) * (0.006 if (int(b), int(a)) in both else 0)
        ends = np.stack([at[a], at[b]]) + aside
        (line,) = ax.plot(ends[:, 0], ends[:, 1], lw=1 + 3.5 * w, solid_capstyle="butt", zorder=1)
        lines.append(line)
        if len(links) <= 64:
            x, y = ends[0] + 0.62 * (ends[1] - ends[0])
            seen = np.diff(ax.transData.transform(ends), axis=0)[0]  # the axes stretch angles
            turn = np.degrees(np.arctan2(seen[1], seen[0])) - 90
            artists += ax.plot([x], [y], marker=(3, 0, turn), ms=6, color=TEXT, alpha=0.75, zorder=1.5)
    spread = np.full(len(at), np.nan)
    for box, (x, y) in enumerate(at):
        near = np.abs(at[:, 0] - x)[(np.abs(at[:, 1] - y) < 0.02) & (np.arange(len(at)) != box)]
        spread[box] = near.min() if near.size else 0.3
    fills = []
    for (x, y), name, room in zip(at, part.boxes, spread, strict=True):
        w, h = min(0.16, 0.8 * room), 0.075
        ax.fill(
            [x - w / 2, x + w / 2, x + w / 2, x - w / 2],
            [y - h / 2, y - h / 2, y + h / 2, y + h / 2],
            fc="white",
            ec=TEXT,
            zorder=2,
        )
        (level,) = ax.fill([], [], fc=INKS["queue"].light, alpha=0.45, lw=0, zorder=3)
        fills.append((level, x, y, w, h))
        if len(name) * 0.0115 < room:
            ax.text(x, y, name, ha="center", va="center", fontsize=8, zorder=4)
    artists += lines + [f[0] for f in fills] + ax.patches + ax.texts
    for artist in artists:
        artist.set_clip_on(False)  # outer boxes reach beyond the unit square

    def move(new: Diagram, around: Panel) -> None:
        for line, load in zip(lines, np.asarray(new.load, float), strict=True):
            line.set(**dict(zip(("color", "linestyle"), load_look(float(load)), strict=True)))
        shares = np.broadcast_to(np.asarray(new.fill, float), (len(fills),))
        for (level, x, y, w, h), share in zip(fills, shares, strict=True):
            top = y - h / 2 + h * min(max(float(np.nan_to_num(share)), 0.0), 1.0)
            level.set_xy([(x - w / 2, y - h / 2), (x + w / 2, y - h / 2), (x + w / 2, top), (x - w / 2, top)])

    move(part, Panel(Axis(""), ()))
    seen = dict.fromkeys(artists)
    return sorted(seen, key=lambda artist: float(artist.get_zorder())), move


def load_look(load: float) -> tuple[str, Any]:
    """Colour and dash of a link: darker with load, dashed when overloaded, dotted when broken.

    >>> load_look(float("nan"))[1], load_look(1.5)[1], load_look(0.5)[1]
    ((0, (1, 3)), (0, (4, 1.5)), '-')
    """
    if not np.isfinite(load):
        return INKS["bound"].light, (0, (1, 3))
    if load > 1 + 1e-9:
        return INKS["failure"].light, (0, (4, 1.5))
    return RAMP_LIGHT[2 + min(5, int(max(load, 0.0) * 5.999))], "-"
