"""Draw: a figure through matplotlib, for notebooks and for the page's still picture.

The frame (axes, ticks, legend) is drawn once; `show` moves only what depends on the state and paints it over a saved
background, which keeps a slider step to a few milliseconds.
"""

import html
import io
import re
from typing import Any

import numpy as np

from netlib.course.explorer import Explorer
from netlib.course.figure import Axis, Diagram, Figure, Panel
from netlib.course.frame import Frame, Limits
from netlib.course.ink import INKS, RAMP_LIGHT, TEXT
from netlib.course.shapes import Move, element
from netlib.course.words import axis_label, thin, ticks

STYLE: dict[Any, Any] = {
    "font.size": 9,
    "text.color": TEXT,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.8,
    "grid.color": "#80808040",
    "grid.linewidth": 0.8,
    "hatch.linewidth": 0.6,
    "svg.fonttype": "none",
    "path.simplify_threshold": 0.3,
}


class Picture:
    """A figure on a matplotlib canvas: `show` another state of it, then ask for its `png`."""

    def __init__(self, figure: Figure, frame: Frame, wide: float = 6.4, dpi: int = 110) -> None:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas

        with mpl.rc_context(STYLE):
            heights = [panel.height for panel in figure.panels]
            few, drawn = len(heights) < 3, 1.9 * sum(heights)  # one or two panels share one size, more need their own
            inches = wide, 3.9 if few else 1.35 + drawn + 0.34 * (len(heights) - 1)
            self.figure = Canvas(figsize=inches, dpi=dpi, facecolor="white")
            self.canvas: Any = FigureCanvasAgg(self.figure)
            self.moves: list[tuple[int, int, Move]] = []
            self.moving: list[Any] = []
            self.axes = self.figure.subplots(len(heights), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
            longest = max(len(t) for p, f in zip(figure.panels, frame.y, strict=True) for _, t, _ in ticks(p.y, f)[0])
            left = (0.3 + 0.075 * longest) / inches[0]
            between = 0.28 if few else 0.34 * len(heights) / drawn
            self.figure.subplots_adjust(left, 0.6 / inches[1], 0.95, 1 - 0.75 / inches[1], hspace=between)
            for p, (ax, panel) in enumerate(zip(self.axes, figure.panels, strict=True)):
                _axes(ax, figure.x, panel, frame.x, frame.y[p], last=p == len(heights) - 1)
                for i, part in enumerate(panel.elements):
                    artists, move = element(ax, part, figure, panel, frame, (p, i))
                    self.moving += [(ax, artist) for artist in artists]
                    self.moves.append((p, i, move))
            _legend(self.figure, self.axes, left)
            self.background: Any = None

    def show(self, figure: Figure) -> None:
        """Move the artists to another state of the same explorer."""
        for p, i, move in self.moves:
            move(figure.panels[p].elements[i], figure.panels[p])

    def png(self) -> bytes:
        """The picture as PNG."""
        from PIL import Image

        if self.background is None:
            for _, artist in self.moving:
                artist.set_animated(True)
            self.canvas.draw()
            self.background = self.canvas.copy_from_bbox(self.figure.bbox)
        self.canvas.restore_region(self.background)
        for ax, artist in self.moving:
            ax.draw_artist(artist)
        file = io.BytesIO()
        Image.fromarray(np.asarray(self.canvas.buffer_rgba())[..., :3]).save(file, "png", compress_level=1)
        return file.getvalue()


def svg(own: Explorer, figure: Figure, frame: Frame, id: str) -> str:
    """The still picture of one state for the page: text as text, colours from the style sheet, no ids of its own."""
    import matplotlib as mpl

    picture = Picture(figure, frame)
    file = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": id}):
        picture.figure.patch.set_visible(False)
        none = {"Date": None, "Creator": None, "Format": None, "Type": None}
        picture.figure.savefig(file, format="svg", metadata=none, transparent=True)
    text = file.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>|<style[^>]*>.*?</style>|<!--.*?-->", "", text, flags=re.S)
    used = set(re.findall(r"(?:url\(#|href=\"#)([^)\"]+)", text))
    text = re.sub(r' id="([^"]+)"', lambda m: f' id="{id}-{m[1]}"' if m[1] in used else "", text)
    text = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{id}-", text)
    for name, look in INKS.items():
        text = text.replace(look.light, f"var(--nx-{name})")
    for level, colour in enumerate(RAMP_LIGHT):
        text = text.replace(colour, f"var(--nx-ramp-{level})")
    text = re.sub(r"(-?\d+\.\d\d)\d+", r"\1", text.replace(TEXT, "currentColor"))
    text = re.sub(r">\s+<", "><", text.strip()).replace("\n", " ")
    text = re.sub(r' (?:width|height)="[\d.]+pt"', "", text.replace("#ffffff", "var(--nx-paper)"))
    return text.replace("<svg ", f'<svg role="img" aria-label="{html.escape(own.alt)}" class="nx-still" ', 1)


def _axes(ax: Any, x: Axis, panel: Panel, xlim: Limits, ylim: Limits, last: bool) -> None:
    """Scales, limits and ticks of one panel; no title inside."""
    if any(isinstance(e, Diagram) for e in panel.elements):
        ax.set(xlim=(-0.08, 1.08), ylim=(-0.1, 1.1))
        ax.axis("off")
        return
    for axis, limits, which, most in ((x, xlim, "x", 8), (panel.y, ylim, "y", 7)):
        getattr(ax, f"set_{which}scale")(axis.scale)
        getattr(ax, f"set_{which}lim")(limits)
        shown = thin(*ticks(axis, limits), most=len(axis.categories) or most)
        getattr(ax, f"set_{which}ticks")([v for v, _, _ in shown], [t for _, t, _ in shown], minor=False)
        getattr(ax, f"set_{which}ticks")([], minor=True)
    ax.grid(True, axis="y" if x.categories else "both")
    ax.set_axisbelow(True)
    ax.text(0, 1.03, axis_label(panel.y, ylim), transform=ax.transAxes, ha="left", va="bottom")
    if last:
        ax.set_xlabel(axis_label(x, xlim))


def _legend(figure: Any, axes: Any, left: float) -> None:
    """One legend above all panels, each name once."""
    found: dict[str, Any] = {}
    for ax in axes:
        for handle, name in zip(*ax.get_legend_handles_labels(), strict=True):
            found.setdefault(name, handle)
    if found:
        room = figure.get_figwidth() * (1 - left)
        fits = sum(0.7 + 0.07 * len(name) for name in found) <= room  # inches: a handle, and letters of 9 points
        figure.legend(
            found.values(),
            found.keys(),
            loc="upper left",
            bbox_to_anchor=(left - 0.01, 1.0),
            ncols=4 if fits else 2 if len(found) <= 4 else 3,
            frameon=False,
            handlelength=2.6,
        )
