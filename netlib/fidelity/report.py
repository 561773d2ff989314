"""`netlib fidelity`: the scoreboard as text or JSON."""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from netlib.fidelity.rows import published_rows, read_rows
from netlib.fidelity.score import Judged, judge, share, summary


def text(judged: Sequence[Judged]) -> str:
    """A table of groups, then every miss, then what could not be answered and why."""
    lines = [f"{'group':44s} {'rows':>5s} {'hits':>5s} {'within':>7s} {'median':>7s} {'worst':>8s}  worst row"]
    for group in summary(judged):
        lines.append(
            f"{group.group:44s} {group.rows:5d} {group.hits:5d} {share(group.tolerance):>7s} {group.median:7.1%} "
            f"{group.worst_error + 0:+8.1%}  {group.worst}"
        )
    misses = [row for row in judged if row.ok is False]
    lines += ["", f"{len(misses)} misses:"] + [f"  {_line(row)}" for row in misses]
    reasons = Counter(row.note for row in judged if row.status == "not answerable")
    lines += ["", f"{reasons.total()} rows not answerable:"] + [f"  {n:4d}  {why}" for why, n in reasons.most_common()]
    statuses = Counter(row.status for row in judged)
    return "\n".join([*lines, "", ", ".join(f"{n} {status}" for status, n in sorted(statuses.items()))])


def _line(row: Judged) -> str:
    if row.model is None:
        return f"{row.id:12s} {row.note}"
    values = f"model {row.model:.4g}, published {row.published:.4g} {row.unit}"
    return f"{row.id:12s} {values} ({row.rel_error:+.0%}): {row.note}"


def run(asked: argparse.Namespace) -> int:
    """Print the scoreboard. Raises ValueError in one sentence for a file that is no such table."""
    judged = judge(read_rows(asked.rows) if asked.rows else published_rows())
    print(json.dumps([asdict(row) for row in judged], indent=1, allow_nan=False) if asked.json else text(judged))
    return 0
