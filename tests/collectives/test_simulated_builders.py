"""Every builder over a fabric beside its closed form: equal to 1e-9 where the form is exact, at all three paces."""

from functools import partial

import numpy as np
import pytest

from netlib import collectives as c
from netlib.collectives.simulation import PACES
from netlib.links import Link
from netlib.topology import fat_tree, leaf_spine, nvlink_domain, one_switch, rail_optimised, spray, torus

SIZE = 1e9
CABLE, LINK = Link(1e-6, 50e9), Link(2e-6, 50e9)  # two cables in a row are one link of twice the latency
NEAR = partial(pytest.approx, rel=1e-9)

FLAT = {
    "ring": (c.ring_allreduce, c.ring_allreduce_time),
    "three channels": (lambda n: c.ring_allreduce(n, 3), c.ring_allreduce_time),
    "both ways round": (c.bidirectional_ring, c.ring_allreduce_time),
    "reduce-scatter": (c.ring_reduce_scatter, c.ring_reduce_scatter_time),
    "all-gather": (c.ring_all_gather, c.ring_all_gather_time),
    "tree": (c.tree_allreduce, c.tree_allreduce_time),
    "binomial broadcast": (c.binomial_broadcast, c.binomial_broadcast_time),
    "binomial reduce": (c.binomial_reduce, c.binomial_reduce_time),
    "binomial scatter": (c.binomial_scatter, c.binomial_scatter_time),
    "scatter, gather": (c.scatter_gather_broadcast, c.scatter_gather_broadcast_time),
    "chain": (lambda n: c.pipelined_broadcast(n, 5), partial(c.pipelined_broadcast_time, segments=5)),
    "two trees": (lambda n: c.double_tree_broadcast(n, 5), partial(c.double_tree_broadcast_time, segments=5)),
    "recursive doubling": (c.recursive_doubling_allreduce, c.recursive_doubling_allreduce_time),
    "halving, doubling": (c.halving_doubling_allreduce, c.halving_doubling_allreduce_time),
    "halving": (c.halving_reduce_scatter, c.halving_reduce_scatter_time),
    "doubling": (c.doubling_all_gather, c.doubling_all_gather_time),
    "Bruck, gather": (c.bruck_all_gather, c.bruck_all_gather_time),
    "Bruck, all-to-all": (c.bruck_all_to_all, c.bruck_all_to_all_time),
    "pairwise": (c.pairwise_all_to_all, c.pairwise_all_to_all_time),
    "linear scatter": (c.linear_scatter, c.linear_scatter_time),
    "two shots": (c.two_shot_allreduce, c.two_shot_allreduce_time),
}


@pytest.mark.parametrize("name", FLAT)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 11, 16])
def test_on_one_switch(name, n):
    builder, form = FLAT[name]
    schedule, switch, want = builder(n), one_switch(n, CABLE), float(form(SIZE, n, LINK))
    for pace in PACES:
        assert c.simulate(schedule, switch, SIZE, pace=pace).seconds == NEAR(want)
    moved = c.link_ledger(schedule, switch, SIZE).bytes
    executed = c.counts(schedule, SIZE)
    np.testing.assert_allclose(moved, np.stack([executed.sent, executed.received], axis=1).ravel(), rtol=1e-12)


@pytest.mark.parametrize("name", FLAT)
def test_a_clos_of_full_bisection_is_one_switch_with_a_longer_way(name):
    """Sprayed, no link is ever fuller than a host's own: bytes cost the same, only latency grows."""
    builder, _ = FLAT[name]
    schedule, free = builder(16), Link(0, 50e9)
    want = c.simulate(schedule, one_switch(16, free), SIZE).seconds
    for clos in (leaf_spine(16, 8, free), fat_tree(4, free)):
        order = np.random.default_rng(0).permutation(16)
        assert c.simulate(schedule, c.wired(clos, order, policy=spray), SIZE).seconds == NEAR(want)


@pytest.mark.parametrize("name", FLAT)
def test_a_slower_cable_or_a_missing_message_shows(name):
    builder, form = FLAT[name]
    schedule, want = builder(8), float(form(SIZE, 8, LINK))
    slow = [c.simulate(schedule, c.slowed(one_switch(8, CABLE), cable, 4), SIZE).seconds for cable in range(8)]
    assert max(slow) > want * 1.01
    bare = c.schedule_of("x", schedule.op, 8, schedule.phases[1:], weight=schedule.weight)
    assert c.simulate(bare, one_switch(8, CABLE), SIZE).seconds < want * (1 - 1e-9)


@pytest.mark.parametrize(("g", "nodes"), [(1, 3), (2, 3), (4, 4), (8, 2), (4, 5), (3, 1)])
@pytest.mark.parametrize("alphas", [(0, 0), (2e-6, 1e-6)])
def test_on_nodes_with_rails(g, nodes, alphas):
    nic, nvlink = Link(alphas[0], 50e9), Link(alphas[1], 450e9)
    out, up = Link(2 * alphas[0], 50e9), Link(2 * alphas[1], 450e9)
    fabric = c.wired(rail_optimised(nodes, g, 16, nic, inside=nvlink), policy=spray)
    cases = (
        (c.hierarchical_allreduce(g, nodes), c.hierarchical_allreduce_time),
        (c.hierarchical_reduce_scatter(g, nodes), c.hierarchical_reduce_scatter_time),
        (c.hierarchical_all_gather(g, nodes), c.hierarchical_reduce_scatter_time),
        (c.hierarchical_broadcast(g, nodes), c.hierarchical_broadcast_time),
        (c.rail_all_to_all(g, nodes), c.rail_all_to_all_time),
    )
    for schedule, form in cases:
        for pace in PACES:
            run = c.simulate(schedule, fabric, SIZE, pace=pace)
            assert run.seconds == NEAR(float(form(SIZE, g, nodes, up, out)))
    for segments in (2, 3, 8):
        pieces = c.hierarchical_allreduce(g, nodes, segments)
        want = float(c.hierarchical_allreduce_time(SIZE, g, nodes, up, out, segments=segments))
        assert c.simulate(pieces, fabric, SIZE, pace="data").seconds == NEAR(want)
        if g > 1 and nodes > 1:
            assert c.simulate(pieces, fabric, SIZE).seconds > want * 1.001  # in turn, nothing overlaps


