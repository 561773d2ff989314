"""Fabric map: the one drawing of a link ledger, used by every figure of chapters 1 and 2.

Hosts at the bottom, tiers upward, spine on top; pods, planes and rails are columns. The width of a link is its
capacity, its colour and pattern its load (share of the capacity; NaN is a broken link, above 1 an overload). A fabric
with too many boxes or links becomes a heat map in the same colours, so that 1,024 hosts still show.

    found = ledger_map(fabric, load)            load: (..., E), knobs' axes in front, one share per directed link
    Figure(elements=found.elements, x=found.x, y=found.y, reading=...)

A failed fabric is drawn with the intact one's layout: `on_intact` puts its loads back where the links were.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, declared
from netlib.course.fabric_layout import LEVELS, layout, placed, vertex_names
from netlib.course.figure import Array, Axis, Diagram, Element, Heat
from netlib.topology import Fabric

BOXES, LINKS = 60, 300  # more than that cannot be told apart on 700 pixels
NETWORK = ("access", "trunk", "local", "global", "ici")
NO_AXIS = Axis("")

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LedgerMap:
    """What a figure needs to draw a ledger: elements, and the axes for a heat map (a diagram ignores them)."""

    elements: tuple[Element, ...]
    x: Axis = NO_AXIS
    y: Axis = NO_AXIS


@declared
def ledger_map(
    fabric: Fabric,
    load: ArrayLike,
    *,
    hosts: bool = True,
    at: ArrayLike | None = None,
    boxes: Sequence[str] | None = None,
    fill: ArrayLike = 0.0,
    both: bool = True,
    by: str = "port",
) -> LedgerMap:
    """The drawing of `load` (..., E) on `fabric`: a diagram, or a heat map where it is too large for one.

    Parallel cables are one link as wide as all of them, and show the fullest that still works. `hosts=False` leaves
    hosts and their links out. `at` (V, 2) and `boxes` (V names) replace layout and names; `fill` (..., V) fills boxes.
    `both=False` draws one line for the two directions, with the fuller one's load.
    `by` sets the columns of the heat map: "port", or a label such as "rail".

    >>> from netlib.links import Link
    >>> from netlib.topology import Cables, build
    >>> up = Cables([0, 1], [2, 2], Link(0, 50e9), "access")
    >>> star = build("star", 3, hosts=[0, 1], tier=[0, 0, 1], cables=[up])
    >>> ledger_map(star, [1.0, 0.5, 0.5, 1.0]).elements[0].boxes
    ('host 0', 'host 1', 'leaf 0')
    """
    share = _share(fabric, load)
    seen = np.ones(fabric.vertices, bool)
    if not hosts:
        seen = fabric.tier > 0
    ends = np.stack([fabric.source, fabric.target], axis=1).astype(np.int64)
    keep = np.flatnonzero(seen[ends].all(axis=1))
    bundle, first = _bundles(ends[keep] if both else np.sort(ends[keep], axis=1), fabric.vertices)
    if seen.sum() > BOXES or first.size > LINKS:
        return _heat_by_port(fabric, share) if by == "port" else _heat_by_label(fabric, share, by)
    number = np.cumsum(seen) - 1
    names = tuple(boxes) if boxes is not None else vertex_names(fabric)
    where = layout(fabric) if at is None else _numbers("at", at, least=-np.inf)
    for name, size in (("at", len(where)), ("boxes", len(names))):
        if size != fabric.vertices:
            raise ValueError(f"{name} has {size} entries; give one for each of the {fabric.vertices} vertices")
    drawn = Diagram(
        "load",
        tuple(name for name, show in zip(names, seen, strict=True) if show),
        where[seen],
        number[ends[keep][first]],
        _fullest(share[..., keep], bundle, first.size),
        np.bincount(bundle, fabric.capacity[keep] / (1 if both else 2), first.size),
        np.broadcast_to(_numbers("fill", fill), (*np.shape(fill)[:-1], fabric.vertices))[..., seen],
    )
    return LedgerMap((drawn,))


@declared
def on_intact(fabric: Fabric, load: ArrayLike, cables: ArrayLike = (), vertices: ArrayLike = ()) -> Array:
    """Loads (..., E') of `fabric.without(cables, vertices)` on the E links of the intact fabric; NaN where broken.

    >>> from netlib.links import Link
    >>> from netlib.topology import Cables, build
    >>> pair = build("pair", 2, hosts=[0, 1], tier=[0, 0], cables=[Cables([0, 0], [1, 1], Link(0, 50e9))])
    >>> on_intact(pair, [0.5, 0.25], cables=[0]).tolist()
    [nan, nan, 0.5, 0.25]
    """
    alive = fabric.surviving(cables, vertices)
    given = _numbers("load", load)
    if given.shape[-1:] != (alive.sum(),):
        raise ValueError(f"load has shape {given.shape}; {alive.sum()} links are left, give one share for each")
    found = np.full((*given.shape[:-1], fabric.links), np.nan)
    found[..., alive] = given
    return found


def _share(fabric: Fabric, load: ArrayLike) -> Array:
    share = _numbers("load", load)
    if share.shape[-1:] != (fabric.links,):
        raise ValueError(
            f"load has shape {share.shape}; give one share for each of the {fabric.links} links, links last"
        )
    return share


def _numbers(name: str, value: ArrayLike, least: float = 0.0) -> Array:
    """Numbers to draw, NaN where there is none."""
    given = array(name, value)
    if given.dtype.kind not in "iuf" or np.isinf(given).any() or (given < least).any():
        raise ValueError(f"{name} = {str(value)[:40]!r} must be finite numbers from {least:g}, or nan where none is")
    return given.astype(float)


def _bundles(ends: Ints, vertices: int) -> tuple[Ints, Ints]:
    """The bundle of each link (same pair, same direction), in the order built, and the first link of each bundle."""
    _, first, which = np.unique(ends[:, 0] * vertices + ends[:, 1], return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    return rank[which.ravel()], np.sort(first)


def _fullest(share: Array, cell: Ints, cells: int) -> Array:
    """(..., cells) the largest share in each cell, NaN where all are broken or none is there."""
    found = np.full((*share.shape[:-1], cells), np.nan)
    if cell.size:
        order = np.argsort(cell, kind="stable")
        start = np.flatnonzero(np.diff(cell[order], prepend=-1))
        found[..., cell[order][start]] = np.fmax.reduceat(share[..., order], start, axis=-1)
    return found


def _heat_by_port(fabric: Fabric, share: Array, rows: int = 16, columns: int = 32) -> LedgerMap:
    """Switches as rows, tier by tier, their ports as columns: those down first, those up after them.

    The row of hosts holds what they send into one switch. Neighbours share a cell where there are too many: it shows
    the fullest.
    """
    keep = np.flatnonzero(fabric.of_kind(*NETWORK))
    source, target = fabric.source[keep], fabric.target[keep]
    tier, place = fabric.tier[source], placed(fabric)
    into = np.where(
        fabric.tier[target] > 0, place[target], fabric.labels.get("x0", np.zeros(fabric.vertices, int))[source]
    )
    row = np.where(tier > 0, place[source], into)
    order = np.lexsort((place[target], fabric.tier[target], row, tier))
    new = np.flatnonzero(np.diff(row[order], prepend=-1) | np.diff(tier[order], prepend=-1))
    port = np.empty(keep.size, np.int64)
    port[order] = np.arange(keep.size) - np.repeat(new, np.diff(np.append(new, keep.size)))
    ports = int(port.max()) + 1
    wide = min(columns, ports)
    tiers = np.unique(tier)
    line, high = np.zeros(keep.size, np.int64), []
    centres: list[Array] = []
    for t in tiers:
        mine = tier == t
        count = int(row[mine].max()) + 1
        tall = min(rows, count)
        line[mine] = len(np.concatenate([[], *centres])) + row[mine] * tall // count
        centres.append(t + (np.arange(tall) + 0.5) / tall)
        high.append(f"{t} {LEVELS[t] if t < len(LEVELS) else 'switch'}")
    y = np.concatenate(centres)
    x = np.arange(wide) * ports / wide
    z = _fullest(share[..., keep], line * wide + port * wide // ports, y.size * wide)
    there = np.zeros(y.size * wide, bool)
    there[line * wide + port * wide // ports] = True
    return LedgerMap(
        _two_heats(x, y, z.reshape(*z.shape[:-1], y.size, wide), there.reshape(y.size, wide)),
        Axis("port, down before up"),
        Axis(f"tier ({', '.join(high)})", limits=(float(tiers[0]), float(tiers[-1]) + 1)),
    )


def _heat_by_label(fabric: Fabric, share: Array, by: str) -> LedgerMap:
    """Steps from tier to tier as rows, first up, then down again; the values of a label as columns."""
    label = fabric.label(by)
    keep = np.flatnonzero(fabric.of_kind(*NETWORK))
    source, target = fabric.source[keep], fabric.target[keep]
    column = np.maximum(label[source], label[target]).astype(np.int64)
    has = column >= 0
    keep, column = keep[has], column[has]
    low, high = fabric.tier[source[has]].astype(int), fabric.tier[target[has]].astype(int)
    top = int(fabric.tier.max())
    line = np.where(low < high, 2 * low, np.where(low == high, 2 * low + 1, 4 * top + 2 - 2 * low))  # up, across, down
    lines = np.unique(line)
    wide = int(column.max()) + 1
    cell = np.searchsorted(lines, line) * wide + column
    z = _fullest(share[..., keep], cell, lines.size * wide)
    there = np.zeros(lines.size * wide, bool)
    there[cell] = True
    names = {int(k): (int(a), int(b)) for k, a, b in zip(line, low, high, strict=True)}
    words = "; ".join(f"{i} {_word(names[int(k)][0])} to {_word(names[int(k)][1])}" for i, k in enumerate(lines))
    return LedgerMap(
        _two_heats(np.arange(wide), np.arange(lines.size), z.reshape(*z.shape[:-1], -1, wide), there.reshape(-1, wide)),
        Axis(by),
        Axis(f"step ({words})", limits=(-0.5, lines.size - 0.5)),
    )


def _word(tier: int) -> str:
    return LEVELS[tier] if tier < len(LEVELS) else f"tier {tier}"


def _two_heats(x: Array, y: Array, z: Array, there: Array) -> tuple[Element, ...]:
    """The load up to 100 %, and over it what is overloaded or broken, in the diagram's colours."""
    over = z > 1 + 1e-9
    state = np.where(over, 0.0, np.where(there & np.isnan(z), 1.0, np.nan))
    return (
        Heat("load", x, y, np.where(over, np.nan, z), Axis("load", "%", limits=(0.0, 1.0))),
        Heat("over or broken", x, y, state, Axis("state", categories=("over", "broken")), ("failure", "bound")),
    )
