"""Every explorer of the book: all corners of its grid in both lives, its words, its size."""

import itertools
import re

import numpy as np
import pytest

from netlib.course import explorers, page
from netlib.course.draw import Picture
from netlib.course.explorer import find
from netlib.course.figure import Bars, Diagram, Heat, Line, Points, Rule, channels, parts, take
from netlib.course.frame import frame
from netlib.course.twin import fill, tables


@pytest.fixture(scope="module", params=explorers.ids())
def own(request):
    return find(request.param)


def corners(own):
    return list(itertools.product(*({0, n - 1} for n in own.shape)))


def test_every_corner_is_finite_or_says_why_not(own):
    for index in [*corners(own), own.start]:
        now = own.at(index)
        reading, failure = own.words(now, index)
        assert reading.strip().endswith((".", "!", "?")), f"{index}: a reading is a sentence"
        assert "nan" not in reading.lower().split()
        series = [p for p in parts(now).values() if isinstance(p, Line | Points | Bars | Heat)]
        seen = {id(p): any(np.isfinite(v).any() for n, v, _ in channels(p) if n in ("y", "z")) for p in series}
        # a measurement or a bar may be missing from a state; a curve or a whole picture only with a reason
        assert failure or not series or any(seen.values()), f"nothing to see at {index} and no failure says why"
        for curve in (p for p in series if isinstance(p, Line | Heat)):
            assert failure or seen[id(curve)], f"{curve.name} is empty at {index} and no failure says why"


def test_one_state_is_its_slice_of_the_grid(own):
    rng = np.random.default_rng(1)
    picks = {tuple(int(rng.integers(n)) for n in own.shape) for _ in range(8)}
    for index in [*corners(own), *picks]:
        alone, cut = own.at(index), take(own.grid, index)
        for key, part in parts(alone).items():
            for (name, a, _), (_, b, _) in zip(channels(part), channels(parts(cut)[key]), strict=True):
                np.testing.assert_allclose(a, b, rtol=1e-9, err_msg=f"{key} {name} at {index}")
        assert own.words(alone, index) == own.words(cut, index)


def test_every_corner_draws(own):
    picture = Picture(own(), frame(own.grid))
    seen = set()
    for index in [own.start, *corners(own)]:
        picture.show(own.at(index))
        png = picture.png()
        assert len(png) > 5_000
        seen.add(png)
    assert len(seen) > 1, "no knob changes the picture"


def test_words_and_labels(own):
    assert own.caption != own.alt
    assert len(own.alt) >= 60
    assert own.title.strip() == own.title
    figure = own()
    axes = [panel.y for panel in figure.panels] + [figure.x]
    drawn = [p for k, p in parts(figure).items() if not k.startswith("n.")]
    if not any(isinstance(p, Diagram) for p in drawn):
        for axis in axes:
            first = axis.label.split()[0]  # GPUs and NICs are names; Time is not
            assert not re.fullmatch("[A-Z][a-z]+", first), f"axis label {axis.label!r} starts lower case"
    names = [p.name for p in drawn if not isinstance(p, Rule)]
    assert len(names) == len(set(names)), "two elements share a name"
    for table in tables(own.grid):
        for row in fill(table, figure):
            assert len(row) == len(table.head)


def test_the_default_is_the_interesting_case(own):
    """Something can be seen to fail, and the default is not it."""
    failures = {index: own.words(take(own.grid, index), index)[1] for index in np.ndindex(own.shape)}
    assert not failures[own.start] or not all(failures.values())
    assert any(failures.values()), "no state of the grid fails; show where the model or the machine breaks"


def test_the_bake_is_small_and_cached_bytes_equal_fresh_ones(own):
    fresh = page.render(own)
    assert len(fresh.encode()) <= 150_000
    assert page.bake(own) == fresh


def test_texts_of_the_picture_are_whole_and_apart(own):
    """In the notebook: legend and ticks end inside the picture, and no rule's text covers another's."""
    first = own()
    picture = Picture(first, frame(own.grid))
    picture.show(first)
    picture.canvas.draw()
    width = picture.figure.bbox.width
    legends = [text for legend in picture.figure.legends for text in legend.get_texts()]
    ticks = [text for ax in picture.axes if ax.axison for text in ax.get_xticklabels()]
    for text in (*legends, *ticks):
        assert text.get_window_extent().x1 <= width, f"{text.get_text()!r} is cut"
    for panel, ax in zip(first.panels, picture.axes, strict=True):
        if any(isinstance(part, Diagram) for part in panel.elements):
            continue
        told = [text for text in ax.texts[1:] if text.get_visible() and text.get_text()]  # the first is the axis label
        for one, other in itertools.combinations(told, 2):
            a, b = one.get_window_extent(), other.get_window_extent()
            assert not a.overlaps(b), f"{one.get_text()!r} lies on {other.get_text()!r}"
