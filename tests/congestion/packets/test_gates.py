"""PFC and link credits: nothing is lost, and a link runs as fast as its headroom or its credits allow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.packets.engine import Engine, Switches, run
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.scenarios import one_flow, victim
from netlib.congestion.packets.traffic import incast, traffic
from netlib.links import Link
from tests.congestion.packets.steady import LINK, PACKET, RATE, US, Steady


def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@given(
    senders=st.integers(2, 9), xoff=st.integers(5, 60), gap=st.integers(1, 5), response=st.sampled_from([0.0, 1e-6]),
    latency=st.sampled_from([0.5e-6, 2e-6, 3.3e-6]), dt=st.sampled_from([0.1e-6, 0.25e-6]),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_headroom_of_a_round_trip_is_enough_and_links_stay_busy(
    senders: int, xoff: int, gap: int, response: float, latency: float, dt: float
) -> None:
    made = incast(senders, 200e3, Link(latency, RATE), PACKET)
    rule = Pfc(np.inf, 0, xoff * 1000, min(gap, xoff) * 1000, response)
    done = run(made, Steady(made), 10e-3, rng(), Switches(pfc=rule), dt=dt)
    most = done.counters["ingress_peak"][:senders].max()
    flying = RATE * (2 * latency + response + 3 * dt) + 2 * 1000  # what is on the cable, and the packet being sent
    assert most - rule.xoff <= flying + 1e-6
    assert not np.isnan(done.finish).any(), "nothing is stuck"
    held = senders * 200e3 > 2 * most * senders
    if held:
        assert (done.counters["tx_prio_pause"][:senders] > 0).any()
    assert done.counters["tx_prio_pause"][senders] == 0, "a host does not pause"
    assert done.finish.max() >= senders * 200e3 / RATE


def test_a_paused_flow_is_silent_for_as_long_as_it_is_counted() -> None:
    made = incast(2, 400e3, LINK, PACKET)
    engine = Engine(made, Steady(made), Switches(pfc=Pfc(np.inf, 0, 20e3, 5e3, 0)), rng(), 0.25e-6)
    assert engine.pauses is not None
    silent = np.zeros(2)
    for _ in range(300):
        shut, before = engine.pauses.paused[:2].copy(), engine.nics.sent.copy()
        engine.advance()
        assert (engine.nics.sent[shut] == before[shut]).all()
        silent += engine.pauses.paused[:2]
    np.testing.assert_allclose(engine.pauses.time[:2], silent * 0.25e-6)
    assert silent.min() > 20


@pytest.mark.parametrize("response", [0.0, 1.5e-6])
def test_a_pause_takes_the_cable_and_the_response_to_act(response: float) -> None:
    made = incast(2, 400e3, LINK, PACKET)
    engine = Engine(made, Steady(made), Switches(pfc=Pfc(np.inf, 0, 20e3, 5e3, response)), rng(), 0.25e-6)
    assert engine.pauses is not None
    asked = silent = 0
    while not silent:
        before = engine.nics.sent[0]
        engine.advance()
        asked = asked or (engine.step if engine.pauses.frames[0] else 0)
        silent = engine.step if engine.nics.sent[0] == before else 0
    assert silent - asked == round((2e-6 + response) / 0.25e-6), "the step in which the NIC sends nothing"


def test_the_dynamic_threshold_falls_as_the_switch_fills() -> None:
    rule = Pfc(buffer=1e6, alpha=0.5, xoff=0, hysteresis=0, response=0)
    assert rule.threshold(np.array([0, 5e5, 1e6, 2e6])).tolist() == [5e5, 2.5e5, 0, 0]
    made = incast(4, 4e6, LINK, PACKET)
    done = run(made, Steady(made), 10e-3, rng(), Switches(pfc=rule))
    # four equal queues of q pause when q = (1 MB - 4 q) / 2: q = 1 MB / 6, and what is on the cable comes on top
    most = done.counters["ingress_peak"][:4]
    assert most.min() > 1e6 / 6
    assert most.max() < 1e6 / 6 + RATE * (4e-6 + 3 * 0.25e-6) + 2000


@pytest.mark.parametrize("hops", [2, 4])
@pytest.mark.parametrize("packets", [10, 40, 200])
def test_credits_give_buffer_over_round_trip_and_never_more_than_the_buffer(hops: int, packets: int) -> None:
    made = one_flow(1e9, Link(1e-6, 50e9), PACKET, hops)
    dt = 0.02e-6
    buffer = packets * 1000.0
    engine = Engine(made, Steady(made), Switches(credits=LinkCredits(buffer, 0.5e-6)), rng(), dt)
    for _ in range(3000):
        engine.advance()
        assert (engine.queues.came - engine.queues.left <= buffer + 1e-6).all()
    early = engine.acked[0]
    for _ in range(6000):
        engine.advance()
    trip = 2.5e-6 + 1000 / 50e9  # there, a packet's time, and back after the response
    rate = (engine.acked[0] - early) / (6000 * dt)
    assert rate == pytest.approx(min(50e9, buffer / trip), rel=0.02)


def test_credits_hold_back_an_incast_without_loss() -> None:
    made = incast(6, 300e3, LINK, PACKET)
    done = run(made, Steady(made), 10e-3, rng(), Switches(credits=LinkCredits(60e3, 0)))
    assert done.peak[0] <= 6 * 60e3
    assert done.finish.max() == pytest.approx(6 * 300e3 / RATE + made.base_rtt()[0], rel=0.02)
    free = run(made, Steady(made), 10e-3, rng())
    assert free.peak[0] > 20 * 60e3


@pytest.mark.parametrize("by", ["pfc", "credits"])
def test_a_victim_at_the_sender_loses_as_much_as_its_peer(by: str) -> None:
    made = victim(4, 1e9, Link(1e-6, 50e9), PACKET)
    how = {"pfc": Switches(pfc=Pfc(np.inf, 0, 600e3, 4e3, 0)), "credits": Switches(credits=LinkCredits(200e3, 0))}[by]
    done = run(made, Steady(made), 900 * US, rng(), how, dt=0.2 * US)
    share = done.rate[len(done.rate) // 2 :].mean(axis=0) / 50e9
    assert share[4] == pytest.approx(share[0], rel=0.05), "the NIC serves both in turn"
    assert share[:4].sum() == pytest.approx(1, rel=0.01)
    assert share[4] == pytest.approx(0.25, rel=0.1)  # the fluid limit
    free = run(made, Steady(made), 900 * US, rng(), dt=0.2 * US).rate
    assert free[len(free) // 2 :].mean(axis=0)[4] / 50e9 == pytest.approx(0.5, rel=0.01)


def test_a_victim_behind_the_same_cable_gets_a_place_in_the_queue() -> None:
    made = victim(4, 1e9, Link(1e-6, 50e9), PACKET, "switch")
    done = run(made, Steady(made), 400 * US, rng(), Switches(pfc=Pfc(np.inf, 0, 100e3, 4e3, 0)), dt=0.2 * US)
    share = done.rate[len(done.rate) // 2 :].mean(axis=0) / 50e9
    assert share.tolist() == pytest.approx([0.2] * 5, rel=0.03)


def test_pauses_and_credits_stop_one_lane_and_not_the_other() -> None:
    ways = [[0, 4], [1, 4], [2, 4], [3, 4], [0, 5]]  # four to one, and a flow from the first sender to elsewhere
    for how in (Switches(pfc=Pfc(np.inf, 0, 100e3, 4e3, 0)), Switches(credits=LinkCredits(60e3, 0))):
        for own, least, most in ((1, 0.7, 0.8), (0, 0.2, 0.3)):
            made = traffic(ways, 1e9, [RATE] * 6, [1e-6] * 6, PACKET, lane=[0, 0, 0, 0, own])
            done = run(made, Steady(made), 600 * US, rng(), how)
            got = done.rate[len(done.rate) // 2 :].mean(axis=0)[4] / RATE
            assert least < got < most, "in a lane of its own it gets what its peer leaves, else as little as its peer"
