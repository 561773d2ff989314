"""One late rank, one slow cable: when does everybody finish an all-reduce?"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives import (
    Schedule,
    halving_doubling_allreduce,
    ring_allreduce,
    simulate,
    slowed,
    tree_allreduce,
)
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.topology import one_switch
from netlib.units import MiB, show

N, SIZE = 13, 64 * MiB
STEP = 1e-6  # below this nothing has been lost
CABLE = Link(2.5e-6, bandwidth("ndr-400"))
MADE: dict[str, Callable[[int], Schedule]] = {
    "ring": ring_allreduce,
    "halving and doubling": halving_doubling_allreduce,
    "binomial tree": tree_allreduce,
}


@cache
def finish(algorithm: str, late: float, slow: float, rank: int) -> Array:
    """(n,) when each rank is done, if one comes late and its cable is slow."""
    comes = np.zeros(N)
    comes[rank] = late
    fabric = one_switch(N, CABLE)
    return simulate(
        MADE[algorithm](N), slowed(fabric, rank, slow) if slow > 1 else fabric, SIZE, pace="rank", late=comes
    ).finish


@explorer(
    "late-rank",
    title="One late, all late?",
    caption="All-reduce of 64 MiB on 13 ranks, one NDR card each on one switch, every rank at its own pace. One rank "
    "comes late, or its cable is slow. In a ring everybody waits for it, and then for all the steps. In a tree it "
    "matters when a rank is needed: one whose turn comes third may come two steps late for nothing.",
    alt="Three curves of the time at which each of 13 ranks is done, on a log axis. The ring's is level and moves up "
    "by the whole delay. The tree's is a staircase, and stays where it was for a rank that is needed late.",
)
def late_rank(
    late: Annotated[Array, Knob(0.0, 1e-3, 3e-3, 10e-3, default=3e-3, unit="s", label="comes late by")],
    slow: Annotated[Array, Knob(1, 2, 4, default=1, unit="times", label="its cable is slower")],
    rank: Annotated[Array, Knob(0, 1, 5, 8, 12, default=12, label="which rank")],
) -> Figure:
    """When each rank is done, by algorithm, and what the trouble costs."""
    place = np.arange(N, dtype=float)
    ends = {name: each(lambda d, s, r, own=name: finish(own, d, s, int(r)), late, slow, rank) for name in MADE}
    cost = {name: found.max(axis=-1, keepdims=True) - finish(name, 0.0, 1, 0).max() for name, found in ends.items()}
    ring, doubling, tree = cost.values()
    return Figure(
        x=Axis("rank", ""),
        y=Axis("done after", "s", "log"),
        elements=(
            *(Line(name, place, found, ink) for (name, found), ink in zip(ends.items(), INKS, strict=True)),
            Rule(rank + 0.0 * ring, "this rank"),
        ),
        numbers={
            "ring": Number(ring, "s", "the ring ends later by"),
            "doubling": Number(doubling, "s", "halving and doubling ends later by"),
            "tree": Number(tree, "s", "the tree ends later by"),
            "whole": Number(ends["ring"].max(axis=-1, keepdims=True), "s", "the ring is done after"),
        },
        reading=_reading,
        failure=_failure,
    )


INKS = ("ring", "hierarchy", "tree")


def _reading(s: Mapping[str, Any]) -> str:
    cable = f"has a cable {s['slow']:.0f} times slower" if s["slow"] > 1 else ""
    late = f"comes {show(s['late'], 'ms')} late" if s["late"] else ""
    trouble = " and ".join(each for each in (late, cable) if each) or "is in time and has a cable like the others"
    ring, doubling, tree = (
        show(max(s[name], 0) if s[name] > STEP else 0, "ms") for name in ("ring", "doubling", "tree")
    )
    return (
        f"Rank {s['rank']:.0f} {trouble}: the ring ends {ring} later, halving and doubling {doubling}, the tree {tree}."
    )


def _failure(s: Mapping[str, Any]) -> str:
    lost = {"the ring": s["ring"], "halving and doubling": s["doubling"], "the tree": s["tree"]}
    if s["slow"] > 1:
        worst = max(lost, key=lambda name: lost[name])
        return f"One slow cable of {N} slows everybody down: {worst} most, by {show(lost[worst], 'ms')}."
    whole = [name for name, seconds in lost.items() if s["late"] and seconds > s["late"] - STEP]
    if not whole:
        return ""
    return f"One rank's delay is the delay of all {N}, whole and unreduced, with {', '.join(whole)}."
