"""nccl-tests rows: one printed line becomes numbers in SI.

A row is found by its middle, not by its beginning: the type word (`float`, `half` ...) with two integers before it and
numbers behind it. Whatever a launcher or a log puts in front of or behind a row then does not matter, and neither do
the identity columns, which differ by collective and by version (`redop`, `root`, both, neither, or a blank).
Formats: NVIDIA/nccl-tests src/common.cu and src/util.cu, 2017 to v2.18; NVIDIA/nccl 1.x for the `bytes N` table.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from netlib import units
from netlib.fieldwork.nccl_cells import Cell, read_cell, read_size

TYPE_BYTES = {
    "int8": 1, "char": 1, "uint8": 1, "f8e4m3": 1, "f8e5m2": 1, "fp8_e4m3": 1, "fp8_e5m2": 1,
    "half": 2, "bfloat16": 2, "int32": 4, "int": 4, "uint32": 4, "float": 4,
    "int64": 8, "uint64": 8, "double": 8,
}  # fmt: skip
REDOPS = ("sum", "prod", "max", "min", "avg", "mulsum", "none")


@dataclass(frozen=True)
class Layout:
    """The columns of a table as its header names them: before the first time, and within each half.

    >>> read_layout("#  size   count  type  redop  time  algbw  busbw  error  time  algbw  busbw  error").identity
    ('size', 'count', 'type', 'redop')
    """

    identity: tuple[str, ...] = ()
    half: tuple[str, ...] = ("time", "algbw", "busbw", "wrong")
    halves: int = 2
    time_power: int = -6  # the time column is in 10**this seconds
    unknown: tuple[str, ...] = ()

    @property
    def known(self) -> bool:
        """Whether a header was read at all."""
        return bool(self.identity)


@dataclass(frozen=True)
class Row:
    """One row: bytes, seconds, bytes/s. `redop` is "" for a blank column, None for no column; `root` likewise None."""

    line: int
    size: float
    count: float
    type: str
    redop: str | None
    root: int | None
    out: Mapping[str, Cell] = field(default_factory=dict)
    inplace: Mapping[str, Cell] = field(default_factory=dict)
    problem: str = ""


_NAMES = {"bytes": "size", "n": "count", "op": "redop", "res": "error", "cputime": "time", "#wrong": "wrong"}
_IDENTITY = ("size", "count", "type", "redop", "root")
_HALF = ("time", "algbw", "busbw", "wrong", "error", "i_min", "i_max", "i_p99", "i_cv%")
_HEADER_START = re.compile(r"#\s*(?:size|bytes)\b")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_TAG = re.compile(r"^.*?<std(?:out|err)>:")
_LABEL = re.compile(r"^\s*(?:>\s*)*(?:\[?\d+\]?:(?=\s|#)|\[\d+\](?=\s))?")
_UNIT_APART = re.compile(r"(?<=\d)\s+(?=(?:[KMGT]i?B|GB/s|GBps|us|ms)\b)")
_RANK_TAG = re.compile(r"(?<!\S)\[\d+\](?!\S)")
_LAST_NUMBER = re.compile(r"^(N/A|\d+(?:\.\d+)?(?:e[-+]\d+)?)(?=[A-Za-z\[])", re.IGNORECASE)


def clean(line: str) -> str:
    """The line without colour codes, launcher tags, labels and table pipes.

    >>> clean("[1,0]<stdout>:# Avg bus bandwidth"), clean(" 0: #  size"), clean("| 8 | 2 | float |")
    ('# Avg bus bandwidth', ' #  size', '  8   2   float  ')
    """
    line = _TAG.sub("", _ANSI.sub("", line).replace("&lt;", "<").replace("&gt;", ">"))
    return _UNIT_APART.sub("", _LABEL.sub("", line, count=1).replace("|", " "))


def read_layout(line: str) -> Layout | None:
    """The layout that a column-header line declares, or None if it is no such line."""
    if start := _HEADER_START.search(line):
        line = line[start.start() :]  # a launcher's label stands before
    words = [word.lower() for word in line.replace("#wrong", " #wrong").replace("**", "").split()]
    names = [_NAMES.get(word, _NAMES.get(word.lstrip("#"), word.lstrip("#"))) for word in words]
    names = ["wrong" if name == "#wrong" else name for name in names if name not in ("", "timestamp")]
    if not {"algbw", "busbw"} & set(names) or not {"size", "time"} & set(names):
        return None
    first = names.index("time") if "time" in names else len(names)
    times = names.count("time")
    half = tuple(names[first:])
    if times > 1:
        half = half[: half.index("time", 1)]
    unknown = tuple(name for name in names if name not in _IDENTITY + _HALF)
    if not unknown and (
        not times or half * times != tuple(names[first:]) or names[0] != "size" or set(names[:first]) - set(_IDENTITY)
    ):
        unknown = tuple(names)
    identity = tuple(names[:first])
    power = -3 if "bytes" in [word.lstrip("#") for word in words] else -6  # the `bytes N` table prints ms
    return Layout(identity, half, max(times, 1), power, unknown)


def read_row(line: str, number: int, layout: Layout) -> Row | str | None:
    """The row in a (cleaned) line; a sentence if there is half of one; None if there is none."""
    if layout.unknown:
        return None
    line = _RANK_TAG.sub(" ", line)
    words = line.split()
    if layout.known and "type" not in layout.identity:
        return _bare_row(words, number, layout)
    for i in range(2, len(words)):
        if words[i] in TYPE_BYTES:
            size, count = read_size(words[i - 2]), read_size(words[i - 1])
            if size is not None and count is not None:
                gap = re.search(rf"(?<!\S){words[i]}(\s+)", line)
                return _typed_row(words, i, size, count, len(gap.group(1)) if gap else 0, number, layout)
    # what is left when a log line was printed over the beginning of a row: the two numeric halves
    cells = [word for word in words if read_cell(word) is not None]
    if len(words) >= 8 and words[-8:] == cells[-8:] and "." in words[-7] and "." in words[-3]:
        return f"Line {number} holds the end of a row whose size is missing; it was left out."
    return None


def _bare_row(words: list[str], number: int, layout: Layout) -> Row | None:
    """A row of a shortened table without types: one word per column, the first a size."""
    names = layout.identity + layout.half * layout.halves
    if len(words) != len(names) or layout.identity[:1] != ("size",):
        return None
    identity = dict(zip(layout.identity, words, strict=False))
    size, count = read_size(identity["size"]), read_size(identity.get("count", ""))
    halves = _halves(words[len(layout.identity) :], layout)
    if size is None or len(halves) != layout.halves:
        return None
    return Row(number, size, math.nan if count is None else count, "", None, None, halves[0], (halves[1:] or [{}])[0])


def _typed_row(words: list[str], i: int, size: float, count: float, gap: int, number: int, layout: Layout) -> Row | str:
    dtype, tail = words[i], words[i + 1 :]
    if size < count * TYPE_BYTES[dtype]:
        return f"Line {number} prints fewer bytes ({size:.0f}) than its {count:.0f} elements need; it was left out."
    redop: str | None = None
    if tail and tail[0] in REDOPS:
        redop = tail.pop(0)
    elif "redop" in layout.identity or (not layout.known and gap >= 8):
        redop = ""  # the column is there and blank; times are at most 7 wide, so a wide gap shows it without a header
    root: int | None = None
    # a time below 10,000 us always has decimals, so a short integer here is the root
    if tail and re.fullmatch(r"-?\d{1,4}", tail[0]) and ("root" in layout.identity or not layout.known):
        root = int(tail.pop(0))
    halves = _halves(tail, layout)
    if not halves:
        return f"Line {number} ({units.size_name(size)}) is cut before its first result; it was left out."
    problem = ""
    if len(halves) < layout.halves and layout.known:
        problem = f"Line {number} ({units.size_name(size)}) is cut; only its out-of-place half was read."
    return Row(number, size, count, dtype, redop, root, halves[0], (halves[1:] or [{}])[0], problem)


def _halves(words: list[str], layout: Layout) -> list[dict[str, Cell]]:
    """The complete halves at the beginning of `words`."""
    halves: list[dict[str, Cell]] = []
    for start in range(0, layout.halves * len(layout.half), len(layout.half)):
        half: dict[str, Cell] = {}
        for name, word in zip(layout.half, words[start : start + len(layout.half)], strict=False):
            power = layout.time_power if name == "time" else 9 if name in ("algbw", "busbw") else 0
            cell = read_cell(word, power)
            if cell is None and name in ("wrong", "error") and (glued := _LAST_NUMBER.match(word)):
                cell = read_cell(glued.group(1))  # a log line followed without a line break
            if cell is None:
                return halves
            half["wrong" if name == "error" else name] = cell
        if len(half) < len(layout.half):
            return halves
        halves.append(half)
    return halves
