"""Agreements of the chapter "Collectives": its labelled formulas against executed schedules and against simulation.

The table of all algorithms on random cases is `netlib.fidelity.engine_table`.
"""

from collections.abc import Callable

import numpy as np

from netlib import collectives as c
from netlib.arguments import Floats
from netlib.collectives import Schedule, nccl
from netlib.fidelity.agreement import Agreement
from netlib.links import Link
from netlib.topology import nvlink_domain, one_switch, rail_optimised

_ADDED_BY_RANKS: tuple[Callable[[int], Schedule], ...] = (
    c.ring_allreduce,
    c.tree_allreduce,
    c.recursive_doubling_allreduce,
    c.halving_doubling_allreduce,
    c.pipelined_allreduce,
    c.double_tree_allreduce,
    c.two_shot_allreduce,
)


def hops(link: Link) -> Link:
    """One of the two cables of a way through a switch."""
    return Link(np.asarray(link.alpha) / 2, link.bandwidth)


# ---------------------------------------------------------------- the bound and the ring


def least_bytes(n: int, size: float) -> float:
    """Bytes that the busiest rank sends at least: 2 (n - 1) / n size."""
    return 2 * (n - 1) / n * size


def least_bytes_counted(n: int, size: float) -> float:
    """Bytes of the busiest rank, counted message by message, in the best of seven executed all-reduces."""
    return min(float(c.counts(built(n), size).sent.max()) for built in _ADDED_BY_RANKS)


def ring_time(size: float, n: int, alpha: float, bandwidth: float) -> Floats:
    """The closed form."""
    return c.ring_allreduce_time(size, n, Link(alpha, bandwidth))


def ring_time_counted(size: float, n: int, alpha: float, bandwidth: float) -> float:
    """Alpha for each step of the executed ring that sends something, and the bytes of its busiest rank."""
    found = c.counts(c.ring_allreduce(n), size)
    return found.steps * alpha + float(found.sent.max()) / bandwidth


def ring_time_simulated(size: float, n: int, alpha: float, bandwidth: float) -> float:
    """Seconds until the last rank is done, on one switch, every rank at its own pace."""
    switch = one_switch(n, hops(Link(alpha, bandwidth)))
    return c.simulate(c.ring_allreduce(n), switch, size, pace="rank").seconds


# ---------------------------------------------------------------- rails and nodes


def rails_time(size: float, g: int, nodes: int, up: float, out: float) -> Floats:
    """The closed form without latency, a card for each GPU."""
    return c.multirail_ring_allreduce_time(size, g, nodes, Link(0, up), Link(0, out))


def rails_time_counted(size: float, g: int, nodes: int, up: float, out: float) -> float:
    """Seconds of the busiest card, or of the busiest NVLink if it is later, for all that it sends or receives."""
    within, between = np.zeros((2, 2, g * nodes))
    for step in (schedule := c.multirail_ring_allreduce(g, nodes)).written_out():
        sent = schedule.bytes_of(size)[step.chunk]
        near = step.src // g == step.dst // g
        for way, rank in enumerate((step.src, step.dst)):
            np.add.at(within[way], rank[near], sent[near])
            np.add.at(between[way], rank[~near], sent[~near])
    return float(max(within.max() / up, between.max() / out))


def rails_time_simulated(size: float, g: int, nodes: int, up: float, out: float) -> float:
    """Seconds on nodes whose GPUs share an NVSwitch, with rails on leaves."""
    fabric = rail_optimised(nodes, g, 2 * max(g, nodes), Link(0, out), inside=Link(0, up))
    return c.simulate(c.multirail_ring_allreduce(g, nodes), fabric, size).seconds


def balance(ratio: float, nodes: int) -> Floats:
    """The closed form: domain size at which both halves of the hierarchy cost the same."""
    return c.inside_outside_balance(Link(0, ratio), Link(0, 1), nodes)


