"""Growth: what building, routing and sharing a fabric cost this package, measured once and kept.

Time is not computed but measured, on the machine that the table names; `python -m benchmarks.topology --growth`
measures it anew. Read with the chapter "Scale-out", section "How far the engine goes".
"""

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from netlib.arguments import Floats, declared, quoted

TABLE = Path(__file__).with_name("growth.csv")


@dataclass(frozen=True, eq=False)
class Growth:
    """Cost of a random permutation on fat-trees, from nothing to max-min rates; one entry for each size.

    hosts     (S,) hosts; links (S,) directed links
    seconds   processor seconds by step, each (S,): build, route, paths, rates
    gib       (S,) the most memory that the process held
    about     lines that say what was measured, on what machine, when, and with which command
    """

    hosts: Floats
    links: Floats
    seconds: Mapping[str, Floats]
    gib: Floats
    about: tuple[str, ...]

    @property
    def total(self) -> Floats:
        """(S,) seconds of all steps."""
        return np.asarray(np.sum(list(self.seconds.values()), axis=0))

    @declared
    def exponent(self, step: str | None = None) -> float:
        """Slope of log(seconds) over log(hosts) from 1,024 hosts on, of a step or of all: 1 is linear in hosts.

        >>> 0.2 < measured_growth().exponent("rates") < 2
        True
        """
        if step is not None and step not in self.seconds:
            raise ValueError(f"step = {step!r} was not measured; give one of {', '.join(self.seconds)}")
        large = self.hosts >= 1024
        seconds = self.total if step is None else self.seconds[step]
        return float(np.polyfit(np.log(self.hosts[large]), np.log(seconds[large]), 1)[0])


@declared
def measured_growth(table: Path = TABLE) -> Growth:
    """The kept measurement.

    >>> measured_growth().hosts[-3:].tolist()
    [8192.0, 27648.0, 65536.0]
    """
    try:
        lines = Path(table).read_text().splitlines()
    except (OSError, TypeError, ValueError):
        raise ValueError(f"table = {quoted(table)} cannot be read; give the path of a kept measurement") from None
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    if not rows:
        raise ValueError(f"table = {table.name} holds no sizes; run python -m benchmarks.topology --growth")
    columns = {name: np.array([float(row[name]) for row in rows]) for name in rows[0]}
    hosts, links, gib = (columns.pop(name) for name in ("hosts", "links", "gib"))
    columns.pop("k")
    about = tuple(line.lstrip("# ") for line in lines if line.startswith("#"))
    return Growth(hosts, links, columns, gib, about)
