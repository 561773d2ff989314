"""Spans: the bars of a timetable as matplotlib artists.

Series tell themselves apart by more than colour: the second is light with a border, the third and fourth are the first
two with a stripe.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from netlib.course.figure import Array, Axis, Panel, Spans
from netlib.course.ink import TEXT, ink

Move = Callable[[Any, Panel], None]
LETTER = 6.5  # pixels of a digit


def draw_spans(ax: Any, part: Spans, panel: Panel) -> tuple[list[Any], Move]:
    """The bars of one series with their numbers, and what moves them."""
    from matplotlib.collections import LineCollection, PolyCollection

    look = ink(part.ink)
    light, striped = looks([e is part for e in panel.elements if isinstance(e, Spans)].index(True))
    face, edge = (f"{look.light}50", look.light) if light else (look.light, "white")
    bars = PolyCollection([], facecolors=face, edgecolors=edge, linewidths=0.7, label=part.name, zorder=2)
    stripes = LineCollection([], colors="white" if not light else look.light, linewidths=1.5, zorder=3)
    ax.add_collection(bars, autolim=False)
    ax.add_collection(stripes, autolim=False)
    count = np.shape(part.start)[-1]
    style = {"fontsize": 7, "ha": "center", "va": "center", "color": TEXT if light else "white", "zorder": 4}
    texts = [ax.text(0, 0, "", **style) for _ in range(count)]

    def move(new: Spans, around: Panel) -> None:
        boxes, names = corners(new)
        bars.set_verts(list(boxes))
        low = boxes[:, 0, 1] + 0.16 * (boxes[:, 2, 1] - boxes[:, 0, 1])
        stripes.set_segments([[(b[0, 0], y), (b[2, 0], y)] for b, y in zip(boxes, low, strict=True)] if striped else [])
        ends = ax.transData.transform(boxes[:, [0, 2]].reshape(-1, 2)).reshape(-1, 2, 2)
        room = np.abs(ends[:, 1] - ends[:, 0])
        middles = boxes[:, [0, 2]].mean(axis=1)
        for text, name, middle, (wide, high) in zip(texts, names, middles, room, strict=False):
            word = f"{name:g}" if np.isfinite(name) else ""
            fits = word and wide > LETTER * len(word) + 2 and high > 9
            text.set(position=middle, text=word, visible=bool(fits))
        for text in texts[len(boxes) :]:
            text.set_visible(False)

    move(part, Panel(Axis(""), ()))
    return [bars, stripes, *texts], move


def looks(order: int) -> tuple[bool, bool]:
    """Whether the series with this number in its panel is light, and whether it is striped.

    >>> [looks(k) for k in range(3)]
    [(False, False), (True, False), (False, True)]
    """
    return order % 2 == 1, order % 4 >= 2


def corners(spans: Spans) -> tuple[Array, Array]:
    """The rectangles that are drawn, (bars, 4, 2), and their labels; gaps are left out.

    >>> corners(Spans("work", [0.0, np.nan], [1.0, 2.0], [3.0, 4.0], 7.0))[0].tolist()
    [[[1.0, -0.4], [1.0, 0.4], [3.0, 0.4], [3.0, -0.4]]]
    """
    channels = (spans.row, spans.start, spans.end, spans.label, spans.tall)
    row, start, end, label, tall = np.broadcast_arrays(*(np.asarray(value, float) for value in channels))
    seen = np.isfinite(row) & np.isfinite(start) & np.isfinite(end)
    low, high = row - tall / 2, row + tall / 2
    boxes = np.stack([start, low, start, high, end, high, end, low], axis=-1).reshape(-1, 4, 2)
    return boxes[seen.ravel()], label.ravel()[seen.ravel()]