@pytest.mark.parametrize("speed", [20e9, 100e9, 130e9, 200e9, 900e9])
def test_segments_overlap_whichever_is_the_slower(speed):
    """The form has two branches, NVLink or the NIC the slower; data flow meets both without knowing of either."""
    nic, nvlink = Link(1e-6, 50e9), Link(1e-6, speed)
    fabric = rail_optimised(4, 4, 16, nic, inside=nvlink)
    for segments in (1, 2, 3, 5):
        want = c.hierarchical_allreduce_time(SIZE, 4, 4, Link(2e-6, speed), Link(2e-6, 50e9), segments=segments)
        made = c.hierarchical_allreduce(4, 4, segments)
        assert c.simulate(made, fabric, SIZE, pace="data").seconds == NEAR(float(want))


@pytest.mark.parametrize(("g", "nodes", "nics"), [(2, 4, 2), (4, 4, 4), (4, 4, 2), (8, 2, 1), (4, 6, 4)])
@pytest.mark.parametrize("pace", PACES)
def test_multi_rail_rings(g, nodes, nics, pace):
    """Bytes as the form says. Latency: of each step the longest, since a rank takes part in all rings at once, and a
    pair's next message waits for the last; the form counts one way round instead, as if messages could overlap."""
    schedule = c.multirail_ring_allreduce(g, nodes, nics)
    for nic, nvlink in (((0, 50e9), (0, 450e9)), ((0, 50e9), (0, 60e9)), ((2e-6, 50e9), (1e-6, 450e9))):
        fabric = rail_optimised(nodes, g, 16, Link(*nic), inside=Link(*nvlink))
        form = c.multirail_ring_allreduce_time(SIZE, g, nodes, Link(0, nvlink[1]), Link(0, nic[1]), nics=nics)
        cables = 2 if nics > 1 else 4  # a single ring enters a node on another rail than it left the last one
        longest = 2 * (g * nodes - 1) * cables * max(nic[0], nvlink[0])
        run = c.simulate(schedule, c.wired(fabric, policy=spray), SIZE, pace=pace)
        assert run.seconds == NEAR(float(form) + longest)


@pytest.mark.parametrize(("n", "planes"), [(4, 1), (8, 4), (8, 2)])
@pytest.mark.parametrize("pace", PACES)
def test_the_switch_adds(n, planes, pace):
    domain = nvlink_domain(n, planes, 20, Link(1e-6, 25e9))
    for segments in (1, 2, 4, 16):
        want = float(c.nvls_allreduce_time(SIZE, n, Link(2e-6, 500e9), segments=segments))
        run = c.simulate(c.nvls_allreduce(n, segments, planes), domain, SIZE, pace=pace)
        assert run.seconds == NEAR(want)
        assert run.ledger.bytes == NEAR(np.full(domain.links, SIZE * (1 + 1 / n) / 20))
    pod = leaf_spine(16, 8, CABLE, spines=4)  # four leaves add four hosts each; the first spine adds the leaves
    for segments in (1, 6):
        tree = c.wired(pod, switches=[*range(16, 20), 20])
        want = float(c.sharp_allreduce_time(SIZE, 2, CABLE, segments=segments))
        assert c.simulate(c.sharp_allreduce(16, 4, segments), tree, SIZE, pace=pace).seconds == NEAR(want)


@pytest.mark.parametrize("sides", [(4, 4), (3, 3, 3), (2, 4), (4, 2, 3)])
@pytest.mark.parametrize("all_axes", [False, True])
@pytest.mark.parametrize("both_ways", [False, True])
def test_buckets_on_a_torus(sides, all_axes, both_ways):
    fabric = torus(sides, CABLE)
    schedule = c.torus_allreduce(sides, all_axes=all_axes, both_ways=both_ways)
    want = float(c.torus_allreduce_time(SIZE, sides, CABLE, all_axes=all_axes, both_ways=both_ways))
    even = len(set(sides)) == 1
    for pace in PACES:
        run = c.simulate(schedule, fabric, SIZE, pace=pace)
        if even or not all_axes:
            assert run.seconds == NEAR(want)
        else:  # the form is a bound: buckets of different shape leave the busiest axis idle for a while
            assert run.ledger.busiest * (1 - 1e-9) <= want <= run.seconds * (1 + 1e-9)


def test_an_all_to_all_by_relays_overlaps_better_than_its_form():
    nic, nvlink = Link(0, 50e9), Link(0, 450e9)
    fabric = rail_optimised(4, 4, 16, nic, inside=nvlink)
    want = float(c.pxn_all_to_all_time(SIZE, 4, 4, nvlink, nic))
    step, rank, data = (c.simulate(c.pxn_all_to_all(4, 4), fabric, SIZE, pace=pace).seconds for pace in PACES)
    assert (step, rank) == NEAR((want, want))
    assert 0.95 * want < data < want
