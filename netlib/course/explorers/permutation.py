"""A permutation over a fat-tree: one path for each flow, or one for each packet."""

from typing import Annotated, Any, Literal

import numpy as np

from netlib.congestion.experiments import Experiment, experiment
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.course.kept import kept
from netlib.links import Link

PATHS: dict[str, Literal["ecmp", "spray"]] = {"one path a flow": "ecmp", "a path a packet": "spray"}
CONTROLS = {
    "pauses only": ("uncontrolled", "line-rate"),
    "DCTCP": ("dctcp", "ns3"),
    "Swift": ("swift", "htsim"),
    "HPCC": ("hpcc", "paper"),
    "PowerTCP": ("powertcp", "ns3-datacenter"),
    "NSCC": ("nscc", "uec-1.0"),
    "RCCC": ("credits", "rccc"),
}
CABLE, SIZE = Link(1e-6, 12.5e9), 2e6


def finishes(made: Experiment, every: int = 1) -> dict[str, Any]:
    """Finish times, the slowest first (one of `every`), their mean, and the last finish at fair shares."""
    return {
        "finish": np.sort(made.run.finish)[:: -every], "mean": made.run.finish.mean(), "least": made.ideal.max(),
    }  # fmt: skip


def stairs(finish: Array) -> tuple[Array, Array]:
    """Sorted finishes (..., n), perhaps with gaps at their end, as steps over shares of the flows: x (2n,) and y.

    Fewer flows make wider steps, so that every place has a value to read.
    """
    places = finish.shape[-1]
    many = np.isfinite(finish).sum(axis=-1, keepdims=True)
    left = np.repeat(np.arange(places), 2)
    share = (left + np.tile([0, 1], places)) / places
    return share, np.take_along_axis(finish, left * many // places, axis=-1)


def run(paths: str, control: str, hosts: float) -> dict[str, Any]:
    """One state: all finishes in s, and what an empty network needs."""
    made = experiment(
        "permutation", *CONTROLS[control], hosts={16: 4, 128: 8}[int(hosts)], size=SIZE, link=CABLE,
        paths=PATHS[paths], seed=1, dt=0.5e-6,
    )  # fmt: skip
    free = SIZE / made.traffic.packet.payload * made.traffic.packet.wire / 12.5e9 + made.traffic.base_rtt().max()
    return finishes(made) | {"free": free}


WAYS = Knob(*PATHS, default="one path a flow", label="paths")
CONTROL = Knob(*CONTROLS, default="pauses only", label="control")
HOSTS = Knob(16, 128, default=16, unit="hosts")
KEPT = kept(
    __file__,
    {"paths": WAYS, "control": CONTROL, "hosts": HOSTS},
    run,
    "A permutation of 2 MB a host: finishes in s, the slowest first; the least that shares allow; the least alone.",
)


@explorer(
    "permutation",
    title="Everybody sends to somebody else",
    caption="Hosts of a fat-tree without oversubscription, each sends 2 MB to another. Finish times, the slowest "
    "first. Hashing puts several flows on one link while others are empty, and no control of rates can mend that; a "
    "path for each packet does, for every control that does not read single queues.",
    alt="A staircase of finish time that falls from left to right, for one path a flow from two to four times the "
    "line that marks the least; for a path a packet almost flat, just above the line.",
)
def permutation(
    paths: Annotated[Array, WAYS],
    control: Annotated[Array, CONTROL],
    hosts: Annotated[Array, HOSTS],
) -> Figure:
    """The packet engine's, in steps of half a microsecond, kept."""
    finish = KEPT.read("finish", paths, control, hosts)
    free, fair = (KEPT.read(name, paths, control, hosts) for name in ("free", "least"))
    share, steps = stairs(finish)
    last = finish[..., :1]
    return Figure(
        x=Axis("share of the flows, the slowest first", "%", limits=(0, 1)),
        y=Axis("finish", "s"),
        elements=(
            Line("finish", share, steps, "clos"),
            Rule(free, "the longest way, empty: {at}", along="y"),
            Rule(np.where(fair > 1.05 * free, fair, np.nan), "fair shares, the last flow: {at}", along="y"),
        ),
        numbers={
            "mean": Number(KEPT.read("mean", paths, control, hosts), "s", "mean finish"),
            "last": Number(last, "s", "last finish"),
            "times": Number(last / free, "times", "the least, last flow"),
            "fair": Number(fair, "s", "last finish of fair shares on the same paths"),
        },
        reading="{paths}, {control}, {hosts}: flows are done after {mean} on average and {last} at last, {times} the "
        "least; fair shares of these paths would take {fair}.",
        failure=lambda s: (
            f"The collective waits {s['times']:.1f} times as long as the network is able to serve it, for a hash."
            if s["paths"] == "one path a flow"
            else "Stamps of many paths are read as if one path had all their queues: rates fall, and links idle."
            if s["times"] > 1.2
            else ""
        ),
    )
