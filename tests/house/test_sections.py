"""A module that names a section of the book names one that is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
POINTER = re.compile(r'Read with (?:the chapter )?"([^"]+)", sections? ((?:"[^"]+"(?:, | and )?)+)')
PAGES = {text.split("\n")[0][2:]: text for text in (path.read_text() for path in (ROOT / "book").glob("*.md"))}


def pointers(text: str) -> list[tuple[str, str]]:
    """(page, section) of each pointer in a module's text, line breaks and indents aside."""
    flat = " ".join(text.split())
    return [(found[1], section) for found in POINTER.finditer(flat) for section in re.findall(r'"([^"]+)"', found[2])]


FOUND = sorted(
    (str(path.relative_to(ROOT)), page, section)
    for path in (ROOT / "netlib").rglob("*.py")
    for page, section in pointers(path.read_text())
)


@pytest.mark.parametrize(("module", "page", "section"), FOUND)
def test_a_section_that_a_module_names_exists(module: str, page: str, section: str) -> None:
    assert page in PAGES, f"{module} sends its reader to a page {page!r} that does not exist"
    headings = re.findall(r"^#{2,3} (.+)$", PAGES[page], re.MULTILINE)
    assert section in headings, f"{module} names a section {section!r} that {page!r} does not have: {headings}"


def test_pointers_are_found() -> None:
    assert len(FOUND) > 20
    assert pointers('Read with\nthe chapter "A", sections "B c"\n    and "D".') == [("A", "B c"), ("A", "D")]
