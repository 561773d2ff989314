"""Printed algbw and busbw, recomputed from size and time.

algbw = size / time and busbw = algbw x factor(op, n): two formulas that a table prints beside their inputs. Where a
table breaks them beyond its own rounding, it was edited, it counts bytes otherwise, or its op or rank count is not
what we think.
"""

import numpy as np

from netlib.arguments import Floats
from netlib.collectives import OPS, busbw_factor
from netlib.fieldwork.nccl_cells import Half
from netlib.fieldwork.nccl_identity import factor_bounds, ranks_from_factor
from netlib.fieldwork.nccl_tests import NcclTests
from netlib.units import size_name

_KNOWN_RATIOS = (
    (1e9 / 2**30, "the bandwidths are GiB/s, not GB/s"),
    (2**30 / 1e9, "the bandwidths are 7.4 % too high, as if GiB/s had been converted twice"),
    (8.0, "the bandwidths are Gb/s, not GB/s"),
    (1 / 8, "the bandwidths are 8 times too low"),
    (1e-3, "the times are in ms, not us"),
    (1e3, "the times are in ns, not us"),
)


def recomputed(table: NcclTests, half: Half | None = None) -> tuple[Floats, Floats]:
    """`(algbw, busbw)` in bytes/s from size and time alone (the out-of-place half unless `half` is given).

    NaN where there is no time, and for busbw where the op or the rank count is not known. hypercube counts only the
    (n-1)/n of its size that travel, as nccl-tests does.

    >>> from netlib.fieldwork import read_nccl_tests
    >>> algbw, busbw = recomputed(read_nccl_tests("1048576  262144  float  sum  -1  52.94  19.81  34.66  0"))
    >>> round(float(busbw[0]) / 1e9, 2)
    34.66
    """
    half = half or table.out
    sent = np.where(half.time > 0, table.size, np.nan)
    algbw = sent / np.where(half.time > 0, half.time, np.nan)
    if table.op not in OPS or table.ranks is None:
        return algbw, np.full_like(algbw, np.nan)
    if table.op == "hypercube":
        algbw = algbw * (table.ranks - 1) / table.ranks
    return algbw, algbw * busbw_factor(table.ranks, table.op)


def disagreements(table: NcclTests) -> list[str]:
    """Where the printed bandwidths differ from the recomputed ones by more than rounding, and what would explain it.

    An empty list means that every cell agrees. Sentences, out-of-place and in-place together.

    >>> from netlib.fieldwork import read_nccl_tests
    >>> disagreements(read_nccl_tests("1048576  262144  float  sum  -1  52.94  19.81  34.66  0"))
    []
    """
    found = []
    ratio, worst, wrong, cells = _algbw_ratios(table)
    if wrong:
        found.append(
            f"algbw differs from size / time beyond rounding in {wrong} of {cells} cells"
            f" (worst at {size_name(worst)}: printed / computed = {ratio:.4g}){_explained_algbw(table, ratio)}."
        )
    if table.op in OPS and table.ranks is not None:
        wrong, cells = _busbw_misses(table, float(busbw_factor(table.ranks, table.op)))
        if wrong:
            factor = float(busbw_factor(table.ranks, table.op))
            found.append(
                f"busbw differs from algbw x {factor:.4g} ({table.op}, {table.ranks} ranks) beyond rounding in {wrong} "
                f"of {cells} cells{_explained_busbw(table)}."
            )
    return found


def _halves(table: NcclTests) -> list[Half]:
    return [half for half in (table.out, table.inplace) if half.present]


def _algbw_ratios(table: NcclTests) -> tuple[float, float, int, int]:
    """(printed / computed at the worst cell, its size, wrong cells, cells)."""
    ratios: list[float] = []
    sizes: list[float] = []
    cells = 0
    for half in _halves(table):
        computed = recomputed(table, half)[0]
        (time_low, time_high), (low, high) = half.span("time"), half.span("algbw")
        told = np.isfinite(computed) & np.isfinite(high) & (time_low > 0) & (table.size > 0)
        cells += int(told.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            apart = told & ((high < computed * half.time / time_high) | (low > computed * half.time / time_low))
        ratios.extend(half.algbw[apart] / computed[apart])
        sizes.extend(table.size[apart])
    if not ratios:
        return 1.0, 0.0, 0, cells
    # a printed 0.00 says least, so it is the worst only if nothing else is
    worst = int(np.argmax([abs(np.log(ratio)) if ratio > 0 else 0.0 for ratio in ratios]))
    return float(ratios[worst]), float(sizes[worst]), len(ratios), cells


def _explained_algbw(table: NcclTests, ratio: float) -> str:
    n = table.ranks
    if n and n > 1 and abs(ratio * n / (n - 1) - 1) < 0.01:
        return f": it counts (n-1)/n of the bytes for n = {n}, as nccl-tests of 2018 and before does"
    for known, meaning in _KNOWN_RATIOS:
        if abs(ratio / known - 1) < 0.01:
            return f": {meaning}"
    return ""


def _busbw_misses(table: NcclTests, factor: float) -> tuple[int, int]:
    """(cells that no rounding explains, cells)."""
    wrong = cells = 0
    for half in _halves(table):
        (alg_low, alg_high), (low, high) = half.span("algbw"), half.span("busbw")
        told = np.isfinite(alg_high) & np.isfinite(high)
        cells += int(told.sum())
        wrong += int((told & ((high < alg_low * factor) | (low > alg_high * factor))).sum())
    return wrong, cells


def _explained_busbw(table: NcclTests) -> str:
    """The ops, or the rank counts of this op, whose factor the printed columns do follow."""
    low, high = factor_bounds(table.size, _halves(table))
    n, op = table.ranks or 1, table.op or ""
    ops = [other for other in OPS if low <= float(busbw_factor(n, other)) <= high]
    if ops:
        return f": with {n} ranks the factor is that of {' or '.join(ops)}"
    least, most = ranks_from_factor(op, low, high)
    if least == most:
        return f": the factor is that of {op} with {int(least)} ranks"
    return f": the printed factor lies between {low:.4g} and {high:.4g}"
