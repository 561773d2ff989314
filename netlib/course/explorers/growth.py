"""How far the engine goes: measured seconds for fat-trees up to 65,536 hosts."""

from typing import Annotated

from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points
from netlib.topology import measured_growth

KEPT = measured_growth()
STEPS = {"build": "build", "route": "find routes", "paths": "follow flows", "rates": "share links"}


@explorer(
    "growth",
    title="How far the engine goes",
    caption="Seconds of this book's own library for a random permutation on a fat-tree: build the fabric, find all "
    "routes, follow the flows, share the links max-min fairly. Measured once on two cores; the benchmark measures them "
    "on yours. Routes grow with the pairs of leaves and switches, everything else with the hosts.",
    alt="Measured points on log-log axes, rising with the number of hosts; the time to find routes lies above the "
    "others and is steepest.",
)
def growth(
    step: Annotated[Array, Knob("everything", *STEPS.values(), default="everything", label="step")],
) -> Figure:
    """The kept table, with the slope from 1,024 hosts on."""
    seconds = {"everything": KEPT.total} | {name: KEPT.seconds[key] for key, name in STEPS.items()}
    chosen = pick(step, seconds)
    own = pick(step, {"everything": KEPT.exponent()} | {name: KEPT.exponent(key) for key, name in STEPS.items()})
    line = chosen[..., -1:] * (KEPT.hosts / KEPT.hosts[-1])
    return Figure(
        x=Axis("hosts", "", "log"),
        y=Axis("processor time", "s", "log", limits=(1e-4, 30.0)),
        elements=(
            Points("measured", KEPT.hosts, chosen),
            Line("in proportion to the hosts", KEPT.hosts, line, "bound"),
        ),
        numbers={
            "slope": Number(own, "", "slope from 1,024 hosts on"),
            "largest": Number(chosen[..., -1:], "s", "for 65,536 hosts"),
            "memory": Number(KEPT.gib[-1] * 2.0**30, "iB", "held for 65,536 hosts"),
        },
        reading="{step}: {largest} for 65,536 hosts, where the process holds {memory}; the time grows as hosts to "
        "the power {slope}.",
        failure=lambda s: (
            f"Steeper than the hosts: a fabric 16 times as large would take {16 ** s['slope']:,.0f} times as long. "
            "Beyond this size, route by arithmetic instead of by table."
            if s["step"] == STEPS["route"]
            else ""
        ),
    )
