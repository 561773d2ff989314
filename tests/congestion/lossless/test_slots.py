"""The slot model by itself: bytes are kept, links carry no more than they can, lanes and flows take turns."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.lossless import buffer_dependencies, run_slots, shortest_cycle
from netlib.congestion.lossless.slots import Slots
from netlib.congestion.lossless.watchdogs import Hang, Watchdog
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import Traffic, incast, over, traffic
from netlib.links import Link
from netlib.topology import ecmp, leaf_spine, routes, torus
from tests.congestion.lossless.small import ENDLESS, LINK, PACKET, PFC, RATE, US, rng, walks

WIRE = PACKET.wire
RULES = st.one_of(
    st.none(),
    st.builds(lambda k: Pfc(1e9, 0, k * WIRE, 2.0 * WIRE, 0), st.integers(2, 30)),
    st.builds(lambda k: Pfc(k * 40.0 * WIRE, 0.5, 0, WIRE, 1e-6), st.integers(1, 5)),
    st.builds(lambda k: LinkCredits(k * WIRE, 0), st.integers(1, 30)),
)


def random_traffic(seed: int, size: float) -> Traffic:
    """Flows between random hosts of a small leaf-spine, up and down."""
    draw = rng(seed)
    pod = leaf_spine(6, 4, LINK)
    src = draw.integers(0, 6, 10)
    dst = (src + draw.integers(1, 6, 10)) % 6
    lane = draw.integers(0, 2, 10)
    return over(pod, ecmp(routes(pod), src, dst, seed=seed), size, PACKET, lane=lane)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), RULES, st.booleans())
def test_every_packet_is_somewhere_in_every_slot(seed: int, rule: Pfc | LinkCredits | None, dog: bool) -> None:
    made = random_traffic(seed, ENDLESS)
    slots = Slots(
        made, rule, rng(), watchdog=Watchdog(4 * US, 2 * US) if dog else None,
        hangs=[Hang(int(made.receiver[0]), 10 * US, 25 * US)] if dog else [],
    )  # fmt: skip
    for _ in range(120):
        slots.advance()
        flying = sum(len(row) for row in slots._flying)
        assert sum(slots.sent) == sum(slots.received) + sum(slots.lost) + sum(slots.held) + flying
        assert sum(slots.held) == sum(len(queue) for queue in slots._queue.values())
        assert min(slots.held) >= 0
        if isinstance(rule, LinkCredits):
            assert max(slots.held) * WIRE <= rule.buffer, "credits never promise more than there is"
    assert dog or sum(slots.lost) == 0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 999), RULES, st.integers(1, 60))
def test_no_link_carries_more_than_it_can(seed: int, rule: Pfc | LinkCredits | None, packets: int) -> None:
    made = random_traffic(seed, packets * WIRE)
    ran = run_slots(made, 100 * US, rule, rng())
    for link in np.unique(made.way[made.way >= 0]):
        over_it = made.flow[(made.way == link).any(axis=1)]
        assert ran.received[over_it].sum() <= RATE * 100 * US + WIRE
    assert (ran.received <= made.wire).all()
    assert (ran.rate.sum(axis=0) >= 0).all()


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 999), st.one_of(st.integers(1, 4).map(lambda k: LinkCredits(k * WIRE, 0)), st.just(None)))
def test_up_and_down_ways_are_done_whatever_is_sent_and_however_small_the_buffers(
    seed: int, rule: LinkCredits | None
) -> None:
    made = random_traffic(seed, 12 * WIRE)
    pod = leaf_spine(6, 4, LINK)
    assert shortest_cycle(buffer_dependencies(pod, made.way)).size == 0
    pause = Pfc(1e9, 0, 2 * WIRE, WIRE, 0)
    ran = run_slots(made, 800 * US, rule or pause, rng())
    assert (ran.received == 12 * WIRE).all(), "no cycle, no deadlock: all arrive"
    assert ran.held[-1].sum() == 0
    assert not ran.shut[-1].any()


@settings(max_examples=6, deadline=None)
@given(st.integers(0, 999))
def test_the_order_of_the_flows_changes_little(seed: int) -> None:
    """The same finite flows, listed the other way round: what is received in all is the same, and all are done."""
    made = random_traffic(seed, 30 * WIRE)
    turned = traffic(
        made.way[::-1], made.size, made.capacity, made.latency, PACKET, lane=made.lane[::-1]
    )  # fmt: skip
    for rule in (PFC, LinkCredits(8 * WIRE, 0)):
        one, other = run_slots(made, 400 * US, rule, rng()), run_slots(turned, 400 * US, rule, rng())
        assert one.received.tolist() == other.received[::-1].tolist()
        assert one.received.sum() == made.wire.sum()
        end = [float(each.time[np.flatnonzero(each.rate.sum(axis=1))[-1]]) for each in (one, other)]
        assert end[0] == pytest.approx(end[1], rel=0.25)


@pytest.mark.parametrize("speed", [1, 2, 3])
def test_lanes_of_a_link_take_turns_however_slow_it_is(speed: int) -> None:
    """A link of half or a third of the fastest one's rate is free only every second or third slot."""
    made = traffic(
        [[0, 2], [1, 2]], ENDLESS, [RATE, RATE, RATE / speed], [1e-6] * 3, PACKET, lane=[0, 1]
    )  # fmt: skip
    ran = run_slots(made, 400 * US, PFC, rng())
    assert ran.received[0] == pytest.approx(ran.received[1], abs=2 * WIRE)
    assert ran.received.sum() == pytest.approx(RATE / speed * (400 - 2) * US, abs=4 * WIRE)


