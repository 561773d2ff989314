from functools import cache

from netlib.congestion import preset
from netlib.congestion.fluid import critical_delays, growth
from netlib.congestion.parameters import Dcqcn, Marking
from netlib.course.exercises import exercise
from netlib.units import gbps

RATE, FLOWS, ASKED = gbps(40), 6, 50e-6


def told() -> tuple[Dcqcn, Marking]:
    control, marking = preset("dcqcn", "fluid"), preset("marking", "dcqcn-paper")
    assert isinstance(control, Dcqcn)
    assert isinstance(marking, Marking)
    return control, marking


@cache
def delays(flows: int = FLOWS) -> tuple[float, float]:
    published, exact = critical_delays(*told(), RATE, flows)
    return float(published), float(exact)


@cache
def run() -> str:
    """What a run at the asked delay does, which shares nothing with the two margins."""
    return "b" if growth(*told(), RATE, [FLOWS], [ASKED], seconds=0.05, step=2e-6)[0] > 0 else "a"


EXERCISE = exercise(
    id="delay-01",
    chapter="congestion",
    skill="how old a signal may be",
    stars=2,
    minutes=(6, 10),
    place=426,
    ask="Six DCQCN flows share 40 Gb/s, with the parameters of the fluid study of 2016 (`preset('dcqcn', 'fluid')`) "
    "and the paper's marks (`preset('marking', 'dcqcn-paper')`). Beyond which feedback delay, in us, does the "
    "linearised model swing ever more, in the paper's shortened form (`published`) and linearised exactly (`exact`)? "
    "(Use `critical_delays` of `netlib.congestion.fluid`.) And a delay of 50 us: what does a `run` of the full "
    "equations do that starts 2 % beside the rest?",
    answer=lambda: {"published": delays()[0], "exact": delays()[1], "run": run()},
    unit={"published": "us", "exact": "us"},
    rtol=0.02,
    compare={"run": "choice"},
    options={"run": {"a": "it comes back to rest", "b": "it swings ever more", "c": "it stays 2 % beside it"}},
    hints=(
        "Two linearisations of one model give two delays. A run knows neither of them.",
        "`critical_delays(control, marking, capacity, flows)` returns both in seconds; 50 us lies between them.",
        "`critical_delays(preset('dcqcn', 'fluid'), preset('marking', 'dcqcn-paper'), gbps(40), 6)`",
    ),
    wrong={
        "published": {
            20.8: "that is for ten flows",
            72.4: "that is for two flows",
            35.2: "that is at 100 Gb/s",
        },
        "exact": {
            62.5: "that is for ten flows",
            85.6: "that is for two flows",
            55.5: "that is at 100 Gb/s",
        },
        "run": {
            "b": "that is what the shortened form says; run it (`dcqcn_run`, or `growth`)",
            "c": "a rest either draws back what was pushed, or throws it away",
        },
    },
    right=(("30.5 us", "64.7 us", "a"), {"published": 30.45, "exact": 64.67, "run": "it comes back to rest"}),
    explain=lambda: (
        f"{delays()[0] * 1e6:.1f} us by the shortened form, {delays()[1] * 1e6:.1f} us exactly. At 50 us they "
        "disagree, and the run comes back to rest: the exact form is right. The shortened one expands exponentials to "
        "second order and takes the cube root for the share of marks, which is too pessimistic where flows are "
        "neither few nor many. A delay that a paper calls unstable deserves a run before it becomes a rule."
    ),
)
