"""A permutation over a fat-tree: one path for each flow, or one for each packet."""

from functools import cache
from typing import Annotated, Any, Literal

import numpy as np

from netlib.congestion.experiments import Experiment, experiment
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Rule
from netlib.links import Link

PATHS: dict[str, Literal["ecmp", "spray"]] = {"one path a flow": "ecmp", "a path a packet": "spray"}
CONTROLS = {"pauses only": ("uncontrolled", "line-rate"), "DCTCP": ("dctcp", "ns3"), "NSCC": ("nscc", "uec-1.0")}
LINK, SIZE, HOSTS = Link(1e-6, 12.5e9), 5e5, 16


@cache
def seen(paths: str, control: str, seed: int) -> Experiment:
    """The run of a state."""
    name = PATHS[paths]
    return experiment(
        "permutation", *CONTROLS[control], hosts=4, size=SIZE, link=LINK, paths=name, seed=seed, dt=0.5e-6
    )


def sorted_finish(paths: Any, control: Any, seed: Any) -> Array:
    """Finish over the least, the slowest first."""
    return np.asarray(np.sort(seen(str(paths), str(control), int(seed)).run.finish)[::-1])


@explorer(
    "permutation",
    title="Everybody sends to somebody else",
    caption="Sixteen hosts of a fat-tree without oversubscription, each sends half a megabyte to another. Finish "
    "times, the slowest first. Hashing puts several flows on one link while others are empty, and no control of rates "
    "can mend that; a path for each packet does.",
    alt="Bars of finish time falling from left to right, for one path a flow up to several times the line that marks "
    "the least; for a path a packet all nearly at the line.",
)
def permutation(
    paths: Annotated[Array, Knob(*PATHS, default="one path a flow", label="paths")],
    control: Annotated[Array, Knob(*CONTROLS, default="pauses only", label="control")],
    draw: Annotated[Array, Knob(1, 2, default=1, label="draw of the permutation")],
) -> Figure:
    """The packet engine, in steps of half a microsecond."""
    finish = each(sorted_finish, paths, control, draw)
    least = SIZE * 1.038 / 12.5e9 + 14e-6
    return Figure(
        x=Axis("flow, the slowest first", "", categories=tuple(str(i + 1) for i in range(HOSTS))),
        y=Axis("finish", "s"),
        elements=(Bars("finish", finish, "clos"), Rule(least, "the longest way, empty: {at}", along="y")),
        numbers={
            "mean": Number(finish.mean(axis=-1, keepdims=True), "s", "mean finish"),
            "last": Number(finish[..., :1], "s", "last finish"),
            "times": Number(finish[..., :1] / least, "times", "the least, last flow"),
        },
        reading="{paths}, {control}: flows are done after {mean} on average and {last} at last, {times} the least.",
        failure=lambda s: (
            f"The collective waits {s['times']:.1f} times as long as the network is able to serve it, for a hash."
            if s["times"] > 2
            else ""
        ),
    )
