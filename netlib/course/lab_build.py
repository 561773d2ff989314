"""Labs: one solved source each, from which what a learner opens is made.

    labs/source/01_allreduce/01_allreduce.ipynb     solved, executed, with held-back tests: the one that is written
    labs/source/01_allreduce/lab.toml               title, objectives, minutes, points
    labs/01_allreduce.ipynb                         made by `netlib labs`: stubs for solutions, no held-back test

The source is a notebook in nbgrader's format (cell metadata of schema 3, its markers in comments), so that nbgrader can
grade it later. Making the student's copy is the few lines below: nbgrader itself would bring a second notebook server
and a database for a loop over lines. Both read the same markers.
"""

import argparse
import copy
import tomllib
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from netlib.course.notebook import store

SOLUTION = ("### BEGIN SOLUTION", "### END SOLUTION")
HIDDEN = ("### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS")
CODE_STUB = "...  # your code"
TEXT_STUB = "*Your answer here.*"
FIELDS = {"schema_version", "grade", "grade_id", "locked", "solution", "task", "points"}
TELLING = 25  # characters from which a line of a solution is its own and not everybody's


@dataclass(frozen=True)
class Lab:
    """What `lab.toml` says about the lab called `name`: `minutes` from and to, `difficulty` 1 to 5, `points` in all.

    `seed` are the words from which a term's and a student's own cases are derived, in order.
    """

    name: str
    title: str
    chapter: str
    summary: str
    objectives: tuple[str, ...]
    prerequisites: tuple[str, ...]
    minutes: tuple[int, int]
    difficulty: int
    points: int
    seed: tuple[str, ...]


def labs(root: Path) -> list[Lab]:
    """All labs below `labs/source`, in order.

    Raises ValueError in one sentence for a `lab.toml` that lacks a field or holds one too many.
    """
    return [
        _read(folder / "lab.toml") for folder in sorted((root / "labs" / "source").glob("[0-9]*")) if folder.is_dir()
    ]


def source_of(root: Path, lab: Lab) -> Path:
    """The solved notebook."""
    return root / "labs" / "source" / lab.name / f"{lab.name}.ipynb"


def student_of(root: Path, lab: Lab) -> Path:
    """The notebook that a learner opens."""
    return root / "labs" / f"{lab.name}.ipynb"


def student(source: Any) -> Any:
    """The learner's copy of a solved notebook: stubs for solutions, no held-back tests, no outputs."""
    book = copy.deepcopy(source)
    for cell in book.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution"):
            stub = CODE_STUB if cell.cell_type == "code" else TEXT_STUB
            marked = any(word in cell.source for word in SOLUTION)
            cell.source = without(cell.source, SOLUTION, stub) if marked else stub
        cell.source = without(cell.source, HIDDEN)
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return book


def without(text: str, marks: tuple[str, str], stub: str | None = None) -> str:
    """`text` without what stands between the two marks, and `stub` in its place, as far in.

    Raises ValueError for a mark without its partner.
    """
    kept: list[str] = []
    inside = False
    for line in text.split("\n"):
        word = line.strip()
        if word not in marks:
            kept += [] if inside else [line]
            continue
        if inside == (word == marks[0]):
            raise ValueError(f"{word!r} stands where none may: each {marks[0]!r} needs its {marks[1]!r}")
        inside = word == marks[0]
        if inside and stub is not None:
            kept.append(line[: line.index(word)] + stub)
    if inside:
        raise ValueError(f"{marks[0]!r} is not closed: add {marks[1]!r}")
    return "\n".join(kept).rstrip("\n")


def telling_lines(source: Any) -> set[str]:
    """The lines of a solved notebook that may stand nowhere in public: solutions, held-back tests, model answers."""
    found: set[str] = set()
    public = {line.strip() for cell in student(source).cells for line in cell.source.split("\n")}
    for cell in source.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution") or HIDDEN[0] in cell.source:
            found |= {line.strip() for line in cell.source.split("\n")}
    return {line for line in found - public if len(line) >= TELLING and line not in (*SOLUTION, *HIDDEN)}


def faults(source: Any, lab: Lab) -> list[str]:
    """What is wrong with a source, each in a sentence."""
    found: list[str] = []
    ids: list[str] = []
    points = 0
    for number, cell in enumerate(source.cells, 1):
        mark = cell.metadata.get("nbgrader")
        marked = SOLUTION[0] in cell.source or HIDDEN[0] in cell.source
        if mark is None:
            found += [f"cell {number} holds a solution or a held-back test, but no nbgrader metadata"] if marked else []
            continue
        ids.append(mark.get("grade_id", ""))
        points += mark.get("points", 0)
        if not set(mark) <= FIELDS or mark.get("schema_version") != 3:
            found.append(f"cell {number} ({ids[-1]}) is not of nbgrader's schema 3")
        if mark.get("grade") != ("points" in mark):
            found.append(f"cell {number} ({ids[-1]}): a graded cell has points, and only a graded one")
        if SOLUTION[0] in cell.source and not mark.get("solution"):
            found.append(f"cell {number} ({ids[-1]}) holds a solution but is no answer cell")
        if HIDDEN[0] in cell.source and not (mark.get("grade") and mark.get("locked")):
            found.append(f"cell {number} ({ids[-1]}) holds held-back tests but is no locked test")
    found += [
        f"grade_id {each!r} is empty or stands twice" for each in sorted({i for i in ids if ids.count(i) > 1 or not i})
    ]
    if points != lab.points:
        found.append(f"the cells are worth {points} points, lab.toml says {lab.points}")
    return found


def read(path: Path) -> Any:
    """A notebook of nbformat 4."""
    nbformat: Any = import_module("nbformat")  # published without types
    try:
        return nbformat.read(path, 4)
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); each lab has a solved notebook there") from None


def built(root: Path, lab: Lab) -> str:
    """The student notebook as text, made from its source; ValueError names what is wrong with the source."""
    nbformat: Any = import_module("nbformat")  # published without types
    source = read(source_of(root, lab))
    if wrong := faults(source, lab):
        raise ValueError(f"{source_of(root, lab).relative_to(root)}: {wrong[0]}")
    text: str = nbformat.writes(student(source), version=4)
    return text.rstrip("\n") + "\n"


def run(asked: argparse.Namespace) -> int:
    """Make the student notebooks, or say which are not what their source makes."""
    from netlib.course.serve import root

    stale = 0
    for lab in labs(root()):
        path, text = student_of(root(), lab), built(root(), lab)
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            continue
        stale += 1
        print(f"{path.relative_to(root())}: {'is not what its source makes' if asked.check else 'made'}")
        if not asked.check:
            store(path, text)
    return int(asked.check and stale > 0)


def _read(path: Path) -> Lab:
    try:
        fields = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path.parent.name}/lab.toml cannot be read: {error}") from None
    wanted = set(Lab.__dataclass_fields__) - {"name"}
    if set(fields) != wanted:
        odd = ", ".join(sorted(set(fields) ^ wanted))
        raise ValueError(f"{path.parent.name}/lab.toml must hold each field once and no other; look at {odd}")
    plain: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in fields.items()}
    return Lab(name=path.parent.name, **plain)
