"""The node from inside: a tree of PCIe, and which card a GPU should use."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, each, explorer
from netlib.course.fabric_map import ledger_map
from netlib.course.figure import Array, Figure, Number
from netlib.hardware import bandwidth, fact
from netlib.links import Link
from netlib.topology import Fabric, affinity, node_tree
from netlib.topology.affinity import PARTS
from netlib.units import GB

GPUS = 8
CARDS = {  # the card of each GPU
    "its own": np.arange(GPUS),
    "next switch": (np.arange(GPUS) + 2) % 4 + np.arange(GPUS) // 4 * 4,
    "other socket": (np.arange(GPUS) + 4) % GPUS,
    "all use card 0": np.zeros(GPUS, int),
}
PORTS = {"400G": bandwidth("ndr-400"), "800G": bandwidth("xdr-800")}


def _parents() -> dict[str, str]:
    """Two GPUs and two cards under each PCIe switch, two switches under each CPU, each on a root of its own."""
    found: dict[str, str] = {}
    for k in range(4):
        found |= {f"HB{k}": f"CPU{k // 2}", f"PCI{k}": f"HB{k}"}
        found |= {f"{part}{i}": f"PCI{k}" for part in ("GPU", "NIC") for i in (2 * k, 2 * k + 1)}
    return found


PARENTS = _parents()


def _node() -> Fabric:
    links = int(fact("nvlink4-links").value)
    nvlinks = {(f"GPU{i}", "NVS0"): links for i in range(GPUS)}  # four chips, drawn as one
    pcie, nvlink = Link(0, bandwidth("pcie5-x16")), Link(0, bandwidth("nvlink4-link"))
    return node_tree("node of eight H100", PARENTS, pcie, nvlinks=nvlinks, nvlink=nvlink)


FABRIC = _node()
PART, NUMBER = FABRIC.label("part"), FABRIC.label("number")
NAMES = [f"{PARTS[p]}{i}" for p, i in zip(PART, NUMBER, strict=True)]
AT = {name: v for v, name in enumerate(NAMES)}
SEEN = affinity(FABRIC)


def _places() -> Array:
    """The tree upward; GPUs and cards in two rows, in the order of their switches; NVSwitch at the bottom."""
    high = {"NVS": 0.0, "GPU": 0.24, "NIC": 0.42, "PCI": 0.62, "HB": 0.81, "CPU": 1.0}
    wide = {"NVS": 1, "GPU": 8, "NIC": 8, "PCI": 4, "HB": 4, "CPU": 2}
    aside = {"GPU": -1 / 32, "NIC": 1 / 32}
    parts = [PARTS[p] for p in PART]
    return np.array([((i + 0.5) / wide[p] + aside.get(p, 0.0), high[p]) for p, i in zip(parts, NUMBER, strict=True)])


def _way(start: str, goal: str) -> list[str]:
    """The parts a transfer crosses: up the tree from one, down to the other."""

    def up(name: str) -> list[str]:
        return [name, *(up(PARENTS[name]) if name in PARENTS else [])]

    rise, fall = up(start), up(goal)
    shared = [name for name in rise if name in fall]
    if not shared:
        return rise + fall[::-1]  # over the link between the sockets
    return rise[: rise.index(shared[0])] + fall[: fall.index(shared[0]) + 1][::-1]


def _bytes(cards: str, rate: float, busy: int) -> Array:
    """Bytes/s that GPU 0 ... busy-1 ask for on each link, if each wants `rate` through its card."""
    found = np.zeros(FABRIC.links)
    for gpu in range(int(busy)):
        way = _way(f"GPU{gpu}", f"NIC{CARDS[cards][gpu]}")
        for a, b in pairwise(way):
            found[np.flatnonzero((FABRIC.source == AT[a]) & (FABRIC.target == AT[b]))] += rate
    return found


def _code(cards: str) -> str:
    return str(SEEN.codes[0, SEEN.names.index(f"NIC{CARDS[cards][0]}")])


CODES = {cards: _code(cards) for cards in CARDS}


@explorer(
    "node-map",
    title="Which card is yours?",
    caption="A node of eight H100, two GPUs and two cards under each PCIe switch, every plug PCIe 5 x16, the link "
    "between the sockets taken as one more; the four NVSwitch chips are drawn as one. Each GPU sends at the rate of "
    "its card's port. Behind its own switch a transfer never meets the CPU; elsewhere it shares roots and sockets.",
    alt="A tree: two CPUs on top, four roots, four PCIe switches, then a row of eight cards, one of eight GPUs, "
    "and the NVSwitch below them. Links that carry transfers are dark, overloaded ones dashed, the rest pale.",
)
def node_map(
    cards: Annotated[Array, Knob(*CARDS, label="each GPU uses")],
    port: Annotated[Array, Knob(*PORTS, label="port of a card")],
    busy: Annotated[Array, Knob(1, 2, 4, 8, default=8, unit="GPUs", label="that send")],
) -> Figure:
    """Loads of the tree's links, and the worst of them."""
    rates = np.vectorize(PORTS.__getitem__)(port)
    asked = each(_bytes, cards, rates, busy)
    found = ledger_map(FABRIC, asked / FABRIC.capacity, at=_places(), boxes=NAMES)
    worst = np.max(asked / FABRIC.capacity, axis=-1, keepdims=True)
    users = each(lambda c, n: np.bincount(CARDS[c][: int(n)]).max(keepdims=True), cards, busy)
    rate = np.minimum(rates / users, rates / worst)  # a shared port, a shared link
    socket = np.max(np.where(FABRIC.of_kind("socket"), asked, 0.0), axis=-1, keepdims=True)
    return Figure(
        elements=found.elements,
        numbers={
            "worst": Number(worst, "%", "fullest link, if all send at their port's rate"),
            "socket": Number(socket, "B/s", "asked of the link between the sockets"),
            "rate": Number(rate, "B/s", "the slowest GPU gets"),
            "wanted": Number(rates + 0 * rate, "B/s", "a port carries"),
            "users": Number(users + 0 * rate, "GPUs", "that share a card"),
        },
        reading=_reading,
        failure=_failure,
    )


def _reading(s: Mapping[str, Any]) -> str:
    return (
        f"GPU 0 and its card are {CODES[s['cards']]} to each other; the slowest of {s['busy']:.0f} sending gets "
        f"{s['rate'] / GB:.3g} of {s['wanted'] / GB:.0f} GB/s."
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["worst"] <= 1 and s["users"] <= 1:
        return ""
    if s["users"] >= s["worst"]:  # what is left of the port is less than what the fullest PCIe link leaves
        return f"{s['users']:.0f} GPUs share one card's port, and seven other cards are idle."
    socket = s["socket"] / bandwidth("pcie5-x16") >= s["worst"] - 1e-9
    where = "the link between the sockets" if socket else "a PCIe link"
    return f"Asked for {s['worst']:.0%} of what it has: {where} is the limit, not the network."
