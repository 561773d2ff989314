"""Fabric: a network as arrays of directed links.

A vertex is a host (where traffic starts and ends: a GPU, or the NIC that serves it), a switch, or a part of a node. A
cable is two directed links, one each way: links 2i and 2i + 1 are the two directions of cable i, so the other
direction of link e is e ^ 1. Parallel cables are separate links. Read with the chapter "Scale-out", section "A network
as data".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, declared, quoted, written
from netlib.links import Link

_LINK = ("source", "target", "capacity", "latency", "kind")  # the arrays with one entry for each directed link

Ints = NDArray[np.int32]
Mask = NDArray[np.bool_]

KINDS = ("nvlink", "pcie", "access", "trunk", "local", "global", "ici", "socket")
"""Roles of a link: GPU to NVSwitch; inside a host; host to its first switch; switch to switch in a Clos; inside and
between groups of a dragonfly; chip to chip of a torus; CPU to CPU."""


MOST_CABLES = 1 << 24
"""Cables that are built at most, 16.8 million. A fat-tree of k = 256 has 12.6 million and takes 1.1 GiB."""


@written
@dataclass(frozen=True)
class Cables:
    """Cables of one kind, for `build`: cable i joins vertices `a[i]` and `b[i]`, with `link` in each direction.

    `link` may hold one bandwidth and alpha for all cables or one for each.
    """

    a: ArrayLike
    b: ArrayLike
    link: Link
    kind: str = "trunk"

    def __post_init__(self) -> None:
        if not isinstance(self.link, Link):
            raise ValueError(f"link = {quoted(self.link)} is not a Link; make one with Link(alpha=..., bandwidth=...)")


@dataclass(frozen=True, eq=False)
class Fabric:
    """A network: V vertices and E directed links.

    name       what it is
    hosts      (H,) vertices where traffic starts and ends, in the order of ranks
    tier       (V,) 0 for hosts and parts of a node, 1 for the first switches, 2 above them ...
    source     (E,) vertex a link leaves
    target     (E,) vertex it enters
    capacity   (E,) bytes/s, one way
    latency    (E,) seconds to the far end, switching included
    kind       (E,) place in KINDS
    labels     (V,) arrays by name: rail, pod, plane, group, node, x0, x1 ...; -1 where it does not apply
    forwards   (V,) whether a vertex passes on the traffic of others: switches do, hosts only in a torus
    """

    name: str
    hosts: Ints
    tier: Ints
    source: Ints
    target: Ints
    capacity: Floats
    latency: Floats
    kind: NDArray[np.int8]
    labels: Mapping[str, Ints] = field(default_factory=dict)
    forwards: Mask = field(default_factory=lambda: np.zeros(0, bool))
    _made = "a builder, such as leaf_spine(64, 16, Link(1e-6, 50e9))"

    def __post_init__(self) -> None:
        for name in (*_LINK, "hosts", "tier", "forwards"):
            object.__setattr__(self, name, _frozen(getattr(self, name)))
        object.__setattr__(self, "labels", {name: _frozen(label) for name, label in self.labels.items()})
        if not self.forwards.size:
            object.__setattr__(self, "forwards", _frozen(self.tier > 0))
        links = {len(getattr(self, n)) for n in ("source", "target", "capacity", "latency", "kind")}
        if len(links) != 1 or len(self.source) % 2:
            raise ValueError(
                "source, target, capacity, latency and kind must be as long as twice the cables; use build"
            )
        if np.any(self.source[::2] != self.target[1::2]) or np.any(self.target[::2] != self.source[1::2]):
            raise ValueError("links 2i and 2i + 1 must be the two directions of one cable; use build")

    @property
    def vertices(self) -> int:
        """How many vertices there are."""
        return len(self.tier)

    @property
    def links(self) -> int:
        """How many directed links there are: two per cable."""
        return len(self.source)

    @property
    def cables(self) -> int:
        """How many cables there are."""
        return len(self.source) // 2

    @cached_property
    def switches(self) -> Ints:
        """The vertices above the hosts' tier.

        >>> build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=[Cables([0], [1], Link(0, 50e9))]).switches.size
        0
        """
        return np.flatnonzero(self.tier > 0).astype(np.int32)

    def of_kind(self, *kinds: str) -> Mask:
        """(E,) whether each link is of one of the kinds.

        >>> pair = build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=[Cables([0], [1], Link(0, 50e9), "nvlink")])
        >>> pair.of_kind("nvlink").tolist()
        [True, True]
        """
        return np.isin(self.kind, [_kind(each) for each in kinds])

    @cached_property
    def out(self) -> tuple[NDArray[np.int64], Ints]:
        """Links by the vertex they leave: (`start`, `order`); vertex v owns order[start[v]:start[v + 1]]."""
        order = np.argsort(self.source, kind="stable").astype(np.int32)
        return np.searchsorted(self.source[order], np.arange(self.vertices + 1)), order

    @declared
    def leaving(self, vertex: int) -> Ints:
        """The links that leave a vertex, in the order in which they were built.

        >>> pair = build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=[Cables([0], [1], Link(0, 50e9))])
        >>> pair.leaving(1).tolist()
        [1]
        """
        start, order = self.out
        if not 0 <= vertex < self.vertices:
            raise ValueError(f"vertex = {vertex} is not one of this fabric's; give 0 to {self.vertices - 1}")
        return order[start[vertex] : start[vertex + 1]]

    @cached_property
    def degree(self) -> Ints:
        """(V,) how many cables end at each vertex."""
        return np.bincount(self.source, minlength=self.vertices).astype(np.int32)

    @declared
    def label(self, name: str) -> Ints:
        """(V,) a label of the vertices.

        >>> one = [Cables([0], [1], Link(0, 50e9))]
        >>> pair = build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=one, labels={"rail": [0, 1]})
        >>> pair.label("rail").tolist()
        [0, 1]
        """
        if name not in self.labels:
            raise ValueError(f"label = {name!r} is unknown in {self.name}; it has {', '.join(self.labels) or 'none'}")
        return self.labels[name]

    @declared
    def surviving(self, cables: ArrayLike = (), vertices: ArrayLike = ()) -> Mask:
        """(E,) whether each link outlives the failure of these cables (by number) and vertices.

        >>> pair = build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=[Cables([0, 0], [1, 1], Link(0, 50e9))])
        >>> pair.surviving(cables=[1]).tolist()
        [True, True, False, False]
        """
        dead = np.zeros(self.cables, bool)
        dead[indices("cables", cables, self.cables)] = True
        down = np.zeros(self.vertices, bool)
        down[indices("vertices", vertices, self.vertices)] = True
        return np.asarray(~(np.repeat(dead, 2) | down[self.source] | down[self.target]))

    @declared
    def without(self, cables: ArrayLike = (), vertices: ArrayLike = ()) -> "Fabric":
        """The fabric after these cables (by number) and vertices have failed: their links are gone, names stay.

        >>> pair = build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=[Cables([0, 0], [1, 1], Link(0, 50e9))])
        >>> pair.without(cables=[1]).links
        2
        """
        keep = self.surviving(cables, vertices)
        return replace(self, **{name: getattr(self, name)[keep] for name in _LINK})


@declared
def build(
    name: str,
    vertices: int,
    hosts: ArrayLike,
    tier: ArrayLike,
    cables: Sequence[Cables],
    labels: Mapping[str, ArrayLike] | None = None,
    forwards: ArrayLike | None = None,
) -> Fabric:
    """A fabric from cables; each becomes two directed links. Vertices are numbers 0 to `vertices` - 1.

    >>> up = Cables([0, 1], [2, 2], Link(1e-6, 50e9), "access")
    >>> star = build("star", 3, hosts=[0, 1], tier=[0, 0, 1], cables=[up])
    >>> star.links, star.source.tolist(), star.target.tolist()
    (4, [0, 2, 1, 2], [2, 0, 2, 1])
    """
    if vertices < 1:
        raise ValueError(f"vertices = {vertices} leave nothing to join; give 1 or more")
    ends, kind = [], []
    capacity: list[Floats] = []
    latency: list[Floats] = []
    for each in cables:
        if not isinstance(each, Cables):
            raise ValueError(f"cables = {quoted(each)} is not a Cables; make a list of Cables(a, b, link, kind)")
        a, b = indices("a", each.a, vertices), indices("b", each.b, vertices)
        if a.shape != b.shape:
            raise ValueError(f"a has {a.size} ends and b has {b.size}; a cable has one of each")
        if np.any(a == b):
            raise ValueError(f"a = {a[a == b][0]} is cabled to itself; give two vertices")
        ends.append(np.stack([a, b], axis=1))
        for held, value in ((capacity, each.link.bandwidth), (latency, each.link.alpha)):
            try:
                held.append(np.broadcast_to(value, a.shape))
            except ValueError:
                raise ValueError(
                    f"link has {np.size(value)} values for {a.size} cables; give one, or one each"
                ) from None
        kind.append(np.full(a.size, _kind(each.kind), np.int8))
    pairs = np.concatenate(ends) if ends else np.zeros((0, 2), np.int32)
    return Fabric(
        name=name,
        hosts=indices("hosts", hosts, vertices),
        tier=_per_vertex("tier", tier, vertices),
        source=pairs.ravel(),
        target=pairs[:, ::-1].ravel(),
        capacity=np.repeat(_joined(capacity, float), 2),
        latency=np.repeat(_joined(latency, float), 2),
        kind=np.repeat(_joined(kind, np.int8), 2),
        labels={n: _per_vertex(n, v, vertices) for n, v in (labels or {}).items()},
        forwards=np.zeros(0, bool) if forwards is None else _per_vertex("forwards", forwards, vertices).astype(bool),
    )


def whole(name: str, value: float, least: int = 1) -> int:
    """`value` as an int, refused in one sentence unless it is a whole number from `least`.

    >>> whole("hosts", 1024)
    1024
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise ValueError(f"{name} = {' '.join(str(value).split())[:40]} must be a whole number, {least} or more")
    return int(value)


