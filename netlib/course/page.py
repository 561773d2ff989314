"""Page: an explorer as HTML that needs no kernel.

Real range inputs, a vector picture that `assets/explorer.js` draws from packed numbers, a sentence, a table, a
caption. Until the script runs, or without it, the figure shows the default state: picture, sentence and table.
"""

import hashlib
import html
import json
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

import netlib
from netlib.course.draw import svg
from netlib.course.explorer import Explorer, Knobbed, states
from netlib.course.figure import (
    Array,
    Axis,
    Bars,
    Diagram,
    Figure,
    Heat,
    Line,
    Points,
    Rule,
    Spans,
    channels,
    parts,
    take,
)
from netlib.course.frame import Frame, Limits, edges, frame, slots, stacks
from netlib.course.ink import INKS
from netlib.course.pack import Packer
from netlib.course.twin import Cell, Table, fill, tables
from netlib.course.words import LADDERS, NO_VALUE, axis_label, nice, ticks

HOME = Path(netlib.__file__).parent


def bake(own: Knobbed, draw: Callable[[Any], str] | None = None) -> str:
    """The explorer's HTML, or what `draw` makes of `own`, from `build/bakes/` when nothing in netlib has changed since.

    What is defined outside netlib is always computed.
    """
    paint: Callable[[Any], str] = draw or render
    if not own.view.__module__.startswith("netlib."):
        return paint(own)
    cache = HOME.parent / "build" / "bakes" / f"{own.id}-{_source_hash(own)}.html"
    if cache.exists():
        return cache.read_text(encoding="utf-8")
    page = paint(own)
    if (HOME.parent / "pyproject.toml").exists():  # an installed netlib leaves no files about
        cache.parent.mkdir(parents=True, exist_ok=True)
        draft = cache.with_suffix(f".{id(page)}.tmp")
        draft.write_text(page, encoding="utf-8")
        draft.replace(cache)  # two builds at once must not read half a file
        for old in set(cache.parent.glob(f"{own.id}-{'?' * 16}.html")) - {cache}:
            old.unlink(missing_ok=True)
    return page


