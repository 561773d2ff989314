"""Switches that add: executed, counted from messages, timed step by step, and broken on purpose."""

import re
from itertools import product

import numpy as np
import pytest

from netlib import collectives as c
from netlib.links import Link
from netlib.topology import leaf_spine, rail_optimised
from netlib.topology.fabric import KINDS
from tests.collectives.stepped import holds, ledger, messages, nothing, perturbed, seconds, sent_and_received

SIZE = 5040e3
LINK = Link(2e-6, 450e9)
HOP = Link(1e-6, 450e9)  # half way: a rank to its switch
NVLS = (c.nvls_allreduce, c.nvls_reduce_scatter, c.nvls_all_gather)


@pytest.mark.parametrize("n", range(1, 19))
def test_every_collective_on_any_number_of_ranks(n):
    for build, segments, planes in product(NVLS, (1, 2, 3, 5), (1, 2, 4)):
        assert holds(build(n, segments, planes))
    for radix, segments in product((2, 3, 4, 8, 20), (1, 2, 5)):
        assert holds(c.sharp_allreduce(n, radix, segments))
    assert holds(c.two_shot_allreduce(n))


@pytest.mark.parametrize("n", [2, 3, 5, 8, 72])
@pytest.mark.parametrize("segments", [1, 4])
@pytest.mark.parametrize("planes", [1, 4])
def test_bytes_up_and_down_each_link_of_nvls(n, segments, planes):
    """size (1 + 1/n) each way for all-reduce; a ring moves 2(n-1)/n size, 2(n-1)/(n+1) times as much."""
    shares = {"all_reduce": (1 + 1 / n, 1 + 1 / n), "reduce_scatter": (1, 1 / n), "all_gather": (1 / n, 1)}
    for build in NVLS:
        made = build(n, segments, planes)
        up, down = shares[made.op]
        held = ledger(made, SIZE)
        assert len(held) == 2 * n * planes
        for (src, dst), volume in held.items():
            assert (src < n) != (dst < n)  # between a rank and a switch, always
            assert volume == pytest.approx((up if src < n else down) * SIZE / planes, rel=1e-12)
    nvls = sent_and_received(c.nvls_allreduce(n), SIZE, lambda *_: True)[0]
    ring = sent_and_received(c.ring_allreduce(n), SIZE, lambda *_: True)[0]
    assert ring / nvls == pytest.approx(2 * (n - 1) / (n + 1))


@pytest.mark.parametrize("n", [1, 2, 3, 8])
@pytest.mark.parametrize("segments", [1, 2, 3, 4, 7, 20])
def test_nvls_step_by_step(n, segments):
    made = c.nvls_allreduce(n, segments)
    form = float(c.nvls_allreduce_time(SIZE, n, LINK, segments))
    assert seconds(made, SIZE, lambda *_: HOP) == pytest.approx(form, rel=1e-12)
    assert made.steps == (segments + 3 if n > 1 else 0)


@pytest.mark.parametrize("planes", [2, 4])
def test_planes_share_the_buffer_and_step_together(planes):
    one, many = c.nvls_allreduce(8, 3), c.nvls_allreduce(8, 3, planes)
    assert many.steps == one.steps
    link = Link(HOP.alpha, HOP.bandwidth / planes)  # a rank's links divide among the planes
    assert seconds(many, SIZE, lambda *_: link) == pytest.approx(seconds(one, SIZE, lambda *_: HOP))


def test_fine_segments_reach_the_limit():
    free = Link(0, 450e9)
    limit = float(c.nvls_allreduce_time(SIZE, 8, free))
    times = [float(c.nvls_allreduce_time(SIZE, 8, free, k)) for k in (1, 3, 10, 100, 10_000)]
    assert times == sorted(times, reverse=True)
    assert times[0] == pytest.approx(2 * limit)
    assert times[-1] == pytest.approx(limit, rel=1e-3)
    assert float(c.sharp_allreduce_time(SIZE, 3, free, 10**6)) == pytest.approx(
        float(c.sharp_allreduce_time(SIZE, 3, free)), rel=1e-4
    )


@pytest.mark.parametrize(("n", "radix", "levels"), [(2, 2, 1), (3, 2, 2), (8, 8, 1), (9, 8, 2), (16, 4, 2), (17, 4, 3)])
@pytest.mark.parametrize("segments", [1, 2, 9])
def test_sharp_step_by_step(n, radix, levels, segments):
    made = c.sharp_allreduce(n, radix, segments)
    assert made.steps == 2 * levels + segments - 1
    form = float(c.sharp_allreduce_time(SIZE, levels, HOP, segments))
    assert seconds(made, SIZE, lambda *_: HOP) == pytest.approx(form, rel=1e-12)
    held = ledger(made, SIZE)
    assert set(held) == {(dst, src) for src, dst in held}  # a tree: each edge up and down, once the buffer
    assert len(held) == 2 * (n + made.switches - 1)
    assert list(held.values()) == pytest.approx([SIZE] * len(held))
    children = np.bincount([dst for src, dst in held if src < dst], minlength=n + made.switches)
    assert children[n:].max() <= radix
    assert children[n:].min() >= 1


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_two_shots(n):
    made = c.two_shot_allreduce(n)
    sent = c.counts(made, SIZE).sent
    assert sent == pytest.approx(np.full(n, 2 * (n - 1) / n * SIZE))
    clock = sum(HOP.alpha + max(_out_of_ranks(step, n)) * HOP.beta for step in messages(made, SIZE))
    assert clock == pytest.approx(float(c.two_shot_allreduce_time(SIZE, n, HOP)), rel=1e-12)