def test_a_link_whose_packets_take_a_slot_and_a_quarter_loses_nothing_to_rounding() -> None:
    made = traffic([[0, 2], [1, 2]], ENDLESS, [RATE, RATE, RATE / 1.25], [1e-6] * 3, PACKET)
    ran = run_slots(made, 1e-3, PFC, rng())
    assert ran.received.sum() / 1e-3 == pytest.approx(RATE / 1.25, rel=0.01)


def test_a_packet_alone_takes_its_latencies_and_its_time_on_each_cable() -> None:
    made = traffic([[0, 1, 2]], WIRE, [RATE] * 3, [1e-6, 2e-6, 0.5e-6], PACKET)
    ran = run_slots(made, 20 * US, PFC, rng(), every=1)
    slot = WIRE / RATE
    came = float(ran.time[np.argmax(ran.rate[:, 0] > 0)])
    assert came == pytest.approx(3.5e-6 + 3 * slot, abs=2.5 * slot)


def test_credits_limit_a_long_cable_to_buffer_over_round_trip() -> None:
    made = traffic([[0, 1]], ENDLESS, [RATE] * 2, [10e-6, 1e-6], PACKET)
    slot = WIRE / RATE
    for buffer in (10, 40, 200):
        ran = run_slots(made, 2e-3, LinkCredits(buffer * WIRE, 0), rng())
        trip = 20e-6 + slot
        assert ran.received.sum() / 2e-3 == pytest.approx(min(RATE, buffer * WIRE / trip), rel=0.06)


def test_a_gate_without_credits_is_shown_as_shut() -> None:
    made = incast(3, ENDLESS, LINK, PACKET)
    ran = run_slots(made, 300 * US, LinkCredits(10 * WIRE, 0), rng(), every=1)
    np.testing.assert_allclose(ran.shut[:, :3].mean(axis=0), ran.stopped[:3] / (300 * US), atol=0.02)
    assert (ran.shut[:, :3].mean(axis=0) > 0.5).all()
    assert not ran.shut[:, 3].any()
    assert ran.frames.sum() == 0


def test_the_dynamic_threshold_falls_as_the_switch_fills() -> None:
    """Four equal queues of q pause at q = (buffer - 4 q) / 2: at a sixth of it; what is on the cable comes on top."""
    rule = Pfc(buffer=1.2e6, alpha=0.5, xoff=0, hysteresis=2 * WIRE, response=0)
    ran = run_slots(incast(4, ENDLESS, LINK, PACKET), 1e-3, rule, rng())
    assert ran.most[:4].min() > 200e3 - WIRE
    assert ran.most[:4].max() < 200e3 + RATE * 2 * US + 3 * WIRE


