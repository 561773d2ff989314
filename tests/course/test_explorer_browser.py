"""Explorers in a real browser, from a file, with no server and no network: what a reader can do, and what it shows."""

import itertools
import json
import re
import runpy
from pathlib import Path

import numpy as np
import pytest

from netlib.course import page
from netlib.course.explorer import find
from netlib.course.figure import Line, take
from netlib.course.ink import INKS
from netlib.course.twin import fill, tables
from netlib.course.words import LADDERS, NO_VALUE, nice
from tests.course import figure_pages
from tests.course.figure_pages import to_state, violations

SAMPLES = runpy.run_path(str(Path(__file__).with_name("explorer_samples.py")))["SAMPLES"]
EVERY = {own.id: own for own in (find("ring-or-tree"), find("dragonfly-or-clos"), *SAMPLES)}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return figure_pages.written(
        tmp_path_factory.mktemp("explorers"), [page.render(own) for own in EVERY.values()], "explorer"
    )


def opened(chromium, files, *theme_and_width, **options):
    return figure_pages.opened(chromium, files, "nx-figure", len(EVERY), *theme_and_width, **options)


@pytest.fixture(scope="module")
def tab(chromium, files):
    tab = opened(chromium, files)
    yield tab
    assert tab.problems == []
    assert all(url.startswith(("file://", "data:", "blob:")) for url in tab.asked)


def figure_of(tab, id):
    return tab.locator(f'.nx-figure[data-explorer="{id}"]')


def drawn(figure):
    return figure.locator(".nx-svg").evaluate("svg => svg.outerHTML")


def shown_tables(figure):
    figure.locator("details").evaluate("d => { d.open = true; }")
    figure.page.wait_for_timeout(20)  # the toggle event comes in a later task
    return figure.locator("table").evaluate_all(
        "tables => tables.map(t => [...t.tBodies[0].rows].map(r => [...r.cells].map(c => c.textContent)))"
    )


def same_words(shown, right, where):
    """Equal text, or numbers that differ by one in the third digit: packing moves a value by 3.2e-4 at most."""
    assert len(shown) == len(right), where
    for row, wanted in zip(shown, right, strict=True):
        for text, want in zip(row, wanted, strict=True):
            if text != want:
                a, b = (re.sub(r"[^\d.]", "", t.split(" ")[0]) for t in (text, want))
                assert text.split(" ")[1:] == want.split(" ")[1:], where
                assert a, f"{where}: {text!r} for {want!r}"
                assert float(a) == pytest.approx(float(b), rel=0.011), where