def _source_hash(own: Knobbed) -> str:
    """Changes with the grid, with any file of netlib, and with the libraries that compute and draw."""
    digest = hashlib.sha256(f"{own.id} {own.knobs} {np.__version__} {version('matplotlib')}".encode())
    for path in sorted(p for p in HOME.rglob("*") if p.suffix in (".py", ".toml", ".csv")):
        digest.update(path.relative_to(HOME).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def render(own: Explorer) -> str:
    """The explorer's HTML, computed afresh; the same source gives the same bytes."""
    grid, start = own.grid, own.start
    size = frame(grid)
    spec = specification(own, grid, size)
    text = json.dumps(spec, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    text = text.replace("<", "\\u003c")  # neither </script> nor <!-- may end or open anything here
    id = f"nx-{own.id}-{hashlib.sha256(text.encode()).hexdigest()[:8]}"
    now = take(grid, start)
    reading, failure = own.words(now, start)
    e = html.escape
    return "\n".join(
        [
            f'<figure class="nx-figure" id="{id}" data-explorer="{e(own.id)}">',
            f'<div class="nx-knobs" role="group" aria-label="{e(own.title)}: knobs" hidden>',
            *(knob_row(id, k, name, own) for k, name in enumerate(own.knobs)),
            '<button type="button" class="nx-reset">Reset</button>',
            "</div>",
            '<div class="nx-legend"></div>',
            f'<div class="nx-stage">{svg(own, now, size, id)}</div>',
            f'<p class="nx-reading" aria-live="polite">{e(reading)}</p>',
            f'<p class="nx-failure" aria-live="polite"{"" if failure else " hidden"}>{e(failure)}</p>',
            '<details class="nx-data"><summary>Numbers of this state</summary><div class="nx-tables">',
            *(_table(table, now) for table in tables(grid)),
            "</div></details>",
            f'<figcaption><span class="nx-title">{e(own.title)}</span> {e(own.caption)}</figcaption>',
            "<noscript><p>The knobs need JavaScript; the picture and the numbers show their default.</p></noscript>",
            f'<script type="application/json" class="nx-spec">{text}</script>',
            "</figure>",
        ]
    )


def knob_row(id: str, k: int, name: str, own: Knobbed) -> str:
    """A knob as a range input with its label and its value in words."""
    knob, i, e = own.knobs[name], own.start[k], html.escape
    return (
        f'<div class="nx-knob"><label for="{id}-{k}">{e(knob.label or name)}</label>'
        f'<input type="range" id="{id}-{k}" data-knob="{e(name)}" min="0" max="{len(knob.values) - 1}" step="1" '
        f'value="{i}" aria-valuetext="{e(knob.texts[i])}"><output for="{id}-{k}">{e(knob.texts[i])}</output></div>'
    )


def _table(table: Table, now: Figure) -> str:
    head = "".join(f'<th scope="col">{html.escape(t)}</th>' for t in table.head)
    rows = "".join(
        f'<tr><th scope="row">{html.escape(row[0])}</th>'
        + "".join(f"<td>{html.escape(t)}</td>" for t in row[1:])
        + "</tr>"
        for row in fill(table, now)
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def specification(own: Explorer, grid: Figure, size: Frame) -> dict[str, Any]:
    """What the script needs: axes, elements, words and the packed numbers."""
    every = states(own)
    pack = Packer(len(every))
    refs: dict[tuple[str, str], int] = {}
    panels = []
    for p, panel in enumerate(grid.panels):
        bars = [e for e in panel.elements if isinstance(e, Bars)]
        drawn = []
        for i, part in enumerate(panel.elements):
            for name, values, axes in channels(part):
                if not (isinstance(part, Diagram) and name in ("at", "links", "width")):
                    refs[f"{p}.{i}", name] = pack.array(values, axes)
            own_refs = {name: ref for (key, name), ref in refs.items() if key == f"{p}.{i}"}
            drawn.append({"kind": type(part).__name__.lower(), **own_refs})
            drawn[-1] |= _look(part, grid.x, panel.y, size.colour.get((p, i)))
            if isinstance(part, Bars):
                n = next(n for n, bar in enumerate(bars) if bar is part)
                foot, head = stacks(bars)[n]
                drawn[-1] |= {"slot": slots(bars)[n], "slots": slots(bars)[-1] + 1}
                drawn[-1] |= {"foot": pack.array(foot, 1), "head": pack.array(head, 1)}
            if isinstance(part, Rule):
                at = np.broadcast_to(np.asarray(part.at, float), (*own.shape, 1)).ravel()
                unit = (grid.x if part.along == "x" else panel.y).unit
                drawn[-1]["text"] = pack.words([part.text.format(at=nice(v, unit)) for v in at])
        panels.append({"y": _axis(panel.y, size.y[p]), "height": panel.height, "parts": drawn})
    said = [own.words(take(grid, index), index) for index in every]
    for name, number in grid.numbers.items():
        flat = np.broadcast_to(np.asarray(number.value, float), (*own.shape, 1)).ravel()
        refs[f"n.{name}", "value"] = pack.words([nice(v, number.unit) for v in flat])

    def cell(c: Cell | str) -> Any:
        if isinstance(c, str):
            return c
        return [refs[c.key, c.channel], c.item, c.unit, list(c.categories), c.gap]

    inks = {e.ink for e in parts(grid).values() if hasattr(e, "ink")} | {"failure", "bound"}
    return {
        "id": own.id,
        "alt": own.alt,
        "knobs": [{"texts": k.texts, "start": i} for k, i in zip(own.knobs.values(), own.start, strict=True)],
        "x": _axis(grid.x, size.x),
        "panels": panels,
        "reading": pack.words([reading for reading, _ in said]),
        "failure": pack.words([failure for _, failure in said]),
        "tables": [{"head": t.head, "rows": [[cell(c) for c in row] for row in t.rows]} for t in tables(grid)],
        "inks": {name: {"dash": INKS[name].dash, "marker": INKS[name].marker} for name in sorted(inks)},
        "ladders": LADDERS,
        "gap": NO_VALUE,
        "refs": pack.refs,
        "count": pack.filled,
        "data": pack.data(),
    }


def _axis(axis: Axis, limits: Limits) -> dict[str, Any]:
    found, strides = ticks(axis, limits)
    return {
        "label": axis_label(axis, limits),
        "name": axis.label,
        "unit": axis.unit,
        "log": axis.scale == "log",
        "low": limits[0],
        "high": limits[1],
        "categories": axis.categories,
        "ticks": found,
        "strides": strides,
    }


def _look(part: Any, x: Axis, y: Axis, colour: Limits | None) -> dict[str, Any]:
    """What is fixed about an element: its name, its ink and its shape."""
    if isinstance(part, Line):
        return {"name": part.name, "ink": part.ink, "area": part.area}
    if isinstance(part, Points):
        return {"name": part.name, "ink": part.ink, "notes": part.notes}
    if isinstance(part, Bars | Spans):
        return {"name": part.name, "ink": part.ink}
    if isinstance(part, Rule):
        return {"along": part.along, "ink": part.ink}
    if isinstance(part, Heat):
        ends = {"xe": (part.x, x), "ye": (part.y, y)}
        borders = {k: _plain(edges(np.asarray(v, float), axis.scale == "log")) for k, (v, axis) in ends.items()}
        return {"name": part.name, "colour": _axis(part.colour, colour or (0.0, 1.0)), "inks": part.inks, **borders}
    wide = np.broadcast_to(np.asarray(part.width, float), (len(np.asarray(part.links)),))
    return {
        "name": part.name,
        "boxes": part.boxes,
        "at": np.asarray(part.at, float).round(4).tolist(),
        "links": np.asarray(part.links, int).tolist(),
        "width": _plain(wide / (wide.max() if wide.size else 1.0)),
    }


def _plain(values: Array) -> list[float]:
    return [float(f"{v:.6g}") for v in np.ravel(values)]
