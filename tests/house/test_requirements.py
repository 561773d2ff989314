"""The pinned files hold what is imported and what that implies, each at one version, and nothing else."""

from __future__ import annotations

import ast
import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib import metadata
from itertools import pairwise
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"([A-Za-z0-9._-]+)==([\w.!+]+)(?:; sys_platform != \"win32\")?")
FILES = ("requirements.txt", "requirements-test.txt")


def pins(name: str) -> tuple[dict[str, str], dict[str, str]]:
    """Name to version: those that we ask for, and those that these imply."""
    own, implied = (ROOT / name).read_text().split("# --- implied")
    both = []
    for part in (own, implied):
        lines = [line for line in part.splitlines() if line and not line.startswith(("#", "-r "))]
        matches = [PIN.fullmatch(line) for line in lines]
        loose = [line for line, match in zip(lines, matches, strict=True) if not match]
        assert not loose, f"{name}: {loose} is no pin"
        both.append({canonicalize_name(match[1]): match[2] for match in matches if match})
    return both[0], both[1]


def closure(names: set[str]) -> set[str]:
    """These distributions and all that they require on this machine."""
    seen: dict[str, set[str]] = {}
    to_do: list[tuple[str, set[str]]] = [(name, set()) for name in names]
    while to_do:
        name, extras = to_do.pop()
        if name in seen and extras <= seen[name]:
            continue
        seen.setdefault(name, set()).update(extras)
        for line in metadata.requires(name) or []:
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": each}) for each in ("", *extras)):
                to_do.append((canonicalize_name(needed.name), set(needed.extras)))
    return set(seen)


def imported(path: Path) -> set[str]:
    """The distributions outside the standard library that a file imports, anywhere in it."""
    if path.suffix == ".ipynb":
        found = json.loads(path.read_text())["cells"]
        source = "\n".join("".join(cell["source"]) for cell in found if cell["cell_type"] == "code")
    else:
        source = path.read_text()
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names.add(str(node.module).split(".")[0])
    names -= {"netlib", "tests", "benchmarks", "__future__", *sys.stdlib_module_names}
    return {canonicalize_name(owners()[name][0]) if name in owners() else name for name in names}


@cache
def owners() -> Mapping[str, list[str]]:
    """Which distribution an import name comes from; reads the list of every installed file, hence once."""
    return metadata.packages_distributions()


def test_one_version_of_each_name_and_it_is_installed() -> None:
    everything = [pair for name in FILES for part in pins(name) for pair in part.items()]
    assert len({name for name, _ in everything}) == len(everything), "a name stands twice"
    installed = {name: metadata.version(name) for name, _ in everything}
    differ = {name: (version, installed[name]) for name, version in everything if installed[name] != version}
    assert not differ, f"pinned and installed: {differ}"


def test_the_implied_ones_are_implied_and_none_is_missing() -> None:
    """On Linux: other systems need a few more, which their pip adds."""
    asked, implied = pins("requirements.txt")
    assert closure(set(asked)) == set(asked) | set(implied)
    asked_too, implied_too = pins("requirements-test.txt")
    everything = closure(set(asked) | set(asked_too))
    assert everything == set(asked) | set(implied) | set(asked_too) | set(implied_too)


@pytest.mark.parametrize("name", FILES)
def test_each_name_that_we_ask_for_says_why(name: str) -> None:
    lines = (ROOT / name).read_text().split("# --- implied")[0].splitlines()
    for before, line in pairwise(lines):
        if PIN.fullmatch(line):
            assert re.match(r"# .{10,}", before), f"{name}: {line} does not say why"


@pytest.mark.parametrize("room", ["netlib", "notebooks", "labs"])
def test_what_the_course_imports_is_asked_for(room: str) -> None:
    files = [path for end in ("*.py", "*.ipynb") for path in (ROOT / room).rglob(end)]
    needed = set().union(*map(imported, files)) if files else set()
    assert needed <= set(pins("requirements.txt")[0])


@pytest.mark.parametrize("room", ["tests", "benchmarks"])
def test_what_the_tests_import_is_pinned(room: str) -> None:
    pinned = set().union(*(part for name in FILES for part in pins(name)))
    assert set().union(*map(imported, (ROOT / room).rglob("*.py"))) <= pinned


def test_the_package_asks_for_no_more_than_the_pins_give() -> None:
    import tomllib

    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*asked["dependencies"], *(line for extra in asked["optional-dependencies"].values() for line in extra)]
    for needed in map(Requirement, lines):
        assert needed.specifier.contains(pins("requirements.txt")[0][canonicalize_name(needed.name)])


def test_jupyter_book_stays_below_two() -> None:
    assert pins("requirements.txt")[0]["jupyter-book"].startswith("1.")


def test_what_the_models_import_is_a_dependency_of_the_package() -> None:
    """Whoever installs netlib alone can call every model: numpy and scipy come with it."""
    import tomllib

    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    rooms = ("links", "topology", "collectives", "congestion")
    found = set().union(*(imported(path) for room in rooms for path in (ROOT / "netlib" / room).rglob("*.py")))
    assert found == {canonicalize_name(Requirement(line).name) for line in asked} == {"numpy", "scipy"}
