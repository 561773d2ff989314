"""Clusters: the published lines of the source program, byte counts by brute force, and limits that must hold."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.links import Link

GRADS = 140e9


def program(up, out):
    """The seven rows of the chapter's table, to six decimals, for one-way bytes/s inside and outside a node."""
    nvlink, nic = Link(0, up), Link(0, out)
    inside, across = c.serial_stages(GRADS, 8, 128, nvlink, nic)
    rows = (
        c.ring_allreduce_time(GRADS, 8, nvlink),
        c.ring_allreduce_time(GRADS, 72, nvlink),
        c.ring_allreduce_time(GRADS, 1024, nic),
        c.hierarchical_allreduce_time(GRADS, 8, 128, nvlink, nic),
        inside,
        across,
        c.multirail_ring_allreduce_time(GRADS, 8, 128, nvlink, nic),
        c.hierarchical_allreduce_time(GRADS, 8, 128, nvlink, nic, segments=None),
    )
    return [round(float(row), 6) for row in rows]


@pytest.mark.parametrize(
    ("up", "out", "expected"),
    [
        (900e9, 100e9, [0.272222, 0.306790, 2.797266, 0.619488, 0.272222, 0.347266, 0.349658, 0.347266]),
        (450e9, 50e9, [0.544444, 0.613580, 5.594531, 1.238976, 0.544444, 0.694531, 0.699316, 0.694531]),
        (900e9, 50e9, [0.272222, 0.306790, 5.594531, 0.966753, 0.272222, 0.694531, 0.699316, 0.694531]),
        (1800e9, 200e9, [0.136111, 0.153395, 1.398633, 0.309744, 0.136111, 0.173633, 0.174829, 0.173633]),
    ],
)
def test_the_source_programs_table(up, out, expected):
    assert program(up, out) == expected


def test_the_three_try_its():
    nvlink, nic = Link(0, 900e9), Link(0, 100e9)
    base = float(c.hierarchical_allreduce_time(GRADS, 8, 128, nvlink, nic))
    faster_nic = float(c.hierarchical_allreduce_time(GRADS, 8, 128, nvlink, Link(0, 200e9)))
    assert (round(faster_nic, 6), round(base / faster_nic, 3)) == (0.445855, 1.389)
    racks = float(c.hierarchical_allreduce_time(GRADS, 72, 14, nvlink, nic))
    assert (round(racks, 6), round(base / racks, 3)) == (0.342901, 1.807)
    assert round(float(c.multirail_ring_allreduce_time(GRADS, 72, 14, nvlink, nic)), 4) == 0.3065
    rubin = float(c.hierarchical_allreduce_time(GRADS, 8, 128, Link(0, 1800e9), Link(0, 200e9)))
    assert base / rubin == pytest.approx(2)
    assert float(c.inside_outside_balance(nvlink, nic)) == pytest.approx(10)


@given(g=st.integers(2, 32), nodes=st.integers(2, 64), ratio=st.floats(1.1, 100))
def test_balance_is_where_the_halves_meet(g, nodes, ratio):
    up, out = Link(0, ratio * 1e9), Link(0, 1e9)
    balance = float(c.inside_outside_balance(up, out, nodes))
    inside, across = c.serial_stages(1e9, g, nodes, up, out)
    assert (inside > across) == (g > balance) or g == pytest.approx(balance)


