"""The link ledger: where the bytes go, by policy, traffic and failure, on a leaf-spine that fits on a page."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, each, explorer
from netlib.course.fabric_map import ledger_map, on_intact
from netlib.course.figure import Array, Figure, Number
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.topology import Routes, adaptive, d_mod_k, ecmp, leaf_spine, ledger, routes, spray

FABRIC = leaf_spine(16, 8, Link(0.0, bandwidth("ndr-400")))  # 4 leaves of 4 hosts, 4 spines' worth of uplinks in 2
HOSTS = FABRIC.hosts.size
TRUNK = int(np.flatnonzero(FABRIC.of_kind("trunk"))[0]) // 2
SPINE = int(FABRIC.switches[-1])
BROKEN: dict[str, dict[str, list[int]]] = {
    "nothing": {},
    "one uplink": {"cables": [TRUNK]},
    "one spine": {"vertices": [SPINE]},
}
INTACT, SEED = "nothing", 3


def flows(traffic: str) -> tuple[Array, Array, Array]:
    """Sources, destinations and the bytes of each flow; a host that sends at line rate sends 1 in all."""
    host = np.arange(HOSTS)
    if traffic == "all-to-all":
        src, dst = np.repeat(host, HOSTS), np.tile(host, HOSTS)
        return src[src != dst], dst[src != dst], np.full(HOSTS * (HOSTS - 1), 1 / (HOSTS - 1))
    if traffic == "shift by a leaf":
        return host, (host + 4) % HOSTS, np.ones(HOSTS)
    if traffic == "4 to 1":
        return np.arange(4, 8), np.zeros(4, int), np.ones(4)
    turn = np.random.default_rng(SEED).permutation(HOSTS)
    return turn, np.roll(turn, 1), np.ones(HOSTS)


@cache
def ways_without(broken: str) -> Routes:
    """Routes over what is left."""
    return routes(FABRIC.without(**BROKEN[broken]))


def sent(ways: Routes, traffic: str, policy: str) -> Array:
    """Load of every link, as a share of what it carries in the time in which a host sends its bytes."""
    src, dst, size = flows(traffic)
    fabric = ways.fabric
    if policy == "spray":
        held = spray(ways, src, dst, size)
    elif policy.startswith("ECMP"):
        qps = 8 if "8" in policy else 1
        held = ledger(fabric, ecmp(ways, src, dst, qps=qps, seed=SEED), np.repeat(size / qps, qps)).bytes
    elif policy == "D-mod-k":
        held = ledger(fabric, d_mod_k(ways, src, dst), size).bytes
    else:
        held = ledger(fabric, adaptive(ways, src, dst, np.random.default_rng(SEED), size, block=1), size).bytes
    return held * bandwidth("ndr-400") / fabric.capacity


def state(traffic: str, policy: str, broken: str) -> Array:
    """Loads on the intact fabric's links; NaN where broken."""
    return on_intact(FABRIC, sent(ways_without(broken), traffic, policy), **BROKEN[broken])


@explorer(
    "link-ledger",
    title="Where the bytes go",
    caption="A leaf-spine of 16 hosts with full bisection. A link's colour is the bytes it must carry, as a share of "
    "what it can in the time a host sends its own: above 1 it is late, and so is everybody who uses it. A hash "
    "collides where spraying does not; nothing helps a receiver that four senders want.",
    alt="Three rows of boxes, hosts below, leaves, spines on top; lines between them coloured from pale to dark by "
    "load, some dashed in red because they must carry more than they can.",
)
def link_ledger(
    traffic: Annotated[
        Array, Knob("permutation", "shift by a leaf", "all-to-all", "4 to 1", default="permutation", label="traffic")
    ],
    policy: Annotated[
        Array,
        Knob(
            "ECMP", "ECMP, 8 queue pairs", "D-mod-k", "adaptive", "spray", default="ECMP, 8 queue pairs", label="policy"
        ),
    ],
    broken: Annotated[Array, Knob(*BROKEN, default=INTACT, label="broken")],
) -> Figure:
    """Every state routes its flows over the fabric that is left."""
    load = each(state, traffic, policy, broken)
    drawn = ledger_map(FABRIC, load)
    trunk = FABRIC.of_kind("trunk")
    hottest = np.nanmax(load, axis=-1, keepdims=True)
    upper = np.where(trunk, load, np.nan)
    worst = np.nanmax(upper, axis=-1, keepdims=True)
    used = np.nansum(upper > 0, axis=-1, keepdims=True) / np.sum(trunk & ~np.isnan(load), axis=-1, keepdims=True)

    def failure(s: Mapping[str, Any]) -> str:
        if s["hottest"] > s["trunk"] + 1e-9 and s["hottest"] > 1:
            return f"The receiver's own port must carry {s['hottest']:.2g} times what it can: no routing mends that."
        if s["hottest"] >= 2:
            return f"One link must carry {s['hottest']:.3g} times what it can: so many times as long does it take."
        return ""

    return Figure(
        x=drawn.x,
        y=drawn.y,
        elements=drawn.elements,
        numbers={
            "hottest": Number(hottest, "", "load of the hottest link"),
            "trunk": Number(worst, "", "load of the hottest link between switches"),
            "used": Number(used, "%", "of the links between switches carry something"),
            "speed": Number(1 / np.maximum(hottest, 1.0), "%", "speed of the transfer"),
        },
        reading="{traffic} by {policy}, {broken} broken: the hottest link carries {hottest} times what it can in the "
        "time, the hottest between switches {trunk}; {used} of those are used, and the transfer runs at {speed}.",
        failure=failure,
    )
