"""Traffic: who sends what over which links, as arrays; one scenario or many side by side.

A flow has a size and a start. It goes one way or several: each way is a row of links that begins with the sender's NIC
and ends at the receiver. Scenarios that run together are one traffic whose parts share no link.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, declared, declared_fields, floats
from netlib.links import Link
from netlib.topology import Fabric

Ints = NDArray[np.int64]
MOST_SENDERS = 100_000  # of one incast
MOST_LANES = 16  # InfiniBand has 16 virtual lanes, Ethernet 8 priorities


def alike(link: Link) -> tuple[float, float]:
    """Bandwidth and alpha of the one link that all cables are.

    >>> alike(Link(1e-6, 50e9))
    (50000000000.0, 1e-06)
    """
    if np.size(link.bandwidth) != 1 or np.size(link.alpha) != 1:
        raise ValueError(f"link = {str(link)[:60]!r} holds several links; give one, such as Link(1e-6, 50e9)")
    return float(np.ravel(link.bandwidth)[0]), float(np.ravel(link.alpha)[0])


@dataclass(frozen=True)
class Packet:
    """Bytes of a full packet: what it carries, and what it takes on the wire."""

    payload: float
    wire: float

    def __post_init__(self) -> None:
        declared_fields(self)
        floats("payload", self.payload, above=True)
        if floats("wire", self.wire) < self.payload:
            raise ValueError(f"wire = {self.wire:g} is below the payload of {self.payload:g}; give payload and headers")

    def on_wire(self, size: ArrayLike) -> Floats:
        """Bytes on the wire of `size` bytes of data: whole packets.

        >>> float(Packet(payload=1000, wire=1038).on_wire(2e6))
        2076000.0
        """
        return np.asarray(np.ceil(floats("size", size) / self.payload) * self.wire)


@dataclass(frozen=True, eq=False)
class Traffic:
    """F flows on S ways over L links; K scenarios.

    way       (S, hops) links of a way, -1 beyond its end; the first is the sender's NIC
    flow      (S,) whose way it is
    size      (F,) bytes of data
    start     (F,) s
    sender    (F,) number of the NIC's link
    receiver  (F,) number of the last link
    capacity  (L,) bytes/s, one way
    latency   (L,) s to the far end
    enters    (L,) number of the switch or host at the far end
    scenario  (F,) 0 .. K-1
    packet    what a packet carries and takes
    lane      (F,) class of each flow: its virtual lane or priority, 0 ..
    """

    way: Ints
    flow: Ints
    size: Floats
    start: Floats
    sender: Ints
    receiver: Ints
    capacity: Floats
    latency: Floats
    enters: Ints
    scenario: Ints
    packet: Packet
    lane: Ints

    @property
    def lanes(self) -> int:
        """How many lanes there are."""
        return int(self.lane.max()) + 1

    @property
    def flows(self) -> int:
        """F."""
        return len(self.size)

    @property
    def wire(self) -> Floats:
        """(F,) bytes of each flow on the wire."""
        return self.packet.on_wire(self.size)

    @property
    def line_rate(self) -> Floats:
        """(F,) bytes/s of the sender's NIC."""
        return np.asarray(self.capacity[self.sender])

    def one_way(self) -> Floats:
        """(S,) s from NIC to receiver with no queue: latencies, and one packet's time on every link after the first."""
        used = self.way >= 0
        each = (
            self.latency[self.way]
            + np.where(np.arange(self.way.shape[1]) > 0, self.packet.wire, 0) / (self.capacity[self.way])
        )
        return np.asarray(np.where(used, each, 0).sum(axis=1))

    def base_rtt(self) -> Floats:
        """(F,) s of a round trip with no queue, a packet's time on the wire included; the longest way counts."""
        used = self.way >= 0
        each = 2 * self.latency[self.way] + self.packet.wire / self.capacity[self.way]
        longest = np.zeros(self.flows)
        np.maximum.at(longest, self.flow, np.where(used, each, 0).sum(axis=1))
        return longest


