"""The players of the book, one file each: all_reduce_steps.py defines `all_reduce_steps`, the player
"all-reduce-steps"."""

import importlib
from pathlib import Path

from netlib.arguments import quoted
from netlib.course.player import Player
from netlib.names import nearest


def ids() -> list[str]:
    """The ids of all players: the listing of this folder.

    >>> "all-reduce-steps" in ids()
    True
    """
    return sorted(p.stem.replace("_", "-") for p in Path(__file__).parent.glob("[a-z]*.py"))


def load(id: str) -> Player:
    """The player of an id; imports its file alone.

    >>> load("all-reduce-steps").title
    'All-reduce, step by step'
    """
    if not isinstance(id, str) or id not in ids():
        raise ValueError(f"player {quoted(id)} does not exist; {nearest(id, ids())}")
    name = id.replace("-", "_")
    found = getattr(importlib.import_module(f"{__name__}.{name}"), name, None)
    if not isinstance(found, Player) or found.id != id:
        raise ValueError(f"{name}.py must define {name} with @as_player({id!r}, ...)")
    return found
