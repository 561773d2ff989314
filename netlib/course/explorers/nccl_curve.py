"""NCCL's plan over a published log: what each algorithm is expected to reach, what is chosen, what was measured."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives import busbw_factor
from netlib.collectives.nccl import Span, Tuning, named, spans, tune
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Points, Rule
from netlib.course.words import nice
from netlib.fidelity import cite
from netlib.fidelity.nccl_plans import LOGS
from netlib.units import GiB, KiB, MiB

TABLES = {
    "8 H200, blocking calls (2.27.7)": "H200x8",
    "8 H200, queued calls (2.30.7)": "H200x8q",
    "8 B200, queued calls (2.30.7)": "B200x8q",
    "32 B200, queued calls (2.30.7)": "B200x32q",
    "8 H100 (2.18.5)": "AZH100",
    "8 A100 (2.18.5)": "AZA100",
}
CONSTANTS = ("of the log", "2.12.12", "2.18.5", "2.27.7", "2.30.7")
PROTOCOLS = ("best", "LL", "LL128", "Simple")
CURVE = np.geomspace(KiB, 16 * GiB, 73)
MOST = 20  # rows of the longest table
RULES = 3  # changes of mind that are marked
SMALL = MiB


@cache
def _tuned(table: str, version: str) -> Tuning:
    machine, nodes, own = LOGS[TABLES[table]]
    asked = own if version == CONSTANTS[0] else version
    return tune(asked, named(machine, nodes, version=asked))


@cache
def _times(table: str, version: str) -> Array:
    return _tuned(table, version).times(CURVE)


@cache
def _spans(table: str, version: str) -> tuple[Span, ...]:
    return spans(_tuned(table, version), KiB, 16 * GiB)


def _best(table: str, version: str, algorithm: str, protocol: str) -> Array:
    """Seconds of an algorithm over CURVE with one protocol, or with its best; gaps where it is off."""
    tuning, times = _tuned(table, version), _times(table, version)
    rows = [
        row
        for row, name in enumerate(tuning.names)
        if name.startswith(f"{algorithm}/") and protocol in (PROTOCOLS[0], name.split("/")[1])
    ]
    fastest = times[rows].min(axis=0) if rows else np.full(CURVE.size, np.inf)
    return np.where(np.isfinite(fastest), fastest, np.nan)


@cache
def _state(table: str, version: str, protocol: str) -> Array:
    """Four curves of busbw, padded sizes, measured busbw and errors of the plan, and the sizes of changes of mind."""
    tuning, ranks = _tuned(table, version), int(_tuned(table, version).cluster.ranks)
    switch, factor = "NVLS" if ranks == 8 else "NVLSTree", float(busbw_factor(ranks, "all_reduce"))
    asked = (("Ring", protocol), ("Tree", protocol), (switch, PROTOCOLS[0]))
    curves = [_best(table, version, *each) for each in asked] + [_times(table, version).min(axis=0)]
    _, size, time = cite.log(TABLES[table])
    error = tuning.choose(size).seconds / time - 1
    pad = np.full((3, MOST - size.size), np.nan)
    points = np.concatenate([[size, factor * size / time, error], pad], axis=1)
    changes = [each.end for each in _spans(table, version)][:-1][:RULES]
    changes += [np.nan] * (RULES - len(changes))
    return np.concatenate([*(factor * CURVE / curve for curve in curves), points.ravel(), changes])


@explorer(
    "nccl-curve",
    title="A plan over a log",
    caption="All-reduce: the busbw that NCCL's tuner expects of each algorithm, the envelope that it chooses, and "
    "published logs (S. Bekman; Azure). Below, the plan's error in time. Marks show where the choice changes. The "
    "constants are NCCL's own, by version; nothing is fitted to the points.",
    alt="Busbw over message size: a curve for the ring, one for the tree and one for the adding switch, "
    "each rising and levelling off, an envelope along the highest, and measured points that lie below it for small "
    "messages and on it for large ones. A panel below shows errors that shrink towards zero.",
)
def nccl_curve(
    table: Annotated[Array, Knob(*TABLES, label="published table")],
    version: Annotated[Array, Knob(*CONSTANTS, label="constants of NCCL")],
    protocol: Annotated[Array, Knob(*PROTOCOLS, label="protocol of ring and tree")],
) -> Figure:
    """Curves, points, errors and the sizes at which the choice changes."""
    got = each(lambda t, v, p: _state(t, v, p), table, version, protocol)
    k = CURVE.size
    ring, tree, switch, chosen = (got[..., i * k : (i + 1) * k] for i in range(4))
    size, rate, error = (got[..., 4 * k + i * MOST : 4 * k + (i + 1) * MOST] for i in range(3))
    changes = [got[..., [4 * k + 3 * MOST + i]] for i in range(RULES)]
    return Figure(
        x=Axis("message size", "iB", "log", limits=(KiB / 2, 32 * GiB)),
        y=Axis("busbw", "B/s"),
        elements=(
            Line("ring", CURVE, ring, "ring"),
            Line("tree", CURVE, tree, "tree"),
            Line("switch adds", CURVE, switch, "in-network"),
            Line("chosen", CURVE, chosen, "bound"),
            Points("measured", size, rate, "measured"),
            *(Rule(at, "", ink="bound") for at in changes),
        ),
        below=Panel(
            Axis("plan's error in time", "%"),
            (Points("error", size, error, "failure"), Rule(0.0, "", along="y")),
            height=0.55,
        ),
        numbers={
            "small": Number(_middle(error, size < SMALL), "%", "median error below 1 MiB"),
            "medium": Number(_middle(error, (size >= SMALL) & (size < GiB)), "%", "median error, 1 MiB to 1 GiB"),
            "large": Number(_middle(error, size >= GiB), "%", "median error from 1 GiB on"),
            "first": Number(changes[0], "iB", "first change of mind"),
            "ring_peak": Number(ring[..., -1:], "B/s", "planned for the ring at 16 GiB"),
            "tree_peak": Number(tree[..., -1:], "B/s", "planned for the tree at 16 GiB"),
            "switch_peak": Number(switch[..., -1:], "B/s", "planned for the adding switch at 16 GiB"),
        },
        reading=_reading,
        failure=_failure,
    )


def _middle(error: Array, among: Array) -> Array:
    """The median error of some sizes: (..., 1)."""
    return np.asarray(np.nanmedian(np.where(among & np.isfinite(error), error, np.nan), axis=-1))[..., None]


def _reading(s: Mapping[str, Any]) -> str:
    tuning = _tuned(s["table"], s["version"])
    found = _spans(s["table"], s["version"])
    told = ", ".join(
        [*(f"{each.name} to {nice(each.end, 'iB', short=True)}" for each in found[:-1]), f"then {found[-1].name}"]
    )
    small, medium, large = (f"{round(100 * s[name]) + 0:+d}%" for name in ("small", "medium", "large"))
    return (
        f"NCCL {tuning.edition.asked} plans {told}. Its time is off by {small} below 1 MiB, {medium} up to 1 GiB and "
        f"{large} beyond (medians)."
    )


def _failure(s: Mapping[str, Any]) -> str:
    off = [name for name in ("ring", "tree", "switch") if np.isnan(s[f"{name}_peak"])]
    if off:
        tuning = _tuned(s["table"], s["version"])
        nodes = int(np.asarray(tuning.cluster.nodes))
        row = {"ring": f"Ring/{s['protocol']}", "tree": f"Tree/{s['protocol']}"}
        name = row.get(off[0], "NVLS/Simple" if nodes == 1 else "NVLSTree/Simple")
        return f"No line for {name}: {tuning.why[tuning.row(name)][0]}."
    if abs(s["large"]) > 0.1:
        return (
            f"The plan misses even the largest messages, by {s['large']:+.0%}: these are not the constants of this run."
        )
    if abs(s["small"]) > 0.5:
        return "Below 1 MiB the log takes more than twice the plan: starting a call costs more than the plan knows."
    return ""
