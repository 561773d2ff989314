"""The kept measurement of growth: whole, in the shape that the book draws, and within what the course promises."""

import numpy as np
import pytest

from netlib.topology import measured_growth


def test_the_kept_table_is_whole() -> None:
    growth = measured_growth()
    assert growth.hosts.tolist() == [k**3 / 4 for k in (4, 8, 16, 24, 32, 48, 64)]
    assert growth.links.tolist() == (6 * growth.hosts).tolist()  # three tiers of cables, two directions
    assert list(growth.seconds) == ["build", "route", "paths", "rates"]
    assert np.all(np.diff(growth.gib) > -0.01)
    assert growth.total.shape == growth.hosts.shape
    assert growth.total[-1] < 10
    assert growth.gib[-1] < 3
    said = " ".join(growth.about)
    assert all(word in said for word in ("machine", "date", "command"))


def test_the_exponent_is_a_slope(tmp_path) -> None:
    table = tmp_path / "growth.csv"
    rows = [f"{k},{k**3 // 4},{6 * k**3 // 4},{k**3},{k**6},1,1,0.1" for k in (8, 16, 32, 64)]
    table.write_text("# made up\nk,hosts,links,build,route,paths,rates,gib\n" + "\n".join(rows) + "\n")
    growth = measured_growth(table)
    assert growth.about == ("made up",)
    assert [growth.exponent(step) for step in ("build", "route", "paths")] == pytest.approx([1, 2, 0])
    with pytest.raises(ValueError, match="step = 'sleep' was not measured"):
        growth.exponent("sleep")


def test_an_empty_table_is_one_sentence(tmp_path) -> None:
    table = tmp_path / "growth.csv"
    table.write_text("k,hosts\n")
    with pytest.raises(ValueError, match="holds no sizes"):
        measured_growth(table)