def indices(name: str, value: ArrayLike, limit: int) -> Ints:
    """Whole numbers from 0 to limit - 1, or one sentence.

    >>> indices("cables", [1, 0], 2).tolist()
    [1, 0]
    """
    given = np.atleast_1d(array(name, value))
    if given.size and given.dtype.kind not in "iu":
        raise ValueError(f"{name} = {quoted(value)} must be whole numbers that count from 0")
    if given.size and not (given.min() >= 0 and given.max() < limit):
        wrong = given[(given < 0) | (given >= limit)].flat[0]
        raise ValueError(f"{name} = {wrong} is outside of this fabric; give 0 to {limit - 1}")
    return given.astype(np.int32).ravel()


def _joined(parts: list[Any], dtype: Any) -> Any:
    return np.concatenate(parts).astype(dtype) if parts else np.zeros(0, dtype)


def _frozen(value: ArrayLike) -> NDArray[Any]:
    """The array, seen read-only: `out`, `degree` and routes are found once, and must not go out of date."""
    seen = np.asarray(value).view()
    seen.flags.writeable = False
    return seen


def affordable(cables: int, **given: object) -> None:
    """Refuse, before anything is built, a fabric of more cables than memory holds.

    >>> affordable(48, k=4)
    >>> affordable(3 * 10**18 // 4, k=10**6)
    Traceback (most recent call last):
    ValueError: k = 1000000 makes more than 16,777,216 cables; build less, or use a closed form such as clos_switches
    """
    if cables > MOST_CABLES:
        what = ", ".join(f"{name} = {value}" for name, value in given.items())
        raise ValueError(
            f"{what} make{'s' * (len(given) == 1)} more than {MOST_CABLES:,} cables; build less, or use a closed form "
            "such as clos_switches"
        )


def _kind(name: str) -> int:
    if not isinstance(name, str) or name not in KINDS:
        raise ValueError(f"kind = {quoted(name)} is not a kind of link; use one of {', '.join(KINDS)}")
    return KINDS.index(name)


def _per_vertex(name: str, value: ArrayLike, vertices: int) -> Ints:
    given = array(name, value)
    if given.shape != (vertices,):
        raise ValueError(f"{name} has shape {given.shape}; give one value for each of the {vertices} vertices")
    if given.dtype.kind not in "biuf" or not np.array_equal(given, whole := given.astype(np.int64)):
        raise ValueError(f"{name} = {quoted(value)} must be whole numbers, one for each vertex")
    return whole.astype(np.int32)
