"""Each lab in a real JupyterLab, untouched: it runs to its end, says what is missing, and shows no traceback."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from netlib.course.lab_build import labs, source_of, telling_lines
from tests.lab.test_jupyterlab import BAD, open_and_run

ROOT = Path(__file__).resolve().parents[2]
LABS = labs(ROOT)


@pytest.mark.parametrize("one", LABS, ids=lambda one: one.name)
def test_an_untouched_lab_runs_to_its_end(one, desk: Path, lab, open_page, watch) -> None:
    page = open_page(width=1400, height=1200)
    open_and_run(page, lab, f"labs/{one.name}.ipynb")
    assert page.locator(BAD).all_inner_texts() == []
    said = [text.lower() for text in page.locator(".jp-OutputArea-output").all_inner_texts()]
    assert sum("not answered yet" in text for text in said) >= 10
    assert sum("no prediction yet" in text for text in said) == 2
    assert watch.errors == []
    shown = page.locator(".jp-Notebook").first.inner_text()
    solved = nbformat.read(source_of(ROOT, one), 4)
    assert [line for line in telling_lines(solved) if line in shown] == []
    assert not (desk / "labs" / "source").exists()


def test_a_learner_writes_the_ring_and_is_told(desk: Path, lab, open_page, watch) -> None:
    """Type a ring that forgets its second half, then mend it: the check below says both."""
    page = open_page(width=1400, height=1200)
    open_and_run(page, lab, "labs/01_allreduce.ipynb")
    answer = page.locator(".jp-CodeCell").filter(has=page.locator(".cm-content", has_text="def ring_allreduce"))
    check = page.locator(".jp-CodeCell").filter(has=page.locator(".cm-content", has_text="check_ring(ring_allreduce)"))
    for steps, words in (
        ("me.n - 1", "the second half, handing the pieces round, is missing"),
        ("2 * me.n - 2", "Right"),
    ):
        answer.first.scroll_into_view_if_needed()
        answer.first.locator(".cm-content").click()
        page.keyboard.press("Control+a")
        page.keyboard.insert_text(RING.replace("STEPS", steps))
        page.keyboard.press("Control+Enter")
        check.first.locator(".cm-content").click()
        page.keyboard.press("Control+Enter")
        said = check.first.locator(".jp-OutputArea-output").filter(has_text=words)
        said.first.wait_for(timeout=60_000)
    assert page.locator(BAD).all_inner_texts() == []
    assert watch.errors == []


RING = """def ring_allreduce(me, buffer):
    pieces = list(np.array_split(buffer, me.n))
    for step in range(STEPS):
        out, into = (me.rank - step) % me.n, (me.rank - step - 1) % me.n
        got = me.exchange((me.rank + 1) % me.n, pieces[out], (me.rank - 1) % me.n)
        pieces[into] = got + pieces[into] if step < me.n - 1 else got
    return np.concatenate(pieces)"""
