"""The roles and directives, in a page of their own: what they print, and what they say to a wrong name."""

import io
import warnings
from types import SimpleNamespace

import pytest
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from netlib import hardware
from netlib.course import directives, site
from netlib.course import sphinx as extension

EXERCISES = [
    SimpleNamespace(id="ring-01", skill="counting", stars=1, minutes=(3, 5)),
    SimpleNamespace(id="ring-02", skill="formula", stars=3, minutes=(8, 8)),
]


def no_exercise(id: str) -> str:
    if id != "ring-01":
        raise ValueError(f"exercise {id!r} does not exist")
    return '<section id="exercise-ring-01">A question.</section>'


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Build one page of MyST Markdown, with stand-ins for what other modules draw; gives (html, warnings)."""
    real = directives.import_module
    fakes = {
        "netlib.course.explorer": SimpleNamespace(bake=lambda id: f"<figure>{id}</figure>"),
        "netlib.course.player": SimpleNamespace(bake=lambda id: f"<figure>plays {id}</figure>"),
        "netlib.course.exercises": SimpleNamespace(
            exercise_html=no_exercise, sheet=lambda chapter: EXERCISES if chapter == "collectives" else []
        ),
        "netlib.pages": SimpleNamespace(text=lambda: "Made by *netlib*."),
    }
    monkeypatch.setattr(directives, "import_module", lambda name: fakes.get(name) or real(name))
    source = tmp_path / "source"
    (source / "book").mkdir(parents=True)
    bibliography = {key for group in (hardware.facts(), hardware.nodes()) for key in (item.source for item in group)}
    (source / "references.bib").write_text(
        "".join(f"@misc{{{key}, author={{A}}, title={{T}}, year=2026}}\n" for key in bibliography)
    )
    (source / "book" / "hardware.md").write_text(
        "# Hardware\n\n```{registry-table} infiniband\n```\n\n```{registry-table} nodes\n```\n"
    )
    (source / "sources.md").write_text("# Sources\n\n```{bibliography}\n:all:\n```\n")

    def build_page(text: str) -> tuple[str, list[str]]:
        (source / "index.md").write_text("# Page\n\n```{toctree}\nbook/hardware\nsources\n```\n\n" + text)
        told = io.StringIO()
        settings = {
            "extensions": ["myst_parser", "sphinxcontrib.bibtex", "netlib.course.sphinx"],
            "bibtex_bibfiles": ["references.bib"],
            "nitpicky": True,
            "bibtex_reference_style": "author_year",
        }
        with warnings.catch_warnings(), docutils_namespace():
            warnings.simplefilter("ignore")  # of the tools, not ours
            app = Sphinx(
                str(source), None, str(tmp_path / "out"), str(tmp_path / "trees"), "html",
                confoverrides=settings, status=None, warning=told,
            )  # fmt: skip
            app.build()
        ours = [line for line in told.getvalue().splitlines() if "WARNING" in line or "ERROR" in line]
        return (tmp_path / "out" / "index.html").read_text(encoding="utf8"), ours

    return build_page


def test_values_with_their_origin(build):
    html, told = build(
        "An NDR port: {fact}`ndr-400`, {ratio}`nvlink4/ndr-400`, {calc}`2**10 | KiB | 1`, {py:mod}`netlib.units`.\n\n"
        "| a |\n|---|\n| {calc}`3 \\| s \\| 1` |\n"
    )
    assert told == []
    assert 'href="book/hardware.html#fact-ndr-400"' in html
    assert "400 Gb/s, one way" in html
    assert "Source: " in html
    assert '<abbr class="nx-calc" title="450 GB/s, one way, over 400 Gb/s, one way">9.00</abbr>' in html
    assert '<abbr class="nx-calc" title="3">3 s</abbr>' in html, "in a table the bars are escaped"
    assert '<abbr class="nx-calc" title="2**10">1 KiB</abbr>' in html


def test_directives(build):
    html, told = build(
        "```{explorer} ring-or-tree\n```\n\n```{player} all-reduce-steps\n```\n\n"
        "```{exercise} ring-01\n```\n\n```{exercises} collectives\n```\n\n"
        "```{takeaway}\nKeep *this*.\nAnd this.\n```\n\n```{generated} netlib.pages.text\n```\n"
    )
    assert told == []
    assert "<figure>ring-or-tree</figure>" in html
    assert "<figure>plays all-reduce-steps</figure>" in html
    assert html.count('id="exercise-ring-01"') == 1
    assert 'href="#exercise-ring-01"' in html, "the sheet links to an exercise that a page holds"
    assert 'href="#exercise-ring-02"' not in html, "and only names one that no page holds"
    assert "★☆☆ (1 of 3)" in html
    assert "3–5" in html
    assert "11–13" in html
    assert "Keep <em>this</em>." in html
    assert "Take-away" in html
    assert "Made by <em>netlib</em>." in html


def test_the_registry_has_an_anchor_for_every_fact_of_a_kind(build, tmp_path):
    _, told = build("Text.")
    page = (tmp_path / "out" / "book" / "hardware.html").read_text(encoding="utf8")
    assert told == []
    for fact in hardware.facts("infiniband"):
        assert f'id="fact-{fact.id}"' in page
        assert fact.printed in page
    for node in hardware.nodes():
        assert f'id="node-{node.id}"' in page
    assert "announced" in page


def test_the_bibliography_has_no_list_without_items(build, tmp_path):
    build("Text.")
    page = (tmp_path / "out" / "sources.html").read_text(encoding="utf8")
    assert "citation-list" in page
    assert 'role="list"' not in page
    assert "doc-biblioentry" not in page


WRONG = (
    ("A {fact}`ndr-9000`.", "fact: "),
    ("A {ratio}`ndr-400`.", "ratio: "),
    ("A {calc}`ring_time(1)`.", "calc: expression 'ring_time(1)' names 'ring_time'"),
    ("```{exercise} ring-99\n```", "exercise: exercise 'ring-99' does not exist"),
    ("```{exercises} cooking\n```", "exercises: chapter 'cooking' has no exercises"),
    ("```{registry-table} pigeons\n```", "registry-table: kind = 'pigeons'"),
    ("```{generated} os.getcwd\n```", "generated: 'os.getcwd' is not a function of netlib"),
    ("```{takeaway}\none\ntwo\nthree\nfour\n```", "takeaway: 4 lines"),
    ("```{takeaway}\n" + "long " * 80 + "\n```", "takeaway: 1 lines, 400 letters"),
    ("A {py:mod}`netlib.nothing`.", "netlib.nothing"),
    ("A {py:func}`os.getcwd`.", "os.getcwd"),
    ("| a | b |\n|---|---|\n| {calc}`1 | s` | c |", "{calc}` is printed, not read"),
)


def test_each_wrong_name_is_a_warning_with_file_and_line(build):
    text, lines, first = "", [], 8
    for wrong, _ in WRONG:
        lines.append(first + text.count("\n"))
        text += wrong + "\n\n"
    html, told = build(text)
    assert len(told) == len(WRONG), told
    for line, (wrong, says) in zip(lines, WRONG, strict=True):
        assert [says in one for one in told if f"index.md:{line}:" in one] == [True], (line, wrong, told)
    assert "ndr-9000" in html, "a build that goes on shows what was written"


def test_pages_are_read_again_when_netlib_changes(monkeypatch):
    env = SimpleNamespace(found_docs={"a", "b"})
    app = SimpleNamespace(srcdir=".")
    marks = iter(["one", "one", "two", "two"])
    monkeypatch.setattr(site, "fingerprint", lambda *_: next(marks))
    answers = [set(extension.outdated(app, env, set(), set(), set())) for _ in range(4)]
    assert answers == [set(), set(), {"a", "b"}, set()]
