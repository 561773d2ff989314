"""How old a signal may be: where DCQCN comes to rest, over flows and delay, as published and exact."""

from functools import cache
from typing import Annotated

import numpy as np

from netlib.congestion import preset
from netlib.congestion.fluid import critical_delays, most_flows
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Heat, Number, Rule, fixed

CONTROL = preset("dcqcn", "fluid")
FLOWS = np.array([2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 20, 28, 36, 50, 64, 100], float)
DELAYS = np.geomspace(2e-6, 250e-6, 36)
FORMS = ("as published", "exact")
RAMPS = {
    "the paper's, to 200 kB": "dcqcn-paper",
    "same slope, to 2 MB": "same-slope",
    "ns-3": "ns3",
    "SONiC": "sonic",
}
RESTS, SWINGS, NONE = 0.0, 1.0, 2.0


@cache
def delays(ramp: str, rate: float) -> tuple[Array, Array]:
    """(FLOWS,) s: the age from which on each number of flows swings, as published and exact; 0 where always."""
    published, exact = critical_delays(CONTROL, preset("marking", RAMPS[ramp], rate), rate, FLOWS)
    return fixed(published), fixed(exact)


def most(ramp: str, rate: float) -> float:
    """How many flows the ramp can give the marks they need."""
    return float(most_flows(CONTROL, preset("marking", RAMPS[ramp], rate), rate))


def kinds(form: str, ramp: str, rate: float) -> Array:
    """(DELAYS, FLOWS): RESTS, SWINGS or NONE."""
    swings = DELAYS[:, None] > delays(ramp, rate)[FORMS.index(form)]
    return np.where(most(ramp, rate) < FLOWS, NONE, np.where(swings, SWINGS, RESTS))


@explorer(
    "stability-map",
    title="How old a signal may be",
    caption="Does DCQCN come to rest, for a number of flows and an age of the marks? By the phase margin: linearised "
    "exactly at the exact fixed point, or as published in 2016. Where the ramp of marks is too short for so many "
    "flows there is no rest to come to. The clocks of DCQCN are fixed times, so a faster link needs a younger signal.",
    alt="A map of flows and age of the signal in three classes. Young signals rest, old ones swing; the border dips in "
    "the middle, far deeper in the published form; a block on the right has no rest when the ramp is short.",
)
def stability_map(
    form: Annotated[Array, Knob(*FORMS, default="exact", label="linearised")],
    ramp: Annotated[Array, Knob(*RAMPS, default="the paper's, to 200 kB", label="the switch's ramp")],
    rate: Annotated[Array, Knob(5e9, 12.5e9, 50e9, default=5e9, unit="B/s", label="bottleneck, one way")],
) -> Figure:
    """Age against critical delay, flows against the most that rest."""
    kind = each(lambda *state: kinds(*state).ravel(), form, ramp, rate)
    ten = each(lambda f, r, c: delays(r, c)[FORMS.index(f)][FLOWS == 10], form, ramp, rate)
    return Figure(
        x=Axis("flows", "", "log"),
        y=Axis("age of the signal", "s", "log"),
        elements=(
            Heat(
                "a push",
                FLOWS,
                DELAYS,
                kind.reshape((*kind.shape[:-1], DELAYS.size, FLOWS.size)),
                Axis("what becomes of a push", categories=("dies out", "swings", "no rest")),
                ("useful", "lost", "bound"),
            ),
            Rule(85e-6, "{at}", along="y", ink="measured"),
        ),
        numbers={
            "ten": Number(ten, "s", "age from which on ten flows swing"),
            "most": Number(each(lambda f, *state: most(*state), form, ramp, rate), "flows", "most flows that rest"),
            "resting": Number((kind == RESTS).mean(axis=-1, keepdims=True), "%", "of the map at rest"),
        },
        reading=lambda s: (
            f"Linearised {'exactly' if s['form'] == 'exact' else s['form']}, at {s['rate'] * 8e-9:.0f} Gb/s, ten flows "
            + (f"swing when their marks are {s['ten'] * 1e6:,.1f} us old." if s["ten"] > 0 else "swing at any age.")
        ),
        failure=lambda s: (
            f"Beyond {s['most']:,.0f} flows nothing rests, however young the signal: the ramp ends."
            if s["most"] < FLOWS[-1]
            else "Ten flows swing with a signal as young as a round trip with a little queue in it."
            if s["ten"] < 20e-6
            else ""
        ),
    )
