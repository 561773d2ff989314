"""The second way: max-min rates and completion times in plain Python. Also the peers of benchmarks/topology.py."""

from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from math import inf

Paths = Sequence[Sequence[int]]


def crossed(paths: Paths) -> tuple[list[list[int]], dict[int, set[int]]]:
    """The links of each flow, and the flows of each link."""
    links = [[e for e in path if e >= 0] for path in paths]
    crossing: dict[int, set[int]] = {e: set() for path in links for e in path}
    for f, path in enumerate(links):
        for e in path:
            crossing[e].add(f)
    return links, crossing


def filled(
    paths: Paths,
    capacity: Sequence[float],
    demand: Sequence[float] | None = None,
    weight: Sequence[float] | None = None,
) -> list[float]:
    """Filling as in the textbook: look for the link (or demand) that fills first, stop its flows, look again."""
    demand, weight = demand or [inf] * len(paths), weight or [1.0] * len(paths)
    links, crossing = crossed(paths)
    room = list(capacity)
    share = {e: room[e] / sum(weight[f] for f in fs) for e, fs in crossing.items()}
    rate = list(demand)
    moving = {f for f, path in enumerate(links) if path}
    modest = sorted((f for f in moving if demand[f] < inf), key=lambda f: -demand[f] / weight[f])
    while moving:
        link = min(share, key=share.__getitem__)
        level, stops = share[link], crossing[link]
        if modest and demand[modest[-1]] / weight[modest[-1]] <= level:
            stops = {modest.pop()} & moving
        else:
            for f in stops:
                rate[f] = weight[f] * level
        moving -= stops
        for e in {e for f in stops for e in links[f]}:
            gone = crossing[e] & stops
            room[e] = max(room[e] - sum(rate[f] for f in gone), 0.0)
            crossing[e] = crossing[e] - gone
            if crossing[e]:
                share[e] = room[e] / sum(weight[f] for f in crossing[e])
            else:
                del share[e]
    return rate


def heaped(paths: Paths, capacity: Sequence[float]) -> list[float]:
    """The same with a heap of links: levels only rise, so a link that comes up too early goes back."""
    links, crossing = crossed(paths)
    room = list(capacity)
    heap = [(room[e] / len(fs), e) for e, fs in crossing.items()]
    heapify(heap)
    rate = [inf] * len(paths)
    while heap:
        level, e = heappop(heap)
        if not crossing[e]:
            continue
        now = room[e] / len(crossing[e])
        if now > level:
            heappush(heap, (now, e))
            continue
        for f in list(crossing[e]):
            rate[f] = now
            for other in links[f]:
                crossing[other].discard(f)
                room[other] = max(room[other] - now, 0.0)
    return rate


def drained(paths: Paths, size: Sequence[float], capacity: Sequence[float]) -> list[float]:
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
