"""The package as a reader meets it: every module is on its page, and sends the reader to a section that exists."""

import re
from pathlib import Path

import pytest

import netlib.topology as package

HERE = Path(package.__file__).parent
MODULES = sorted(path.stem for path in HERE.glob("*.py") if path.stem != "__init__")
CHAPTERS = {"Scale-up": "01_scale_up.md", "Scale-out": "02_scale_out.md"}


def test_the_page_lists_every_module_once_and_a_core_of_three() -> None:
    lines = (package.__doc__ or "").splitlines()
    listed = [line.split()[0] for line in lines if re.match(r"[a-z]+ {2,}", line)]
    assert sorted(listed) == MODULES
    assert sum(line.endswith("(the core)") for line in lines) == 3


@pytest.mark.parametrize("module", MODULES)
def test_a_module_names_a_chapter_and_sections_that_exist(module: str) -> None:
    text = " ".join((HERE / f"{module}.py").read_text().partition('"""')[2].partition('"""')[0].split())
    found = re.search(r'Read with the chapter "([^"]+)"(?:, sections? ("[^"]+"(?: and "[^"]+")*))?\.', text)
    assert found, "say which chapter and section to read it with"
    book = HERE.parents[1] / "book" / CHAPTERS[found[1]]
    headings = {line.lstrip("# ").strip() for line in book.read_text().splitlines() if line.startswith("#")}
    assert set(re.findall(r'"([^"]+)"', found[2] or "")) <= headings
