"""The fidelity map: every published value of a collective that a model predicts, hits and misses."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Number, Points, Rule
from netlib.fidelity import Judged, judge, published_rows
from netlib.fidelity.score import about
from netlib.fidelity.setup import read_setup
from netlib.units import GiB, KiB

PLACES = ("all", "one domain", "across domains")
SIZES = {  # what the knob says -> how `judge` ends a group's name, in one domain or across
    "all": ("",),
    "small": ("< 1 MiB", "< 16 MiB"),
    "medium": ("1 MiB - 256 MiB", "16 MiB - 1 GiB"),
    "large": (">= 256 MiB", ">= 1 GiB"),
}
NO_SIZE = 64 * GiB  # where a row without a message size ("peak", latency of one kernel) is drawn
LOW, HIGH = 0.3, 20.0


@cache
def _judged() -> tuple[tuple[Judged, float], ...]:
    """Every scored row of a collective with its message size, smallest first."""
    rows = {row["id"]: row for row in published_rows()}
    found = []
    for row in judge(rows.values()):
        if row.rel_error is not None and about(row.group) == "collectives":
            size = read_setup(rows[row.id]).size if row.group.startswith("busbw") else NO_SIZE
            found.append((row, min(size, NO_SIZE)))
    return tuple(sorted(found, key=lambda pair: (pair[1], pair[0].id)))


def _in(row: Judged, place: str, size: str) -> bool:
    return (place == "all" or place in row.group) and row.group.endswith(SIZES[size])


USABLE = 0.8  # below this share of hits the figure says so


@explorer(
    "fidelity-map",
    title="Where the models hit and miss",
    caption="Model over published value, for every row that no constant was fitted to. A hit lies within its group's "
    "tolerance; a cross is a miss and stays one. Small ends at 1 MiB in one NVLink domain and at 16 MiB across, "
    "large starts at 256 MiB and 1 GiB. Rows without a message size stand at the right edge.",
    alt="A scatter over message size on log axes around a horizontal line at one: most circles hug the line, the "
    "crosses lie above and below it, and two lines mark the tolerance when a single group is shown.",
)
def fidelity_map(
    place: Annotated[Array, Knob(*PLACES, label="ranks in")],
    messages: Annotated[Array, Knob(*SIZES)],
) -> Figure:
    """Ratios beyond the frame stand at its edge."""
    judged = _judged()
    size = np.array([at for _, at in judged])
    ratio = np.array([1 + row.rel_error for row, _ in judged if row.rel_error is not None])
    hit = np.array([bool(row.ok) for row, _ in judged])
    notes = tuple(row.id for row, _ in judged)
    shown = each(lambda p, m: [_in(row, p, m) for row, _ in judged], place, messages) > 0
    off = np.where(shown, np.abs(ratio - 1), -np.inf)
    worst = off.argmax(axis=-1)[..., None]
    tolerance = each(
        lambda p, m: np.nan if "all" in (p, m) else next(r.tolerance for r, _ in judged if _in(r, p, m)),
        place,
        messages,
    )
    drawn = np.clip(ratio, LOW * 1.05, HIGH / 1.05)
    middle = np.nanmedian(np.where(shown, np.abs(ratio - 1), np.nan), axis=-1)[..., None]
    return Figure(
        x=Axis("message size", "iB", "log", limits=(KiB / 2, 2 * NO_SIZE)),
        y=Axis("model / published", "", "log", limits=(LOW, HIGH)),
        elements=(
            Rule(1.0, "as published", along="y", ink="measured"),
            Rule(1 + tolerance, "+ tolerance", along="y"),
            Rule(1 - tolerance, "- tolerance", along="y"),
            Points("hits", size, np.where(shown & hit, drawn, np.nan), "measured", notes),
            Points("misses", size, np.where(shown & ~hit, drawn, np.nan), "failure", notes),
        ),
        numbers={
            "rows": Number(shown.sum(axis=-1)[..., None], "rows", "scored rows"),
            "hit": Number((shown & hit).sum(axis=-1)[..., None], "rows", "hits"),
            "median": Number(middle, "%", "median error"),
            "worst": Number(np.take_along_axis(ratio * np.ones_like(off), worst, -1), "times", "worst ratio"),
            "tolerance": Number(tolerance, "%", "tolerance"),
        },
        reading=_reading,
        failure=lambda s: (
            f"{s['rows'] - s['hit']:.0f} of {s['rows']:.0f} rows are missed: do not use the model here."
            if s["hit"] < USABLE * s["rows"]
            else ""
        ),
    )


def _reading(s: Mapping[str, Any]) -> str:
    row = max(
        (row for row, _ in _judged() if _in(row, s["place"], s["messages"])), key=lambda row: abs(row.rel_error or 0)
    )
    return (
        f"{s['hit']:.0f} of {s['rows']:.0f} rows hit, median error {s['median']:.1%}; the worst is {row.id}, where "
        f"the model gives {row.model:.3g} and {row.published:.3g} {row.unit} was published ({s['worst']:.3g} times)."
    )
