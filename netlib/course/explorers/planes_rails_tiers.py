"""What remains when something breaks: one plane or several, rails or not, for 64 hosts."""

from functools import cache
from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Bars, Figure, Number
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.topology import Fabric, leaf_spine, multi_plane, rail_optimised, what_remains

LINK = Link(0.0, bandwidth("ndr-400"))
HOSTS = 64
ONE, RAIL, TWO, FOUR = "one plane", "one plane, rails", "two planes", "four planes"
BROKEN = ("a host's cable", "a leaf", "a spine", "all leaves of a plane")
SHARES = ("pairs of hosts with a path", "access of the worst host", "bisection")


@cache
def fabric(design: str) -> Fabric:
    """The same 64 hosts and the same silicon: in p planes a switch splits its 16 ports into p times as many."""
    if design == RAIL:
        return rail_optimised(HOSTS // 8, 8, 16, LINK)
    planes = {ONE: 1, TWO: 2, FOUR: 4}[design]
    return multi_plane(leaf_spine(HOSTS, 16 * planes, LINK), planes)


def left(design: str, broken: str) -> Array:
    """The three shares of SHARES, and how many switches there were."""
    whole = fabric(design)
    leaves, spines = np.flatnonzero(whole.tier == 1), np.flatnonzero(whole.tier == 2)
    plane = whole.labels.get("plane", np.zeros(whole.vertices, np.int32))
    if broken == BROKEN[0]:
        after = whole.without(cables=[np.flatnonzero(whole.of_kind("access"))[0] // 2])
    elif broken == BROKEN[1]:
        after = whole.without(vertices=leaves[:1])
    elif broken == BROKEN[2]:
        after = whole.without(vertices=spines[:1])
    else:
        after = whole.without(vertices=leaves[plane[leaves] == plane[leaves[0]]])
    remains = what_remains(whole, after)
    return np.array([remains.pairs, remains.access, remains.bisection, whole.switches.size])


@explorer(
    "planes-rails-tiers",
    title="What remains?",
    caption="64 hosts with the same bandwidth on the same 12 switches, wired four ways. A rail decides which hosts "
    "share a leaf, a tier is a layer of switches, a plane is a whole fabric beside another, on split ports. With one "
    "plane a leaf takes its hosts with it; with two, every host keeps half of its bandwidth at least.",
    alt="Three bars from 0 to 1: pairs of hosts that still have a path, bandwidth that the worst host keeps, "
    "bisection that is left; with one plane and a dead leaf the second bar is empty.",
)
def planes_rails_tiers(
    design: Annotated[Array, Knob(ONE, RAIL, TWO, FOUR, default=TWO, label="wiring")],
    broken: Annotated[Array, Knob(*BROKEN, default=BROKEN[1], label="broken")],
) -> Figure:
    """Computed on the fabric that is left: paths by breadth-first search, bisection by maximum flow."""
    found = each(left, design, broken)
    return Figure(
        x=Axis("what is left", categories=SHARES),
        y=Axis("share of the whole fabric", "%", limits=(0.0, 1.05)),
        elements=(Bars("left", found[..., :3], "useful"),),
        numbers={
            "pairs": Number(found[..., :1], "%", "pairs of hosts with a path"),
            "access": Number(found[..., 1:2], "%", "access bandwidth of the worst host"),
            "bisection": Number(found[..., 2:3], "%", "bisection"),
            "switches": Number(found[..., 3:], "switches", "in the whole fabric"),
        },
        reading="{design}, {switches}; broken: {broken}. {pairs} of the pairs still have a path, the worst host "
        "keeps {access} of its bandwidth, {bisection} of the bisection is left.",
        failure=lambda s: (
            f"{1 - s['pairs']:.1%} of the pairs are cut off, and with them every job that runs on these hosts."
            if s["pairs"] < 1
            else ""
        ),
    )