def balance_found(ratio: float, nodes: int, size: float = 1.0) -> int:
    """The smallest domain in whose executed hierarchy the NVLinks are busy for as long as the cards."""
    g = 2
    while True:
        schedule = c.hierarchical_allreduce(g, nodes)
        busy = np.zeros((2, g * nodes))
        for step in schedule.written_out():
            sent = schedule.bytes_of(size)[step.chunk]
            far = (step.src // g != step.dst // g).astype(int)
            np.add.at(busy, (far, step.src), sent / np.where(far, 1, ratio))
        inside, across = busy.max(axis=1)
        if inside >= across * (1 - 1e-12):
            return g
        g += 1


# ---------------------------------------------------------------- the switch adds


def nvls_time(size: float, n: int, alpha: float, bandwidth: float) -> Floats:
    """The closed form for fine pieces."""
    return c.nvls_allreduce_time(size, n, Link(alpha, bandwidth))


def nvls_time_simulated(size: float, n: int, alpha: float, bandwidth: float) -> float:
    """What an empty buffer takes on a built domain, and how long the busiest NVLink of the ledger is busy."""
    domain = nvlink_domain(n, 1, 1, hops(Link(alpha, bandwidth)))
    schedule = c.nvls_allreduce(n)
    return c.simulate(schedule, domain, 0).seconds + c.link_ledger(schedule, domain, size).busiest


_RINGS = (
    (140e9, 8, 0.0, 450e9),
    (4e9, 8, 2e-6, 50e9),
    (0.0, 33, 5e-6, 50e9),
    (1e6, 13, 1e-5, 25e9),
    (3.0, 2, 1e-6, 1e9),
    (1e9, 1, 1e-6, 1e9),
    (26214400.0, 100, 5e-6, 50e9),
)
_NODES = (
    (140e9, 8, 4, 450e9, 50e9),
    (140e9, 8, 4, 100e9, 50e9),
    (1e9, 4, 6, 900e9, 100e9),
    (3.0, 2, 2, 1e9, 3e9),
    (1e6, 3, 8, 50e9, 25e9),
    (1e6, 1, 4, 1e9, 50e9),
)

# ---------------------------------------------------------------- NCCL's plan


def planned_rate(nodes: int, size: float) -> float:
    """Bytes of a buffer per second in the long run, as NCCL's table plans a ring: what a byte adds to its time."""
    times = nccl.tune("2.30.7", _pod(nodes)).time("Ring/Simple", [size, 2 * size])
    return float(size / (times[1] - times[0]))


def ring_rate(nodes: int, size: float) -> float:
    """The same, from the busiest link of the rings executed on cards that carry the channels' speed together."""
    cards = rail_optimised(nodes, 8, 64, Link(0.0, 16 * 24e9 / 8), inside=Link(0.0, 450e9))
    return float(size / c.link_ledger(c.multirail_ring_allreduce(8, nodes), cards, size).busiest)


def _pod(nodes: int) -> nccl.Cluster:
    return nccl.Cluster("Hopper", nodes, 8, nccl.Channels(16, 24e9, 24e9))


AGREEMENTS = (
    Agreement(
        "least-bytes",
        "bytes that the busiest rank of an all-reduce must send while ranks do the adding",
        least_bytes,
        least_bytes_counted,
        ((2, 1.0), (3, 1e9), (8, 140e9), (13, 1e6), (32, 5e6), (100, 1e9)),
        "counted in the best of seven executed all-reduces",
        1e-12,
    ),
    Agreement(
        "ring-counted",
        "seconds of a ring all-reduce",
        ring_time,
        ring_time_counted,
        _RINGS,
        "counted message by message",
        1e-12,
    ),
    Agreement(
        "ring-simulated",
        "seconds of a ring all-reduce",
        ring_time,
        ring_time_simulated,
        _RINGS,
        "simulated on a switch",
        1e-9,
    ),
    Agreement(
        "rails-counted",
        "seconds of rings that leave each node by every card",
        rails_time,
        rails_time_counted,
        _NODES,
        "counted on the busiest card and NVLink",
        1e-12,
    ),
    Agreement(
        "rails-simulated",
        "seconds of rings that leave each node by every card",
        rails_time,
        rails_time_simulated,
        _NODES,
        "simulated on rails",
        1e-9,
    ),
    Agreement(
        "domain-balance",
        "the domain size at which both halves of the hierarchy cost the same",
        balance,
        balance_found,
        ((8.0, 8), (9.0, 3), (4.0, 4), (18.0, 9), (3.0, 3), (2.0, 2), (10.0, 5)),
        "counted on executed hierarchies, GPU by GPU",
        1e-12,
    ),
    Agreement(
        "nvls-simulated",
        "seconds of an all-reduce by a switch that adds",
        nvls_time,
        nvls_time_simulated,
        (
            (8e9, 8, 2e-6, 450e9),
            (8e9, 72, 2e-6, 900e9),
            (0.0, 4, 3e-6, 1e9),
            (1e6, 2, 0.0, 450e9),
            (3.0, 13, 1e-6, 1e9),
        ),
        "counted link by link on a domain",
        1e-12,
    ),
    Agreement(
        "nccl-ring-rate",
        "S/b: what a byte of buffer adds to the time that NCCL plans for rings",
        planned_rate,
        ring_rate,
        ((2, 1e9), (3, 4e9), (4, 1e9), (8, 1e9), (16, 1e10)),
        "counted on the busiest card of executed rings",
        1e-9,
    ),
)
