"""Ledger: bytes are conserved, loads match closed forms, batches do not matter."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.topology import (
    Ledger,
    all_to_all_ledger,
    d_mod_k,
    ecmp,
    fat_tree,
    ledger,
    minimal,
    routes,
    spray,
    spray_all_to_all,
)
from tests.topology.test_routing import FABRICS, LINK, random_fabric

ROUTES = {name: routes(fabric) for name, fabric in FABRICS.items()}


def traffic(rng, hosts: int, flows: int = 30):
    return *rng.integers(hosts, size=(2, flows)), rng.integers(1, 100, flows).astype(float)


def check_conserved(fabric, load, src, dst, size) -> None:
    """What enters a vertex and starts there leaves it or ends there."""
    crossing = src != dst
    starts = np.bincount(fabric.hosts[src[crossing]], size[crossing], fabric.vertices)
    stops = np.bincount(fabric.hosts[dst[crossing]], size[crossing], fabric.vertices)
    into = np.bincount(fabric.target, load, fabric.vertices)
    out = np.bincount(fabric.source, load, fabric.vertices)
    assert into + starts == pytest.approx(out + stops)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(FABRICS)), st.integers(0, 999))
def test_bytes_are_conserved_at_every_vertex(name, seed) -> None:
    rng = np.random.default_rng(seed)
    found, fabric = ROUTES[name], FABRICS[name]
    src, dst, size = traffic(rng, fabric.hosts.size)
    check_conserved(fabric, spray(found, src, dst, size), src, dst, size)
    check_conserved(fabric, ledger(fabric, ecmp(found, src, dst, seed=seed), size).bytes, src, dst, size)
    check_conserved(fabric, ledger(fabric, ecmp(found, src, dst, 3, seed), size).bytes, src, dst, size)


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_bytes_are_conserved_on_any_network(data) -> None:
    fabric = random_fabric(data)
    found = routes(fabric)
    src, dst = (grid.ravel() for grid in np.indices((fabric.hosts.size,) * 2))
    joined = np.flatnonzero(found.hops[found.row[fabric.hosts[src]], found.column[fabric.hosts[dst]]] < 32_000)
    src, dst = src[joined], dst[joined]
    size = np.arange(1.0, src.size + 1)
    load = spray(found, src, dst, size)
    check_conserved(fabric, load, src, dst, size)
    assert load.sum() == pytest.approx(size @ found.distance(src, dst))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 999))
def test_the_order_of_flows_does_not_matter(seed) -> None:
    rng = np.random.default_rng(seed)
    found = ROUTES["fat-tree"]
    src, dst, size = traffic(rng, 16)
    order = rng.permutation(src.size)
    for policy in (ecmp, d_mod_k):
        one = ledger(found.fabric, policy(found, src, dst), size).bytes
        assert one == pytest.approx(ledger(found.fabric, policy(found, src[order], dst[order]), size[order]).bytes)
    assert spray(found, src, dst, size) == pytest.approx(spray(found, src[order], dst[order], size[order]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 999))
def test_renaming_pods_moves_the_ledger_with_them(seed) -> None:
    """Hosts of a fat-tree under a symmetry (pods swapped): every host's own links carry what its namesake's did."""
    rng = np.random.default_rng(seed)
    found, fabric = ROUTES["fat-tree"], FABRICS["fat-tree"]
    src, dst, size = traffic(rng, 16)
    renamed = (np.repeat(rng.permutation(4), 4) * 4 + np.tile(np.arange(4), 4)).astype(int)
    load, moved = spray(found, src, dst, size), spray(found, renamed[src], renamed[dst], size)
    up = np.array([fabric.leaving(v)[0] for v in fabric.hosts])
    assert moved[up[renamed]] == pytest.approx(load[up])
    assert moved[up[renamed] ^ 1] == pytest.approx(load[up ^ 1])
    assert np.sort(moved) == pytest.approx(np.sort(load))


@pytest.mark.parametrize("k", [4, 8])
def test_a_uniform_all_to_all_on_a_fat_tree_is_the_closed_form(k) -> None:
    """N - 1, N - k/2 and N - k^2/4 flows per link of the three tiers: the flows that leave what is below it."""
    held = all_to_all_ledger(routes(fat_tree(k, LINK)), 1.0)
    n = k**3 // 4
    want = {("access", 0, 1): n - 1, ("trunk", 1, 2): n - k / 2, ("trunk", 2, 3): n - k * k / 4}
    for (kind, low, high), bytes_ in want.items():
        for mask in (held.level(kind, low, high), held.level(kind, high, low)):
            assert mask.sum() == n
            assert held.bytes[mask] == pytest.approx(bytes_)
    assert held.busiest == pytest.approx((n - 1) / 50e9)


@pytest.mark.parametrize("policy", [ecmp, d_mod_k, partial(ecmp, qps=3)])
def test_batches_do_not_matter(policy) -> None:
    found = ROUTES["dual plane"]
    one = all_to_all_ledger(found, 6.0, policy)
    assert all_to_all_ledger(found, 6.0, policy, batch=1).bytes == pytest.approx(one.bytes)
    src, dst = (grid.ravel() for grid in np.indices((16, 16)))
    assert ledger(found.fabric, policy(found, src, dst), np.full(256, 6.0)).bytes == pytest.approx(one.bytes)


def test_many_draws_of_an_all_to_all_average_to_its_spray() -> None:
    found = ROUTES["dragonfly+"]
    rng = np.random.default_rng(0)
    drawn = np.mean(
        [all_to_all_ledger(found, 1.0, lambda r, s, d: minimal(r, s, d, rng)).bytes for _ in range(60)], axis=0
    )
    assert drawn == pytest.approx(spray_all_to_all(found, 1.0), abs=4)
    assert drawn.sum() == pytest.approx(spray_all_to_all(found, 1.0).sum())


def test_what_a_ledger_says() -> None:
    fabric = FABRICS["leaf-spine"]
    load = np.zeros(fabric.links)
    load[[0, 2]] = 30.0, 10.0
    held = Ledger(fabric, load)
    up = held.level("access", 0, 1)
    assert up.sum() == 24
    assert held.level("access").sum() == 48
    assert held.level("access", 0).sum() == 24
    assert held.imbalance(up) == pytest.approx(30 / (40 / 24))
    assert np.isnan(held.imbalance(held.level("trunk")))
    assert held.used(up) == pytest.approx(2 / 24)
    assert np.isnan(held.used(held.level("ici")))
    assert held.busiest == 30 / 50e9
    assert held.by_kind() == {"access": 40.0, "trunk": 0.0}
    assert held.by_level()["access", 0, 1] == 40
    assert (held + held).bytes[0] == 60


def test_a_flow_in_queue_pairs_divides_its_bytes() -> None:
    fabric = FABRICS["leaf-spine"]
    ways = np.array([[0], [2], [4], [6]])
    assert ledger(fabric, ways, [10.0, 20.0]).bytes[[0, 2, 4, 6]].tolist() == [5, 5, 10, 10]
    assert ledger(fabric, ways, 3.0).bytes.sum() == 12


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda f: Ledger(f, np.zeros(3)), "bytes has shape"),
        (lambda f: Ledger(f, np.zeros(f.links)) + Ledger(FABRICS["torus"], np.zeros(48)), "other = a ledger of torus"),
        (lambda f: ledger(f, np.array([[0], [2], [4]]), [1.0, 2.0]), "size has shape"),
        (lambda f: ledger(f, np.array([0]), 1.0), "paths has shape"),
        (lambda f: ledger(f, np.array([[0]]), -1.0), "size = -1"),
        (lambda f: all_to_all_ledger(routes(f), 1.0, ecmp, batch=0), "batch = 0"),
        (lambda f: all_to_all_ledger(routes(f), -1.0), "size = -1"),
    ],
)
def test_bad_input_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call(FABRICS["leaf-spine"])
