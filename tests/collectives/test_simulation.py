"""Simulation: each pace against a plain second way, closed forms where they are exact, and faults that must show."""

from functools import partial

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives import (
    in_turn,
    link_ledger,
    phase,
    pipelined_broadcast_time,
    recursive_doubling_allreduce_time,
    ring_all_gather,
    ring_all_gather_time,
    ring_allreduce,
    ring_allreduce_time,
    ring_reduce_scatter,
    ring_through,
    schedule_of,
    simulate,
    slowed,
    wired,
)
from netlib.collectives.events import rates
from netlib.collectives.simulation import PACES
from netlib.links import Link
from netlib.topology import (
    d_mod_k,
    ecmp,
    leaf_spine,
    max_min_rates,
    nvlink_domain,
    one_switch,
    rail_optimised,
    routes,
    spray,
)
from tests.collectives.random_schedules import disjoint, schedules
from tests.collectives.stepped import in_words
from tests.topology.filling import drained, filled

LINK = Link(1e-6, 50e9)
POD = leaf_spine(24, 8, LINK, oversubscription=3)
LATE = st.lists(st.sampled_from([0, 1e-5, 3e-3]), min_size=5, max_size=5)
COSTS = st.fixed_dictionaries({"start": st.sampled_from([0, 2e-6]), "gamma": st.sampled_from([0, 1e-11])})
NEAR = partial(pytest.approx, rel=1e-9)


def words(schedule, fabric, size, start, gamma):
    """Each step as {(src, dst): seconds}, by plain Python: paths, filling, the price of a message."""
    found, capacity = routes(fabric), fabric.capacity.tolist()
    steps = []
    for held in in_words(schedule, size):
        pairs = list(held)
        rows = ecmp(found, *(np.array(each) for each in zip(*pairs, strict=True))).tolist() if pairs else []
        ends = drained(rows, [sent for sent, _ in held.values()], capacity)
        steps.append(
            {
                pair: start + sum(fabric.latency[e] for e in row if e >= 0) + end + gamma * added
                for pair, row, end, (_, added) in zip(pairs, rows, ends, held.values(), strict=True)
            }
        )
    return steps


@settings(deadline=None)
@given(schedules(), st.permutations(range(24)), LATE, COSTS)
def test_step_by_step(schedule, order, late, costs):
    run = simulate(schedule, wired(POD, ranks=order[:5]), 6e7, late=late, **costs)
    alone = schedule_of("x", "all_reduce", 24, [part.placed(order[:5]) for part in schedule.phases],
                        chunks=schedule.chunks, weight=schedule.weight)  # fmt: skip
    now, ends, finish = max(late), [], dict(zip(order[:5], late, strict=True))
    for step in words(alone, POD, 6e7, **costs):
        for pair, seconds in step.items():
            finish |= {rank: max(finish[rank], now + seconds) for rank in pair}
        now += max(step.values(), default=0)
        ends.append(now)
    assert run.ends == NEAR(ends)
    assert run.finish == NEAR([finish[rank] for rank in order[:5]])
    assert run.seconds == NEAR(max(finish.values()))
    np.testing.assert_array_equal(run.ledger.bytes, link_ledger(schedule, wired(POD, ranks=order[:5]), 6e7).bytes)


@settings(deadline=None)
@given(schedules(), LATE, COSTS)
def test_ranks_at_their_own_pace_are_a_longest_path(schedule, late, costs):
    """Messages are vertices; from each, an edge to the messages of its ranks in their next step."""
    run = simulate(schedule, POD, 6e7, pace="rank", late=late, **costs)
    graph, last = nx.DiGraph(), {rank: [("late", rank)] for rank in range(5)}
    graph.add_weighted_edges_from(("start", ("late", rank), late[rank]) for rank in range(5))
    number = []
    for i, step in enumerate(words(schedule, POD, 6e7, **costs)):
        for (src, dst), seconds in step.items():
            for before in {*last[src], *last[dst]}:
                graph.add_edge(before, (i, src, dst), weight=seconds)
        took = {rank: [(i, *pair) for pair in step if rank in pair] for rank in range(5)}
        last |= {rank: held for rank, held in took.items() if held}
        number.append([(i, *pair) for pair in step])
    reach = {"start": 0.0}
    for vertex in nx.topological_sort(graph):
        for _, after, seconds in graph.out_edges(vertex, data="weight"):
            reach[after] = max(reach.get(after, 0), reach[vertex] + seconds)
    assert run.finish == NEAR([max(reach[each] for each in last[rank]) for rank in range(5)])
    assert [run.ends[i] for i, held in enumerate(number) if held] == NEAR(
        np.maximum.accumulate([max(reach[each] for each in held) for held in number if held]).tolist()
    )
    assert run.seconds == NEAR(nx.dag_longest_path_length(graph))


