"""An all-to-all over a fat-tree: gentler than a permutation, because each host's bytes go everywhere."""

from typing import Annotated, Any

import numpy as np

from netlib.congestion.experiments import experiment
from netlib.course.explorer import Knob, explorer
from netlib.course.explorers.permutation import CABLE, CONTROL, CONTROLS, PATHS, WAYS, finishes, stairs
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.course.kept import kept


def run(paths: str, control: str, size: float) -> dict[str, Any]:
    """One state: all finishes in s, the last of fair shares, and what the hosts' links need for all bytes."""
    made = experiment(
        "all-to-all", *CONTROLS[control], size=size, link=CABLE, paths=PATHS[paths], seed=1, dt=0.5e-6, until=0.1
    )
    packet, trip = made.traffic.packet, made.traffic.base_rtt().max()
    return finishes(made, every=3) | {"free": 15 * np.ceil(size / packet.payload) * packet.wire / 12.5e9 + trip}


BYTES = Knob(20e3, 0.1e6, 0.4e6, default=0.1e6, unit="B", label="bytes for each pair")
KEPT = kept(
    __file__,
    {"paths": WAYS, "control": CONTROL, "size": BYTES},
    run,
    "An all-to-all of 16 hosts: every third finish in s, the slowest first; last of fair shares; all over one link.",
)


@explorer(
    "all-to-all",
    title="Everybody sends to everybody",
    caption="Sixteen hosts of a fat-tree without oversubscription, each sends to the fifteen others at once. Finish "
    "times of the 240 flows, the slowest first, beside what a host's own link needs for all of its bytes. Many small "
    "flows spread better than few large ones, so hashing costs less than in a permutation; a path for each packet "
    "takes the rest.",
    alt="A staircase of finish time over 240 flows. For a path a packet it is a flat line at the mark of the least; "
    "for one path a flow it begins a quarter above the mark and falls below it to the right.",
)
def all_to_all(
    paths: Annotated[Array, WAYS],
    control: Annotated[Array, CONTROL],
    size: Annotated[Array, BYTES],
) -> Figure:
    """The packet engine's, in steps of half a microsecond, kept."""
    finish = KEPT.read("finish", paths, control, size)
    free, fair = (KEPT.read(name, paths, control, size) for name in ("free", "least"))
    share, steps = stairs(finish)
    last = finish[..., :1]
    return Figure(
        x=Axis("share of the flows, the slowest first", "%", limits=(0, 1)),
        y=Axis("finish, times the least", "", limits=(0, 1.8)),
        elements=(
            Line("finish", share, steps / free, "clos"),
            Rule(1.0, "all bytes of a host over its link", along="y"),
        ),
        numbers={
            "mean": Number(KEPT.read("mean", paths, control, size), "s", "mean finish"),
            "last": Number(last, "s", "last finish"),
            "free": Number(free, "s", "the least: all bytes of a host over its link"),
            "times": Number(last / free, "times", "the least, last flow"),
            "fair": Number(fair, "s", "last finish of fair shares on the same paths"),
        },
        reading="{paths}, {control}, {size} for each pair: flows are done after {mean} on average and {last} at last, "
        "{times} the least; fair shares of these paths would take {fair}.",
        failure=lambda s: (
            f"The collective waits {s['times']:.2f} times as long as its hosts' links need."
            if s["times"] > 1.15
            else ""
        ),
    )
