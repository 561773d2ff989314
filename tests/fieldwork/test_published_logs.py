"""The published tables that the book reads: every row agrees with itself and with what its source prints.

The check reads the files with `str.split` and recomputes algbw and busbw, so it shares nothing with the reader.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "tests/fieldwork/data").glob("*.txt"), *(ROOT / "notebooks/data").glob("*.txt")])
PUBLIC = re.compile(r"# source: https://github\.com/[\w-]+/[\w.-]+/blob/[0-9a-f]{40}/\S+ \(section .+\)")


def header(path: Path, key: str) -> str:
    (value,) = re.findall(rf"^# {key} *: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return str(value)


def rows(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]


def halves(row: list[str]) -> list[tuple[str, str, str]]:
    return [(row[i], row[i + 1], row[i + 2]) for i in range(5, len(row), 4)]


def interval(printed: str) -> tuple[float, float]:
    """The values that print as `printed`: half a unit of its last digit either way."""
    half = 0.5 * 10.0 ** -len(printed.partition(".")[2]) * 1.0001
    return float(printed) - half, float(printed) + half


def overlap(a: tuple[float, float], b: tuple[float, float]) -> bool:
    return a[0] <= b[1] and b[0] <= a[1]


def test_the_files_are_there() -> None:
    assert {p.name for p in (ROOT / "notebooks/data").glob("*.txt")} >= {
        *("a100_1node.txt", "h200_1node.txt", "b200_1node.txt", "b200_4nodes.txt"),
        *("h200_1node_queued.txt", "b200_1node_queued.txt", "b200_4nodes_queued.txt"),
    }
    assert len(FILES) >= 16


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_a_public_source_and_a_rank_count_stand_on_top(path: Path) -> None:
    assert PUBLIC.fullmatch(path.read_text(encoding="utf-8").splitlines()[0])
    assert int(header(path, "ranks")) > 1
    assert set(header(path, "published").replace(" (in-place)", "").split()) <= {
        *("all", "columns", "time", "algbw", "busbw")
    }


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_every_row_agrees_with_itself(path: Path) -> None:
    n = int(header(path, "ranks"))
    factor = 2 * (n - 1) / n
    table = rows(path)
    assert len(table) >= 5
    assert [int(r[0]) for r in table] == [int(table[0][0]) * 2**i for i in range(len(table))]
    for row in table:
        size = int(row[0])
        assert int(row[1]) * 4 == size
        assert row[2:5] == ["float", "sum", "-1"]
        for time, algbw, busbw in halves(row):
            slow, fast = (size / (edge * 1e-6) / 1e9 for edge in reversed(interval(time)))
            assert overlap(interval(algbw), (slow, fast)), row
            assert overlap(interval(busbw), (slow * factor, fast * factor)), row
            # the two printed rates alone give the ranks back
            low, high = interval(algbw)
            assert overlap(interval(busbw), (low * factor, high * factor)), row


@pytest.mark.parametrize("path", [p for p in FILES if "Avg bus" in p.read_text()], ids=lambda p: p.stem)
def test_the_average_of_the_source_is_the_mean_of_all_its_rates(path: Path) -> None:
    """Guards the transcription: the average was computed by nccl-tests on the cluster, the rows were typed here."""
    rates = [float(busbw) for row in rows(path) for *_, busbw in halves(row)]
    assert float(header(path, "Avg bus bandwidth")) == pytest.approx(sum(rates) / len(rates), abs=0.003)


@pytest.mark.parametrize(
    ("name", "size", "time_ms"),
    [  # times that the sources or the chapter state in words
        ("b200_4nodes", 2**34, 87.2),
        ("b200_4nodes", 2**32, 22.05),
        ("b200_1node", 2**32, 10.15),
        ("b200_4nodes_queued", 2**34, 88.4),
        ("b200_4nodes_queued", 2**32, 22.21),
        ("b200_1node_queued", 2**32, 10.03),
        ("a100_1node", 2**34, 127.997),
    ],
)
def test_times_stated_in_words(name: str, size: int, time_ms: float) -> None:
    (row,) = [r for r in rows(ROOT / f"notebooks/data/{name}.txt") if int(r[0]) == size]
    assert float(row[5]) / 1e3 == pytest.approx(time_ms, rel=5e-4)


@pytest.mark.parametrize("pair", ["b200_4nodes", "b200_1node", "h200_1node"])
def test_a_blocking_call_is_slower_below_64_mib(pair: str) -> None:
    """Why the same cluster has two tables: a blocking call pays for its host each time, a queued one does not."""
    blocking, queued = (rows(ROOT / f"notebooks/data/{pair}{end}.txt") for end in ("", "_queued"))
    small = [(float(b[5]), float(q[5])) for b, q in zip(blocking, queued, strict=True) if int(b[0]) <= 2**26]
    assert all(b > q for b, q in small)
    saved = sorted(b - q for b, q in small)[len(small) // 2]
    assert (150 < saved < 300) if pair == "b200_4nodes" else (10 < saved < 30)
