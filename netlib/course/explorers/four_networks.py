"""Four networks: what one GPU has of each, and what they are for."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Panel
from netlib.hardware import bandwidth, node
from netlib.units import GB

NODES = {"H100 + 400G": node("dgx-h100"), "B200 + 400G": node("dgx-b200"), "B300 + 800G": node("dgx-b300")}
FRONT = {"100G": bandwidth("ethernet-100"), "200G": bandwidth("ethernet-200"), "400G": bandwidth("ethernet-400")}
GPUS = 8
MANAGEMENT = bandwidth("ethernet-1") / GPUS  # one port of a node
PLACES = ("scale up", "scale out", "front end", "management")
SIZE = 140 * GB  # weights of a 70B model in BF16
TOO_LONG = 60.0


@explorer(
    "four-networks",
    title="Four networks, not one in four steps",
    caption="One GPU's share of each network, one way: its own NVLinks, its own NIC, an eighth of the node's front-end "
    "port and of its management port of 1 Gb/s. Below, the time to bring the 140 GB of a 70B model into a node, each "
    "GPU an eighth. The steps are not factors of ten.",
    alt="Four falling bars on a log axis from hundreds of GB/s to tens of MB/s, and below them four rising bars of "
    "time from well under a second to many minutes.",
)
def four_networks(
    kind: Annotated[Array, Knob(*NODES, label="node of eight")],
    front: Annotated[Array, Knob(*FRONT, default="400G", label="front-end port of a node")],
    through: Annotated[Array, Knob(*PLACES, default="front end", label="weights come through")],
) -> Figure:
    """Rates per GPU and their ratios."""
    rates = [
        pick(kind, {name: n.up for name, n in NODES.items()}) + 0.0,
        pick(kind, {name: n.out for name, n in NODES.items()}) + 0.0,
        pick(front, FRONT) / GPUS,
    ]
    rates.append(np.full_like(rates[0] + rates[2], MANAGEMENT))
    rates = [rate + 0 * rates[-1] for rate in rates]
    time = [SIZE / GPUS / rate for rate in rates]
    place = pick(through, {name: k for k, name in enumerate(PLACES)}).astype(int)
    chosen = np.choose(place, time)
    return Figure(
        x=Axis("network", categories=PLACES),
        y=Axis("a GPU's share, one way", "B/s", "log", limits=(1e6, 3e12)),
        elements=(Bars("share", np.concatenate(rates, axis=-1), "nic"),),
        below=Panel(
            Axis("140 GB into a node", "s", "log", limits=(1e-3, 1e4)),
            (Bars("time", np.concatenate(time, axis=-1), "latency"),),
            height=0.7,
        ),
        numbers={
            "up": Number(rates[0], "B/s", "scale-up, per GPU"),
            "out": Number(rates[1], "B/s", "scale-out, per GPU"),
            "front_end": Number(rates[2], "B/s", "front-end, per GPU"),
            "repair": Number(rates[3], "B/s", "management, per GPU"),
            "first": Number(rates[0] / rates[1], "times", "scale-up over scale-out"),
            "second": Number(rates[1] / rates[2], "times", "scale-out over front-end"),
            "third": Number(rates[2] / rates[3], "times", "front-end over management"),
            "time": Number(chosen, "s", "140 GB into a node this way"),
        },
        reading="From {up} per GPU the steps down are {first}, {second} and {third}; 140 GB into a node take "
        "{time} over the {through} network.",
        failure=_failure,
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["time"] <= TOO_LONG:
        return ""
    return (
        f"{s['time'] / 60:,.0f} minutes for the weights of one model: the {s['through']} network carries consoles and "
        "firmware, and must stay free of data so that a broken network can be repaired over it."
    )
