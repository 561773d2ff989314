"""Every built page in a real browser: nothing from outside, no error, mathematics set, nothing wider than a phone."""

import re
import tomllib
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe

ROWS = tomllib.loads((Path(__file__).parents[1] / "allowed.toml").read_text(encoding="utf8"))["exception"]
THEME = {row["rule"] for row in ROWS if row["kind"] == "accessibility" and row["where"] == "theme"}
SETTLED = "() => !window.MathJax || !MathJax.startup || MathJax.startup.promise.then(() => true)"
RAW_MATHS = re.compile(r"\\\(|\\\[|\$\$")
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]


def visit(page, address: str) -> None:
    page.goto(address, wait_until="load")
    page.wait_for_function(SETTLED)
    page.wait_for_function("() => document.getAnimations().every(each => each.playState !== 'running')")


def test_a_wide_formula_is_reached_by_keyboard(book, open_page):
    """Formulas fit a phone; in large print some scroll sideways, and those, no others, take the focus."""
    page = open_page(width=360)
    visit(page, f"{book.address}/book/02_scale_out.html")
    page.add_style_tag(content='mjx-container[display="true"] { font-size: 300% !important; }')
    page.evaluate("window.dispatchEvent(new Event('resize'))")
    wide, focused = page.evaluate(
        """() => {
            const all = [...document.querySelectorAll('mjx-container[display="true"]')];
            return [all.filter(m => m.scrollWidth > m.clientWidth).length, all.filter(m => m.tabIndex === 0).length];
        }"""
    )
    assert wide == focused > 0


def test_the_book_has_its_pages(book):
    """A test over pages proves nothing when there are none."""
    wanted = {
        "book/index.html",
        "book/01_scale_up.html",
        "book/02_scale_out.html",
        "book/03_collectives.html",
        "book/04_congestion_control.html",
        "book/hardware.html",
        "notebooks/01_scale_up.html",
        "notebooks/02_scale_out.html",
        "notebooks/03_collectives.html",
        "notebooks/04_congestion_control.html",
        "search.html",
    }
    assert wanted <= set(book.pages)


@pytest.mark.parametrize(("dark", "width"), [(False, 1280), (True, 360)])
def test_every_page_is_whole_and_alone(book, open_page, watch, dark, width):
    """No request leaves (the fixture counts them), no error, mathematics typeset, no sideways scrolling."""
    page = open_page(width=width, height=800, dark=dark)
    failed: list[str] = []
    page.on("response", lambda answer: answer.status >= 400 and failed.append(f"{answer.status} {answer.url}"))
    wide, unset, unthemed = [], [], []
    for name in book.pages:
        visit(page, f"{book.address}/{name}")
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            wide.append(name)
        maths, typeset = page.evaluate("['.math', 'mjx-container'].map(s => document.querySelectorAll(s).length)")
        if typeset < maths or RAW_MATHS.search(page.inner_text("body")):
            unset.append((name, maths, typeset))
        if page.evaluate("document.documentElement.dataset.theme") != ("dark" if dark else "light"):
            unthemed.append(name)
    assert (failed, wide, unset, unthemed, watch.errors) == ([], [], [], [], [])


def test_a_folder_is_enough(book, open_page, watch):
    """The unpacked zip opens without a server: file:// pages ask nothing, fail nothing, and set their mathematics."""
    page = open_page()
    for name in (
        "index.html",
        "book/how_to_read.html",
        "book/03_collectives.html",
        "notebooks/03_collectives.html",
    ):
        visit(page, (book.folder / name).as_uri())
    page.goto((book.folder / "book/how_to_read.html").as_uri())
    page.wait_for_selector("mjx-container")
    assert watch.errors == []


@pytest.mark.parametrize("place", ["server", "folder"])
def test_search_finds_busbw(book, open_page, watch, place):
    """Search is local: it answers with a server and without one."""
    page = open_page()
    page.goto(f"{book.address if place == 'server' else book.folder.as_uri()}/search.html?q=busbw")
    page.wait_for_selector("#search-results li a")
    assert "Glossary" in page.inner_text("#search-results")
    page.wait_for_load_state("networkidle")
    assert watch.errors == []


COLOURED = ("book/index.html", "book/how_to_read.html", "book/03_collectives.html", "notebooks/03_collectives.html")


@pytest.mark.parametrize("dark", [False, True])
def test_accessible(book, open_page, dark):
    """axe-core finds nothing serious or critical but what the theme itself is known to cause (tests/allowed.toml).

    Light: every rule on every page. Dark differs in colours alone: the colour rules, on a page of each kind.
    """
    page = open_page(dark=dark)
    rules = (
        {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
        if dark
        else {"runOnly": AXE_TAGS}
    )
    found: dict[str, list[str]] = {}
    excused = set()
    for name in COLOURED if dark else [page for page in book.pages if page != "index.html"]:  # that one is a redirect
        visit(page, f"{book.address}/{name}")
        for fault in Axe().run(page, options={**rules, "resultTypes": ["violations"]}).response["violations"]:
            excused |= {fault["id"]} & THEME
            if fault["impact"] in ("serious", "critical") and fault["id"] not in THEME:
                found.setdefault(fault["id"], []).append(f"{name}: {fault['nodes'][0]['html'][:160]}")
    assert found == {}
    assert dark or excused == THEME, "an exception that nothing needs any more is taken off the list"


def test_axe_would_notice(book, open_page):
    """The check above can fail: a picture without a text, put into a page, is found."""
    page = open_page()
    visit(page, f"{book.address}/book/01_scale_up.html")
    page.evaluate(
        "document.querySelector('article').insertAdjacentHTML('beforeend', '<img src=\"data:,\"><button></button>')"
    )
    found = {fault["id"] for fault in Axe().run(page, options={"runOnly": AXE_TAGS}).response["violations"]}
    assert {"image-alt", "button-name"} <= found
