"""The agreements of the book, one file for each chapter; each file lists them in AGREEMENTS."""

import importlib
from functools import cache
from pathlib import Path

from netlib.fidelity.agreement import Agreement
from netlib.names import nearest


def chapters() -> list[str]:
    """The chapters that have agreements: the listing of this folder.

    >>> chapters()
    ['collectives', 'congestion', 'scale_out', 'scale_up', 'training']
    """
    return sorted(path.stem for path in Path(__file__).parent.glob("[a-z]*.py"))


@cache
def agreements() -> dict[str, Agreement]:
    """Every agreement by its id. Raises ValueError for an id that two of them claim."""
    found: dict[str, Agreement] = {}
    for chapter in chapters():
        for each in importlib.import_module(f"{__name__}.{chapter}").AGREEMENTS:
            if each.id in found:
                raise ValueError(f"agreement {each.id!r} is listed twice; give one of them another id")
            found[each.id] = each
    return found


def find(id: str) -> Agreement:
    """The agreement of an id.

    >>> find("outside-share").what
    'the share of an all-to-all that leaves its domain'
    """
    if id not in agreements():
        raise ValueError(f"agreement {id[:40]!r} does not exist; {nearest(id, agreements())}")
    return agreements()[id]
