"""Phase planes: rest, eigenvalues and paths agree with each other and with the paper (NSDI 2022)."""

import numpy as np
import pytest

from netlib.congestion.fluid import Plane, plane_path, power_left, power_tcp_rest, window_run
from netlib.congestion.fluid.planes import KINDS
from netlib.congestion.parameters import PowerTcp

C, TAU, GAIN = 12.5e9, 20e-6, 0.9 / 20e-6  # the paper's figure: 100 Gb/s, 20 us, gamma 0.9


def plane(kind, beta=10e3):
    return Plane(kind, C, TAU, beta, GAIN)


@pytest.mark.parametrize("kind", ["voltage", "power"])
def test_rest_is_one_point_whatever_the_start(kind):
    here = plane(kind)
    assert here.rest == pytest.approx((C * TAU + 10e3, 10e3))
    np.testing.assert_allclose(here.push(*here.rest), 0, atol=1e-3)
    ends = plane_path(here, [50e3, 250e3, 500e3, 900e3], [0.0, 400e3, 10e3, 100e3], 20e-3)[-1]
    np.testing.assert_allclose(ends, np.array(here.rest)[:, None] * np.ones(4), rtol=1e-3)


def test_current_rests_anywhere_or_nowhere():
    """Without beta each start ends at a queue of its own; with beta the queue climbs for ever."""
    still = plane_path(plane("current", 0.0), [300e3, 400e3, 600e3], [0.0, 50e3, 200e3], 5e-3)
    ends = still[-1]
    np.testing.assert_allclose(plane("current", 0.0).push(*ends), 0, atol=1e5)
    assert np.ptp(ends[1]) > 50e3
    np.testing.assert_allclose(ends[0], C * TAU + ends[1], rtol=1e-4)
    climbing = plane_path(plane("current"), 300e3, 50e3, 5e-3)[:, 1, 0]
    assert climbing[-1] > climbing[len(climbing) // 2] + 100e3
    assert plane("current").rest is None
    with pytest.raises(ValueError, match="has no point of rest"):
        _ = plane("current").decay


@pytest.mark.parametrize("kind", ["voltage", "power"])
def test_eigenvalues_are_those_of_the_field(kind):
    """The analytic Jacobian against differences of `push`."""
    here = plane(kind)
    at, step = np.array(here.rest), 1.0
    columns = []
    for i in range(2):
        up, down = at.copy(), at.copy()
        up[i] += step
        down[i] -= step
        columns.append((np.array(here.push(*up)) - np.array(here.push(*down))) / (2 * step))
    found = np.linalg.eigvals(np.array(columns).T)
    np.testing.assert_allclose(np.sort_complex(found), np.sort_complex(here.decay), rtol=1e-5)


def test_eigenvalues_of_power_are_the_papers_where_beta_is_small():
    np.testing.assert_allclose(np.sort(plane("power", 1e-3).decay), [-1 / TAU, -GAIN], rtol=1e-6)
    theta = TAU + 100e3 / C
    np.testing.assert_allclose(np.sort(plane("power", 100e3).decay), [-GAIN, -1 / theta], rtol=1e-9)
    voltage = plane("voltage").decay
    assert np.iscomplex(voltage).all(), "voltage swings to its rest"
    assert np.abs(voltage.real).max() < np.abs(plane("power").decay).min(), "and takes longer"


def test_time_to_forget():
    assert power_left(5 / GAIN, GAIN) == pytest.approx(np.exp(-5))
    assert 1 - power_left(5 / GAIN, GAIN) == pytest.approx(0.993, abs=5e-4)
    here = plane("power")
    path = plane_path(here, here.rest[0] * 1.5, 200e3, 5 / GAIN)
    assert abs(path[-1, 0, 0] - here.rest[0]) / (here.rest[0] * 0.5) == pytest.approx(0.0067, rel=0.02)


def test_the_plane_and_the_delayed_law_rest_together():
    """Equilibrium of the plane = closed form = a run with feedback delay."""
    control, many = PowerTcp(0.9, 100.0, False), 4
    window, queue = power_tcp_rest(control, C, many, TAU)
    assert Plane("power", C, TAU, many * C * TAU / 100, GAIN).rest == pytest.approx((float(window), float(queue)))
    assert window_run(control, C, many, TAU, 2e-3).queue[0, -1] == pytest.approx(float(queue), rel=1e-6)


def test_fields_have_the_shape_of_their_points():
    w, q = np.meshgrid(np.linspace(0, 500e3, 7), np.linspace(0, 200e3, 5))
    for kind in KINDS:
        by_w, by_q = plane(kind).push(w, q)
        assert by_w.shape == by_q.shape == (5, 7)
        assert (by_q[q == 0] >= 0).all()
        assert np.isfinite(by_w).all()


def test_refusals():
    with pytest.raises(ValueError, match="kind = 'charge' is not one of"):
        plane("charge")
    with pytest.raises(ValueError, match="points = 1 draws no path"):
        plane_path(plane("power"), 1.0, 1.0, 1e-3, points=1)
