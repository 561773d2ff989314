"""The integrator against equations whose solutions are known."""

import numpy as np
import pytest

from netlib.congestion.fluid.delays import Past, State, Traces, checked_step, in_steps, integrate, reach, rows


def one(value, scenarios=1):
    return State.of(np.zeros((0, 1, scenarios)), np.full((1, 1, scenarios), float(value)))


def feedback(gain, delay, seconds, step, ahead=1, start=1.0):
    """y' = -gain y(t - delay) for many delays at once."""
    late = np.atleast_2d(delay).astype(float)
    scenarios = late.shape[1]

    def equations(state, past):
        ago = past.reader(state.shared_places(0), late, ahead)
        held = []

        def prepare(count):
            held[:] = [ago(count)]

        def slope(k, out):
            out.shared[0] = -gain * held[0][k]

        return prepare, slope

    wide = one(1e9, scenarios)
    low = one(-1e9, scenarios)
    longest = float(late.max()) + step
    return integrate(equations, one(start, scenarios), low, wide, seconds, step, longest, 1, ahead)


def test_the_method_of_steps():
    """y' = -y(t-1) from 1: straight to t = 1, a parabola to 2, a cubic to 3."""
    time, y = feedback(1.0, 1.0, 3.0, 1e-3)
    y = y[:, 0]
    first, second = time <= 1, (time > 1) & (time <= 2)
    np.testing.assert_allclose(y[first], 1 - time[first], atol=1e-9)
    np.testing.assert_allclose(y[second], 1 - time[second] + (time[second] - 1) ** 2 / 2, atol=2e-6)
    np.testing.assert_allclose(y[-1], 1 - 3 + 4 / 2 - 1 / 6, atol=2e-6)


def test_the_error_falls_with_the_square_of_the_step():
    exact = 1 - 3 + 4 / 2 - 1 / 6
    errors = [abs(feedback(1.0, 1.0, 3.0, step)[1][-1, 0] - exact) for step in (0.02, 0.01, 0.005)]
    assert 3 < errors[0] / errors[1] < 5
    assert 3 < errors[1] / errors[2] < 5


@pytest.mark.parametrize(("gain", "dies"), [(1.5, True), (1.64, False)])
def test_a_delay_of_a_quarter_period_is_the_limit(gain, dies):
    """y' = -gain y(t-1) dies out for gain < pi/2 and grows above."""
    y = np.abs(feedback(gain, 1.0, 120.0, 0.01)[1][:, 0])
    assert (y[-1000:].max() < y[:1000].max()) == dies


def test_delays_between_steps_and_looking_ahead():
    """Lags that are no whole number of steps, many at once, the same with and without what is known ahead."""
    delays = np.array([0.25, 0.333, 0.5001, 1.0])
    step = 0.01
    assert reach(delays, step) == 26
    together = feedback(1.0, delays, 3.0, step, ahead=26)[1]
    np.testing.assert_array_equal(together, feedback(1.0, delays, 3.0, step)[1])
    for k, delay in enumerate(delays):
        alone = feedback(1.0, delay, 3.0, step)[1]
        np.testing.assert_array_equal(together[:, k], alone[:, 0])
        within = np.arange(len(alone)) * step <= delay
        np.testing.assert_allclose(alone[within, 0], 1 - np.arange(len(alone))[within] * step, atol=1e-9)


def test_without_delay_it_is_an_ordinary_equation():
    time, y = feedback(2.0, 0.0, 1.0, 1e-3)
    np.testing.assert_allclose(y[:, 0], np.exp(-2 * time), atol=3e-6)


def test_looking_too_far_ahead_would_be_seen():
    """A reader that is asked for more than the past holds gives other numbers: `reach` is the limit."""
    right = feedback(1.0, 0.05, 1.0, 0.01, ahead=6)[1]
    wrong = feedback(1.0, 0.05, 1.0, 0.01, ahead=12)[1]
    np.testing.assert_array_equal(right, feedback(1.0, 0.05, 1.0, 0.01)[1])
    assert np.abs(wrong - right).max() > 1e-3


def test_bounds_hold():
    _, y = feedback(1.0, 1.0, 5.0, 0.01, start=1.0)
    assert y.min() < 0
    late = np.array([[1.0]])

    def equations(state, past):
        def slope(k, out):
            out.shared[0] = -past.read(state.shared_places(0), late)

        return lambda count: None, slope

    _, held = integrate(equations, one(1), one(0), one(0.9), 5.0, 0.01, 1.01, 1)
    assert held[1:].max() == 0.9
    assert held.min() == 0.0


def test_steps_are_checked_by_halving():
    def run(step):
        time, y = feedback(1.5, 1.0, 20.0, step)
        return Traces(time, np.abs(y.T) * 100, y.T[:, None], np.ones((1, 1)), step)

    found = checked_step(run, 0.2, tolerance=0.01)
    assert found.traces.step < 0.2
    assert found.holds
    rough = checked_step(run, 0.5, tolerance=1e-9, halvings=1)
    assert rough.traces.step == 0.25
    assert rough.error.shape == (1,)
    assert not rough.holds


def test_refusals():
    with pytest.raises(ValueError, match=r"step = 1e-09 needs .* rows"):
        Past(np.zeros(1000), 1e-9, 1.0)
    with pytest.raises(ValueError, match="give a longer step"):
        feedback(1.0, 1.0, 1e9, 1e-6)
    with pytest.raises(ValueError, match="every = 0 keeps no sample"):
        integrate(lambda s, p: (None, None), one(0), one(0), one(1), 1.0, 0.1, 0.1, 0)
    with pytest.raises(ValueError, match="give a larger one"):
        integrate(lambda s, p: (None, None), one(0, 1000), one(0, 1000), one(1, 1000), 1.0, 1e-6, 1e-6, 1)
    with pytest.raises(ValueError, match="one number, or one for each scenario"):
        rows(flows=[1, 2], delay=[1, 2, 3])
    with pytest.raises(ValueError, match="after the run's end"):
        Traces(np.arange(2.0), np.ones((1, 2)), np.ones((1, 1, 2)), np.ones((1, 1)), 1.0).settled(5.0)
    assert in_steps(np.array([3e-6]), 1e-6)[0] == 3.0
