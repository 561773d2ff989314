"""Ledger: the bytes that each directed link carries, and what they say about the network.

Bytes per link are what routing yields and what time follows from: no transfer ends before its busiest link has carried
its bytes. Read with the chapter "Scale-out", section "Where the bytes go".
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, declared, floats, formula, quoted
from netlib.topology.fabric import KINDS, Fabric, Ints, Mask
from netlib.topology.flows import Places
from netlib.topology.routing import Routes
from netlib.topology.spraying import spray, spray_all_to_all

Policy = Callable[[Routes, Places, Places], Ints]


@dataclass(frozen=True, eq=False)
class Ledger:
    """Bytes on every directed link of a fabric: `bytes` (E,). Ledgers of one fabric add."""

    fabric: Fabric
    bytes: Floats

    def __post_init__(self) -> None:
        if not isinstance(self.fabric, Fabric):
            raise ValueError(f"fabric = {quoted(self.fabric)} is not a Fabric; give the one that the bytes cross")
        object.__setattr__(self, "bytes", floats("bytes", self.bytes))
        if np.shape(self.bytes) != (self.fabric.links,):
            raise ValueError(
                f"bytes has shape {np.shape(self.bytes)}; give one number for each of the {self.fabric.links} links"
            )

    def __add__(self, other: "Ledger") -> "Ledger":
        if other.fabric is not self.fabric:
            raise ValueError(f"other = a ledger of {other.fabric.name}, another fabric; add ledgers of one fabric")
        return Ledger(self.fabric, self.bytes + other.bytes)

    @property
    def seconds(self) -> Floats:
        """(E,) time that each link needs for its bytes: bytes / capacity."""
        return self.bytes / self.fabric.capacity

    @property
    def busiest(self) -> float:
        """Seconds that the busiest link needs: a bound on the time of the whole transfer."""
        return float(self.seconds.max(initial=0))

    @declared
    def level(self, kind: str, below: int | None = None, above: int | None = None) -> Mask:
        """(E,) the links of a kind; with tiers, only those from tier `below` to tier `above`.

        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> Ledger(one_switch(2, Link(1e-6, 50e9)), np.zeros(4)).level("access", 0, 1).tolist()
        [True, False, True, False]
        """
        fabric = self.fabric
        mask = fabric.of_kind(kind)
        if below is not None:
            mask = mask & (fabric.tier[fabric.source] == below)
        return mask if above is None else mask & (fabric.tier[fabric.target] == above)

    def imbalance(self, mask: Mask) -> float:
        """Hottest / mean of the seconds of these links, idle ones counted; 1 is even. nan where nothing is carried.

        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> held = Ledger(one_switch(2, Link(1e-6, 50e9)), np.array([30.0, 0, 10, 0]))
        >>> held.imbalance(held.level("access", 0, 1))
        1.5
        """
        some = self.seconds[mask]
        return float(some.max() / some.mean()) if some.any() else float("nan")

    def used(self, mask: Mask) -> float:
        """Share of these links that carry anything.

        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> Ledger(one_switch(2, Link(1e-6, 50e9)), np.array([30.0, 0, 10, 0])).used(np.ones(4, bool))
        0.5
        """
        return float(np.mean(self.bytes[mask] > 0)) if mask.any() else float("nan")

    def levels(self) -> dict[tuple[str, int, int], Mask]:
        """Links by kind, tier they leave and tier they enter: the rows of a table of this ledger.

        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> list(Ledger(one_switch(2, Link(1e-6, 50e9)), np.zeros(4)).levels())
        [('access', 0, 1), ('access', 1, 0)]
        """
        fabric = self.fabric
        keys = np.stack([fabric.kind.astype(np.int32), fabric.tier[fabric.source], fabric.tier[fabric.target]])
        found, which = np.unique(keys, axis=1, return_inverse=True)
        return {(KINDS[kind], int(a), int(b)): which.ravel() == i for i, (kind, a, b) in enumerate(found.T)}

    def by_kind(self) -> dict[str, float]:
        """Bytes summed over the links of each kind.

        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> Ledger(one_switch(2, Link(1e-6, 50e9)), np.array([30.0, 0, 10, 0])).by_kind()
        {'access': 40.0}
        """
        total = np.bincount(self.fabric.kind, self.bytes, len(KINDS))
        return {KINDS[kind]: float(total[kind]) for kind in np.unique(self.fabric.kind)}

    def by_level(self) -> dict[tuple[str, int, int], float]:
        """Bytes summed by kind, tier left and tier entered: going up a Clos, turning, coming down.

        >>> from netlib.links import Link
        >>> from netlib.topology import one_switch
        >>> Ledger(one_switch(2, Link(1e-6, 50e9)), np.array([30.0, 0, 0, 30])).by_level()
        {('access', 0, 1): 30.0, ('access', 1, 0): 30.0}
        """
        return {key: float(self.bytes[mask].sum()) for key, mask in self.levels().items()}


@formula
@declared
def ledger(fabric: Fabric, paths: ArrayLike, size: ArrayLike = 1.0) -> Ledger:
    """The ledger of flows: each puts its bytes on every link of its path. `paths` (F, hops), -1 padded; order free.

    `size` is bytes of each flow, (F,), or of all. Where `paths` holds q rows for each of F sizes (queue pairs), each
    row carries 1/q.

    >>> from netlib.links import Link
    >>> from netlib.topology import one_switch
    >>> ledger(one_switch(3, Link(1e-6, 50e9)), np.array([[0, 5], [2, 5]]), [100, 50]).bytes.tolist()
    [100.0, 0.0, 50.0, 0.0, 0.0, 150.0]
    """
    weight, paths = floats("size", size), array("paths", paths)
    if paths.size and (paths.dtype.kind not in "iu" or paths.min() < -1 or paths.max() >= fabric.links):
        raise ValueError(f"paths must hold numbers of links; give 0 to {fabric.links - 1}, or -1 for none")
    if paths.ndim != 2 or weight.ndim > 1 or (weight.ndim and (weight.size == 0 or len(paths) % weight.size)):
        raise ValueError(
            f"size has shape {weight.shape} and paths has shape {paths.shape}; give one size, or one for each flow"
        )
    if not weight.ndim:
        return Ledger(fabric, _count(paths, fabric.links) * float(weight))
    rows = len(paths) // weight.size
    each = np.broadcast_to(np.repeat(weight / rows, rows)[:, None], paths.shape)
    load = np.bincount(paths.ravel() + 1, each.ravel(), fabric.links + 1)[1:]
    return Ledger(fabric, np.asarray(load, float))


@formula
@declared
def all_to_all_ledger(
    routes: Routes, size: float, policy: Policy | Callable[..., Floats] = spray, batch: int = 1 << 18
) -> Ledger:
    """The ledger of an all-to-all: every host sends `size` bytes to every other host.

    `policy` is `spray` (exact, from class to class), or a function that gives paths for (routes, src, dst), such as
    `ecmp` or `partial(ecmp, qps=4)`; it is called for about `batch` flows at a time, so that 8,192 hosts (67 million
    flows) are never held at once. A policy that looks at loads sees one batch only.

    >>> from netlib.links import Link
    >>> from netlib.topology import ecmp, one_switch, routes
    >>> all_to_all_ledger(routes(one_switch(3, Link(1e-6, 50e9))), 100, ecmp).bytes.tolist()
    [200.0, 200.0, 200.0, 200.0, 200.0, 200.0]
    """
    each = float(floats("size", size))
    if batch < 1:
        raise ValueError(f"batch = {batch} must be a whole number above 0; give how many flows are held at a time")
    if policy is spray:
        return Ledger(routes.fabric, spray_all_to_all(routes, each))
    hosts, links = routes.fabric.hosts.size, routes.fabric.links
    load = np.zeros(links)
    step = max(1, batch // hosts)
    everyone = np.arange(hosts)
    for begin in range(0, hosts, step):
        some = np.arange(begin, min(begin + step, hosts))
        src, dst = np.repeat(some, hosts).astype(np.int64), np.tile(everyone, some.size).astype(np.int64)
        ways = policy(routes, src, dst)
        load += _count(ways, links) * (each * src.size / len(ways))
    return Ledger(routes.fabric, load)


def _count(paths: NDArray[np.floating] | Ints, links: int) -> Floats:
    """(E,) how many paths use each link."""
    return np.bincount((paths + 1).ravel(), minlength=links + 1)[1:].astype(float)
