"""What one environment variable does: the tuner's choice and time with a line and without it."""

from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any

import numpy as np

from netlib.collectives.nccl import Tuning, named, parse_env, tune
from netlib.course.explorer import Knob, each, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Rule
from netlib.course.words import nice, spoken
from netlib.units import GiB, KiB, MiB

VERSION, MACHINE = "2.30.7", "dgx-h100"
SETTINGS = (
    "NCCL_ALGO=Ring",
    "NCCL_ALGO=Tree",
    "NCCL_ALGO=allreduce:tree",
    "NCCL_PROTO=LL",
    "NCCL_PROTO=Simple",
    "NCCL_PROTO=^LL128",
    "NCCL_NVLS_ENABLE=0",
    "NCCL_MIN_NCHANNELS=32",
    "NCCL_NET_OVERHEAD=10000",
    "NCCL_COLLNET_ENABLE=1",
)
NODES = (1, 2, 4, 16, 128)
OPS = ("all_reduce", "all_gather", "broadcast")
CURVE = np.geomspace(KiB, 16 * GiB, 97)
AT = int(np.argmin(np.abs(CURVE - 256 * MiB)))
BAD, SAME = 1.1, 1e-9


@cache
def _tuned(setting: str, nodes: int, op: str) -> Tuning:
    return tune(VERSION, named(MACHINE, nodes), op, variables=parse_env(setting))


@cache
def _times(setting: str, nodes: int, op: str) -> Array:
    """Seconds of the choice over CURVE; gaps where the setting leaves nothing to choose."""
    tuning = _tuned(setting, int(nodes), op)
    return tuning.choose(CURVE).seconds if tuning.enabled.any() else np.full(CURVE.size, np.nan)


@explorer(
    "nccl-variables",
    title="One line, and what it costs",
    caption="The time that the tuner of NCCL 2.30.7 plans for DGX H100 nodes with one environment variable set, over "
    "the time without it. Most lines of a configuration change the run and not the plan. More "
    "channels do so too: the plan keeps those that the search found.",
    alt="Two curves of planned time over message size on log axes, with the line and without it, and below them their "
    "ratio: one where the line changes nothing, up to a hundred where it takes the right algorithm away.",
)
def nccl_variables(
    setting: Annotated[Array, Knob(*SETTINGS, label="export")],
    nodes: Annotated[Array, Knob(*NODES, default=128, unit="nodes")],
    op: Annotated[Array, Knob(*OPS, label="collective")],
) -> Figure:
    """Both times, and their ratio below."""
    free = each(lambda n, o: _times("", int(n), o), *np.broadcast_arrays(nodes, op))
    forced = each(lambda s, n, o: _times(s, int(n), o), setting, nodes, op)
    ratio = forced / free
    worst = np.argmax(np.nan_to_num(ratio), axis=-1)[..., None]
    return Figure(
        x=Axis("message size", "iB", "log"),
        y=Axis("time", "s", "log"),
        elements=(
            Line("NCCL's own choice", CURVE, free, "model"),
            Line("with the line", CURVE, forced, "failure"),
        ),
        below=Panel(
            Axis("times as long", "", "log", limits=(0.8, 200.0)),
            (Line("ratio", CURVE, ratio, "failure"), Rule(1.0, "", along="y")),
            height=0.6,
        ),
        numbers={
            "before": Number(free[..., [AT]], "s", "256 MiB, own choice"),
            "after": Number(forced[..., [AT]], "s", "256 MiB, with the line"),
            "ratio": Number(ratio[..., [AT]], "times", "256 MiB, ratio"),
            "worst": Number(np.take_along_axis(ratio, worst, -1), "times", "at worst"),
            "where": Number(CURVE[worst], "iB", "at"),
            "moved": Number(np.max(np.abs(np.nan_to_num(ratio) - 1), axis=-1)[..., None], "%", "largest change"),
        },
        reading=_reading,
        failure=_failure,
    )


def _reading(s: Mapping[str, Any]) -> str:
    free, forced = (_tuned(each, int(s["nodes"]), s["op"]) for each in ("", s["setting"]))
    before = f"256 MiB take {s['before'] * 1e3:.3g} ms ({free.choose(256 * MiB).name})"
    if not forced.enabled.any():
        return f"Without the line {before}; with it {spoken(s['op'])} has no algorithm left."
    op = spoken(s["op"]).capitalize()
    if s["moved"] < SAME:
        return f"{op}: {before} on {_nodes(s)}, with the line as without it, and at no size does the plan change."
    after = f"{s['after'] * 1e3:.3g} ms ({forced.choose(256 * MiB).name})"
    return f"{op} on {_nodes(s)}: {before} without the line and {after} with it."


def _nodes(s: Mapping[str, Any]) -> str:
    return f"{s['nodes']:.0f} node{'s' if s['nodes'] > 1 else ''}"


def _failure(s: Mapping[str, Any]) -> str:
    if not s["worst"] > 0:
        return f"{s['setting']} leaves no algorithm for {spoken(s['op'])}: since 2.24 NCCL fails here."
    if s["worst"] > BAD:
        return f"At {nice(s['where'], 'iB')} the line makes the plan {s['worst']:.3g} times as long."
    return ""
