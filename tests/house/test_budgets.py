"""Sizes that a reader can hold in the head: lines per module, lines per notebook cell; and a word on every name."""

from __future__ import annotations

import ast
import io
import json
import statistics
import token
import tokenize
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = [path for path in sorted((ROOT / "netlib").rglob("*.py")) if "exercises" not in path.parts]
NOTEBOOKS = [*sorted((ROOT / "notebooks").glob("*.ipynb")), *sorted((ROOT / "labs").glob("*.ipynb"))]
MODULE_LIMIT, MODULE_USUAL = 300, 200
CELL_LIMIT, CELL_MEDIAN = 20, 8
# From floor 8 up a function opens a file, a browser or a widget; its test shows how it is used.
WITHOUT_EXAMPLES = {"fidelity", "course", "__main__"}
ALLOWED = tomllib.loads((ROOT / "tests" / "allowed.toml").read_text())["exception"]


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_table(node: ast.stmt) -> bool:
    """A module-level table of plain values, or of calls on plain values: data, not code."""
    value = getattr(node, "value", None)
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return False
    if not isinstance(value, ast.Dict | ast.List | ast.Tuple | ast.Set):
        return False
    banned = ast.Lambda | ast.GeneratorExp | ast.ListComp | ast.DictComp | ast.SetComp
    return not any(isinstance(inner, banned) for inner in ast.walk(value))


def code_lines(source: str) -> int:
    """Lines that hold code: no blank ones, no comments, no docstrings, no tables of data."""
    tree = ast.parse(source)
    aside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            aside |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    for node in tree.body:
        if is_table(node):
            aside |= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    silent = {token.COMMENT, token.NL, token.NEWLINE, token.INDENT, token.DEDENT, token.ENDMARKER}
    held: set[int] = set()
    for each in tokenize.generate_tokens(io.StringIO(source).readline):
        if each.type not in silent:
            held |= set(range(each.start[0], each.end[0] + 1))
    return len(held - aside)


def test_code_lines_are_counted_as_the_rule_says() -> None:
    source = '"""Doc\nstring."""\n\n# comment\nX = {\n    1: 2,\n}\n\n\n'
    source += 'def f():\n    """Doc."""\n    return (\n        1\n    )\n'
    assert code_lines(source) == 4
    assert code_lines("X = [\n    n for n in range(3)\n]\n") == 3


@pytest.mark.parametrize("path", MODULES, ids=short)
def test_a_module_fits_in_the_head(path: Path) -> None:
    lines = code_lines(path.read_text())
    assert lines <= MODULE_LIMIT, f"{short(path)} has {lines} lines of code, above {MODULE_LIMIT}: split it by idea"
    listed = {each["where"] for each in ALLOWED if each["kind"] == "module"}
    assert (lines > MODULE_USUAL) == (short(path) in listed), (
        f"{short(path)} has {lines} lines of code; above {MODULE_USUAL} it needs a row in tests/allowed.toml, only then"
    )


def cells(notebook: Path) -> list[str]:
    """The code of each code cell."""
    found = json.loads(notebook.read_text())["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def cell_faults(sources: list[str]) -> list[str]:
    """What is wrong with the sizes of these cells."""
    sizes = [len(source.splitlines()) for source in sources]
    long = [(number, size) for number, size in enumerate(sizes, 1) if size > CELL_LIMIT]
    faults = [f"cell {number} has {size} lines, more than {CELL_LIMIT}" for number, size in long]
    if sizes and statistics.median(sizes) > CELL_MEDIAN:
        faults.append(f"the median cell has {statistics.median(sizes):g} lines, more than {CELL_MEDIAN}")
    return faults


def test_cell_sizes_are_judged_as_the_rule_says() -> None:
    assert cell_faults(["a = 1\n" * 20, "a = 1", "a = 1"]) == []
    assert cell_faults(["a = 1\n" * 21, "a = 1", "a = 1"]) == ["cell 1 has 21 lines, more than 20"]
    assert cell_faults(["a = 1\n" * 9]) == ["the median cell has 9 lines, more than 8"]


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=short)
def test_a_cell_fits_on_the_screen(notebook: Path) -> None:
    assert cell_faults(cells(notebook)) == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=short)
def test_a_cell_hides_nothing(notebook: Path) -> None:
    """No magics, no shell, no installing: what a cell does is plain Python that can be read."""
    for number, source in enumerate(cells(notebook), 1):
        ast.parse(source)
        assert source.strip(), f"cell {number} is empty"
        assert "pip install" not in source, f"cell {number} installs something"


def public(tree: ast.Module) -> list[ast.FunctionDef | ast.ClassDef]:
    """The functions and classes that a module offers."""
    return [
        node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_")
    ]


@pytest.mark.parametrize("path", MODULES, ids=short)
def test_every_public_name_is_explained(path: Path) -> None:
    tree = ast.parse(path.read_text())
    assert ast.get_docstring(tree) or not tree.body, f"{short(path)} does not say what it is for"
    silent = [node.name for node in public(tree) if not ast.get_docstring(node)]
    assert not silent, f"{short(path)}: {', '.join(silent)} without a docstring"


def offered(path: Path) -> set[str]:
    """The functions that a module offers to readers: in a package, those that its front (`__init__.py`) takes up."""
    own = {node.name for node in public(ast.parse(path.read_text())) if isinstance(node, ast.FunctionDef)}
    front = path.parent / "__init__.py"
    if path.parent == ROOT / "netlib" or path == front:
        return own
    taken = [node for node in ast.walk(ast.parse(front.read_text())) if isinstance(node, ast.ImportFrom)]
    return own & {alias.name for node in taken for alias in node.names}


@pytest.mark.parametrize("path", MODULES, ids=short)
def test_every_model_shows_an_example(path: Path) -> None:
    room = path.relative_to(ROOT / "netlib").parts[0].removesuffix(".py")
    listed = {each["name"] for each in ALLOWED if each["kind"] == "doctest" and each["where"] == short(path)}
    if room in WITHOUT_EXAMPLES:
        assert not listed
        return
    functions = {node.name: ast.get_docstring(node) or "" for node in public(ast.parse(path.read_text()))}
    bare = {name for name in offered(path) if ">>>" not in functions[name]}
    assert bare == listed, f"{short(path)}: functions without an example, against the list in tests/allowed.toml"


def test_what_a_package_offers_is_known() -> None:
    assert "ring_allreduce_time" in offered(ROOT / "netlib" / "collectives" / "cost.py")
    assert "gbps" in offered(ROOT / "netlib" / "units.py")


def test_what_explorers_keep_is_small() -> None:
    sizes = {path.name: path.stat().st_size for path in (ROOT / "netlib" / "course" / "explorers").glob("*.csv")}
    assert all(size <= 120_000 for size in sizes.values()), f"keep fewer samples: {sizes}"
    assert sum(sizes.values()) <= 500_000, f"the tables of explorers are half a megabyte in all: {sizes}"
