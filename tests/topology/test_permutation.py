"""A random permutation on a fat-tree under ECMP: routes and rates together, against an earlier, independent program.

That program drew its paths with a random generator and filled its links with other code; only means are comparable.
"""

import numpy as np
import pytest

from netlib.links import Link
from netlib.topology import ecmp, fat_tree, is_max_min, max_min_rates, routes, subflows


def runs(k: int, seeds: int, pairs: int) -> np.ndarray:
    """Mean over seeds of: mean total rate, mean equal-split rate, worst flow, most queue pairs on a link."""
    fabric = fat_tree(k, Link(0, 1.0))
    found, hosts = routes(fabric), fabric.hosts.size
    rows = []
    for seed in range(seeds):
        target = np.random.default_rng(seed).permutation(hosts)
        source = np.flatnonzero(target != np.arange(hosts))
        paths = ecmp(found, source, target[source], qps=pairs, seed=seed)
        rates = max_min_rates(paths, fabric.capacity)
        assert is_max_min(paths, rates, fabric.capacity)
        both = subflows(rates, pairs)
        rows.append([both.total.mean(), both.equal.mean(), both.equal.min(), np.bincount(paths[paths >= 0]).max()])
    return np.mean(rows, axis=0)


@pytest.mark.parametrize(
    ("k", "seeds", "mean", "worst", "most"),
    [(8, 30, 0.480, 0.24, 4.25), (16, 10, 0.431, 0.18, 5.6), (32, 4, 0.406, 0.13, 7.75)],
)
def test_one_path_for_each_flow(k, seeds, mean, worst, most) -> None:
    total, equal, slowest, load = runs(k, seeds, 1)
    assert total == equal == pytest.approx(mean, abs=0.02)
    assert slowest == pytest.approx(worst, abs=0.02)
    assert load == pytest.approx(most, abs=0.7)


@pytest.mark.parametrize(
    ("pairs", "total", "equal"), [(2, 0.584, 0.468), (4, 0.734, 0.52), (8, 0.85, 0.58), (16, 0.92, 0.652)]
)
def test_more_queue_pairs_for_each_flow(pairs, total, equal) -> None:
    np.testing.assert_allclose(runs(16, 3, pairs)[:2], [total, equal], atol=0.02)
