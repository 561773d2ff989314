"""Dragonfly or Clos at the same size: switches, long cables and what is left of the bisection."""

from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points
from netlib.topology import clos_switches, clos_tiers, dragonfly_groups

RADIX = 64
P, A, H = 16, 32, 17  # Slingshot's split of 64 ports
PLUS = (RADIX // 2) ** 2  # hosts of a dragonfly+ group: 32 leaves of 32 hosts, 32 spines
HOSTS = 1024.0 * 2 ** np.arange(7)
SHOWN = 512.0 * np.arange(2, 130)
MEASURES = ("switches", "long cables", "bisection")


def clos(hosts: Array) -> dict[str, Array]:
    """Per host: switches, cables above the leaves, bisection as a share of the hosts' rate."""
    tiers = clos_tiers(hosts, RADIX)
    return {
        "switches": clos_switches(hosts, RADIX, tiers) / hosts,
        "long cables": tiers - 1.0,
        "bisection": np.ones_like(hosts),
    }


def dragonfly(hosts: Array) -> dict[str, Array]:
    """As many full groups as hold the hosts; all global ports in use, spread evenly over the other groups."""
    groups = np.ceil(hosts / (P * A))
    globals_ = groups * A * H / 2
    return {
        "switches": groups * A / hosts,
        "long cables": globals_ / hosts,
        "bisection": _cut(groups, globals_) / (groups * P * A / 2),
    }


def dragonfly_plus(hosts: Array) -> dict[str, Array]:
    """Full groups of leaves and spines; each spine's upper half of ports goes to other groups."""
    groups = np.ceil(hosts / PLUS)
    globals_ = groups * PLUS / 2
    return {
        "switches": groups * RADIX / hosts,
        "long cables": globals_ / hosts,
        "bisection": np.where(groups > 1, _cut(groups, globals_) / (groups * PLUS / 2), 1.0),
    }


def _cut(groups: Array, cables: Array) -> Array:
    """Cables between two halves of the groups when every pair of groups has equally many."""
    pairs = np.maximum(groups * (groups - 1) / 2, 1)
    return np.asarray(np.floor(groups / 2) * np.ceil(groups / 2) / pairs * cables)


@explorer(
    "dragonfly-or-clos",
    title="Dragonfly or Clos?",
    caption="The same 64-port switches at the same number of hosts. A dragonfly (Slingshot's split) needs two "
    "switches for 32 hosts at any size and one layer of long cables, where a Clos adds a tier; for that it gives up "
    "bisection, and needs adaptive routing to use what it has. Dragonfly+ keeps a Clos inside the group.",
    alt="Three lines over the number of hosts: the Clos steps up where it needs a third tier, the dragonfly and "
    "dragonfly+ stay nearly level with a saw-tooth from groups that are not full.",
)
def dragonfly_or_clos(
    measure: Annotated[Array, Knob(*MEASURES, default="switches", label="per host")],
    hosts: Annotated[Array, Knob(*HOSTS, default=4096.0, unit="hosts")],
) -> Figure:
    """Closed forms over the hosts; bisection counts the cables between two halves of the groups."""
    shapes = {"clos": clos, "dragonfly": dragonfly, "dragonfly-plus": dragonfly_plus}
    lines = {name: pick(measure, make(SHOWN)) for name, make in shapes.items()}
    whole = {name: make(hosts) for name, make in shapes.items()}
    own = pick(measure, whole["clos"])
    return Figure(
        x=Axis("hosts", "", "log"),
        y=Axis("per host", "", "log", limits=(0.03, 3.0)),
        elements=(
            *(Line(name, SHOWN, y, name) for name, y in lines.items()),
            Points("chosen", np.broadcast_to(hosts, own.shape), own),
        ),
        numbers={
            "clos": Number(whole["clos"]["switches"] * hosts, "switches", "Clos"),
            "dragonfly": Number(whole["dragonfly"]["switches"] * hosts, "switches", "dragonfly"),
            "plus": Number(whole["dragonfly-plus"]["switches"] * hosts, "switches", "dragonfly+"),
            "groups": Number(np.ceil(hosts / (P * A)), "groups", "dragonfly groups"),
            "most": Number(dragonfly_groups(A, H), "groups", "at most"),
            "cut": Number(whole["dragonfly"]["bisection"], "%", "bisection of the dragonfly"),
        },
        reading="{hosts}: {clos} as a Clos, {dragonfly} as a dragonfly of {groups}, {plus} as a dragonfly+. The "
        "dragonfly's bisection is {cut} of what its hosts can send.",
        failure=lambda s: (
            f"A dragonfly of {s['groups']:.0f} groups holds {s['groups'] * P * A:,.0f} hosts: here it buys nothing "
            "that two tiers of a Clos do not give with full bisection."
            if s["hosts"] <= RADIX**2 / 2
            else ""
        ),
    )
