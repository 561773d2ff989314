"""Boards: the fidelity page's tables that set models beside each other, as Markdown.

Peaks and curves, the second model (NCCL's own plan), what NCCL chose, and training runs.
"""

from collections.abc import Sequence
from statistics import mean, median

from netlib.collectives.training import side_by_side
from netlib.fidelity.peaks import CLOSE, CURVES, FAR, NEAR, Peak, curve, far, peaks, within
from netlib.fidelity.rows import published_rows
from netlib.fidelity.score import Judged, judged_rows
from netlib.units import show


def peaks_board() -> str:
    """The large messages: how many rows, and how many within 5 % and within 10 %, of both models."""
    found = peaks()
    lines = [
        "| GPU | where | rows | within 5 % | within 10 % | worst | NCCL's plan within 5 % | within 10 % |",
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for gpu, several in sorted({(peak.gpu, peak.several) for peak in found}):
        group = [peak for peak in found if (peak.gpu, peak.several) == (gpu, several)]
        lines.append(f"| {gpu} | {'several nodes' if several else 'one node'} | {_counts(group)} |")
    return "\n".join([*lines, f"| all | | {_counts(found)} |"])


def _counts(group: Sequence[Peak]) -> str:
    worst = max(group, key=lambda peak: abs(peak.error))
    plans = [abs(peak.row.tuner_error) for peak in group if peak.row.tuner_error is not None]
    close, near = (f"{sum(error <= limit for error in plans)} of {len(plans)}" for limit in (CLOSE, NEAR))
    return (
        f"{len(group)} | {within(group, CLOSE)} ({within(group, CLOSE) / len(group):.0%}) | {within(group, NEAR)} "
        f"| {worst.error:+.1%} (`{worst.row.id}`) | {close} | {near}"
    )


def peaks_far() -> str:
    """Every peak that is not within 5 %, by cause."""
    errors = {peak.row.id: f"`{peak.row.id}` {peak.error:+.1%}" for peak in far()}
    return "\n".join(f"* **{each.title}** ({', '.join(errors[id] for id in each.rows)}). {each.reason}" for each in FAR)


def curves() -> str:
    """The curves to 8,192 GPUs: mean error of both models."""
    lines = ["| curve | rows | mean error | worst | NCCL's plan: mean error |", "|---|--:|--:|--:|--:|"]
    for prefix, name in CURVES.items():
        rows = curve(prefix)
        worst = max(rows, key=lambda row: abs(row.rel_error or 0))
        plans = [abs(row.tuner_error) for row in rows if row.tuner_error is not None]
        lines.append(
            f"| `{prefix}`: {name} | {len(rows)} | {mean(abs(row.rel_error or 0) for row in rows):.1%} "
            f"| {worst.rel_error:+.0%} (`{worst.id}`) | {mean(plans):.0%} |"
        )
    return "\n".join(lines)


def second_model() -> str:
    """Each group of busbw: median errors of the two models, and which is closer how often."""
    groups: dict[str, list[tuple[float, float]]] = {}
    for row in judged_rows():
        if row.rel_error is not None and row.tuner_error is not None:
            groups.setdefault(row.group, []).append((abs(row.rel_error), abs(row.tuner_error)))
    lines = [
        "| group | rows | first model: median | NCCL's plan: median | the plan is closer |",
        "|---|--:|--:|--:|--:|",
    ]
    for group, errors in sorted(groups.items()):
        first, plan = zip(*errors, strict=True)
        closer = sum(b < a for a, b in errors)
        lines.append(f"| {group} | {len(errors)} | {median(first):.1%} | {median(plan):.1%} | {closer} |")
    return "\n".join(lines)


def choices() -> str:
    """What NCCL was seen to choose, beside the tuner's choice: one line for each row, with its set-up."""
    rows = {row["id"]: row for row in published_rows()}
    lines = ["| row | GPU | ranks | message | chosen and seen |", "|---|---|--:|--:|---|"]
    for judged in judged_rows():
        if judged.group.startswith("selection"):
            row = rows[judged.id]
            size = show(float(row["message_bytes"]), "GiB" if float(row["message_bytes"]) >= 2**30 else "KiB")
            lines.append(f"| `{judged.id}` | {row['gpu']} | {row['ranks']} | {size} | {judged.note} |")
    return "\n".join(lines)


def training_board() -> str:
    """Published training runs: utilisation as printed, counted from the printed time, and of the model."""
    lines = [
        "| run | kind | printed | counted | model | nothing hidden | model / printed |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for run in side_by_side():
        counted = "" if run.counted is None else f"{run.counted:.1%}"
        lines.append(
            f"| {run.id} | {run.kind.upper()} | {run.printed:.1%} | {counted} | {run.modelled:.1%} | {run.bare:.1%} "
            f"| {run.ratio:.2f} |"
        )
    return "\n".join(lines)


def plan_of(row: Judged) -> str:
    """A row's second model for a table: value and error, blank where it has none."""
    return "" if row.tuner is None or row.tuner_error is None else f"{row.tuner:.4g} ({row.tuner_error:+.0%})"
