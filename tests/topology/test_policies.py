"""Policies: valid shortest ways, the statistics that theory gives, no contention where none is due."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.links import Link
from netlib.topology import (
    Cables,
    adaptive,
    all_to_all_ledger,
    build,
    clos3,
    d_mod_k,
    ecmp,
    fat_tree,
    flowlets,
    leaf_spine,
    ledger,
    minimal,
    routes,
    spray,
    spray_all_to_all,
)
from netlib.topology.rails import multi_plane, rail_optimised
from tests.topology.test_routing import FABRICS, LINK, check_way

ROUTES = {name: routes(fabric) for name, fabric in FABRICS.items()}
TREE = routes(fat_tree(8, LINK))
POLICIES = {
    "ecmp": ecmp,
    "polarised": partial(ecmp, polarised=True),
    "minimal": lambda r, s, d: minimal(r, s, d, np.random.default_rng(3)),
    "d_mod_k": d_mod_k,
    "adaptive": lambda r, s, d: adaptive(r, s, d, np.random.default_rng(3), block=5),
    "flowlets": lambda r, s, d: flowlets(r, s, d, 1, np.random.default_rng(3))[0],
}


@pytest.mark.parametrize("name", FABRICS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_takes_shortest_ways(policy, name) -> None:
    found, hosts = ROUTES[name], FABRICS[name].hosts
    src, dst = (grid.ravel() for grid in np.indices((hosts.size, hosts.size)))
    ways = POLICIES[policy](found, src, dst)
    assert np.array_equal(np.count_nonzero(ways >= 0, axis=1), found.distance(src, dst))
    for i in range(0, src.size, 7):
        check_way(FABRICS[name], ways[i], hosts[src[i]], hosts[dst[i]])


@settings(max_examples=20)
@given(st.integers(0, 99), st.integers(1, 4))
def test_the_way_of_a_pair_does_not_depend_on_the_other_flows(seed, qps) -> None:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(128, size=(2, 40))
    order = rng.permutation(40)
    ways = ecmp(TREE, src, dst, qps, seed).reshape(40, qps, -1)
    again = ecmp(TREE, src[order], dst[order], qps, seed).reshape(40, qps, -1)
    width = min(ways.shape[2], again.shape[2])
    assert np.array_equal(ways[order][:, :, :width], again[:, :, :width])


def test_ecmp_falls_like_balls_into_bins() -> None:
    """8 flows from one leaf on 8 uplinks, 1,000 seeds: the hottest holds 2.5972 flows (exact), 65.6% are used."""
    found = routes(leaf_spine(128, 16, LINK))
    up = (found.fabric.tier[found.fabric.source] == 1) & (found.fabric.tier[found.fabric.target] == 2)
    hottest, used = [], []
    for seed in range(1000):
        load = ledger(found.fabric, ecmp(found, np.arange(8), np.arange(8) + 64, seed=seed)).bytes[up][:8]
        assert load.sum() == 8
        hottest.append(load.max())
        used.append(np.mean(load > 0))
    assert np.mean(hottest) == pytest.approx(2.5972, abs=0.06)
    assert np.mean(used) == pytest.approx(1 - (7 / 8) ** 8, abs=0.01)


def test_queue_pairs_even_the_load_out() -> None:
    rng = np.random.default_rng(0)
    dst = rng.permutation(128)
    hottest = [
        np.mean(
            [ledger(TREE.fabric, ecmp(TREE, np.arange(128), dst, qps, s), np.ones(128)).bytes.max() for s in range(20)]
        )
        for qps in (1, 4, 16)
    ]
    assert hottest[0] > hottest[1] > hottest[2] >= 1


def test_one_hash_everywhere_leaves_links_empty() -> None:
    """Polarised: an aggregation switch sees only flows that chose alike, and uses one of its 4 uplinks."""
    good = all_to_all_ledger(TREE, 1, ecmp)
    bad = all_to_all_ledger(TREE, 1, partial(ecmp, polarised=True))
    up = good.level("trunk", 2, 3)
    assert good.used(up) == 1
    assert bad.used(up) == 1 / 4
    assert bad.busiest > 3 * good.busiest
    first = good.level("trunk", 1, 2)
    assert bad.used(first) == 1  # the first choice is sound; the second repeats it


@pytest.mark.parametrize(
    "fabric",
    [
        fat_tree(4, LINK),
        fat_tree(8, LINK),
        leaf_spine(128, 16, LINK),
        leaf_spine(32, 16, LINK),  # two cables from each leaf to each spine and more
        clos3(256, 16, LINK),
        multi_plane(leaf_spine(32, 8, LINK), 2),
        rail_optimised(8, 4, 8, LINK),
    ],
    ids=lambda fabric: fabric.name,
)
def test_d_mod_k_has_no_contention_for_shifts(fabric) -> None:
    """Shifts in the order of leaves; no link carries more than one flow, at any shift."""
    found, n = routes(fabric), fabric.hosts.size
    order = np.argsort(fabric.target[[fabric.leaving(v)[0] for v in fabric.hosts]], kind="stable")
    for shift in range(1, n):
        ways = d_mod_k(found, order, np.roll(order, -shift))
        assert ledger(fabric, ways).bytes.max() == 1


def test_d_mod_k_spreads_the_destinations_of_a_leaf() -> None:
    found = routes(leaf_spine(128, 16, LINK))
    ways = d_mod_k(found, np.zeros(8, int), np.arange(64, 72))
    assert np.unique(ways[:, 1]).size == 8


def test_flowlets_share_out_their_flow() -> None:
    rng = np.random.default_rng(0)
    ways, share = flowlets(TREE, [0, 1, 2], [100, 101, 102], 50, rng)
    assert ways.shape == (150, 6)
    assert share.reshape(3, 50).sum(axis=1) == pytest.approx(1)
    assert share.min() > 0
    assert np.unique(ways[:50, 1]).size == 4  # one flow uses all uplinks of its leaf
    load = ledger(TREE.fabric, ways, share).bytes
    assert load.sum() == pytest.approx(18)


def test_adaptive_is_as_even_as_can_be_where_it_sees_all() -> None:
    """From the leaves of a two-tier Clos, one flow at a time: uplinks differ by at most one flow. Hashing is worse."""
    found = routes(leaf_spine(128, 16, LINK))
    rng = np.random.default_rng(0)
    src, dst = np.arange(128), (np.arange(128) + 64) % 128
    up = ledger(found.fabric, np.zeros((0, 1), int)).level("trunk", 1, 2)
    for block in (1, 16, 1000):
        load = ledger(found.fabric, adaptive(found, src, dst, rng, block=block)).bytes[up]
        assert load.max() == load.min() == 1
    assert ledger(found.fabric, ecmp(found, src, dst)).bytes[up].max() > 1


def test_adaptive_weighs_bytes_and_capacity() -> None:
    """Of two parallel ways one is 3 times as fast: it gets 3 of 4 flows."""
    up = Cables([0, 1, 2, 2, 3, 3], [2, 3, 4, 5, 4, 5], Link(0, np.array([9, 9, 3, 1, 9, 9]) * 1e9))
    fabric = build("uneven", 6, [0, 1], [0, 0, 1, 1, 2, 2], [up])
    found = routes(fabric)
    src = np.zeros(400, int)
    load = ledger(fabric, adaptive(found, src, src + 1, np.random.default_rng(0), block=1)).bytes
    assert load[4] == pytest.approx(300, abs=2)
    heavy = adaptive(found, [0, 0], [1, 1], np.random.default_rng(0), size=[1.0, 1e6], block=1)
    assert heavy.shape == (2, 4)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(sorted(FABRICS)), st.integers(0, 99))
def test_spray_is_the_mean_of_many_draws(name, seed) -> None:
    found, fabric = ROUTES[name], FABRICS[name]
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(fabric.hosts.size, size=(2, 6))
    size = rng.integers(1, 10, 6).astype(float)
    exact = spray(found, src, dst, size)
    many = 3000
    ways = minimal(found, np.tile(src, many), np.tile(dst, many), rng)
    drawn = ledger(fabric, ways, np.tile(size, many)).bytes / many
    assert exact.sum() == pytest.approx(drawn.sum())
    assert np.abs(exact - drawn).max() < 0.15 * size.sum() / 2


def test_spray_keeps_apart_what_comes_over_two_switches() -> None:
    """Hosts 2 and 3 hang from both switches, 0 and 1 from one each: what 0 sends to 2 stays on the first."""
    fabric = build("two", 6, range(4), [0] * 4 + [1] * 2, [Cables([0, 1, 2, 2, 3, 3], [4, 5, 4, 5, 4, 5], LINK)])
    assert spray(routes(fabric), [0, 1], [2, 3], [5.0, 7.0]).tolist() == [5, 0, 7, 0, 0, 5, 0, 0, 0, 0, 0, 7]


@pytest.mark.parametrize("name", FABRICS)
def test_an_all_to_all_from_class_to_class_is_that_of_its_flows(name) -> None:
    found, n = ROUTES[name], FABRICS[name].hosts.size
    src, dst = (grid.ravel() for grid in np.indices((n, n)))
    assert spray_all_to_all(found, 7.0) == pytest.approx(spray(found, src, dst, 7.0))


def test_spray_after_a_failure_and_without_a_way() -> None:
    fabric = fat_tree(4, LINK).without(cables=[20])
    found = routes(fabric)
    load = spray(found, [0, 1, 2, 3], [15, 14, 13, 12], 1.0)
    assert load[fabric.of_kind("access")].sum() == pytest.approx(8)
    assert spray(found, [0], [0]).sum() == 0
    cut = routes(fabric.without(vertices=[0, 1]))
    with pytest.raises(ValueError, match="cannot be reached"):
        spray(cut, [0], [2])
    with pytest.raises(ValueError, match="cannot be reached"):
        spray_all_to_all(cut, 1.0)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ecmp(TREE, [0], [1], qps=0), "qps = 0"),
        (lambda: flowlets(TREE, [0], [1], 0, np.random.default_rng(0)), "n = 0"),
        (lambda: adaptive(TREE, [0], [1], np.random.default_rng(0), block=0), "block = 0"),
        (lambda: adaptive(TREE, [0], [1], np.random.default_rng(0), size=-1), "size = -1"),
        (lambda: ecmp(TREE, [0], [128]), "dst = 128"),
        (lambda: ecmp(TREE, [0, 1, 2], [1, 2]), "a flow has one of each"),
        (lambda: spray(TREE, [0], [1], [1.0, 2.0]), "size"),
        (lambda: adaptive(TREE, [0], [1], np.random.default_rng(0), size=[1.0, 2.0]), "size"),
    ],
)
def test_bad_input_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()
