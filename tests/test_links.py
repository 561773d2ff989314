"""Links: the fit finds what made the data, and says so when it cannot."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.arguments import floats
from netlib.links import Link, bytes_in_flight, fit_alpha_beta

SIZES = np.geomspace(1e3, 1e10, 15)


@given(
    alpha=st.floats(1e-7, 1e-3), bandwidth=st.floats(1e9, 1e12), steps=st.integers(1, 100), root=st.floats(1e-10, 1e-7)
)
def test_fit_recovers_exact_constants(alpha, bandwidth, steps, root):
    times = steps * alpha + root * np.sqrt(SIZES) + 1.75 * SIZES / bandwidth
    fit = fit_alpha_beta(SIZES, times, steps=steps, volume=1.75 * SIZES, root=True)
    assert fit.alpha == pytest.approx(alpha, rel=1e-3)
    assert fit.bandwidth == pytest.approx(bandwidth, rel=1e-6)
    assert fit.root == pytest.approx(root, rel=1e-3, abs=1e-13)
    assert fit.worst_error < 1e-6


def test_standard_errors_cover_the_truth_about_as_often_as_they_should():
    rng, inside = np.random.default_rng(1), np.zeros(2)
    truth = Link(20e-6, 400e9)
    for _ in range(400):
        fit = fit_alpha_beta(SIZES, truth.time(SIZES) * (1 + 0.05 * rng.standard_normal(SIZES.size)))
        inside += [
            abs(fit.alpha - truth.alpha) < fit.alpha_error,
            abs(fit.bandwidth - truth.bandwidth) < fit.bandwidth_error,
        ]
    assert (np.abs(inside / 400 - 0.68) < 0.08).all()


def test_fit_ignores_the_order_of_points():
    times = Link(5e-6, 50e9).time(SIZES) * (1 + 0.1 * np.sin(np.arange(SIZES.size)))
    forward, backward = fit_alpha_beta(SIZES, times), fit_alpha_beta(SIZES[::-1], times[::-1])
    assert forward.alpha == pytest.approx(backward.alpha)
    assert forward.median_error == pytest.approx(backward.median_error)


@pytest.mark.parametrize(
    ("size", "time", "said"),
    [
        ([1e3], [1e-6], "size holds 1 points"),
        ([1e3, 1e3], [1e-6, 1e-6], "too few different sizes"),
        ([1e3, 1e6, 1e9], [1e-3, 1e-3], "equally long"),
        ([1e3, 1e6, 1e9], [3.0, 2.0, 1.0], "does not grow with size"),
        ([0, 1e6], [1e-6, 2e-6], "size = 0 must be above 0"),
    ],
)
def test_fit_refuses_in_one_sentence(size, time, said):
    with pytest.raises(ValueError, match=said):
        fit_alpha_beta(size, time)


def test_links_broadcast_and_half_size_halves():
    link = Link(np.array([1e-6, 2e-6]), 50e9)
    half = link.half_size()
    assert link.time(half) == pytest.approx(2 * np.asarray(link.alpha))
    assert float(bytes_in_flight(450e9, 1e-6)) == 450e3
    lists = Link([1e-6, 2e-6], [50e9, 50e9])  # a list means an array: doubled, not repeated
    assert (2 * lists.alpha == [2e-6, 4e-6]).all()


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: floats("size", object()), "size = .* is not a number"),
        (lambda: floats("size", "8"), "size = '8' is not a number .* parse"),
        (lambda: floats("size", np.array([1 + 2j])), "is not a number"),
        (lambda: floats("size", 10**400), "is not a number"),
        (lambda: floats("size", [1.0, np.inf]), "size = inf must be finite"),
        (lambda: Link(0, np.inf), "bandwidth = inf must be finite"),
        (lambda: Link([1, 2], [1, 2, 3]), r"alpha has shape \(2,\), bandwidth has shape \(3,\)"),
        (lambda: Link(1e-6, 1e-300).time(1e300), "link, size give a number beyond 1e308 in time"),
        (lambda: bytes_in_flight([1, 2], [1, 2, 3]), r"bandwidth has shape \(2,\), round_trip has shape \(3,\)"),
        (lambda: fit_alpha_beta([1, 2, 3], [1, 2, 4], steps=[1, 2]), r"steps has shape \(2,\)"),
    ],
)
def test_bad_input_gets_one_sentence_and_no_warning(bad, said):
    with pytest.raises(ValueError, match=said) as error:
        bad()
    assert "\n" not in str(error.value)


def test_an_argument_too_many_stays_pythons_own_error():
    with pytest.raises(TypeError, match="positional argument"):
        bytes_in_flight(1, 2, 3)