@given(g=st.integers(1, 12), nodes=st.integers(1, 12), data=st.data())
def test_multirail_ring_against_counted_bytes_and_walked_hops(g, nodes, data):
    """Lay the rings out, count what each rank puts on each link, and walk the slowest chunk round."""
    nics = data.draw(st.integers(1, g))
    up, out = Link(1e-6, 7e9), Link(9e-6, 1e9)
    n, size = g * nodes, 1e6
    inside, across, latency = np.zeros(n), np.zeros(n), 0.0
    for ring in range(nics):
        order = [node * g + (ring + 1 + i) % g for node in range(nodes) for i in range(g)]  # leaves through rank `ring`
        hops = [(a, b, a // g != b // g) for a, b in zip(order, order[1:] + order[:1], strict=True)]
        for a, _, crosses in hops:
            (across if crosses else inside)[a] += 2 * (n - 1) / n * size / nics
        alphas = [(out if crosses else up).alpha for *_, crosses in hops]
        walks = [sum(alphas[(start + i) % n] for i in range(2 * (n - 1))) for start in range(n)]
        latency = max(latency, *walks)
    expected = latency + max(inside.max() / up.bandwidth, across.max() / out.bandwidth)
    assert float(c.multirail_ring_allreduce_time(size, g, nodes, up, out, nics=nics)) == pytest.approx(expected)


@given(
    g=st.integers(1, 72),
    nodes=st.integers(1, 512),
    alphas=st.tuples(st.floats(0, 1e-4), st.floats(0, 1e-4)),
    size=st.floats(1, 1e12),
    k=st.floats(1, 1e5),
)
@example(g=2, nodes=2, alphas=(0.0, 5e-324), size=1.0, k=1.0)  # a latency so small that dividing by it overflows
def test_pipelining_never_costs_and_never_beats_its_slower_link(g, nodes, alphas, size, k):
    up, out = Link(alphas[0], 450e9), Link(alphas[1], 50e9)
    best = float(c.hierarchical_allreduce_time(size, g, nodes, up, out, segments=None))
    assert best <= float(c.hierarchical_allreduce_time(size, g, nodes, up, out)) * (1 + 1e-9)
    assert best <= float(c.hierarchical_allreduce_time(size, g, nodes, up, out, segments=k)) * (1 + 1e-9)
    assert best >= float(max(c.serial_stages(size, g, nodes, up, out))) * (1 - 1e-9)


@given(g=st.integers(1, 72), nodes=st.integers(1, 512))
def test_nic_bytes_of_hierarchy_and_multirail_ring_differ_by_less_than_one_percent_of_a_shard(g, nodes):
    """The strawman's heart: per NIC 2(nodes-1)/nodes S/g against 2(n-1)/n S/g."""
    n = g * nodes
    hierarchy, ring = 2 * (nodes - 1) / nodes / g, 2 * (n - 1) / n / g
    assert 0 <= ring - hierarchy <= 2 / n


def test_one_rank_has_nothing_to_do():
    assert float(c.nvls_allreduce_time(1e9, 1, Link(1e-6, 1e9))) == 0
    assert float(c.multirail_ring_allreduce_time(1e9, 1, 1, Link(1e-6, 1e9), Link(1e-6, 1e9))) == 0


@given(n=st.integers(2, 576))
def test_nvls_gain_is_bounded(n):
    link = Link(0, 450e9)
    gain = float(c.ring_allreduce_time(1e9, n, link) / c.nvls_allreduce_time(1e9, n, link))
    assert gain == pytest.approx(2 * (n - 1) / (n + 1))
    assert gain < 2


def test_more_nics_than_ranks_is_refused():
    with pytest.raises(ValueError, match="nics = 16 must be at most g = 8"):
        c.multirail_ring_allreduce_time(1, 8, 2, Link(0, 1), Link(0, 1), nics=16)


def test_traffic_of_the_chapters_model():
    assert round(float(c.dp_bytes(GRADS, 1024)) / 1e9, 1) == 279.7
    assert round(float(c.zero_bytes(GRADS, 1024, 3)) / 1e9, 1) == 419.6
    assert c.zero_bytes(GRADS, 1024, 1) == c.zero_bytes(GRADS, 1024, 2) == c.dp_bytes(GRADS, 1024)
    assert round(float(c.summed_bytes(GRADS, 1024, 1)) / 1e12, 1) == 143.4
    assert float(c.shard_bytes(GRADS, 8, 4)) / 1e9 == 4.375
    assert round(float(c.bucket_size(0.1, 5e-6, 50e9, 8, 64)) / 1e9, 3) == 1.152
    moe_seconds = float(c.moe_bytes(4096, 8, 7168, 1) * c.outside_share(64, 8)) / 50e9
    assert round(moe_seconds * 1e3, 2) == 4.11
    assert float(c.outside_share(64, 72)) == 0
    assert float(c.pp_bytes(8192, 8192, 2)) == 2 * 8192 * 8192 * 2


@given(share=st.floats(0.01, 0.99), alpha=st.floats(1e-7, 1e-4), nodes=st.integers(2, 1024))
def test_bucket_size_gives_that_share(share, alpha, nodes):
    size = float(c.bucket_size(share, alpha, 50e9, 8, nodes))
    whole = float(c.ring_allreduce_time(size / 8, nodes, Link(alpha, 50e9)))
    assert 2 * (nodes - 1) * alpha / whole == pytest.approx(share)


def test_busbw_identities():
    sizes = np.array([1e6, 1e9])
    for op in c.OPS:
        times = c.time_at_busbw(sizes, 100e9, 8, op)
        assert c.busbw(sizes, times, 8, op) == pytest.approx(100e9)
    assert round(float(480e9 / c.busbw_factor(8, "all_reduce")) / 1e9, 1) == 274.3
    assert c.busbw(1e9, c.ring_allreduce_time(1e9, 8, Link(0, 370e9)), 8) == pytest.approx(370e9)


def test_crossover():
    link = Link(5e-6, 50e9)
    crossing = c.crossover_size(
        lambda s: c.tree_allreduce_time(s, [16, 64], link), lambda s: c.ring_allreduce_time(s, [16, 64], link)
    )
    for size, n in zip(crossing, (16, 64), strict=True):
        assert c.tree_allreduce_time(size, n, link) == pytest.approx(c.ring_allreduce_time(size, n, link), rel=1e-9)
    never = c.crossover_size(lambda s: c.ring_allreduce_time(s, 8, link), lambda s: c.tree_allreduce_time(s, 8, link))
    assert np.isnan(never)
