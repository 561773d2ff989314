"""The explorers of the book, one file each: ring_or_tree.py defines `ring_or_tree`, the explorer "ring-or-tree"."""

import importlib
from pathlib import Path

from netlib.arguments import quoted
from netlib.course.explorer import Explorer
from netlib.names import nearest


def ids() -> list[str]:
    """The ids of all explorers: the listing of this folder.

    >>> "ring-or-tree" in ids()
    True
    """
    return sorted(p.stem.replace("_", "-") for p in Path(__file__).parent.glob("[a-z]*.py"))


def load(id: str) -> Explorer:
    """The explorer of an id; imports its file alone.

    >>> load("ring-or-tree").title
    'Ring or tree?'
    """
    if not isinstance(id, str) or id not in ids():
        raise ValueError(f"explorer {quoted(id)} does not exist; {nearest(id, ids())}")
    name = id.replace("-", "_")
    found = getattr(importlib.import_module(f"{__name__}.{name}"), name, None)
    if not isinstance(found, Explorer) or found.id != id:
        raise ValueError(f"{name}.py must define {name} with @explorer({id!r}, ...)")
    return found
