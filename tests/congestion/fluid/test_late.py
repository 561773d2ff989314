"""Signals that are very late: margins must stay below zero, however often they turn."""

import numpy as np
import pytest

from netlib.congestion.fluid import dcqcn_loop, phase_margin, published_loop, timely_margin
from netlib.congestion.fluid.loops import lag_left
from netlib.congestion.parameters import Marking
from tests.congestion.fluid.paper import PAPER, PATCHED, RED


@pytest.mark.parametrize("turns", [0.3, 5, 8, 20, 60])
def test_whole_turns_are_counted(turns):
    _, angle = lag_left(lambda cases: lambda w: 1e3 / (1j * w) * np.exp(-2j * np.pi * turns * w / 1e3), ())
    assert np.degrees(angle[0]) == pytest.approx(90 - 360 * turns, rel=1e-6)


@pytest.mark.parametrize("turns", [200, 1e4, 1e9])
def test_what_cannot_be_counted_is_no_number(turns):
    _, angle = lag_left(lambda cases: lambda w: 1e3 / (1j * w) * np.exp(-2j * np.pi * turns * w / 1e3), ())
    assert np.isneginf(angle[0])


@pytest.mark.parametrize("cut", ["marks", "delay"])
@pytest.mark.parametrize("make", [dcqcn_loop, published_loop])
def test_no_very_late_signal_comes_to_rest(make, cut):
    margin = phase_margin(make(PAPER, RED, 5e9, [[2], [9], [14]]), [1e-3, 0.01, 0.1, 1.0, 1e3], cut)
    assert (margin < 0).all()


def test_no_very_late_round_trip_comes_to_rest():
    assert (timely_margin(PATCHED, 1.25e9, [[2], [10]], [0.01, 1.0, 1e3]) < 0).all()


def test_cases_do_not_touch_each_other():
    loop, delays = dcqcn_loop(PAPER, RED, 5e9, [2, 10]), [[1e-5], [85e-6], [5e-3]]
    all_ = phase_margin(loop, delays)
    assert all_.shape == (3, 2)
    for (row, column), margin in np.ndenumerate(all_):
        one = phase_margin(dcqcn_loop(PAPER, RED, 5e9, [2, 10][column]), delays[row][0])
        assert float(one) == pytest.approx(margin, rel=1e-9)


def test_cases_broadcast_as_numpy_does():
    loop = dcqcn_loop(PAPER, RED, 5e9, [2, 10])
    square = phase_margin(loop, [[20e-6], [40e-6]])
    assert square[:, 0].tolist() == phase_margin(dcqcn_loop(PAPER, RED, 5e9, 2), [20e-6, 40e-6]).tolist()


def test_a_slip_of_units_is_no_rest():
    with pytest.raises(ValueError, match=r"reacts faster than 1e\+07 rad/s"):
        phase_margin(dcqcn_loop(PAPER, Marking(0.0, 1e3, 1.0), 1e11, 2), 0.0)
