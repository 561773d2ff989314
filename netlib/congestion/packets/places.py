"""Places: where the ways of a traffic meet queues, and how many steps lie between.

A queue belongs to a link and a lane (a class of traffic); a place is one way at one queue.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from dataclasses import dataclass

import numpy as np

from netlib.congestion.packets.traffic import Ints, Traffic


@dataclass(frozen=True, eq=False)
class Places:
    """Where a way meets a queue: one place for each way and each link after its first, sorted by queue.

    way     (P,) whose place it is
    hop     (P,) which link of the way, 1 ...
    queue   (P,) number of the queue, 0 .. Q-1
    link    (Q,) the link that a queue feeds;  lane (Q,) the class that it holds
    first   (Q,) its first place
    after   (P,) the next place of the way; -1 if the receiver comes next
    lag     (P,) steps from leaving the queue to what comes next
    came    (P,) the link by which the way comes to the queue
    gate    (P,) number of that link and the way's lane: link x lanes + lane;  door (Q,) the same of a queue's own link
    lanes   how many lanes there are
    before  (P,) the place before on the way; -1 if the NIC is
    entry   (S,) first place of each way;  exit (S,) its last place
    nic_lag (S,) steps from the NIC to the first place
    """

    way: Ints
    hop: Ints
    queue: Ints
    link: Ints
    lane: Ints
    first: Ints
    after: Ints
    lag: Ints
    came: Ints
    gate: Ints
    door: Ints
    lanes: int
    before: Ints
    entry: Ints
    exit: Ints
    nic_lag: Ints


def places(traffic: Traffic, dt: float) -> Places:
    """The places of `traffic` in steps of `dt` seconds; a link takes one step at least.

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> held = places(incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000)), 0.5e-6)
    >>> held.queue.tolist(), held.link.tolist(), held.lag.tolist()
    ([0, 0], [2], [2, 2])
    """
    way, hop = np.nonzero(traffic.way[:, 1:] >= 0)
    hop = hop + 1
    link, lane, lanes = traffic.way[way, hop], traffic.lane[traffic.flow[way]], traffic.lanes
    order = np.lexsort((hop, way, link * lanes + lane))
    way, hop, link, lane = way[order], hop[order], link[order], lane[order]
    door, first, queue = np.unique(link * lanes + lane, return_index=True, return_inverse=True)
    number = np.full((len(traffic.way), traffic.way.shape[1] + 1), -1, np.int64)
    number[way, hop] = np.arange(len(way))
    last = (traffic.way >= 0).sum(axis=1) - 1
    each = traffic.latency[traffic.way] + traffic.packet.wire / traffic.capacity[traffic.way]
    steps = np.maximum(np.round(each / dt), 1).astype(np.int64)
    after, before = number[way, hop + 1], np.full(len(way), -1)
    before[after[after >= 0]] = np.flatnonzero(after >= 0)
    came = traffic.way[way, hop - 1]
    return Places(
        way=way, hop=hop, queue=queue, link=door // lanes, lane=door % lanes, first=first, after=after,
        lag=steps[way, hop], came=came, gate=came * lanes + lane, door=door, lanes=lanes, before=before,
        entry=number[:, 1], exit=number[np.arange(len(last)), last], nic_lag=steps[:, 0],
    )  # fmt: skip


def rest(at: Places) -> Ints:
    """(P,) steps from coming to a place until the receiver has it, when no queue holds anything."""
    left = at.lag.copy()
    place = at.exit
    while True:
        before = at.before[place]
        some = before >= 0
        if not some.any():
            return left
        left[before[some]] = at.lag[before[some]] + left[place[some]]
        place = np.where(some, before, place)


def lag_to(at: Places) -> Ints:
    """(P,) steps to each place, from the NIC or from the queue before."""
    lag = np.zeros(len(at.way), np.int64)
    lag[at.entry] = at.nic_lag
    on = at.after >= 0
    lag[at.after[on]] = at.lag[on]
    return lag


def way_back(traffic: Traffic, at: Places, dt: float) -> Ints:
    """(S,) steps of an acknowledgement: with those of its packet, the round trip without queues, to a step."""
    forward = at.nic_lag + np.bincount(at.way, at.lag, len(traffic.way)).astype(np.int64)
    latency = np.where(traffic.way >= 0, traffic.latency[traffic.way], 0).sum(axis=1)
    steps = np.round((traffic.one_way() + latency) / dt).astype(np.int64) + 1 - forward
    return np.asarray(np.maximum(steps, 1))
