"""Agreements beyond their lists: random arguments for those that are cheap."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.fidelity.agreement import check
from netlib.fidelity.agreements import find

few = settings(max_examples=25, deadline=None)


def holds(id, *case):
    checked = check(replace(find(id), cases=(case,)))
    assert checked.holds, checked.sentence


@given(st.integers(2, 10), st.integers(2, 3))
@few
def test_clos_hosts(half, tiers):
    holds("clos-hosts", 2 * min(half, 8 if tiers == 3 else 10), tiers)


@given(st.integers(1, 2048), st.sampled_from([8, 16, 32, 64]))
@few
def test_clos_tiers(hosts, radix):
    if hosts <= radix**3 // 4:
        holds("clos-tiers", hosts, radix)


@given(st.integers(1, 4), st.integers(2, 8), st.integers(1, 4))
@few
def test_dragonfly(p, a, h):
    holds("dragonfly-hosts", p, a, h)
    holds("dragonfly-groups", a, h)


@given(st.lists(st.integers(3, 8), min_size=1, max_size=3))
@few
def test_torus(sides):
    holds("torus-diameter", tuple(sides))
    holds("torus-mean", tuple(sides))
    if max(sides) % 2 == 0:
        holds("torus-bisection", tuple(sides))


@given(st.integers(1, 20), st.integers(1, 64))
@few
def test_hashes(flows, links):
    holds("ecmp-hottest", flows, links)
    holds("links-used", flows, links)


@given(st.integers(1, 12))
@few
def test_rails(g):
    holds("same-rail-share", g)


@given(st.integers(1, 40), st.floats(1, 1e9))
@few
def test_bytes_across(half, size):
    holds("alltoall-bisection", 2 * half, size)
    holds("ring-bisection", 2 * half, size)


@given(st.floats(0.01, 1), st.floats(1, 20))
@few
def test_staging(share, slowdown):
    holds("staged-loss", share, slowdown)


@given(st.floats(0, 1e10), st.integers(1, 40), st.floats(0, 1e-3), st.floats(1e6, 1e12))
@few
def test_rings_and_adding_switches(size, n, alpha, bandwidth):
    for id in ("ring-counted", "ring-simulated", "nvls-simulated")[: 3 if n > 1 else 2]:
        holds(id, size, n, alpha, bandwidth)


@given(st.floats(1, 1e10), st.integers(1, 6), st.integers(1, 4), st.floats(1e9, 1e12), st.floats(1e9, 1e12))
@few
def test_rings_on_rails(size, g, half, up, out):
    for id in ("rails-counted", "rails-simulated"):
        holds(id, size, g, 2 * half, up, out)


@given(st.integers(2, 40), st.floats(1, 1e10))
@few
def test_nobody_sends_less(n, size):
    holds("least-bytes", n, size)


@given(st.integers(2, 6), st.integers(1, 3))
@few
def test_balance(nodes, times):
    holds("domain-balance", float(times * nodes), nodes)
