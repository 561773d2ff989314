"""Pausing: the cycle of a paused link, pauses that climb, and who acts first; formulas against runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.lossless import (
    ENDLESS,
    Greedy,
    chain,
    fan_in_for_marks,
    first_to_act,
    pause_arrival,
    pause_cycle,
    run_slots,
    slow_receiver,
    step_of,
    storm,
)
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.engine import Engine, Switches, run
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.traffic import incast
from netlib.congestion.parameters import Marking
from tests.congestion.lossless.small import LINK, PACKET, PFC, RATE, US, rng

WIRE = PACKET.wire


@pytest.mark.parametrize("fan_in", [2, 4])
@pytest.mark.parametrize("gap", [20e3, 60e3])
def test_the_cycle_is_that_of_a_run_in_step(fan_in: int, gap: float) -> None:
    """The engine's equal links stay in step: levels within a packet, the period within a packet's rise and fall."""
    rule, made = Pfc(1e9, 0, xoff=200e3, hysteresis=gap, response=0), incast(fan_in, ENDLESS, LINK, PACKET)
    theory = pause_cycle(fan_in, RATE, 2e-6, 200e3, gap)
    engine = Engine(made, Greedy(made), Switches(pfc=rule), rng(), step_of(made))
    assert engine.pauses is not None
    held, shut = [], []
    while engine.step * engine.dt < 1.5e-3:
        engine.advance()
        held.append(engine.pauses.held[0])
        shut.append(engine.pauses.paused[0])
    late = np.array(held[len(held) // 4 :])
    assert late.max() == pytest.approx(float(theory.highest), abs=WIRE)
    assert late.min() == pytest.approx(float(theory.lowest), abs=WIRE)
    begins = np.flatnonzero(np.diff(np.array(shut).astype(int)) == 1)
    slack = WIRE / RATE * fan_in * fan_in / (fan_in - 1)
    assert np.diff(begins).mean() * engine.dt == pytest.approx(float(theory.period), abs=slack)
    assert np.mean(shut[len(shut) // 4 :]) == pytest.approx(float(theory.shut), abs=0.02)


@pytest.mark.parametrize("fan_in", [2, 4])
def test_out_of_step_a_link_needs_headroom_for_its_whole_rate(fan_in: int) -> None:
    """The slot model's links take turns; what comes in a loop, and two packets, is still enough."""
    rule = Pfc(1e9, 0, xoff=200e3, hysteresis=20e3, response=0)
    ran = run_slots(incast(fan_in, ENDLESS, LINK, PACKET), 1.5e-3, rule, rng())
    in_step = float(pause_cycle(fan_in, RATE, 2e-6, 200e3, 20e3).highest)
    assert in_step + WIRE < ran.most[:fan_in].max() <= 200e3 + RATE * 2e-6 + 2 * WIRE
    np.testing.assert_allclose(ran.stopped[:fan_in] / 1.5e-3, 1 - 1 / fan_in, atol=0.03)
    assert ran.received.sum() / 1.5e-3 / RATE == pytest.approx(1, abs=0.01)


@given(
    n=st.integers(2, 64), loop=st.floats(1e-7, 1e-4), xoff=st.floats(1e4, 1e7), part=st.floats(0, 1),
)  # fmt: skip
def test_headroom_is_what_comes_in_a_loop_and_hysteresis_costs_none(
    n: int, loop: float, xoff: float, part: float
) -> None:
    some, none = pause_cycle(n, 50e9, loop, xoff, part * xoff), pause_cycle(n, 50e9, loop, xoff, 0)
    assert float(some.highest) == float(none.highest)
    assert float(some.highest) - xoff == pytest.approx(50e9 * (1 - 1 / n) * loop, rel=1e-6)
    assert float(some.period) >= float(none.period) * (1 - 1e-12)
    assert 0 < float(some.shut) < 1
    dry = xoff - part * xoff < 50e9 * loop / n
    assert (float(some.speed) < 1) == dry or float(some.speed) == pytest.approx(1)
    if not dry:
        assert float(some.period) == pytest.approx(n**2 * (part * xoff + 50e9 * loop) / ((n - 1) * 50e9), rel=1e-9)
        assert float(some.shut) == pytest.approx(1 - 1 / n, rel=1e-9), "what a link may send is a share of the port"


