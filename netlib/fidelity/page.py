"""The book's fidelity page, as Markdown: every table is computed when the book is built."""

from collections import Counter
from collections.abc import Mapping

from netlib.fidelity.boards import plan_of
from netlib.fidelity.calibration import FITTED, constants
from netlib.fidelity.misses import EXPLAINED
from netlib.fidelity.report import base
from netlib.fidelity.rows import published_rows
from netlib.fidelity.score import Judged, about, judged_rows, share, summary
from netlib.units import show


def scoreboard() -> str:
    """Collectives: one line for each group: rows, hits, tolerance, median and worst error."""
    return _board("collectives", "choices")


def fabric_board() -> str:
    """The same for fabrics: counts, distances, cuts, hashed traffic, optics; and how many rows are no publications."""
    return _with_programs("fabrics")


def congestion_board() -> str:
    """The same for congestion: arithmetic, theory, and runs of two simulators."""
    return _with_programs("congestion")


def _with_programs(what: str) -> str:
    head, rule, *lines = _board(what).splitlines()
    ours = Counter(row.group for row in _scored(what) if row.id in _programs())
    lines = [f"{line} {ours[line.split(' | ')[0].strip('| ')]} |" for line in lines]
    return "\n".join([f"{head} from another program |", f"{rule}--:|", *lines])


def _programs() -> set[str]:
    """Rows whose value another program computed or simulated: they test models, and nothing built or measured."""
    return {row["id"] for row in published_rows() if row["confidence"] in ("computed", "simulated")}


def _board(*what: str) -> str:
    lines = ["| group | rows | hits | tolerance | median error | worst error |", "|---|--:|--:|--:|--:|--:|"]
    for g in summary(judged_rows()):
        if about(g.group) in what:
            shown = f"{g.worst_error:+.2%}" if what == ("congestion",) else f"{g.worst_error:+.0%}"
            worst = f"{shown} (`{g.worst}`)" if abs(g.worst_error) > 1e-9 else "none"
            tolerance = share(g.tolerance)
            lines.append(f"| {g.group} | {g.rows} | {g.hits} | {tolerance} | {g.median:.1%} | {worst} |")
    return "\n".join(lines)


def misses() -> str:
    """Every miss, by cause."""
    by_id = {row.id: row for row in judged_rows()}
    parts = []
    for cause in EXPLAINED:
        lines = [f"**{cause.title}.** {cause.reason}", "", *_table([by_id[id] for id in cause.rows])]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def constants_table() -> str:
    """The fitted constants and how many rows chose each."""
    c = constants()
    rows = [
        *((f"floor of one call, {name}", show(t, "µs"), "4") for name, t in c.launch.items()),
        *((f"floor of one queued call, {name}", show(t, "µs"), "1") for name, t in c.queued.items()),
        *((f"price of filling a pipeline, {name}", _root(t), "with the floor") for name, t in c.launch_root.items()),
        ("one more level of nodes", show(c.tree_level, "µs"), "6"),
        ("the same, filling the pipeline until chunks are full", _root(c.tree_root), "with the level"),
        ("one more step of a ring", show(c.ring_step, "µs"), "3"),
        ("floor of one expert dispatch", show(c.moe_floor, "µs"), "1"),
    ]
    lines = ["| constant | value | rows |", "|---|--:|--:|"] + [f"| {a} | {b} | {n} |" for a, b, n in rows]
    return "\n".join([*lines, "", f"Rows: {', '.join(f'`{id}`' for id in sorted(FITTED))}."])


def unanswered() -> str:
    """Rows that no model of this edition answers, counted by reason."""
    reasons = Counter(row.note for row in judged_rows() if row.status == "not answerable")
    return "\n".join(f"* {n} row{'s' * (n > 1)}: {why}" for why, n in reasons.most_common())


def every_row() -> str:
    """The whole table of scored rows about collectives."""
    return "\n".join(_table(_scored("collectives")))


def every_fabric() -> str:
    """The whole table of scored rows about fabrics."""
    named = {row["id"]: f"{row['topology'] or row['system']}: {row['metric']}" for row in published_rows()}
    return _every("fabrics", named)


def every_congestion() -> str:
    """The whole table of scored rows about congestion."""
    named = {row["id"]: f"{row['scenario']}: {row['params']}: {row['metric']}" for row in published_rows()}
    return _every("congestion", named)


def _every(what: str, named: Mapping[str, str]) -> str:
    lines = ["| row | of what | model | published or (p) program | error | how |", "|---|---|--:|--:|--:|---|"]
    programs = _programs()
    for r in _scored(what):
        error = f"{r.rel_error:+.1%}" if r.rel_error is not None and abs(r.rel_error) > 1e-9 else "0"
        unit = f" {r.unit}".rstrip()
        lines.append(
            f"| `{r.id}` | {named[r.id]} | {r.model:.6g}{unit} | {r.published:.6g}{unit}{' (p)' * (r.id in programs)} |"
            f" {error} | {r.note} |"
        )
    return "\n".join(lines)


def _scored(what: str) -> list[Judged]:
    return [row for row in judged_rows() if row.ok is not None and about(row.group) == what]


def _root(seconds: float) -> str:
    return f"{show(seconds * 1024, 'µs')} at 1 MiB"


def _table(rows: list[Judged]) -> list[str]:
    if rows and about(rows[0].group) == "congestion":
        lines = ["| row | model | published | error | how |", "|---|--:|--:|--:|---|"]
        for r in rows:
            error = "" if r.rel_error is None else f"{r.rel_error:+.1%}{base(r.group)}"
            lines.append(f"| `{r.id}` | {r.model:.4g} {r.unit} | {r.published:.4g} {r.unit} | {error} | {r.note} |")
        return lines
    lines = ["| row | model | published | error | how | NCCL's plan |", "|---|--:|--:|--:|---|--:|"]
    for r in rows:
        error = "" if r.rel_error is None else f"{r.rel_error:+.0%}"
        values = f"{r.model:.4g} {r.unit} | {r.published:.4g} {r.unit}"
        lines.append(f"| `{r.id}` | {values} | {error} | {r.note} | {plan_of(r)} |")
    return lines
