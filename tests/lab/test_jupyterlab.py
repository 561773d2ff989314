"""Every notebook in a real JupyterLab, as a learner meets it: open, run all, move a slider, answer an exercise."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ["desk.ipynb", *(f"notebooks/{path.name}" for path in sorted((ROOT / "notebooks").glob("*.ipynb")))]
BAD = "[data-mime-type='application/vnd.jupyter.error'], [data-mime-type='application/vnd.jupyter.stderr']"
CHECK = re.compile(r'\bcheck\("([a-z][a-z0-9]*-\d\d)"')
# The bytes of the picture itself, fetched inside the page: its address alone need not change with it.
DIGEST = """async picture => {
    const bytes = await (await fetch(picture.src)).arrayBuffer();
    return Array.from(new Uint8Array(await crypto.subtle.digest('SHA-1', bytes))).join(' ');
}"""


def source(desk: Path, notebook: str) -> list[str]:
    """The code cells of a notebook on the desk."""
    cells = json.loads((desk / notebook).read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def open_and_run(page, lab, notebook: str) -> None:
    """Open one notebook and run all of its cells, to the end."""
    page.goto(lab.address(notebook) + "&reset", timeout=120_000)
    page.locator(".jp-NotebookPanel .jp-CodeCell").first.wait_for(timeout=120_000)
    # The status bar tells; the notebook's own indicator says idle even before there is a kernel.
    page.get_by_text(re.compile(r"\| Idle$")).wait_for(timeout=120_000)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    # Every cell has its number, or one raised an error, after which JupyterLab runs no other.
    page.wait_for_function(
        """bad => document.querySelector(bad) || Array.from(document.querySelectorAll('.jp-CodeCell')).every(
            cell => /^\\[\\d+\\]:$/.test(cell.querySelector('.jp-InputPrompt').textContent.trim()))""",
        arg=BAD,
        timeout=300_000,
    )


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_a_learner_runs_moves_and_answers(notebook: str, desk: Path, lab, open_page, watch) -> None:
    """One visit per notebook, since opening it is most of the time."""
    page = open_page(width=1400, height=1200)
    open_and_run(page, lab, notebook)
    errors = page.locator(BAD)
    assert errors.all_inner_texts() == []
    code = source(desk, notebook)
    if any("explore(" in cell or "SelectionSlider" in cell for cell in code):
        move_a_slider(page)
    asked = [cell for cell in code if CHECK.search(cell)]
    if asked:
        answer_an_exercise(page, asked[0])
    assert errors.all_inner_texts() == []
    assert watch.errors == []


def move_a_slider(page) -> None:
    """Drag the first slider, then step it with an arrow key; the picture below must become another one both times."""
    handle = page.locator(".jp-OutputArea .noUi-handle").first
    handle.wait_for(timeout=60_000)
    handle.scroll_into_view_if_needed()
    # A knob of words is a menu, so the first slider need not belong to the first figure: take the picture of its own.
    own = handle.locator("xpath=ancestor::*[contains(concat(' ', @class, ' '), ' jp-OutputArea ')][1]")
    picture = own.locator(".jupyter-widgets img, img.jupyter-widgets").first
    before = picture.evaluate(DIGEST)
    was = handle.get_attribute("aria-valuenow")
    for _ in range(3):  # figures below and above still grow while the page settles: a hand that misses grabs again
        drag_to_the_middle(page, handle, own.locator(".noUi-base").first)
        if handle.get_attribute("aria-valuenow") != was:
            break
    dragged = wait_for_another(page, picture, before)
    handle.focus()
    page.keyboard.press("ArrowLeft")
    wait_for_another(page, picture, dragged)


def drag_to_the_middle(page, handle, track) -> None:
    """Drag towards the middle of the track, wherever the handle stands."""
    at, whole = handle.bounding_box(), track.bounding_box()
    x, y = at["x"] + at["width"] / 2, at["y"] + at["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    middle = whole["x"] + whole["width"] / 2
    page.mouse.move(middle if abs(middle - x) > 20 else x + 60, y, steps=8)
    page.mouse.up()


def wait_for_another(page, picture, before: str) -> str:
    """The digest of the picture once it differs from `before`; half a minute on a slow machine, then a failure."""
    for _ in range(300):
        now = picture.evaluate(DIGEST)
        if now != before:
            return now
        page.wait_for_timeout(100)
    raise AssertionError("the picture did not change when the slider was moved")


def right_answer(name: str) -> str:
    """An answer that the exercise itself lists as right, as a learner would type it."""
    if name == "desk-01":
        return "42"
    from netlib.course.exercises import load

    return repr(load(name).right[0])


def answer_an_exercise(page, cell: str) -> None:
    """Type the answer into the cell of the first exercise and run it: the reply must say that it is right."""
    name = CHECK.search(cell).group(1)
    typed = page.locator(".cm-content").filter(has_text=f'check("{name}"')
    editor = page.locator(".jp-CodeCell").filter(has=typed).first
    editor.scroll_into_view_if_needed()
    output = editor.locator(".jp-OutputArea-output")
    assert "not answered yet" in output.first.inner_text().lower()
    editor.locator(".cm-content").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(f'check("{name}", {right_answer(name)})')
    page.keyboard.press("Control+Enter")
    says_right = re.compile(r"^\s*([a-z][a-z0-9]*-\d\d: )?right\b", re.IGNORECASE)
    output.filter(has_text=says_right).first.wait_for(timeout=60_000)