@declared
def traffic(
    way: ArrayLike, size: ArrayLike, capacity: ArrayLike, latency: ArrayLike, packet: Packet,
    start: ArrayLike = 0.0, flow: ArrayLike | None = None, lane: ArrayLike = 0,
) -> Traffic:  # fmt: skip
    """Flows over given ways: checked, one scenario. `flow` says whose each way is; without it each flow has one.

    `lane` is the class of each flow: 0 is served first where order counts.

    >>> two = traffic([[0, 2], [1, 2]], 1e6, capacity=[50e9] * 3, latency=[1e-6] * 3, packet=Packet(1000, 1038))
    >>> two.flows, two.base_rtt().round(9).tolist()
    (2, [4.042e-06, 4.042e-06])
    """
    ways = array("way", way)
    if ways.ndim != 2 or ways.shape[1] < 2 or ways.dtype.kind not in "iu" or not len(ways):
        raise ValueError(f"way = {str(way)[:40]!r} must be rows of at least two link numbers, such as [[0, 2], [1, 2]]")
    rate, delay = floats("capacity", capacity, above=True), floats("latency", latency)
    if rate.ndim != 1 or delay.shape != rate.shape:
        raise ValueError(f"latency has shape {delay.shape} and capacity {rate.shape}; give one of each for every link")
    if ways.max() >= len(rate) or ways[:, :2].min() < 0 or ways.min() < -1:
        raise ValueError(f"way names links outside 0 .. {len(rate) - 1}; pad with -1, and only at the end")
    if ((ways[:, 1:] >= 0) & (ways[:, :-1] < 0)).any():
        raise ValueError("way has a gap: -1 before a link; pad with -1 only at the end")
    whose = np.arange(len(ways)) if flow is None else array("flow", flow)
    if whose.shape != (len(ways),) or whose.dtype.kind not in "iu" or set(whose) != set(range(int(whose.max()) + 1)):
        raise ValueError("flow must name the flow of each way: 0 to F-1, none left out")
    number = int(whose.max()) + 1
    bytes_, begin = floats("size", size, above=True), floats("start", start)
    for name, value in (("size", bytes_), ("start", begin)):
        if value.shape not in ((), (number,)):
            raise ValueError(f"{name} has shape {value.shape}; give one number, or one for each of {number} flows")
    kind = array("lane", lane)
    if (
        kind.shape not in ((), (number,))
        or kind.dtype.kind not in "iu"
        or kind.min() < 0
        or kind.max() > MOST_LANES - 1
    ):
        raise ValueError(
            f"lane = {str(lane)[:40]!r} must be a whole number from 0 to {MOST_LANES - 1}, or one for each flow"
        )
    order = np.argsort(whose, kind="stable")  # the ways of a flow stand together
    ways, whose = ways[order], whose[order]
    last = ways[np.arange(len(ways)), (ways >= 0).sum(axis=1) - 1]
    sender, receiver = np.zeros(number, np.int64), np.zeros(number, np.int64)
    sender[whose], receiver[whose] = ways[:, 0], last
    if (sender[whose] != ways[:, 0]).any() or (receiver[whose] != last).any():
        raise ValueError("way: the ways of a flow must begin at one NIC and end at one receiver")
    return Traffic(
        ways.astype(np.int64), whose.astype(np.int64), np.broadcast_to(bytes_, number).copy(),
        np.broadcast_to(begin, number).copy(), sender, receiver, rate.copy(), delay.copy(), _far_ends(ways, len(rate)),
        np.zeros(number, np.int64), packet, np.broadcast_to(kind, number).astype(np.int64),
    )  # fmt: skip


