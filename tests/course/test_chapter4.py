"""Chapter 4 as a whole: page and notebook show the same figures and ask the same questions; the notebook's rhythm.

What the notebook says about its own outputs is read here from the outputs that are stored.
"""

import json
import re
from pathlib import Path

import pytest

from netlib.course.exercises import sheet

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/04_congestion_control.md").read_text(encoding="utf8")
CELLS = json.loads((ROOT / "notebooks/04_congestion_control.ipynb").read_text(encoding="utf8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
EXPLORERS = re.findall(r"^```\{explorer\} (\S+)$", PAGE, re.MULTILINE)


def printed(part: str) -> str:
    """What the one cell that holds `part` has printed."""
    (cell,) = (cell for cell in CELLS if cell["cell_type"] == "code" and part in "".join(cell["source"]))
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


@pytest.mark.parametrize("id", EXPLORERS)
def test_page_and_notebook_show_the_same_figures(id: str) -> None:
    assert PAGE.count(f"```{{explorer}} {id}\n") == 1
    assert CODE.count(f'explore("{id}")') == 1


def test_page_and_notebook_ask_the_same_questions() -> None:
    ids = [exercise.id for exercise in sheet("congestion")]
    assert len(ids) >= 10
    for id in ids:
        assert PAGE.count(f"```{{exercise}} {id}\n") == 1, id
        assert sum(bool(re.search(rf'^check\(\s*"{id}",', source, re.MULTILINE)) for source in CODE) == 1, id


def test_the_notebook_has_its_rhythm() -> None:
    """Predict, build, explore, break, check, in this order of first appearance; no four code cells in a row."""
    kinds = "".join(cell["cell_type"][0] for cell in CELLS)
    assert kinds[0] == "m"
    assert "cccc" not in kinds
    first = [next(i for i, source in enumerate(CODE) if word in source) for word in ("predict(", "def ", "explore(")]
    assert first == sorted(first)
    text = "\n".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")
    assert text.count("Break") >= 3
    sizes = sorted(len(source.splitlines()) for source in CODE)
    assert sizes[-1] <= 20
    assert sizes[len(sizes) // 2] <= 5


def test_three_engines_agree_and_the_gap_is_stated() -> None:
    """Closed form and equations to a hundredth of a per cent; packets by the quarter that the notebook speaks of."""
    said = printed("closed form {closed")
    equations, packets = (float(each) for each in re.findall(r"gap (-?[\d.]+)%", said))
    assert equations < 0.05
    assert 15 <= packets <= 35


def test_the_empty_queue_waits_for_the_timer() -> None:
    said = printed("the queue is empty for")
    rows = re.findall(r"timer +(\d+) us: the queue is empty for +(\d+) us", said)
    assert len(rows) >= 2
    for timer, gap in rows:
        assert 0.95 * int(timer) <= int(gap) <= int(timer)


def test_half_a_tuning_is_the_worst_of_four() -> None:
    said = printed('"as it was": (before, old)')
    last = [float(each) for each in re.findall(r"last ([\d.]+) times", said)]
    assert last.index(max(last)) == 2
    assert last[2] > 3 * last[3]
