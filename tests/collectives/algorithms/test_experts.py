"""All-to-all by rails, and tokens to their experts and back: executed, counted in plain Python, broken on purpose."""

import re
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.links import Link
from tests.collectives.stepped import holds, ledger, messages, nothing, perturbed, seconds, sent_and_received

GRID = list(product([1, 2, 3, 4, 8], [1, 2, 3, 5]))
SIZE = 5040e3
UP, OUT = Link(1e-6, 450e9), Link(4e-6, 50e9)
COPIES = ("node", "rank", "expert")


def routing(seed=0, tokens=6, top_k=3, g=2, nodes=3, **more):
    return c.routed(np.random.default_rng(seed), tokens, 4 * g * nodes, top_k, g, nodes, **more)


# all-to-all


@pytest.mark.parametrize(("g", "nodes"), GRID)
@pytest.mark.parametrize("build", [c.rail_all_to_all, c.pxn_all_to_all])
def test_all_to_all_by_rails(build, g, nodes):
    made, n = build(g, nodes), g * nodes
    assert holds(made)
    for counted, share in (
        (lambda src, dst: src // g != dst // g, (nodes - 1) / nodes),
        (lambda src, dst: src // g == dst // g, (g - 1) / g),
    ):
        for each in sent_and_received(made, SIZE, counted):
            assert each == pytest.approx(np.full(n, share * SIZE), rel=1e-12)
    for src, dst in ledger(made, SIZE):
        assert src // g == dst // g or src % g == dst % g  # no message changes rails between nodes
    for step in messages(made, SIZE):
        for crosses in (False, True):
            some = [pair for pair in step if (pair[0] // g != pair[1] // g) == crosses]
            assert len({src for src, _ in some}) == len({dst for _, dst in some}) == len(some)


@pytest.mark.parametrize(("g", "nodes"), GRID)
@pytest.mark.parametrize("up", [UP, Link(9e-6, 20e9)])
def test_all_to_all_times_step_by_step(g, nodes, up):
    def link(src, dst):
        return up if src // g == dst // g else OUT

    assert c.pxn_all_to_all(g, nodes).steps == g * nodes - 1
    assert c.rail_all_to_all(g, nodes).steps == g + nodes - 2
    for build, form in (
        (c.rail_all_to_all, c.rail_all_to_all_time),
        (c.pxn_all_to_all, c.pxn_all_to_all_time),
    ):
        clock = seconds(build(g, nodes), SIZE, link)
        assert clock == pytest.approx(float(form(SIZE, g, nodes, up, OUT)), rel=1e-12)


def test_messages_by_rail_are_fewer_and_larger():
    by_rail, one_by_one = c.counts(c.rail_all_to_all(8, 4), SIZE), c.counts(c.pxn_all_to_all(8, 4), SIZE)
    assert by_rail.messages.tolist() == [7 + 3] * 32
    assert one_by_one.messages.tolist() == [7 + 3 * (8 + 7)] * 32
    assert by_rail.sent == pytest.approx(one_by_one.sent)


# routing


@given(
    seed=st.integers(0, 99),
    g=st.integers(1, 4),
    nodes=st.integers(1, 5),
    top_k=st.integers(1, 6),
    limit=st.none() | st.integers(1, 6),
    skew=st.sampled_from([0.0, 1.0, 20.0]),
)
def test_gate_picks_distinct_experts_within_the_node_limit(seed, g, nodes, top_k, limit, skew):
    total = 6 * g * nodes
    made = c.routed(np.random.default_rng(seed), 5, total, top_k, g, nodes, node_limit=limit, skew=skew)
    assert made.experts.shape == (g * nodes, 5, top_k)
    assert (made.n, made.experts.min() >= 0, made.experts.max() < total) == (g * nodes, True, True)
    for row in made.experts.reshape(-1, top_k).tolist():
        assert len(set(row)) == top_k
        assert len({expert // (6 * g) for expert in row}) <= min(limit or nodes, nodes)
    assert (made.ranks == made.experts // 6).all()


def test_node_limit_keeps_the_best_nodes():
    """One expert a node, limit 2 of 4, top 2: the two nodes of the best experts, as without a limit."""
    free = c.routed(np.random.default_rng(5), 50, 4, 2, 1, 4)
    tied = c.routed(np.random.default_rng(5), 50, 4, 2, 1, 4, node_limit=2)
    assert (np.sort(free.experts) == np.sort(tied.experts)).all()


def test_skew_makes_hot_experts():
    even = c.routed(np.random.default_rng(1), 512, 64, 4, 8, 1)
    hot = c.routed(np.random.default_rng(1), 512, 64, 4, 8, 1, skew=2.0)
    loads = [np.bincount(made.experts.ravel(), minlength=64) for made in (even, hot)]
    assert loads[0].sum() == loads[1].sum() == 8 * 512 * 4
    assert loads[0].max() < 1.3 * loads[0].mean()
    assert loads[1].max() > 3 * loads[1].mean()


@pytest.mark.parametrize(("top_k", "groups"), [(8, 8), (8, 64), (1, 4), (3, 2)])
def test_expected_copies_against_the_gate(top_k, groups):
    made = c.routed(np.random.default_rng(2), 128, 64 * 4, top_k, 8, 8)
    place = made.experts // (256 // groups)
    counted = np.array([len(set(row)) for row in place.reshape(-1, top_k).tolist()])
    assert counted.mean() == pytest.approx(float(c.expected_copies(top_k, 256, groups)), abs=0.04)
    assert c.expected_copies(1, 256, [1, 4, 256]).tolist() == [1, 1, 1]
    assert float(c.expected_copies(256, 256, 8)) == 8


# dispatch and combine


@pytest.mark.parametrize(("g", "nodes"), GRID)
@pytest.mark.parametrize("copies", COPIES)
def test_dispatch_and_combine_arrive(g, nodes, copies):
    for limit in (None, 1, 2):
        made = routing(tokens=4, top_k=min(3, 4 * g), g=g, nodes=nodes, node_limit=limit, skew=0.5)
        assert holds(c.moe_dispatch(made, copies))
        assert holds(c.moe_combine(made, copies))


@pytest.mark.parametrize("copies", COPIES)
@pytest.mark.parametrize("limit", [None, 2])
def test_bytes_counted_token_by_token(copies, limit):
    """A plain loop over tokens, with sets: what leaves each rank by NIC and by NVLink."""
    g, nodes, tokens, top_k, bytes_ = 4, 4, 9, 5, 100.0
    made = routing(seed=3, tokens=tokens, top_k=top_k, g=g, nodes=nodes, node_limit=limit)
    n, size = g * nodes, bytes_ * tokens * (top_k if copies == "expert" else 1)
    nic, nvlink = np.zeros(n), np.zeros(n)
    for home, rows in enumerate(made.ranks.tolist()):
        for row in rows:
            if copies == "node":
                for node in {rank // g for rank in row}:
                    relay = node * g + home % g
                    nic[home] += bytes_ * (node != home // g)
                    nvlink[relay] += bytes_ * len({rank for rank in row if rank // g == node and rank != relay})
            else:
                for rank in row if copies == "expert" else set(row):
                    (nic if rank // g != home // g else nvlink)[home] += bytes_ * (rank != home)
    for schedule, way in ((c.moe_dispatch(made, copies), 0), (c.moe_combine(made, copies), 1)):
        assert sent_and_received(schedule, size, lambda s, d: s // g != d // g)[way] == pytest.approx(nic)
        assert sent_and_received(schedule, size, lambda s, d: s // g == d // g)[way] == pytest.approx(nvlink)
    if copies == "node" and limit:
        assert nic.max() <= float(c.moe_bytes(tokens, top_k, bytes_, 1, node_limit=limit))


def test_one_crossing_a_node_saves_what_the_closed_form_expects():
    """64 ranks in 8 nodes, 256 experts, top 8, no limit: of 8 choices and of 5.295 nodes, 7/8 cross."""
    made = c.routed(np.random.default_rng(7), 64, 256, 8, 8, 8)
    each = {}
    for copies, size in (("node", 64.0), ("expert", 64.0 * 8)):
        sent, _ = sent_and_received(c.moe_dispatch(made, copies), size, lambda s, d: s // 8 != d // 8)
        each[copies] = sent.mean() / 64
    assert each["expert"] == pytest.approx(8 * 7 / 8, rel=0.01)
    assert each["node"] == pytest.approx(float(c.expected_copies(8, 256, 8)) * 7 / 8, rel=0.01)


def test_bytes_that_deepep_publishes_for_its_low_latency_kernels():
    """128 tokens, top 8, hidden 7,168: FP8 with 56 scales of 4 bytes and 16 bytes of header out, BF16 back."""
    made = c.routed(np.random.default_rng(0), 128, 256, 8, 8, 1)
    for schedule, width, total in (
        (c.moe_dispatch(made, "expert"), 7168 + 4 * 7168 // 128 + 16, 7_585_792),
        (c.moe_combine(made, "expert"), 2 * 7168, 14_680_064),
    ):
        size = 128 * 8 * width
        out = ledger(schedule, size)
        home = schedule.source if schedule.target.ndim == 1 and "dispatch" in schedule.name else schedule.target
        other = schedule.target if home is schedule.source else schedule.source
        for rank in range(8):
            moved = sum(v for (s, d), v in out.items() if rank == (s if home is schedule.source else d))
            stayed = schedule.bytes_of(size)[(home == rank) & (other == rank)].sum()
            assert moved + stayed == total


@pytest.mark.parametrize("copies", COPIES)
def test_a_layer_of_experts_computes_what_one_machine_would(copies):
    """Tokens go out, every expert multiplies by its own matrix, the weighted results come home and are summed."""
    rng = np.random.default_rng(11)
    made = routing(seed=11, tokens=5, top_k=3, g=2, nodes=3)
    n, tokens, top_k = made.experts.shape
    width, per_rank = 4, made.total // made.n
    token = rng.standard_normal((n, tokens, width))
    gate = rng.random((n, tokens, top_k))
    expert = rng.standard_normal((made.total, width, width))
    dense = np.einsum("ntk,ntkij,ntj->nti", gate, expert[made.experts], token)

    out, back = c.moe_dispatch(made, copies), c.moe_combine(made, copies)
    many = top_k if copies == "expert" else 1
    flat = np.repeat(token.reshape(-1, width), many, axis=0)
    buffers = np.zeros((n, out.chunks, width))
    buffers[out.source, np.arange(out.chunks)] = flat
    seen = c.execute(out, buffers)
    held = np.zeros((n, back.chunks, width))
    for home, t, k in np.ndindex(n, tokens, top_k):
        e = made.experts[home, t, k]
        chunk = (home * tokens + t) * many + (k if many > 1 else 0)
        held[e // per_rank, chunk] += gate[home, t, k] * expert[e] @ seen[e // per_rank, chunk]
    home = np.arange(n * tokens) // tokens
    came = c.execute(back, held).reshape(n, n * tokens, many, width).sum(axis=2)[home, np.arange(n * tokens)]
    assert came.reshape(n, tokens, width) == pytest.approx(dense)


def test_order_of_addition():
    """Token 0 of rank 0 on ranks 0 to 3, two nodes of two: each node's sum at the token's rail, then home."""
    experts = [[[0, 1, 2, 3]]] * 4
    assert c.reduction_order(c.moe_combine(c.routing_of(experts, 4, 2, 2)), 0) == "((3+2)+(1+0))"
    assert c.reduction_order(c.moe_combine(c.routing_of(experts, 4, 2, 2), "rank"), 0) == "(3+(2+(1+0)))"


@given(seed=st.integers(0, 50), copies=st.sampled_from(COPIES))
@settings(max_examples=20)
def test_combine_is_dispatch_backwards(seed, copies):
    made = routing(seed=seed, g=3, nodes=2)
    out, back = ledger(c.moe_dispatch(made, copies), SIZE), ledger(c.moe_combine(made, copies), SIZE)
    assert {(dst, src): volume for (src, dst), volume in out.items()} == pytest.approx(back)


# a chunk at several ranks


def test_a_sum_over_some_ranks():
    """Parts at ranks 1 and 2 only; what others hold is not read. Ranks may be named twice."""
    step = c.phase(0, [1, 2], [0, 0], 0, True)
    made = c.schedule_of("some", "reduce", 4, [step], chunks=1, source=[[1, 2, 2]], target=[[0, 0, 0]])
    assert c.at_first(made)[:, 0].tolist() == [False, True, True, False]
    assert c.in_the_end(made)[:, 0].tolist() == [True, False, False, False]
    assert c.expected(made, [[100], [1], [2], [100]]).tolist() == [3]
    assert c.execute(made, [[100], [1], [2], [100]])[0].tolist() == [3]
    assert holds(made)
    two = c.side_by_side("two", [made, made])
    assert two.source.shape == (2, 3)
    assert holds(two)
    with pytest.raises(ValueError, match="schedules must share n, switches and the number of chunks"):
        c.side_by_side("unlike", [made, c.schedule_of("one", "reduce", 4, [step], source=1, target=0)])


@pytest.mark.parametrize("bad", [[[1, 2], [0, 1]], [[[1]]], [[0.5, 1.0]], [[4, 0]]])
def test_unfit_lists_of_ranks_are_refused(bad):
    with pytest.raises(ValueError, match="source = "):
        c.schedule_of("x", "reduce", 4, [], chunks=1, source=bad)


# broken on purpose


@pytest.mark.parametrize(
    "made",
    [
        c.pxn_all_to_all(2, 3),
        c.rail_all_to_all(3, 2),
        *(
            build(routing(tokens=2, g=2, nodes=2), copies)
            for build in (c.moe_dispatch, c.moe_combine)
            for copies in COPIES
        ),
    ],
    ids=lambda made: f"{made.name} {made.n}",
)
def test_a_changed_message_is_found(made):
    assert holds(made)
    assert not holds(nothing(made))
    sums = made.phases[0].add.any()
    found = {what: [] for what in ("drop", "dst", "chunk", "add")}
    for (what, *_), changed in perturbed(made):
        found[what].append(not holds(changed))
    assert all(found["drop"])
    assert all(found["chunk"])
    assert np.mean(found["dst"]) > 0.7  # a part may be added elsewhere on its way home
    assert not sums or any(found["add"])  # what is added to nothing is kept: the same


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.pxn_all_to_all(0, 2), "g = 0 must be a whole number, 1 or more"),
        (lambda: c.rail_all_to_all(2, 0), "nodes = 0 must be a whole number"),
        (lambda: routing(top_k=100), "top_k = 100 must be at most 24, the experts of 3 nodes"),
        (lambda: routing(top_k=9, node_limit=1), "top_k = 9 must be at most 8, the experts of 1 nodes"),
        (lambda: routing(skew=-1.0), "skew = -1 must be at least 0"),
        (lambda: routing(node_limit=0), "node_limit = 0 must be a whole number"),
        (lambda: c.routed(0, 4, 8, 2, 2, 2), "rng = 0 must be a random generator; make one with"),
        (lambda: c.routed(np.random.default_rng(0), 4, 9, 2, 2, 2), "total = 9 experts do not divide among 4 ranks"),
        (lambda: c.routing_of([[0, 1]], 4, 2, 1), "experts has shape (1, 2); give whole numbers (2, tokens, top_k)"),
        (lambda: c.routing_of([[[0.5]], [[1]]], 4, 2, 1), "experts has shape (2, 1, 1); give whole numbers"),
        (lambda: c.routing_of([[[4]], [[1]]], 4, 2, 1), "experts must hold 0 to 3; total = 4"),
        (lambda: c.moe_dispatch(routing(), "token"), "copies = 'token' must be one of node, rank, expert"),
        (lambda: c.moe_combine([[1]]), "routing = [[1]] is not a Routing; make one with routed(...) or routing_of"),
        (lambda: c.expected_copies(2, 10, 4), "total = 10 experts must divide among groups = 4"),
        (lambda: c.expected_copies(11, 10, 5), "top_k = 11 must be at most total = 10"),
        (lambda: c.pxn_all_to_all_time(1, 2, 0, UP, OUT), "nodes = 0 must be at least 1"),
        (lambda: c.rail_all_to_all_time(-1, 2, 2, UP, OUT), "size = -1 must be at least 0"),
    ],
)
def test_refusals_in_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        bad()
    assert "\n" not in str(caught.value)
