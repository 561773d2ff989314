"""Labs: the learner's notebook is what its source makes, tells no solution, runs untouched; checks name the error."""

import copy
import json
import subprocess
from dataclasses import replace
from pathlib import Path

import nbformat
import numpy as np
import pytest

from netlib.__main__ import main
from netlib.course import journal, lab_build, lab_checks, lab_mpi, lab_page, ranks
from netlib.course.lab_build import CODE_STUB, HIDDEN, SOLUTION, faults, labs, read, source_of, student, student_of
from netlib.course.lab_checks import check_doubling, check_fit, check_pairs, check_ring, held_back
from netlib.course.lab_mpi import on_mpi, program_of
from netlib.course.notebook import canonical
from netlib.links import Link, fit_alpha_beta

ROOT = Path(__file__).resolve().parents[2]
LABS = labs(ROOT)
NAMES = [lab.name for lab in LABS]


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """Answers of the tests stay in memory, waiting in vain is short, and ranks are threads, which start sooner.

    What only processes can show is in test_ranks.py; the solutions run on processes below and in the notebook.
    """
    monkeypatch.setenv("NETLIB_JOURNAL", "off")
    monkeypatch.delenv("NETLIB_LAB_KEY", raising=False)
    monkeypatch.delenv("NETLIB_LAB_STUDENT", raising=False)
    monkeypatch.setitem(ranks.on_ranks.__wrapped__.__kwdefaults__, "patience", 0.5)
    monkeypatch.setattr(ranks, "can_fork", lambda: False)
    monkeypatch.chdir(tmp_path)
    journal.forget()
    yield
    journal.forget()


def source(lab):
    return read(source_of(ROOT, lab))


# --- the source and what is made of it ----------------------------------------------------------------------------


def test_there_is_a_lab():
    assert NAMES[:1] == ["01_allreduce"]


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_the_source_is_sound(lab):
    assert faults(source(lab), lab) == []
    assert lab.points == 100
    assert 60 <= lab.minutes[0] < lab.minutes[1] <= 90
    assert 1 <= lab.difficulty <= 5
    assert lab.seed[0] == "key"
    folder = source_of(ROOT, lab).parent
    found = {path.name for path in folder.iterdir() if not path.name.startswith(".ipynb")}
    assert found == {f"{lab.name}.ipynb", "lab.toml"}, "no answers, no data of an author's own run"


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_grade_ids_stay(lab):
    """A grade book knows cells by these names: adding one is possible before a lab is released, renaming never."""
    marked = [cell.metadata["nbgrader"]["grade_id"] for cell in source(lab).cells if "nbgrader" in cell.metadata]
    if lab.name == "01_allreduce":
        assert marked == [
            *("ring", "ring-check", "ring-held-back", "doubling", "doubling-check", "doubling-held-back"),
            *("crossing", "crossing-check", "crossing-held-back", "fit", "fit-check", "pairs", "pairs-check"),
            *("cluster", "cluster-check", "tables", "tables-check", "reflect"),
        ]


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_the_source_earns_all_points(lab):
    """Stored outputs end each graded code cell in its points; nbval proves that a fresh run gives the same."""
    for cell in source(lab).cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("grade") and cell.cell_type == "code":
            assert float(cell.outputs[-1]["data"]["text/plain"]) == mark["points"], mark["grade_id"]


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_the_stored_source_is_canonical(lab):
    text = source_of(ROOT, lab).read_text()
    assert canonical(nbformat.reads(text, 4)) == text


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_the_students_notebook_is_what_the_source_makes(lab):
    assert student_of(ROOT, lab).read_text() == lab_build.built(ROOT, lab)


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_the_students_notebook_holds_stubs_and_no_output(lab):
    made = read(student_of(ROOT, lab))
    text = student_of(ROOT, lab).read_text()
    for mark in (*SOLUTION, *HIDDEN):
        assert mark.strip("# ") not in text
    for cell, solved in zip(made.cells, source(lab).cells, strict=True):
        assert cell.metadata == solved.metadata
        if cell.metadata.get("nbgrader", {}).get("solution") and cell.cell_type == "code":
            assert cell.source.count(CODE_STUB) == 1
            assert cell.source.rstrip().endswith(CODE_STUB)
            assert '"""' in cell.source
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


