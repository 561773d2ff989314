"""Agreements in pages: what the badge shows, that a broken one fails the build, and that every formula has one."""

import io
import re
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from netlib.collectives import ring_allreduce
from netlib.course.directives import badge
from netlib.fidelity import engine_table
from netlib.fidelity.agreement import check
from netlib.fidelity.agreements import agreements, find
from netlib.fidelity.algorithms import algorithm
from netlib.fidelity.engines import compared

BOOK = Path(__file__).resolve().parents[2] / "book"
CHAPTERS = ("01_scale_up.md", "02_scale_out.md", "03_collectives.md", "04_congestion_control.md")


def uncovered(page: str) -> list[str]:
    """Labelled equations of a page without an agreement before the next heading or the next labelled equation."""
    label = r"^\$\$ \((eq-[\w-]+)\)\s*$|^:label: (eq-[\w-]+)\s*$"
    parts = re.split(rf"{label}", page, flags=re.MULTILINE)
    found = []
    for one, other, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        until = re.split(r"^#+ ", after, maxsplit=1, flags=re.MULTILINE)[0]
        if not re.search(r"^```\{agreement\} +\S", until, flags=re.MULTILINE):
            found.append(one or other)
    return found


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_formula_carries_its_agreement(name):
    assert uncovered((BOOK / name).read_text(encoding="utf8")) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_agreement_of_a_page_exists(name):
    named = re.findall(r"^```\{agreement\} +(.+)$", (BOOK / name).read_text(encoding="utf8"), flags=re.MULTILINE)
    assert {id for ids in named for id in ids.split()} <= set(agreements())


def test_a_formula_without_one_would_be_seen():
    one = "$$\nx = 1\n$$ (eq-one)\n\nText.\n\n"
    there = "```{agreement} a b\n```\n\n"
    assert uncovered(one) == ["eq-one"]
    assert uncovered(one + there) == []
    assert uncovered(one + "## Next\n\n" + there) == ["eq-one"]
    assert uncovered(one + one.replace("eq-one", "eq-two") + there) == ["eq-one"]
    assert uncovered("```{math}\n:label: eq-three\nx\n```\n") == ["eq-three"]


def test_the_badge_shows_sentence_functions_and_cases():
    html = badge(check(find("outside-share")))
    assert "agrees: closed form = counted pair by pair, 7 cases" in html
    assert "<code>outside_share</code> and <code>outside_share_counted</code>" in html
    assert "(64, 8)" in html
    assert "nx-parts" not in html


@pytest.fixture
def build(tmp_path):
    """Build one page of MyST Markdown; gives (html, warnings)."""

    def build_page(text):
        (tmp_path / "index.md").write_text("# Page\n\n" + text)
        told = io.StringIO()
        with warnings.catch_warnings(), docutils_namespace():
            warnings.simplefilter("ignore")  # of the tools, not ours
            app = Sphinx(
                str(tmp_path), None, str(tmp_path / "out"), str(tmp_path / "trees"), "html", freshenv=True,
                confoverrides={"extensions": ["myst_parser", "netlib.course.sphinx"]}, status=None, warning=told,
            )  # fmt: skip
            app.build()
        ours = [line for line in told.getvalue().splitlines() if "WARNING" in line or "ERROR" in line]
        return (tmp_path / "out" / "index.html").read_text(encoding="utf8"), ours

    return build_page


def test_a_page_shows_each_badge_it_names(build):
    html, told = build("```{agreement} outside-share bytes-in-flight\n```\n")
    assert told == []
    assert 'id="agreement-outside-share"' in html
    assert 'id="agreement-bytes-in-flight"' in html
    assert html.count("agrees: closed form") == 2


def test_a_broken_one_is_seen_in_the_page_and_is_a_warning_that_stops_a_strict_build(build, monkeypatch):
    right = find("outside-share")
    monkeypatch.setitem(agreements(), right.id, replace(right, first=lambda *case: 1.01 * right.first(*case)))
    html, told = build("```{agreement} outside-share\n```\n")
    assert "nx-parts" in html
    assert "does not agree" in html
    assert len(told) == 1
    assert "index.md:3: WARNING: agreement: outside-share: does not agree" in told[0]


def test_an_unknown_one_is_a_warning_with_its_line(build):
    _, told = build("```{agreement} pigeons\n```\n")
    assert len(told) == 1
    assert "index.md:3: WARNING: agreement: agreement 'pigeons' does not exist" in told[0]


RING = algorithm("all-reduce, ring")


def test_the_table_shows_every_line_and_what_bounds_are(build, monkeypatch):
    bound = algorithm("all-reduce, two trees, as published")
    monkeypatch.setattr(engine_table, "ALGORITHMS", (RING, bound))
    html, told = build("```{agreement-table}\n```\n")
    assert told == []
    assert "2 of 2 algorithms hold" in html
    assert html.count("<tr") == 3
    assert "✓ exact" in html
    assert "✓ a bound from above" in html
    assert "4 to 6 of them are not needed" in html


def other_chunk(n):
    """A ring one of whose messages carries another chunk: same steps, same messages, same bytes."""
    ring = ring_allreduce(n)
    if n < 3:
        return ring
    first, *rest = ring.phases
    return replace(ring, phases=(replace(first, chunk=np.where(np.arange(n) == 0, 0, first.chunk)), *rest))


@pytest.mark.parametrize(
    ("bent", "says"),
    [
        (replace(RING, closed=lambda *case: 1.01 * RING.closed(*case)), "they part"),
        (replace(RING, made=other_chunk), "wrong sum"),
    ],
)
def test_a_line_that_parts_is_seen_and_stops_a_strict_build(build, monkeypatch, bent, says):
    monkeypatch.setattr(engine_table, "_held", compared)
    monkeypatch.setattr(engine_table, "ALGORITHMS", (bent, algorithm("reduce, binomial tree")))
    html, told = build("```{agreement-table}\n```\n")
    assert "1 of 2 algorithms hold" in html
    assert html.count("✗") == 1
    assert len(told) == 1
    assert f"index.md:3: WARNING: agreement-table: all-reduce, ring: {says}" in told[0]