@pytest.mark.parametrize("id", EVERY)
def test_keys_move_the_figure_to_netlibs_numbers(tab, id):
    own, figure = EVERY[id], figure_of(tab, id)
    last = tuple(n - 1 for n in own.shape)
    pictures = set()
    for index in {own.start, last, tuple(n // 2 for n in own.shape)}:
        to_state(figure, index)
        now = take(own.grid, index)
        reading, failure = own.words(now, index)
        assert figure.locator(".nx-reading").text_content() == reading
        assert figure.locator(".nx-failure").text_content() == failure
        assert figure.locator(".nx-failure").is_visible() == bool(failure)
        for output, slider, knob, i in zip(
            figure.locator(".nx-knobs output").all(),
            figure.locator(".nx-knobs input").all(),
            own.knobs.values(),
            index,
            strict=True,
        ):
            assert output.text_content() == slider.get_attribute("aria-valuetext") == knob.texts[i]
        for shown, table in zip(shown_tables(figure), tables(own.grid), strict=True):
            same_words(shown, fill(table, now), f"{id} {index}")
        pictures.add(drawn(figure))
    assert len(pictures) > 1
    figure.locator(".nx-reset").click()
    assert figure.locator(".nx-reading").text_content() == own.words(own(), own.start)[0]


def test_a_mouse_drag_moves_the_figure(tab):
    own, figure = EVERY["ring-or-tree"], figure_of(tab, "ring-or-tree")
    figure.locator(".nx-reset").click()
    before = drawn(figure)
    slider = figure.locator(".nx-knobs input").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    y = box["y"] + box["height"] / 2
    share = own.start[0] / (own.shape[0] - 1)
    tab.mouse.move(box["x"] + 10 + share * (box["width"] - 20), y)
    tab.mouse.down()
    tab.mouse.move(box["x"] + box["width"] - 2, y, steps=6)
    tab.mouse.up()
    assert figure.locator("output").first.text_content() == own.knobs["nodes"].texts[-1]
    assert drawn(figure) != before
    assert figure.locator(".nx-failure").is_visible()
    figure.locator(".nx-reset").click()
    assert drawn(figure) == before


def values_under_cursor(figure):
    return figure.locator(".nx-entry").evaluate_all(
        "all => all.map(e => [e.querySelector('.nx-name').textContent, +e.querySelector('.nx-value').dataset.value])"
    )


def test_the_pointer_reads_netlibs_values(tab):
    own, figure = EVERY["ring-or-tree"], figure_of(tab, "ring-or-tree")
    figure.locator(".nx-reset").click()
    box = figure.locator(".nx-svg").bounding_box()
    seen = set()
    for share in (0.3, 0.6, 0.9):
        tab.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        i = int(figure.locator(".nx-reader").input_value())
        seen.add(i)
        lines = {e.name: e for e in own().elements if isinstance(e, Line)}
        for name, value in values_under_cursor(figure):
            assert value == pytest.approx(float(np.asarray(lines[name].y)[i]), rel=2e-4)
        x = float(np.asarray(lines["ring"].x)[i])
        assert figure.locator(".nx-where").text_content() == f"at {nice(x, 'iB')}"
    assert len(seen) == 3


def test_the_cursor_walks_with_keys_and_speaks(tab):
    own, figure = EVERY["ring-or-tree"], figure_of(tab, "ring-or-tree")
    reader = figure.locator(".nx-reader")
    reader.focus()
    reader.press("Home")
    reader.press("ArrowRight")
    spoken = reader.get_attribute("aria-valuetext")
    ring = next(e for e in own().elements if getattr(e, "name", "") == "ring")
    assert spoken.startswith(f"at {nice(ring.x[1], 'iB')}, ")
    assert f"ring {nice(ring.y[1], 's')}" in spoken


def test_the_cursor_of_a_heat_map_walks_both_ways(tab):
    own, figure = EVERY["sample-heat"], figure_of(tab, "sample-heat")
    figure.locator(".nx-reset").click()
    reader = figure.locator(".nx-reader")
    reader.focus()
    reader.press("Home")
    for _ in range(40):
        reader.press("ArrowDown")
    reader.press("ArrowUp")
    assert values_under_cursor(figure)[0][1] == pytest.approx(float(own().elements[0].z[1, 0]), rel=1e-3)


def test_the_pointer_reads_a_link(tab):
    figure = figure_of(tab, "sample-diagram")
    figure.locator(".nx-reset").click()
    at = figure.locator(".nx-link").nth(2).bounding_box()
    tab.mouse.move(at["x"] + at["width"] / 2, at["y"] + at["height"] / 2)
    assert figure.locator(".nx-where").text_content() == "host 3 → leaf 3"
    assert values_under_cursor(figure)[0][1] == pytest.approx(0.4, abs=1e-4)
    to_state(figure, (2, 0))
    assert figure.locator('.nx-link[data-load="broken"]').count() == 5


def test_script_and_python_say_numbers_alike(tab):
    rng = np.random.default_rng(7)
    values = [*(10 ** rng.uniform(-11, 17, 400)).tolist(), 0, 1, 16, 1024, 2.125, 999.6, 9.995e-4, -3.2e-5, 1e-9, 1e7,
              *(2.0 ** np.arange(-3, 44, 0.5)).tolist(), 2**30 * (1 - 1e-4), 1023]  # fmt: skip
    cases = [(v, unit) for v in values for unit in (*LADDERS, "", "GPUs")]
    said = tab.evaluate(
        "([cases, ladders, gap]) => cases.map(([v, unit]) => window.netlibWords(v, unit, ladders, gap))",
        [cases, json.loads(json.dumps(LADDERS)), NO_VALUE],
    )
    assert said == [nice(v, unit) for v, unit in cases]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_it_fits_any_width_in_both_themes(chromium, files, theme, width):
    tab = opened(chromium, files, theme, width)
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    for id in EVERY:
        figure = figure_of(tab, id)
        sizes, outside = figure.locator(".nx-svg").evaluate(
            """svg => { const box = svg.getBoundingClientRect(), texts = [...svg.querySelectorAll('text')]
              .filter(t => t.getAttribute('visibility') !== 'hidden' && t.textContent);
              const out = b => b.left < box.left - 2 || b.right > box.right + 12
                || b.top < box.top - 1 || b.bottom > box.bottom + 1;
              return [[...new Set(texts.map(t => getComputedStyle(t).fontSize))],
                texts.filter(t => out(t.getBoundingClientRect())).map(t => t.textContent)]; }"""
        )
        assert sizes == ["12px"]
        assert outside == [], id
        crowded = figure.locator(".nx-axes").evaluate_all(
            """axes => axes.flatMap(a => {
              const boxes = [...a.querySelectorAll('text')].map(t => t.getBoundingClientRect());
              return boxes.flatMap((p, i) => boxes.slice(i + 1).filter(q => p.left < q.right - 1
                && q.left < p.right - 1 && p.top < q.bottom - 3 && q.top < p.bottom - 3)); }).length"""
        )
        assert crowded == 0, f"{id}: tick labels overlap"
    stroke = (
        figure_of(tab, "ring-or-tree").locator(".nx-svg .nx-line").nth(1).evaluate("p => getComputedStyle(p).stroke")
    )
    wanted = getattr(INKS["ring"], theme)
    assert stroke == f"rgb({', '.join(str(int(wanted[i : i + 2], 16)) for i in (1, 3, 5))})"
    assert tab.problems == []
    tab.close()


def test_a_narrower_window_lays_the_figure_out_again(chromium, files):
    tab = opened(chromium, files, width=1000)
    svg = figure_of(tab, "ring-or-tree").locator(".nx-svg")
    wide = svg.bounding_box()["width"]
    tab.set_viewport_size({"width": 360, "height": 800})
    tab.wait_for_function("document.querySelector('.nx-svg').clientWidth < 340")
    assert svg.bounding_box()["width"] < wide
    assert tab.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    assert figure_of(tab, "ring-or-tree").locator(".nx-reader").count() == 1
    assert tab.problems == []
    tab.close()


def test_without_scripts_picture_words_and_numbers_remain(chromium, files):
    tab = opened(chromium, files, java_script_enabled=False)
    for id, own in EVERY.items():
        figure = figure_of(tab, id)
        assert figure.locator(".nx-still").is_visible()
        assert figure.locator(".nx-still").bounding_box()["height"] > 150
        assert figure.locator(".nx-knobs").is_hidden()
        assert figure.locator("noscript").is_visible()
        assert figure.locator(".nx-reading").text_content() == own.words(own(), own.start)[0]
        assert figure.locator("td").count() > 3
    tab.close()


def test_print_hides_the_controls_and_keeps_the_picture(chromium, files):
    tab = opened(chromium, files)
    tab.emulate_media(media="print")
    figure = figure_of(tab, "ring-or-tree")
    assert figure.locator(".nx-svg").is_visible()
    assert figure.locator(".nx-reset").is_hidden()
    assert figure.locator(".nx-reader").is_hidden()
    assert figure.locator(".nx-knobs output").first.is_visible()  # the state that was printed
    tab.close()


def test_a_browser_that_cannot_unpack_keeps_the_still_picture(chromium, files):
    tab = chromium.new_page()
    tab.add_init_script("delete window.DecompressionStream")
    tab.goto((files / "light.html").as_uri())
    figure = figure_of(tab, "ring-or-tree")
    figure.get_by_text("This figure cannot move here").wait_for()
    assert figure.locator(".nx-still").is_visible()
    tab.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_no_accessibility_violation(chromium, files, theme):
    tab = opened(chromium, files, theme)
    assert violations(tab) == []
    tab.close()


def test_the_dot_below_stands_under_its_line_where_points_are_uneven(tab):
    """The read-off slider steps from point to point; its thumb is moved to where the point lies."""
    figure = figure_of(tab, "dragonfly-or-clos")
    reader = figure.locator("input.nx-reader")
    reader.focus()
    for key in ("Home", "PageUp", "PageUp", "End", "ArrowLeft"):
        reader.press(key)
        thumb, line = reader.evaluate(
            """reader => {
                const figure = reader.closest('.nx-figure'), box = reader.getBoundingClientRect();
                const svg = reader.parentElement.querySelector('svg').getBoundingClientRect();
                const even = box.left - svg.left + 10 + (box.width - 20) * reader.value / reader.max;
                const shift = parseFloat(reader.style.getPropertyValue('--nx-shift'));
                return [even + shift, Number(figure.querySelector('.nx-hair').getAttribute('x1'))];
            }"""
        )
        assert thumb == pytest.approx(line, abs=1)


def test_words_beside_a_rule_stay_inside_the_frame_and_above_the_cursor(chromium, files):
    """On a phone a long label has no room on its usual side; and the cursor's dot must not lie on a number."""
    tab = opened(chromium, files, "light", 320)
    own, figure = EVERY["ring-or-tree"], figure_of(tab, "ring-or-tree")
    seen = 0
    for index in np.ndindex(own.shape):
        to_state(figure, index)
        left, right, low, high, above = figure.locator(".nx-svg").evaluate(
            """svg => {
                const text = svg.querySelector('text.nx-halo'), box = text.getBBox();
                const clip = svg.querySelector('clipPath rect').getBBox();
                const above = svg.querySelector('.nx-dots').compareDocumentPosition(text) & 4;  // comes after
                return [box.x, box.x + box.width, clip.x, clip.x + clip.width, above];
            }"""
        )
        assert low <= left, index
        assert right <= high, index
        assert above, index
        seen += right > left
    assert seen > 10
    tab.close()


def test_names_under_bars_lie_apart_on_a_telephone(chromium, tmp_path):
    """Nine names of one word do not fit side by side in 360 px: every second one stands a line lower."""
    files = figure_pages.written(tmp_path, [page.bake(find("queue-by-control"))], "explorer")
    for width, lines in ((360, 2), (900, 1)):
        tab = figure_pages.opened(chromium, files, "nx-figure", 1, "light", width)
        boxes = tab.locator(".nx-axes text[text-anchor=middle]").evaluate_all(
            "all => all.filter(t => t.textContent).map(t => t.getBoundingClientRect())"
            ".map(b => [b.left, b.right, b.top])"
        )
        assert len(boxes) == 9
        assert len({round(top) for _, _, top in boxes}) == lines
        for one, other in itertools.combinations(boxes, 2):
            assert one[1] <= other[0] or other[1] <= one[0] or abs(one[2] - other[2]) > 10
        tab.close()
