"""The agreement table: every algorithm in three engines, as Markdown, computed while the book is built.

Read with the chapter "Collectives", section "Three engines, one answer".
"""

from functools import cache

from netlib.fidelity.algorithms import ALGORITHMS
from netlib.fidelity.engines import EXACT, VERDICTS, Algorithm, Compared, Kind, compared


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
    """The agreement table, as Markdown: a sentence, a row for each algorithm, and why bounds are bounds.

    >>> table().splitlines()[4]
    '| all-reduce | ring | 6 | 2 to 29 | right | 7e-16 | 3e-16 | ✓ exact |'
    """
    found = all_compared()
    exact = [each for each in found if each.algorithm.kind == "exact"]
    worst = max(max(each.counted_gap, each.simulated_gap) for each in exact)
    holds = sum(each.holds for each in found)
    told = (
        f"{holds} of {len(found)} algorithms hold, {sum(len(each.shapes) for each in found)} random cases in all. "
        f"In the {len(exact)} that are exact the largest gap is {worst:.0e}; {EXACT:.0e} is allowed."
    )
    heads = ("collective", "algorithm", "cases", "ranks", "sums", "counted", "simulated", "verdict")
    lines = [f"| {' | '.join(heads)} |", "|---|---|--:|---|---|--:|--:|---|", *map(row, found)]
    reasons = [f"* {each.algorithm.id}: {each.algorithm.reason}." for each in found if each.algorithm.reason]
    parted = [f"* **{each.algorithm.id}: {each.verdict}.**" for each in found if not each.holds]
    return "\n".join([told, "", *lines, "", *parted, *reasons])


def row(found: Compared) -> str:
    """One line of the table."""
    own = found.algorithm
    sums = "right" if found.correct.all() else "wrong"
    gaps = (_shown(each, own.kind) for each in (found.counted_gap, found.simulated_gap))
    verdict = f"✓ {VERDICTS[own.kind]}" if found.holds else "✗ **parts**"
    cells = (own.op, own.name, len(found.shapes), _span(found), sums, *gaps, verdict)
    return f"| {' | '.join(map(str, cells))} |"


def _span(found: Compared) -> str:
    ranks = [found.algorithm.made(*shape).n for shape in found.shapes]
    return f"{min(ranks)} to {max(ranks)}"


def _shown(value: float, kind: Kind) -> str:
    return f"{value:.0e}" if kind == "exact" else f"{value:.0%}"