def by_events(schedule, fabric, size, late, start, gamma):
    """When each message is done, and its rank pair: all that must come before it is looked up in all earlier steps."""
    found, sent = routes(fabric), []
    for i, step in enumerate(schedule.written_out()):
        held = {}
        for a, b, chunk, add in zip(step.src.tolist(), step.dst.tolist(), step.chunk.tolist(), step.add, strict=True):
            held.setdefault((a, b), []).append((chunk, add))
        sent += [(i, step.channel, a, b, what) for (a, b), what in held.items()]
    after = {}
    for m, (i, channel, a, b, what) in enumerate(sent):
        chunks = {chunk for chunk, _ in what}
        after[m] = {
            q
            for q, (j, other, c, d, they) in enumerate(sent)
            if j < i
            and (
                (other == channel and {a, b} & {c, d})
                or (chunks & {chunk for chunk, _ in they} and (d in (a, b) or c == b))
            )
        }
    volume = [size * sum(schedule.weight[chunk] for chunk, _ in what) for *_, what in sent]
    adds = [gamma * size * sum(schedule.weight[chunk] for chunk, add in what if add) for *_, what in sent]
    rows = [ecmp(found, [a], [b]).tolist()[0] for _, _, a, b, _ in sent]
    done, coming, moving, adding, now = {}, {}, {}, {}, 0.0
    while len(done) < len(sent):
        for m, (_, _, a, b, _) in enumerate(sent):
            if not any(m in each for each in (done, coming, moving, adding)) and after[m] <= set(done):
                begin = max([late[a], late[b], *(done[q] for q in after[m])])
                coming[m] = begin + start + sum(fabric.latency[e] for e in rows[m] if e >= 0)
        speed = dict(zip(moving, filled([rows[m] for m in moving], fabric.capacity.tolist()), strict=True))
        soon = {**coming, **adding, **{m: now + left / speed[m] for m, left in moving.items()}}
        later = min(soon.values())
        for m in [m for m in soon if soon[m] <= later * (1 + 1e-13)]:
            if m in coming:
                moving[m] = volume[m]
                del coming[m]
                speed[m] = 0
            elif m in moving:
                adding[m] = later + adds[m]
                del moving[m]
            else:
                done[m] = later
                del adding[m]
        moving = {m: left - speed[m] * (later - now) for m, left in moving.items()}
        now = later
    return {(sent[m][0], sent[m][2], sent[m][3]): end for m, end in done.items()}


@settings(deadline=None, max_examples=60)
@given(schedules(), LATE, COSTS)
def test_as_data_come(schedule, late, costs):
    run = simulate(schedule, POD, 6e7, pace="data", late=late, **costs)
    done = by_events(schedule, POD, 6e7, late, **costs)
    finish = list(late)
    for (_, *pair), end in done.items():
        for rank in pair:
            finish[rank] = max(finish[rank], end)
    assert run.finish == NEAR(finish)
    assert run.seconds == NEAR(max(finish))
    for i in range(schedule.steps):
        assert run.ends[i] == NEAR(max([end for (step, *_), end in done.items() if step == i], default=0))


@settings(deadline=None)
@given(st.integers(2, 8), st.integers(1, 12), st.integers(0, 99), st.booleans())
def test_where_no_link_is_shared_data_and_ranks_go_at_one_pace(n, steps, seed, late):
    rng = np.random.default_rng(seed)
    schedule, switch = disjoint(n, steps, rng), one_switch(n, LINK)
    comes = rng.choice([0, 1e-5, 1e-2], n) if late else np.zeros(n)
    own = simulate(schedule, switch, 1e7, pace="rank", late=comes)
    data = simulate(schedule, switch, 1e7, pace="data", late=comes)
    assert data.finish == NEAR(own.finish)
    step = simulate(schedule, switch, 1e7, late=comes)
    assert (own.finish <= step.finish * (1 + 1e-12)).all()  # who waits for fewer is done no later


