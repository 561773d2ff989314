"""Four switches in a ring that may or may not stop for ever, and what the graph of their buffers said before."""

from dataclasses import replace
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.congestion.lossless import (
    ENDLESS,
    Deadlock,
    buffer_dependencies,
    in_words,
    lanes_by_dateline,
    round_ways,
    shortest_cycle,
    switch_ring,
    until_stuck,
)
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.traffic import Packet, over
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.course.words import nice
from netlib.links import Link
from netlib.topology import Fabric, paths, routes

SWITCHES, HOPS = 4, 2
LINK, PACKET = Link(1e-6, 12.5e9), Packet(4096, 4096)
UNTIL = 400e-6
TIME = np.linspace(0, UNTIL, 81)
ROUND, LANE, LINE = "all clockwise", "clockwise, second lane", "never over the last cable"


def drawn(ways: str) -> tuple[Fabric, Array, Array]:
    """The ring, the links of each flow's way, and the lane on each."""
    ring = switch_ring(SWITCHES, LINK)
    clockwise = round_ways(ring, HOPS)
    if ways != LINE:
        return ring, clockwise, lanes_by_dateline(ring, clockwise) if ways == LANE else np.zeros_like(clockwise)
    src = np.arange(SWITCHES)
    cut = routes(ring.without(cables=[2 * SWITCHES - 1]))
    made = paths(cut, src, (src + HOPS) % SWITCHES, lambda hop: np.zeros_like(hop.count))
    return ring, made, np.zeros_like(made)


@cache
def verdict(ways: str) -> tuple[int, str]:
    """How long the shortest cycle of the graph is, and which."""
    ring, way, lane = drawn(ways)
    graph = buffer_dependencies(ring, way, lane)
    cycle = shortest_cycle(graph)
    return cycle.size, in_words(graph, cycle)


@cache
def seen(ways: str, load: float, xoff: float) -> Deadlock:
    """The run of a state, slot by slot."""
    ring, way, lane = drawn(ways)
    made = over(ring, way, ENDLESS, PACKET)
    capacity = made.capacity.copy()
    capacity[made.sender] *= load
    rule = Pfc(buffer=1e9, alpha=0, xoff=xoff, hysteresis=2 * PACKET.wire, response=0)
    return until_stuck(replace(made, capacity=capacity), rule, UNTIL, np.random.default_rng(0), lane)


def delivered(run: Deadlock) -> Array:
    """Bytes that all receivers have at TIME."""
    total = np.cumsum(run.rate * np.diff(run.time, prepend=0))
    return np.asarray(np.interp(TIME, run.time, total))


@explorer(
    "deadlock",
    title="A cycle, and whether it closes",
    caption="Four switches in a ring, a host at each, all cables 100 Gb/s; each host sends to the one opposite, and a "
    "switch pauses whoever fills it above the threshold. What all receivers together have got. Before the run the "
    "buffers are drawn as a graph, with an arrow where one waits for room in the next.",
    alt="A curve of bytes against time below a straight line. Where the graph has a cycle and the hosts send enough, "
    "the curve bends after some hundred microseconds and is flat from then on; otherwise it climbs to the end.",
)
def deadlock(
    ways: Annotated[Array, Knob(ROUND, LANE, LINE, label="paths")],
    load: Annotated[Array, Knob(0.4, 0.5, 0.6, 1.0, unit="%", default=0.6, label="each host sends")],
    xoff: Annotated[Array, Knob(50e3, 100e3, 200e3, unit="B", default=100e3, label="pause above")],
) -> Figure:
    """The slot model; the graph is netlib's, and knows nothing of the run."""

    def number(f: Any) -> Array:
        return each(lambda w, r, x: f(seen(str(w), float(r), float(x))), ways, load, xoff)

    begin = number(lambda run: run.begin)
    free = SWITCHES * np.minimum(load, 1 / HOPS) * 12.5e9  # two flows share each cable of the ring
    return Figure(
        x=Axis("time", "s", limits=(0, UNTIL)),
        y=Axis("received by all", "B"),
        elements=(
            Line("received", TIME, number(delivered), "useful", area=True),
            Line("with room for all", TIME, free * TIME, "bound"),
            Rule(np.where(np.isfinite(begin), begin, np.nan), "locked at {at}", ink="failure"),
        ),
        numbers={
            "cycle": Number(
                each(lambda w: verdict(str(w))[0], ways) + np.zeros(begin.shape), "buffers", "in the graph's cycle"
            ),
            "begin": Number(begin, "s", "from when on gates never open again"),
            "late": Number(number(lambda run: run.moved) / (free * UNTIL / 4), "%", "of what could come, last quarter"),
        },
        reading=lambda s: (
            (f"The graph has a cycle, {verdict(s['ways'])[1]}. " if s["cycle"] else "The graph has no cycle. ")
            + f"With {s['load']:.0%} from each host "
            + (
                f"it closes after {nice(s['begin'], 's')}, and no byte arrives any more."
                if np.isfinite(s["begin"])
                else f"the last quarter of the run brings {s['late']:.0%} of what could come"
                + (": a cycle is needed for a deadlock and is not enough." if s["cycle"] else ".")
            )
        ),
        failure=lambda s: (
            "Every switch waits for room in the next one round the ring; nothing but throwing packets away ends that."
            if np.isfinite(s["begin"])
            else ""
        ),
    )
