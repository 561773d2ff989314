"""Exceptions are counted: tests/allowed.toml lists each, the files hold exactly those, and each says why."""

from __future__ import annotations

import json
import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).name
ALLOWED = tomllib.loads((ROOT / "tests" / "allowed.toml").read_text())["exception"]
COUNTED = {"nbval", "coverage", "types", "style", "skip", "bandwidth"}
KEYS = {kind: {"kind", "where", "count", "reason"} for kind in COUNTED} | {
    "doctest": {"kind", "where", "name", "reason"},
    "module": {"kind", "where", "reason"},
    "accessibility": {"kind", "where", "rule", "reason"},
}
PATTERNS = {
    "coverage": re.compile(r"#\s*pragma:\s*no\s*(cover|branch)"),
    "types": re.compile(r"#\s*type:\s*ignore"),
    "style": re.compile(r"#\s*(ruff:\s*)?noqa"),
    "skip": re.compile(r"pytest\.(mark\.)?(skip|skipif|xfail|importorskip)\b"),
    "bandwidth": re.compile(r"<!--\s*bandwidth:"),
}
ROOMS = {  # where each kind can stand
    "coverage": ("netlib/", "tests/", "benchmarks/"),
    "types": ("netlib/",),
    "style": ("netlib/", "tests/", "benchmarks/"),
    "skip": ("tests/",),
    "bandwidth": ("book/", "notebooks/", "labs/"),
}
TAGS = {"nbval-skip", "nbval-ignore-output", "nbval-raises-exception", "raises-exception", "skip-execution"}


def tracked() -> list[str]:
    """The files that git keeps; also those about to be kept."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def exceptions_in(name: str, text: str) -> Counter[tuple[str, str]]:
    """How many exceptions of each kind stand in one file."""
    found: Counter[tuple[str, str]] = Counter()
    for kind, pattern in PATTERNS.items():
        if name.startswith(ROOMS[kind]) and (here := len(pattern.findall(text))):
            found[kind, name] = here
    if name.endswith(".ipynb"):
        for cell in json.loads(text)["cells"]:
            source = "".join(cell["source"])
            marks = len(TAGS & set(cell["metadata"].get("tags", []))) + len(re.findall(r"#\s*NBVAL_\w+", source))
            found["nbval", name] += marks
    return +found


def test_exceptions_are_seen() -> None:
    source = "x = f()  # type: ignore[arg-type]\nif x:  # pragma: no cover\n    pass  # noqa: E501\n"
    assert exceptions_in("netlib/a.py", source) == Counter(
        {("types", "netlib/a.py"): 1, ("coverage", "netlib/a.py"): 1, ("style", "netlib/a.py"): 1}
    )
    assert exceptions_in("tests/a.py", "@pytest.mark.skipif(True)\n") == Counter({("skip", "tests/a.py"): 1})
    cell = {"cell_type": "code", "source": ["# NBVAL_IGNORE_OUTPUT\n"], "metadata": {"tags": ["nbval-skip"]}}
    notebook = "notebooks/a.ipynb"
    assert exceptions_in(notebook, json.dumps({"cells": [cell]})) == Counter({("nbval", notebook): 2})


def test_what_the_files_hold_is_what_the_list_says() -> None:
    held: Counter[tuple[str, str]] = Counter()
    for name in tracked():
        if Path(name).suffix in {".py", ".md", ".ipynb"} and Path(name).name != HERE:
            held += exceptions_in(name, (ROOT / name).read_text())
    listed = Counter({(each["kind"], each["where"]): each["count"] for each in ALLOWED if each["kind"] in COUNTED})
    assert held == listed


@pytest.mark.parametrize("row", ALLOWED, ids=lambda row: f"{row.get('kind')}-{row.get('where')}")
def test_a_row_says_what_where_and_why(row: dict[str, object]) -> None:
    assert set(row) == KEYS[str(row["kind"])]
    assert len(str(row["reason"]).split()) >= 5, "a reason is a sentence"
    where = str(row["where"])
    assert (row["kind"] == "accessibility" and where == "theme") or (ROOT / where).is_file(), f"{where} does not exist"


def test_no_row_stands_twice() -> None:
    rows = Counter((each["kind"], each["where"], each.get("name", each.get("rule"))) for each in ALLOWED)
    assert [row for row, count in rows.items() if count > 1] == []
