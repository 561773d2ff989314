"""The house: a module imports only from its own floor or from floors below, and from nothing that is not a floor."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The floors, lowest first; on one floor stands what belongs together. The order is that of the chapters.
FLOORS = (
    ("units", "names", "arguments", "hardware", "links"),
    ("topology",),
    ("collectives",),
    ("congestion",),
    ("faults",),
    ("ocs",),
    ("fieldwork",),
    ("fidelity",),
    ("course",),
    ("__main__",),
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS, 1) for room in rooms}
MODULES = sorted((ROOT / "netlib").rglob("*.py"))


def name_of(path: Path, root: Path = ROOT) -> str:
    """The dotted name of a module: netlib/course/serve.py is netlib.course.serve."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(source: str, name: str, is_package: bool) -> set[str]:
    """The modules of netlib that this source names in an import, anywhere in it, relative ones resolved."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = name.split(".")
                above = parts[: len(parts) - node.level + is_package]
                base = ".".join([*above, *([base] if base else [])])
            found |= {f"{base}.{alias.name}" for alias in node.names}
    return {each for each in found if each.split(".")[0] == "netlib"}


def climbs(source: str, name: str, is_package: bool = False) -> list[str]:
    """What this module imports from a floor above its own, or from a room that is on no floor."""
    here = FLOOR.get(name.split(".")[1], 0) if "." in name else 0
    wrong = []
    for each in sorted(imports(source, name, is_package)):
        room = each.split(".")[1] if "." in each else ""
        # `from netlib import __version__` names no room
        if room and room != "__version__" and FLOOR.get(room, 99) > here:
            wrong.append(each)
    return wrong


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_from_floors_below(path: Path) -> None:
    name = name_of(path)
    room = name.split(".")[1] if "." in name else None
    assert room is None or room in FLOOR, f"{name}: no floor is set for netlib.{room}; see FLOORS in this test"
    wrong = climbs(path.read_text(), name, path.name == "__init__.py")
    assert not wrong, f"{name} (floor {FLOOR.get(room, 0)}) imports {', '.join(wrong)} from above"


@pytest.mark.parametrize(
    ("source", "name", "wrong"),
    [
        ("from netlib.units import GB", "netlib.links", []),
        ("from netlib.collectives import busbw", "netlib.links", ["netlib.collectives.busbw"]),
        ("def f():\n    import netlib.course.serve", "netlib.faults.job", ["netlib.course.serve"]),
        ("from ..ocs import slices", "netlib.topology.torus", ["netlib.ocs.slices"]),
        ("from .ring import time", "netlib.collectives.cost", []),
        ("from netlib import course", "netlib.fidelity.rows", ["netlib.course"]),
        ("from netlib.attic import old", "netlib.course.serve", ["netlib.attic.old"]),
        ("from netlib import __version__", "netlib.units", []),
        ("import numpy", "netlib.units", []),
    ],
)
def test_the_floor_test_sees_what_it_should(source: str, name: str, wrong: list[str]) -> None:
    assert climbs(source, name) == wrong


def test_no_two_modules_import_each_other() -> None:
    """Whoever reads one module must be able to read what it needs first."""
    names = {name_of(path): path for path in MODULES}
    needs = {}
    for name, path in names.items():
        tree = ast.parse(path.read_text())
        # An import inside a function is a door that is opened later; only those at the top decide the reading order.
        top = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
        named = imports(ast.unparse(top), name, path.name == "__init__.py")
        # `from netlib.links import Link` names the module netlib.links; `from netlib import links` too.
        owners = {each if each in names else each.rpartition(".")[0] for each in named}
        needs[name] = {each for each in owners & set(names) if each != name and not name.startswith(each + ".")}
    list(TopologicalSorter(needs).static_order())  # raises CycleError and names the ring


def run_bare(program: str) -> str:
    """Run a program in a Python without any installed package, on the checkout alone."""
    words = [sys.executable, "-I", "-S", "-c", f"import sys; sys.path.insert(0, {str(ROOT)!r})\n{program}"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_netlib_loads_nothing_but_the_standard_library() -> None:
    """What makes it quick; the seconds themselves are in benchmarks/import_time.py."""
    program = """
before = set(sys.modules)
import netlib
new = {name.split(".")[0] for name in set(sys.modules) - before} - {"netlib"}
print(sorted(new - set(sys.stdlib_module_names)))
"""
    assert run_bare(program).strip() == "[]"


def test_the_two_commands_start_on_a_bare_python() -> None:
    """They install everything else, so they must not need it."""
    assert "[1/" not in run_bare("import netlib.course.install, netlib.__main__")
