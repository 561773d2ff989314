"""Hierarchies: executed on every small grid, counted link by link, timed step by step, and broken on purpose."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.links import Link
from netlib.topology import rail_optimised
from tests.collectives.stepped import (
    holds,
    ledger,
    messages,
    nothing,
    overlapped,
    perturbed,
    seconds,
    sent_and_received,
)

GRID = list(product([1, 2, 3, 4, 5, 8], [1, 2, 3, 4, 6, 7]))
SIZE = 5040e3
UP, OUT = Link(1e-6, 450e9), Link(4e-6, 50e9)
RNG = np.random.default_rng(1)


def inside(g):
    return lambda src, dst: src // g == dst // g


def outside(g):
    return lambda src, dst: src // g != dst // g


def links(g, up=UP, out=OUT):
    return lambda src, dst: up if src // g == dst // g else out


@pytest.mark.parametrize(("g", "nodes"), GRID)
def test_every_collective_on_every_grid(g, nodes):
    n = g * nodes
    for segments in (1, 2, 5):
        assert holds(c.hierarchical_allreduce(g, nodes, segments))
    assert holds(c.hierarchical_reduce_scatter(g, nodes))
    assert holds(c.hierarchical_all_gather(g, nodes))
    for root in {0, n // 2, n - 1}:
        assert holds(c.hierarchical_broadcast(g, nodes, root))
    for nics, op in product({1, (g + 1) // 2, g}, ("all_reduce", "reduce_scatter", "all_gather")):
        assert holds(c.multirail_ring(g, nodes, op, nics))


@pytest.mark.parametrize(("g", "nodes"), GRID)
def test_bytes_of_each_nic_and_nvlink(g, nodes):
    for segments in (1, 3):
        made = c.hierarchical_allreduce(g, nodes, segments)
        for held, share in ((outside(g), 2 * (nodes - 1) / nodes / g), (inside(g), 2 * (g - 1) / g)):
            for each in sent_and_received(made, SIZE, held):
                assert each == pytest.approx(np.full(g * nodes, share * SIZE), rel=1e-12)
    for made in (c.hierarchical_reduce_scatter(g, nodes), c.hierarchical_all_gather(g, nodes)):
        for held, share in ((outside(g), (nodes - 1) / nodes / g), (inside(g), (g - 1) / g)):
            for each in sent_and_received(made, SIZE, held):
                assert each == pytest.approx(np.full(g * nodes, share * SIZE), rel=1e-12)


@pytest.mark.parametrize(("g", "nodes"), GRID)
def test_bytes_of_multirail_rings(g, nodes):
    """Each NIC sends and receives 2(n-1)/n size/nics; if every rank is an exit, its NVLink carries (g-1)/g of all."""
    n = g * nodes
    for nics in range(1, g + 1):
        made = c.multirail_ring_allreduce(g, nodes, nics)
        volume = 2 * (n - 1) / n * SIZE
        out, into = sent_and_received(made, SIZE, outside(g))
        exits = 1 if nodes == 1 else nics
        for each in (out, into):
            per_node = np.sort(each.reshape(nodes, g), axis=1)[:, ::-1]
            assert per_node[:, :exits] == pytest.approx(volume / nics if nodes > 1 else 0)
            assert not per_node[:, exits:].any() or nics == 1  # with one NIC the ring comes in beside its exit
        busiest = sent_and_received(made, SIZE, inside(g))[0].max()
        alone = 1 if nodes == 1 else (g - 1) / g if nics == g else min(1, g - 1)
        assert busiest == pytest.approx(alone * volume if g > 1 else 0)


@given(g=st.integers(1, 8), nodes=st.integers(2, 8), data=st.data())
@settings(max_examples=40)
def test_multirail_rings_change_rails_only_where_an_odd_number_of_nodes_closes(g, nodes, data):
    nics = data.draw(st.integers(min(2, g), g))
    orders = c.ring_orders(g, nodes, nics)
    assert orders.shape == (nics, g * nodes)
    for order in orders:
        assert sorted(order.tolist()) == list(range(g * nodes))
        ends = list(zip(order.tolist(), np.roll(order, -1).tolist(), strict=True))
        crossings = [(a % g, b % g) for a, b in ends if a // g != b // g]
        assert len(crossings) == nodes
        assert sum(a != b for a, b in crossings) == (nodes % 2 if g > 1 else 0)


def test_one_message_out_and_in_at_a_time():
    """What the closed forms assume of a hierarchy: no rank sends or receives twice in a step."""
    for made in (c.hierarchical_allreduce(4, 6), c.hierarchical_broadcast(4, 6, 9), c.hierarchical_all_gather(3, 5)):
        for step in messages(made, SIZE):
            assert len({src for src, _ in step}) == len({dst for _, dst in step}) == len(step)


@pytest.mark.parametrize(("g", "nodes"), GRID)
def test_times_step_by_step(g, nodes):
    root, args = g * nodes // 2, (SIZE, g, nodes, UP, OUT)
    for made, form in (
        (c.hierarchical_allreduce(g, nodes), c.hierarchical_allreduce_time),
        (c.hierarchical_reduce_scatter(g, nodes), c.hierarchical_reduce_scatter_time),
        (c.hierarchical_all_gather(g, nodes), c.hierarchical_reduce_scatter_time),
        (c.hierarchical_broadcast(g, nodes, root), c.hierarchical_broadcast_time),
    ):
        assert seconds(made, SIZE, links(g)) == pytest.approx(float(form(*args)), rel=1e-12)


@pytest.mark.parametrize("ratio", [0.3, 1.0, 1.7, 2.0, 4.0, 30.0])
@pytest.mark.parametrize("segments", [1, 2, 3, 4, 7])
def test_pipelined_hierarchy_as_two_channels(ratio, segments):
    """Phases of a channel queue, and wait for their data: NVLink the slower, between the two halves, NIC the slower."""
    for (g, nodes), alpha in product([(2, 3), (4, 2), (3, 5)], [0.0, 2e-6]):
        up = Link(alpha, 100e9)
        scale = (nodes - 1) / nodes / (g - 1)  # across / inside at equal links
        out = Link(alpha / 2, 100e9 * scale / ratio)
        made = c.hierarchical_allreduce(g, nodes, segments)
        held = overlapped(made, SIZE, links(g, up, out))
        assert held == pytest.approx(
            float(c.hierarchical_allreduce_time(SIZE, g, nodes, up, out, segments=segments)), rel=1e-12
        )


@given(
    g=st.integers(1, 16),
    nodes=st.integers(1, 64),
    alphas=st.tuples(st.sampled_from([0.0, 1e-7, 1e-6, 1e-5]), st.sampled_from([0.0, 1e-7, 1e-6, 1e-5])),
    out=st.floats(1e9, 1e12),
)
@settings(max_examples=40)
def test_the_best_number_of_segments_is_best(g, nodes, alphas, out):
    up, out = Link(alphas[0], 100e9), Link(alphas[1], out)
    best = float(c.hierarchical_allreduce_time(1e8, g, nodes, up, out, segments=None))
    tried = c.hierarchical_allreduce_time(1e8, g, nodes, up, out, segments=np.geomspace(1, 1e9, 400)).min()
    assert best <= tried * (1 + 1e-12)
    assert best >= tried * 0.97  # the grid of 400 is that fine


@given(g=st.integers(1, 5), nodes=st.integers(1, 5), k=st.integers(1, 3), planes=st.integers(1, 3))
@settings(max_examples=40)
def test_any_three_schedules_make_a_hierarchy(g, nodes, k, planes):
    """NVLS inside, SHARP across: as NCCL's NVLS works beyond a node. Switches of nodes first, then those of rails."""
    within = c.nvls_reduce_scatter(g, planes=planes), c.nvls_all_gather(g, planes=planes)
    made = c.railed_allreduce("NVLS", within[0], c.sharp_allreduce(nodes, 2, 3), within[1], segments=k)
    assert holds(made)
    assert made.weight.sum() == pytest.approx(1)
    assert made.switches == nodes * planes + g * c.sharp_allreduce(nodes, 2).switches
    if g > 1 and nodes > 1:
        for (src, dst), volume in ledger(made, SIZE).items():
            if src < g * nodes <= dst < g * nodes + nodes * planes:  # up a plane of one's own node: slices and one sum
                assert (dst - g * nodes) // planes == src // g
                assert volume == pytest.approx(SIZE * (1 + 1 / g) / planes)
            elif src < g * nodes:  # up the tree of one's rail, once
                assert volume == pytest.approx(SIZE / g)


