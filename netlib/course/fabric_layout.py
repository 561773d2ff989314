"""Fabric layout: where the vertices of a fabric lie in a drawing, and what they are called.

Pure data: places in the unit square, hosts at the bottom, tiers upward; planes, pods and rails as columns. Take the
intact fabric, and a failure moves nothing.
"""

import numpy as np
from numpy.typing import NDArray

from netlib.course.figure import Array
from netlib.topology import Fabric

LEVELS = ("host", "leaf", "spine", "core")  # tiers 0, 1, 2, 3
COLUMNS = ("plane", "pod", "group", "unit")  # labels that set blocks side by side, the coarsest first

Ints = NDArray[np.int64]


def vertex_names(fabric: Fabric) -> tuple[str, ...]:
    """A name for each vertex: host, leaf, spine, core (or part, inside a node), numbered from left to right.

    >>> from netlib.topology import build
    >>> vertex_names(build("two", 3, hosts=[0], tier=[0, 1, 2], cables=[]))
    ('host 0', 'leaf 0', 'spine 0')
    """
    level, place = _level(fabric), placed(fabric)
    words = {-1: "part", **dict(enumerate(LEVELS))}
    pairs = zip(level, place, strict=True)
    return tuple(f"{words.get(int(k), f'tier {k} switch')} {i}" for k, i in pairs)


def layout(fabric: Fabric) -> Array:
    """(V, 2) places in the unit square: a row per tier, with columns for planes, pods and rails.

    Parts of a node lie below its hosts. A torus lies on its own grid, a dragonfly's groups on a circle.

    >>> from netlib.topology import build
    >>> layout(build("two", 3, hosts=[0, 1], tier=[0, 0, 1], cables=[])).tolist()
    [[0.25, 0.0], [0.75, 0.0], [0.5, 1.0]]
    """
    if fabric.of_kind("ici").any() and "x0" in fabric.labels:
        return _grid(fabric)
    if fabric.of_kind("global").any() and "group" in fabric.labels:
        return _circle(fabric)
    level = _level(fabric)
    block = _block(fabric)
    blocks = max(1, int(block.max(initial=-1)) + 1)
    gap = 0.04 if blocks > 1 else 0.0
    rows = {k: i for i, k in enumerate(np.unique(level))}
    at = np.zeros((fabric.vertices, 2))
    order = _order(fabric)
    for k, row in rows.items():
        at[level == k, 1] = row / max(1, len(rows) - 1)
        for b in np.unique(block[level == k]):
            mine = order[(level[order] == k) & (block[order] == b)]
            even = (np.arange(mine.size) + 0.5) / mine.size
            wide = (1 - gap * (blocks - 1)) / blocks
            at[mine, 0] = even if b < 0 else b * (wide + gap) + even * wide
    return at


def _label(fabric: Fabric, name: str) -> Ints:
    return np.asarray(fabric.labels.get(name, np.full(fabric.vertices, -1)), np.int64)


def _level(fabric: Fabric) -> Ints:
    """The row of each vertex: its tier, and -1 for parts of a node that are no hosts."""
    part = fabric.tier == 0
    part[fabric.hosts] = False
    return np.where(part, -1, fabric.tier).astype(np.int64)


def _block(fabric: Fabric) -> Ints:
    """The column block of each vertex, by the coarsest label that has several values; -1: the whole width."""
    for name in COLUMNS:
        label = _label(fabric, name)
        if np.unique(label[label >= 0]).size > 1:
            return label
    return np.full(fabric.vertices, -1)


def _order(fabric: Fabric) -> Ints:
    """All vertices from left to right: by block, then rail, then as built."""
    keys = [_label(fabric, name) for name in (*COLUMNS, "rail")]
    return np.lexsort((np.arange(fabric.vertices), *reversed(keys)))


def placed(fabric: Fabric) -> Ints:
    """(V,) each vertex's number within its row, from left to right; hosts keep their rank.

    >>> from netlib.topology import build
    >>> placed(build("two", 3, hosts=[0, 1], tier=[0, 0, 1], cables=[])).tolist()
    [0, 1, 0]
    """
    level, place = _level(fabric), np.zeros(fabric.vertices, np.int64)
    order = _order(fabric)
    for k in np.unique(level):
        mine = order[level[order] == k]
        place[mine] = np.arange(mine.size)
    place[fabric.hosts] = np.arange(fabric.hosts.size)
    return place


def _grid(fabric: Fabric) -> Array:
    """A torus: x0 to the right, x1 upward, further axes as sheets set off to the upper right."""
    axes = [_label(fabric, f"x{d}") for d in range(sum(f"x{d}" in fabric.labels for d in range(8)))]
    axes += [np.zeros(fabric.vertices, np.int64)] * (2 - len(axes))
    step = sum((axis * 0.22 ** (d - 1) for d, axis in enumerate(axes) if d > 1), np.zeros(fabric.vertices))
    # rows and columns are bowed, so that the cable that closes a ring runs beside the others and not behind them
    bow = [0.25 * np.sin(np.pi * axis / max(1, int(axis.max()))) for axis in axes[:2]]
    at = np.stack([axes[0] + step + bow[1], axes[1] + 0.7 * step + bow[0]], axis=1).astype(float)
    return np.asarray(at / np.maximum(at.max(axis=0), 1))


def _circle(fabric: Fabric) -> Array:
    """A dragonfly: groups on a circle, a group's switches on an arc, hosts outside of their switch."""
    group = _label(fabric, "group")
    access = fabric.of_kind("access") & (fabric.tier[fabric.source] == 0)
    home = np.arange(fabric.vertices)
    home[fabric.source[access]] = fabric.target[access]
    group = group[home]
    groups = int(group.max()) + 1
    big = 2 * np.pi * group / groups
    inner = fabric.tier > 0
    place = np.zeros(fabric.vertices)
    count = np.ones(fabric.vertices)
    for g in range(groups):
        mine = np.flatnonzero(inner & (group == g))
        place[mine], count[mine] = np.arange(mine.size), mine.size
    small = big + np.pi * ((place + 0.5) / count - 0.5)  # an arc, outward: no switch hides another's links
    mid = 0.5 + 0.33 * np.stack([np.sin(big), np.cos(big)], axis=1)
    reach = min(0.12, 0.6 / groups)
    at = mid + reach * np.stack([np.sin(small), np.cos(small)], axis=1)
    hosts = np.flatnonzero(~inner)
    rank = np.arange(hosts.size) - np.searchsorted(home[hosts], home[hosts])  # hosts are built router by router
    fan = small[home[hosts]] + 0.4 * rank
    at[hosts] = at[home[hosts]] + 0.1 * np.stack([np.sin(fan), np.cos(fan)], axis=1)
    return np.clip(at, 0.0, 1.0)
