"""Costs: the processor seconds of both engines, measured once and kept.

Time is not computed but measured, on the machine that the table names; `python -m benchmarks.congestion_packets
--costs` measures it anew. Read with the chapter "Congestion control", section "One bottleneck".
"""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from netlib.arguments import Floats, declared

TABLE = Path(__file__).with_name("costs.csv")

Engine = Literal["fluid", "packets"]
Axis = Literal["size", "steps"]


@dataclass(frozen=True, eq=False)
class Costs:
    """Seconds of one engine while one thing grows and the other stays.

    size      (S,) scenarios of the fluid engine, which takes equal flows as one; flows of the packet engine
    steps     (S,) steps in time
    seconds   (S,) processor seconds of the whole batch
    about     lines that say what was measured, on what machine, when, and with which command
    """

    size: Floats
    steps: Floats
    seconds: Floats
    about: tuple[str, ...]

    def each(self) -> Floats:
        """(S,) seconds of one flow or scenario in one step."""
        return self.seconds / (self.size * self.steps)

    def exponent(self, by: Axis) -> float:
        """Slope of log(seconds) over log(size) or log(steps), over the upper half of the range: 1 is linear."""
        grown = self.size if by == "size" else self.steps
        upper = grown >= np.sqrt(grown[0] * grown[-1])
        return float(np.polyfit(np.log(grown[upper]), np.log(self.seconds[upper]), 1)[0])


@declared
def measured_costs(engine: Engine, by: Axis) -> Costs:
    """The kept measurement of an engine while `by` grows.

    >>> 0.7 < measured_costs("packets", "steps").exponent("steps") < 1.3
    True
    """
    lines = TABLE.read_text().splitlines()
    about = tuple(line.removeprefix("# ") for line in lines if line.startswith("#"))
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    mine = [row for row in rows if (row["engine"], row["grown"]) == (engine, by)]
    if not mine:
        raise ValueError(
            f"engine = {str(engine)[:40]!r} by {str(by)[:40]!r} was not measured; give 'fluid' or 'packets', and "
            "'size' or 'steps'"
        )
    size, steps, seconds = (np.array([float(row[name]) for row in mine]) for name in ("size", "steps", "seconds"))
    return Costs(size, steps, seconds, about)
