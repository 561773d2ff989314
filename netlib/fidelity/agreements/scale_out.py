"""Agreements of the chapter "Scale-out": closed forms of `netlib.topology` against built fabrics."""

from collections.abc import Iterator
from functools import cache
from math import factorial, prod

import numpy as np

from netlib import topology as t
from netlib.arguments import Floats
from netlib.fidelity.agreement import Agreement
from netlib.links import Link, bytes_in_flight
from netlib.topology import Fabric
from netlib.topology.rails import rail_optimised

UNIT = Link(0.0, 1.0)  # capacities of 1, so that bytes/s count links


@cache
def clos(hosts: int, radix: int, tiers: int, oversubscription: int = 1) -> Fabric:
    """A built Clos of so many tiers."""
    if tiers == 3:
        return t.clos3(hosts, radix, UNIT, oversubscription)
    return t.leaf_spine(hosts, radix, UNIT, oversubscription=oversubscription)


@cache
def fly(p: int, a: int, h: int) -> Fabric:
    """A built dragonfly with as many groups as there can be."""
    return t.dragonfly(p, a, h, UNIT)


# ---------------------------------------------------------------- Clos


def switch_hops(hosts: int, radix: int, tiers: int) -> Floats:
    """The closed form knows the tiers alone."""
    return t.switch_hops(tiers)


def bisection_links(hosts: int, radix: int, tiers: int, oversubscription: int = 1) -> Floats:
    """The closed form knows hosts and oversubscription alone."""
    return t.clos_bisection_links(hosts, oversubscription)


def oversubscription(radix: int, down: int) -> float:
    """Ports down over ports up."""
    return down / (radix - down)


def transceivers_per_host(hosts: int, radix: int, tiers: int) -> Floats:
    """The closed form knows the tiers alone."""
    return t.transceivers_per_host(tiers)


def fits(hosts: int, radix: int, tiers: int) -> bool:
    """Whether so many hosts can be cabled in so many tiers: the builder does it, and no switch runs out of ports."""
    try:
        fabric = clos(hosts, radix, tiers)
    except ValueError:
        return False
    return int(fabric.degree[fabric.switches].max()) <= radix


def hosts_fitted(radix: int, tiers: int) -> int:
    """The most hosts that can be cabled, found by halving."""
    low, high = 1, radix ** (tiers + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle, radix, tiers) else (low, middle)
    return low


def switches_counted(hosts: int, radix: int, tiers: int) -> int:
    """Switches of the built fabric."""
    return clos(hosts, radix, tiers).switches.size


def tiers_tried(hosts: int, radix: int) -> int:
    """The fewest tiers that can be cabled, tried one after the other."""
    return 1 if hosts <= radix else next(tiers for tiers in (2, 3) if fits(hosts, radix, tiers))


def switch_hops_walked(hosts: int, radix: int, tiers: int) -> int:
    """Switches between the two farthest hosts of the built fabric, walked breadth first."""
    return t.diameter(clos(hosts, radix, tiers)) - 1


def bisection_links_cut(hosts: int, radix: int, tiers: int, oversubscription: int = 1) -> float:
    """Links' worth of flow from one half of the hosts to the other, by max-flow."""
    return t.bisection(clos(hosts, radix, tiers, oversubscription)).bandwidth


def oversubscription_counted(radix: int, down: int) -> float:
    """Capacity that enters the leaves of the built fabric from hosts, over capacity that leaves them upward."""
    return t.oversubscription(t.leaf_spine(2 * down, radix, UNIT, oversubscription=down / (radix - down)))


def transceivers_counted(hosts: int, radix: int, tiers: int) -> float:
    """Modules of the bill of the built fabric."""
    return t.bill(clos(hosts, radix, tiers)).transceivers_per_host


# ---------------------------------------------------------------- dragonfly, dragonfly+, torus


def groups_reached(a: int, h: int) -> int:
    """Groups that the first group of the built fabric reaches by one long cable, and itself."""
    fabric = fly(1, a, h)
    group = fabric.label("group")
    long = fabric.of_kind("global") & (group[fabric.source] == 0)
    return 1 + np.unique(group[fabric.target[long]]).size


