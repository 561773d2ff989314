"""The kept measurement of both engines: whole, linear in steps, and linear in size once overhead is paid."""

from typing import get_args

import numpy as np
import pytest

from netlib.congestion.costs import Axis, Costs, Engine, measured_costs


@pytest.mark.parametrize("engine", get_args(Engine))
@pytest.mark.parametrize("by", get_args(Axis))
def test_time_grows_no_faster_than_the_run(engine, by):
    found = measured_costs(engine, by)
    grown, other = (found.size, found.steps) if by == "size" else (found.steps, found.size)
    assert len(set(other)) == 1
    assert len(grown) >= 4
    assert (np.diff(grown) > 0).all()
    assert found.exponent(by) < 1.2
    if by == "steps":
        assert found.exponent(by) > 0.8
    assert found.each()[-1] <= 1.2 * found.each().min()  # a large batch is no dearer than a small one
    assert all(word in " ".join(found.about) for word in ("machine", "date", "command"))


def test_the_exponent_is_the_slope_of_the_upper_half():
    grown = np.array([1.0, 10.0, 100.0, 1000.0, 10000.0])
    made = Costs(grown, np.full(5, 10.0), np.maximum(1.0, grown / 100), ())
    assert made.exponent("size") == pytest.approx(1)
    assert made.each()[[0, -1]] == pytest.approx([0.1, 0.001])


def test_what_was_not_measured_is_refused():
    with pytest.raises(ValueError, match="engine = 'ns-3'"):
        measured_costs("ns-3", "size")
