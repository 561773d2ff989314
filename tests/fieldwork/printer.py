"""Prints tables as nccl-tests prints them, independently of the reader: the other half of the round trip.

The bandwidths come from size and time by the definitions (algbw = size / time, busbw = algbw x factor), written out
here once more so that the reader's own factor is tested and not shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

BYTES = {"float": 4, "half": 2, "bfloat16": 2, "double": 8, "int8": 1, "uint8": 1, "int32": 4, "f8e4m3": 1}
BLOCKS = ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter", "hypercube")


def factor(op: str, n: int) -> float:
    """busbw / algbw."""
    if op == "all_reduce":
        return 2 * (n - 1) / n
    if op in ("all_gather", "reduce_scatter", "alltoall", "gather", "scatter"):
        return (n - 1) / n
    return 1.0


@dataclass(frozen=True)
class Line:
    """One row to print: bytes, microseconds out-of-place and in-place, wrong elements (None prints N/A)."""

    size: int
    out_us: float
    in_us: float
    wrong: int | None = 0


def number(value: float, width: int, decimals: int = 2) -> str:
    """Two decimals where they fit, as nccl-tests prints times and bandwidths."""
    for places in range(decimals, -1, -1):
        text = f"{value:.{places}f}"
        if len(text) <= width - (1 if places else 0):
            break
    return text.rjust(width)


def half(op: str, n: int, size: int, us: float, wrong: str) -> str:
    """time, algbw, busbw and the last column."""
    travels = size * (n - 1) / n if op == "hypercube" else size
    algbw = travels / us / 1e3
    return f"  {number(us, 7)}  {algbw:6.2f}  {algbw * factor(op, n):6.2f}  {wrong:>5}"


def identity(op: str, layout: str) -> tuple[str, int | None]:
    """(redop, root) as printed: '' stands for a blank column, None for no column."""
    reduces = op in ("all_reduce", "reduce_scatter", "reduce", "sendrecv")
    rooted = op in ("broadcast", "reduce", "gather", "scatter")
    if layout == "2021":
        return ("sum" if reduces else "none"), (0 if rooted else -1)
    if op in ("all_gather", "hypercube"):
        return "no", None
    return ("sum" if reduces else "" if op == "alltoall" else "no"), (0 if rooted else None)


def header(op: str, layout: str) -> list[str]:
    """The three column-header lines."""
    redop, root = identity(op, layout)
    names = f"{'redop':>8}" * (redop != "no") + f"{'root':>8}" * (root is not None)
    last = "#wrong" if layout == "2021" else " error"
    block = f"     time   algbw   busbw {last}"
    return [
        f"#{'out-of-place':>74}{'in-place':>35}",
        f"#       size         count      type{names}{block}{block}",
        "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
    ]


def row(op: str, n: int, line: Line, dtype: str = "float", layout: str = "2021") -> str:
    """One data row."""
    redop, root = identity(op, layout)
    count = line.size // (BYTES[dtype] * (n if op in BLOCKS else 1))
    words = f"{line.size:12d}  {count:12d}  {dtype:>8}"
    if redop != "no":
        words += f"  {redop:>6}"
    if root is not None:
        words += f"  {root:6d}"
    wrong = "N/A" if line.wrong is None else f"{line.wrong:g}" if layout == "2021" else f"{line.wrong:.0e}"
    unchecked = layout == "2021" and op in ("alltoall", "sendrecv")
    return (
        words
        + half(op, n, line.size, line.out_us, wrong)
        + half(op, n, line.size, line.in_us, "N/A" if unchecked else wrong)
    )


def devices(n: int, per_host: int, layout: str = "2021") -> list[str]:
    """The device list."""
    group = "Group  0 " if layout == "2021" else ""
    lines = ["# Using devices"]
    for i in range(n):
        host, index = divmod(i, per_host)
        place = f"node{host:03d} device {index:2d} [0000:{index:02x}:00]"
        lines.append(f"#  Rank {i:2d} {group}Pid {4000 + i:6d} on {place} Invented GPU")
    return lines


def first_line(lines: Sequence[Line], validation: int = 1) -> str:
    """The `# nThread` line."""
    return (
        f"# nThread 1 nGpus 1 minBytes {lines[0].size} maxBytes {lines[-1].size} step: 2(factor) "
        f"warmup iters: 5 iters: 20 agg iters: 1 validation: {validation} graph: 0"
    )


def footer(op: str, n: int, lines: Sequence[Line]) -> list[str]:
    """Out of bounds and the plain mean of both halves over all rows."""
    cells = [factor(op, n) * s.size / us / 1e3 for s in lines for us in (s.out_us, s.in_us)]
    if op == "hypercube":
        cells = [cell * (n - 1) / n for cell in cells]
    wrong = sum(line.wrong or 0 for line in lines)
    return [
        f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}",
        f"# Avg bus bandwidth    : {sum(cells) / len(cells):g} ",
        "#",
    ]


def table(op: str, n: int, lines: Sequence[Line], dtype: str = "float", layout: str = "2021", per_host: int = 8) -> str:
    """A whole run."""
    return "\n".join(
        [first_line(lines), "#", *devices(n, per_host, layout), "#", *header(op, layout)]
        + [row(op, n, line, dtype, layout) for line in lines]
        + footer(op, n, lines)
    )


def sweep(op: str, n: int, first: int, last: int, floor_us: float, peak_gbs: float) -> list[Line]:
    """An invented, smooth curve: floor_us + size x factor / peak."""
    lines, size = [], first
    while size <= last:
        us = floor_us + size * max(factor(op, n), 0.5) / peak_gbs / 1e3
        lines.append(Line(size, us, us * 0.99))
        size *= 2
    return lines
