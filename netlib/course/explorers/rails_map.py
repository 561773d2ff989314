"""Rails: which bytes stay on their rail, with and without PXN, with and without spines."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, each, explorer
from netlib.course.fabric_layout import vertex_names
from netlib.course.fabric_map import ledger_map, on_intact
from netlib.course.figure import Array, Figure, Number
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.topology import Routes, ledger, minimal, pxn, rail_optimised, routes

NODES, RAILS = 4, 8
NIC = bandwidth("ndr-400")
FABRIC = rail_optimised(NODES, RAILS, 8, Link(0.0, NIC), inside=Link(0.0, bandwidth("nvlink4")))
SPINES = np.flatnonzero(FABRIC.tier == 2)
GPUS = NODES * RAILS
ALL_REDUCE, ALL_TO_ALL = "all-reduce, a ring per rail", "all-to-all"
RELAY, DIRECT = "by PXN", "each GPU its own NIC"
WIRED = {"spines join the rails": [], "rail-only: no spines": SPINES.tolist()}


def flows(traffic: str) -> tuple[Array, Array, float]:
    """Sources and destinations between nodes, and the bytes of each: a GPU that sends at line rate sends 1 in all."""
    gpu = np.arange(GPUS)
    if traffic == ALL_REDUCE:
        return gpu, (gpu + RAILS) % GPUS, 1.0
    src, dst = np.repeat(gpu, GPUS), np.tile(gpu, GPUS)
    leaves = src // RAILS != dst // RAILS
    return src[leaves], dst[leaves], 1.0 / (GPUS - RAILS)


@cache
def ways_of(wiring: str) -> Routes:
    """Routes with the spines or without."""
    return routes(FABRIC.without(vertices=WIRED[wiring]))


def state(traffic: str, relay: str, wiring: str) -> Array:
    """Loads of all links; then bytes on the access links, through spines, on NVLink, and the share without a way."""
    gone, found = WIRED[wiring], ways_of(wiring)
    src, dst, size = flows(traffic)
    reach = np.ones(src.size, bool)
    if relay == DIRECT and gone:
        reach = src % RAILS == dst % RAILS  # without a spine a NIC reaches its own rail
    draw = partial(minimal, rng=np.random.default_rng(1))
    ways = pxn(found, src[reach], dst[reach], draw) if relay == RELAY else draw(found, src[reach], dst[reach])
    held = ledger(found.fabric, ways, size)
    by_kind = held.by_kind()
    load = on_intact(FABRIC, held.bytes * NIC / found.fabric.capacity, vertices=gone)
    kinds = [by_kind.get(kind, 0.0) for kind in ("access", "trunk", "nvlink")]
    return np.concatenate([load, kinds, [1 - reach.mean()]])


@explorer(
    "rails-map",
    title="Which bytes stay on their rail?",
    caption="Four nodes of eight GPUs, GPU i of each on leaf i: a column is a rail. Colour is load, as a share of "
    "what a link can carry in the time a GPU sends its bytes. An all-reduce among equal indices needs no spine. An "
    "all-to-all does, for seven eighths of its bytes, unless NVLink first moves them to the GPU on the right rail "
    "(PXN).",
    alt="Rows of GPUs, leaves and spines with NVSwitches at the bottom; lines are dark where bytes flow: up to the "
    "leaves always, on to the spines only for an all-to-all without relay, which is dark everywhere.",
)
def rails_map(
    traffic: Annotated[Array, Knob(ALL_REDUCE, ALL_TO_ALL, default=ALL_TO_ALL, label="traffic")],
    relay: Annotated[Array, Knob(DIRECT, RELAY, default=DIRECT, label="leaves its node")],
    wiring: Annotated[Array, Knob(*WIRED, label="wiring")],
) -> Figure:
    """Routed over the fabric; without spines the bytes of other rails have no way and are left out."""
    found = each(state, traffic, relay, wiring)
    links = FABRIC.links
    load = found[..., :links]
    access, trunk, nvlink, lost = (found[..., links + i : links + i + 1] for i in range(4))
    drawn = ledger_map(FABRIC, load, boxes=[name.replace("part", "NVSwitch") for name in vertex_names(FABRIC)])

    def failure(s: Mapping[str, Any]) -> str:
        if s["lost"] > 0:
            return (
                f"{s['lost']:.1%} of the bytes have no way: a NIC reaches its own rail only, and nobody changes rails."
            )
        if s["hottest"] > 2:
            return f"The hottest link carries {s['hottest']:.2g} times what it can: flows collide below the spines."
        return ""

    return Figure(
        x=drawn.x,
        y=drawn.y,
        elements=drawn.elements,
        numbers={
            "own": Number(1 - trunk / access, "%", "of the bytes on the network stay on their rail"),
            "spine": Number(trunk / access, "%", "go through a spine"),
            "nvlink": Number(nvlink / np.maximum(access, 1e-12), "%", "bytes on NVLink / bytes on the network"),
            "lost": Number(lost, "%", "of the bytes have no way"),
            "hottest": Number(np.nanmax(load, axis=-1, keepdims=True), "", "load of the hottest link"),
        },
        reading="{traffic}, {relay}: {own} of the bytes that travel stay on their rail, {spine} go through a spine, "
        "and the hottest link carries {hottest} times what it can in the time.",
        failure=failure,
    )
