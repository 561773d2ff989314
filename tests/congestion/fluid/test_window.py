"""Windows: where each law rests by arithmetic is where its run rests; fairness; what a batch must not change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.fluid import hpcc_rest, power_tcp_rest, swift_target, window_run
from netlib.congestion.parameters import Dctcp, Hpcc, Marking, PowerTcp, Swift

C, TAU = 12.5e9, 20e-6
BDP = C * TAU
STEP = Marking(k_min=60e3, k_max=60e3, p_max=1.0)
PLAIN = Swift(25e-6, 1e-6, 0.0, 0.1, 100.0, 1.0, 0.8, 0.5, 0.001)
SCALED = Swift(25e-6, 1e-6, 50e-6, 0.1, 100.0, 1.0, 0.8, 0.5, 0.001)
LAWS = (
    (Dctcp(1 / 16, 1000.0), {"marking": STEP}),
    (PLAIN, {}),
    (SCALED, {"hops": 3.0}),
    (Hpcc(0.95, 0, 2000.0), {}),
    (PowerTcp(0.9, 100.0, False), {}),
    (PowerTcp(0.9, 100.0, True), {}),
)


@pytest.mark.parametrize("additive", [80.0, 2000.0])
def test_hpcc_rests_where_its_arithmetic_says(additive):
    control, many = Hpcc(0.95, 0, additive), [2, 10, 40]
    use, queue = hpcc_rest(control, C, many, TAU)
    run = window_run(control, C, many, TAU, 8e-3)
    np.testing.assert_allclose(run.queue[:, -1], queue, atol=1.0)
    sent = (run.rate[:, 0, -1] * run.flows[:, 0]) / C
    np.testing.assert_allclose(sent, np.minimum(use, 1.0), rtol=1e-3)


def test_hpcc_without_queue_up_to_the_rule_for_its_step():
    """N a <= (1 - eta) C tau: the queue begins right there."""
    many, additive = 25, 0.05 * BDP / 25
    for part, empty in ((0.99, True), (1.01, False)):
        queue = hpcc_rest(Hpcc(0.95, 0, additive * part), C, many, TAU)[1]
        assert (queue == 0) == empty


@pytest.mark.parametrize("theta", [False, True])
def test_power_tcp_rests_at_its_flows_times_beta(theta):
    control, many = PowerTcp(0.9, 100.0, theta), [1, 10, 80]
    window, queue = power_tcp_rest(control, C, many, TAU)
    run = window_run(control, C, many, TAU, 2e-3)
    np.testing.assert_allclose(run.queue[:, -1], queue, rtol=1e-6)
    np.testing.assert_allclose(run.own["window"][:, 0, -1] * many, window, rtol=1e-6)
    np.testing.assert_allclose(run.shared["rtt"][:, -1], TAU + queue / C, rtol=1e-9)


def test_round_trips_alone_do_not_show_an_idle_link():
    """From a tenth of the link: PowerTCP sees the idle rest, theta-PowerTCP only adds beta until a queue forms."""
    full, blind = (
        window_run(PowerTcp(0.9, 100.0, theta), C, 2, TAU, 0.2e-3, start=[C / 20] * 2) for theta in (False, True)
    )
    assert (full.rate[0, :, -1].sum() / C) > 0.99
    assert (blind.rate[0, :, -1].sum() / C) < 0.6


def test_swift_holds_its_target():
    run = window_run(PLAIN, C, 2, TAU, 8e-3).settled(6e-3)
    target = swift_target(PLAIN, np.array([BDP]), 1.0)[0]
    assert target == pytest.approx(26e-6)
    np.testing.assert_allclose(run.mean, (target - TAU) * C, rtol=0.02)
    farther = window_run(PLAIN, C, 2, TAU, 8e-3, hops=3.0).settled(6e-3)
    np.testing.assert_allclose(farther.mean - run.mean, 2e-6 * C, rtol=0.05)


def test_swift_gives_small_windows_a_longer_target():
    target = swift_target(SCALED, np.array([50.0, 100.0, 1e3, 1e4, 1e5, 1e6]), 0.0)
    assert target[0] == target[1] == pytest.approx(75e-6)
    assert target[-1] == target[-2] == pytest.approx(25e-6)
    np.testing.assert_allclose(target[2:4], 25e-6 + 50e-6 * (np.array([1, 10**-0.5]) - 0.1) / (10**0.5 - 0.1))


def test_dctcp_swings_about_its_threshold_as_its_analysis_says():
    """SIGCOMM 2010, section 3.3: N saw-teeth in step swing by sqrt(2 N (C tau + K)) / 2 packets."""
    run = window_run(Dctcp(1 / 16, 1500.0), 1.25e9, 2, 100e-6, 24e-3, step=1e-6, packet=1500.0,
                     marking=Marking(k_min=60e3, k_max=60e3, p_max=1.0))  # fmt: skip
    late = run.settled(12e-3)
    swing = np.sqrt(2 * 2 * (1.25e9 * 100e-6 + 60e3) / 1500) / 2 * 1500
    assert late.least[0] < 60e3 < late.most[0]
    assert late.empty[0] == 0
    assert 0.8 < (late.most[0] - late.least[0]) / swing < 1.6


@pytest.mark.parametrize(("control", "more"), LAWS)
def test_laws_share_and_batches_change_no_digit(control, more):
    start = np.array([0.7, 0.2, 0.05, 0.05]) * C
    run = window_run(control, C, 4, TAU, 12e-3, start=start, step=1e-6, **more)
    assert run.queue.min() >= 0
    late = run.rate[0, :, -100:].mean(axis=1)
    assert np.ptp(late) / late.mean() < (0.4 if control == PLAIN else 0.05), "additive steps alone take longer"
    batch = window_run(control, C, [1, 7, 30], [10e-6, 20e-6, 33e-6], 0.5e-3, step=1e-6, **more)
    for k in range(3):
        alone = window_run(control, C, [1, 7, 30][k], [10e-6, 20e-6, 33e-6][k], 0.5e-3, step=1e-6, **more)
        np.testing.assert_array_equal(batch.queue[k], alone.queue[0])
        np.testing.assert_array_equal(batch.rate[k], alone.rate[0])


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(LAWS), st.integers(1, 500), st.floats(1e8, 1e11), st.floats(1e-6, 1e-4))
def test_queues_are_never_negative(law, flows, capacity, rtt):
    control, more = law
    run = window_run(control, capacity, flows, rtt, 40 * rtt, step=rtt / 20, every=1, **more)
    assert np.isfinite(run.queue).all()
    assert run.queue.min() >= 0
    assert run.rate.min() > 0


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: window_run(Dctcp(1 / 16, 1e3), C, 2, TAU, 1e-3), "leaves DCTCP without a signal"),
        (lambda: window_run(PLAIN, C, 2, TAU, 1e-3, marking=STEP), "is not seen by Swift"),
        (lambda: window_run(PLAIN, C, 2, 0, 1e-3), "rtt = 0 must be above 0"),
        (lambda: window_run(Swift(25e-6, 0, 1e-6, 9.0, 9.0, 1, 0.8, 0.5, 1), C, 2, TAU, 1e-3), "must be below fs_most"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(ValueError, match=said):
        call()
