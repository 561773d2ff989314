"""Chapter 1 as a whole: page and notebook show the same figures and exercises, claims are computed, cells are short."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/01_scale_up.md").read_text(encoding="utf8")
CELLS = json.loads((ROOT / "notebooks/01_scale_up.ipynb").read_text(encoding="utf8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
ROLE = re.compile(r"\{(?:fact|ratio|calc)\}`")

EXPLORERS = "bandwidth-ladder nvl72-anatomy tp-share moe-domain bytes-in-flight nvls-bound nic-and-pcie remote-roofline"
EXPLORERS += " four-networks node-map"
EXERCISES = "ladder-01 nvl72-01 tp-01 moe-01 flight-01 nvls-01 pcie-01 roofline-01"


@pytest.mark.parametrize("id", EXPLORERS.split())
def test_page_and_notebook_show_the_same_figures(id: str) -> None:
    assert PAGE.count(f"```{{explorer}} {id}\n") == 1
    assert CODE.count(f'explore("{id}")') == 1


@pytest.mark.parametrize("id", EXERCISES.split())
def test_page_and_notebook_ask_the_same_questions(id: str) -> None:
    assert PAGE.count(f"```{{exercise}} {id}\n") == 1
    assert sum(bool(re.match(rf'check\(\s*"{id}",', source)) for source in CODE) == 1


def fallacies() -> list[str]:
    """The paragraphs of the last section but four, each a claim and what a computation says to it."""
    section = PAGE.split("## Fallacies and pitfalls\n")[1].split("```{takeaway}")[0]
    return [part for part in section.split("\n\n") if part.strip()]


def test_every_fallacy_is_refuted_by_a_computed_value() -> None:
    found = fallacies()
    assert len(found) >= 10
    for paragraph in found:
        claim = re.match(r"\s*\*\*(Fallacy|Pitfall): .+?\*\*", paragraph)
        assert claim, paragraph[:80]
        assert ROLE.search(paragraph, claim.end()), f"nothing computed says anything to {claim.group()}"


def test_sections_stay_readable() -> None:
    """A section has 1,500 words at most, roles counted as one, and the page under 50 minutes at 150 words a minute."""
    plain = ROLE.sub("x`", re.sub(r"\{\w+(?::t)?\}`[^`]*`", "x", PAGE))
    sizes = {part.split("\n")[0]: len(part.split()) for part in plain.split("\n## ")}
    assert max(sizes.values()) < 1500, sizes
    assert sum(sizes.values()) < 50 * 150


def test_cells_are_short_and_begin_with_a_sentence() -> None:
    lines = sorted(len(source.splitlines()) for source in CODE)
    assert lines[-1] <= 20
    assert lines[len(lines) // 2] <= 5
    assert CELLS[0]["cell_type"] == "markdown"
    kinds = "".join(cell["cell_type"][0] for cell in CELLS)
    assert "cccc" not in kinds, "four cells of code in a row want a sentence between them"


def test_nothing_measured_is_printed() -> None:
    """Seconds of the reader's machine end in True or False, never in a number that a second run would change."""
    measured = {"times", "fits", "speed"}
    for source in CODE:
        for call in ast.walk(ast.parse(source)):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print":
                parts = list(ast.walk(call))
                if measured & {part.id for part in parts if isinstance(part, ast.Name)}:
                    assert any(isinstance(part, ast.Compare) for part in parts), ast.unparse(call)
