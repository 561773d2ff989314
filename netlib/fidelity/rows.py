"""Published rows: this project's own table, and others with the same columns.

Set-up columns: system, gpu, nodes, gpus_per_node, nics_per_node, nic_gbps, scaleup_GBps_per_dir, topology, collective,
algorithm, message_bytes, ranks, metric, unit; for congestion scenario and params ("C=40 Gb/s; N=8"), metric, unit.
Then value, source_title, source_locator, confidence, note.
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
        head, *lines = csv.reader(io.StringIO(text, newline=""), strict=True)  # an open quote would swallow rows
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8; save the table as CSV UTF-8") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read ({error.strerror}); name a CSV file") from None
    except csv.Error as error:
        raise ValueError(f"{path} is no CSV table ({error}); close every quote") from None
    except ValueError:  # no first line
        head, lines = [], []
    missing = [column for column in ("id", "metric", "value", "unit") if column not in head]
    if missing:
        columns = "column" if len(missing) == 1 else "columns"
        raise ValueError(
            f"{path} lacks the {columns} {', '.join(missing)}; name them in its first line, separated by commas"
        )
    for column in head:
        if column and head.count(column) > 1:
            raise ValueError(f"{path} names the column {column!r} more than once; keep one of them")
    for number, line in enumerate(lines, 1):
        if any(line[len(head) :]):
            raise ValueError(f"{path} has a row with more cells than columns (row {number}); quote a cell with commas")
    padded = ([*line, *[""] * len(head)] for line in lines if line)
    return [dict(zip(head, line, strict=False)) for line in padded]
