"""Closed forms: what a topology must come to, without building it.

Each takes numbers or arrays that broadcast and returns floats; each is compared with the built graph by the tests.
N hosts, radix k, tiers L, oversubscription r. Bytes, seconds, bytes/s one way. Read with the chapter "Scale-out".
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, floats, formula

LIGHT_PER_METRE = 5e-9
"""Seconds a signal needs for a metre of fibre, rounded: "roughly 5 ns" in NVIDIA's guide to cabling data centres
(Additional Cable Latency). 1.47 / c, the index that Fluke Networks presets for single-mode fibre, makes it 4.9."""


@formula
def clos_hosts(radix: ArrayLike, tiers: ArrayLike) -> Floats:
    """Most hosts of a non-blocking Clos of L tiers: 2 (k / 2)^L. Al-Fares, Loukissas and Vahdat 2008 for L = 3.

    >>> clos_hosts(64, [1, 2, 3]).tolist()
    [64.0, 2048.0, 65536.0]
    """
    return 2 * (_even("radix", radix, 2) / 2) ** _whole("tiers", tiers)


@formula
def clos_switches(hosts: ArrayLike, radix: ArrayLike, tiers: ArrayLike) -> Floats:
    """Switches of a non-blocking Clos of L tiers: ceil(2 N / k) in each tier but the top, ceil(N / k) in the top one.

    (2 L - 1) N / k for whole pods: 3 N / k in two tiers, 5 N / k in three. Linear in N. Elsewhere a lower bound, since
    parallel cables cannot always be shared out evenly.

    >>> clos_switches([2048, 4096, 8192], 64, [2, 3, 3]).tolist()
    [96.0, 320.0, 640.0]
    """
    size, ports, levels = _whole("hosts", hosts), _even("radix", radix, 2), _whole("tiers", tiers)
    if np.any(size > clos_hosts(ports, levels)):
        raise ValueError("hosts exceeds what these tiers hold, 2 (radix / 2)^tiers; give more tiers or a larger radix")
    return (levels - 1) * np.ceil(2 * size / ports) + np.ceil(size / ports)


@formula
def clos_tiers(hosts: ArrayLike, radix: ArrayLike) -> Floats:
    """Fewest tiers of a non-blocking Clos: the least L with 2 (k / 2)^L >= N.

    >>> clos_tiers([64, 2048, 2049, 65536], 64).tolist()
    [1.0, 2.0, 3.0, 3.0]
    """
    growth = np.log(_whole("hosts", hosts) / 2) / np.log(_even("radix", radix, 4) / 2)
    return np.maximum(1.0, np.ceil(growth - 1e-12))  # a power of k / 2 may come out a rounding error above its exponent


@formula
def switch_hops(tiers: ArrayLike) -> Floats:
    """Switches on the longest shortest path of a Clos of L tiers: 2 L - 1 (up to the top and down again).

    >>> switch_hops([1, 2, 3]).tolist()
    [1.0, 3.0, 5.0]
    """
    return 2 * _whole("tiers", tiers) - 1


@formula
def clos_bisection_links(hosts: ArrayLike, oversubscription: ArrayLike = 1) -> Floats:
    """Bisection of a Clos in host links, one way: N / (2 r), for a cut that splits no leaf. r = 1 is full bisection.

    >>> clos_bisection_links(1024, [1, 7]).round(1).tolist()
    [512.0, 73.1]
    """
    return floats("hosts", hosts) / (2 * floats("oversubscription", oversubscription, above=True))


@formula
def transceivers_per_host(tiers: ArrayLike) -> Floats:
    """Optical modules for each host in a non-blocking Clos where every cable is optical: two ends x L cables.

    >>> transceivers_per_host([2, 3]).tolist()
    [4.0, 6.0]
    """
    return 2 * _whole("tiers", tiers)


@formula
def dragonfly_groups(a: ArrayLike, h: ArrayLike) -> Floats:
    """Most groups of a dragonfly: a h + 1; `a` switches in a group, each with `h` global ports. Kim et al. 2008.

    >>> float(dragonfly_groups(32, 17))
    545.0
    """
    return _whole("a", a) * _whole("h", h) + 1


@formula
def dragonfly_hosts(p: ArrayLike, a: ArrayLike, h: ArrayLike) -> Floats:
    """Most hosts of a dragonfly: a p (a h + 1), with `p` hosts on each switch. Kim, Dally, Scott and Abts 2008.

    >>> dragonfly_hosts([2, 16], [4, 32], [2, 16]).tolist()
    [72.0, 262656.0]
    """
    return _whole("p", p) * _whole("a", a) * dragonfly_groups(a, h)


@formula
def dragonfly_bisection_links(groups: ArrayLike) -> Floats:
    """Global cables between two halves of the groups, one cable for each pair: floor(G / 2) ceil(G / 2), about G^2 / 4.

    A cut of whole groups. It is the bisection for an even G; for an odd one the halves differ by a group.

    >>> dragonfly_bisection_links([8, 9]).tolist()
    [16.0, 20.0]
    """
    count = _whole("groups", groups)
    return np.floor(count / 2) * np.ceil(count / 2)


@formula
def dragonfly_plus_hosts(radix: ArrayLike) -> Floats:
    """Most hosts of a dragonfly+: (k / 2)^2 ((k / 2)^2 + 1), groups of k / 2 leaves and spines. Shpiner et al. 2017.

    >>> dragonfly_plus_hosts([4, 64]).tolist()
    [20.0, 1049600.0]
    """
    square = (_even("radix", radix, 2) / 2) ** 2
    return square * (square + 1)


@formula
def torus_diameter(sides: ArrayLike) -> Floats:
    """Most hops in a torus: the sum of floor(d / 2) over its sides (last axis).

    >>> float(torus_diameter([16, 16, 16]))
    24.0
    """
    return np.asarray(np.sum(np.floor(_sides(sides) / 2), axis=-1))


@formula
def torus_mean_hops(sides: ArrayLike) -> Floats:
    """Mean hops between two different hosts of a torus: n / (n - 1) x sum of floor(d^2 / 4) / d over its sides.

    With itself as a destination too, d / 4 for each even side.

    >>> round(float(torus_mean_hops([16, 16, 16])), 3)
    12.003
    """
    each = _sides(sides)
    n = np.prod(each, axis=-1)
    if np.any(n < 2):
        raise ValueError("sides hold a single host, which has no other to reach; give one side of 2 or more")
    return np.asarray(n / (n - 1) * np.sum(np.floor(each**2 / 4) / each, axis=-1))


@formula
def torus_bisection_links(sides: ArrayLike) -> Floats:
    """Links between two halves of a torus: 2 n / max d, across the longest side, which must be even.

    Each of its rings is cut in two places; a side of 2 has one cable and is cut once.

    >>> torus_bisection_links([[16, 16, 16], [8, 8, 16]]).tolist()
    [512.0, 128.0]
    """
    each = _sides(sides)
    longest = np.max(each, axis=-1)
    if np.any(longest % 2):
        odd = longest[longest % 2 == 1].flat[0]
        raise ValueError(f"sides = ... {odd:g}: the longest side must be even for a straight cut into equal halves")
    return np.asarray(np.where(longest > 2, 2, 1) * np.prod(each, axis=-1) / longest)


@formula
def same_rail_share(g: ArrayLike) -> Floats:
    """Share of the bytes leaving a node that stay on their rail in a uniform all-to-all: 1 / g, for g GPUs in a node.

    Without forwarding inside the node; with it (NCCL's PXN) all of them do.

    >>> float(same_rail_share(8))
    0.125
    """
    return np.asarray(1 / _whole("g", g))


@formula
def domain_bisection(n: ArrayLike, rate: ArrayLike) -> Floats:
    """Bisection of a non-blocking domain, bytes/s one way: n / 2 x rate, for n GPUs of `rate` bytes/s one way.

    >>> float(domain_bisection(72, 900e9))
    32400000000000.0
    """
    return _whole("n", n) / 2 * floats("rate", rate, above=True)


@formula
def domain_pairs(n: ArrayLike, links: ArrayLike, pairs: ArrayLike = 4) -> Floats:
    """Pairs of wires of a domain: n x links x pairs. An NVLink 5 link is two lanes each way: 4 pairs.

    >>> float(domain_pairs(72, 18))
    5184.0
    """
    return _whole("n", n) * _whole("links", links) * _whole("pairs", pairs)


@formula
def alltoall_bisection_bytes(n: ArrayLike, size: ArrayLike) -> Floats:
    """Bytes that cross a bisection one way in a uniform all-to-all: n / 2 senders x size / 2 = n size / 4.

    `size` is the send buffer of a rank, n equal blocks (its own included).

    >>> float(alltoall_bisection_bytes(1024, 1e6))
    256000000.0
    """
    return _whole("n", n) * floats("size", size) / 4


@formula
def ring_bisection_bytes(n: ArrayLike, size: ArrayLike) -> Floats:
    """Bytes that cross a bisection one way in a ring all-reduce: 2 (n - 1) / n x size, on the one link across the cut.

    For a ring in the order of the halves. It does not grow with n: a ring needs little bisection.

    >>> float(ring_bisection_bytes(1000, 1e6))
    1998000.0
    """
    ranks = _whole("n", n)
    return 2 * (ranks - 1) / ranks * floats("size", size)


@formula
def staged_loss(share: ArrayLike, slowdown: ArrayLike) -> Floats:
    """Share of speed lost when communication gets slower: c (s - 1) / (1 + c (s - 1)). Amdahl's law, backwards.

    `share` c is exposed communication / step time before, `slowdown` s = time without GPUDirect / time with it.

    >>> float(staged_loss(0.25, 5))
    0.5
    """
    extra = _share("share", share, 1) * (floats("slowdown", slowdown, 1) - 1)
    return extra / (1 + extra)


@formula
def staged_share(loss: ArrayLike, slowdown: ArrayLike) -> Floats:
    """The share c of communication at which `slowdown` s costs `loss`: loss / ((1 - loss)(s - 1)); above 1, it cannot.

    >>> float(staged_share(0.5, 5))
    0.25
    """
    lost = _share("loss", loss, 0)
    return lost / ((1 - lost) * (floats("slowdown", slowdown, 1, above=True) - 1))


@formula
def round_trip(metres: ArrayLike, per_metre: ArrayLike = LIGHT_PER_METRE) -> Floats:
    """Seconds of flight there and back: 2 x metres x per_metre, nothing else on the way.

    >>> float(round_trip(10_000))
    0.0001
    """
    return 2 * floats("metres", metres) * floats("per_metre", per_metre)


def _whole(name: str, value: ArrayLike, least: float = 1) -> Floats:
    array = floats(name, value, least)
    if np.any(array % 1):
        raise ValueError(f"{name} = {array[array % 1 > 0].flat[0]:g} must be a whole number")
    return array


def _even(name: str, value: ArrayLike, least: float) -> Floats:
    array = _whole(name, value, least)
    if np.any(array % 2):
        raise ValueError(f"{name} = {array[array % 2 > 0].flat[0]:g} must be even: half of the ports go up")
    return array


def _sides(value: ArrayLike) -> Floats:
    array = np.atleast_1d(_whole("sides", value))
    if not array.shape[-1]:
        raise ValueError("sides = [] must hold at least one side, such as [4, 4, 4]")
    return array


def _share(name: str, value: ArrayLike, most: int) -> Floats:
    """A share: at most 1 if `most` is 1, below 1 otherwise."""
    array = floats(name, value)
    wrong = array > 1 if most else array >= 1
    if np.any(wrong):
        raise ValueError(f"{name} = {array[wrong].flat[0]:g} must be {'at most' if most else 'below'} 1")
    return array
