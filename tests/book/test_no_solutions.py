"""No line of a lab's solution, and no held-back test, stands in what the public sees: pages, sources, search, zip."""

import json
import re
import zipfile
from html import unescape
from pathlib import Path

import pytest

from netlib.course.lab_build import labs, read, source_of, telling_lines
from netlib.course.site import NAME

ROOT = Path(__file__).resolve().parents[2]
TELLING = {line for lab in labs(ROOT) for line in telling_lines(read(source_of(ROOT, lab)))}


def plain(data: bytes, name: str) -> str:
    """The words of one file: tags and escapes gone, since a highlighter cuts a line of code into pieces."""
    text = data.decode("utf-8", errors="ignore").replace('\\"', '"')
    return unescape(re.sub(r"<[^>]*>", "", text)) if name.endswith(".html") else text


def told(files) -> list[tuple[str, str]]:
    """Each telling line with the file that tells it."""
    found = []
    for name, data in files:
        if name.endswith((".html", ".js", ".txt", ".ipynb", ".md", ".json", ".inv", ".py")):
            text = plain(data, name)
            found += [(name, line) for line in TELLING if line in text]
    return found


def test_there_is_something_to_tell():
    assert len(TELLING) > 25
    line = max(TELLING, key=len)
    shown = "".join(f"<span>{letter}</span>" for letter in line.replace("&", "&amp;").replace("<", "&lt;"))
    assert told([("a.html", f"<pre>{shown}</pre>".encode())]) == [("a.html", line)]
    assert told([("a.ipynb", json.dumps({"source": [line]}).encode())]) == [("a.ipynb", line)]


@pytest.mark.parametrize("room", ["", "_sources"])
def test_no_page_tells_a_solution(book, room):
    paths = [path for path in (book.folder / room).rglob("*") if path.is_file()]
    assert len(paths) > 10
    assert told((path.relative_to(book.folder).as_posix(), path.read_bytes()) for path in paths) == []
    assert not [path for path in paths if "labs/source" in path.as_posix()]


def test_the_zip_tells_none(book):
    with zipfile.ZipFile(book.folder.parents[1] / "build" / f"{NAME}.zip") as archive:
        assert told((name, archive.read(name)) for name in archive.namelist()) == []
        assert f"{NAME}/book/labs.html" in archive.namelist()


def test_the_labs_page_shows_each_lab(book):
    text = plain((book.folder / "book" / "labs.html").read_bytes(), "a.html")
    for lab in labs(ROOT):
        assert lab.title in text
        assert lab.objectives[0] in text
