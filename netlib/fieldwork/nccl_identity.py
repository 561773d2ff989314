"""Which collective and how many ranks, from the numbers of a table alone.

Three independent witnesses: the identity columns (redop, root), size / (count x bytes per element), which is n for the
collectives whose size counts n blocks and 1 for the others, and busbw / algbw, which is a formula of n:
all_reduce 2(n-1)/n, all_gather and its relatives (n-1)/n, the others 1. Printed numbers are rounded, so each ratio is
an interval, and it names a rank count only if exactly one integer fits.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats
from netlib.collectives import OPS, busbw_factor
from netlib.fieldwork.nccl_cells import Half, half_of
from netlib.fieldwork.nccl_rows import TYPE_BYTES, Layout, Row

BLOCKS = ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter", "hypercube")  # size counts n blocks
_SHRINKING = ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter")  # factor (n-1)/n


def factor_bounds(size: Floats, halves: Sequence[Half]) -> tuple[float, float]:
    """The interval of busbw / algbw that all printed cells allow; if they contradict each other, the largest row's.

    (0, inf) when no cell says anything.
    """
    low, high, of = [0.0], [math.inf], [-1.0]
    for half in halves:
        (alg_low, alg_high), (bus_low, bus_high) = half.span("algbw"), half.span("busbw")
        told = np.isfinite(alg_high) & np.isfinite(bus_high) & (alg_low > 0)
        low.extend(bus_low[told] / alg_high[told])
        high.extend(bus_high[told] / alg_low[told])
        of.extend(size[told])
    if max(low) <= min(high):
        return float(max(low)), float(min(high))
    last = int(np.argmax(of))
    return float(low[last]), float(high[last])


def _bounds(rows: Sequence[Row]) -> tuple[float, float]:
    size = np.array([row.size for row in rows])
    return factor_bounds(size, [half_of([row.out for row in rows]), half_of([row.inplace for row in rows])])


def ranks_from_factor(op: str, low: float, high: float) -> tuple[float, float]:
    """The smallest and the largest rank count whose busbw factor lies between `low` and `high`.

    >>> ranks_from_factor("all_reduce", 1.8749, 1.8751), ranks_from_factor("all_gather", 0.9, 1.1)
    ((16, 16), (10, inf))
    """
    top = 2.0 if op == "all_reduce" else 1.0
    if op != "all_reduce" and op not in _SHRINKING:
        return 1, math.inf
    least = math.ceil(top / (top - low) - 1e-9) if low < top else math.inf
    most = math.floor(top / (top - high) + 1e-9) if high < top else math.inf
    return max(1, least), most


def blocks_per_row(rows: Sequence[Row]) -> int | None:
    """size / (count x bytes per element) when every row agrees on one integer, else None."""
    found = {row.size / (row.count * TYPE_BYTES[row.type]) for row in rows if row.type in TYPE_BYTES and row.count > 0}
    ratio = found.pop() if len(found) == 1 else 0.5
    return int(ratio) if ratio == int(ratio) else None


@dataclass(frozen=True)
class Identity:
    """The collective and its rank count, each with the witness that named it; `candidates` are the ops that fit."""

    op: str | None
    op_from: str
    candidates: tuple[str, ...]
    ranks: int | None
    ranks_from: str
    problems: tuple[str, ...]


def by_columns(rows: Sequence[Row], layout: Layout) -> tuple[str, ...]:
    """The collectives that print such identity columns."""
    if not rows or not any(row.type for row in rows):
        return OPS
    redops, roots = {row.redop for row in rows}, {row.root for row in rows}
    if None not in redops and None not in roots:  # 2021 and later: both columns, with placeholders
        rooted = min(root for root in roots if root is not None) >= 0
        reducing = "none" not in redops and "" not in redops
        if rooted:
            return ("reduce",) if reducing else ("broadcast", "gather", "scatter")
        return ("all_reduce", "reduce_scatter", "sendrecv") if reducing else ("all_gather", "alltoall", "hypercube")
    if None not in roots:
        return ("broadcast", "gather", "scatter")
    if redops == {""}:
        return ("alltoall",)
    if None not in redops:
        return ("all_reduce", "reduce_scatter", "sendrecv")
    # without a header a blank redop column looks like none at all, unless the spacing survived
    return ("all_gather", "hypercube") if layout.known else ("all_gather", "alltoall", "hypercube")


def candidates(rows: Sequence[Row], layout: Layout, counted: bool, ranks: int | None) -> tuple[str, ...]:
    """The collectives that fit the columns, the sizes, the busbw factor and the validation cells.

    `counted`: the last column counts wrong elements (2021 and later); those versions never validate alltoall and
    sendrecv in place. `ranks`: the rank count, where something else tells it.
    """
    ops, blocks, (low, high) = by_columns(rows, layout), blocks_per_row(rows), _bounds(rows)
    if high < 0.5:  # no collective of two or more ranks has a factor below one half
        ranks = 1
    fitting = []
    for op in ops:
        if blocks is not None and (blocks > 1) != (op in BLOCKS) and not (blocks == 1 and ranks == 1):
            continue
        n = blocks if blocks and blocks > 1 else ranks
        if n is not None:
            factor = float(busbw_factor(n, op))
            # tables of 2018 and before print algbw = busbw for these, see nccl_check
            fits = low <= factor <= high or (op in _SHRINKING and low <= 1 <= high and n > 1 and not counted)
        else:
            least, most = ranks_from_factor(op, low, high)
            fits = least <= most and (op == "all_reduce" or op in _SHRINKING or low <= 1 <= high)
        if fits:
            fitting.append(op)
    if counted:
        outside = any(math.isfinite(row.out["wrong"].value) for row in rows if "wrong" in row.out)
        inside = [row.inplace["wrong"].value for row in rows if "wrong" in row.inplace]
        if outside and inside:
            unchecked = all(math.isnan(value) for value in inside)
            fitting = [op for op in fitting if (op in ("alltoall", "sendrecv")) == unchecked]
    return tuple(fitting)


def identify(
    rows: Sequence[Row],
    layout: Layout,
    counted: bool,
    given: tuple[str | None, int | None],
    named: Sequence[str],
    listed: tuple[int | None, str],
    log_ranks: set[int],
) -> Identity:
    """Weigh the witnesses: what the caller says, what the text names, what the numbers allow."""
    problems: list[str] = []
    op, ranks = given
    likely = ranks or listed[0] or (max(log_ranks) if log_ranks else None)
    fitting = candidates(rows, layout, counted, likely) or candidates(rows, layout, counted, None)
    op_from = "given" if op else ""
    if op is None and named:
        op, op_from = named[-1], "command"
        if fitting and op not in fitting:
            problems.append(f"The text names {op}, but the numbers fit {' or '.join(fitting)}.")
    if op is None and len(fitting) == 1:
        op, op_from = fitting[0], "columns"
    found, how, doubt = _ranks(rows, op, fitting, listed, log_ranks)
    if ranks is not None:
        if found not in (None, ranks) and how != "device list":
            problems.append(f"ranks = {ranks} was given, but {how} says {found}.")
        return Identity(op, op_from, fitting, ranks, "given", tuple(problems))
    return Identity(op, op_from, fitting, found, how, tuple(problems + doubt))


def _ranks(
    rows: Sequence[Row], op: str | None, fitting: Sequence[str], listed: tuple[int | None, str], log_ranks: set[int]
) -> tuple[int | None, str, list[str]]:
    """The rank count, the witness, and what contradicts it."""
    low, high = _bounds(rows)
    blocks = blocks_per_row(rows)
    ops = [op] if op else list(fitting)
    spans = {ranks_from_factor(o, low, high) for o in ops if o == "all_reduce" or o in _SHRINKING}
    least, most = spans.pop() if len(spans) == 1 else (1, math.inf)
    if blocks and blocks > 1 and ops and all(o in BLOCKS for o in ops):
        least = most = blocks
    device_ranks, device_how = listed
    if device_ranks is not None and least <= device_ranks <= most:
        return device_ranks, device_how, []
    if least == most and math.isfinite(least):
        how = "size / count" if blocks == least and blocks > 1 else "busbw / algbw"
        doubt = []
        if device_ranks is not None:
            doubt.append(
                f"The device list has {device_ranks} ranks, but {how} says {int(least)}: the list is shortened, "
                "is of another run, or the run was split into groups (NCCL_TESTS_SPLIT)."
            )
        return int(least), how, doubt
    inside = [n for n in log_ranks if least <= n <= most]
    if len(inside) == 1:
        return inside[0], "log", []
    if device_ranks is not None and (least > most or math.isinf(least)):
        return device_ranks, device_how, ["busbw / algbw fits no rank count, so only the device list names it."]
    if least <= most and math.isfinite(most) and len(spans) == 0 and ops:
        return None, "", [f"busbw / algbw allows {int(least)} to {int(most)} ranks; give ranks=."]
    return None, "", ["The text does not tell the number of ranks; give ranks=."]
