"""Peaks: the large messages of named machines, where a model should be close, and the curves to thousands of GPUs.

The set is a rule and no choice of rows: all-reduce of 1 GiB and more (or "peak over sizes") on A100, H100, H200 and
B200, in one node or in several of up to 1,024 GPUs, whatever algorithm was asked for. Rows that chose a constant are
left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from netlib.fidelity.misses import Explained
from netlib.fidelity.prediction import Unanswerable
from netlib.fidelity.rows import Row, published_rows
from netlib.fidelity.score import Judged, judged_rows
from netlib.fidelity.setup import read_setup
from netlib.units import GiB

GPUS = ("A100", "H100", "H200", "B200")
MOST = 1024
CLOSE, NEAR = 0.05, 0.10
CURVES = {"NVT": "NVLSTree on NVIDIA's slide", "MGEN": "left to NCCL, arXiv 2411.13055"}

FAR = (
    Explained(
        "8 GiB on B200",
        "From 4 to 8 GiB the measured busbw of eight B200s rises by 11 to 13 %, in two tables of one author; on H200 "
        "by 1 % at most. The model has no such step: it is up to 5 % high before and up to 6 % low after. We know no "
        "published cause.",
        ("B200x8-019", "NVLS-015", "NVLS-017", "NVLS-019"),
    ),
    Explained(
        "switches that add between nodes",
        "With SHARP in the InfiniBand switches NVLink is what limits, and counting its bytes on 32 ranks gives 13 % "
        "more than the slides show. They print the same number as for one node.",
        ("GTC-012", "GTC-017"),
    ),
    Explained(
        "one quick cluster",
        "At 1 GiB, twelve nodes of one provider lose a third of what their levels would cost the cluster of NVIDIA's "
        "slide, to which the price of a level was fitted; from 2 GiB on they beat 0.96 of line rate, which the model "
        "grants nobody. The job allows SHARP, which may help.",
        ("CW-002", "CW-003"),
    ),
    Explained(
        "two nodes on EFA",
        "Of two nodes a tree passes each byte once, so the cards would allow twice the ring's busbw. The model lets "
        "NVLink and cards reach their full planned rate together; these runs stay 5 to 6 % below.",
        ("AWS-008", "AWS-013"),
    ),
    Explained(
        "a hierarchy forced on EFA",
        "Forced to NVLSTree, four nodes lost a sixth of the ring's busbw; it is a miss as well.",
        ("B200x32f-002",),
    ),
)


@dataclass(frozen=True)
class Peak:
    """One row of the set: its GPU, whether it spans several nodes, and the row beside both models."""

    gpu: str
    several: bool
    row: Judged

    @property
    def error(self) -> float:
        """Relative error of the first model."""
        return self.row.rel_error or 0.0


def is_peak(row: Row) -> bool:
    """Does the rule take this row? It looks at the set-up only.

    >>> row = dict(gpu="H100", nodes="2", ranks="16", collective="all_reduce", metric="busbw")
    >>> is_peak(row | dict(message_bytes="peak")), is_peak(row | dict(message_bytes="1024"))
    (True, False)
    """
    try:
        setup = read_setup(row)
    except Unanswerable:
        return False
    asked = row.get("metric") in ("busbw", "algbw") and setup.collective == "all_reduce"
    return asked and row.get("gpu") in GPUS and setup.size >= GiB and setup.ranks <= MOST


def peaks() -> tuple[Peak, ...]:
    """The set, in the order of the table.

    >>> len(peaks()) > 100
    True
    """
    rows = {row["id"]: row for row in published_rows()}
    found = []
    for judged in judged_rows():
        row = rows[judged.id]
        if judged.rel_error is not None and is_peak(row):
            found.append(Peak(row["gpu"], read_setup(row).domains > 1, judged))
    return tuple(found)


def within(found: Sequence[Peak], error: float) -> int:
    """How many are that close.

    >>> within(peaks(), 9.9) == len(peaks())
    True
    """
    return sum(abs(peak.error) <= error for peak in found)


def far() -> tuple[Peak, ...]:
    """Those that are not within 5 %."""
    return tuple(peak for peak in peaks() if abs(peak.error) > CLOSE)


def curve(prefix: str) -> tuple[Judged, ...]:
    """The scored rows of one curve over thousands of GPUs.

    >>> len(curve("MGEN"))
    21
    """
    return tuple(row for row in judged_rows() if row.id.startswith(f"{prefix}-") and row.rel_error is not None)
