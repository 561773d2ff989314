"""nccl-tests reader: what a practitioner pastes becomes arrays in SI.

`read_nccl_tests` never stops at odd text: what it cannot read it leaves out and says so in `problems`. It refuses, in
one sentence, only a text that holds no nccl-tests table at all (or that of a cousin, whose numbers mean other things).
Read with the chapter "Collectives", section "Reading a log". Works for rccl-tests too.
"""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats
from netlib.collectives import OPS
from netlib.fieldwork.nccl_cells import Half, half_of
from netlib.fieldwork.nccl_identity import identify
from netlib.fieldwork.nccl_json import looks_like_json, scan_json
from netlib.fieldwork.nccl_rows import clean, read_layout
from netlib.fieldwork.nccl_scan import Device, Header, Section, out_of_order, scan


@dataclass(frozen=True, eq=False)
class NcclTests:
    """One nccl-tests table. Arrays have one entry per row: bytes, elements, type, and two halves (see Half).

    `op` is the collective's nccl-tests name or None; `op_from` says how it is known (given, command, columns);
    `candidates` are the collectives that fit the numbers. `ranks` and `ranks_from` likewise (given, device list, last
    device line, size / count, busbw / algbw, log). `average` is the printed "Avg bus bandwidth" in bytes/s.
    `counts_wrong` is True for "#wrong" tables, False for the older "error". `copies` > 1: several runs printed into
    this table. `problems` are sentences: what was left out, what contradicts what.
    """

    op: str | None
    op_from: str
    candidates: tuple[str, ...]
    ranks: int | None
    ranks_from: str
    size: Floats
    count: Floats
    type: NDArray[np.str_]
    redop: NDArray[np.str_]
    root: NDArray[np.int64]
    out: Half
    inplace: Half
    header: Header
    devices: tuple[Device, ...]
    average: float | None
    average_ok: bool | None
    out_of_bounds: int | None
    counts_wrong: bool
    cpu_time: bool
    copies: int
    problems: tuple[str, ...]

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts of the device list, in order; empty unless the list names every rank."""
        names = tuple(dict.fromkeys(device.host for device in self.devices if device.host))
        return names if self.ranks is not None and len({d.rank for d in self.devices}) == self.ranks else ()

    @property
    def types(self) -> tuple[str, ...]:
        """The element types, in order of appearance."""
        return tuple(dict.fromkeys(str(name) for name in self.type))


EXAMPLE = "1048576  262144  float  sum  -1  52.94  19.81  34.66  0  53.47  19.61  34.32  0"
_COUSINS = (
    ("nccom-test (AWS Neuron)", re.compile(r"time:avg\(us\)|\bnccom-test\b")),
    ("all_reduce_bench.py (PyTorch)", re.compile(r"\bpayload\b.*\bbusbw\b.*\balgbw\b|\ball_reduce_bench\b")),
    ("perftest (ib_write_bw and its relatives)", re.compile(r"#bytes\s+#iterations")),
    ("the OSU micro-benchmarks", re.compile(r"#\s*OSU (?:MPI|NCCL)")),
)


def read_nccl_tests(
    text: str | bytes | os.PathLike[str] | Iterable[str], op: str | None = None, ranks: int | None = None
) -> NcclTests:
    """The (first) nccl-tests table of a text, a file or a list of lines.

    `op` and `ranks` overrule what the text says; give them where `problems` asks for them.
    Raises ValueError, in one sentence, if there is no table to read.

    >>> table = read_nccl_tests(EXAMPLE)
    >>> table.op, table.ranks, table.ranks_from, float(table.out.time[0])
    ('all_reduce', 8, 'busbw / algbw', 5.294e-05)
    """
    return read_all(text, op, ranks)[0]


def read_all(
    text: str | bytes | os.PathLike[str] | Iterable[str], op: str | None = None, ranks: int | None = None
) -> tuple[NcclTests, ...]:
    """Every nccl-tests table of a text, in order; see `read_nccl_tests`.

    >>> [float(table.size[0]) for table in read_all([EXAMPLE, "# Avg bus bandwidth : 34.49", EXAMPLE])]
    [1048576.0, 1048576.0]
    """
    if ranks is not None and not (isinstance(ranks, int | np.integer) and 1 <= ranks < 2**53):
        raise ValueError(f"ranks = {ranks!r} must be a whole number, at least 1, or None to read it from the text")
    if op is not None and op not in OPS:
        raise ValueError(f"op = {op!r} is not an nccl-tests operation; use one of {', '.join(OPS)}, or None")
    content = _content(text)
    sections = scan_json(content) if looks_like_json(content) else []
    if not any(section.rows for section in sections):
        sections += scan(content.splitlines())
    tables = [section for section in sections if section.rows]
    cousin = next((name for name, mark in _COUSINS if mark.search(content)), None)
    if not tables:
        raise ValueError(_refusal(content, sections, cousin))
    notes = [f"The text also holds output of {cousin}, which was not read."] if cousin else []
    if len(tables) > 1:
        notes.append(f"The text holds {len(tables)} tables; read_all returns each of them.")
    for section in sections:
        if not section.rows and (section.columns or section.headers):
            notes.append(f"One run has no rows{_first_error(section)}.")
    return tuple(_table(section, op, ranks, notes) for section in tables)


def measured(table: NcclTests, type: str | None = None) -> tuple[Floats, Floats, Floats]:
    """`(size, time, busbw)` to fit or plot: the out-of-place half, or the in-place half where only that was printed.

    Rows without bytes or time are dropped. A table of several types needs `type`: they run at different speeds.

    >>> size, time, busbw = measured(read_nccl_tests(EXAMPLE))
    >>> float(size[0]), float(time[0]), float(busbw[0])
    (1048576.0, 5.294e-05, 34660000000.0)
    """
    if type is None and len(table.types) > 1:
        raise ValueError(f"the table holds the types {', '.join(table.types)}: choose one with type=")
    if type is not None and type not in table.types:
        raise ValueError(f"type = {type!r} is not in the table; it holds {', '.join(table.types)}")
    half = table.out if table.out.present else table.inplace
    keep = (table.size > 0) & (half.time > 0)
    if type is not None:
        keep &= table.type == type
    return table.size[keep], half.time[keep], half.busbw[keep]


def _content(text: str | bytes | os.PathLike[str] | Iterable[str]) -> str:
    """The text itself, whatever it came in."""
    if isinstance(text, str) and "\n" not in text and len(text) < 1024 and os.path.isfile(text):
        text = Path(text)
    if isinstance(text, os.PathLike):
        try:
            text = Path(text).read_bytes()
        except OSError as error:
            raise ValueError(f"text = {str(text)!r} cannot be read ({error.strerror}); give an existing file") from None
    if isinstance(text, bytes):
        wide = text[:2] in (b"\xff\xfe", b"\xfe\xff")  # a PowerShell redirection
        return text.decode("utf-16" if wide else "utf-8", errors="replace")
    if isinstance(text, str):
        return text
    try:
        return "\n".join(str(line).rstrip("\r\n") for line in text)
    except TypeError:
        raise ValueError(f"text = {text!r} is neither text, nor a path, nor a list of lines") from None


def _first_error(section: Section) -> str:
    return f": {section.errors[0]}" if section.errors else ""


def _refusal(content: str, sections: list[Section], cousin: str | None) -> str:
    """One sentence: why there is nothing to read and what was expected."""
    if cousin:
        return f"text is output of {cousin}, whose columns and units differ; paste the table that nccl-tests prints"
    if looks_like_json(content) and not any(section.columns or section.headers for section in sections):
        return "text is JSON of nccl-tests (-J) that is cut or malformed; give the whole file"
    for section in sections:
        if section.layout.unknown:
            return (
                f"text holds a table with other columns ({', '.join(section.layout.unknown)[:80]}); "
                "paste the table that nccl-tests prints"
            )
    for section in sections:
        if section.columns or section.headers:
            reason = _first_error(section) or "; the run probably failed before its first result"
            return f"text holds the header of an nccl-tests table and no complete row{reason}"
    for line in content.splitlines():
        if re.search(r"\b(?:bus|alg)bw\b", line, re.IGNORECASE) and not read_layout(clean(line)):
            return "text names algbw or busbw but has no row with size and time; paste the table that nccl-tests prints"
    if 0 < len(content) < 200 and content.isprintable() and " " not in content:
        return f"text = {content!r} is no file here and no table; give the path of a log or paste rows: {EXAMPLE}"
    return f"text holds no nccl-tests table; paste rows such as: {EXAMPLE}"


def _counts_wrong(section: Section) -> bool:
    """Whether the last column counts elements: by its header, else by how its numbers are printed."""
    if section.layout.known:
        return "wrong" in section.layout.half
    cells = [row.out["wrong"] for row in section.rows if "wrong" in row.out]
    # the older tables print a relative error as 5e-07; a count has a step of one or more
    return all(cell.step >= 1 for cell in cells if cell.value) and any(row.root is not None for row in section.rows)


def _listed(section: Section) -> tuple[int | None, str]:
    """The rank count of the device list and how far to trust it."""
    listed = {device.rank for device in section.devices}
    if not listed:
        return None, ""
    last = max(listed) + 1
    return last, "device list" if len(listed) == last else "last device line"


def _table(section: Section, op: str | None, ranks: int | None, notes: list[str]) -> NcclTests:
    rows = section.rows
    counted = _counts_wrong(section)
    listed = _listed(section)
    identity = identify(rows, section.layout, counted, (op, ranks), section.ops, listed, section.log_ranks)
    problems = list(section.problems) + _mixed(section)
    if section.elided:
        problems.append("The paste has '...' lines: rows or device lines are missing.")
    most = section.header.max_bytes
    if most and max(row.size for row in rows) > most:
        problems.append("A row is larger than the header's maxBytes: header and rows are of different runs.")
    if section.averages == [] and section.errors:
        problems.append(f"There is no footer{_first_error(section)}.")
    value, word = section.averages[-1] if section.averages else (None, "")
    return NcclTests(
        op=identity.op,
        op_from=identity.op_from,
        candidates=identity.candidates,
        ranks=identity.ranks,
        ranks_from=identity.ranks_from,
        size=np.array([row.size for row in rows]),
        count=np.array([row.count for row in rows]),
        type=np.array([row.type for row in rows], str),
        redop=np.array([row.redop or "" for row in rows], str),
        root=np.array([-1 if row.root is None else row.root for row in rows], np.int64),
        out=half_of([row.out for row in rows]),
        inplace=half_of([row.inplace for row in rows]),
        header=section.header,
        devices=tuple(section.devices),
        average=value,
        average_ok={"OK": True, "FAILED": False}.get(word),
        out_of_bounds=max(section.out_of_bounds, default=None),
        counts_wrong=counted,
        cpu_time=section.cpu_time,
        copies=section.copies,
        problems=(*notes, *problems, *identity.problems),
    )


def _mixed(section: Section) -> list[str]:
    """Whether several runs printed into this table."""
    if section.copies > 1:
        return [
            f"{section.copies} runs printed into this table (headers or footers repeat): nccl-tests built without MPI "
            "and started several times does this, and the rows cannot be told apart."
        ]
    if out_of_order(section.rows):
        return ["Sizes repeat out of order: several runs may have printed into this table."]
    return []
