"""DCQCN after a cut: the closed form, and the state machine walked event by event."""

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.congestion import forgetting_time, marked_rate, preset, recovered_share, recovery_time, walk_recovery
from netlib.units import gbps

PAPER = preset("dcqcn", "paper")
NS3 = preset("dcqcn", "ns3-datacenter")


def test_five_halvings_by_three_timers() -> None:
    """Half of the rate lost, F = 5: 98.4 % are back after 0.275, 4.5 and 7.5 ms with T = 55, 900 and 1,500 us."""
    for timer, took in ((55e-6, 0.275e-3), (900e-6, 4.5e-3), (1500e-6, 7.5e-3)):
        control = replace(PAPER, increase_timer=timer)
        assert recovery_time(control) == pytest.approx(took)
        assert recovery_time(control, 0.98) == pytest.approx(took)
    assert float(recovered_share(5)) == pytest.approx(0.984375)


def test_g_does_not_move_the_recovery() -> None:
    """The weight of alpha decides how deep the next cut is, not how fast this one heals."""
    assert recovery_time(replace(PAPER, g=1 / 16)) == recovery_time(PAPER)


@pytest.mark.parametrize("timer", [55e-6, 300e-6, 900e-6])
@pytest.mark.parametrize("share", [0.6, 0.75, 0.9, 0.98])
def test_the_walk_arrives_when_the_formula_says(timer: float, share: float) -> None:
    control = replace(PAPER, increase_timer=timer, byte_counter=inf)
    walk = walk_recovery(control, gbps(40), gbps(20), gbps(40), 6 * timer)
    first = walk.time[np.argmax(walk.current >= share * gbps(40))]
    assert first == pytest.approx(recovery_time(control, share))
    assert walk.current[:5] / gbps(40) == pytest.approx(recovered_share(np.arange(1, 6)))
    assert walk.stage[:5].tolist() == ["fast"] * 5


def test_the_byte_counter_matters_where_it_is_small() -> None:
    """10 MB take 2 ms at 40 Gb/s, 36 timers; Intel's 150,000 bytes take 30 us, less than one."""
    assert PAPER.byte_counter / gbps(40) == pytest.approx(2e-3)
    assert int(PAPER.byte_counter / gbps(40) / PAPER.increase_timer) == 36
    small = replace(PAPER, byte_counter=150e3)
    both, timer = (walk_recovery(each, gbps(40), gbps(20), gbps(40), 275e-6) for each in (small, PAPER))
    assert timer.time.size == 5
    assert both.time.size >= 10
    assert (both.current[:5] >= timer.current - 1e-3).all()
    assert both.time[4] < timer.time[4] / 1.5


def test_marks_for_each_cnp_tell_the_gap() -> None:
    """21,278,189,006 marks and 1,052,612,505 CNPs: 13 Gb/s a flow with a gap of 50 us, 166 with one of 4."""
    found = marked_rate(21278189006, 1052612505, [50e-6, 4e-6]) * 8 / 1e9
    assert found.tolist() == pytest.approx([13.2, 165.6], abs=0.1)
    # a flow at that rate sends just as many packets in a gap as were marked for each CNP
    assert float(marked_rate(20, 1, 50e-6)) * 50e-6 / 4096 == pytest.approx(20)


def test_both_clocks_keep_their_own_time() -> None:
    """At a steady 1e9 bytes/s, 100 kB take 100 us and the timer 55: the events interleave."""
    control = replace(PAPER, byte_counter=1e5)
    walk = walk_recovery(control, 1e9, 1e9, 1e9, 225e-6)
    assert walk.time * 1e6 == pytest.approx([55, 100, 110, 165, 200, 220])


def test_stages_follow_the_machine() -> None:
    """Paper: five fast, then additive, hyper once both counters are past F. Vendor, F = 1: fast, additive, hyper."""
    start = (gbps(100), gbps(10), gbps(20))
    slow = walk_recovery(replace(PAPER, byte_counter=inf), *start, 20 * PAPER.increase_timer)
    assert slow.stage.tolist() == ["fast"] * 5 + ["additive"] * 15
    assert np.diff(slow.target)[5:] == pytest.approx(PAPER.additive)
    quick = walk_recovery(
        replace(PAPER, byte_counter=50e3, hyper=5 * PAPER.additive), *start, 20 * PAPER.increase_timer
    )
    assert "hyper" in quick.stage
    assert quick.stage.tolist() == sorted(quick.stage.tolist(), key=["fast", "additive", "hyper"].index)
    vendor = walk_recovery(NS3, *start, 5 * NS3.increase_timer)
    assert vendor.stage.tolist() == ["fast", "additive", "hyper", "hyper", "hyper"]
    assert np.diff(vendor.target) == pytest.approx([NS3.additive, NS3.hyper, NS3.hyper, NS3.hyper])


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.floats(1e4, 1e8), st.integers(1, 8))
def test_a_walk_stays_between_the_cut_and_the_line(low: float, high: float, counter: float, stages: int) -> None:
    control = replace(PAPER, byte_counter=counter, fast_recovery=stages)
    line = gbps(100)
    current, target = sorted((low * line, high * line))
    walk = walk_recovery(control, line, current, target, 2e-3)
    assert (np.diff(walk.time) >= -1e-12).all()
    assert (np.diff(walk.current, prepend=current) >= -1e-3).all()
    assert (walk.current <= walk.target + 1e-3).all()
    assert (walk.target <= line).all()
    # events: each clock at its own pace, the timer exactly
    assert walk.time.size >= 36
    none = walk_recovery(control, line, current, target, 0)
    assert none.time.size == 0


def test_alpha_is_forgotten_by_its_own_clock() -> None:
    """Half in 9.74 ms by the paper, in 142 us by ConnectX: factor 69."""
    half = [float(forgetting_time(preset("dcqcn", each), 0.5)) for each in ("paper", "connectx-timer")]
    assert half[0] / half[1] == pytest.approx(69, abs=0.5)
    steps = half[0] / PAPER.alpha_timer
    assert (1 - PAPER.g) ** steps == pytest.approx(0.5)
    assert forgetting_time(replace(PAPER, g=1.0), [1.0, 0.5]).tolist() == [0, PAPER.alpha_timer]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: recovery_time(PAPER, 0.99), "share = 0.99 takes 6 halvings, more than the 5"),
        (lambda: recovery_time(PAPER, 1.0), "share = 1 is reached only in the limit"),
        (lambda: recovered_share(1, 2.0), "alpha = 2 is a share"),
        (lambda: forgetting_time(PAPER, 2.0), "share = 2 is a share"),
        (lambda: walk_recovery(PAPER, 1e9, 2e9, 1e9, 1), "current = 2e\\+09 is beyond line"),
        (lambda: walk_recovery(PAPER, 1e9, 1e9, 2e9, 1), "target = 2e\\+09 is beyond line"),
        (lambda: walk_recovery(PAPER, 1e9, 1e9, 1e9, 1e9), "are more than 1e6 increases"),
    ],
)
def test_what_makes_no_sense(call, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        call()


def test_a_small_cut_is_back_at_once() -> None:
    assert recovery_time(PAPER, 0.9, alpha=0.1) == 0
    assert recovery_time(PAPER, 0.95, alpha=0.2) == pytest.approx(PAPER.increase_timer)
