"""Balls into bins: exact fractions, published values, a simulation, and what must hold."""

from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.topology import ecmp_speed, expected_max_load, links_used, max_load_distribution


def counted(flows: int, links: int) -> list[Fraction]:
    """P(max = c) by trying every assignment."""
    found = [0] * (flows + 1)
    for choice in product(range(links), repeat=flows):
        found[max(map(choice.count, choice), default=0)] += 1
    return [Fraction(n, links**flows) for n in found]


def expanded(flows: int, links: int) -> Fraction:
    """E[max] in whole fractions: the product of polynomials, written out."""
    total = Fraction(0)
    for c in range(flows):  # E = sum of P(max > c)
        ways = [Fraction(1)] + [Fraction(0)] * flows
        for _ in range(links):
            ways = [
                sum((ways[m - k] / factorial(k) for k in range(min(c, m) + 1)), Fraction(0)) for m in range(flows + 1)
            ]
        total += 1 - ways[flows] * factorial(flows) / Fraction(links) ** flows
    return total


@pytest.mark.parametrize(("flows", "links"), [(0, 3), (1, 1), (1, 4), (4, 1), (2, 2), (5, 3), (6, 4), (8, 2), (3, 9)])
def test_the_distribution_is_that_of_every_assignment(flows, links) -> None:
    exact = counted(flows, links)
    ours = max_load_distribution(flows, links)
    np.testing.assert_allclose(ours, [float(p) for p in exact[: ours.size]], atol=1e-13)
    assert not any(exact[ours.size :])


@pytest.mark.parametrize(("flows", "links"), [(8, 8), (16, 5), (24, 3), (12, 30)])
def test_the_mean_is_that_of_exact_fractions(flows, links) -> None:
    assert expected_max_load(flows, links) == pytest.approx(float(expanded(flows, links)), rel=1e-12)


def test_two_links_are_a_coin() -> None:
    """E[max] of m tosses is m/2 + m/2 x C(m - 1, floor(m / 2)) / 2^(m - 1): a form without a maximum in it."""
    from math import comb

    for m in (1, 2, 7, 100, 999):
        exact = Fraction(m, 2) + Fraction(m * comb(m - 1, m // 2), 2**m)
        assert expected_max_load(m, 2) == pytest.approx(float(exact), rel=1e-11)
    coin = 50_000 + 0.5 * np.sqrt(2 * 1e5 / np.pi)  # the mean of |heads - tails| is sqrt(2 m / pi)
    assert expected_max_load(100_000, 2) == pytest.approx(coin, abs=1e-3)


def test_values_that_the_chapter_quotes() -> None:
    """Recomputed twice, independently; 8 links with 8 to 128 flows, then n flows on n links, then two others."""
    ratio = 1 / ecmp_speed([8, 16, 32, 64, 128], 8)
    np.testing.assert_allclose(ratio, [2.5972, 2.1007, 1.7619, 1.5294, 1.3693], atol=5e-5)
    n = np.array([16, 32, 64])
    np.testing.assert_allclose(expected_max_load(n, n), [3.078, 3.533, 3.958], atol=5e-4)
    np.testing.assert_allclose(expected_max_load([64, 128], [16, 64]), [7.880, 5.967], atol=5e-4)


@pytest.mark.parametrize(("flows", "links"), [(64, 16), (1024, 64), (4000, 128), (5, 1000), (30_000, 20)])
def test_a_simulation_agrees(flows, links) -> None:
    rng = np.random.default_rng(flows)
    fullest = rng.multinomial(flows, [1 / links] * links, size=4000).max(axis=1)
    error = fullest.std() / np.sqrt(len(fullest))
    assert abs(fullest.mean() - expected_max_load(flows, links)) < 4 * error + 1e-9


@given(st.integers(0, 300), st.integers(1, 200))
def test_a_distribution_is_one(flows, links) -> None:
    p = max_load_distribution(flows, links)
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert np.all(p >= -1e-12)
    assert np.all(p[: -(-flows // links)] == 0)  # someone carries at least the mean
    mean, more = expected_max_load([flows, flows + 1], links)
    assert mean <= more <= mean + 1
    assert expected_max_load(flows, links + 1) <= mean + 1e-12


def test_many_flows_spread_evenly_and_the_largest_case_is_quick() -> None:
    speed = ecmp_speed([10**2, 10**3, 10**4, 10**5], 16)
    assert np.all(np.diff(speed) > 0)
    assert speed[-1] > 0.97
    fullest = [np.bincount(np.random.default_rng(seed).integers(0, 10**5, 10**5)).max() for seed in range(100)]
    assert expected_max_load(10**5, 10**5) == pytest.approx(np.mean(fullest), abs=0.3)


def test_grids_have_the_shape_of_their_arguments() -> None:
    grid = expected_max_load(np.array([[4], [8]]), [1, 2, 4])
    assert grid.shape == (2, 3)
    assert grid[:, 0].tolist() == [4, 8]
    assert grid[1, 2] == pytest.approx(float(expanded(8, 4)))
    assert np.shape(ecmp_speed(3, 4)) == np.shape(links_used(3, 4)) == ()


def test_links_used_is_the_share_that_carry_something() -> None:
    rng = np.random.default_rng(2)
    used = (rng.multinomial(64, [1 / 64] * 64, size=4000) > 0).mean()
    assert links_used(64, 64) == pytest.approx(used, abs=1e-3)
    assert links_used(10**7, 10**7) == pytest.approx(1 - 1 / np.e, abs=1e-6)
    assert links_used(0, 1) == 0
    assert links_used(3, 1) == 1


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: expected_max_load(2.5, 2), "flows = 2.5 must be whole"),
        (lambda: expected_max_load(-1, 2), "flows = -1"),
        (lambda: expected_max_load(1, 0), "links = 0 must be at least 1"),
        (lambda: expected_max_load(2e5, 2), "flows = 200000 is beyond 100000"),
        (lambda: max_load_distribution(1, 10**6), "links = 1e\\+06 is beyond"),
        (lambda: ecmp_speed(0, 2), "flows = 0 must be at least 1"),
        (lambda: expected_max_load([1, 2], [1, 2, 3]), "do not broadcast"),
        (lambda: links_used("8", 2), "is not a number"),
    ],
)
def test_bad_input_is_one_sentence(call, says) -> None:
    with pytest.raises(ValueError, match=says):
        call()
