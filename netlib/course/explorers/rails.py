"""Rails: one ring through a node's one, two, four or eight NICs, against the two-level all-reduce."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.collectives import hierarchical_allreduce_time, multirail_ring_allreduce_time
from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Panel, Points
from netlib.fidelity import cite
from netlib.hardware import Node, node
from netlib.links import Link
from netlib.units import GiB, MiB

# seconds a hop, Simple protocol, ring: NCCL's own cost model (NVIDIA/nccl, src/graph/tuning.cc, v2.30.7)
HOP_NVLINK, HOP_NIC = 3.4e-6, 14e-6
NODES: dict[str, Node] = {
    "H100 + 400G": node("dgx-h100"),
    "B200 + 400G": node("dgx-b200"),
    "B300 + 800G": node("dgx-b300"),
}
G, LARGE = 8, 16 * GiB


@explorer(
    "rails",
    title="Eight NICs or one?",
    caption="All-reduce over nodes of eight GPUs. A ring through one NIC a node loses to two levels by far, a ring "
    "through every NIC does not: it moves as many bytes over each NIC and is the one NCCL opens. The points are 32 "
    "B200 of four p6-b200 nodes, as S. Bekman published them, whatever the knobs say.",
    alt="Log-log curves of time over message size that start flat and turn into parallel rising lines; the one-NIC "
    "ring runs highest, the others lie close together, and measured points follow them. A panel below shows ratios.",
)
def rails(
    nics: Annotated[Array, Knob(1, 2, 4, 8, default=8, unit="per node", label="NICs used")],
    nodes: Annotated[Array, Knob(2, 4, 8, 16, 32, 64, 128, default=4, unit="nodes")],
    kind: Annotated[Array, Knob(*NODES, default="B200 + 400G", label="hardware")],
) -> Figure:
    """Times with NCCL's planned latency per hop; the numbers are of bytes alone, as the ratio in dispute is."""
    size = np.geomspace(MiB, 2 * LARGE, 61)
    ups, outs = (pick(kind, {name: getattr(n, side) for name, n in NODES.items()}) for side in ("up", "out"))
    up, out = Link(HOP_NVLINK, ups), Link(HOP_NIC, outs)
    free_up, free_out = Link(0.0, ups), Link(0.0, outs)
    ring = multirail_ring_allreduce_time(size, G, nodes, up, out, nics=nics)
    whole = multirail_ring_allreduce_time(size, G, nodes, up, out)
    serial = hierarchical_allreduce_time(size, G, nodes, up, out)
    piped = hierarchical_allreduce_time(size, G, nodes, up, out, segments=None)

    def bytes_alone(r: int | Array) -> Array:
        return multirail_ring_allreduce_time(LARGE, G, nodes, free_up, free_out, nics=r)

    two_level = hierarchical_allreduce_time(LARGE, G, nodes, free_up, free_out)
    piped_bytes = hierarchical_allreduce_time(LARGE, G, nodes, free_up, free_out, segments=None)
    there = (nodes == 4) & (kind == "B200 + 400G")
    _, at, took = cite.log("B200x32", MiB)
    largest = np.where(there, took[at == LARGE], np.nan)
    return Figure(
        x=Axis("message size", "iB", "log", limits=(float(MiB), 32 * float(GiB))),
        y=Axis("time", "s", "log"),
        elements=(
            Line("ring", size, ring, "ring"),
            Line("in series", size, serial, "hierarchy"),
            Line("pipelined", size, piped, "useful"),
            Points("4 B200 nodes", at, took),
        ),
        below=Panel(
            Axis("time / ring on all NICs", "", "log", limits=(0.3, 10.0)),
            (
                Line("ring ratio", size, ring / whole, "ring"),
                Line("series ratio", size, serial / whole, "hierarchy"),
                Line("pipe ratio", size, piped / whole, "useful"),
            ),
            height=0.6,
        ),
        numbers={
            "one": Number(bytes_alone(1), "s", "ring on one NIC, bytes of 16 GiB alone"),
            "used": Number(bytes_alone(nics), "s", "ring on the NICs used, bytes alone"),
            "whole": Number(bytes_alone(G), "s", "ring on all eight NICs, bytes alone"),
            "serial": Number(two_level, "s", "two levels in series, bytes alone"),
            "piped": Number(piped_bytes, "s", "two levels pipelined, bytes alone"),
            "strawman": Number(bytes_alone(1) / two_level, "times", "one-NIC ring over two levels in series"),
            "honest": Number(bytes_alone(G) / two_level, "times", "all-NIC ring over two levels in series"),
            "measured": Number(largest, "s", "measured, 16 GiB"),
        },
        reading=_reading,
        failure=lambda s: (
            f"{8 - s['nics']:.0f} of 8 NICs idle: bytes take {s['used'] / s['whole']:.3g} times as long as on all "
            "eight. Beating this ring proves nothing."
            if s["nics"] < G
            else ""
        ),
    )


def _reading(s: Mapping[str, Any]) -> str:
    ms = {name: f"{s[name] * 1e3:.1f} ms" for name in ("one", "used", "whole", "serial", "piped", "measured")}
    used = f"on {s['nics']:.0f} it takes {ms['used']}, and " if 1 < s["nics"] < G else ""
    said = (
        f"For 16 GiB two levels in series ({ms['serial']}) look {s['strawman']:.3g} times faster than a one-NIC ring "
        f"({ms['one']}), yet {used}the ring on all eight takes {ms['whole']} and the pipeline {ms['piped']}"
    )
    return said + (f"; measured: {ms['measured']}." if s["measured"] > 0 else ".")