def public_files():
    """All that git keeps, but the sources of labs and the tests, whose wrong and right functions nobody is shown."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    shown = [name for name in names if name.startswith(("book/", "notebooks/", "labs/", "assets/", "README", "CON"))]
    return [ROOT / name for name in shown if not name.startswith("labs/source/") and (ROOT / name).is_file()]


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_no_public_file_tells_a_solution(lab):
    telling = lab_build.telling_lines(source(lab))
    assert len(telling) > 25
    assert any("me.exchange(right, pieces[at], left)" in line for line in telling)
    found = []
    for path in public_files():
        try:
            text = path.read_text(encoding="utf-8").replace('\\"', '"')
        except UnicodeDecodeError:
            continue
        found += [(path.name, line) for line in telling if line in text]
    assert found == []


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_an_untouched_notebook_runs_to_its_end(lab, tmp_path):
    """Every answer is missing and nothing breaks: no error, no NameError in cells that nobody touched, no points."""
    from nbclient import NotebookClient

    made = read(student_of(ROOT, lab))
    NotebookClient(made, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    said = ["".join(out.get("text", "") for out in cell.outputs).lower() for cell in code]
    for cell, words in zip(code, said, strict=True):
        assert not [out for out in cell.outputs if out["output_type"] == "error" or out.get("name") == "stderr"]
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("grade") and not mark["grade_id"].endswith("held-back"):
            assert "not answered yet" in words, mark["grade_id"]
            assert float(cell.outputs[-1]["data"]["text/plain"]) == 0.0
        if mark.get("grade_id", "").endswith("held-back"):
            assert cell.outputs == []  # nothing that looks like a result
    assert sum("not answered yet" in words for words in said) >= 10
    assert not list(tmp_path.glob(".netlib-answers*"))


def cell(text, kind="code", **mark):
    made = nbformat.v4.new_code_cell(text) if kind == "code" else nbformat.v4.new_markdown_cell(text)
    if mark:
        plain = {"schema_version": 3, "grade": False, "locked": False, "solution": False, "task": False}
        made.metadata["nbgrader"] = {**plain, **mark}
    return made


def test_regions_are_replaced_where_they_stand():
    text = f"def f():\n    {SOLUTION[0]}\n    return 1\n    {SOLUTION[1]}\nf()"
    book = nbformat.v4.new_notebook(
        cells=[
            cell(text, grade_id="a", solution=True),
            cell("x = 1", grade_id="b", solution=True),
            cell("A model answer.", "markdown", grade_id="c", solution=True, grade=True, points=1),
            cell(f"y = 2\n{HIDDEN[0]}\nassert y\n{HIDDEN[1]}", grade_id="d", grade=True, locked=True, points=1),
        ]
    )
    before = copy.deepcopy(book)
    made = [each.source for each in student(book).cells]
    assert made == [f"def f():\n    {CODE_STUB}\nf()", CODE_STUB, lab_build.TEXT_STUB, "y = 2"]
    assert book == before


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{SOLUTION[0]}\nx = 1", "is not closed"),
        (f"{SOLUTION[1]}\nx = 1", "stands where none may"),
        (f"{SOLUTION[0]}\n{SOLUTION[0]}\n{SOLUTION[1]}", "stands where none may"),
    ],
)
def test_a_mark_without_its_partner_is_refused(text, words):
    with pytest.raises(ValueError, match=words):
        student(nbformat.v4.new_notebook(cells=[cell(text, grade_id="a", solution=True)]))


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([cell("x", grade_id="a"), cell("y", grade_id="a")], "'a' is empty or stands twice"),
        ([cell("x", solution=True)], "'' is empty"),
        ([cell("x", grade_id="a", schema_version=2)], "not of nbgrader's schema 3"),
        ([cell("x", grade_id="a", cell_type="code")], "not of nbgrader's schema 3"),
        ([cell("x", grade_id="a", grade=True)], "a graded cell has points"),
        ([cell("x", grade_id="a", points=3)], "a graded cell has points"),
        ([cell(f"{SOLUTION[0]}\n{SOLUTION[1]}", grade_id="a")], "is no answer cell"),
        ([cell(f"{HIDDEN[0]}\n{HIDDEN[1]}", grade_id="a", grade=True, points=100)], "is no locked test"),
        ([cell(f"{HIDDEN[0]}\n{HIDDEN[1]}")], "but no nbgrader metadata"),
        ([cell("x")], "are worth 0 points, lab.toml says 100"),
    ],
)
def test_a_source_that_is_not_sound_is_told(cells, words):
    assert any(words in each for each in faults(nbformat.v4.new_notebook(cells=cells), LABS[0]))


def test_the_command_makes_checks_and_refuses(tmp_path, monkeypatch, capsys):
    """A small checkout: missing, made, up to date, touched by hand, source broken, lab.toml broken."""
    lab = LABS[0]
    folder = source_of(tmp_path, lab).parent
    folder.mkdir(parents=True)
    for name in ("lab.toml", f"{lab.name}.ipynb"):
        (folder / name).write_bytes((source_of(ROOT, lab).parent / name).read_bytes())
    (folder.parent / "README.md").write_text("no lab")
    monkeypatch.setattr("netlib.course.serve.root", lambda: tmp_path)
    made = student_of(tmp_path, lab)
    assert main(["labs", "--check"]) == 1
    assert f"labs/{lab.name}.ipynb: is not what its source makes" in capsys.readouterr().out
    assert not made.exists()
    assert main(["labs"]) == 0
    assert main(["labs", "--check"]) == 0
    made.write_text(made.read_text().replace("Lab 1", "Lab one"))
    assert main(["labs", "--check"]) == 1
    assert main(["labs"]) == 0
    assert made.read_bytes() == student_of(ROOT, lab).read_bytes()
    assert [path.name for path in made.parent.iterdir() if path.is_file()] == [made.name]
    capsys.readouterr()
    (folder / "lab.toml").write_text((folder / "lab.toml").read_text().replace("points = 100", "points = 99"))
    assert main(["labs"]) == 1
    assert "the cells are worth 100 points, lab.toml says 99" in capsys.readouterr().err
    (folder / f"{lab.name}.ipynb").unlink()
    assert main(["labs"]) == 1
    assert "cannot be read (No such file or directory)" in capsys.readouterr().err
    for text, words in (("title = 1\nodd = 2", "look at chapter"), ("title =", "lab.toml cannot be read")):
        (folder / "lab.toml").write_text(text)
        assert main(["labs"]) == 1
        assert words in capsys.readouterr().err


@pytest.mark.parametrize("lab", LABS, ids=NAMES)
def test_the_page_says_what_lab_toml_and_the_notebook_say(lab):
    assert f"[{lab.title}](#{lab_page.anchor(lab)}) | {lab.chapter} | 60 to 90 | 100 |" in lab_page.index()
    text = getattr(lab_page, f"lab_{lab.name}")()
    page = (ROOT / "book" / "labs.md").read_text()
    assert (
        f"({lab_page.anchor(lab)})=\n## {lab.title}\n\n```{{generated}} netlib.course.lab_page.lab_{lab.name}\n" in page
    )
    with pytest.raises(AttributeError, match="no lab is called 'lab_99'"):
        lab_page.lab_99()
    assert all(aim in text for aim in lab.objectives)
    assert sum(lab_page.graded(lab).values()) == lab.points
    assert all(f"| `{name}` | {points:g} |" in text for name, points in lab_page.graded(lab).items())


# --- the checks: right functions ----------------------------------------------------------------------------------


def solved(lab):
    """The names that the solved notebook defines: its functions, run as they stand."""
    names: dict[str, object] = {}
    for each in source(lab).cells:
        if each.cell_type == "code" and (each.metadata.get("nbgrader", {}).get("solution") or "import" in each.source):
            exec(each.source, names)
    return names


def right_ring(me, buffer):
    """Leftwards instead of rightwards, and the two halves written one after the other."""
    n, me_to, me_from = me.n, (me.rank - 1) % me.n, (me.rank + 1) % me.n
    pieces = list(np.array_split(buffer, n))
    for step in range(n - 1):
        pieces[(me.rank + step + 1) % n] += me.exchange(me_to, pieces[(me.rank + step) % n], me_from)
    for step in range(n - 1):
        pieces[(me.rank + step) % n] = me.exchange(me_to, pieces[(me.rank + step - 1) % n], me_from)
    return np.concatenate(pieces)


def taking_turns(me, buffer):
    """Without exchange: rank 0 sends first, all others receive first."""
    n, pieces = me.n, list(np.array_split(buffer, me.n))
    for step in range(2 * n - 2):
        out, into = (me.rank - step) % n, (me.rank - step - 1) % n
        mine = pieces[out]
        if me.rank == 0:
            me.send(1, mine)
        got = me.receive((me.rank - 1) % n)
        if me.rank:
            me.send((me.rank + 1) % n, mine)
        pieces[into] = pieces[into] + got if step < n - 1 else got
    return np.concatenate(pieces)


def list_ring(me, buffer):
    """Returns a list, which is a sum as well."""
    return right_ring(me, buffer).tolist()


def right_doubling(me, buffer):
    """From the highest bit down, the odd ones folded into the last ranks."""
    p = 2 ** int(np.log2(me.n))
    rest = me.n - p
    if me.rank < rest:
        me.send(me.n - 1 - me.rank, buffer)
        return me.receive(me.n - 1 - me.rank)
    if me.n - 1 - me.rank < rest:
        buffer = buffer + me.receive(me.n - 1 - me.rank)
    core = me.group(range(rest, me.n))
    bit = p // 2
    while bit:
        buffer = buffer + core.exchange(core.rank ^ bit, buffer, core.rank ^ bit)
        bit //= 2
    if me.n - 1 - me.rank < rest:
        me.send(me.n - 1 - me.rank, buffer)
    return buffer


def right_pairs(me, buffer):
    """The other half to each, and doubling over the nodes where they are two."""
    halves, keep = np.array_split(buffer, 2), 1 - me.rank % 2
    own = halves[keep] + me.exchange(me.rank ^ 1, halves[1 - keep], me.rank ^ 1)
    own = right_ring(me.group(range(me.rank % 2, me.n, 2)), own)
    other = me.exchange(me.rank ^ 1, own, me.rank ^ 1)
    return np.concatenate([own, other] if keep == 0 else [other, own])


@pytest.mark.parametrize(
    ("check", "function"),
    [
        *((check_ring, right_ring), (check_ring, taking_turns), (check_ring, list_ring)),
        *((check_doubling, right_doubling), (check_pairs, right_pairs)),
    ],
)
def test_other_right_functions_pass(check, function):
    report = check(function)
    assert report.ok, report
    assert report.points(20) == 20.0
    assert [(entry.kind, entry.status) for entry in journal.entries(report.id)] == [("answer", "right")]


def test_the_solutions_pass_and_also_on_buffers_that_n_does_not_divide():
    names = solved(LABS[0])
    checks = {"ring_allreduce": check_ring, "doubling_allreduce": check_doubling, "pair_allreduce": check_pairs}
    for name, check in checks.items():
        assert check(names[name], seed=7).ok
        for n, size in ((4, 3), (6, 11), (8, 1)):
            buffers = np.arange(n * size).reshape(n, size)
            run = ranks.on_ranks(names[name], buffers)
            assert all((value == buffers.sum(axis=0)).all() for value in run.values), (name, n, size)


# --- the checks: wrong functions ----------------------------------------------------------------------------------


def ring_with(me, buffer, steps, keep, shift=0, to=1, whole=False):
    """A ring that can be broken in one place at a time."""
    n, pieces = me.n, list(np.array_split(buffer, me.n))
    for step in range(steps):
        out, into = (me.rank - step + shift) % n, (me.rank - step - 1) % n
        got = me.exchange((me.rank + to) % n, np.concatenate(pieces) if whole else pieces[out], (me.rank - to) % n)
        got = np.array_split(got, n)[into] if whole else got
        pieces[into] = got if step >= keep else pieces[into] + got
    return np.concatenate(pieces)


def forgets_the_second_half(me, buffer):
    return ring_with(me, buffer, me.n - 1, me.n)


def adds_in_the_second_half_too(me, buffer):
    return ring_with(me, buffer, 2 * me.n - 2, 2 * me.n)


def sends_the_whole_buffer(me, buffer):
    return ring_with(me, buffer, 2 * me.n - 2, me.n - 1, whole=True)


def the_next_but_one(me, buffer):
    return ring_with(me, buffer, 2 * me.n - 2, me.n - 1, to=1 if me.n < 4 else 2)


def a_piece_too_far(me, buffer):
    return ring_with(me, buffer, 2 * me.n - 2, me.n - 1, shift=1)


def one_step_short(me, buffer):
    return ring_with(me, buffer, 2 * me.n - 2 - (me.n > 2), me.n - 1)


def everybody_sends_first(me, buffer):
    pieces = list(np.array_split(buffer, me.n))
    for step in range(2 * me.n - 2):
        me.send((me.rank + 1) % me.n, pieces[(me.rank - step) % me.n])
        pieces[(me.rank - step - 1) % me.n] += me.receive((me.rank - 1) % me.n)
    return np.concatenate(pieces)


def talks_to_itself(me, buffer):
    return me.exchange(me.rank, buffer, me.rank)


def one_piece_only(me, buffer):
    return np.array_split(right_ring(me, buffer), me.n)[me.rank]


def says_it_is_one(me, buffer):
    return 1


def swaps_pieces(me, buffer):
    return np.concatenate(np.array_split(right_ring(me, buffer), me.n)[::-1])


def gathers_everything(me, buffer):
    total = buffer.copy()
    for step in range(1, me.n):
        total = total + me.exchange((me.rank + step) % me.n, buffer, (me.rank - step) % me.n)
    return total


def in_crumbs(me, buffer):
    first, second = np.array_split(buffer, 2)
    return np.concatenate([right_ring(me, first), right_ring(me, second)])


def powers_only(me, buffer):
    bit = 1
    while bit < me.n:
        if me.rank ^ bit < me.n:
            buffer = buffer + me.exchange(me.rank ^ bit, buffer, me.rank ^ bit)
        bit *= 2
    return buffer


def nobody_is_told(me, buffer):
    p = 1 << (me.n.bit_length() - 1)
    if me.rank >= p:
        me.send(me.rank - p, buffer)
        return buffer
    if me.rank + p < me.n:
        buffer = buffer + me.receive(me.rank + p)
    bit = 1
    while bit < p:
        buffer = buffer + me.exchange(me.rank ^ bit, buffer, me.rank ^ bit)
        bit *= 2
    return buffer


def same_partner(me, buffer):
    for _ in range(me.n.bit_length() - 1):
        if me.rank ^ 1 < me.n:
            buffer = buffer + me.exchange(me.rank ^ 1, buffer, me.rank ^ 1)
    return buffer


def no_second_half(me, buffer):
    halves, keep = np.array_split(buffer, 2), me.rank % 2
    own = halves[keep] + me.exchange(me.rank ^ 1, halves[1 - keep], me.rank ^ 1)
    own = right_ring(me.group(range(keep, me.n, 2)), own)
    return np.concatenate([own, halves[1]] if keep == 0 else [halves[0], own])


def stays_at_home(me, buffer):
    return buffer + me.exchange(me.rank ^ 1, buffer, me.rank ^ 1)


def divides_by_zero(me, buffer):
    return buffer // (me.rank - 1 if me.n > 1 else 1) if me.n < 2 else 1 / 0


WRONG = [
    (
        check_ring,
        forgets_the_second_half,
        "with 2 ranks: each rank ends with 1 of 2 pieces of the sum; the second half",
    ),
    (check_ring, adds_in_the_second_half_too, "with 2 ranks: the result of rank 0 holds more than once what rank"),
    (
        check_ring,
        sends_the_whole_buffer,
        "sums are right, but with 2 ranks one sends 2 times its buffer instead of 1: a",
    ),
    (check_ring, the_next_but_one, "with 4 ranks: the result of rank 0 lacks what rank 1 gave"),
    (check_ring, a_piece_too_far, "with 2 ranks: the result of rank 0"),
    (check_ring, one_step_short, "with 3 ranks: the result of rank 0 lacks in part what rank"),
    (
        check_ring,
        everybody_sends_first,
        "with 2 ranks: the ranks stand still: rank 0 waits for rank 1 to take its mess",
    ),
    (check_ring, everybody_sends_first, "let both happen at once (exchange), or take turns."),
    (check_ring, talks_to_itself, "with 1 rank: rank 0 raised ValueError: a rank cannot send to itself"),
    (check_ring, one_piece_only, "with 2 ranks: rank 0 returned an array of shape (2520,) instead of 5040 numbers"),
    (check_ring, says_it_is_one, "with 1 rank: rank 0 returned int instead of 5040 numbers"),
    (check_ring, swaps_pieces, "with 2 ranks: all parts are added, but pieces end in the wrong place"),
    (check_ring, gathers_everything, "with 3 ranks one sends 2 times its buffer instead of 1.333: a ring sends one of"),
    (check_ring, in_crumbs, "with 2 ranks one sends 4 messages instead of 2: a ring sends one of n pieces in each of"),
    (check_ring, right_doubling, "with 3 ranks one sends 2 times its buffer instead of 1.333"),
    (check_ring, divides_by_zero, "with 2 ranks: rank 0 raised ZeroDivisionError: division by zero (line 2 of your"),
    (check_doubling, powers_only, "with 3 ranks: "),
    (check_doubling, powers_only, "2^k ranks can double, the others must fold in first and be told last"),
    (check_doubling, nobody_is_told, "with 3 ranks: the result of rank 2 lacks what rank 0 gave; 2^k ranks can double"),
    (check_doubling, same_partner, "with 3 ranks: "),
    (check_doubling, right_ring, "with 2 ranks one sends 2 messages instead of 1: recursive doubling sends whole"),
    (check_doubling, everybody_sends_first, "with 2 ranks: the ranks stand still"),
    (check_pairs, no_second_half, "with 2 ranks: each rank ends with 1 of 2 pieces of the sum; the second half, hand"),
    (check_pairs, stays_at_home, "with 4 ranks: the result of rank 0 lacks what rank 2 gave"),
    (check_pairs, right_ring, "with 4 ranks one sends 1.5 times its buffer instead of 0.5: only half of the buffer"),
]


@pytest.mark.parametrize(("check", "function", "words"), WRONG, ids=lambda each: getattr(each, "__name__", ""))
def test_wrong_functions_fail_with_their_message(check, function, words):
    report = check(function)
    assert report.status == "wrong"
    assert words in report.message
    assert report.message.count("\n") == 0
    assert report.points(20) == (0 if report.message.startswith("Not yet") else pytest.approx(20 * report.share))
    assert report.share < 1


def test_a_right_sum_with_too_much_traffic_earns_its_part():
    assert check_ring(sends_the_whole_buffer).points(20) == 15.0  # the sum and the steps are right
    assert check_ring(in_crumbs).points(20) == 17.0
    assert check_doubling(right_ring).points(20) == 17.0  # less bytes than allowed, too many messages


def stub(me, buffer):
    """Docstring, then what the notebook ships."""
    ...  # your code


def not_implemented(me, buffer):
    return ...


@pytest.mark.parametrize("check", [check_ring, check_doubling, check_pairs])
def test_stubs_are_not_answered_and_odd_things_are_sentences(check):
    for each in (None, ..., stub, not_implemented):
        report = check(each)
        assert report.status == "not answered yet"
        assert report.points(20) == 0.0
    for odd in (3, "ring", np.zeros(3)):
        assert check(odd).message == "Not yet: a function is asked for; give its name without calling it."
    assert not journal.entries("lab-ring")


def test_a_report_is_shown_as_any_reply():
    report = check_ring(stub)
    assert repr(report).startswith("lab-ring: Not answered yet: the function returns nothing")
    assert "nx-reply" in report._repr_html_()
    assert replace(report, share=0.5).points(5) == 2.5


def fit_of(function):
    return check_fit(function, np.array([4096, 32768, 524288]), 8, Link(4e-3, 5e6))


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda s, t, n: (1, 2), "Not yet: your function returned a tuple; return what fit_alpha_beta returns."),
        (lambda s, t, n: 1 / 0, "Not yet: your function raised ZeroDivisionError: division by zero (line 1 of your"),
        (lambda s, t, n: fit_alpha_beta(s, t, volume=1.75 * s), "Not yet: alpha is that of all 14 steps; tell the fit"),
        (lambda s, t, n: fit_alpha_beta(s, t, steps=14), "Not yet: B is 0.571 times the link's: 1.75 buffers cross it"),
        (lambda s, t, n: fit_alpha_beta(s, t), "the steps, and B is 0.571 times"),
        (lambda s, t, n: fit_alpha_beta(s, t, steps=7, volume=1.75 * s), "Not yet: alpha is 2 times and B 1 times the"),
        (3, "Not yet: a function is asked for"),
    ],
)
def test_a_fit_that_does_not_come_back_says_why(function, says):
    report = fit_of(function)
    assert (report.status, report.points(5)) == ("wrong", 0.0)
    assert says in report.message
    assert ".." not in report.message


def test_a_fit_that_comes_back_earns_its_points_and_a_stub_none():
    right = fit_of(lambda s, t, n: fit_alpha_beta(s, t, steps=2 * (n - 1), volume=2 * (n - 1) / n * s))
    assert (right.status, right.points(5)) == ("right", 5.0)
    for each in (None, ..., lambda s, t, n: None):
        assert (fit_of(each).status, fit_of(each).points(5)) == ("not answered yet", 0.0)


def test_held_back_cases_come_from_a_key_that_nobody_commits(monkeypatch):
    """Golden values: a regrade next year must choose the same."""
    assert held_back("ring") == GOLDEN["open"]
    seen = {str(held_back("ring")), str(held_back("doubling"))}
    monkeypatch.setenv("NETLIB_LAB_KEY", "spring")
    assert held_back("ring") == GOLDEN["spring"]
    seen.add(str(held_back("ring")))
    for name in ("ada", "Grace "):
        monkeypatch.setenv("NETLIB_LAB_STUDENT", name)
        seen.add(str(held_back("ring")))
    assert len(seen) == 5
    for question in map(str, range(200)):
        for n, size in held_back(question):
            assert 2 <= n <= 9
            assert 50 <= size < 306


GOLDEN = {
    "open": [(6, 280), (8, 50), (9, 132), (9, 278)],
    "spring": [(2, 58), (3, 251), (3, 272), (3, 57)],
}


# --- MPI ----------------------------------------------------------------------------------------------------------


def helper(array):
    return np.asarray(array)


def ring_with_helper(me, buffer):
    return right_ring(me, helper(buffer))


@pytest.mark.parametrize("function", [ring_with_helper, right_doubling, taking_turns])
def test_the_same_function_runs_over_mpi(function):
    run = on_mpi(function)
    assert run.trouble == ""
    assert run.right
    assert run.sent == (2520 * 8, 2520 * 8)


def mutual(me, buffer):
    return buffer if me is None else other_half(None, buffer)


def other_half(me, buffer):
    return mutual(me, buffer)


def test_what_goes_wrong_over_mpi_is_a_sentence(monkeypatch):
    assert on_mpi(stub).trouble == "not answered yet"
    assert not on_mpi(mutual).right
    assert on_mpi(len).trouble == "a function of your own is asked for"
    assert "ZeroDivisionError" in on_mpi(divides_by_zero).trouble
    assert on_mpi(everybody_sends_first, limit=4).trouble.startswith("the ranks did not end within 4 s")
    monkeypatch.setattr(lab_mpi.shutil, "which", lambda *words, **more: None)
    assert on_mpi(right_ring).trouble == (
        "MPI is not installed here, so this step is left out (pip install mpi4py mpich)"
    )


def test_a_program_holds_what_the_function_needs():
    text = program_of(ring_with_helper)
    assert text.startswith("from netlib.course.lab_mpi import main")
    assert "import numpy as np" in text
    assert "def helper(" in text
    assert "def right_ring(" in text
    assert text.index("def right_ring(") < text.index("def ring_with_helper(")
    assert program_of(uses_the_book).count("from netlib.course.lab_checks import held_back as held_back") == 1


def uses_the_book(me, buffer):
    return held_back("ring")


class World:
    """An MPI communicator of one, for the program's own lines."""

    rank, size = 0, 1

    def gather(self, value):
        return [value]