@pytest.mark.parametrize("pace", PACES)
@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_rings_on_one_switch_take_the_closed_forms_time(pace, n):
    link, switch = Link(2 * 1e-6 + 3e-6, 50e9), one_switch(n, LINK)
    cases = (
        (ring_allreduce(n), ring_allreduce_time(1e9, n, link, 1e-11)),
        (ring_allreduce(n, channels=3), ring_allreduce_time(1e9, n, link, 1e-11)),
        (ring_all_gather(n), ring_all_gather_time(1e9, n, link)),
    )
    for schedule, want in cases:
        assert simulate(schedule, switch, 1e9, pace=pace, start=3e-6, gamma=1e-11).seconds == NEAR(float(want))


@pytest.mark.parametrize("pace", PACES)
def test_doubling_and_a_chain_too(pace):
    link, ranks = Link(2e-6, 50e9), np.arange(16)
    steps = [phase(0, ranks, ranks ^ 2**i, 0, True) for i in range(4)]
    doubling = schedule_of("recursive doubling", "all_reduce", 16, steps)
    switch = one_switch(16, LINK)
    want = float(recursive_doubling_allreduce_time(1e8, 16, link, 1e-11))
    assert simulate(doubling, switch, 1e8, pace=pace, gamma=1e-11).seconds == NEAR(want)
    step = phase(0, ranks[:-1], ranks[1:], -ranks[:-1], False, times=14 + 7, shift=1, wrap=False)
    chain = schedule_of("chain", "broadcast", 16, [step], chunks=7, source=0)
    run = simulate(chain, switch, 1e8, pace=pace)
    assert run.seconds == NEAR(float(pipelined_broadcast_time(1e8, 16, link, segments=7)))
    assert run.finish[0] < run.seconds  # the first rank is done when the last segment has left it


@pytest.mark.parametrize("policy", [spray, d_mod_k])
def test_full_bisection_is_as_good_as_one_switch(policy):
    clos, order = leaf_spine(64, 16, LINK), np.arange(64).reshape(8, 8).T.ravel()  # every neighbour behind another leaf
    run = simulate(ring_allreduce(64), wired(clos, ranks=order, policy=policy), 1e9)
    assert run.seconds == NEAR(float(ring_allreduce_time(1e9, 64, Link(4e-6, 50e9))))
    assert run.busy == pytest.approx(1 - 126 * 4e-6 / run.seconds)


