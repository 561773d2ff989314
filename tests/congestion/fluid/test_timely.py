"""TIMELY: the published margins, no rest without the patch, one with it, and what the runs say of both."""

from dataclasses import replace

import numpy as np
import pytest

from netlib.congestion.fluid import (
    PiMarking,
    dcqcn_run,
    rest_point,
    timely_convergence,
    timely_margin,
    timely_most_flows,
    timely_rest,
    timely_run,
)
from tests.congestion.fluid.paper import GBPS, ORIGINAL, PAPER, PATCHED, RED, TIMELY_MARGINS


@pytest.mark.parametrize(("propagation", "margins"), TIMELY_MARGINS)
def test_published_margins(propagation, margins):
    """To 0.05 degrees: their program interpolates the frequency of gain one, which moves it by 0.3 %."""
    found = timely_margin(PATCHED, 10 * GBPS, list(margins), propagation * 1e-6, form="published")
    np.testing.assert_allclose(found, list(margins.values()), atol=0.05)


def test_published_limits():
    """3 to 39 flows at no propagation, 5 to 35 at 100 us, by the paper's form."""
    many = np.arange(2, 60)
    for propagation, first, last in ((0, 3, 39), (100e-6, 5, 35)):
        stable = many[timely_margin(PATCHED, 10 * GBPS, many, propagation, form="published") > 0]
        assert (stable[0], stable[-1], stable.size) == (first, last, last - first + 1)


def test_rest_and_convergence():
    np.testing.assert_allclose(timely_rest(PATCHED, 1.25e9, [2, 10, 20, 40]), [78125, 140625, 218750, 375000])
    assert timely_convergence(PATCHED, 2) == pytest.approx(76.69e-3, rel=1e-3)


def test_runs_side_with_the_exact_margin():
    """Two flows rest, which the published form denies; 24 and 38 do not, which it promises up to 39."""
    many, late = np.array([2, 4, 10, 16, 24, 38]), 0.0
    exact = timely_margin(PATCHED, 1.25e9, many, late)
    published = timely_margin(PATCHED, 1.25e9, many, late, form="published")
    run = timely_run(PATCHED, 1.25e9, many, late, 0.3, queue=70e3, step=4e-6, every=10).settled(0.25)
    still = (run.most - run.least) < 0.01 * run.mean
    assert still.tolist() == (exact > 0).tolist() == [True, True, True, True, False, False]
    assert (published > 0).tolist() == [False, True, True, True, True, True]
    np.testing.assert_allclose(run.mean[still], timely_rest(PATCHED, 1.25e9, many)[still], rtol=1e-3)


def test_a_margin_does_not_begin_again_after_a_whole_turn():
    """With 300 flows the signal is more than half a turn late: less than no margin, and not plenty. Runs agree."""
    many = np.array([19, 20, 100, 300])
    for form in ("exact", "published"):
        assert (np.diff(timely_margin(PATCHED, 1.25e9, many, 0.0, form=form)) < 0).all()
    run = timely_run(PATCHED, 1.25e9, many[:3], 0.0, 0.2, queue=70e3, step=4e-6, every=10).settled(0.15)
    swing = (run.most - run.least) / run.mean
    assert swing[0] < 1e-3 < 0.1 < swing[1] < swing[2]
    assert timely_most_flows(PATCHED, 1.25e9) == 19


def test_the_start_decides_without_the_patch_and_not_with_it():
    starts = np.array([[0.875e9, 0.375e9], [0.625e9, 0.625e9]])
    for flat in ("rises", "rests"):
        run = timely_run(ORIGINAL, 1.25e9, 2, 4e-6, 0.05, start=starts, flat=flat, step=5e-6)
        late = run.rate[:, :, -200:].mean(axis=2)
        assert late[0, 0] > 1.5 * late[0, 1]
        assert late[1, 0] == pytest.approx(late[1, 1], rel=1e-6)
    run = timely_run(PATCHED, 1.25e9, 2, 4e-6, 0.2, start=starts, step=5e-6)
    np.testing.assert_allclose(run.rate[:, :, -1], 0.625e9, rtol=0.02)


