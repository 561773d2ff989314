"""Bounds: what a schedule may hold, checked before it is built.

Memory holds so many chunks and messages and no more; ranks and chunks count from 0. Each refusal is one sentence.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import array, quoted
from netlib.topology.fabric import whole

MOST = 2**24
"""The most chunks, or messages of one phase, that memory is asked to hold."""


def fits(power: int = 1, /, **counts: int) -> int:
    """The product of counts, to a power: refused in one sentence if one is no count, or if memory would not hold that
    many chunks or messages.

    >>> fits(g=8, nodes=4), fits(2, n=4)
    (32, 16)
    >>> fits(2, n=10**6)
    Traceback (most recent call last):
    ValueError: n = 1000000 makes more than 16,777,216 chunks or messages; build less, or use a closed form
    """
    many = int(math.prod(whole(name, value) for name, value in counts.items()) ** power)
    if many > MOST:
        told = ", ".join(f"{name} = {value}" for name, value in counts.items())
        raise ValueError(
            f"{told} make{'s' * (len(counts) == 1)} more than {MOST:,} chunks or messages; build less, or use a closed"
            " form"
        )
    return many


def ranks_at(end: str, value: ArrayLike, n: int, chunks: int) -> NDArray[np.int32]:
    """The ranks of each chunk at one end, (P,) or (P, k), or one sentence.

    >>> ranks_at("source", 0, 4, 3).tolist()
    [0, 0, 0]
    """
    ranks = array(end, value)
    several = ranks.shape if ranks.ndim == 2 and ranks.size else (chunks,)
    if ranks.dtype.kind not in "iu" or (ranks.ndim and ranks.shape[:1] != (chunks,)) or ranks.ndim > 2:
        raise ValueError(f"{end} = {quoted(value)} must be one whole number, or one for each of {chunks} chunks")
    if ranks.size and not (ranks.min() >= -1 and ranks.max() < n):
        raise ValueError(f"{end} = {quoted(value)} must hold ranks below n = {n}, or -1 for all")
    return np.broadcast_to(ranks, several).astype(np.int32)


def rank_below(n: int, name: str, value: int) -> int:
    """`value` as one of n ranks, refused in one sentence if it is none.

    >>> rank_below(8, "root", 7)
    7
    """
    if not 0 <= value < n:
        raise ValueError(f"{name} = {value} is none of n = {n} ranks; give 0 to {n - 1}")
    return value


def well_formed(part: Any) -> None:
    """Refuse a phase that was not made by `phase` and that no engine could read.

    >>> from netlib.collectives import phase
    >>> well_formed(phase(step=0, src=0, dst=1, chunk=0, add=True))
    """
    held = {name: getattr(part, name) for name in ("step", "src", "dst", "chunk", "count", "add")}
    shapes = {getattr(each, "shape", None) for each in held.values()}
    fit = len(shapes) == 1 and part.step.ndim == 1
    if not fit or not all(each.dtype.kind in ("b" if name == "add" else "iu") for name, each in held.items()):
        raise ValueError(f"the arrays of a Phase must be whole numbers, equally long; make one with {part._made}")
    if not part.step.size:
        return
    if part.step[0] < 0 or (part.step[1:] < part.step[:-1]).any():
        raise ValueError(f"the steps of a Phase must ascend from 0; make one with {part._made}")
    if min(part.src.min(), part.dst.min()) < 0 or part.count.min() < 1 or min(part.times, part.stride) < 1:
        raise ValueError(f"a Phase counts ranks from 0, and count, times and stride from 1; make one with {part._made}")


def within(phases: Sequence[Any], n: int, switches: int) -> None:
    """Refuse phases of ranks that are none of n and the switches, and more steps than can be counted through.

    >>> from netlib.collectives import phase
    >>> within([phase(step=0, src=0, dst=1, chunk=0, add=True)], 2, 0)
    """
    everyone = n + switches
    if n < 1 or switches < 0:
        raise ValueError(f"n = {n} and switches = {switches} must be at least 1 and 0; give more")
    if any(max(part.src.max(initial=0), part.dst.max(initial=0)) >= everyone for part in phases):
        raise ValueError(f"phases must use ranks below n + switches = {everyone}")
    steps = sum(part.times * part.period for part in phases)
    if steps > 2 * MOST:
        raise ValueError(f"phases take {steps:,} steps, more than {2 * MOST:,}; give fewer times or segments")


def grouped(groups: ArrayLike, offset: ArrayLike, least: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Groups of at least so many ranks (G, n), and the offset of each (G,), or one sentence.

    >>> [each.tolist() for each in grouped([[0, 1], [2, 3]], 0, least=2)]
    [[[0, 1], [2, 3]], [0, 0]]
    """
    ranks, moved = np.atleast_2d(array("groups", groups)), array("offset", offset)
    if ranks.dtype.kind not in "iu" or ranks.ndim > 2 or ranks.shape[1] < least:
        raise ValueError(f"groups has shape {ranks.shape}; give whole numbers (G, n), n at least {least}")
    if moved.dtype.kind not in "iu" or moved.shape not in ((), (1,), ranks.shape[:1]):
        raise ValueError(f"offset = {quoted(offset)} must be one whole number, or one for each group")
    return ranks.astype(np.int32), np.broadcast_to(moved, len(ranks)).astype(np.int32)