def test_a_threshold_below_the_loop_lets_the_port_run_dry() -> None:
    """Two links in step: each queue is empty for a part of the cycle, and the port idles as theory says."""
    rule = Pfc(1e9, 0, xoff=2 * WIRE, hysteresis=2 * WIRE, response=8e-6)
    ran = run_slots(incast(2, ENDLESS, LINK, PACKET), 2e-3, rule, rng())
    loop = 2e-6 + 8e-6
    least = float(pause_cycle(2, RATE, loop, 2 * WIRE, 2 * WIRE).speed)
    speed = ran.received.sum() / 2e-3 / RATE
    assert least < 0.9
    assert speed == pytest.approx(least, abs=0.08)


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_pauses_climb_a_chain_as_fast_as_buffers_fill(share: float) -> None:
    made = storm(slow_receiver(chain(3, LINK, PACKET), 6, share), PFC, 80 * US / (1 - share), rng())
    theory = pause_arrival([1, 2, 3], PFC.xoff, 1e-6, RATE, share * RATE)
    start = 3 * (1e-6 + WIRE / RATE)  # the first bytes must come there
    np.testing.assert_allclose(made.first[[4, 2, 0]], theory + start, atol=4 * US / (1 - share))
    if share == 0.1:  # a faster receiver lets links go on between two pauses
        assert made.depth[[4, 2, 0]].tolist() == [1, 2, 3]


def test_deep_buffers_buy_time_and_nothing_else() -> None:
    first = [
        float(storm(slow_receiver(chain(2, LINK, PACKET), 4, 0.2), each, 200 * US, rng()).first[0])
        for each in (Pfc(1e9, 0, 50e3, 8e3, 0), PFC, Pfc(1e9, 0, 400e3, 8e3, 0))
    ]
    assert first == sorted(first)
    assert np.isfinite(first).all()


@settings(max_examples=10, deadline=None)
@given(st.sampled_from([2, 3, 4, 6]), st.integers(20, 60), st.integers(20, 90))
def test_who_acts_first_is_seen_in_a_run(n: int, xoff: int, k_min: int) -> None:
    """Within two packets' time of the formula; where the two are closer than that either may be first."""
    made = incast(n, ENDLESS, LINK, PACKET)
    how = Switches(
        pfc=Pfc(1e9, 0, xoff * 4096, 4096, 0), marking=Marking(k_min * 4096.0, k_min * 4096.0 + 1, 1.0, "arrival")
    )
    engine = Engine(made, Greedy(made), how, rng(), 0.25 * US)
    paused = marked = np.inf
    assert engine.pauses is not None
    theory = first_to_act(n, RATE, 4e-6, xoff * 4096.0, k_min * 4096.0)
    begin = 1e-6 + WIRE / RATE
    while engine.step * engine.dt < float(max(theory.pause, theory.mark)) + 20 * US:
        engine.advance()
        now = engine.step * engine.dt
        paused = min(paused, now if engine.pauses.wants.any() else np.inf)
        marked = min(marked, now if engine.queues.length[0] > k_min * 4096 else np.inf)
    slack = 3 * WIRE / RATE * n / (n - 1)
    if theory.pause < theory.mark:
        assert paused - begin == pytest.approx(float(theory.pause), abs=slack)
    else:
        assert marked - begin == pytest.approx(float(theory.mark), abs=slack)
    if abs(float(theory.pause - theory.mark)) > 2 * slack:
        assert (paused < marked) == bool(theory.pause < theory.mark)


@given(
    n=st.integers(2, 200), xoff=st.floats(1e4, 2e6), k_min=st.floats(0, 2e6), trip=st.floats(1e-6, 4e-5),
)  # fmt: skip
def test_the_fan_ins_are_those_where_the_cut_comes_first(n: int, xoff: float, k_min: float, trip: float) -> None:
    made = first_to_act(n, 50e9, trip, xoff, k_min)
    lowest, highest = fan_in_for_marks(50e9, trip, xoff, k_min)
    if abs(float(made.cut - made.pause)) > 1e-9 * float(made.pause):
        assert (float(lowest) <= n <= float(highest)) == bool(made.cut < made.pause)


def test_more_headroom_never_drops_more() -> None:
    """A switch with a little more room above XOFF each time, four to one; from a round trip's bytes on, nothing."""
    made = incast(4, 1e6, LINK, PACKET)
    again = Recovery("selective-repeat", timeout=1e-3)
    lost = []
    for spare in (0, 10e3, 20e3, 40e3, 80e3, 160e3):
        how = Switches(pfc=Pfc(1e9, 0, 50e3, 8e3, 0), buffers=Buffers(4 * 50e3 + spare))
        seen = run(made, Greedy(made), 1e-3, rng(), how, dt=0.5 * US, recovery=again)
        lost.append(float(seen.counters["dropped"].sum()))
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > 0
    assert lost[-1] == 0, "four links, and twice the cable for each: 4 x 25 kB and packets"


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: pause_cycle(1, RATE, 1e-6, 1e5, 0), "fan_in = 1"),
        (lambda: pause_cycle(2, RATE, 1e-6, 1e5, 2e5), "hysteresis = 200000 is above xoff"),
        (lambda: pause_cycle(2, RATE, 0, 1e5, 0), "pauses without end"),
        (lambda: pause_arrival(1, 1e5, 1e-6, RATE, RATE), "never fills"),
        (lambda: first_to_act(2, RATE, 1e-6, 1e5, 1e5, fan_out=2), "nothing queues"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert says in str(error.value)
