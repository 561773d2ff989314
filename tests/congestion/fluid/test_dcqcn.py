"""DCQCN in time: the published shapes, what must never happen, and what a batch must not change."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.fluid import PiMarking, checked_step, dcqcn_loop, dcqcn_run, marked, phase_margin, rest_point
from netlib.congestion.fluid.bottleneck import shares
from netlib.congestion.fluid.dcqcn import law, slopes
from netlib.congestion.parameters import Dcqcn, Marking
from tests.congestion.fluid.paper import PAPER, RED, RUNS

PI = PiMarking(reference=200e3, proportional=1e-8, integral=2e-7)  # own gains: stable for 2, 10, 64 flows at 85 us
CASES = {
    "capacity": st.floats(1e8, 1e11),
    "flows": st.integers(1, 200),
    "delay": st.floats(0, 200e-6),
    "k_max": st.floats(10e3, 1e6),
    "p_max": st.floats(1e-3, 1.0),
}


@pytest.mark.parametrize("marking", [RUNS[0][0], RUNS[-1][0]])
def test_runs_settle_or_swing_as_an_independent_integration_did(marking):
    """Means within 2 %, extremes within 5 % of the largest queue; the other one was of first order with 1 us steps."""
    cases = [run for run in RUNS if run[0] == marking]
    run = dcqcn_run(marking=marking, control=PAPER, capacity=5e9, flows=[c[1] for c in cases],
                    delay=[c[2] * 1e-6 for c in cases], seconds=0.2, step=2e-6, every=10)  # fmt: skip
    late = run.settled(0.15)
    mean, least, most = np.array([c[3] for c in cases]).T * 1e3
    np.testing.assert_allclose(late.mean, mean, rtol=0.02, atol=60)
    assert (np.abs(late.least - least) <= 0.05 * most + 60).all()
    assert (np.abs(late.most - most) <= 0.05 * most + 60).all()
    swings = (late.most - late.least) > 2e3
    assert (late.empty > 0).tolist() == [
        c[1] != 2 and c[2] == 85 and bool(s) for c, s in zip(cases, swings, strict=True)
    ]


def test_at_rest_nothing_moves():
    """The fixed point puts zero into the very equations, and a run that starts there stays."""
    for many in (2, 10, 14):
        rest = rest_point(PAPER, RED, 5e9, many)
        rate, target = rest.rate / 1e3, rest.target / 1e3
        moves = slopes(law(PAPER).single(), rest.marks, rate, rate, target, rest.alpha)
        np.testing.assert_allclose([float(m) for m in moves] / np.array([rate, target, 1.0]), 0, atol=1e-6)
        assert marked(rest.queue, RED) == pytest.approx(float(rest.marks), rel=1e-9)
    run = dcqcn_run(PAPER, RED, 5e9, [2, 10], 20e-6, 0.02, disturbance=0.0, step=2e-6)
    np.testing.assert_allclose(run.queue, np.broadcast_to(run.queue[:, :1], run.queue.shape), rtol=1e-9)


def test_both_limits_of_the_marks():
    """No marks: b = 1/B and d = 1/(T R); every packet marked: no increase, and a cut each CNP interval."""
    one = law(PAPER).single()
    rate, target, alpha = np.asarray(5e5), np.asarray(6e5), np.asarray(0.3)
    events = 5e5 / 1e4 + 1 / 55e-6
    no = [float(each) for each in slopes(one, np.asarray(0.0), rate, rate, target, alpha)]
    np.testing.assert_allclose(no, [1e5 * events / 2, 5000 * events, -0.3 / 256 / 55e-6], rtol=1e-9)
    few = [float(each) for each in slopes(one, np.asarray(1e-12), rate, rate, target, alpha)]
    np.testing.assert_allclose(few, no, rtol=1e-6)
    every = [float(each) for each in slopes(one, np.asarray(1.0), rate, rate, target, alpha)]
    np.testing.assert_allclose(every, [-5e5 * 0.3 / 1e-4, -1e5 / 50e-6, 0.7 / 256 / 55e-6], rtol=1e-9)
    most = [float(each) for each in slopes(one, np.asarray(1 - 1e-12), rate, rate, target, alpha)]
    np.testing.assert_allclose(most, every, rtol=1e-9)


def test_a_byte_counter_that_is_off_and_one_that_acts():
    off = law(replace(PAPER, byte_counter=float("inf"))).single()
    small = law(replace(PAPER, byte_counter=150e3)).single()  # 150 packets, as one vendor's driver has it
    at = [np.asarray(each) for each in (1e-3, 5e5, 5e5, 6e5, 0.3)]
    paper, without, often = (float(slopes(one, *at)[0]) for one in (law(PAPER).single(), off, small))
    assert without == pytest.approx(paper, rel=1e-3)
    assert often > paper + 1e5 * 5e5 / 150 * 0.4


@settings(max_examples=25, deadline=None)
@given(**CASES)
def test_queues_and_rates_stay_where_they_can_be(capacity, flows, delay, k_max, p_max):
    marking = Marking(k_min=5e3, k_max=k_max, p_max=p_max)
    run = dcqcn_run(PAPER, marking, capacity, flows, delay, 2e-3, step=4e-6, every=1)
    assert np.isfinite(run.queue).all()
    assert run.queue.min() >= 0
    assert run.rate.min() >= 0
    assert run.rate.max() <= capacity * (1 + 1e-12)
    assert run.own["target"].max() <= capacity * (1 + 1e-12)
    assert ((run.own["alpha"] >= 0) & (run.own["alpha"] <= 1)).all()


@settings(max_examples=10, deadline=None)
@given(st.lists(st.floats(0.01, 1.0), min_size=2, max_size=6), st.floats(0, 90e-6), st.randoms(use_true_random=False))
def test_flows_have_no_order(first, delay, random):
    """Shuffled flows are the same flows; those that start alike stay alike to the last digit."""
    start = np.array([*first, first[0]]) * 1e9
    order = list(range(start.size))
    random.shuffle(order)
    run = dcqcn_run(PAPER, RED, 5e9, start.size, delay, 3e-3, start=start, step=3e-6)
    other = dcqcn_run(PAPER, RED, 5e9, start.size, delay, 3e-3, start=start[order], step=3e-6)
    np.testing.assert_allclose(other.rate[0], run.rate[0, order], rtol=1e-6)
    np.testing.assert_array_equal(run.rate[0, 0], run.rate[0, -1])


def test_a_class_of_flows_is_its_flows():
    """N identical flows integrated once, or each for itself."""
    one = dcqcn_run(PAPER, RED, 5e9, 5, 20e-6, 10e-3, step=2e-6)
    each = dcqcn_run(PAPER, RED, 5e9, 5, 20e-6, 10e-3, start=[5e9] * 5, step=2e-6)
    np.testing.assert_allclose(each.queue, one.queue, rtol=1e-9, atol=1e-6)
    assert each.rate.shape == (1, 5, one.time.size)
    np.testing.assert_array_equal(one.flows, [[5.0]])


@settings(max_examples=8, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 64), st.floats(0, 100e-6)), min_size=2, max_size=9), st.booleans())
def test_a_batch_changes_no_digit(cases, pi):
    marking = PI if pi else RED
    many, late = (np.array(each, float) for each in zip(*cases, strict=True))
    batch = dcqcn_run(PAPER, marking, 5e9, many, late, 2e-3, step=2e-6, every=10)
    for k in range(many.size):
        alone = dcqcn_run(PAPER, marking, 5e9, many[k], late[k], 2e-3, step=2e-6, every=10)
        np.testing.assert_array_equal(batch.queue[k], alone.queue[0])
        np.testing.assert_array_equal(batch.rate[k], alone.rate[0])


def test_a_batch_of_controls_and_of_distinct_flows_changes_no_digit():
    controls = [PAPER, replace(PAPER, g=1 / 16, fast_recovery=1), replace(PAPER, alpha_timer=80e-6)]
    start = np.array([[4e9, 1e9, 2e9], [1e9, 1e9, 1e9], [5e9, 2e9, 3e8]])
    batch = dcqcn_run(controls, RED, 5e9, 3, [10e-6, 20e-6, 33.3e-6], 2e-3, start=start, every=10)
    for k, control in enumerate(controls):
        alone = dcqcn_run(control, RED, 5e9, 3, [10e-6, 20e-6, 33.3e-6][k], 2e-3, start=start[k], every=10)
        np.testing.assert_array_equal(batch.rate[k], alone.rate[0])


def test_halving_the_step_changes_little():
    found = checked_step(
        lambda step: dcqcn_run(PAPER, RED, 5e9, [2, 10, 10], [4e-6, 20e-6, 85e-6], 0.06, step=step, every=4), 4e-6
    )
    assert found.holds


def test_flows_become_fair():
    """Two flows that start at 4 and 1 GB/s share within the bound of the paper, 97 ms."""
    run = dcqcn_run(PAPER, RED, 5e9, 2, 4e-6, 0.1, start=[4e9, 1e9], step=2e-6)
    gap = np.abs(run.rate[0, 0] - run.rate[0, 1]) / 2.5e9
    assert gap[0] > 1
    assert gap[-1] < 0.1


def test_marks_by_a_pi_controller_hold_the_queue_for_any_number_of_flows():
    """The paper's figure of DCQCN with PI: the queue at its reference, and fair, at 4 and at 85 us."""
    late = np.repeat([4e-6, 85e-6], 3)
    many = [2, 10, 64] * 2
    assert (phase_margin(dcqcn_loop(PAPER, PI, 5e9, many), late) > 2.5).all()
    run = dcqcn_run(PAPER, PI, 5e9, many, late, 0.3, disturbance=0.02, step=4e-6, every=50)
    np.testing.assert_allclose(run.settled(0.25).mean, 200e3, rtol=0.02)
    np.testing.assert_allclose(run.shared["marked"][:, -1], rest_point(PAPER, PI, 5e9, many).marks, rtol=0.03)
    fair = dcqcn_run(PAPER, PI, 5e9, 2, 8e-6, 0.6, start=[4e9, 1e9], step=8e-6)
    np.testing.assert_allclose(fair.rate[0, :, -1], 2.5e9, rtol=0.03)
    np.testing.assert_allclose(fair.queue[0, -1], 200e3, rtol=0.02)


