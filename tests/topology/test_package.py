"""The package as a reader meets it: every module is on its page, the core of three first."""

import re
from pathlib import Path

import netlib.topology as package

MODULES = sorted(path.stem for path in Path(package.__file__).parent.glob("*.py") if path.stem != "__init__")


def test_the_page_lists_every_module_once_and_a_core_of_three_first() -> None:
    lines = [line for line in (package.__doc__ or "").splitlines() if re.match(r"[a-z]+ {2,}", line)]
    assert sorted(line.split()[0] for line in lines) == MODULES
    assert [line.endswith("(the core)") for line in lines] == [True] * 3 + [False] * (len(lines) - 3)
