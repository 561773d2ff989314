"""Deadlocks: where the drawn graph has a circle a run can lock, where it has none no run does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.lossless import (
    Deadlock,
    Watchdog,
    buffer_dependencies,
    facing_bounces,
    in_words,
    lanes_by_dateline,
    round_ways,
    run_slots,
    shortest_cycle,
    stuck,
    switch_ring,
    until_stuck,
)
from netlib.congestion.lossless.slots import Slots
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import Traffic, over
from netlib.links import Link
from netlib.topology import torus
from tests.congestion.lossless.small import CREDITS, ENDLESS, LINK, PACKET, PFC, RATE, US, rng, walks

WIRE = PACKET.wire
RULES = pytest.mark.parametrize("rule", [PFC, CREDITS], ids=["pauses", "credits"])


def ring_traffic(n: int = 3, hops: int = 2, load: float = 1.0) -> Traffic:
    """Everybody sends `hops` switches on, all the same way round, at `load` of line rate."""
    made = over(switch_ring(n, LINK), round_ways(switch_ring(n, LINK), hops), ENDLESS, PACKET)
    capacity = made.capacity.copy()
    capacity[made.sender] *= load
    return replace(made, capacity=capacity)


def test_the_graph_of_a_ring_is_drawn_by_hand() -> None:
    """Links 6, 8 and 10 lead round; each way uses two of them, so 6 waits for 8, 8 for 10 and 10 for 6."""
    ring = switch_ring(3, LINK)
    made = buffer_dependencies(ring, round_ways(ring))
    arrows = set(zip(made.before.tolist(), made.after.tolist(), strict=True))
    assert {(6, 8), (8, 10), (10, 6)} <= arrows
    assert shortest_cycle(made).tolist() == [6, 8, 10]
    assert in_words(made, shortest_cycle(made)) == "switch 0 > switch 1 > switch 2 > switch 0"
    assert shortest_cycle(buffer_dependencies(ring, round_ways(ring, 1))).size == 0, "one hop waits for nobody"


@RULES
@pytest.mark.parametrize("n", [3, 5])
def test_a_ring_locks_and_stays_locked(n: int, rule: Pfc | LinkCredits) -> None:
    made = until_stuck(ring_traffic(n), rule, 600 * US, rng())
    assert made.begin < 200 * US
    assert made.cycle.tolist() == [2 * n + 2 * i for i in range(n)]
    assert set(made.gates.tolist()) >= set(made.cycle.tolist())
    assert made.moved == 0
    assert made.rate[made.time > made.begin + 20 * US].sum() == 0
    assert made.rate[made.time < made.begin - 10 * US].sum() > 0


@RULES
def test_a_second_lane_opens_the_ring(rule: Pfc | LinkCredits) -> None:
    ring = switch_ring(3, LINK)
    lane = lanes_by_dateline(ring, round_ways(ring))
    assert shortest_cycle(buffer_dependencies(ring, round_ways(ring), lane)).size == 0
    made = until_stuck(ring_traffic(), rule, 600 * US, rng(), lane)
    assert made.begin == np.inf
    # one flow changes lane on the way and one stays: each ring cable carries two flows at half its rate
    assert made.moved == pytest.approx(150 * US * 1.5 * RATE, rel=0.1)


def test_one_hop_less_or_one_flow_less_and_nothing_locks() -> None:
    assert until_stuck(ring_traffic(hops=1), PFC, 400 * US, rng()).begin == np.inf
    made = ring_traffic()
    two = over(switch_ring(3, LINK), made.way[:2], ENDLESS, PACKET)
    assert until_stuck(two, PFC, 400 * US, rng()).begin == np.inf


@pytest.mark.parametrize(("load", "locks"), [(0.4, False), (0.5, False), (0.6, True), (1.0, True)])
def test_a_circle_is_needed_and_is_not_enough(load: float, locks: bool) -> None:
    """Two flows share each cable of the ring: up to half of line rate each nothing ever queues up to a pause."""
    made = until_stuck(ring_traffic(load=load), PFC, 900 * US, rng())
    assert (made.begin < np.inf) == locks


def test_a_larger_buffer_locks_later_and_locks() -> None:
    begin = [until_stuck(ring_traffic(), Pfc(1e9, 0, k * 25e3, 8e3, 0), 900 * US, rng()).begin for k in (1, 2, 4, 8)]
    assert begin == sorted(begin)
    assert begin[0] < begin[-1] < np.inf


@pytest.mark.parametrize("hops", [2, 3])
def test_two_models_lock_at_the_same_gates_and_about_the_same_time(hops: int) -> None:
    made = ring_traffic(4, hops)
    one = until_stuck(made, PFC, 400 * US, rng(), model="engine")
    other = until_stuck(made, PFC, 400 * US, rng(), model="slots")
    assert one.cycle.tolist() == other.cycle.tolist() == [8, 10, 12, 14]
    assert one.moved == other.moved == 0
    assert one.begin == pytest.approx(other.begin, rel=0.4)


@RULES
def test_two_bounces_that_face_each_other_lock_a_leaf_spine(rule: Pfc | LinkCredits) -> None:
    fabric, ways = facing_bounces(LINK)
    made = until_stuck(over(fabric, ways, ENDLESS, PACKET), rule, 300 * US, rng())
    assert made.cycle.tolist() == shortest_cycle(buffer_dependencies(fabric, ways)).tolist()
    assert made.moved == 0


@RULES
def test_the_same_circle_with_half_the_flows_does_not_lock(rule: Pfc | LinkCredits) -> None:
    fabric, ways = facing_bounces(LINK, 1)
    assert shortest_cycle(buffer_dependencies(fabric, ways)).size == 4
    made = until_stuck(over(fabric, ways, ENDLESS, PACKET), rule, 600 * US, rng())
    assert made.begin == np.inf
    assert made.moved == pytest.approx(150 * US * RATE, rel=0.1)


def test_an_innocent_flow_that_comes_later_never_moves() -> None:
    """A host sends one hop, over a cable of the ring: its own way is in no circle."""
    ring = switch_ring(3, LINK)
    ways = np.vstack([round_ways(ring), [[0, 6, 3, -1]]])
    assert shortest_cycle(buffer_dependencies(ring, ways[3:])).size == 0
    late = run_slots(over(ring, ways, ENDLESS, PACKET, start=[0, 0, 0, 300 * US]), 600 * US, PFC, rng())
    assert late.received[3] == 0
    assert late.received[:3].min() > 0
    alone = run_slots(over(ring, ways[3:], ENDLESS, PACKET, start=300 * US), 600 * US, PFC, rng())
    assert alone.received[0] == pytest.approx(300 * US * RATE, rel=0.03)


def test_a_watchdog_breaks_the_circle_by_dropping() -> None:
    dog = Watchdog(100 * US, 20 * US)
    made = until_stuck(ring_traffic(), PFC, 600 * US, rng(), watchdog=dog)
    assert made.begin < np.inf
    assert made.fired > 0
    assert made.lost > 0
    assert made.moved > 0
    assert until_stuck(ring_traffic(), PFC, 600 * US, rng()).lost == 0


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 9999), st.booleans())
def test_what_is_called_stuck_never_moves_again_and_needs_a_circle(seed: int, credits: bool) -> None:
    """Random ways over a torus: gates found stuck stay shut to the end; where the graph has no circle none is found."""
    fabric = torus([3, 3], LINK)
    ways = walks(fabric, 14, 4, rng(seed))
    rule = LinkCredits(4.0 * WIRE, 0) if credits else Pfc(1e9, 0, 4.0 * WIRE, 2.0 * WIRE, 0)
    resume = 3.0 * WIRE if credits else 2.0 * WIRE
    slots = Slots(over(fabric, ways, ENDLESS, PACKET), rule, rng())
    never = np.zeros(fabric.links, bool)
    for step in range(200):
        slots.advance()
        shut = np.array([slots.closed(gate) for gate in range(fabric.links)])
        assert shut[never].all(), "a gate that was called stuck has opened"
        if step % 4 == 0:
            never |= stuck(slots.waits(), resume)
    cycle = shortest_cycle(buffer_dependencies(fabric, ways))
    assert cycle.size or not never.any()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 9999))
def test_the_cycle_is_among_the_gates_that_are_stuck(seed: int) -> None:
    fabric = torus([3, 3], LINK)
    ways = walks(fabric, 14, 4, rng(seed))
    made = until_stuck(
        over(fabric, ways, ENDLESS, PACKET), Pfc(1e9, 0, 4.0 * WIRE, 2.0 * WIRE, 0), 60 * US, rng(), every=2
    )
    assert set(made.cycle.tolist()) <= set(made.gates.tolist())
    assert (made.cycle.size > 0) == (made.begin < np.inf)


def test_a_cycle_of_gates_that_are_only_shut_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were only one gate of the ring stuck, there would be no cycle to show, though all three are shut."""
    monkeypatch.setattr(
        "netlib.congestion.lossless.deadlocks.stuck", lambda waits, resume: waits.shut & (np.arange(12) == 6)
    )
    made = until_stuck(ring_traffic(), PFC, 300 * US, rng())
    assert made.gates.tolist() == [6]
    assert made.cycle.size == 0