@pytest.mark.parametrize("pace", ["step", "rank"])
@pytest.mark.parametrize("taper", [1, 3, 7])
def test_a_taper_of_r_makes_a_ring_r_times_slower_if_all_messages_cross(pace, taper):
    """d hosts of a leaf send up d chunks over d / r uplinks of a host's speed; in order, one chunk goes up."""
    n = 8 * (down := 8 * taper // (taper + 1))
    clos = leaf_spine(n, 8, Link(0, 50e9), oversubscription=taper)
    dealt = np.arange(n).reshape(8, down).T.ravel()
    whole = float(ring_allreduce_time(1e9, n, Link(0, 50e9)))
    assert simulate(ring_allreduce(n), wired(clos, dealt, policy=spray), 1e9, pace=pace).seconds == NEAR(taper * whole)
    assert simulate(ring_allreduce(n), wired(clos, policy=spray), 1e9, pace=pace).seconds == NEAR(whole)


def test_rails_carry_their_rings_side_by_side():
    g, nodes, nic = 4, 6, Link(1e-6, 50e9)
    fabric = rail_optimised(nodes, g, 16, nic, inside=Link(0, 450e9))
    rails = np.arange(g * nodes).reshape(nodes, g).T
    across = [part.placed(rails, scale=g, offset=np.arange(g)) for part in ring_allreduce(nodes).phases]
    rings = schedule_of("rails", "all_reduce", g * nodes, across, chunks=g * nodes)
    run = simulate(rings, fabric, 1e9)
    assert run.seconds == NEAR(float(ring_allreduce_time(1e9 / g, nodes, Link(2e-6, 50e9))))
    through = simulate(ring_through(rails.ravel()), fabric, 1e9)  # one ring along one rail after the other
    assert through.seconds == NEAR(float(ring_allreduce_time(1e9, g * nodes, Link(4e-6, 50e9))))


def test_a_message_to_an_adding_switch_has_all_cables_that_join_the_two():
    domain = nvlink_domain(gpus=4, switches=2, links_per_gpu=6, link=Link(1e-6, 25e9))
    up = schedule_of("up", "reduce", 4, [phase(0, [0, 1, 2, 3] * 2, [4] * 4 + [5] * 4, [0] * 4 + [1] * 4, True)],
                     chunks=2, switches=2)  # fmt: skip
    for pace in PACES:
        assert simulate(up, domain, 6e9, pace=pace).seconds == NEAR(1e-6 + 3e9 / 75e9)
    assert simulate(up, slowed(domain, 0, 2), 6e9).seconds == NEAR(1e-6 + 1e9 / 12.5e9)  # the parts keep step


@pytest.mark.parametrize("pace", PACES)
def test_stages_of_two_channels_overlap_as_data_come(pace):
    """Segments cross 0 -> 1, then 1 -> 2: a + b + (k-1) max(a, b) if the stages overlap, k (a + b) if they do not."""
    k, a, b = 5, 2e-3, 3e-3
    phases = [
        part
        for segment in range(k)
        for part in (phase(0, 0, 1, segment, False, channel=0), phase(0, 1, 2, segment, False, channel=1))
    ]
    line = schedule_of("line", "broadcast", 3, phases, chunks=k, source=0)
    star = slowed(one_switch(3, Link(0, 1e9)), [0, 2], [1, b / a])
    run = simulate(line, star, k * a * 1e9, pace=pace)
    assert run.seconds == NEAR(a + b + (k - 1) * max(a, b) if pace == "data" else k * (a + b))


@settings(deadline=None)
@given(st.integers(2, 9), st.lists(st.floats(0, 1e-2), min_size=9, max_size=9), st.integers(0, 8), st.floats(1, 8))
def test_a_ring_is_as_late_as_its_latest_rank_and_as_slow_as_its_slowest_cable(n, late, which, factor):
    """The latest rank must take all its steps after it has come; nobody else needs longer. Likewise for the cable."""
    ring, switch, link = ring_allreduce(n), one_switch(n, LINK), Link(2e-6, 50e9)
    run = simulate(ring, switch, 1e9, pace="rank", late=late[:n])
    assert run.seconds == NEAR(max(late[:n]) + float(ring_allreduce_time(1e9, n, link)))
    slow = simulate(ring, slowed(switch, which % n, factor), 1e9, pace="rank")
    assert slow.seconds == NEAR(float(ring_allreduce_time(1e9, n, Link(2e-6, 50e9 / factor))))


def test_a_late_leaf_of_a_tree_costs_less_than_its_lateness():
    teller = [[0], [0, 1], [0, 1, 2, 3]]
    told = [phase(0, who, np.array(who) + 2**i, 0, False) for i, who in enumerate(teller)]
    tree = schedule_of("binomial", "broadcast", 8, told, source=0)
    switch, one = one_switch(8, LINK), 2e-6 + 1e9 / 50e9
    late = np.zeros(8)
    late[7] = 2.5 * one  # it is told in the third step
    assert simulate(tree, switch, 1e9, late=late).seconds == NEAR(5.5 * one)
    own = simulate(tree, switch, 1e9, pace="rank", late=late, trace=True)
    assert own.seconds == NEAR(3.5 * one)
    assert own.chain.tolist() == [[2, 3, 7]]  # nothing that was sent before was in its way


@pytest.mark.parametrize("pace", PACES)
def test_the_chain_leads_to_the_end_without_a_gap(pace):
    n, late = 6, np.zeros(6)
    late[2] = 1e-3
    fabric = slowed(one_switch(n, LINK), 4, 3)
    run = simulate(ring_allreduce(n), fabric, 1e9, pace=pace, late=late, trace=True)
    assert run.chain[:, 0].tolist() == sorted(run.chain[:, 0].tolist())
    whole = simulate(ring_allreduce(n), fabric, 1e9, pace=pace, late=late)
    assert whole.chain is None
    assert whole.finish == NEAR(run.finish)
    assert whole.ends == NEAR(run.ends)
    chunk = 1e9 / 6
    seconds = sum(2e-6 + chunk * (3 if 4 in (src, dst) else 1) / 50e9 for _, src, dst in run.chain)
    begins = late[run.chain[0, 1:]].max() if pace != "step" else late.max()
    assert run.seconds == NEAR(begins + seconds)
    for (_, *one), (_, *other) in zip(run.chain, run.chain[1:], strict=False):
        assert pace == "step" or set(one) & set(other)  # one of the two ranks waited for the message before


@pytest.mark.parametrize("pace", PACES)
def test_a_fault_shows(pace):
    n, link = 6, Link(2e-6, 50e9)
    ring, switch = ring_allreduce(n), one_switch(n, LINK)
    seconds = float(ring_allreduce_time(6e8, n, link))
    first, second = ring.phases
    chunk = phase(0, first.src, first.dst, first.chunk, True, [1, 1, 2, 1, 1, 1], times=n - 1, shift=-1)
    faults = {
        "a chunk more": (schedule_of("x", "all_reduce", n, [chunk, second], chunks=n), switch),
        "a step less": (in_turn("x", "all_reduce", [ring_reduce_scatter(n)]), switch),
        "a slow link": (ring, slowed(switch, 3, 1.0001)),
    }
    assert simulate(ring, switch, 6e8, pace=pace).seconds == NEAR(seconds)
    for schedule, fabric in faults.values():
        assert simulate(schedule, fabric, 6e8, pace=pace).seconds != pytest.approx(seconds, rel=1e-5)
    late = np.zeros(n)
    late[4] = 1e-6
    assert simulate(ring, switch, 6e8, pace=pace, late=late).seconds == NEAR(seconds + 1e-6)


@settings(deadline=None)
@given(st.data())
def test_rates_of_spread_messages(data):
    """One way each: as topology's own. Spread: every message has a full link on which none is faster."""
    links, flows = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 8))
    capacity = np.array(data.draw(st.lists(st.integers(1, 9), min_size=links, max_size=links)), float)
    rows = [data.draw(st.lists(st.integers(0, links - 1), min_size=1, max_size=3, unique=True)) for _ in range(flows)]
    flow = np.repeat(np.arange(flows), [len(row) for row in rows])
    link = np.concatenate(rows)
    padded = [row + [-1] * (3 - len(row)) for row in rows]
    np.testing.assert_allclose(rates(flows, flow, link, np.ones(link.size), capacity), max_min_rates(padded, capacity))
    share = np.array(data.draw(st.lists(st.integers(1, 4), min_size=link.size, max_size=link.size))) / 4
    speed = rates(flows, flow, link, share, capacity)
    load = np.bincount(link, share * speed[flow], links)
    assert (load <= capacity * (1 + 1e-9)).all()
    fastest = np.zeros(links)
    np.maximum.at(fastest, link, speed[flow])
    held = (load[link] >= capacity[link] * (1 - 1e-9)) & (speed[flow] >= fastest[link] * (1 - 1e-9))
    assert set(flow[held]) == set(range(flows))


