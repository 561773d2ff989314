"""How many switches? A Clos over hosts and radix: linear between the tier boundaries, one step at each."""

from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Points, Rule
from netlib.topology import clos_hosts, clos_switches, clos_tiers, switch_hops

HOSTS = 2.0 ** np.arange(6, 18)
SHOWN = np.unique(np.concatenate([np.geomspace(64, 131_072, 133).round(), HOSTS]))


@explorer(
    "clos-size",
    title="How many switches?",
    caption="A non-blocking Clos of switches with k ports, with as few tiers as hold the hosts. Inside a tier count "
    "the switches grow in proportion to the hosts, 3N/k with two tiers and 5N/k with three. The dashed line is the "
    "square that is sometimes claimed, started at the two-tier limit.",
    alt="Log-log lines of switches over hosts: the count rises as a straight line with a step where a tier is added, "
    "while a square law leaves it upward; a lower panel shows the switches on the longest route, a staircase of 1, "
    "3, 5 and 7.",
)
def clos_size(
    radix: Annotated[Array, Knob(16, 32, 64, 128, 144, 256, 512, default=64, unit="ports", label="switch")],
    hosts: Annotated[Array, Knob(*HOSTS, default=4096.0, unit="hosts")],
) -> Figure:
    """Counts by closed form; up to four tiers."""
    tiers = clos_tiers(SHOWN, radix)
    switches = clos_switches(SHOWN, radix, tiers)
    own = clos_tiers(hosts, radix)
    count, before = clos_switches(hosts, radix, own), clos_hosts(radix, 2)
    double = clos_switches(2 * hosts, radix, clos_tiers(2 * hosts, radix))
    square = 3 * before / radix * (SHOWN / before) ** 2
    return Figure(
        x=Axis("hosts", "", "log"),
        y=Axis("switches", "", "log", limits=(1.0, 1e5)),
        elements=(
            Line("switches", SHOWN, switches, "clos"),
            Line("if it were a square", SHOWN, np.where(before <= SHOWN, square, np.nan), "failure"),
            Points("chosen", hosts, count),
            Rule(before, "two tiers end at {at}"),
        ),
        below=Panel(
            Axis("switches on the longest route", "", limits=(0.0, 8.0)),
            (Line("route", SHOWN, switch_hops(tiers), "latency"),),
            height=0.5,
        ),
        numbers={
            "tiers": Number(own, "tiers", "tiers"),
            "switches": Number(count, "switches", "switches"),
            "each": Number(count / hosts, "", "switches per host"),
            "hops": Number(switch_hops(own), "switches", "on the longest route"),
            "growth": Number(double / count, "", "growth if the hosts double"),
            "limit": Number(before, "hosts", "held by two tiers"),
        },
        reading="{hosts} on switches of {radix} take {tiers}, {switches} and {hops} on the longest route; twice the "
        "hosts take {growth} times the switches.",
        failure=lambda s: (
            f"{s['tiers']:.0f} tiers: each packet may pass {s['hops']:.0f} switches, and every host pays for "
            f"{2 * s['tiers'] - 1:.0f} ports above its own. Take switches with more ports, or planes."
            if s["tiers"] > 3
            else ""
        ),
    )