def test_lanes_that_are_not_enough_do_not_help() -> None:
    """Each flow in a lane of its own changes nothing for the flows of one lane; all three in one lane lock it."""
    ring = switch_ring(3, LINK)
    made = until_stuck(ring_traffic(), PFC, 400 * US, rng(), np.ones_like(round_ways(ring)))
    assert made.begin < np.inf
    assert (made.cycle % 2 == 1).all()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: switch_ring(2, LINK), "switches = 2"),
        (lambda: round_ways(switch_ring(3, LINK), 3), "hops = 3"),
        (lambda: until_stuck(ring_traffic(), PFC, 0, rng()), "until = 0"),
        (lambda: until_stuck(ring_traffic(), replace(PFC, alpha=1.0), 1e-4, rng()), "alpha = 1"),
        (lambda: until_stuck(ring_traffic(), PFC, 1e-4, rng(), model="fluid"), "not one of"),
        (lambda: until_stuck(ring_traffic(), CREDITS, 1e-4, rng(), model="engine"), "use model='slots'"),
        (lambda: until_stuck(ring_traffic(), PFC, 1e-4, rng(), lane=0, model="engine"), "use model='slots'"),
        (lambda: until_stuck(ring_traffic(), PFC, 1e-4, rng(), every=0), "every = 0"),
        (lambda: facing_bounces(LINK, 3), "each = 3"),
        (lambda: facing_bounces(Link([1e-6, 2e-6], RATE)), "link"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert says in str(error.value)


def test_the_result_holds_what_it_says() -> None:
    made = until_stuck(ring_traffic(), PFC, 300 * US, rng(), every=8)
    assert isinstance(made, Deadlock)
    assert len(made.time) == len(made.rate)
    assert made.time[-1] == pytest.approx(300 * US, rel=0.02)
    total = run_slots(ring_traffic(), 300 * US, PFC, rng()).received.sum()
    assert (np.diff(made.time) * made.rate[1:]).sum() == pytest.approx(total, abs=WIRE)