def test_news_take_the_cable_both_ways() -> None:
    """A gate is shut a latency after it is wanted shut, and open a latency after it is wanted open."""
    slots = Slots(incast(2, ENDLESS, LINK, PACKET), PFC, rng())
    lag = round(US / slots.slot)
    wanted, shut = [], []
    for _ in range(600):
        slots.advance()
        waits = slots.waits()
        wanted.append(bool(waits.asked[0]))
        shut.append(bool(waits.shut[0]))
    assert sum(wanted) > 100
    assert shut[lag:] == wanted[:-lag]


def test_a_flow_starts_when_it_should_and_stops_when_it_is_done() -> None:
    made = traffic([[0, 2], [1, 2]], [10 * WIRE, 20 * WIRE], [RATE] * 3, [1e-6] * 3, PACKET, start=[0, 50e-6])
    ran = run_slots(made, 100 * US, None, rng(), every=4)
    assert ran.received.tolist() == [10 * WIRE, 20 * WIRE]
    assert ran.rate[ran.time < 50e-6][:, 1].sum() == 0
    assert (ran.sent == ran.received).all()


def test_pause_frames_are_counted_once_for_each_pause() -> None:
    ran = run_slots(incast(3, ENDLESS, LINK, PACKET), 500 * US, PFC, rng(), every=1)
    for gate in range(3):
        begins = (np.diff(ran.shut[:, gate].astype(int)) == 1).sum()
        assert abs(begins - ran.frames[gate]) <= 1
    assert ran.frames[3] == 0
    assert ran.most.tolist() == ran.held.max(axis=0).tolist()


@pytest.mark.parametrize("gap", [0.0, 20e3, 60e3])
def test_a_queue_falls_by_the_hysteresis_before_its_link_goes_on(gap: float) -> None:
    rule = Pfc(1e9, 0, 200e3, gap, 0)
    ran = run_slots(incast(2, ENDLESS, LINK, PACKET), 1e-3, rule, rng(), every=1)
    lowest = ran.held[ran.time > 0.3e-3, 0].min()
    assert 200e3 - gap - 3 * 2 * US * RATE <= lowest <= 200e3 - gap
    none = run_slots(incast(2, ENDLESS, LINK, PACKET), 1e-3, Pfc(1e9, 0, 200e3, 0, 0), rng())
    assert ran.frames[0] <= none.frames[0]


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 9999))
def test_whoever_waits_depends(seed: int) -> None:
    """In a run over any ways, cycles or none, what waits for what is one of the dependencies that were drawn before."""
    fabric = torus([3, 3], LINK)
    ways = walks(fabric, 12, 3, rng(seed))
    whose = over_any(fabric, ways)
    known = buffer_dependencies(fabric, ways)
    arrows = set(zip(known.before.tolist(), known.after.tolist(), strict=True))
    slots = Slots(whose, Pfc(1e9, 0, 4 * WIRE, WIRE, 0), rng())
    for step in range(150):
        slots.advance()
        if step % 10 == 0:
            waits = slots.waits()
            assert set(zip(waits.came.tolist(), waits.leaves.tolist(), strict=True)) <= arrows


def over_any(fabric, ways: np.ndarray) -> Traffic:
    return over(fabric, ways, ENDLESS, PACKET)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda made: run_slots(made, 0, PFC, rng()), "until = 0"),
        (lambda made: run_slots(made, 1e-4, PFC, rng(), lane=[0, 1]), "lane = '[0, 1]'"),
        (lambda made: run_slots(made, 1e-4, PFC, rng(), lane=16), "lane = '16'"),
        (lambda made: run_slots(made, 1e-4, LinkCredits(100.0, 0), rng()), "lets nothing pass"),
        (lambda made: run_slots(made, 1e-4, "pfc", rng()), "rule = 'pfc'"),
        (lambda made: run_slots("made", 1e-4, PFC, rng()), "is not a Traffic"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call(incast(2, ENDLESS, Link(1e-6, RATE), PACKET))
    assert says in str(error.value)
