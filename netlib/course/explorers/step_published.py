"""Published training runs beside the model: counted from printed seconds, or predicted from the parts of a machine."""

from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives.training import Beside, beside, runs, trend
from netlib.course.explorer import Knob, each, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points

PAPERS = {  # name in the legend: (table, ink)
    "Megatron-LM 2021": ("megatron", "ring"),
    "Megatron-LM 2024": ("megascale-baseline", "tree"),
    "MegaScale": ("megascale", "useful"),
    "Llama 3": ("llama3", "hierarchy"),
    "DeepSeek-V3": ("deepseek", "lost"),
}
COUNTED, BARE, MODELLED = "counted from printed seconds", "predicted, nothing hidden", "predicted, as the system hides"
EDGE = np.array([0.35, 0.7])  # from side to side of the frame


@cache
def rows(paper: str) -> tuple[Beside, ...]:
    """One table's rows beside the model."""
    return tuple(beside(run) for run in runs(paper))


def value(row: Beside, how: str) -> float:
    """A row's utilisation, reckoned one way; NaN where no seconds are printed."""
    found = {COUNTED: row.counted, BARE: row.bare, MODELLED: row.modelled}[how]
    return np.nan if found is None else found


def spread(how: str) -> list[float]:
    """Rows compared, smallest and largest ratio to what is printed."""
    found = np.array([value(row, how) / row.printed for paper, _ in PAPERS.values() for row in rows(paper)])
    return [float(np.isfinite(found).sum()), float(np.nanmin(found)), float(np.nanmax(found))]


@explorer(
    "step-published",
    title="Twenty-nine runs beside the model",
    caption="Counting FLOPs and dividing by printed seconds gives the printed utilisation back. Predicting it from one "
    "GPU and one node gives an upper bound: the optimizer, slow kernels, stragglers and congestion are left out, and "
    "DeepSeek-V3 computes in FP8 while its utilisation is measured against the BF16 peak.",
    alt="Marks for five published tables over the printed utilisation; counted ones lie on the diagonal, predicted "
    "ones in a band above it, and one mark, DeepSeek-V3's, far above one hundred per cent.",
)
def step_published(
    how: Annotated[Array, Knob(COUNTED, BARE, MODELLED, default=MODELLED, label="utilisation")],
) -> Figure:
    """Printed utilisation along x, ours along y."""
    drawn: list[Any] = [Line("equal", EDGE, EDGE, "bound")]
    for name, (paper, ink) in PAPERS.items():
        found = rows(paper)
        notes = tuple(row.id.removeprefix(f"{paper} ") for row in found)
        ours = pick(how, {h: np.array([value(row, h) for row in found]) for h in (COUNTED, BARE, MODELLED)})
        drawn.append(Points(name, np.array([row.printed for row in found]), ours, ink, notes))
    count, low, high = (each(lambda h, i=i: spread(h)[i], how) for i in range(3))
    apart = float(abs(trend(rows("megatron")[3:])).max())
    return Figure(
        x=Axis("printed", "%", limits=(0.35, 0.7)),
        y=Axis("ours", "%", limits=(0.35, 1.1)),
        elements=tuple(drawn),
        numbers={
            "count": Number(count, "rows", "compared"),
            "low": Number(low, "", "smallest ratio, ours over printed"),
            "high": Number(high, "", "largest ratio"),
            "apart": Number(apart, "%", "Megatron-LM 2021 at TP 8: most that a row's ratio leaves their common one"),
        },
        reading="{count} {how}: between {low} and {high} times what is printed.",
        failure=lambda s: (
            f"DeepSeek-V3 is a miss: {s['high']:.2f} times its printed MFU, for FP8 work over a BF16 peak and hiding "
            "that no run reaches."
            if s["high"] > 2
            else ""
        ),
    )
