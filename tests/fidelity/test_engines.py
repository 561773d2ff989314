"""Engines: every line of the agreement table holds, and each of its engines, bent, turns the line red."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from netlib.collectives import Wiring, slowed
from netlib.fidelity import engine_table
from netlib.fidelity.algorithms import ALGORITHMS, MOST, algorithm, levels
from netlib.fidelity.engines import EXACT, Algorithm, Net, cases, compared, counted
from netlib.links import Link
from netlib.topology import one_switch

IDS = [each.id for each in ALGORITHMS]
EXACTLY = [each.id for each in ALGORITHMS if each.kind == "exact"]
NET = Net(Link(1e-6, 450e9), Link(4e-6, 50e9))


def holds(own, seed=4, many=6):
    found = compared(own, many=many, seed=seed)
    assert found.holds, found.verdict


@pytest.mark.parametrize("id", IDS)
def test_every_line_holds_on_other_cases_than_the_page_has(id):
    holds(algorithm(id), seed=99)


@pytest.mark.exhaustive
@pytest.mark.parametrize("id", IDS)
@pytest.mark.parametrize("seed", range(20))
def test_and_on_many_more(id, seed):
    holds(algorithm(id), seed=1000 + seed, many=20)


@pytest.mark.parametrize("id", EXACTLY)
def test_a_formula_bent_by_a_millionth_turns_red(id):
    own = algorithm(id)
    found = compared(replace(own, closed=lambda *case: own.closed(*case) * (1 + 1e-6)), many=3)
    assert not found.holds
    assert "they part" in found.verdict
    assert found.executed_gap <= EXACT, "the other two still agree"


@pytest.mark.parametrize("id", [id for id in IDS if id not in EXACTLY])
def test_a_bound_is_held_to_its_side_and_its_slack(id):
    own = algorithm(id)
    base = compared(own)
    assert base.holds
    assert (base.closed != base.counted).any(), "an exact formula is no bound"
    for bend in (0.3, 3.0):
        assert not compared(replace(own, closed=lambda *case, by=bend: own.closed(*case) * by)).holds
    assert not compared(replace(own, slack=lambda *_: 0.0)).holds


def altered(schedule):
    """The schedule with one message that carries another chunk, or is left out where there is but one chunk."""
    for p, part in enumerate(schedule.phases):
        for i in range(part.count.size):
            keep = np.arange(part.count.size) != i
            if schedule.chunks > part.count[i]:
                changed = replace(part, chunk=np.where(keep, part.chunk, part.chunk + 1).astype(np.int32))
            else:
                fields = ("step", "src", "dst", "chunk", "add", "count")
                changed = replace(part, **{name: getattr(part, name)[keep] for name in fields})
            yield replace(schedule, phases=(*schedule.phases[:p], changed, *schedule.phases[p + 1 :]))


def first_altered(own):
    """The algorithm, with the first message of each schedule that has one altered."""
    return replace(own, made=lambda *shape: next(altered(own.made(*shape)), own.made(*shape)))


@pytest.mark.parametrize("id", IDS)
def test_one_chunk_changed_turns_red(id):
    found = compared(first_altered(algorithm(id)), many=4)
    assert not found.holds
    assert not found.correct.all(), "it is the sums that show it"
    assert found.verdict.startswith("wrong sum for ")


def slow(own):
    """The algorithm on its fabric with one cable slower by a ten-thousandth: that of the busiest link."""

    def fabric(net, *shape):
        built, schedule = own.fabric(net, *shape), own.made(*shape)
        if not schedule.phases:
            return built
        busy = c.link_ledger(schedule, built, 1e6).bytes
        worst = int(np.argmax(busy / (built.fabric if isinstance(built, Wiring) else built).capacity)) // 2
        return slowed(built, worst, 1.0001)

    return replace(own, fabric=fabric)


@pytest.mark.parametrize("id", IDS)
def test_one_slow_cable_turns_red(id):
    found = compared(slow(algorithm(id)), many=4)
    assert not found.holds
    assert found.correct.all()
    if id in EXACTLY:
        assert found.counted_gap <= EXACT, "the count has no cables"
        assert found.simulated_gap > EXACT


@settings(max_examples=20, deadline=None)
@given(n=st.integers(1, 20), k=st.integers(1, 6), size=st.floats(0, 1e9), alpha=st.floats(0, 1e-4))
def test_counting_is_steps_and_busiest_ports(n, k, size, alpha):
    """By hand, for what everybody can count: each step of a ring is a message for each port."""
    net = Net(Link(0, 1), Link(alpha, 1e9))
    assert counted(c.ring_allreduce(n, k), size, net) == pytest.approx(2 * (n - 1) * (alpha + size / n / 1e9))
    one_shot = (alpha + (n - 1) * size / 1e9) if n > 1 else 0
    assert counted(c.direct_allreduce(n, shots=1), size, net) == pytest.approx(one_shot)
    adding = replace(net, gamma=1e-9)
    assert counted(c.ring_reduce_scatter(n), size, adding) == pytest.approx((n - 1) * (alpha + 2 * size / n / 1e9))


def test_counting_knows_nodes_pairs_switches_and_overlap():
    two = c.schedule_of("x", "alltoall", 4, [c.phase(0, [0, 0, 2], [1, 2, 3], [0, 1, 2], False)],
                        weight=[6.0, 1.0, 2.0], source=[0, 0, 2], target=[1, 2, 3])  # fmt: skip
    assert counted(two, 1e9, NET, inside=2) == pytest.approx(max(1e-6 + 6e9 / 450e9, 4e-6 + 1e9 / 50e9))
    assert counted(two, 1e9, NET) == pytest.approx(4e-6 + 7e9 / 50e9)
    assert counted(two, 1e9, NET, ports="pair") == pytest.approx(4e-6 + 6e9 / 50e9)
    assert counted(c.nvls_allreduce(4), 0, NET, ports="pair") == pytest.approx(4 * 2e-6)
    line = [c.phase(0, 0, 1, 0, False), c.phase(0, 1, 2, 0, False, channel=1), c.phase(0, 0, 1, 1, False)]
    made = c.schedule_of("line", "broadcast", 3, line, chunks=2, source=0)
    step = 4e-6 + 0.5e9 / 50e9
    assert counted(made, 1e9, NET) == pytest.approx(3 * step)
    assert counted(made, 1e9, NET, overlap=True) == pytest.approx(2 * step)
    assert counted(c.ring_allreduce(1), 1e9, NET) == 0


def test_cases_are_wide_and_repeatable():
    own = algorithm("all-reduce, ring")
    first, again = list(cases(own, 200)), list(cases(own, 200))
    assert first == again
    assert list(cases(own, 3, seed=5)) != first[:3]
    ns = {shape[0] for *_, shape in first}
    assert ns == set(range(1, MOST + 1))
    sizes = np.array([size for size, *_ in first])
    assert sizes.min() < 10
    assert sizes.max() > 1e9
    assert all(net.gamma > 0 for _, net, _ in first)
    free = algorithm("all-reduce, a ring per card, bytes alone")
    assert all(net.up.alpha == net.out.alpha == 0 for _, net, _ in cases(free))


def test_a_schedule_that_cannot_run_is_a_wrong_sum():
    late = c.schedule_of("late", "broadcast", 3, [c.phase(0, 1, 2, 0, False)], source=0)
    own = Algorithm("broadcast", "late", lambda *_: 0.0, lambda n: late, lambda net, n: one_switch(3, NET.out),
                    lambda rng: (3,))  # fmt: skip
    found = compared(own, many=2)
    assert not found.correct.any()
    assert found.verdict == "wrong sum for 3"
    assert "| wrong |" in engine_table.row(found)


def test_exercised_order_and_example():
    assert engine_table.orders().count("`") == 6
    assert engine_table.example().count("\n") == 4


def test_every_collective_and_every_closed_form_has_a_line():
    assert {each.op for each in ALGORITHMS} == {
        *("all-reduce", "reduce-scatter", "all-gather", "broadcast", "reduce", "scatter", "gather", "all-to-all")
    }
    assert len(set(IDS)) == len(IDS)
    assert all(each.reason and each.slack for each in ALGORITHMS if each.kind != "exact")
    with pytest.raises(ValueError, match="algorithm 'all-reduce, rings' does not exist"):
        algorithm("all-reduce, rings")


@pytest.mark.parametrize(("n", "radix", "want"), [(1, 2, 0), (2, 2, 1), (9, 8, 2), (17, 4, 3), (33, 33, 1)])
def test_levels(n, radix, want):
    assert levels(n, radix) == want