def dragonfly_hosts_counted(p: int, a: int, h: int) -> int:
    """Hosts of the built fabric whose switches all have p + (a - 1) + h cables; -1 if one has not."""
    fabric = fly(p, a, h)
    whole = (fabric.degree[fabric.switches] == p + a - 1 + h).all()
    return fabric.hosts.size if whole else -1


def dragonfly_hops(a: int, h: int) -> int:
    """Links between switches by the minimal route: local, global, local, where each is needed."""
    return (a > 1) + (h > 0) + (a > 1)


def dragonfly_hops_walked(a: int, h: int) -> int:
    """Links between the two farthest switches of the built fabric, walked breadth first."""
    return t.switch_diameter(fly(1, a, h))


def dragonfly_cut(groups: int) -> int:
    """Long cables between the halves of the groups, counted on the built fabric of two-switch groups."""
    fabric = t.dragonfly(1, groups - 1, 1, UNIT)
    low = fabric.label("group") < (groups + 1) // 2
    crossing = low[fabric.source] & ~low[fabric.target] & fabric.of_kind("global")
    return int(np.count_nonzero(crossing))


def plus_hosts_counted(radix: int) -> int:
    """Hosts of the built fabric whose switches all use every port; -1 if one does not."""
    fabric = t.dragonfly_plus(radix, UNIT)
    return fabric.hosts.size if (fabric.degree[fabric.switches] == radix).all() else -1


def torus_diameter_walked(sides: tuple[int, ...]) -> int:
    """Links between the two farthest chips, walked breadth first."""
    return t.diameter(t.torus(sides, UNIT))


def torus_mean_walked(sides: tuple[int, ...]) -> float:
    """Mean links between two different chips, walked breadth first."""
    return t.mean_hops(t.torus(sides, UNIT))


def torus_cut(sides: tuple[int, ...]) -> float:
    """Links' worth of flow from one half of the chips to the other, by max-flow."""
    return t.bisection(t.torus(sides, UNIT)).bandwidth


# ---------------------------------------------------------------- traffic


def same_rail_counted(g: int, nodes: int = 5) -> float:
    """Pairs of GPUs in different nodes that sit on the same rail, over all pairs in different nodes."""
    fabric = rail_optimised(nodes, g, 4 * g, UNIT, UNIT)
    node, rail = fabric.label("node")[fabric.hosts], fabric.label("rail")[fabric.hosts]
    apart = node[:, None] != node[None, :]
    return float(np.mean((rail[:, None] == rail[None, :])[apart]))


def all_to_all_routed(n: int, size: float) -> float:
    """Bytes that leave the first of two leaves upward when all packets of an all-to-all are sprayed over the spines."""
    found = t.all_to_all_ledger(t.routes(t.leaf_spine(n, n, UNIT)), size / n)
    fabric = found.fabric
    return float(found.bytes[(fabric.source == fabric.switches[0]) & (fabric.tier[fabric.target] == 2)].sum())


