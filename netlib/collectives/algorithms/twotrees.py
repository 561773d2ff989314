"""Two binary trees at once as schedules.

In one binary tree the leaves only receive. A second tree, in which they are the inner ranks, carries the other half of
the buffer. The links of both trees get one of two colours and are used in turn, so that no rank sends or receives more
than one segment a step. Read with the chapter "Collectives", section "Ways to add". Source: Sanders, Speck and Traff,
Parallel Computing 35 (2009); NCCL's trees: github.com/NVIDIA/nccl, src/graph/trees.cc.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import declared
from netlib.collectives.bounds import fits, rank_below
from netlib.collectives.schedule import Phase, Schedule, phase, schedule_of

Ints = NDArray[np.int64]
SHAPES = ("one root", "nccl")


@declared
def double_tree_broadcast(n: int, segments: int = 1, root: int = 0) -> Schedule:
    """Each tree passes on half of the buffer in `segments` pieces: 2(h + k - 1) steps of a piece, h = ceil(log2 n),
    k segments; one less where n is neither a power of two nor 3 mod 4.

    Segment i of tree t is chunk 2i + t. The published count, 2(h + k), is a bound.

    >>> double_tree_broadcast(8, 4).steps, double_tree_broadcast(9, 4).steps
    (12, 13)
    """
    steps = _pipeline(_turned(double_trees(n), rank_below(n, "root", root)), fits(segments=segments), down=True)
    return schedule_of("double tree", "broadcast", n, steps, chunks=2 * segments, source=root)


@declared
def double_tree_reduce(n: int, segments: int = 1, root: int = 0) -> Schedule:
    """The broadcast backwards, as many steps. A rank adds its subtrees to its own part one after the other.

    >>> made = double_tree_reduce(8, 4)
    >>> made.steps, made.target.tolist()
    (12, [0, 0, 0, 0, 0, 0, 0, 0])
    """
    steps = _pipeline(_turned(double_trees(n), rank_below(n, "root", root)), fits(segments=segments), down=False)
    return schedule_of("double tree", "reduce", n, steps, chunks=2 * segments, target=root)


@declared
def double_tree_allreduce(
    n: int, segments: int = 1, root: int = 0, *, shape: str = "one root", overlap: bool = False
) -> Schedule:
    """Reduce to the root, then broadcast from it: 4(h + k - 1) steps, or two less, as in `double_tree_broadcast`.

    shape    "one root" as Sanders, Speck and Traff have it; "nccl": all ranks in both trees, each tree with a root of
             its own (`root` turns both). That takes 2 steps less than 4(h + k - 1), 4 less where n is no multiple of
             4; two ranks take 2k
    overlap  the way down is a channel of its own: it may start when the first segment is summed, as NCCL does

    >>> double_tree_allreduce(8, 4).steps, double_tree_allreduce(8, 4, shape="nccl").steps
    (24, 22)
    """
    trees = _turned(double_trees(n, shape), rank_below(n, "root", root))
    up = _pipeline(trees, fits(segments=segments), down=False)
    down = _pipeline(trees, segments, down=True, channel=int(overlap))
    return schedule_of("double tree", "all_reduce", n, [*up, *down], chunks=2 * segments)


@declared
def double_trees(n: int, shape: str = "one root") -> NDArray[np.int64]:
    """(2, n) parent of each rank in both trees, -1 for a root. A rank that has children in one is a leaf of the other.

    The first tree hangs below rank 0: rank r with lowest set bit b has children r - b/2 and r + b/2 (nearer, where that
    is beyond n). The second is its mirror image if it holds an even number of ranks, and moved by one rank if odd: of
    ranks 1 ... n-1 below rank 0 ("one root"), or of all ranks ("nccl": roots 0 and n-1, or 0 and 1).

    >>> double_trees(4).tolist()
    [[-1, 2, 0, 2], [-1, 3, 3, 0]]
    >>> double_trees(4, "nccl").tolist()
    [[-1, 2, 0, 2], [1, 3, 1, -1]]
    """
    if shape not in SHAPES:
        raise ValueError(f"shape = {shape!r} must be one of {', '.join(SHAPES)}")
    rank = np.arange(fits(n=n))
    bit = rank & -rank
    above = rank ^ bit | bit << 1
    first = np.where(above < n, above, rank ^ bit)
    first[0] = -1
    low = 1 if shape == "one root" and n > 1 else 0  # the ranks from here are in the second tree
    many = n - low
    there = low + (np.arange(many)[::-1] if many % 2 == 0 else (np.arange(many) - 1) % many)  # whose place a rank takes
    taken = np.argsort(np.concatenate([np.arange(low), there]))
    parent = first[there]
    second = np.concatenate([first[:low], np.where(parent < 0, -1, taken[parent])])
    return np.stack([first, second])


def _turned(trees: Ints, root: int) -> Ints:
    """The same trees with rank `root` in the place of rank 0."""
    n = trees.shape[1]
    return np.roll(np.where(trees < 0, -1, (trees + root) % n), root, axis=1)


def _pipeline(trees: Ints, segments: int, *, down: bool, channel: int = 0) -> list[Phase]:
    """Segments down both trees, or up: link e carries segment i in step begin[e] + 2i."""
    tree, child = np.nonzero(trees >= 0)
    if not tree.size:
        return []
    parent, begin = trees[tree, child], _begin(trees)
    last = int(begin.max())
    if not down:
        begin = last - begin  # time runs backwards
    late, colour = np.divmod(begin, 2)
    src, dst = (parent, child) if down else (child, parent)
    chunk = tree - 2 * late
    times = segments + last // 2
    rest = colour <= last % 2  # the last round may be half of one
    whole_rounds = times if last % 2 else times - 1
    phases = []
    if whole_rounds:
        phases.append(
            phase(colour, src, dst, chunk, not down, times=whole_rounds, shift=2, wrap=False, channel=channel)
        )
    if whole_rounds < times:
        final = chunk[rest] + 2 * whole_rounds
        phases.append(phase(0, src[rest], dst[rest], final, not down, wrap=False, channel=channel))
    return phases


def _begin(trees: Ints) -> Ints:
    """(links,) the step in which each link carries its first segment, the colours chosen so that the last is early."""
    tree, child = np.nonzero(trees >= 0)
    parent = trees[tree, child]
    link = np.full(trees.shape, -1)
    link[tree, child] = np.arange(tree.size)
    above = link[tree, parent]  # the link that feeds this one, -1 at a root
    level = np.zeros(tree.size, int)
    up = above.copy()
    while (up >= 0).any():
        level += up >= 0
        up = np.where(up >= 0, above[up], -1)
    colour, part = _coloured(parent, child)
    best = np.empty(0, int)
    for swap in product((0, 1), repeat=int(part.max()) + 1):
        kind = colour ^ np.array(swap)[part]
        begin = kind.copy()
        for depth in range(1, int(level.max()) + 1):
            here = level == depth
            fed = begin[above[here]]
            begin[here] = fed + 1 + (fed + 1 + kind[here]) % 2  # the next step of the right colour
        if not best.size or begin.max() < best.max():
            best = begin
    return best


def _coloured(parent: Ints, child: Ints) -> tuple[Ints, Ints]:
    """(links,) a colour, 0 or 1, for each, such that no rank sends twice or receives twice in one; and the connected
    part that the link is in. No rank sends or receives more than two, so links form paths and even rings."""
    other = [_other(parent), _other(child)]
    colour, part = np.full(parent.size, -1), np.full(parent.size, -1)
    parts = 0
    for start in range(parent.size):
        if colour[start] >= 0:
            continue
        colour[start], part[start] = 0, parts
        for side in (0, 1):  # walk off both ways; a ring is closed by the first
            at, turn = int(other[side][start]), 1 - side
            kind = 1
            while at >= 0 and colour[at] < 0:
                colour[at], part[at] = kind, parts
                at, turn, kind = int(other[turn][at]), 1 - turn, 1 - kind
        parts += 1
    return colour, part


def _other(end: Ints) -> Ints:
    """(links,) the other link at this end, or -1."""
    order = np.argsort(end, kind="stable")
    same = np.flatnonzero(end[order][1:] == end[order][:-1])
    other = np.full(end.size, -1)
    other[order[same]], other[order[same + 1]] = order[same + 1], order[same]
    return other
