"""The written pages, without a browser: links lead somewhere, pictures say what they show, nothing is left unread."""

import re
import zipfile
from urllib.parse import unquote, urldefrag

import pytest
from bs4 import BeautifulSoup

from netlib import hardware
from netlib.course import site
from netlib.course.explorers import load

ROLE = re.compile(r"\{[a-z:-]+\}`")


@pytest.fixture(scope="module")
def soups(book):
    """Every page, parsed."""
    return {name: BeautifulSoup((book.folder / name).read_text(encoding="utf8"), "html.parser") for name in book.pages}


def anchors(soup):
    return {tag["id"] for tag in soup.find_all(id=True)} | {
        tag["name"] for tag in soup.find_all("a", attrs={"name": True})
    }


def test_internal_links_and_anchors_resolve(book, soups):
    ids, broken, counted = {name: anchors(soup) for name, soup in soups.items()}, [], 0
    for name, soup in soups.items():
        for kind, attribute in (("a", "href"), ("link", "href"), ("script", "src"), ("img", "src")):
            for address in (tag.get(attribute) for tag in soup.find_all(kind)):
                if not address or address.startswith(("data:", "mailto:", "http:", "https:")):
                    continue
                path, fragment = urldefrag(address)
                target = (book.folder / name).parent / unquote(path.split("?")[0]) if path else book.folder / name
                counted += 1
                inside = target.resolve().relative_to(book.folder).as_posix() if target.exists() else ""
                known = fragment in ("", "search-index") or inside not in ids or unquote(fragment) in ids[inside]
                if not inside or not known:
                    broken.append((name, address))
    assert broken == []
    assert counted > 500


def test_every_fact_and_node_has_its_anchor(soups):
    ids = anchors(soups["book/hardware.html"])
    missing = {f"fact-{fact.id}" for fact in hardware.facts()} | {f"node-{node.id}" for node in hardware.nodes()}
    assert missing - ids == set()


def test_ids_are_unique_on_a_page(soups):
    for name, soup in soups.items():
        ids = [tag["id"] for tag in soup.find_all(id=True)]
        assert sorted(ids) == sorted(set(ids)), name


def test_pictures_have_a_text_of_their_own(soups):
    """Alternative text exists, is no file name, and does not repeat the caption."""
    seen = 0
    for name, soup in soups.items():
        for picture in soup.find_all(["img", "svg"]):
            if picture.get("aria-hidden") == "true" or picture.find_parent(attrs={"aria-hidden": "true"}):
                continue
            figure = picture.find_parent("figure")
            if picture.name == "svg" and figure is None:
                continue  # an icon of the theme
            alt = picture.get("alt") or picture.get("aria-label") or ""
            caption = (
                figure.find("figcaption").get_text(" ", strip=True) if figure and figure.find("figcaption") else ""
            )
            seen += 1
            assert len(alt) > 20, (name, str(picture)[:200])
            assert not re.search(r"\.(png|svg|jpe?g)$", alt), (name, alt)
            assert alt not in caption, (name, alt)
    assert seen >= 5


def test_nothing_is_left_unread_or_alive(soups):
    """No role printed instead of read, no widget that would need a kernel, no error of a cell."""
    for name, soup in soups.items():
        assert not soup.find_all("script", type=re.compile("widget-(view|state)")), name
        for tag in soup.find_all(["script", "style", "code", "pre"]):
            tag.decompose()
        assert not ROLE.search(soup.get_text()), name


def test_each_explorer_keeps_its_words_without_a_script(book):
    """Before the script runs a figure shows picture, sentence and table of its default state."""
    soup = BeautifulSoup((book.folder / "book/index.html").read_text(encoding="utf8"), "html.parser")
    figure = soup.find("figure", attrs={"data-explorer": "ring-or-tree"})
    own = load("ring-or-tree")
    reading, _ = own.words(own.at(own.start), own.start)
    assert figure.find(class_="nx-reading").get_text() == reading
    assert figure.find("svg") is not None
    assert len(figure.find_all("tr")) > 3
    assert figure.find("noscript") is not None


def test_the_zip_holds_the_book(book):
    packed = book.folder.parents[1] / "build" / f"{site.NAME}.zip"
    with zipfile.ZipFile(packed) as archive:
        names = set(archive.namelist())
    assert {f"{site.NAME}/{name}" for name in book.pages} <= names
    assert f"{site.NAME}/_static/vendor/mathjax/LICENSE" in names
    assert packed.stat().st_size < 30e6
