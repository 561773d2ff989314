"""Clos networks: leaf-spine in two tiers, fat-tree in three, at any radix, size and oversubscription.

A folded Clos (Clos 1953; Leiserson 1985; Al-Fares, Loukissas and Vahdat 2008) is built from switches of `radix` equal
ports. A leaf has ports down to hosts and ports up; oversubscription r is bandwidth down over bandwidth up. Spines join
the leaves of a pod; cores join the pods. Cables are dealt like cards, so every switch sees its neighbours equally.
Read with the chapter "Scale-out", section "Clos arithmetic".
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import declared, floats
from netlib.links import Link
from netlib.topology.fabric import Cables, Fabric, Ints, affordable, build, whole


@declared
def leaf_spine(
    hosts: int,
    radix: int,
    link: Link,
    up: Link | None = None,
    oversubscription: float = 1,
    spines: int | None = None,
) -> Fabric:
    """Two tiers: hosts / down leaves, each joined to every spine. Vertices: hosts, leaves, spines.

    hosts             how many; host i is on leaf i // down, so the last leaf may have free ports
    radix             ports of each switch, of the speed of the uplinks
    link, up          host to leaf; leaf to spine (default: the same). With a faster `up` a port splits into several
                      host ports: radix 64 x 400G with 200G hosts has 64 hosts and 32 uplinks on a leaf
    oversubscription  r, bandwidth down over up: a leaf has radix r / (r + 1) ports down and radix / (r + 1) up
    spines            default: the fewest that have the ports and divide the uplinks of a leaf, so that each leaf has
                      equally many parallel cables to each spine

    At most radix leaves, so radix^2 r / (r + 1) hosts: radix^2 / 2 without oversubscription.
    Raises ValueError for what does not fit, or whose ports are not whole numbers.

    >>> pod = leaf_spine(2048, 64, Link(1e-6, 50e9))
    >>> pod.switches.size, pod.cables
    (96, 4096)
    >>> leaf_spine(1024, 64, Link(1e-6, 50e9), oversubscription=3).switches.size  # 22 leaves of 48 hosts, 8 spines
    30
    """
    hosts, radix = whole("hosts", hosts), whole("radix", radix, 2)
    down, ups = leaf_ports(radix, link, up, oversubscription)
    if hosts > radix * down:
        raise ValueError(
            f"hosts = {hosts} do not fit two tiers of radix {radix} at {oversubscription:g}:1; "
            f"give at most {radix * down}, or use clos3"
        )
    affordable(hosts - -hosts // down * ups, hosts=hosts, radix=radix)
    name = f"leaf-spine, {hosts} hosts, radix {radix}, {oversubscription:g}:1"
    return two_tiers(name, np.arange(hosts) // down, ups, radix, link, up or link, spines)


@declared
def fat_tree(k: int, link: Link) -> Fabric:
    """The k-ary fat-tree: k^3 / 4 hosts, 5 k^2 / 4 switches of k ports, full bisection.

    k pods, each of k / 2 edge switches (tier 1) with k / 2 hosts and k / 2 aggregation switches (tier 2); (k / 2)^2
    cores (tier 3), one cable from each pod to each core. Vertices: hosts (pod-major, then by edge switch), edge,
    aggregation, core; label pod. Raises ValueError unless k is even. Al-Fares, Loukissas and Vahdat 2008.

    >>> tree = fat_tree(4, Link(1e-6, 50e9))
    >>> tree.hosts.size, tree.switches.size, tree.cables
    (16, 20, 48)
    """
    k = whole("k", k, 2)
    if k % 2:
        raise ValueError(f"k = {k} must be even: half of the ports go down and half go up")
    affordable(3 * k**3 // 4, k=k)
    half = k // 2
    return three_tiers(f"fat-tree, k = {k}", np.arange(k**3 // 4) // half, half, (half, half, half), k, link, link)


@declared
def clos3(
    hosts: int,
    radix: int,
    link: Link,
    oversubscription: float = 1,
    top: float = 1,
    up: Link | None = None,
) -> Fabric:
    """Three tiers at any size: as many pods of a fat-tree as the hosts need, the last one partly filled.

    A leaf has radix r / (r + 1) hosts (r = `oversubscription`), a spine radix t / (t + 1) leaves below it and
    radix / (t + 1) cables to the cores (t = `top`, the taper of the spine-core layer). At r = t = 1 and whole pods:
    2 N / radix leaves, as many spines, N / radix cores, one cable for each host at each layer. Fewer cores than
    uplinks means parallel cables, equally many to each; where that needs it, the number of cores is rounded up.
    At most radix^3 r t / ((r + 1)(t + 1)) hosts. `up` as in `leaf_spine`. Vertices: hosts, leaves, spines, cores;
    label pod. Raises ValueError for what does not fit, or whose ports are not whole numbers.

    >>> pods = clos3(4096, 64, Link(1e-6, 50e9))
    >>> [int((pods.tier == t).sum()) for t in (1, 2, 3)]
    [128, 128, 64]
    """
    hosts, radix = whole("hosts", hosts), whole("radix", radix, 2)
    down, ups = leaf_ports(radix, link, up, oversubscription)
    pod, cores_up = leaf_ports(radix, link, None, top, "top")
    if hosts > radix * pod * down:
        raise ValueError(
            f"hosts = {hosts} do not fit three tiers of radix {radix} at {oversubscription:g}:1 and {top:g}:1; "
            f"give at most {radix * pod * down}"
        )
    affordable(max(pod * ups, hosts - -hosts // down * (ups + ups * cores_up // pod)), hosts=hosts, radix=radix)
    name = f"Clos in three tiers, {hosts} hosts, radix {radix}, {oversubscription:g}:1, top {top:g}:1"
    return three_tiers(name, np.arange(hosts) // down, pod, (ups, pod, cores_up), radix, link, up or link)


@declared
def one_switch(hosts: int, link: Link) -> Fabric:
    """Hosts on one switch: the smallest network, and the ideal that the others are measured against.

    >>> one_switch(3, Link(1e-6, 50e9)).target.tolist()
    [3, 0, 3, 1, 3, 2]
    """
    hosts = whole("hosts", hosts)
    affordable(hosts, hosts=hosts)
    up = Cables(np.arange(hosts), np.full(hosts, hosts), link, "access")
    return build(f"one switch, {hosts} hosts", hosts + 1, np.arange(hosts), np.arange(hosts + 1) // hosts, [up])


@declared
def smallest_clos(hosts: int, radix: int, link: Link) -> Fabric:
    """The non-blocking Clos with the fewest tiers: one switch, `leaf_spine` or `clos3`.

    >>> [int(smallest_clos(n, 64, Link(1e-6, 50e9)).tier.max()) for n in (64, 65, 2048, 2049)]
    [1, 2, 2, 3]
    """
    hosts, radix = whole("hosts", hosts), whole("radix", radix, 2)
    if hosts <= radix:
        return one_switch(hosts, link)
    return (leaf_spine if hosts <= radix**2 / 2 else clos3)(hosts, radix, link)


def leaf_ports(radix: int, link: Link, up: Link | None, r: float, name: str = "oversubscription") -> tuple[int, int]:
    """Host ports and uplinks of one switch at r:1.

    >>> leaf_ports(64, Link(0, 25e9), Link(0, 50e9), 1), leaf_ports(64, Link(0, 50e9), None, 7)
    ((64, 32), (56, 8))
    """
    if np.ndim(r):
        raise ValueError(f"{name} = {str(r)[:40]} must be one number, such as 1 or 3")
    r = float(floats(name, r, above=True))
    ups = radix / (r + 1)
    if abs(ups - round(ups)) > 1e-9 or not 0 < round(ups) < radix:
        raise ValueError(
            f"{name} = {r:g} splits {radix} ports into {radix - ups:g} down and {ups:g} up; choose it or the radix so "
            "that both are whole"
        )
    split = float(np.mean((up or link).bandwidth) / np.mean(link.bandwidth))
    if abs(split - round(split)) > 1e-9 or split < 1:
        raise ValueError(f"up is {split:g} times as fast as link; a port splits only into a whole number of host ports")
    return (radix - round(ups)) * round(split), round(ups)


def two_tiers(
    name: str,
    leaf: NDArray[np.int64],
    ups: int,
    radix: int,
    link: Link,
    up: Link,
    spines: int | None = None,
    labels: Mapping[str, ArrayLike] | None = None,
) -> Fabric:
    """Spines above hosts whose leaf is given: `leaf` (H,), `ups` cables from each leaf. `labels` are those of hosts.

    >>> two_tiers("cross", np.array([0, 1, 1, 0]), 2, 4, Link(0, 50e9), Link(0, 50e9)).target[:8:2].tolist()
    [4, 5, 5, 4]
    """
    hosts, leaves = len(leaf), int(leaf.max()) + 1
    if spines is None:
        spines = next(s for s in _divisors(ups) if leaves * (ups // s) <= radix)
    spines = whole("spines", spines)
    if spines > ups or -(-leaves * ups // spines) > radix:
        least = -(-leaves * ups // radix)
        raise ValueError(f"spines = {spines} cannot join {leaves} leaves of {ups} uplinks; give {least} to {ups}")
    leaf_id, spine_id = _rows(hosts, 1, leaves), _rows(hosts + leaves, 1, spines)
    return build(
        name,
        hosts + leaves + spines,
        np.arange(hosts),
        np.repeat([0, 1, 2], [hosts, leaves, spines]),
        [
            Cables(np.arange(hosts), hosts + leaf, link, "access"),
            Cables(*deal(leaf_id, ups, spine_id), up, "trunk"),
        ],
        {key: _padded(value, hosts + leaves + spines) for key, value in (labels or {}).items()},
    )


def three_tiers(
    name: str,
    leaf: NDArray[np.int64],
    pod: int,
    ports: tuple[int, int, int],
    radix: int,
    link: Link,
    up: Link,
    top: Link | None = None,
    labels: Mapping[str, ArrayLike] | None = None,
) -> Fabric:
    """Pods of `pod` leaves and cores above them. `ports`: uplinks of a leaf, ports down and up of a spine.

    `radix` is that of the cores, `top` the spine-core cable. Spine j of each pod meets the cores of group j. The last
    pod may be short of leaves; it then gets as many spines and uplinks as an even spread needs, never fewer than its
    share.

    >>> one = Link(0, 50e9)
    >>> three_tiers("small", np.arange(8) // 2, 2, (2, 2, 2), 4, one, one).switches.size  # half of the k = 4 fat-tree
    10
    """
    ups, spine_down, spine_up = ports
    hosts, leaves = len(leaf), int(leaf.max()) + 1
    full, rest = divmod(leaves, pod)
    per_pod = next(s for s in _divisors(ups) if pod * (ups // s) <= spine_down)  # spines of a full pod = core groups
    share = -(-rest * spine_up // pod)  # cables to each group that the last pod needs
    group = next(c for c in _divisors(spine_up) if full * (spine_up // c) + -(-share // c) <= radix)
    share = -(-share // group) * group
    few = next(s for s in _divisors(per_pod) if rest * (ups // s) <= spine_down and share * (per_pod // s) <= spine_up)
    few = few if rest else 0
    spines, cores = full * per_pod + few, per_pod * group
    first_spine = hosts + leaves
    first_core = first_spine + spines
    pods, cut = _rows(first_spine, full, per_pod), first_spine + full * per_pod
    core = _rows(first_core, per_pod, group)
    down = [deal(_rows(hosts, full, pod), ups, pods)]
    above = [deal(pods.T, spine_up, core)]
    if rest:
        last = _rows(cut, 1, few)
        down.append(deal(_rows(hosts + full * pod, 1, rest), ups, last))
        above.append(deal(np.repeat(last.T, per_pod // few, axis=0), share, core))
    count = first_core + cores
    leaf_pod = np.arange(leaves) // pod
    spine_pod = np.arange(spines) // per_pod
    return build(
        name,
        count,
        np.arange(hosts),
        np.repeat([0, 1, 2, 3], [hosts, leaves, spines, cores]),
        [Cables(np.arange(hosts), hosts + leaf, link, "access")]
        + [Cables(a, b, up, "trunk") for a, b in down]
        + [Cables(a, b, top or up, "trunk") for a, b in above],
        {
            "pod": _padded(np.concatenate([leaf_pod[leaf], leaf_pod, spine_pod]), count),
            **{key: _padded(value, count) for key, value in (labels or {}).items()},
        },
    )


def deal(lower: Ints, each: int, upper: Ints) -> tuple[Ints, Ints]:
    """Ends of the cables when every group deals them in turn: `lower` (G, n) with `each` cables to `upper` (G, s).

    >>> deal(np.array([[0, 1]]), 2, np.array([[7, 8]]))
    (array([0, 0, 1, 1]), array([7, 8, 7, 8]))
    """
    cable = np.arange(lower.shape[1] * each)
    return lower[:, cable // each].ravel(), upper[:, cable % upper.shape[1]].ravel()


def _divisors(n: int) -> list[int]:
    return [d for d in range(1, n + 1) if n % d == 0]


def _rows(first: int, rows: int, columns: int) -> Ints:
    """Vertex numbers from `first` on, row by row."""
    return first + np.arange(rows * columns, dtype=np.int32).reshape(rows, columns)


def _padded(value: ArrayLike, count: int) -> Ints:
    """A label of the first vertices, -1 for the others."""
    given = np.asarray(value, dtype=np.int32)
    return np.concatenate([given, np.full(count - len(given), -1, np.int32)])
