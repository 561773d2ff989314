"""Chapter 2 as a whole: page and notebook show the same figures, ask the same questions and answer every claim."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from netlib.course.exercises import sheet
from netlib.links import Link
from netlib.topology import leaf_spine, round_trip, what_remains

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/02_scale_out.md").read_text(encoding="utf8")
CELLS = json.loads((ROOT / "notebooks/02_scale_out.ipynb").read_text(encoding="utf8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
TEXT = "\n".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")
ROLE = re.compile(r"\{(?:fact|ratio|calc)\}`")
TRACED = ("Source tracing", "Nothing to compute")

EXPLORERS = "clos-size taper rails-map planes-rails-tiers ecmp-collide link-ledger permutation-rates dragonfly-groups"
EXPLORERS += " dragonfly-or-clos staging optics-power scale-across growth"
# what the page's last section must answer, by words of the claim; the notebook's section Refute answers the same
CLAIMS = (
    *("unbounded", "the square", "east-west", "64 ports", "bought for the future", "up to 512 GPUs", "dragonfly+"),
    *("four routers", "twice as fast", "after 2025", "line up an all-to-all", "Meta's large clusters", "RoCE is fine"),
    *("2 to 3 µs", "200 Gb between nodes", "minimum bisection", "empty the GPUs", "Every framework".lower()),
    *("30 to 50 %", "below 5 m"),
)


@pytest.mark.parametrize("id", EXPLORERS.split())
def test_page_and_notebook_show_the_same_figures(id: str) -> None:
    assert PAGE.count(f"```{{explorer}} {id}\n") == 1
    assert CODE.count(f'explore("{id}")') == 1


def test_page_and_notebook_ask_the_same_questions() -> None:
    ids = [exercise.id for exercise in sheet("scale-out")]
    assert len(ids) >= 10
    for id in ids:
        assert PAGE.count(f"```{{exercise}} {id}\n") == 1
        assert sum(source.startswith(f'check("{id}",') for source in CODE) == 1


def fallacies() -> list[str]:
    """The paragraphs of the page's last section but four."""
    section = PAGE.split("## Fallacies and pitfalls\n")[1].split("```{takeaway}")[0]
    return [part.strip() for part in section.split("\n\n") if part.strip()]


def test_every_fallacy_is_refuted_by_a_computed_value_or_says_that_it_is_traced() -> None:
    traced = 0
    for paragraph in fallacies():
        claim = re.match(r"\*\*(Fallacy|Pitfall): .+?\*\*", paragraph)
        assert claim, paragraph[:80]
        answer = paragraph[claim.end() :]
        if answer.strip().startswith(TRACED):
            traced += 1
            assert "{cite:t}`" in answer, f"{claim.group()} is traced to no source"
        else:
            assert ROLE.search(answer), f"nothing computed says anything to {claim.group()}"
    assert traced <= 5, "a claim that can be computed should be"


@pytest.mark.parametrize("words", CLAIMS)
def test_every_claim_is_answered(words: str) -> None:
    heads = [re.match(r"\*\*.+?\*\*", paragraph)[0].lower() for paragraph in fallacies()]
    assert sum(words.lower() in head for head in heads) >= 1


def test_the_notebook_refutes_with_cells() -> None:
    """From the heading Refute on, each claim in bold stands above a cell; the traced ones are named in one place."""
    after = next(i for i, cell in enumerate(CELLS) if "## Refute" in "".join(cell["source"]))
    cells = CELLS[after:]
    bold = [i for i, cell in enumerate(cells) if cell["cell_type"] == "markdown" and '**"' in "".join(cell["source"])]
    assert len(bold) >= 10
    assert all(cells[i + 1]["cell_type"] == "code" for i in bold)
    assert "cannot be computed, only traced" in TEXT


def test_sections_stay_readable() -> None:
    """A section has 1,500 words at most, roles counted as one, and the page takes under 50 minutes at 150 a minute."""
    plain = re.sub(r"\{\w+(?::t)?\}`[^`]*`", "x", PAGE)
    sizes = {part.split("\n")[0]: len(part.split()) for part in plain.split("\n## ")}
    assert max(sizes.values()) < 1500, sizes
    assert sum(sizes.values()) < 50 * 150


def test_the_notebook_has_its_rhythm() -> None:
    """Predict, build, explore, break, check, in this order of first appearance; no four code cells in a row."""
    kinds = "".join(cell["cell_type"][0] for cell in CELLS)
    assert kinds[0] == "m"
    assert "cccc" not in kinds
    first = [next(i for i, source in enumerate(CODE) if word in source) for word in ("predict(", "build(", "explore(")]
    assert first == sorted(first)
    sizes = sorted(len(source.splitlines()) for source in CODE)
    assert sizes[-1] <= 20
    assert sizes[len(sizes) // 2] <= 5


@pytest.mark.parametrize(("ahead", "waits"), [(1, 2046.0), (2046, 4.0)])
def test_a_ring_over_two_sites_waits_in_each_step_only_if_its_ranks_keep_step(ahead: int, waits: float) -> None:
    """Beside the page's numbers: start of each step of each rank, when only the two long links take time."""
    one_way = float(round_trip(1000e3)) / 2
    flight = np.zeros(1024)
    flight[[511, 1023]] = one_way
    starts = [np.zeros(1024)]
    for step in range(1, 2 * 1023 + 1):
        start = np.maximum(np.roll(starts[-1] + flight, 1), starts[-1])  # what arrives, its own last step
        if step >= ahead:  # a slot is free when the next rank has come to the step that last used it
            start = np.maximum(start, np.roll(starts[step - ahead], -1) + flight)
        starts.append(start)
    assert starts[-1].max() / one_way == pytest.approx(waits)
    assert f"`{'2 * 1023' if waits > 4 else '4'} * round_trip(1000e3) / 2 |" in PAGE


def test_twice_the_spines_add_no_link_between_leaves_and_halve_what_a_broken_one_takes() -> None:
    """The page's answer to "switches bought for the future": the uplinks of a leaf stay 32."""
    for spines, lost in ((16, 1 / 16), (32, 1 / 32)):
        fabric = leaf_spine(1024, 64, Link(0, 50e9), spines=spines)
        leaf = fabric.source[fabric.tier[fabric.target] == 2]
        assert set(np.bincount(leaf)[fabric.tier[: leaf.max() + 1] == 1].tolist()) == {32}
        hurt = fabric.without(vertices=[int(np.flatnonzero(fabric.tier == 2)[0])])
        assert what_remains(fabric, hurt).bisection == pytest.approx(1 - lost)
        assert f"`1 / {spines} | % | 3`" in PAGE
