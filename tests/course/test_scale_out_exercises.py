"""The scale-out chapter's exercises reach the values of an independent recomputation."""

import pytest

from netlib.course.exercises import load

WANT = {
    "clos-01": {"limit": 2048, "switches": 320},
    "clos-02": {"inside": 2.0, "boundary": 320 / 96},
    "clos-03": {"switches32": 160, "switches64": 48, "hops32": 5, "hops64": 3},
    "ecmp-01": {"eight": 1 / 2.5972, "many": 1 / 1.5294, "used": 0.6564},
    "hash-01": {"row": 8, "stride": 1, "chance": 8 * (1 - (7 / 8) ** 8)},
    "rail-01": {"share": 0.125, "pxn": 1, "plane": "c"},
    "optics-01": {"two": 400_000, "three": 600_000, "power": 9e6, "radix": 448},
    "dragonfly-01": {"groups": 545, "hosts": 279_040, "balanced": 513},
    "taper-01": {"full": 0.22148, "tapered": 1.55039, "scattered": 0.0645996},
    "across-01": {"near": 10e6, "far": 1e9},
    "staging-01": {"product": 0.428571, "share": 2.142857},
}


@pytest.mark.parametrize("id", WANT)
def test_an_exercise_reaches_its_published_value(id: str) -> None:
    got = load(id).answer()
    assert got.keys() == WANT[id].keys()
    for name, value in WANT[id].items():
        assert got[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-4)), name