def _out_of_ranks(step, n):
    """Bytes that each rank sends in a step: they share its one port."""
    return [sum(volume for (src, _), volume in step.items() if src == rank) for rank in range(n)]


@pytest.mark.parametrize(("g", "segments"), [(2, 1), (4, 3), (8, 6)])
def test_nvls_simulated_on_a_node(g, segments):
    node = rail_optimised(1, g, 64, HOP, inside=HOP)
    made = c.nvls_allreduce(g, segments)
    form = float(c.nvls_allreduce_time(SIZE, g, LINK, segments))
    assert c.simulate(made, node, SIZE).seconds == pytest.approx(form, rel=1e-9)
    load = c.link_ledger(made, node, SIZE).bytes
    nvlink = node.kind == KINDS.index("nvlink")
    assert load[nvlink] == pytest.approx(np.full(2 * g, SIZE * (1 + 1 / g)))
    assert not load[~nvlink].any()


@pytest.mark.parametrize(("hosts", "down", "segments"), [(16, 4, 1), (16, 4, 5), (32, 8, 8)])
def test_sharp_simulated_on_leaves_and_one_spine(hosts, down, segments):
    fabric = leaf_spine(hosts, 2 * down, HOP, spines=down)
    made = c.sharp_allreduce(hosts, down, segments)
    leaves, spines = (np.flatnonzero(fabric.tier == tier) for tier in (1, 2))
    wiring = c.wired(fabric, switches=[*leaves, spines[0]])
    form = float(c.sharp_allreduce_time(SIZE, 2, HOP, segments))
    assert c.simulate(made, wiring, SIZE).seconds == pytest.approx(form, rel=1e-9)


@pytest.mark.parametrize(("g", "nodes"), [(1, 1), (1, 4), (4, 1), (2, 3), (4, 5), (3, 8)])
@pytest.mark.parametrize("segments", [1, 3])
@pytest.mark.parametrize("planes", [1, 2])
def test_nvls_inside_and_trees_across(g, nodes, segments, planes):
    made = c.nvls_tree_allreduce(g, nodes, segments, planes)
    assert holds(made)
    n = g * nodes
    across, into = sent_and_received(made, SIZE, lambda s, d: d < n and s < n)
    assert max(across.max(), into.max()) <= 2 * SIZE / g * (1 + 1e-12)
    assert across.sum() == pytest.approx(g * 2 * (nodes - 1) * SIZE / g)  # on each rail its part, up and down each edge
    if g > 1:
        up, down = sent_and_received(made, SIZE, lambda s, d: d >= n or s >= n)
        assert up == pytest.approx(np.full(n, SIZE * (1 + 1 / g)))
        assert down == pytest.approx(np.full(n, SIZE * (1 + 1 / g)))


def test_order_of_addition():
    assert c.reduction_order(c.nvls_allreduce(4)) == "(3+(2+(1+0)))"
    assert c.reduction_order(c.nvls_allreduce(4, 3, 2), chunk=5) == "(3+(2+(1+0)))"
    assert c.reduction_order(c.sharp_allreduce(5, 2)) == "(4+((3+2)+(1+0)))"
    assert c.reduction_order(c.two_shot_allreduce(4), chunk=1) == "(3+(2+(0+1)))"


@pytest.mark.parametrize(
    "made",
    [
        c.nvls_allreduce(3, 2, 2),
        c.nvls_allreduce(4),
        c.nvls_reduce_scatter(3, 3),
        c.nvls_all_gather(3, 2),
        c.two_shot_allreduce(4),
        c.sharp_allreduce(5, 2, 3),
    ],
    ids=lambda made: f"{made.name} {made.op}",
)
def test_a_changed_message_is_found(made):
    """Only the third hop of an NVLS all-reduce can be left out unpunished: our switch remembers the sums that it sent
    down, and a real one does not. There the bytes are wrong, and the count finds it."""
    assert holds(made)
    assert not holds(nothing(made))
    right = ledger(made, SIZE)
    for (what, src, dst), changed in perturbed(made):
        if what == "add" and (made.op == "all_gather" or (made.name == "SHARP" and src == made.n - 1)):
            continue  # what is added to nothing is kept: the same
        if what == "add" and made.name == "SHARP" and src >= made.n:
            continue
        if holds(changed):
            assert made.name == "NVLS"
            assert made.op == "all_reduce"
            assert src < made.n <= dst
            assert what == "chunk" or ledger(changed, SIZE) != right


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.nvls_allreduce(0), "n = 0 must be a whole number, 1 or more"),
        (lambda: c.nvls_allreduce(8, segments=0), "segments = 0 must be a whole number"),
        (lambda: c.nvls_all_gather(8, planes=0), "planes = 0 must be a whole number"),
        (lambda: c.nvls_reduce_scatter(2.0), "n = 2.0 must be a whole number; write it without quotes or point"),
        (lambda: c.sharp_allreduce(8, 1), "radix = 1 must be a whole number, 2 or more"),
        (lambda: c.two_shot_allreduce(-3), "n = -3 must be a whole number"),
        (lambda: c.nvls_allreduce_time(1, 8, LINK, 2.5), "segments = 2.5 must be a whole number"),
        (lambda: c.sharp_allreduce_time(1, 2, LINK, 0), "segments = 0 must be at least 1"),
    ],
)
def test_refusals_in_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        bad()
    assert "\n" not in str(caught.value)
