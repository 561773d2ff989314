"""The paper's figures, number by number, and the way from its loop to the exact one."""

from dataclasses import replace

import numpy as np
import pytest

from netlib.congestion.fluid import (
    corrected,
    critical_delay,
    critical_delays,
    cube_root_marks,
    dcqcn_convergence,
    dcqcn_loop,
    dcqcn_verdicts,
    growth,
    most_flows,
    phase_margin,
    published_loop,
    rest_point,
    stability_map,
)
from netlib.congestion.fluid.published import STEPS
from tests.congestion.fluid.paper import (
    CONVERGENCE,
    CONVERGENCE_FLOWS,
    CRITICAL,
    CUBE_ROOT,
    DCQCN_MARGINS,
    EXACT_MARGINS,
    EXACT_MARKS,
    GBPS,
    LONG_RED,
    PAPER,
    QUEUE_KB,
    RED,
)


@pytest.mark.parametrize(("file", "rate", "additive", "k_max", "delay", "margins"), DCQCN_MARGINS)
def test_published_margins(file, rate, additive, k_max, delay, margins):
    control, marking = replace(PAPER, additive=additive * GBPS / 1e3), replace(RED, k_max=k_max * 1e3)
    loop = published_loop(control, marking, rate * GBPS, list(margins))
    found = phase_margin(loop, delay * 1e-6, cut="delay")
    np.testing.assert_allclose(found, list(margins.values()), atol=0.05, err_msg=file)


@pytest.mark.parametrize(("control", "marking", "seconds"), CONVERGENCE)
def test_published_convergence(control, marking, seconds):
    found = dcqcn_convergence(replace(PAPER, **control), replace(RED, **marking), 40 * GBPS, CONVERGENCE_FLOWS)
    np.testing.assert_allclose(found.time, seconds, rtol=1e-3)
    np.testing.assert_allclose(
        found.timers * 55e-6 * np.log(0.1 / np.array(CONVERGENCE_FLOWS)), found.time * np.log1p(-found.alpha / 2)
    )


@pytest.mark.parametrize(("rate", "shares"), EXACT_MARKS)
def test_exact_share_of_marks(rate, shares):
    found = rest_point(PAPER, RED, rate * GBPS, list(shares))
    np.testing.assert_allclose(found.marks, list(shares.values()), atol=0.5001e-5)


def test_queue_at_rest_and_the_cube_root():
    found = rest_point(PAPER, RED, 40 * GBPS, list(QUEUE_KB))
    np.testing.assert_allclose(found.queue / 1e3, list(QUEUE_KB.values()), atol=0.05)
    rough = cube_root_marks(PAPER, 40 * GBPS, list(CUBE_ROOT))
    np.testing.assert_allclose(rough, list(CUBE_ROOT.values()), atol=0.5001e-5)
    over = rough / rest_point(PAPER, RED, 40 * GBPS, list(CUBE_ROOT)).marks - 1
    assert (np.diff(over) > 0).all(), "the more flows, the rougher"
    np.testing.assert_allclose(over[[0, -1]], [0.19, 0.577], atol=0.005)


def test_most_flows_agrees_with_counting():
    many = np.arange(1, 40)
    for rate in (10, 40, 100):
        inside = rest_point(PAPER, RED, rate * GBPS, many).inside
        assert most_flows(PAPER, RED, rate * GBPS) == inside.sum()
    assert most_flows(PAPER, RED, 40 * GBPS) == 14
    assert np.isnan(rest_point(PAPER, RED, 40 * GBPS, 15).queue)


def test_the_cube_root_is_the_limit_of_few_marks():
    """The two agree where the share of marks is small: a tenth of R_AI brings them a factor 10^(1/3) closer."""
    gaps = []
    for additive in (5e6, 5e3, 5.0):
        control = replace(PAPER, additive=additive)
        gaps.append(float(cube_root_marks(control, 5e9, 4) / rest_point(control, RED, 5e9, 4).marks - 1))
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 0.005


