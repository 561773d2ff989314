"""Player, drawn: one step of a story as a vector picture, for the notebook and for pages without scripts.

`assets/player.js` lays its picture out in the same way. Colours are the page's where it has a style sheet.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from math import ceil, hypot
from typing import Any

from netlib.course.ink import INKS, RAMP_LIGHT
from netlib.course.player_story import Message, Story, label, ledger
from netlib.course.words import nice, rung

FONT, HEAD, SWITCH, BARS = 12, 18, 24, 40
Box = tuple[float, float, float, float]
Spot = tuple[float, float, str]

_COLOURS = {
    "text": "#1f2328",
    "paper": "#ffffff",
    "soft": "#f5f7fa",
    "line": "#d5d9df",
    "ramp-2": RAMP_LIGHT[2],
    **{name: INKS[name].light for name in ("model", "useful", "failure", "nic", "bound")},
}


def _ink(name: str) -> str:
    return f"var(--nx-{name},{_COLOURS[name]})"


@dataclass(frozen=True)
class Layout:
    """Where things stand, in pixels: arrows to the right above the ranks, arrows to the left below them."""

    told: Story
    width: float
    ledger: bool = True

    @property
    def left(self) -> float:
        """Room for the chunks' names."""
        return 58 if self.width >= 480 else 18 if self.told.called[0] == "0" else 32

    @property
    def column(self) -> float:
        """Width of a rank's column."""
        return (self.width - self.left - 4) / self.told.n

    @property
    def cell(self) -> tuple[float, float]:
        """Width and height of a cell."""
        return min(72.0, self.column * 0.8) / self.folds, 24 if self.rows <= 6 else 20 if self.rows <= 8 else 15

    @property
    def folds(self) -> int:
        """How many cells stand side by side in a column."""
        return ceil(self.told.weight.size / 16)

    @property
    def rows(self) -> int:
        """How many cells stand above each other."""
        return ceil(self.told.weight.size / self.folds)

    def reach(self, way: int) -> float:
        """Height that the arrows need above (way = 1) or below (-1)."""
        spans = [way * (m.dst - m.src) for step in self.told.steps for m in step if max(m.src, m.dst) < self.told.n]
        return self.rise(max(spans)) + 12 if max(spans, default=0) > 0 else 4

    @staticmethod
    def rise(span: int) -> float:
        """Height of an arrow over `span` columns."""
        return min(70.0, 12 + 8.0 * span)

    @property
    def top(self) -> float:
        """The line on which the arrows above the ranks end."""
        return max(SWITCH + 52, self.reach(1)) + 4 if self.told.switches else self.reach(1) + 4

    @property
    def bottom(self) -> float:
        """The line on which the arrows below the ranks end."""
        return self.top + HEAD + self.rows * self.cell[1] + 5

    @property
    def foot(self) -> float:
        """The line on which the ledger's bars stand."""
        return self.bottom + self.reach(-1) + 20 + BARS

    @property
    def height(self) -> float:
        """Height of the whole picture."""
        return self.foot + 18 if self.ledger else self.bottom + self.reach(-1)

    def middle(self, rank: int) -> float:
        """Middle of a rank's column, or of a switch."""
        n, switches = self.told.n, self.told.switches
        if rank < n:
            return self.left + self.column * (rank + 0.5)
        return self.left + (self.width - self.left - 4) * (rank - n + 0.5) / switches

    def place(self, rank: int, chunk: int) -> tuple[float, float, float, float]:
        """x, y, width and height of a cell; a switch has its cells side by side."""
        wide, high = self.cell
        if rank >= self.told.n:
            each = min(wide, 0.9 * (self.width - self.left) / self.told.switches / self.told.weight.size)
            return self.middle(rank) + each * (chunk - self.told.weight.size / 2), 4, each, SWITCH - 4
        x = self.middle(rank) - wide * self.folds / 2 + wide * (chunk // self.rows)
        return x, self.top + HEAD + high * (chunk % self.rows), wide, high

    def arrow(self, m: Message) -> tuple[str, tuple[float, float], tuple[float, float], tuple[float, float]]:
        """Path of a message, where its label stands, and its tip and direction there."""
        a, b, n = self.middle(m.src), self.middle(m.dst), self.told.n
        if min(m.src, m.dst) >= n:  # between switches: an arc below them
            y, x1, x2 = SWITCH + 2.0, a + (b - a) * 0.1, b - (b - a) * 0.1
            path = f"M{x1:.1f} {y:.1f}C{x1:.1f} {y + 26:.1f} {x2:.1f} {y + 26:.1f} {x2:.1f} {y:.1f}"
            return path, ((x1 + x2) / 2, y + 23), (x2, y), (0.0, -1.0)
        if max(m.src, m.dst) >= n:
            spread = 0.25 * (min(a, b) - max(a, b)) * (1 if (m.src >= n) == (a > b) else -1)
            up = m.dst >= n
            low, high = (a - 5, self.top), (b + spread, SWITCH + 6.0)
            if not up:
                low, high = (b + 5, self.top), (a + spread, SWITCH + 6.0)
            (x1, y1), (x2, y2) = (low, high) if up else (high, low)
            far = hypot(x2 - x1, y2 - y1)
            near = 0.35 if self.column >= 60 else 0.15 + 0.3 * (min(m.src, m.dst) % 2)  # labels beside each other
            share = near if up else 1 - near
            spot = x1 + share * (x2 - x1), y1 + share * (y2 - y1) + 4
            return f"M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}", spot, (x2, y2), ((x2 - x1) / far, (y2 - y1) / far)
        way = 1 if b > a else -1
        base, rise = (self.top if way > 0 else self.bottom), self.rise(abs(m.dst - m.src)) * way
        x1, x2, peak = a + 5 * way, b - 5 * way, base - rise * 4 / 3
        path = f"M{x1:.1f} {base:.1f}C{x1:.1f} {peak:.1f} {x2:.1f} {peak:.1f} {x2:.1f} {base:.1f}"
        return path, ((x1 + x2) / 2, base - rise + 4), (x2, base), (0.0, float(way))


def picture(told: Story, k: int, size: float, width: float, alt: str, ledger: bool = True) -> str:
    """The picture after step k (0: before the first), as SVG."""
    at = Layout(told, width, ledger)
    drawn = [*_cells(at, k), *(_arrows(at, k) if k else ()), *(_ledger(at, k, size) if ledger else ())]
    return (
        f'<svg class="nx-frame" role="img" aria-label="{escape(alt)}" viewBox="0 0 {width:g} {at.height:.0f}" '
        f'width="{width:g}" style="color:{_ink("text")};font-size:{FONT}px;font-family:inherit;max-width:100%">'
        + "".join(drawn)
        + "</svg>"
    )


def legend(summed: bool) -> str:
    """What the marks mean, as HTML; `summed`: the schedule adds somewhere."""

    def entry(drawn: str, words: str, wide: int = 30) -> str:
        row = "display:inline-flex;gap:0.4em;align-items:center;margin-right:0.6em"  # for pages without a style sheet
        return (
            f'<span class="nx-entry" style="{row}"><svg width="{wide}" height="16" aria-hidden="true" '
            f'style="font-size:{FONT}px;color:{_ink("text")}">{drawn}</svg>{escape(words)}</span>'
        )

    def arrow(words: str, dash: str) -> str:
        line = f'<path d="M1 8H42" style="stroke:{_ink("model")};stroke-width:1.6;{dash}"/>'
        halo = f"paint-order:stroke;stroke:{_ink('paper')};stroke-width:6px"
        return line + f'<path d="M49 8l-7-4v8z" style="fill:{_ink("model")}"/>' + _text(21, 12, words, style=halo)

    frame = f"fill:{_ink('soft')};stroke:{_ink('bound')};stroke-width:0.8"
    some = _rect(1, 1, 28, 14, frame) + _rect(2, 8, 26, 6.5, f"fill:{_ink('ramp-2')}") + _text(15, 12, "2")
    done = _rect(1, 1, 28, 14, f"fill:{_ink('useful')}") + _text(15, 12, "✓", style="font-weight:700", colour="paper")
    ring = _rect(2, 2, 26, 12, f"fill:none;stroke:{_ink('text')};stroke-width:2.4")
    entries = [entry(arrow("+1", ""), "chunk 1, added", 50)] if summed else []
    entries += [entry(arrow("1", "stroke-dasharray:5 3"), "chunk 1, kept", 50)]
    entries += [entry(some, "sum over 2 ranks")] if summed else []
    return "".join([*entries, entry(done, "finished"), entry(ring, "just arrived")])


def _text(x: float, y: float, words: str, anchor: str = "middle", style: str = "", colour: str = "text") -> str:
    return _texts([(x, y, words)], anchor, style, colour)


def _texts(all_: Iterable[Spot], anchor: str = "middle", style: str = "", colour: str = "text") -> str:
    """Words of one look."""
    inside = "".join(f'<text x="{x:.4g}" y="{y:.4g}">{escape(words)}</text>' for x, y, words in all_)
    return f'<g text-anchor="{anchor}" style="fill:{_ink(colour)};{style}">{inside}</g>' if inside else ""


def _rect(x: float, y: float, w: float, h: float, style: str) -> str:
    return _rects([(x, y, w, h)], style)


def _rects(all_: Iterable[Box], style: str) -> str:
    """Boxes of one look, as one path: a tenth of the letters that as many rectangles take."""
    path = "".join(f"M{x:.4g} {y:.4g}h{w:.4g}v{h:.4g}h{-w:.4g}z" for x, y, w, h in all_)
    return f'<path d="{path}" style="{style}"/>' if path else ""


def _cells(at: Layout, k: int) -> Iterable[str]:
    told, shown, chunks = at.told, at.told.shown[k], range(at.told.weight.size)
    words = "rank {}" if at.column >= 46 else "{}"
    yield _texts((at.middle(rank), at.top + 13, words.format(rank)) for rank in range(told.n))
    if at.folds == 1:
        words = "chunk {}" if at.left > 40 and told.called[0] == "0" else "{}"
        middle = at.top + HEAD + at.cell[1] / 2 + 4
        yield _texts(((0, middle + at.cell[1] * chunk, words.format(told.called[chunk])) for chunk in chunks), "start")
    slots: list[Box] = []
    changed: list[Box] = []
    fills: dict[str, list[Box]] = {"ramp-2": [], "useful": [], "failure": []}
    counts: dict[str, list[Spot]] = {name: [] for name in fills}
    for rank in range(told.n + told.switches):
        for chunk in chunks:
            x, y, w, h = at.place(rank, chunk)
            parts, wanted = int(shown[rank, chunk]), int(told.wanted[chunk])
            done = bool(told.good[k, rank, chunk] and told.needed[rank, chunk])
            slots.append((x, y, w, h))
            full = h * min(1.0, abs(parts) / wanted)
            kind = "failure" if parts < 0 else "useful" if done else "ramp-2"
            if parts:
                fills[kind].append((x + 1, y + h - full + 1, w - 2, max(full - 2, 0.0)))
            mark = "✕" if parts < 0 else "✓" if done else str(parts) if parts and wanted > 1 else ""
            if mark and w >= 11 and h >= 14:
                counts[kind].append((x + w / 2, y + h / 2 + 4, mark))
            if k and told.parts[k, rank, chunk] != told.parts[k - 1, rank, chunk]:
                changed.append((x, y, w, h))
    yield _rects(slots, f"fill:{_ink('soft')};stroke:{_ink('bound')};stroke-width:0.8")
    yield from (_rects(boxes, f"fill:{_ink(kind)}") for kind, boxes in fills.items())
    yield _texts(counts["ramp-2"])
    yield _texts(counts["useful"] + counts["failure"], style="font-weight:700", colour="paper")
    yield _rects(changed, f"fill:none;stroke:{_ink('text')};stroke-width:2.4")
    for switch in range(told.n, told.n + told.switches):
        x, y, _, h = at.place(switch, 0)
        yield _text(x - 6, y + h / 2 + 4, told.name(switch).removeprefix("the "), "end")


def _arrows(at: Layout, k: int) -> Iterable[str]:
    labels: list[Spot] = []
    heads = ""
    for i, m in enumerate(at.told.steps[k - 1]):
        path, spot, (x, y), (dx, dy) = at.arrow(m)
        style = f"fill:none;stroke:{_ink('model')};stroke-width:{2.6 if i == 0 else 1.4}"
        yield f'<path d="{path}" style="{style}{"" if m.add else ";stroke-dasharray:5 3"}"/>'
        left, right = (f"{x - 7 * dx + side * dy:.1f} {y - 7 * dy - side * dx:.1f}" for side in (-4, 4))
        heads += f"M{x:.1f} {y:.1f}L{left}L{right}z"
        labels.append((*spot, label(at.told, m)))
    yield f'<path d="{heads}" style="fill:{_ink("model")}"/>'
    halo = f"paint-order:stroke;stroke:{_ink('paper')};stroke-width:9px;stroke-linejoin:round;"
    yield _texts(labels[1:], style=halo)
    yield _texts(labels[:1], style=halo + "font-weight:700")


def _ledger(at: Layout, k: int, size: float) -> Iterable[str]:
    sent, received = (each[:, : at.told.n] for each in ledger(at.told, size))
    most = float(max(sent.sum(axis=0).max(initial=0), received.sum(axis=0).max(initial=0))) or 1.0
    factor, unit = rung(most, "iB")
    yield _text(0, at.foot - BARS - 8, f"sent (solid) and received (outlined) so far, {unit}", "start")
    wide = min(18.0, at.column * 0.3)
    for rank in range(at.told.n):
        x, out, back = at.middle(rank), float(sent[:k, rank].sum()), float(received[:k, rank].sum())
        for left, carried, style in (
            (x - wide - 1, out, f"fill:{_ink('nic')}"),
            (x + 1, back, f"fill:none;stroke:{_ink('nic')};stroke-width:1.6"),
        ):
            high = BARS * carried / most
            yield _rect(left, at.foot - high, wide, high, style)
        yield _text(x, at.foot + 14, figure(out / factor))
    line: dict[str, Any] = {"x1": at.left, "x2": at.width - 4, "y1": at.foot, "y2": at.foot}
    yield "<line " + " ".join(f'{a}="{v:.1f}"' for a, v in line.items()) + f' style="stroke:{_ink("bound")}"/>'


def figure(value: float) -> str:
    """A number to three digits without its unit.

    >>> figure(0.0), figure(1.5), figure(96)
    ('0', '1.5', '96')
    """
    return nice(value, short=True)
