"""The agreement table: every algorithm in three engines, as Markdown, computed while the book is built.

Read with the chapter "Collectives", section "Three engines, one answer".
"""

from functools import cache

from netlib.collectives import (
    halving_doubling_allreduce,
    reduction_order,
    ring_allreduce,
    ring_reduce_scatter,
    tree_allreduce,
)
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
    """The agreement table, as Markdown: a sentence, on opening it a row for each algorithm, and why bounds are bounds.

    >>> table().splitlines()[7].split(" | ")[:3]
    ['| all-reduce', 'ring', '6']
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
    folded = [f"<details><summary>All {len(found)} lines</summary>", "", *lines, "", *reasons, "", "</details>"]
    return "\n".join([told, "", *parted, "", *folded])


def example() -> str:
    """A schedule written out, as Markdown: who sends which chunk in each step of a reduce-scatter around four ranks.

    >>> example().splitlines()[2]
    '| 0 | 3 | 0 | 1 | 2 |'
    """
    made = ring_reduce_scatter(4)
    (part,) = made.phases
    ways = [f"{src} → {dst}" for src, dst in zip(part.src, part.dst, strict=True)]
    rows = [(number, *step.chunk.tolist()) for number, step in enumerate(made.written_out())]
    lines = [f"| {' | '.join(map(str, line))} |" for line in rows]
    return "\n".join([f"| step | {' | '.join(ways)} |", f"|---{'|--:' * len(ways)}|", *lines])


def orders() -> str:
    """In which order three algorithms add chunk 0 of eight ranks, as a Markdown list.

    >>> orders().splitlines()[0]
    '* ring: `(((((((1+2)+3)+4)+5)+6)+7)+0)`'
    """
    made = {"ring": ring_allreduce, "binomial tree": tree_allreduce, "halving and doubling": halving_doubling_allreduce}
    return "\n".join(f"* {name}: `{reduction_order(build(8))}`" for name, build in made.items())


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
    return f"{value:.0e}" if kind == "exact" and value else f"{value:.0%}".removesuffix("%" if not value else "")