def ring_executed(n: int, size: float) -> float:
    """Bytes from the lower to the upper half of the ranks in a ring all-reduce, step by step."""
    sender = np.arange(n)
    receiver = (sender + 1) % n
    crossing = (sender < n // 2) & (receiver >= n // 2)
    return float(sum(np.count_nonzero(crossing) * size / n for _ in range(2 * (n - 1))))


def loads(flows: int, most: int, links: int) -> Iterator[tuple[int, ...]]:
    """All ways to write `flows` as falling loads of at most `links` links."""
    if flows == 0:
        yield ()
    elif links:
        for first in range(min(flows, most), 0, -1):
            for rest in loads(flows - first, first, links - 1):
                yield (first, *rest)


def enumerated(flows: int, links: int) -> list[tuple[int, int, int]]:
    """(ways, hottest load, links used) of every pattern of loads; the ways of all patterns add up to links^flows."""
    found = []
    for load in loads(flows, flows, links):
        idle = links - len(load)
        which = factorial(links) // (factorial(idle) * prod(factorial(load.count(each)) for each in set(load)))
        found.append((which * (factorial(flows) // prod(map(factorial, load))), load[0], len(load)))
    return found


def max_load_enumerated(flows: int, links: int) -> float:
    """Mean hottest load over all outcomes of the hash."""
    return float(sum(ways * most for ways, most, _ in enumerated(flows, links)) / links**flows)


def speed_enumerated(flows: int, links: int) -> float:
    """What an even spread would take over what the hottest link takes, on average."""
    return flows / links / max_load_enumerated(flows, links)


def used_enumerated(flows: int, links: int) -> float:
    """Mean share of links that carry something, over all outcomes of the hash."""
    return float(sum(ways * used for ways, _, used in enumerated(flows, links)) / links ** (flows + 1))


# ---------------------------------------------------------------- distance and staging


def in_flight(bandwidth: float, metres: float) -> float:
    """Bandwidth times the round trip of a distance."""
    return float(bytes_in_flight(bandwidth, t.round_trip(metres)))


def bytes_in_flight_counted(bandwidth: float, round_trip: float) -> float:
    """Packets of 4 KiB sent back to back until the first acknowledgement returns, counted by the clock."""
    packet = 4096.0
    departures = np.arange(1, int(1.01 * bandwidth * round_trip / packet) + 2) * packet / bandwidth
    return packet * np.count_nonzero(departures <= round_trip * (1 + 1e-12))


def in_flight_counted(bandwidth: float, metres: float) -> float:
    """The same for light that takes 5 us a kilometre, there and back."""
    there = metres / 1000 * 5e-6
    return bytes_in_flight_counted(bandwidth, there + there)


def loss_executed(share: float, slowdown: float, steps: int = 1000) -> float:
    """Steps run one after the other by the clock, with and without the detour; the share of steps per second lost."""
    fast = slow = 0.0
    for _ in range(steps):
        compute = 1 - share
        fast += compute + share
        slow += compute + share * slowdown
    return 1 - (steps / slow) / (steps / fast)


_CLOS = (
    (32, 8, 2),
    (2048, 64, 2),
    (512, 32, 2),
    (800, 40, 2),
    (100, 20, 2),
    (16, 4, 3),
    (1024, 16, 3),
    (4096, 64, 3),
    (54, 6, 3),
)
_FLIES = ((4, 2), (8, 4), (2, 1), (6, 1), (3, 5), (12, 3))
_TORI = (((4, 4, 4),), ((8, 8, 16),), ((16, 16),), ((6, 4, 2),), ((8,),), ((10, 3),))
_HASHES = ((8, 8), (16, 8), (1, 8), (8, 1), (2, 3), (16, 16), (24, 5), (7, 64))

AGREEMENTS = (
    Agreement(
        "clos-hosts",
        "the most hosts of a non-blocking Clos",
        t.clos_hosts,
        hosts_fitted,
        ((4, 2), (8, 2), (10, 2), (64, 2), (4, 3), (6, 3), (8, 3), (16, 3)),
        "cabled until nothing fits",
    ),
    Agreement("clos-switches", "the switches of a non-blocking Clos", t.clos_switches, switches_counted, _CLOS),
    Agreement(
        "clos-tiers",
        "the fewest tiers",
        t.clos_tiers,
        tiers_tried,
        ((64, 64), (65, 64), (2048, 64), (2049, 64), (1024, 32), (1024, 64), (513, 32), (16, 4), (128, 8)),
        "cabled with as few as it takes",
    ),
    Agreement(
        "switch-hops",
        "the switches between the two farthest hosts",
        switch_hops,
        switch_hops_walked,
        ((1024, 64, 2), (1024, 32, 3), (65, 64, 2), (16, 4, 3), (54, 6, 3)),
        "walked breadth first",
    ),
    Agreement(
        "clos-bisection",
        "links' worth of traffic between two halves of the hosts",
        bisection_links,
        bisection_links_cut,
        ((32, 8, 2), (2048, 64, 2), (16, 4, 3), (1024, 16, 3), (48, 8, 2, 3), (96, 16, 2, 3), (4096, 64, 3)),
        "max-flow",
        1e-9,
    ),
    Agreement(
        "oversubscription",
        "bandwidth into a leaf from hosts over bandwidth up",
        oversubscription,
        oversubscription_counted,
        ((64, 32), (64, 48), (32, 24), (8, 7), (64, 56)),
        tolerance=1e-12,
    ),
    Agreement(
        "transceivers",
        "optical modules of each host when every cable is optical",
        transceivers_per_host,
        transceivers_counted,
        _CLOS,
        "counted on the bill",
        1e-12,
    ),
    Agreement("dragonfly-groups", "the most groups of a dragonfly", t.dragonfly_groups, groups_reached, _FLIES),
    Agreement(
        "dragonfly-hosts",
        "the most hosts of a dragonfly",
        t.dragonfly_hosts,
        dragonfly_hosts_counted,
        ((2, 4, 2), (4, 8, 4), (1, 2, 1), (3, 6, 1), (8, 16, 8)),
    ),
    Agreement(
        "dragonfly-diameter",
        "links between the two farthest switches of a dragonfly",
        dragonfly_hops,
        dragonfly_hops_walked,
        (*_FLIES, (1, 4)),
        "walked breadth first",
    ),
    Agreement(
        "dragonfly-bisection",
        "cables between two halves of the groups",
        t.dragonfly_bisection_links,
        dragonfly_cut,
        ((2,), (3,), (4,), (9,), (16,), (33,)),
    ),
    Agreement(
        "dragonfly-plus-hosts",
        "the most hosts of a dragonfly+",
        t.dragonfly_plus_hosts,
        plus_hosts_counted,
        ((4,), (6,), (8,), (16,)),
    ),
    Agreement(
        "torus-diameter",
        "hops between the two farthest chips",
        t.torus_diameter,
        torus_diameter_walked,
        _TORI,
        "walked breadth first",
    ),
    Agreement(
        "torus-mean",
        "mean hops between two different chips",
        t.torus_mean_hops,
        torus_mean_walked,
        _TORI,
        "walked breadth first",
        1e-12,
    ),
    Agreement(
        "torus-bisection",
        "links between two halves of a torus",
        t.torus_bisection_links,
        torus_cut,
        _TORI,
        "max-flow",
    ),
    Agreement(
        "same-rail-share",
        "the share of what leaves a node that stays on its rail",
        t.same_rail_share,
        same_rail_counted,
        ((8,), (4,), (1,), (6,)),
        "counted pair by pair",
        1e-12,
    ),
    Agreement(
        "alltoall-bisection",
        "bytes that cross between two halves in an all-to-all",
        t.alltoall_bisection_bytes,
        all_to_all_routed,
        ((256, 1e6), (8, 3.0), (2, 1e9), (72, 5e7)),
        "routed link by link",
        1e-12,
    ),
    Agreement(
        "ring-bisection",
        "bytes that cross between two halves in a ring all-reduce",
        t.ring_bisection_bytes,
        ring_executed,
        ((1000, 1e6), (8, 3.0), (2, 1e9), (5, 1e6)),
        "executed step by step",
        1e-12,
    ),
    Agreement(
        "ecmp-hottest",
        "flows on the hottest of equal links",
        t.expected_max_load,
        max_load_enumerated,
        _HASHES,
        "enumerated outcome by outcome",
        1e-9,
    ),
    Agreement(
        "ecmp-speed",
        "speed of hashed flows, held by the hottest link",
        t.ecmp_speed,
        speed_enumerated,
        _HASHES,
        "enumerated outcome by outcome",
        1e-9,
    ),
    Agreement(
        "links-used",
        "the share of links that carry a flow",
        t.links_used,
        used_enumerated,
        _HASHES,
        "enumerated outcome by outcome",
        1e-12,
    ),
    Agreement(
        "bytes-in-flight",
        "bytes under way when the first acknowledgement returns",
        bytes_in_flight,
        bytes_in_flight_counted,
        ((50e9, 4e-6), (100e9, 100e-6), (100e9, 10e-3), (12.5e9, 65e-3)),
        "executed packet by packet",
        0.03,  # a whole number of packets: one of 4 KiB in 200 kB
    ),
    Agreement(
        "scale-across",
        "bytes under way over a distance",
        in_flight,
        in_flight_counted,
        ((100e9, 10e3), (100e9, 1000e3), (50e9, 2e3), (12.5e9, 10e3)),
        "executed packet by packet",
        0.005,  # a whole number of packets: one of 4 KiB in 1 MB
    ),
    Agreement(
        "staged-loss",
        "the share of speed lost when communication is slower",
        t.staged_loss,
        loss_executed,
        ((0.25, 5), (0.1, 5.3), (0.5, 1), (0.43, 2), (1.0, 3)),
        "executed step by step",
        1e-9,
    ),
)