FABRIC_UP, FABRIC_OUT = Link(0.5e-6, 450e9), Link(1e-6, 50e9)  # a rank to its switch: two of them make a message


@pytest.mark.parametrize(("g", "nodes"), [(2, 2), (4, 3), (3, 4)])
def test_simulated_on_a_rail_optimised_fabric(g, nodes):
    """Third way: links that are shared, latencies that add up along the way."""
    fabric = rail_optimised(nodes, g, 64, FABRIC_OUT, inside=FABRIC_UP)
    args = (SIZE, g, nodes, Link(1e-6, 450e9), Link(2e-6, 50e9))
    for made, form in (
        (c.hierarchical_reduce_scatter(g, nodes), c.hierarchical_reduce_scatter_time),
        (c.hierarchical_all_gather(g, nodes), c.hierarchical_reduce_scatter_time),
        (c.hierarchical_broadcast(g, nodes, 1), c.hierarchical_broadcast_time),
    ):
        assert c.simulate(made, fabric, SIZE).seconds == pytest.approx(float(form(*args)), rel=1e-9)
    for segments in (1, 2, 5):
        made = c.hierarchical_allreduce(g, nodes, segments)
        form = float(c.hierarchical_allreduce_time(*args, segments=segments))
        assert c.simulate(made, fabric, SIZE, pace="data").seconds == pytest.approx(form, rel=1e-9)


