"""Hash collisions: how flows spread over equal uplinks, exactly, and what a collective makes of it."""

from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Rule
from netlib.topology import ecmp_speed, expected_max_load, links_used

QPS = (1, 2, 4, 8, 16)
MOST = 16


def thrown(flows: float, links: float, seed: float) -> Array:
    """One throw: flows on each uplink, the fullest first."""
    rng = np.random.default_rng(int(seed))
    counts = np.sort(np.bincount(rng.integers(0, int(links), int(flows)), minlength=int(links)))[::-1]
    return np.concatenate([counts, np.full(MOST - counts.size, np.nan)]).astype(float)


@explorer(
    "ecmp-collide",
    title="Hash and collide",
    caption="As many connections as uplinks, each of one or more queue pairs, and each queue pair hashed onto an "
    "uplink whatever the others do. Bars show one throw, the fullest uplink first. The numbers are exact, over all "
    "throws: a collective ends with its hottest link. More queue pairs even the load out.",
    alt="Bars of load per uplink falling from twice the mean or more to nothing, against a line at the mean that a "
    "perfect spread would reach everywhere.",
)
def ecmp_collide(
    links: Annotated[Array, Knob(2, 4, 8, 16, default=8, unit="uplinks")],
    qps: Annotated[Array, Knob(*QPS, default=1, unit="a connection", label="queue pairs")],
    throw: Annotated[Array, Knob(1, 2, 3, 4, default=1, label="throw number")],
) -> Figure:
    """As many connections as uplinks, each with `qps` flows."""
    flows = links * qps
    counts = each(thrown, flows, links, throw) / qps
    own, most = (each(lambda n, q: float(ecmp_speed(n * q, n)), links, q) for q in (qps, QPS[-1] + 0 * qps))
    return Figure(
        x=Axis("uplink, fullest first", "", categories=tuple(str(i + 1) for i in range(MOST))),
        y=Axis("load / mean", "", limits=(0.0, 6.0)),
        elements=(Bars("this throw", counts, "nic"), Rule(1.0, "a perfect spread", along="y")),
        numbers={
            "flows": Number(flows, "flows", "flows"),
            "hottest": Number(
                each(lambda n, q: float(expected_max_load(n * q, n)) / q, links, qps), "", "hottest / mean"
            ),
            "speed": Number(own, "%", "speed of a collective"),
            "used": Number(links_used(flows, links), "%", "uplinks in use"),
            "sixteen": Number(most, "%", "speed with 16 queue pairs"),
        },
        reading="{flows} on {links} use {used} of them; the hottest carries {hottest} times the mean on average, so a "
        "collective runs at {speed}. With 16 queue pairs it would be {sixteen}.",
        failure=lambda s: (
            f"{1 - s['speed']:.0%} of the bandwidth is lost to chance: {1 - s['used']:.0%} of the uplinks idle while "
            f"one carries {s['hottest']:.1f} flows' worth."
            if s["speed"] < 0.4
            else ""
        ),
    )