def test_the_program_of_one_rank_writes_what_it_found(tmp_path, monkeypatch):
    import sys
    import types

    monkeypatch.setitem(sys.modules, "mpi4py", types.SimpleNamespace(MPI=types.SimpleNamespace(COMM_WORLD=World())))
    lab_mpi.main(lambda me, buffer: buffer, [str(tmp_path / "found.json"), "12"])
    assert json.loads((tmp_path / "found.json").read_text()) == {"right": True, "sent": [0], "answered": True}


def test_an_mpi_rank_counts_what_it_sends():
    class Echo(World):
        size = 2

        def ssend(self, array, dest):
            self.kept = array

        def recv(self, source):
            return self.kept

        def sendrecv(self, array, dest, source):
            return array[::-1]

    me = lab_mpi.MpiRank(Echo())
    me.send(1, np.arange(3))
    assert me.receive(1).tolist() == [0, 1, 2]
    assert me.exchange(1, np.arange(3), 1).tolist() == [2, 1, 0]
    assert (me.rank, me.n, me.sent) == (0, 2, [24, 24])


def test_the_checks_look_at_the_whole_range():
    """A check that stops at four ranks would pass what fails with five."""

    def fails_at(n):
        return lambda me, buffer: right_ring(me, buffer) if me.n != n else buffer

    for n in (2, 5, 8, 9):
        assert f"with {n} ranks" in check_ring(fails_at(n)).message
    assert (
        "with 1 rank: the result of rank 0"
        in check_ring(lambda me, buffer: right_ring(me, buffer) + (me.n == 1)).message
    )
    assert lab_checks.NUMBERS % np.lcm.reduce(range(1, 11)) == 0