def test_a_margin_speaks_of_small_disturbances_only():
    """64 flows with PI at 85 us have a margin of 48 degrees; yet a start at line rate winds the integral up.

    The marks then fall by `integral` x `reference` a second while the link stands partly idle, and only then it rests.
    """
    assert phase_margin(dcqcn_loop(PAPER, PI, 5e9, 64), 85e-6) > 45
    run = dcqcn_run(PAPER, PI, 5e9, 64, 85e-6, 1.0, step=1e-5, every=100)
    use, marks = run.rate[0, 0] * 64 / 5e9, run.shared["marked"][0]
    assert run.queue.max() > 10e6
    idle = (run.time > 0.05) & (run.time < 0.4)
    assert (run.queue[0, idle] == 0).all()
    assert use[idle].max() < 0.95
    np.testing.assert_allclose(np.diff(marks[idle]) / np.diff(run.time[idle]), -PI.integral * PI.reference, rtol=1e-6)
    assert run.queue[0, -1] == pytest.approx(200e3, rel=0.01)


def test_a_step_of_marks_rides_at_the_step():
    step = Marking(k_min=50e3, k_max=50e3, p_max=1.0)
    assert marked([50e3, 50.1e3], step).tolist() == [0.0, 1.0]
    assert not rest_point(PAPER, step, 5e9, 10).inside
    late = dcqcn_run(PAPER, step, 5e9, 10, 4e-6, 0.1, step=2e-6).settled(0.05)
    assert late.least[0] < 50e3 < late.most[0]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"control": replace(PAPER, machine="vendor")}, "machine = 'vendor' has clocks"),
        ({"control": replace(PAPER, cnp_interval=0.0)}, "cnp_interval = 0 must be above 0"),
        ({"control": []}, "is not a Dcqcn"),
        ({"control": [PAPER] * 3, "flows": [2, 4]}, "control holds 3 scenarios, the others 2"),
        ({"start": [1e9]}, "start holds 1 rates and flows = 4"),
        ({"start": [6e9] * 4}, "above the capacity"),
        ({"start": np.ones((2, 2, 2))}, "give \\(flows,\\) or"),
        ({"start": np.ones((3, 4)), "delay": [1e-6, 2e-6]}, "give \\(flows,\\) or"),
        ({"flows": 20, "disturbance": 0.1}, "flows = 20 has no fixed point on this ramp"),
        ({"control": [PAPER], "disturbance": 0.1}, "needs one control"),
        ({"seconds": 0.0}, "seconds = 0 must be above 0"),
        ({"step": 0.0}, "step = 0 must be above 0"),
        ({"flows": 0}, "flows = 0 must be at least 1"),
    ],
)
def test_refusals(changed, said):
    right = {"control": PAPER, "marking": RED, "capacity": 5e9, "flows": 4, "delay": 1e-6, "seconds": 1e-4}
    with pytest.raises(ValueError, match=said):
        dcqcn_run(**{**right, **changed})


def test_a_list_of_one_scenario_spreads():
    given_, first, many = shares([5e9, 6e9], 2, 1e-6, [1e9, 2e9])
    assert first.shape == many.shape == (2, 2)
    assert given_["delay"].shape == (1, 2)
    assert isinstance(PAPER, Dcqcn)