def test_at_rest_only_without_the_equal_sign():
    """Between the thresholds with g = 0 and the sum at C: "<" stays for ever, "<=" climbs away."""
    stays, climbs = (
        timely_run(ORIGINAL, 1.25e9, 2, 4e-6, 2e-3, start=[0.9e9, 0.35e9], queue=100e3, flat=flat, every=10)
        for flat in ("rests", "rises")
    )
    np.testing.assert_allclose(stays.queue[0, 1:], stays.queue[0, 0], rtol=1e-12)
    assert climbs.queue[0].max() > 1.005 * 100e3
    assert climbs.queue[0].min() < 0.9 * 100e3


def test_a_batch_changes_no_digit():
    many, late = [2, 5, 20], [0.0, 10e-6, 33.3e-6]
    batch = timely_run(PATCHED, 1.25e9, many, late, 5e-3, step=4e-6)
    for k in range(3):
        alone = timely_run(PATCHED, 1.25e9, many[k], late[k], 5e-3, step=4e-6)
        np.testing.assert_array_equal(batch.queue[k], alone.queue[0])
    each = timely_run(PATCHED, 1.25e9, 5, 10e-6, 5e-3, start=[0.25e9] * 5, step=4e-6)
    np.testing.assert_allclose(each.queue[0], batch.queue[1], rtol=1e-9, atol=1e-6)


def test_a_pi_controller_at_the_hosts_fixes_the_queue_and_not_the_shares():
    """The trade of the paper's section 5: any division of the link is at rest once each host holds its own signal."""
    pi = PiMarking(reference=300e3, proportional=1e-6, integral=1e-4)
    run = timely_run(PATCHED, 1.25e9, 2, 4e-6, 0.3, start=[0.875e9, 0.375e9], pi=pi, step=5e-6)
    assert run.queue[0, -1] == pytest.approx(300e3, rel=0.01)
    np.testing.assert_allclose(run.rate[0, :, -1], [0.875e9, 0.375e9], rtol=0.01)
    np.testing.assert_allclose(run.own["signal"][0, :, -1], 1.25e6 / 0.008 / run.rate[0, :, -1], rtol=0.01)


def test_jitter_disturbs_delay_and_not_marks():
    """0 to 100 us of jitter, two flows: DCQCN's queue stays, TIMELY takes the jitter for queue and leaves its rest."""
    rng = np.random.default_rng(4)
    marks = dcqcn_run(PAPER, RED, 5e9, 2, 4e-6, 0.06, jitter=100e-6, rng=rng, step=4e-6).settled(0.04)
    assert marks.mean[0] == pytest.approx(float(rest_point(PAPER, RED, 5e9, 2).queue), rel=0.03)
    delay = timely_run(PATCHED, 1.25e9, 2, 4e-6, 0.06, queue=78e3, jitter=100e-6, rng=rng, step=5e-6).settled(0.03)
    assert abs(delay.mean[0] / timely_rest(PATCHED, 1.25e9, 2) - 1) > 0.2
    with pytest.raises(ValueError, match="is drawn by chance"):
        timely_run(PATCHED, 1.25e9, 2, 4e-6, 0.1, jitter=100e-6)


def test_above_the_upper_threshold_it_falls():
    run = timely_run(replace(PATCHED, beta=0.8), 1.25e9, 4, 0.0, 2e-3, queue=900e3, every=10)
    assert run.queue[0, -1] < 900e3
    assert run.queue.min() >= 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: timely_run(ORIGINAL, 1.25e9, 2, 0, 1e-3, pi=PiMarking(3e5, 1e-6, 1e-4)), "has no single fixed point"),
        (lambda: timely_rest(ORIGINAL, 1.25e9, 2), "has no single fixed point"),
        (lambda: timely_margin(PATCHED, 1.25e9, 2, 0, form="theirs"), "form = 'theirs' is not one of"),
        (lambda: timely_run(PATCHED, 1.25e9, 2, 0, 1e-3, flat="falls"), "flat = 'falls' is not one of"),
        (lambda: timely_run(replace(PATCHED, t_high=50e-6), 1.25e9, 2, 0, 1e-3), "must be above t_low"),
        (lambda: timely_run(PATCHED, 1.25e9, 5000, 0, 1e-3), "give fewer flows"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()
