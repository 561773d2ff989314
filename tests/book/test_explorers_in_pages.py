"""Explorers in a page and in an executed notebook: moved by mouse and keyboard, equal to netlib."""

import pytest

from netlib.collectives import ring_allreduce_time
from netlib.course import twin
from netlib.course.explorers import ids, load
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.units import parse

PAGES = (
    "book/01_scale_up.html",
    "book/02_scale_out.html",
    "book/03_collectives.html",
    "book/04_congestion_control.html",
    "notebooks/01_scale_up.html",
    "notebooks/02_scale_out.html",
    "notebooks/03_collectives.html",
    "notebooks/04_congestion_control.html",
)
CELLS = """figure => [...figure.querySelectorAll('.nx-tables tbody')].map(body => [...body.rows].map(row =>
    [...row.cells].map(cell => [cell.textContent, 'value' in cell.dataset ? Number(cell.dataset.value) : null])))"""


def settle(page, address):
    page.goto(address, wait_until="load")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.nx-figure')].every(f => f.dataset.ready !== undefined)"
    )


def where(figure):
    """The state that the page says it shows, as places on the grid."""
    return tuple(int(knob.input_value()) for knob in figure.locator("input[data-knob]").all())


def told(figure):
    return figure.locator(".nx-reading").inner_text(), figure.locator(".nx-failure").text_content()


@pytest.mark.parametrize("name", PAGES)
def test_every_explorer_answers_to_the_keyboard(book, open_page, watch, name):
    """Each knob steps with the arrow keys; after every step the page says what netlib says for that state."""
    page = open_page()
    settle(page, f"{book.address}/{name}")
    figures = [f for f in page.locator("figure[data-explorer]").all() if f.get_attribute("data-explorer") in ids()]
    assert len(figures) >= 3
    for figure in figures:
        own = load(figure.get_attribute("data-explorer"))
        for knob in figure.locator("input[data-knob]").all():
            before = where(figure)
            knob.focus()
            page.keyboard.press("ArrowRight")
            if where(figure) == before:
                page.keyboard.press("ArrowLeft")
            now = where(figure)
            assert now != before, (own.id, before)
            reading, failure = own.words(own.at(now), now)
            assert (told(figure)[0].strip(), told(figure)[1].strip()) == (reading.strip(), failure.strip()), (
                own.id,
                now,
            )
            place = next(i for i, (old, new) in enumerate(zip(before, now, strict=True)) if old != new)
            text = list(own.knobs.values())[place].texts[now[place]]
            assert knob.get_attribute("aria-valuetext") == text
        figure.locator(".nx-reset").click()
        assert where(figure) == own.start, own.id
    assert watch.errors == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (360, True)])
def test_a_mouse_moves_the_figure_and_the_numbers(book, open_page, watch, width, dark):
    """Drag a slider of the first figure of the book: picture, sentence and table follow, with netlib's values."""
    page = open_page(width=width, dark=dark)
    settle(page, f"{book.address}/book/index.html")
    figure, own = page.locator("figure[data-explorer='ring-or-tree']"), load("ring-or-tree")
    figure.scroll_into_view_if_needed()
    picture, before = figure.locator(".nx-stage").inner_html(), where(figure)
    box = figure.locator("input[data-knob]").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.35, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.85, box["y"] + box["height"] / 2, steps=6)
    page.mouse.up()
    now = where(figure)
    assert now[0] > before[0]
    assert figure.locator(".nx-stage").inner_html() != picture
    assert told(figure)[0] == own.words(own.at(now), now)[0]

    figure.locator("details.nx-data summary").click()
    page.wait_for_function("() => document.querySelector('.nx-tables td[data-value]') !== null")
    shown = figure.evaluate(CELLS)
    at_now = own.at(now)
    texts = [[[text for text, _ in row] for row in body] for body in shown]
    assert texts == [twin.fill(table, at_now) for table in twin.tables(at_now)]

    nodes, alpha = (knob.values[place] for knob, place in zip(own.knobs.values(), now, strict=True))
    link = Link(alpha, bandwidth("ndr-400"))
    ring = twin.tables(at_now)[1].head.index("ring")
    for row in shown[1]:
        size = parse(row[0][0]).value
        assert row[ring][1] == pytest.approx(float(ring_allreduce_time(size, 8 * nodes, link)), rel=5e-3), row
    assert watch.errors == []
