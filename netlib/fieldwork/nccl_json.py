"""nccl-tests JSON (`-J FILE`, v2.17 and later): the same rows, with the oddities of a hand-made writer.

Booleans are the strings "true" and "false", a NaN is "nan", `root` is padded with blanks, `out_of_place` may be null.
The file also lists the whole environment of the process: it may hold secrets, so nothing of it is read.
Format: NVIDIA/nccl-tests src/util.cu.
"""

import json
import math
import re
from collections.abc import Mapping
from typing import Any

from netlib.fieldwork.nccl_cells import MISSING, Cell
from netlib.fieldwork.nccl_rows import Layout, Row
from netlib.fieldwork.nccl_scan import Device, Header, Section, op_name

_CONFIG = {
    "threads": "nthreads",
    "gpus": "ngpus",
    "min_bytes": "minimum_bytes",
    "max_bytes": "maximum_bytes",
    "warmup": "warmup_iters",
    "iters": "iterations",
    "agg_iters": "aggregated_iterations",
    "validation": "validation",
    "graph": "graph",
}
_OBJECT = re.compile(r'\{\s*"')  # each failed try counts the lines before it, so only what may be an object is tried


def looks_like_json(text: str) -> bool:
    """Whether a text holds the JSON that nccl-tests writes, perhaps among other lines."""
    return bool(re.search(r'"results"\s*:', text)) and "{" in text


def scan_json(text: str) -> list[Section]:
    """One section per JSON report in the text; none if every report is cut or malformed."""
    sections, at = [], 0
    decoder = json.JSONDecoder()
    while start := _OBJECT.search(text, at):
        try:
            report, at = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.end()
            continue
        if isinstance(report, dict) and isinstance(report.get("results"), list):
            sections.append(_section(report))
    return sections


def _section(report: Mapping[str, Any]) -> Section:
    config = _mapping(report.get("config"))
    section = Section(layout=Layout(("size", "count", "type", "redop", "root")), headers=1, columns=1)
    section.header = Header(
        **{name: _whole(config.get(key)) for name, key in _CONFIG.items()},  # type: ignore[arg-type]
        step=_whole(config.get("step_factor", config.get("step_bytes"))),
        step_is_factor=None if not {"step_factor", "step_bytes"} & set(config) else "step_factor" in config,
        nccl_version=None if report.get("nccl_version") is None else str(report["nccl_version"]),
    )
    per_process = (section.header.threads or 1) * (section.header.gpus or 1)
    for device in _list(config.get("devices")):
        entry = _mapping(device)
        first = _whole(entry.get("rank")) or 0
        # only the first GPU of each process is written; its neighbours follow it
        for i in range(min(per_process, 1024)):
            index = (_whole(entry.get("device")) or 0) + i
            bus = str(entry.get("device_hex", "")) if i == 0 else ""
            model, group = str(entry.get("device_info", "")), _whole(entry.get("group")) or 0
            section.devices.append(Device(first + i, str(entry.get("hostname", "")), index, bus, model, group))
    arguments = _list(report.get("args"))
    if arguments and (name := op_name(str(arguments[0]))):
        section.ops.append(name)
    for number, entry in enumerate(report["results"], 1):
        row = _row(_mapping(entry), number)
        if row is None:
            section.problems.append(f"Result {number} of the JSON has no size or no numbers; it was left out.")
        else:
            section.rows.append(row)
            section.cpu_time |= "cpu_time" in _mapping(entry.get("in_place"))
    bounds = _whole(_mapping(report.get("out_of_bounds")).get("count"))
    if bounds is not None:
        section.out_of_bounds.append(bounds)
    average = _mapping(report.get("average_bus_bandwidth"))
    if (value := _cell(average.get("bandwidth"), 1e9).value) == value:
        okay = {"true": "OK", "false": "FAILED"}.get(str(average.get("okay")).lower(), "")
        section.averages.append((value, okay))
    section.errors.extend(str(error)[:100] for error in _list(report.get("errors")) if error)
    return section


def _row(entry: Mapping[str, Any], number: int) -> Row | None:
    size, count = _whole(entry.get("size")), _whole(entry.get("count"))
    out, inplace = _half(entry.get("out_of_place")), _half(entry.get("in_place"))
    if size is None or not (out or inplace):
        return None
    root = re.fullmatch(r"\s*(-?\d{1,9})\s*", str(entry.get("root")))
    dtype, redop = str(entry.get("type", "")), entry.get("redop")
    return Row(
        number,
        float(size),
        math.nan if count is None else float(count),
        dtype,
        None if redop is None else str(redop),
        int(root.group(1)) if root else None,
        out or dict.fromkeys(("time", "algbw", "busbw", "wrong"), MISSING),
        inplace,
    )


def _half(value: Any) -> dict[str, Cell]:
    half = _mapping(value)
    if not half:
        return {}
    return {
        "time": _cell(half.get("time", half.get("cpu_time")), 1e-6),
        "algbw": _cell(half.get("alg_bw"), 1e9),
        "busbw": _cell(half.get("bus_bw"), 1e9),
        "wrong": _cell(half.get("nwrong"), 1.0),
    }


def _cell(value: Any, scale: float) -> Cell:
    """A JSON number, which nccl-tests prints with six decimals."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return MISSING
    try:
        cell = Cell(float(value) * scale, 1e-6 * scale)
    except OverflowError:
        return MISSING
    return cell if math.isfinite(cell.value) else MISSING


def _whole(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or abs(value) >= 2**63:
        return None
    return value


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
