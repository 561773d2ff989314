"""`netlib fidelity`: the scoreboard as text or JSON."""

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict

from netlib.fidelity import models_congestion, models_fluid, models_topology
from netlib.fidelity.rows import published_rows, read_rows
from netlib.fidelity.score import Judged, judge, share, summary

_BASES = {  # group -> what its errors are a share of, where that is not the published value
    models_topology.MEAN: " of a host's own link",
    models_fluid.MARGIN: f" of {models_fluid.HALF_TURN:g} deg",
    models_congestion.AIMS_AT_NONE: " of a BDP",
}


def text(judged: Sequence[Judged]) -> str:
    """A table of groups, then every miss, then what could not be answered and why."""
    groups = summary(judged)
    wide = max((len(group.group) for group in groups), default=5)
    lines = [f"{'group':{wide}s} {'rows':>5s} {'hits':>5s} {'within':>7s} {'median':>7s} {'worst':>8s}  worst row"]
    for group in groups:
        lines.append(
            f"{group.group:{wide}s} {group.rows:5d} {group.hits:5d} {share(group.tolerance):>7s} {group.median:7.1%} "
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
    return f"{row.id:12s} {values} ({_error(row.rel_error or 0.0, row.group)}): {row.note}"


def _error(error: float, group: str) -> str:
    """An error with its sign, its base where that is not the published value, and never rounded to nothing."""
    shown = f"{error:+.0%}" if abs(error) >= 0.005 else f"{100 * error:+.2g}%"
    return shown + base(group)


def base(group: str) -> str:
    """What a group's errors are a share of, if not of the published value.

    >>> base("theory of control: phase margins"), base("topology: distances")
    (' of 180 deg', '')
    """
    return next((words for key, words in _BASES.items() if ": ".join(key) == group), "")


def run(asked: argparse.Namespace) -> int:
    """Print the scoreboard. Raises ValueError in one sentence for a file that is no such table."""
    judged = judge(read_rows(asked.rows) if asked.rows else published_rows())
    print(json.dumps([asdict(row) for row in judged], indent=1, allow_nan=False) if asked.json else text(judged))
    return 0
