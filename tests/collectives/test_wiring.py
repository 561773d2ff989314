"""Wiring: bytes of every link counted message by message, ways against routing's own, and what is refused."""

from functools import partial

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from netlib.collectives import link_ledger, phase, ring_allreduce, ring_through, schedule_of, slowed, wired
from netlib.collectives.turns import turns
from netlib.collectives.wiring import laid
from netlib.links import Link
from netlib.topology import Fabric, d_mod_k, ecmp, leaf_spine, nvlink_domain, one_switch, rail_optimised, routes, spray
from netlib.topology import ledger as counted
from tests.collectives.random_schedules import schedules
from tests.collectives.stepped import in_words
from tests.topology.random_fabrics import fabrics

LINK = Link(1e-6, 50e9)
POD = leaf_spine(24, 8, LINK)


@settings(deadline=None)
@given(schedules(), st.permutations(range(24)), st.sampled_from([ecmp, d_mod_k, spray, partial(ecmp, qps=3)]))
def test_the_ledger_is_what_written_out_messages_count_to(schedule, order, policy):
    ranks = order[: schedule.n]
    held = link_ledger(schedule, wired(POD, ranks=ranks, policy=policy), 60.0)
    sent = [(ranks[a], ranks[b], size) for step in in_words(schedule, 60.0) for (a, b), (size, _) in step.items()]
    want = np.zeros(POD.links)
    if sent:
        src, dst, size = (np.array(each) for each in zip(*sent, strict=True))
        found = routes(POD)
        want = spray(found, src, dst, size) if policy is spray else counted(POD, policy(found, src, dst), size).bytes
    np.testing.assert_allclose(held.bytes, want, rtol=1e-12, atol=1e-12)


@settings(deadline=None)
@given(schedules())
def test_turns_hold_every_message_once(schedule):
    told = [
        {(a, b): pair for a, b, *pair in zip(*(each[one].tolist() for each in row), strict=True)}
        for turn in turns(schedule, 60.0)
        for row in [(turn.src, turn.dst, turn.bytes, turn.added)]
        for _ in range(turn.repeats)
        for one in (slice(*turn.bounds[i : i + 2]) for i in range(turn.bounds.size - 1))
    ]
    words = in_words(schedule, 60.0)
    assert [set(step) for step in told] == [set(step) for step in words]
    for step, want in zip(told, words, strict=True):
        for pair, both in step.items():
            assert both == pytest.approx(want[pair], abs=1e-12)


@settings(deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(fabrics(), st.data())
def test_sprayed_ways_add_up_to_routings_own_loads(fabric: Fabric, data):
    assume(fabric.hosts.size > 1)
    found, hosts = routes(fabric), fabric.hosts.size
    pair = st.tuples(st.integers(0, hosts - 1), st.integers(0, hosts - 1)).filter(lambda p: p[0] != p[1])
    pairs = sorted(set(data.draw(st.lists(pair, min_size=1, max_size=8))))
    src, dst = np.array(pairs).T
    some = found.hops[found.row[fabric.hosts[src]], found.column[fabric.hosts[dst]]] < 32000
    src, dst = src[some], dst[some]
    assume(src.size)
    want = spray(found, src, dst, 1.0)
    schedule = schedule_of("x", "all_reduce", hosts, [phase(0, src, dst, 0, True)])
    ways, _ = laid(schedule, wired(fabric, policy=spray))
    np.testing.assert_allclose(np.bincount(ways.link, ways.share, fabric.links), want, atol=1e-12)
    hops = found.distance(src, dst)
    np.testing.assert_allclose(ways.latency, hops * 1e-6)  # all shortest paths are equally long
    np.testing.assert_allclose(np.bincount(ways.pair, ways.share, src.size), hops)


def test_a_ring_on_rails_crosses_the_leaves_that_its_order_says():
    fabric = rail_optimised(4, 2, 8, LINK, inside=Link(0, 450e9))
    rail = ring_through([0, 2, 4, 6, 7, 5, 3, 1])  # along rail 0, across by NVLink, back along rail 1, across
    held = link_ledger(rail, wired(fabric, policy=spray), 8e9)
    assert held.by_level() == {
        ("nvlink", 0, 0): pytest.approx(4 * 14e9),  # GPU to NVSwitch, NVSwitch to GPU
        ("access", 0, 1): pytest.approx(6 * 14e9),
        ("access", 1, 0): pytest.approx(6 * 14e9),
        ("trunk", 1, 2): 0,
        ("trunk", 2, 1): 0,
    }
    adding = schedule_of("NVLS", "reduce", 8, [phase(0, range(8), np.arange(8) // 2 + 8, 0, True)], switches=4)
    assert link_ledger(adding, fabric, 1e9).by_level()["nvlink", 0, 0] == 8e9  # a node's own switch adds first


def test_a_message_to_a_switch_that_adds_is_shared_by_its_cables():
    domain = nvlink_domain(gpus=2, switches=2, links_per_gpu=5, link=Link(1e-7, 25e9))  # 3 to the first, 2 to the other
    up = schedule_of("up", "reduce", 2, [phase(0, [0, 1], [2, 3], 0, True)], switches=2)
    held = link_ledger(up, domain, 6.0)
    assert held.bytes[0:10:2].tolist() == [2, 2, 2, 0, 0]
    assert held.bytes[10:20:2].tolist() == [0, 0, 0, 3, 3]
    assert held.bytes[1::2].sum() == 0
    swapped = link_ledger(up, wired(domain, switches=[3, 2]), 6.0)
    assert swapped.bytes[0:10:2].tolist() == [0, 0, 0, 3, 3]


def test_one_chunk_more_shows_on_its_links_alone():
    ring = ring_allreduce(4)
    first, second = ring.phases
    longer = phase(0, first.src, first.dst, first.chunk, True, [1, 2, 1, 1], times=3)
    more = schedule_of("x", "all_reduce", 4, [longer, second], chunks=4)
    switch = one_switch(4, LINK)
    change = link_ledger(more, switch, 4.0).bytes - link_ledger(ring, switch, 4.0).bytes
    assert change.tolist() == [0, 0, 3, 0, 0, 3, 0, 0]


def test_a_slow_cable_is_slow_both_ways():
    fabric = slowed(POD, [0, 30], [2, 5])
    assert (fabric.capacity / POD.capacity)[[0, 1, 2, 60, 61]].tolist() == [0.5, 0.5, 1, 0.2, 0.2]
    assert POD.capacity[0] == 50e9


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: wired(POD, ranks=[0, 0]), "puts two ranks on one host"),
        (lambda: wired(POD, ranks=[24]), "ranks = 24 is outside"),
        (lambda: wired(POD, switches=[0]), "names a host"),
        (lambda: wired(7), "is not a Fabric"),
        (lambda: link_ledger(ring_allreduce(25), POD, 1.0), "25 ranks, but only 24 have a host"),
        (
            lambda: link_ledger(schedule_of("x", "reduce", 2, [], switches=9), one_switch(2, LINK), 1.0),
            "needs 9 switches",
        ),
        (
            lambda: link_ledger(
                schedule_of("x", "reduce", 9, [phase(0, 8, 9, 0, True)], switches=1), wired(POD, switches=[24]), 1.0
            ),
            "no cable of leaf-spine",
        ),
        (lambda: slowed(POD, 99, 2), "cables = 99 is outside"),
        (lambda: slowed(POD, [1, 2], [1, 2, 3]), "give one number, or one for each cable"),
        (lambda: slowed(POD, 1, 0), "must be above 0"),
    ],
)
def test_what_is_refused(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
