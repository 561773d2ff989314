"""Runs of the packet engine beside recorded runs of ns-3 and htsim: computed once, kept in a table, tested again.

`python -m netlib.fidelity.congestion_runs` writes the table anew, in some minutes. A case has several seeds; what is
compared is their mean, and how far they spread is part of the answer.
Read with the chapter "Congestion control", section "Theory says, the simulators show".
"""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from netlib.fidelity.peers import LAWS, Case, Measured, law_of, measured

TABLE = Path(__file__).with_name("congestion_runs.csv")
SEEDS = {8: 6, 16: 2, 32: 3, 128: 6}  # by hosts: as many as half a minute holds, and more where they spread more
_KEEP = ("peer", "law", "scenario", "hosts", "size", "k_min", "k_max", "spread")


@dataclass(frozen=True)
class Runs:
    """Means over the seeds of one case, in s and bytes; `wide`: the standard deviation of `mean` over the seeds."""

    first: float
    mean: float
    last: float
    peak: float
    steady: float
    wide: float
    seeds: int


def cases() -> Iterator[Case]:
    """Every case of the table, its first seed.

    >>> next(cases())
    Case(peer='ns-3', law='DCQCN', scenario='incast', hosts=8, size=2000000.0, k_min=100000.0, k_max=400000.0, \
spread=False, seed=0, dt=5e-07)
    """
    low: dict[str, Any] = {"k_min": 100e3, "k_max": 400e3}
    high: dict[str, Any] = {"k_min": 400e3, "k_max": 1600e3}
    marked: dict[str, tuple[dict[str, Any], ...]] = {"DCQCN": (low, high), "DCQCN, window": (low,), "DCTCP": (low,)}
    for hosts in (8, 32):
        for peer, law in LAWS:
            if "path" not in law and not law.startswith("pauses"):
                for marks in marked.get(law, ({},)) if peer == "ns-3" else ({},):
                    yield Case(peer, law, "incast", hosts, 2e6, spread=not LAWS[peer, law].marks, **marks)
        yield Case("ns-3", "DCQCN", "incast", hosts, 2e6, **low, spread=True)
    for hosts in (2, 8):
        for law in ("NSCC", "RCCC"):
            yield Case("htsim", law, "incast", hosts, 20e6, spread=law == "RCCC")
    for peer, law in LAWS:
        if law not in ("TIMELY", "theta-PowerTCP"):
            marks = marked.get(law, ({},))[-1] if peer == "ns-3" else {}
            yield Case(peer, law, "permutation", 128, 2e6, **marks)
    for law in ("DCQCN", "HPCC", "PowerTCP"):
        yield Case("ns-3", law, "all-to-all", 16, 2e6, **(high if law == "DCQCN" else {}))
    for law in ("NSCC", "RCCC", "pauses"):
        yield Case("htsim", law, "all-to-all", 16, 2e6)


def seeds_of(case: Case) -> int:
    """How many seeds the table has of a case: one for the long ones.

    >>> seeds_of(Case("htsim", "NSCC", "incast", 8, 20e6)), seeds_of(Case("htsim", "NSCC", "incast", 8, 2e6))
    (1, 6)
    """
    return 1 if case.size > 2e6 else SEEDS[case.hosts]


def write_runs(path: Path = TABLE, chosen: Iterable[Case] | None = None) -> None:
    """Run all cases with all seeds, and write what was measured."""
    names = [each.name for kind in (Case, Measured) for each in fields(kind)]
    rows = []
    for first in cases() if chosen is None else chosen:
        for seed in range(seeds_of(first)):
            case = replace(first, seed=seed)
            rows.append(asdict(case) | {name: f"{value:.10g}" for name, value in asdict(measured(case)).items()})
    with path.open("w", newline="", encoding="utf-8") as out:  # others may read the table meanwhile
        table = csv.DictWriter(out, names, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


@cache
def recorded() -> Mapping[Case, Measured]:
    """What the table holds.

    >>> len({replace(case, seed=0) for case in recorded()}) == len(list(cases()))
    True
    """
    text = (files("netlib.fidelity") / TABLE.name).read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(io.StringIO(text)):
        told: dict[str, Any] = {each.name: _read(each.name, row[each.name]) for each in fields(Case)}
        case = Case(**told)
        found[case] = Measured(**{each.name: float(row[each.name]) for each in fields(Measured)})
    return MappingProxyType(found)


def _read(name: str, cell: str) -> str | int | float | bool:
    if name in ("peer", "law", "scenario"):
        return cell
    return cell == "True" if name == "spread" else int(cell) if name in ("hosts", "seed") else float(cell)


def runs_of(case: Case) -> Runs | None:
    """Means over the recorded seeds of a case, whatever its own seed; None if there are none.

    >>> seen = runs_of(Case("ns-3", "HPCC", "incast", 8, 2e6, spread=True))
    >>> seen.seeds, seen.steady < 5e3
    (6, True)
    """
    same = {name: getattr(case, name) for name in _KEEP}
    found = [seen for held, seen in recorded().items() if all(getattr(held, k) == v for k, v in same.items())]
    if not found:
        return None
    values = {each.name: np.array([getattr(seen, each.name) for seen in found]) for each in fields(Measured)}
    means = {name: float(value.mean()) for name, value in values.items()}
    return Runs(**means, wide=float(values["mean"].std()), seeds=len(found))


def run_or_recorded(case: Case) -> Runs:
    """Means of the recorded seeds, or one run now, where an incast is small enough for a report.

    >>> run_or_recorded(Case("ns-3", "HPCC", "incast", 2, 1e5, spread=True)).seeds
    1
    """
    if held := runs_of(case):
        return held
    law_of(case)
    if case.scenario != "incast" or case.hosts * case.size > MOST_BYTES or case.hosts > MOST_HOSTS:
        raise ValueError(f"no run of {case.scenario} with {case.hosts} hosts and {case.size:g} bytes each is recorded")
    return _run_now(case)


MOST_BYTES, MOST_HOSTS = 70e6, 64  # of a run that a report makes itself: some seconds


@cache
def _run_now(case: Case) -> Runs:
    return Runs(**asdict(measured(case)), wide=0.0, seeds=1)


if __name__ == "__main__":
    write_runs()
