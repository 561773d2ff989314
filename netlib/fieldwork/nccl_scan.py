"""nccl-tests paste: which lines belong to which table.

A paste may hold one run, several runs one after the other, or several runs printed into one another (nccl-tests built
without MPI and started by mpirun: every process runs alone and prints everything). `scan` sorts the lines into
sections, one per table, and keeps whatever it cannot read out of the numbers.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, fields

from netlib.fieldwork.nccl_cells import read_cell
from netlib.fieldwork.nccl_rows import Layout, Row, clean, read_layout, read_row


@dataclass(frozen=True)
class Header:
    """What the `# nThread ...` line and the lines around it say; None where they do not."""

    threads: int | None = None
    gpus: int | None = None
    min_bytes: int | None = None
    max_bytes: int | None = None
    step: int | None = None
    step_is_factor: bool | None = None
    warmup: int | None = None
    iters: int | None = None
    agg_iters: int | None = None
    validation: int | None = None
    graph: int | None = None
    tests_version: str | None = None
    nccl_version: str | None = None


@dataclass(frozen=True)
class Device:
    """One line of the device list."""

    rank: int
    host: str
    index: int
    bus: str
    name: str
    group: int = 0


@dataclass
class Section:
    """The lines of one table while it is being read."""

    layout: Layout = field(default_factory=Layout)
    rows: list[Row] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    header: Header = field(default_factory=Header)
    devices: list[Device] = field(default_factory=list)
    headers: int = 0  # `# nThread` lines
    columns: int = 0  # column-header lines
    averages: list[tuple[float, str]] = field(default_factory=list)
    out_of_bounds: list[int] = field(default_factory=list)
    ops: list[str] = field(default_factory=list)
    log_ranks: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)
    elided: bool = False
    cpu_time: bool = False

    @property
    def copies(self) -> int:
        """How many runs printed into this table, as its headers and footers count them."""
        return max(1, self.headers, self.columns, len(self.averages))


_HEADER = {
    name: re.compile(pattern + r":?\s*(\d{1,18})(?!\d)")
    for name, pattern in {
        "threads": r"nThreads?",
        "gpus": r"nGpus",
        "min_bytes": r"minBytes",
        "max_bytes": r"maxBytes",
        "step": r"step",
        "warmup": r"warmup iters",
        "iters": r"(?<!warmup )(?<!agg )\biters",
        "agg_iters": r"agg iters",
        "validation": r"validation",
        "graph": r"graph",
    }.items()
}
_DEVICE = re.compile(
    r"Rank\s+(\d{1,7})\s+(?:Group\s+(\d{1,7})\s+)?(?:Pid\s+\d+\s+)?"
    r"(?:on\s+(\S+)\s+device\s+(\d{1,7})\s+)?\[([0-9A-Fa-fx:.]+)\]\s*(.*)"
)
_OP = re.compile(
    r"\b(all_?reduce|all_?gather|reduce_?scatter|all_?to_?all|broadcast|reduce|gather|scatter|sendrecv|hypercube)_(?:perf|test)"
)
_COMMAND = re.compile(_OP.pattern + r"\w*\s+(?:-|\d)")
_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d{1,15})")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(\d[\d.]*(?:e[-+]?\d+)?)\s*(OK|FAILED)?(?=\s|$)")
_LOG_RANKS = re.compile(r"(?:\bnranks |^\s*#\s*ranks\s*:\s*)(\d{1,7})\b")  # NCCL's log, or a note above a kept table
_VERSION = re.compile(r"nccl-tests version (\S+).*?nccl-library=(\d+)")
_NCCL = re.compile(r"\bNCCL version (\S+)")
_ERROR = re.compile(r"NCCL WARN|Test NCCL failure|Test CUDA failure|out of memory")
_NAME = {"allreduce": "all_reduce", "allgather": "all_gather", "reducescatter": "reduce_scatter"}


def op_name(text: str) -> str | None:
    """The collective that a command or file such as `all_reduce_perf` names, spelled as in netlib.collectives."""
    found = _OP.search(text)
    if not found:
        return None
    name = found.group(1).replace("_", "")
    return _NAME.get(name, name)


def scan(lines: Iterable[str]) -> list[Section]:
    """One section per table, in order; sections without rows are kept, they may say why a run failed."""
    sections = [Section()]
    for number, raw in enumerate(lines, 1):
        line = clean(raw)
        now = sections[-1]
        if (now.rows or now.averages) and _opens(line):
            now = Section()
            sections.append(now)
        elif now.averages and isinstance(read_row(line, number, now.layout), Row):
            now = Section(layout=now.layout)  # rows go on after a footer
            sections.append(now)
        _take(line, number, now)
    return _join_copies(sections)


def _opens(line: str) -> bool:
    """Whether a line can only stand above a table."""
    return bool(
        ("nThread" in line and "minBytes" in line)
        or "nccl-tests version" in line
        or "Collective test starting" in line
        or _COMMAND.search(line)
        or read_layout(line)
    )


def _take(line: str, number: int, section: Section) -> None:
    """Put what one line says into the section."""
    row = read_row(line, number, section.layout)
    if isinstance(row, Row):
        section.rows.append(row)
        if row.problem:
            section.problems.append(row.problem)
    elif row:
        section.problems.append(row)
    elif layout := read_layout(line):
        section.columns += 1
        section.layout = layout
        section.cpu_time = "cputime" in line
    else:
        _take_frame(line, section)


def _take_frame(line: str, section: Section) -> None:
    """What stands around the rows: header, devices, footer, log lines."""
    if "nThread" in line and "minBytes" in line:
        section.headers += 1
        section.header = read_header(line, section.header)
    elif device := _DEVICE.search(line):
        rank, group, host, index, bus, name = device.groups()
        section.devices.append(Device(int(rank), host or "", int(index or 0), bus, name.strip(), int(group or 0)))
    elif average := _AVERAGE.search(line):
        if cell := read_cell(average.group(1), 9):
            section.averages.append((cell.value, average.group(2) or ""))
    elif bounds := _BOUNDS.search(line):
        section.out_of_bounds.append(int(bounds.group(1)))
    elif line.strip().lstrip("#").strip() in ("...", "[...]", "…"):
        section.elided = True
    if version := _VERSION.search(line):
        section.header = _with(section.header, tests_version=version.group(1), nccl_version=version.group(2))
    elif (nccl := _NCCL.search(line)) and section.header.nccl_version is None:
        section.header = _with(section.header, nccl_version=nccl.group(1))
    if ("Collective test starting" in line or _COMMAND.search(line)) and (name := op_name(line)):
        section.ops.append(name)
    if ranks := _LOG_RANKS.search(line):
        section.log_ranks.add(int(ranks.group(1)))
    if _ERROR.search(line):
        section.errors.append(" ".join(line.split())[:100])


def read_header(line: str, before: Header) -> Header:
    """The numbers of a `# nThread ...` line, added to what was known.

    >>> read_header("# nThread 1 nGpus 8 minBytes 8 maxBytes 64 step: 2(factor) iters: 20", Header()).gpus
    8
    """
    found = {name: int(match.group(1)) for name, pattern in _HEADER.items() if (match := pattern.search(line))}
    factor = "(factor)" in line if "step" in found else None
    return _with(before, **found, step_is_factor=factor)


def _with(header: Header, **changes: object) -> Header:
    return Header(**{f.name: changes.get(f.name, getattr(header, f.name)) for f in fields(header)})  # type: ignore[arg-type]


def _key(row: Row) -> tuple[object, ...]:
    return (row.size, row.type, row.redop, row.root)


def out_of_order(rows: list[Row]) -> bool:
    """Whether equal rows come back otherwise than as a whole sweep repeated (`-N`): the mark of runs mixed by lines."""
    keys = [_key(row) for row in rows if row.size > 0]
    times = len(keys) // max(1, len(set(keys)))
    whole = times * len(set(keys)) == len(keys)
    return len(set(keys)) < len(keys) and not (whole and keys == keys[: len(keys) // times] * times)


def _join_copies(sections: list[Section]) -> list[Section]:
    """Put together the sections of runs that printed into one another.

    Two signs: a section has more headers than footers and the rows go on after its footer without a new header; or a
    header interrupts the rows (no footer before it) and the rows behind it are out of order.
    """
    joined: list[Section] = []
    for section in sections:
        last = joined[-1] if joined else None
        if last and last.rows and (section.rows or not section.columns):
            headless = not section.headers and not section.columns
            unfinished = max(last.headers, last.columns) > len(last.averages)
            mixed = out_of_order(section.rows) or out_of_order(last.rows)
            if (headless and unfinished) or (not last.averages and mixed and not headless):
                _append(last, section)
                continue
        joined.append(section)
    return joined


def _append(last: Section, more: Section) -> None:
    for name in ("rows", "problems", "devices", "averages", "out_of_bounds", "ops", "errors"):
        getattr(last, name).extend(getattr(more, name))
    last.headers += more.headers
    last.columns += more.columns
    last.log_ranks |= more.log_ranks
    last.elided |= more.elided
