"""A random permutation over a fat-tree, hashed and shared out max-min fairly: what a flow gets, over several seeds.

Every host sends to one other, every queue pair takes the way of its hash, links have capacity 1, so that a rate is a
share of a host's own link. Read with the chapter "Scale-out", section "Where the bytes go".
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from netlib.fidelity.prediction import Unanswerable
from netlib.links import Link
from netlib.topology import Routes, ecmp, fat_tree, max_min_rates, routes, subflows

MOST_FLOWS = 70_000  # of one run, so that a report takes seconds
_BUDGET = 40_000  # flows over all seeds of a small fabric


@dataclass(frozen=True)
class Runs:
    """Means over seeds. `total` and `equal`: mean rate of a transfer, as the sum of its queue pairs and as pairs x the
    slowest; `spread`: standard deviation of `total` over seeds; `worst`: the slowest queue pair of a run; `most`: flows
    on the hottest link."""

    total: float
    equal: float
    spread: float
    worst: float
    most: float
    seeds: int


@cache
def permutation(k: int, qps: int = 1) -> Runs:
    """Runs on the k-ary fat-tree with so many queue pairs a flow; as many seeds as take about a second.

    >>> round(permutation(4).total, 1)
    0.6
    """
    flows = k**3 // 4 * qps
    if k < 4:
        raise Unanswerable(f"a fat-tree of k = {k} has too few hosts for a permutation")
    if flows > MOST_FLOWS:
        raise Unanswerable(f"{flows:,} flows are too many to simulate in a report")
    held = _routes(k)
    count = int(np.clip(_BUDGET // flows, 4 if flows <= _BUDGET else 2, 40))
    rows = np.array([_run(held, qps, seed) for seed in range(count)])
    total, equal, worst, most = rows.mean(axis=0)
    return Runs(float(total), float(equal), float(rows[:, 0].std()), float(worst), float(most), count)


@cache
def _routes(k: int) -> Routes:
    return routes(fat_tree(k, Link(0.0, 1.0)))


def _run(held: Routes, qps: int, seed: int) -> tuple[float, float, float, float]:
    hosts = held.fabric.hosts.size
    target = np.random.default_rng(seed).permutation(hosts)
    source = np.flatnonzero(target != np.arange(hosts))  # a host that drew itself sends nothing
    ways = ecmp(held, source, target[source], qps=qps, seed=seed)
    rate = max_min_rates(ways, held.fabric.capacity)
    both = subflows(rate, qps)
    hottest = np.bincount(ways[ways >= 0]).max()
    return float(both.total.mean()), float(both.equal.mean()), float(rate.min()), float(hottest)
