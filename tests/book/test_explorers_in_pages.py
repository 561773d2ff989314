"""Explorers where readers meet them: moved by mouse and keyboard, in a page and in a notebook, equal to netlib."""

import math

import pytest

from netlib.course.explorers import load

PAGES = ("book/03_collectives.html", "notebooks/03_collectives.html")
VALUES = """figure => [...figure.querySelectorAll('.nx-tables tbody')].map(body => [...body.rows].map(row =>
    [...row.cells].map(cell =>
      [cell.textContent, cell.dataset.value === undefined ? null : Number(cell.dataset.value)])))"""


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


def nearly(shown, expected, rel=2e-3):
    return (math.isnan(shown) and math.isnan(expected)) or math.isclose(shown, expected, rel_tol=rel, abs_tol=1e-12)


@pytest.mark.parametrize("name", PAGES)
def test_every_explorer_answers_to_the_keyboard(book, open_page, watch, name):
    """Each knob steps with the arrow keys; after every step the page says what netlib says for that state."""
    page = open_page()
    settle(page, f"{book.address}/{name}")
    figures = page.locator("figure[data-explorer]").all()
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
    """Drag a slider of the book's first figure: picture, sentence and table follow; the table holds netlib's values."""
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
    from netlib.course.explorer import state

    knobs = {name: knob.values[place] for (name, knob), place in zip(own.knobs.items(), now, strict=True)}
    expected = state(own, **knobs)
    heads = figure.locator(".nx-tables table").first.locator("thead th").all_inner_texts()
    rows = figure.evaluate(VALUES)[0]
    compared = 0
    for row in rows:
        size = row[0][1]
        if size is None:
            continue
        near = min(range(len(expected["x"])), key=lambda i: abs(math.log(expected["x"][i] / size)))
        for head, (_, shown) in list(zip(heads, row, strict=True))[1:]:
            series = next(
                (values for name, values in expected.items() if isinstance(values, list) and head.startswith(name)),
                None,
            )
            if shown is not None and series is not None:
                assert nearly(shown, series[near]), (head, size, shown, series[near])
                compared += 1
    assert compared >= 6
    assert watch.errors == []
