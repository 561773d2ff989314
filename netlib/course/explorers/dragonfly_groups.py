"""How large can a dragonfly be? Groups and hosts from the split of a switch's ports."""

from typing import Annotated

import numpy as np

from netlib import topology
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule

RADIX = 64


@explorer(
    "dragonfly-groups",
    title="How large can a dragonfly be?",
    caption="Switches of 64 ports: p for hosts, a - 1 for the other switches of the group, h for other groups, one "
    "link between two groups. The largest is balanced, a = 2p = 2h. A group of 32 switches with 16 hosts and 17 global "
    "links each is HPE's Slingshot.",
    alt="A curve of host ports over the global links per switch, rising to the point where the ports of the switch run "
    "out; a mark shows the chosen split, which lies beyond the edge when the ports do not suffice.",
)
def dragonfly_groups(
    a: Annotated[Array, Knob(4, 8, 16, 24, 32, 40, 48, default=32, unit="switches a group", label="group")],
    p: Annotated[Array, Knob(2, 4, 8, 16, 24, 32, default=16, unit="hosts a switch", label="hosts")],
    h: Annotated[Array, Knob(1, 2, 4, 8, 16, 17, 24, 32, default=17, unit="links a switch", label="global")],
) -> Figure:
    """Hosts over h for the chosen a and p, cut where p + a - 1 + h exceeds the radix."""
    shown = np.arange(1, 49, dtype=float)
    used, fits = p + a - 1 + h, p + a - 1 + shown <= RADIX
    groups, hosts = topology.dragonfly_groups(a, h), topology.dragonfly_hosts(p, a, h)
    return Figure(
        x=Axis("global links per switch", ""),
        y=Axis("host ports", "", "log", limits=(10.0, 1e6)),
        elements=(
            Line("fits 64 ports", shown, np.where(fits, topology.dragonfly_hosts(p, a, shown), np.nan), "dragonfly"),
            Points("chosen", h, hosts),
            Rule(p, "balanced: h = p"),
        ),
        numbers={
            "ports": Number(used, "ports", "ports of a switch in use"),
            "groups": Number(groups, "groups", "groups, at most"),
            "hosts": Number(hosts, "host ports", "host ports, at most"),
            "group": Number(p * a, "host ports", "host ports of one group"),
            "two": Number(2 * p * a, "host ports", "host ports of two groups"),
            "taper": Number(p / h, "", "host ports per global port"),
        },
        reading="{a} with {p} and {h} use {ports} and make {groups} of {group}: {hosts}. Two groups alone hold {two}.",
        failure=lambda s: (
            f"{s['ports']:.0f} ports are needed and the switch has {RADIX}: this dragonfly cannot be built."
            if s["ports"] > RADIX
            else ""
        ),
    )