def test_spread_messages_of_different_sizes_share_again_when_one_ends():
    """Four messages leave a leaf over two uplinks, half each; once the short ones are done the long one has one."""
    clos = leaf_spine(16, 8, Link(0, 50e9), oversubscription=3)  # 6 hosts and 2 uplinks on a leaf
    src, dst = [0, 1, 2, 3], [6, 7, 8, 9]
    pairs = schedule_of("pairs", "sendrecv", 16, [phase(0, src, dst, [0, 1, 2, 3], True)], weight=[3, 1, 1, 1])
    run = simulate(pairs, wired(clos, policy=spray), 1e9)
    assert run.finish[[1, 2, 3]] == NEAR([1e9 / 25e9] * 3)
    assert run.seconds == NEAR(1e9 / 25e9 + 2e9 / 50e9)
    data = simulate(pairs, wired(clos, policy=spray), 1e9, pace="data")
    assert data.finish == NEAR(run.finish)


def test_nothing_to_do():
    switch = one_switch(4, LINK)
    for pace in PACES:
        run = simulate(ring_allreduce(1), switch, 1e9, pace=pace, late=2.0, trace=True)
        assert (run.seconds, run.ends.tolist(), run.chain.tolist(), run.busy) == (2.0, [], [], 0)
        empty = simulate(ring_allreduce(4), switch, 0, pace=pace)
        assert empty.seconds == NEAR(6 * 2e-6)
        assert empty.busy == 0
    assert simulate(ring_allreduce(1), switch, 0).busy == 0
    assert simulate(ring_allreduce(2), slowed(switch, 1, 2), 1e9).busiest in (2, 3)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"pace": "fast"}, "pace = 'fast' is none of step, rank, data"),
        ({"late": [1, 2]}, r"late has shape \(2,\)"),
        ({"start": -1}, "start = -1 must be at least 0"),
        ({"gamma": -1}, "gamma = -1 must be at least 0"),
        ({"fabric": 3}, "fabric = 3 is not a Fabric"),
        ({"size": -1}, "size = -1 must be at least 0"),
        ({"schedule": 3}, "is not a Schedule"),
    ],
)
def test_what_is_refused(given, sentence):
    with pytest.raises(ValueError, match=sentence):
        simulate(**{"schedule": ring_allreduce(4), "fabric": one_switch(4, LINK), "size": 1e6, **given})
