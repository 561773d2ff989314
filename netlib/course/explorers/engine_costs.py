"""What a run of either engine costs, measured."""

from typing import Annotated, Any

import numpy as np

from netlib.congestion.costs import Axis as Grown
from netlib.congestion.costs import Costs, Engine, measured_costs
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points

ENGINES: dict[str, Engine] = {"packets": "packets", "equations": "fluid"}
BY: dict[str, Grown] = {"flows or scenarios": "size", "steps": "steps"}
PLACES = 8  # the longest series; shorter ones leave the rest empty


def kept(engine: Any, by: Any) -> Costs:
    """The measurement of a state."""
    return measured_costs(ENGINES[str(engine)], BY[str(by)])


def series(engine: Any, by: Any, what: str) -> Array:
    """(PLACES,) what grows, the seconds, or seconds in proportion to the largest; nan where none was measured."""
    found = kept(engine, by)
    grown = found.size if BY[str(by)] == "size" else found.steps
    values = {"grown": grown, "seconds": found.seconds, "line": found.seconds[-1] * grown / grown[-1]}[what]
    return np.asarray(np.pad(values, (0, PLACES - len(values)), constant_values=np.nan))


@explorer(
    "engine-costs",
    title="What a run costs",
    caption="Processor seconds of this book's two engines on one core, measured once: equations with delay, by "
    "scenarios, and packets in incasts of 32 flows side by side, by flows. The line is in proportion to the largest "
    "batch. The benchmark measures them on your machine.",
    alt="Measured points on log-log axes. Against steps they lie on the straight line; against the size of the batch "
    "they are flat for small ones and reach the line only for large ones.",
)
def engine_costs(
    engine: Annotated[Array, Knob(*ENGINES, default="packets", label="engine")],
    by: Annotated[Array, Knob(*BY, default="flows or scenarios", label="what grows")],
) -> Figure:
    """The kept table, and the slope of its upper half."""

    def number(f: Any) -> Array:
        return each(lambda e, b: float(f(kept(e, b), BY[str(b)])), engine, by)

    grown = each(lambda e, b: series(e, b, "grown"), engine, by)
    return Figure(
        x=Axis("flows, scenarios or steps", "", "log"),
        y=Axis("processor time", "s", "log", limits=(1e-3, 10.0)),
        elements=(
            Points("measured", grown, each(lambda e, b: series(e, b, "seconds"), engine, by)),
            Line("in proportion", grown, each(lambda e, b: series(e, b, "line"), engine, by), "bound"),
        ),
        numbers={
            "slope": Number(number(lambda k, b: k.exponent(b)), "", "slope of the upper half"),
            "largest": Number(number(lambda k, b: k.seconds[-1]), "s", "the largest"),
            "wasted": Number(number(lambda k, b: k.each()[0] / k.each()[-1]), "times", "each of the smallest, dearer"),
        },
        reading="{engine}, {by}: the largest takes {largest}; in the upper half time grows to the power {slope}.",
        failure=lambda s: (
            f"Alone, a flow or scenario costs {s['wasted']:,.0f} times what it costs in the largest batch: run many at "
            "once."
            if s["wasted"] > 3
            else ""
        ),
    )
