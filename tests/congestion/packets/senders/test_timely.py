"""TIMELY as published, its patch, and as ns-3 runs it: each update by hand; what an incast does to the published law.

By hand: a line of 1,000 (MB/s), delta = 1, round trips in us; base round trip 6 us.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netlib.congestion.experiments import experiment
from netlib.congestion.packets.engine import Engine, Switches
from netlib.congestion.packets.senders.timely import TimelySender
from netlib.congestion.packets.traffic import Packet, incast
from netlib.congestion.parameters import Timely
from netlib.congestion.presets import preset
from netlib.links import Link
from tests.congestion.packets.senders.spoken import Said, incasts, mean_of

ONE = incast(1, 1e8, Link(1e-6, 1e9), Packet(1000, 1000))
PAPER = Timely(
    False, alpha=0.875, beta=0.8, delta=1e6, t_low=50e-6, t_high=500e-6, min_rtt=20e-6, segment=16e3, hai=5, hyper=5
)
PATCHED = replace(PAPER, patched=True, beta=0.008, hai=float("inf"))
ROUNDS = replace(PAPER, segment=float("inf"), hyper=2.0)


def told(sender: TimelySender, at: float, rtt: float, acked: float = 16e3) -> float:
    """Rate in MB/s after `acked` bytes come back at `at` us with a round trip of `rtt` us."""
    sender.react(at * 1e-6, Said(ONE).says(acked, delay=(rtt - 6) * 1e-6))
    return float(sender.rate[0] / 1e6)


def test_published_law_update_by_update() -> None:
    """Mittal et al. 2015, algorithm 1: d = d / 8 + 7/8 (rtt - last), gradient = d / 20 us."""
    sender = TimelySender(ONE, PAPER)
    assert told(sender, 0, 60) == 1000  # the first round trip has none before it
    assert told(sender, 20, 70) == pytest.approx(1000 * (1 - 0.8 * 0.4375))  # 7/8 of 10 us, over 20
    assert sender.gradient[0] == pytest.approx(0.4375)
    assert told(sender, 40, 70) == pytest.approx(650 * (1 - 0.8 * 0.0546875))  # an eighth of it is left
    # falling: 0.0068 - 0.4375 < 0, one delta each; after five in a row five deltas each
    rate = told(sender, 60, 60)
    assert rate == pytest.approx(621.5625 + 1)
    assert [told(sender, 60 + 20 * k, 60) - rate for k in range(1, 7)] == pytest.approx([1, 2, 3, 4, 9, 14])
    # rising once: a cut, and the count begins anew
    rate += 14
    gradient = sender.gradient[0] / 8 + 0.875 * 2 / 20
    assert told(sender, 200, 62) == pytest.approx(rate * (1 - 0.8 * gradient))
    assert told(sender, 220, 52) == pytest.approx(rate * (1 - 0.8 * gradient) + 1)


def test_below_t_low_and_above_t_high_the_gradient_is_not_asked() -> None:
    sender = TimelySender(ONE, PAPER)
    told(sender, 0, 20)
    sender.rate[:] = 500e6
    assert told(sender, 20, 49) == pytest.approx(501)  # rises by 29 us, and below 50 us
    assert [told(sender, 20 + 20 * k, 40) for k in range(1, 8)] == pytest.approx([501 + k for k in range(1, 8)])
    assert told(sender, 200, 2000) == pytest.approx(508 * (1 - 0.8 * (1 - 500 / 2000)))
    assert told(sender, 220, 1000) == pytest.approx(203.2 * (1 - 0.8 * 0.5))  # falls, and is above 500 us


def test_a_round_trip_that_stays_is_no_reason_to_slow_down() -> None:
    """ "Falling or equal": the gradient 0 is an increase, which is why the published law has no rest."""
    sender = TimelySender(ONE, PAPER)
    told(sender, 0, 60)
    sender.rate[:] = 500e6
    assert told(sender, 20, 60) == pytest.approx(501)


def test_an_update_waits_for_a_segment_and_for_the_least_round_trip() -> None:
    sender = TimelySender(ONE, PAPER)
    told(sender, 0, 60)
    assert told(sender, 19, 70) == 1000  # a segment, 19 us after the last update
    assert told(sender, 20, 70, acked=1) == pytest.approx(650)
    assert told(sender, 40, 80, acked=15_998) == pytest.approx(650)  # one byte short of a segment
    assert told(sender, 41, 70, acked=1) == pytest.approx(650 * (1 - 0.8 * 0.4375 / 8))


def test_a_growing_gradient_takes_all_but_the_floor() -> None:
    """As printed 1 - 0.8 x 1.75 is below nothing; no floor is printed, so a step is one, unless another is given."""
    for given, floor in ((0.0, 1.0), (10e6, 10.0), (1e12, 1000.0)):
        sender = TimelySender(ONE, replace(PAPER, min_rate=given))
        told(sender, 0, 60)
        assert told(sender, 20, 100) == pytest.approx(floor)


def test_rates_stop_at_the_line() -> None:
    sender = TimelySender(ONE, PAPER)
    assert [told(sender, 20 * k, 30) for k in range(4)] == [1000] * 4


def test_patched_law_update_by_update() -> None:
    """Zhu et al. 2016: weight w = 2 gradient + 1/2 within 0 .. 1, error = (rtt - t_low) / t_low."""
    sender = TimelySender(ONE, PATCHED)
    told(sender, 0, 60)
    # gradient 0: w = 1/2, error 0.2: + 1/2 - 1/2 x 0.008 x 1000 x 0.2
    assert told(sender, 20, 60) == pytest.approx(1000 + 0.5 - 0.8)
    # + 10 us: gradient 0.4375, w = 1, error 0.4
    assert told(sender, 40, 70) == pytest.approx(999.7 * (1 - 0.008 * 0.4))
    # - 20 us: gradient 0.0547 - 0.875, w = 0: one delta
    assert told(sender, 60, 50) == pytest.approx(996.50096 + 1)
    # + 15 us: gradient -0.1025 + 0.65625 = 0.5537, w = 1
    assert told(sender, 80, 65) == pytest.approx(997.50096 * (1 - 0.008 * 0.3))
    # - 14 us: gradient 0.0692 - 0.6125 = -0.5433, w = 0; then - 0.5: -0.0898, w = 0.3204
    rate = told(sender, 100, 51)
    gradient = sender.gradient[0] / 8 - 0.875 * 0.5 / 20
    weight = 2 * gradient + 0.5
    assert weight == pytest.approx(0.3204, abs=1e-4)
    assert told(sender, 120, 50.5) == pytest.approx(rate + (1 - weight) - weight * 0.008 * rate * 0.01)
    assert told(sender, 140, 40) == pytest.approx(min(sender.rate[0] / 1e6, 1000))
    # outside it is as published
    sender.rate[:] = 500e6
    assert told(sender, 160, 45) == pytest.approx(501)
    assert told(sender, 180, 1000) == pytest.approx(501 * (1 - 0.008 * 0.5))


def test_ns3_updates_once_per_round_trip_and_its_steps_grow_below_t_low_too() -> None:
    sender = TimelySender(ONE, ROUNDS)
    told(sender, 0, 26, acked=1000)
    sender.rate[:] = 500e6
    assert told(sender, 25, 26, acked=1000) == 500  # was sent at -1 us, before the first update
    assert told(sender, 26, 26, acked=1000) == pytest.approx(501)
    assert [told(sender, 26 * k, 26, acked=1000) for k in range(2, 8)] == pytest.approx([502, 503, 504, 505, 507, 509])
    assert told(sender, 26 * 8, 76, acked=1000) == 509  # was sent before the last update
    assert told(sender, 300, 76, acked=1000) < 10  # rises by 50 us: 1 - 0.8 x 2.1875
    assert told(sender, 400, 30, acked=1000) == pytest.approx(sender.floor[0] / 1e6 + 1)  # and counts anew


def test_an_incast_stops_the_published_law() -> None:
    """What was sent at line rate comes back with rising delays, and each update in that time cuts again.

    8:1, updates each 20 us: round trips grow by 7/8 of that, so the gradient nears 7/8 and a cut leaves 1 - 0.8 x 7/8 =
    3/10. The queue takes 25 updates to pass, and 7 of them leave less than a thousandth. Nothing is wrong with that: it
    is what is printed. From the floor a rate rises by one delta with each segment that it sends.
    """
    traffic = incast(8, 1.1e6, Link(3.5e-6, 12.5e9), Packet(1000, 1038))
    law = preset("timely", "paper", fill={"delta": 12.5e6})  # ten times the published step, to see the end sooner
    sender = TimelySender(traffic, law)
    engine = Engine(traffic, sender, Switches(), np.random.default_rng(0), 1e-6)
    kept, rises = [], []
    while engine.open and engine.step < 5000:
        before = sender.rate[0]
        engine.advance()
        if sender.rate[0] < before:
            kept.append(sender.rate[0] / before)
        if sender.rate[0] > before:
            rises.append((engine.step, sender.rate[0] / 12.5e6))
        if engine.step == 250:
            assert engine.queues.length[0] > 3e6
            assert (sender.rate == 12.5e6).all()
    assert not engine.open
    assert kept[2:5] == pytest.approx([0.3] * 3, rel=0.02)
    step, deltas = np.array(rises[2:]).T
    assert np.diff(deltas) == pytest.approx(1)
    assert len(deltas) > 10
    assert np.diff(step) * 12.5 * deltas[:-1] == pytest.approx(16e3, abs=1100)  # bytes sent in between, to a packet


def test_beside_ns3() -> None:
    """ns-3.39 with steps and floor for its link: 2339/2376/2411 us, peak 11.3 MB; 32:1 peaks at 29.6 MB by pauses."""
    law = preset("timely", "ns3-datacenter")
    seen, _ = incasts(law, (3.5e-6, Packet(1000, 1038)), [8] * 3)
    assert mean_of(seen) == pytest.approx(2376, rel=0.04)
    assert mean_of(seen, "max") == pytest.approx(2411, rel=0.04)
    assert np.mean([each.peak for each in seen]) == pytest.approx(11.3e6, rel=0.03)
    many = experiment("incast", "timely", "ns3-datacenter", hosts=32, until=1e-3)
    assert many.run.peak.max() == pytest.approx(29.6e6, rel=0.02)
