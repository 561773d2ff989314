"""One late rank, one slow cable: when is everybody done with an all-reduce?"""

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

N = 13
CABLE = Link(2.5e-6, bandwidth("ndr-400"))
LATE = (0.0, 2e-3, 4e-3, 6e-3, 8e-3)
FAR = 0.1  # so late that nothing hides it
LEAST = 1e-6  # below this nothing has been gained or lost
MADE: dict[str, Callable[[int], Schedule]] = {
    "ring": ring_allreduce,
    "halving and doubling": halving_doubling_allreduce,
    "binomial tree": tree_allreduce,
}
INKS = ("ring", "hierarchy", "tree")


@cache
def done(algorithm: str, rank: int, slow: float, size: float, late: float) -> float:
    """Seconds until all ranks are done, if one comes late and its cable is slow; each goes at its own pace."""
    comes = np.zeros(N)
    comes[rank] = late
    switch = one_switch(N, CABLE)
    fabric = slowed(switch, rank, slow) if slow > 1 else switch
    return simulate(MADE[algorithm](N), fabric, size, pace="rank", late=comes).seconds


def free(algorithm: str, rank: int, slow: float, size: float) -> float:
    """Seconds that the rank may be late for nothing."""
    kept = FAR - done(algorithm, rank, slow, size, FAR) + done(algorithm, rank, slow, size, 0.0)
    return kept if kept > LEAST else 0.0


def cable(algorithm: str, rank: int, slow: float, size: float) -> float:
    """Seconds that its cable costs everybody when the rank is in time."""
    return done(algorithm, rank, slow, size, 0.0) - done(algorithm, 0, 1, size, 0.0)


def moments(rank: int, slow: float, size: float) -> Array:
    """(7,) how late the rank is in the figure, the two kinks among them."""
    _, doubling, tree = (free(name, rank, slow, size) for name in MADE)
    return np.sort([*LATE, doubling or 1e-3, tree or 3e-3])


def later(algorithm: str, rank: int, slow: float, size: float) -> Array:
    """(7,) how much later everybody is done at those moments."""
    ends = [done(algorithm, rank, slow, size, float(late)) for late in moments(rank, slow, size)]
    return np.maximum(np.array(ends) - done(algorithm, 0, 1, size, 0.0), 0)


@explorer(
    "late-rank",
    title="One late, all late?",
    caption="All-reduce on 13 ranks, one NDR card each on one switch, every rank at its own pace. One rank comes late, "
    "and its cable may be slow. In a ring everybody is later by the whole delay. In a tree it matters when a rank is "
    "needed: one whose turn comes third may come two steps late for nothing.",
    alt="Three lines of how much later everybody is done, over how late one rank comes. The ring's rises at once, one "
    "for one. That of the tree stays at zero up to a kink, where the rank is first needed, and then rises as fast.",
)
def late_rank(
    rank: Annotated[Array, Knob(0, 1, 5, 12, default=12, label="late rank")],
    slow: Annotated[Array, Knob(1, 2, default=1, unit="times", label="its cable is slower")],
    size: Annotated[Array, Knob(16 * MiB, 32 * MiB, 64 * MiB, default=64 * MiB, unit="iB", label="buffer")],
) -> Figure:
    """How much later everybody is done, by algorithm, and how late the rank may come for nothing."""
    late = each(moments, rank, slow, size)
    ends, slack, price = (
        {name: each(lambda *own, f=f, name=name: f(name, *own), rank, slow, size) for name in MADE}
        for f in (later, free, cable)
    )
    tree = slack["binomial tree"]
    said = {"ring": "the ring", "doubling": "halving and doubling", "tree": "the tree"}
    return Figure(
        x=Axis("one rank comes late by", "s"),
        y=Axis("everybody is done later by", "s"),
        elements=(
            *(Line(name, late, own, ink) for (name, own), ink in zip(ends.items(), INKS, strict=True)),
            Rule(np.where(tree > 0, tree, np.nan), "free in the tree up to {at}"),
        ),
        numbers={
            f"{what}_{short}": Number(own[name], "s", label.format(words))
            for what, own, label in (("free", slack, "free in {}"), ("cable", price, "the cable costs {}"))
            for (short, words), name in zip(said.items(), MADE, strict=True)
        },
        reading=_reading,
        failure=_failure,
    )


def _ms(seconds: float) -> str:
    return show(seconds, "ms") if seconds > LEAST else "nothing"


def _reading(s: Mapping[str, Any]) -> str:
    ring, doubling, tree = (_ms(s[f"free_{name}"]) for name in ("ring", "doubling", "tree"))
    return (
        f"Rank {s['rank']:.0f} may be late for free by {ring} in a ring, {doubling} in halving and doubling, {tree} in "
        "a tree."
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["slow"] > 1:
        ring, doubling, tree = (_ms(s[f"cable_{name}"]) for name in ("ring", "doubling", "tree"))
        return (
            f"Even in time, its cable costs all {N} ranks {ring} in a ring, {doubling} in halving and doubling, {tree} "
            "in a tree."
        )
    if max(s[f"free_{name}"] for name in ("ring", "doubling", "tree")) < LEAST:
        return f"There is no slack for rank {s['rank']:.0f}: its delay is the delay of all {N}, whatever the algorithm."
    return ""