def test_exact_critical_delays():
    many = list(CRITICAL)
    published, exact = critical_delays(PAPER, RED, 40 * GBPS, many)
    np.testing.assert_allclose(published * 1e6, [pair[0] for pair in CRITICAL.values()], atol=0.06)
    np.testing.assert_allclose(exact * 1e6, [pair[1] for pair in CRITICAL.values()], atol=0.06)
    assert (exact > published).all(), "with these parameters the paper is always too careful"


def test_only_the_slope_counts_while_the_ramp_lasts():
    """The starred rows: a ramp ten times as long with the same slope changes no margin."""
    many = [2, 20, 64]
    long, short = (critical_delay(dcqcn_loop(PAPER, ramp, 5e9, many)) for ramp in (LONG_RED, RED))
    np.testing.assert_allclose(long, short, rtol=1e-9)
    assert rest_point(PAPER, LONG_RED, 5e9, 64).inside
    assert not rest_point(PAPER, RED, 5e9, 64).inside


def test_exact_margins():
    found = stability_map(PAPER, RED, 40 * GBPS, list(EXACT_MARGINS), [0, 50e-6, 85e-6, 100e-6])
    np.testing.assert_allclose(found.margin, list(EXACT_MARGINS.values()), atol=0.01)
    np.testing.assert_allclose(found.critical, critical_delay(dcqcn_loop(PAPER, RED, 40 * GBPS, list(EXACT_MARGINS))))
    assert found.inside.tolist() == [True, True, True, False]


def test_both_cuts_agree_on_the_sign():
    many, late = np.meshgrid([2, 6, 14, 40], np.linspace(1e-6, 300e-6, 40), indexing="ij")
    loop = dcqcn_loop(PAPER, RED, 5e9, many)
    at_marks, at_delay = (phase_margin(loop, late, cut=cut) for cut in ("marks", "delay"))
    assert ((at_marks > 0) == (at_delay > 0)).all()
    assert ((at_marks > 0) == (late < critical_delay(loop))).all()


def test_the_way_from_the_published_loop_to_the_exact_one():
    """Which approximation does what, 10 flows: the errors cancel, and the expansion is the largest of them."""
    found = corrected(PAPER, RED, 5e9, 10)
    delays = [float(critical_delay(loop)) * 1e6 for loop in found.values()]
    assert tuple(found) == STEPS
    np.testing.assert_allclose(delays, [20.8, 0, 0, 0, 4.8, 62.5], atol=0.06)
    np.testing.assert_array_equal(found[STEPS[-1]].now, dcqcn_loop(PAPER, RED, 5e9, 10).now)


def test_the_corrections_end_where_nothing_is_expanded():
    """With hardly any marks the last corrected loop is the exact one: what was left is the order of expansion."""
    control = replace(PAPER, additive=5e-2, byte_counter=1e12)
    found = corrected(control, RED, 5e9, 4)
    last, exact = found[STEPS[-2]], found[STEPS[-1]]
    for name in ("now", "late", "marks"):
        a, b = getattr(last, name), getattr(exact, name)
        np.testing.assert_allclose(a, b, rtol=2e-2, atol=1e-3 * np.abs(b).max(), err_msg=name)


def test_verdicts_of_thirty_cases():
    """The exact sign is the run's in all, the published one in twenty; every wrong one says unstable of what is not."""
    found = dcqcn_verdicts(PAPER, RED, 40 * GBPS, seconds=0.2, step=2e-6)
    assert found.flows.size == 30
    assert found.exact_wrong.sum() == 0
    assert found.published_wrong.sum() == 10
    assert (found.published[found.published_wrong] < 0).all()
    assert ((found.growth < 0) == (found.delays < [CRITICAL[int(n)][1] * 1e-6 for n in found.flows])).all()


def test_the_published_loop_is_not_always_too_careful():
    """With K_max = 1000 KB it calls two flows at 145 us stable, which the run is not: the paper errs on both sides."""
    wide = replace(RED, k_max=1000e3)
    late = [110e-6, 145e-6]
    assert (phase_margin(published_loop(PAPER, wide, 5e9, 2), late, cut="delay") > 4).all()
    exact = phase_margin(dcqcn_loop(PAPER, wide, 5e9, 2), late)
    run = growth(PAPER, wide, 5e9, 2, late, seconds=0.2, step=2.5e-6)
    assert (exact > 0).tolist() == (run < 0).tolist() == [True, False]
