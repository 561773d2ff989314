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
