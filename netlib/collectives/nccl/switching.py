"""Switching: at which sizes NCCL changes its mind, exactly.

Between two jumps of the cost model (`Tuning.jumps`) each row is a straight line, so the choice is the lower envelope of
a few lines, and where two of them meet is one division. No grid of sizes, no bisection, and no crossing is missed.
Read with the chapter "Collectives", section "NCCL decides".
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats, declared, floats
from netlib.collectives.nccl.tables import ALGORITHMS
from netlib.collectives.nccl.tuning import Tuning
from netlib.names import nearest

LOW, HIGH = 1.0, 2.0**44  # bytes; one byte to 16 TiB
MOST = 1e18  # bytes beyond which the lines of two combinations are no longer told apart


@dataclass(frozen=True)
class Span:
    """NCCL takes `name`, such as "Ring/LL", for sizes from `start` up to `end` bytes, `end` not included."""

    name: str
    start: float
    end: float


@declared
def spans(tuning: Tuning, low: float = LOW, high: float = HIGH) -> tuple[Span, ...]:
    """What is chosen from `low` to `high` bytes, smallest sizes first; for a cluster with one number of nodes.

    >>> from netlib.collectives.nccl import named, tune
    >>> [(each.name, round(each.end / 2**20, 2)) for each in spans(tune("2.27.7", named("dgx-h200")), high=2.0**34)]
    [('Ring/LL', 1.1), ('NVLS/Simple', 16384.0)]
    """
    if tuning.enabled[0].size != 1:
        raise ValueError(f"tuning has {tuning.enabled[0].size} numbers of nodes; tune one, or use last_size")
    _limits(low, high)
    tuning.choose(low)  # says so where nothing is left to choose
    found: list[Span] = []
    edges, first, slopes = _lines(tuning, low, high)
    for part in range(len(edges) - 1):
        for row, start, end in _envelope(edges[part : part + 2, 0], first[:, part, 0], slopes[:, part, 0]):
            name = tuning.names[row]
            if found and found[-1].name == name:
                found[-1] = Span(name, found[-1].start, end)
            else:
                found.append(Span(name, start, end))
    return tuple(found)


@declared
def last_size(tuning: Tuning, algorithm: str, low: float = LOW, high: float = HIGH) -> Floats:
    """(*nodes,) bytes up to which an algorithm, with any protocol, is chosen last; 0 never, inf at `high` still.

    There may be smaller sizes at which it is not chosen: `spans` lists them all.

    >>> from netlib.collectives.nccl import Channels, Cluster, tune
    >>> pods = Cluster("Hopper", [2, 128], 8, Channels(16, 24e9, 24e9))
    >>> (last_size(tune("2.30.7", pods), "Tree") / 2**20).round(1).tolist()
    [18.2, 27611.0]
    """
    if algorithm not in ALGORITHMS:
        raise ValueError(f"algorithm = {algorithm[:40]!r} is none of NCCL's; {nearest(algorithm, ALGORITHMS)}")
    _limits(low, high)
    tuning.choose(low)
    shape = tuning.enabled.shape[1:]
    edges, first, slopes = _lines(tuning, low, high)
    own = [name.startswith(f"{algorithm}/") for name in tuning.names]
    found = np.zeros(edges.shape[1])
    for column in range(found.size):
        for part in range(len(edges) - 2, -1, -1):
            pair = edges[part : part + 2, column]
            ends = [end for row, _, end in _envelope(pair, first[:, part, column], slopes[:, part, column]) if own[row]]
            if ends:
                found[column] = np.inf if ends[-1] >= high else ends[-1]
                break
    return found.reshape(shape)


def _limits(low: float, high: float) -> None:
    floats("low", low, above=True)
    floats("high", high, low, above=True)
    if high > MOST:
        raise ValueError(f"high = {high:g} must be at most {MOST:g}, an exabyte; give the largest buffer that you mean")


def _lines(tuning: Tuning, low: float, high: float) -> tuple[Floats, Floats, Floats]:
    """Edges (E, nodes) of the straight parts, seconds at their start and per byte (rows, E-1, nodes)."""
    jumps = tuning.jumps()
    jumps = jumps.reshape(len(jumps), -1)
    ends = np.broadcast_to(np.array([[low], [high]]), (2, jumps.shape[1]))
    edges = np.sort(np.concatenate([np.clip(jumps, low, high), ends]), axis=0)
    middle = (edges[:-1] + edges[1:]) / 2
    shape = tuning.enabled.shape[1:]
    both = tuning.times(np.concatenate([edges[:-1], middle]).reshape(-1, *shape)).reshape(
        len(tuning.names), -1, jumps.shape[1]
    )
    first, half = both[:, : len(middle)], both[:, len(middle) :]
    with np.errstate(invalid="ignore", divide="ignore"):  # a part of no length, a row that is off
        slopes = (half - first) / (middle - edges[:-1])
    return edges, first, slopes


def _envelope(edges: Floats, first: Floats, slopes: Floats) -> Iterator[tuple[int, float, float]]:
    """(row, start, end) of the lower envelope of lines between two edges; the first of equals wins."""
    start, end = (float(edge) for edge in edges)
    rows = [row for row in range(len(first)) if np.isfinite(first[row])] if end > start else []
    if not rows:
        return
    at = start
    row = min(rows, key=lambda each: (first[each], slopes[each], each))
    while True:
        meets = [
            (start + float((first[each] - first[row]) / (slopes[row] - slopes[each])), slopes[each], each)
            for each in rows
            if slopes[each] < slopes[row]
        ]
        meet, _, following = min(meets, default=(end, 0.0, row))
        meet = min(max(meet, at), end)
        if meet > at:
            yield row, at, meet
        if meet >= end:
            return
        at, row = meet, following
