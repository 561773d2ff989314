"""Published rows: this project's own table, and others with the same columns.

Set-up columns: system, gpu, nodes, gpus_per_node, nics_per_node, nic_gbps, scaleup_GBps_per_dir, topology, collective,
algorithm, message_bytes, ranks, metric, unit. Then value, source_title, source_locator, confidence, note.
"""

import csv
import io
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path

Row = Mapping[str, str]


@cache
def published_rows() -> tuple[Row, ...]:
    """The rows that this project holds itself against.

    >>> published_rows()[0]["source_title"]
    'ML Engineering open book (S. Bekman), network chapter'
    """
    text = (files("netlib.fidelity") / "published.csv").read_text(encoding="utf-8")
    return tuple(csv.DictReader(io.StringIO(text)))


def read_rows(path: Path) -> list[Row]:
    """Rows of another table with these columns. Raises ValueError in one sentence if it is no such table."""
    try:
        text = path.read_text(encoding="utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""))
        rows: list[Row] = [{key: value or "" for key, value in row.items() if key} for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path} cannot be read as a CSV table: {error}") from None
    missing = [column for column in ("id", "metric", "value", "unit") if column not in (reader.fieldnames or ())]
    if missing:
        columns = "column" if len(missing) == 1 else "columns"
        raise ValueError(f"{path} lacks the {columns} {', '.join(missing)}; name them in its first line")
    return rows
