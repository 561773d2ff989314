"""What a permutation gets: max-min fair rates of every flow, by policy, on a fat-tree with full bisection."""

from functools import cache
from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.links import Link
from netlib.topology import Routes, adaptive, d_mod_k, ecmp, fat_tree, max_min_rates, routes, subflows

KS, SHOWN = (4, 8, 12), 60
QPS = {"ECMP": 1, "ECMP, 2 queue pairs": 2, "ECMP, 4 queue pairs": 4, "ECMP, 8 queue pairs": 8}
POLICIES = (*QPS, "D-mod-k", "adaptive")


@cache
def ways(k: int) -> Routes:
    """Routes of the k-ary fat-tree with links of rate 1."""
    return routes(fat_tree(k, Link(0.0, 1.0)))


def shares(k: int, policy: str, seed: int) -> Array:
    """Rates as shares of a port, slowest first, at SHOWN even places; then mean, slowest, and slowest x queue pairs."""
    found = ways(k)
    rng = np.random.default_rng(int(seed))
    turn = rng.permutation(found.fabric.hosts.size)
    src, dst, pairs = turn, np.roll(turn, 1), QPS.get(policy, 1)
    if policy in QPS:
        links = ecmp(found, src, dst, qps=pairs, seed=int(seed))
    elif policy == "D-mod-k":
        links = d_mod_k(found, src, dst)
    else:
        links = adaptive(found, src, dst, rng, block=16)
    each_flow = subflows(max_min_rates(links, found.fabric.capacity), pairs)
    rates = np.sort(each_flow.total)
    place = np.linspace(0, rates.size - 1, SHOWN)
    return np.concatenate([np.interp(place, np.arange(rates.size), rates), [rates.mean(), each_flow.equal.mean()]])


@explorer(
    "permutation-rates",
    title="What a permutation gets",
    caption="Every host sends to one other and receives from one other, over a fat-tree that could carry all of it "
    "at full rate. The curve holds all flows, slowest first, under max-min fair sharing. Hashing gives about half on "
    "average and a quarter or less to the slowest from 8 ports up; queue pairs help if a slow one hands its bytes to a "
    "fast one.",
    alt="A rising staircase of rates over the share of flows, from a part of a port to a whole one, with a line at "
    "the mean well below a line at full rate.",
)
def permutation_rates(
    k: Annotated[Array, Knob(*KS, default=8, unit="ports a switch", label="fat-tree")],
    policy: Annotated[Array, Knob(*POLICIES, default="ECMP, 4 queue pairs")],
    draw: Annotated[Array, Knob(0, 1, 2, default=0, label="permutation number")],
) -> Figure:
    """One draw of permutation and hash for every state."""
    found = each(shares, k, policy, draw)
    rates, mean, equal = found[..., :SHOWN], found[..., SHOWN : SHOWN + 1], found[..., SHOWN + 1 :]
    return Figure(
        x=Axis("share of flows, slowest first", "%", limits=(0.0, 1.0)),
        y=Axis("rate / port", "", limits=(0.0, 1.1)),
        elements=(
            Line("flows", np.linspace(0, 1, SHOWN), rates, "rate", area=True),
            Rule(1.0, "what the fabric could carry", along="y"),
            Rule(mean, "mean: {at}", along="y", ink="measured"),
        ),
        numbers={
            "hosts": Number(k**3 / 4, "hosts", "hosts"),
            "mean": Number(mean, "%", "mean rate"),
            "slowest": Number(rates[..., :1], "%", "slowest flow"),
            "equal": Number(equal, "%", "mean rate if queue pairs carry equal bytes"),
        },
        reading="{hosts}, {policy}: {mean} of a port on average, {slowest} for the slowest; if every queue pair must "
        "carry the same bytes, {equal}.",
        failure=lambda s: (
            f"More than half of a network with full bisection is lost to collisions; the slowest flow gets "
            f"{s['slowest']:.0%}."
            if s["mean"] < 0.5
            else ""
        ),
    )
