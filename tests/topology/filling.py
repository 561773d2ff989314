"""The second way: progressive filling and fluid completion in plain Python, one link after the other."""

from collections.abc import Sequence
from math import inf


def filled(
    paths: Sequence[Sequence[int]],
    capacity: Sequence[float],
    demand: Sequence[float] | None = None,
    weight: Sequence[float] | None = None,
) -> list[float]:
    """Max-min rates: find the one link (or demand) that fills first, stop its flows, start again with the rest."""
    flows = range(len(paths))
    demand, weight = demand or [inf] * len(paths), weight or [1.0] * len(paths)
    links = [[e for e in path if e >= 0] for path in paths]
    room, crossing = list(capacity), {e: set() for path in links for e in path}
    for f in flows:
        for e in links[f]:
            crossing[e].add(f)
    rate = [inf if demand[f] == inf else demand[f] for f in flows]
    moving = {f for f in flows if links[f]}
    while moving:
        level, link = min(((room[e] / sum(weight[f] for f in fs), e) for e, fs in crossing.items() if fs))
        modest = {f for f in moving if demand[f] / weight[f] <= level}
        stops = {min(modest, key=lambda f: demand[f] / weight[f])} if modest else set(crossing[link])
        for f in stops:
            rate[f] = demand[f] if modest else weight[f] * level
            for e in links[f]:
                room[e] = max(room[e] - rate[f], 0.0)
                crossing[e].discard(f)
        moving -= stops
    return rate


def drained(paths: Sequence[Sequence[int]], size: Sequence[float], capacity: Sequence[float]) -> list[float]:
    """Completion times: all rates anew after every single completion."""
    left, now, ends = list(size), 0.0, [0.0] * len(paths)
    moving = [f for f in range(len(paths)) if size[f] > 0 and max(paths[f], default=-1) >= 0]
    while moving:
        rate = filled([paths[f] for f in moving], capacity)
        step = min(left[f] / r if r else inf for f, r in zip(moving, rate, strict=True))
        if step == inf:
            for f in moving:
                ends[f] = inf
            break
        now += step
        for f, r in zip(moving, rate, strict=True):
            left[f] -= r * step
            ends[f] = now
        moving = [f for f in moving if left[f] > 1e-10 * size[f]]
    return ends
