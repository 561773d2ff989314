"""What a switch that adds can gain: a bound that grows with the ranks, and what was measured."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.collectives import busbw, nvls_allreduce_time, ring_allreduce_time
from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule
from netlib.fidelity.cite import published
from netlib.hardware import bandwidth
from netlib.links import Link

LINKS = {"8 H200": bandwidth("nvlink4"), "8 B200": bandwidth("nvlink5"), "GB200 NVL72": bandwidth("nvlink5")}
RING = {  # published all-reduce rows by ranks: without the switch's adders
    "8 H200": {4: "NVLS-001", 5: "NVLS-004", 8: "NVLS-010"},
    "8 B200": {4: "NVLS-011", 5: "NVLS-013", 7: "NVLS-018", 8: "NVLS-020"},
    "GB200 NVL72": {32: "GTC-018"},
}
SWITCH = {  # and with them
    "8 H200": {6: "NVLS-005", 7: "NVLS-007", 8: "NVLS-009"},
    "8 B200": {6: "NVLS-015", 7: "NVLS-017", 8: "NVLS-019"},
    "GB200 NVL72": {32: "GTC-019"},
}
SIZE = 8 * 2**30  # bytes of the published rows; without latency it cancels


def _busbw(n: Array, link: Link, switch: bool) -> Array:
    time = (nvls_allreduce_time if switch else ring_allreduce_time)(SIZE, n, link)
    return busbw(SIZE, time, n, "all_reduce")


def _points(rows: dict[str, dict[int, str]], kind: Array) -> tuple[Array, Array]:
    """Ranks and busbw (over the link's rate) of the published rows of the hardware chosen, padded with gaps."""
    most = max(map(len, rows.values()))

    def padded(values: list[float]) -> Array:
        return np.array(values + [np.nan] * (most - len(values)))

    x = pick(kind, {name: padded([float(n) for n in own]) for name, own in rows.items()})
    y = pick(kind, {m: padded([published(id) / LINKS[m] for id in own.values()]) for m, own in rows.items()})
    return x, y


def _gain(name: str) -> float:
    n = max(RING[name])
    return published(SWITCH[name][n]) / published(RING[name][n])


@explorer(
    "nvls-bound",
    title="A factor of two, at best",
    caption="All-reduce where the NVSwitch adds (NVLS) against a ring, bytes alone, as the busbw that a log prints. "
    "The switch halves a rank's bytes only for very many ranks. Points: 8 GiB on H200 and B200 nodes (S. Bekman) and "
    "NVIDIA's own slide for 32 GPUs of a rack; they ask how much of the link each algorithm really uses.",
    alt="Over 2 to 72 ranks the ring's busbw is a flat line at the link's rate; the adding switch starts below it, "
    "crosses at three ranks and bends towards twice the rate. Measured marks of both kinds lie below their lines.",
)
def nvls_bound(
    kind: Annotated[Array, Knob(*LINKS, label="hardware")],
    ranks: Annotated[Array, Knob(2, 3, 4, 8, 16, 39, 72, default=8, unit="ranks")],
    used: Annotated[Array, Knob(0.6, 0.7, 0.8, 0.9, 1.0, default=1.0, unit="%", label="link used")],
) -> Figure:
    """busbw of both algorithms on links that are used to this share."""
    n = np.unique(np.round(np.geomspace(2, 72, 60)))
    whole = pick(kind, LINKS)
    link, full = Link(0.0, used * whole), Link(0.0, whole)
    ring, switch = (_busbw(n, link, adds) for adds in (False, True))
    bound = _busbw(ranks, link, True) / _busbw(ranks, link, False)
    most = pick(kind, {name: float(max(RING[name])) for name in LINKS})
    seen = {
        adds: pick(kind, {m: published(rows[m][max(RING[m])]) for m in LINKS})
        for adds, rows in ((False, RING), (True, SWITCH))
    }
    return Figure(
        x=Axis("ranks", "", "log"),
        y=Axis("busbw / rate of the link", "", limits=(0.0, 2.0)),
        elements=(
            Line("switch adds", n, switch / whole, "in-network"),
            Line("ring", n, ring / whole, "ring"),
            Points("switch measured", *_points(SWITCH, kind), ink="in-network"),
            Points("ring measured", *_points(RING, kind), ink="ring"),
            Rule(ranks, "{at} ranks", ink="measured"),
        ),
        numbers={
            "bound": Number(bound, "times", "switch over ring, at most"),
            "measured": Number(
                pick(kind, {name: _gain(name) for name in LINKS}), "times", "switch over ring, measured"
            ),
            "most": Number(most, "ranks", "measured on"),
            "ring_used": Number(seen[False] / _busbw(most, full, False), "%", "link used by the measured ring"),
            "switch_used": Number(seen[True] / _busbw(most, full, True), "%", "link used by the measured switch"),
        },
        reading="On {ranks} an adding switch is at most {bound} as fast as a ring; on {most} ({kind}) it was measured "
        "at {measured}, since it used {switch_used} of the link and the ring {ring_used}.",
        failure=_failure,
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["bound"] > 1 + 1e-9:
        return ""
    return (
        f"On {s['ranks']:.0f} ranks the switch gains nothing ({s['bound']:.3g} times the ring): each rank still sends "
        "its whole buffer and the sum of its slice."
    )