def _far_ends(way: Ints, links: int) -> Ints:
    """(L,) a number for the far end of each link: two links enter the same switch if a way goes on alike from both."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    on = way[:, 1:] >= 0
    here, there = way[:, :-1][on], way[:, 1:][on]
    graph = coo_array((np.ones(len(here)), (here, there + links)), shape=(2 * links, 2 * links))
    return np.asarray(connected_components(graph, directed=False)[1][:links], np.int64)


@declared
def staggered(flows: int, link: Link, packet: Packet, rng: Generator) -> Floats:
    """(F,) s: starts spread over the time that one packet of each flow takes on one cable.

    Each flow has a slot of packet.wire / link.bandwidth, drawn by lot, and starts anywhere in it. Flows that all start
    at one instant, under a control without chance, stay in step for ever; no two computers start at one instant.

    >>> start = staggered(4, Link(1e-6, 1e9), Packet(1000, 1000), np.random.default_rng(0))
    >>> np.sort(start // 1e-6).tolist()
    [0.0, 1.0, 2.0, 3.0]
    """
    if not 1 <= flows <= MOST_SENDERS:
        raise ValueError(f"flows = {flows} must be between 1 and {MOST_SENDERS}; give the number of flows")
    slot = packet.wire / alike(link)[0]
    return np.asarray(rng.permutation(flows) * slot + rng.uniform(0, slot, flows))


@declared
def incast(senders: int, size: ArrayLike, link: Link, packet: Packet, start: ArrayLike = 0.0) -> Traffic:
    """`senders` hosts send `size` bytes each to one host behind the same switch; every cable is `link`.

    Links 0 .. n-1 are the senders' NICs, link n goes from the switch to the receiver.

    >>> incast(8, 2e6, Link(3.5e-6, 12.5e9), Packet(1000, 1038)).way[:2].tolist()
    [[0, 8], [1, 8]]
    """
    if not 1 <= senders <= MOST_SENDERS:
        raise ValueError(
            f"senders = {senders} must be between 1 and {MOST_SENDERS}; give the number of hosts that send"
        )
    nic, (bandwidth, alpha) = np.arange(senders), alike(link)
    return traffic(
        np.stack([nic, np.full(senders, senders)], axis=1), size, np.full(senders + 1, bandwidth),
        np.full(senders + 1, alpha), packet, start,
    )  # fmt: skip


@declared
def over(
    fabric: Fabric, way: ArrayLike, size: ArrayLike, packet: Packet,
    start: ArrayLike = 0.0, flow: ArrayLike | None = None, lane: ArrayLike = 0,
) -> Traffic:  # fmt: skip
    """Flows on the links of a fabric; ways as `netlib.topology.ecmp` and its like give them.

    >>> from netlib.topology import ecmp, one_switch, routes
    >>> star = one_switch(3, Link(1e-6, 50e9))
    >>> over(star, ecmp(routes(star), [0, 1], [2, 2]), 1e6, Packet(1000, 1038)).receiver.tolist()
    [5, 5]
    """
    made = traffic(way, size, fabric.capacity, fabric.latency, packet, start, flow, lane)
    return replace(made, enters=fabric.target.astype(np.int64))


def together(parts: Sequence[Traffic]) -> Traffic:
    """Several scenarios as one traffic: nothing is shared, so each runs as it would alone.

    To the bit, unless chance decides about marks, losses or ways: all draw from one generator, each then other numbers.

    >>> one = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1038))
    >>> both = together([one, one])
    >>> both.flows, both.scenario.tolist()
    (4, [0, 0, 1, 1])
    """
    if not parts:
        raise ValueError("parts is empty; give at least one Traffic")
    if len({part.packet for part in parts}) > 1:
        raise ValueError("parts have packets of different sizes; run them one after the other")
    links = np.cumsum([0, *(len(part.capacity) for part in parts)])
    flows = np.cumsum([0, *(part.flows for part in parts)])
    kinds = np.cumsum([0, *(int(part.scenario.max()) + 1 for part in parts)])
    ends = np.cumsum([0, *(int(part.enters.max()) + 1 for part in parts)])
    hops = max(part.way.shape[1] for part in parts)

    def moved(part: Traffic, by: int) -> Ints:
        wide = np.full((len(part.way), hops), -1, np.int64)
        wide[:, : part.way.shape[1]] = np.where(part.way >= 0, part.way + by, -1)
        return wide

    return Traffic(
        np.concatenate([moved(part, int(links[k])) for k, part in enumerate(parts)]),
        np.concatenate([part.flow + flows[k] for k, part in enumerate(parts)]),
        np.concatenate([part.size for part in parts]),
        np.concatenate([part.start for part in parts]),
        np.concatenate([part.sender + links[k] for k, part in enumerate(parts)]),
        np.concatenate([part.receiver + links[k] for k, part in enumerate(parts)]),
        np.concatenate([part.capacity for part in parts]),
        np.concatenate([part.latency for part in parts]),
        np.concatenate([part.enters + ends[k] for k, part in enumerate(parts)]),
        np.concatenate([part.scenario + kinds[k] for k, part in enumerate(parts)]),
        parts[0].packet,
        np.concatenate([part.lane for part in parts]),
    )