@pytest.mark.parametrize(("g", "nodes"), [(2, 2), (4, 3), (3, 4), (4, 4)])
@pytest.mark.parametrize("alpha", [0.0, 1e-6])
@pytest.mark.parametrize("speed", [450e9, 60e9])
def test_multirail_rings_simulated(g, nodes, alpha, speed):
    """Without latency as the closed form; with it a rank that waits pays the NIC's latency in every step."""
    fabric = rail_optimised(nodes, g, 64, Link(alpha, 50e9), inside=Link(alpha / 2, speed))
    up, out = Link(alpha, speed), Link(2 * alpha, 50e9)
    n = g * nodes
    made = c.multirail_ring_allreduce(g, nodes)
    form = float(c.multirail_ring_allreduce_time(SIZE, g, nodes, up, out))
    crosses = fabric.tier[fabric.source[c.link_ledger(made, fabric, SIZE).bytes > 0]].max() > 1
    assert crosses == nodes % 2  # with an odd number of nodes the last cable of a ring crosses a spine
    if not (crosses and alpha):
        step = max(float(out.time(SIZE / n / g)), float(up.time((g - 1) / g * SIZE / n)))
        clock = c.simulate(made, fabric, SIZE).seconds
        assert clock == pytest.approx(form if not alpha else 2 * (n - 1) * step, rel=1e-9)


def test_order_of_addition():
    assert c.reduction_order(c.hierarchical_allreduce(2, 3)) == "(((3+2)+(5+4))+(1+0))"
    assert c.reduction_order(c.hierarchical_allreduce(2, 3, 2)) == "(((3+2)+(5+4))+(1+0))"
    assert c.reduction_order(c.multirail_ring_allreduce(2, 2), chunk=0) == "(((0+2)+3)+1)"


@pytest.mark.parametrize(
    "made",
    [
        c.hierarchical_allreduce(2, 3),
        c.hierarchical_allreduce(3, 2, 2),
        c.hierarchical_reduce_scatter(2, 3),
        c.hierarchical_all_gather(3, 2),
        c.hierarchical_broadcast(3, 3, 4),
        c.multirail_ring_allreduce(2, 2),
        c.multirail_ring(3, 2, "reduce_scatter", 2),
        c.multirail_ring(2, 3, "all_gather", 1),
    ],
    ids=lambda made: f"{made.name} {made.op}",
)
def test_a_changed_message_is_found(made):
    """A message dropped or with another chunk never passes; an `add` turned round never where sums are made. A part
    sent to another rank of its rail is added there and may arrive all the same, so of these most are found."""
    assert holds(made)
    assert not holds(nothing(made))
    found = {what: [] for what in ("drop", "dst", "chunk", "add")}
    for (what, _, dst), changed in perturbed(made):
        if made.op == "broadcast" and dst // 3 == 1:
            continue  # the root's node gathers too, which tells the root what it knows
        found[what].append(not holds(changed))
    assert all(found["drop"])
    assert all(found["chunk"])
    assert np.mean(found["dst"]) > 0.7
    if made.op in ("all_reduce", "reduce_scatter"):
        assert all(found["add"])


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.hierarchical_allreduce(0, 2), "g = 0 must be a whole number, 1 or more"),
        (lambda: c.hierarchical_allreduce("8", 2), "g = '8' must be a whole number; write it without quotes"),
        (lambda: c.hierarchical_allreduce(8, 2, 0), "segments = 0 must be a whole number, 1 or more"),
        (lambda: c.hierarchical_reduce_scatter(2, 0), "nodes = 0 must be a whole number"),
        (lambda: c.hierarchical_broadcast(2, 2, 4), "root = 4 is none of"),
        (lambda: c.hierarchical_broadcast(2, 2, -1), "root = -1 is none of"),
        (lambda: c.multirail_ring_allreduce(4, 2, 5), "nics = 5 must be at most g = 4"),
        (lambda: c.multirail_ring(4, 2, "broadcast"), "op = 'broadcast' has no ring here"),
        (
            lambda: c.railed_allreduce("x", c.ring_reduce_scatter(3), c.ring_allreduce(2), c.ring_all_gather(2)),
            "gather_inside must start as reduce_inside ends",
        ),
        (
            lambda: c.railed_allreduce("x", c.ring_allreduce(3), c.ring_allreduce(2), c.ring_all_gather(3)),
            "gather_inside must start as reduce_inside ends",
        ),
        (
            lambda: c.railed_allreduce("x", c.ring_reduce_scatter(3), c.ring_all_gather(2), c.ring_all_gather(3)),
            "across = 'ring' must be an all_reduce; it is 'all_gather'",
        ),
        (
            lambda: c.railed_allreduce("x", c.nvls_reduce_scatter(3, 2), c.ring_allreduce(2), c.nvls_all_gather(3, 2)),
            "must be in one piece; cut the whole with segments",
        ),
        (lambda: c.hierarchical_allreduce_time(1, 2, 2, UP, OUT, segments=0), "segments = 0 must be at least 1"),
        (lambda: c.hierarchical_broadcast_time(1, 0, 2, UP, OUT), "g = 0 must be at least 1"),
    ],
)
def test_refusals_in_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        bad()
    assert "\n" not in str(caught.value)
