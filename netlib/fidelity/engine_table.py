"""The agreement table: every algorithm in three engines, as Markdown, computed while the book is built.

Read with the chapter "Collectives", section "Three engines, one answer".
"""

from functools import cache

from netlib.fidelity.algorithms import ALGORITHMS
from netlib.fidelity.engines import Algorithm, Compared, Kind, compared


@cache
def _held(algorithm: Algorithm) -> Compared:
    """Computed once, for the table and the badges above it."""
    return compared(algorithm)


def all_compared() -> list[Compared]:
    """Every algorithm, compared once in this process.

    >>> all(each.holds for each in all_compared())
    True
    """
    return [_held(each) for each in ALGORITHMS]


def table() -> str:
    """The agreement table, as Markdown.

    >>> table().splitlines()[2].split("|")[1:4]
    [' all-reduce ', ' ring ', ' 6 ']
    """
    head = "| collective | algorithm | cases | ranks | sums | closed and counted | closed and simulated | verdict |"
    return "\n".join([head, "|---|---|--:|---|---|--:|--:|---|", *map(row, all_compared())])


def row(found: Compared) -> str:
    """One line of the table."""
    own = found.algorithm
    ranks = sorted({own.made(*shape).n for shape in found.shapes})
    sums = "right" if found.correct.all() else "wrong"
    mark = "✓" if found.holds else "✗"
    gaps = (_shown(each, own.kind) for each in (found.counted_gap, found.simulated_gap))
    cells = (own.op, own.name, len(found.shapes), f"{ranks[0]} to {ranks[-1]}", sums, *gaps, f"{mark} {found.verdict}")
    return f"| {' | '.join(map(str, cells))} |"


def _shown(value: float, kind: Kind) -> str:
    return f"{value:.0e}" if kind == "exact" else f"{value:.0%}"
