"""Units: every spelling means one thing, and the traps are refused or exact."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib import units
from netlib.units import GB, GiB, gbps, one_way, parse, show, size_name


@pytest.mark.parametrize(
    "text", ["400 Gb/s", "400Gbps", "400 gbps", "50 GB/s", "50GBps", "50e9 B/s", "0.05 TB/s", "50,000 MB/s",
             "400 Gbit/s", "50 gigabytes per second", "400 Gbits/s", "50 GB/sec"]
)  # fmt: skip
def test_one_port_in_many_spellings(text):
    assert parse(text).value == pytest.approx(50e9)
    assert parse(text).dimension == "bytes/s"


@pytest.mark.parametrize("text", ["0.35", "+.35", "3.5e-1", "35 %", "0.35x", " 0.35 "])
def test_plain_numbers(text):
    assert parse(text).value == pytest.approx(0.35)
    assert parse(text).dimension == "1"


@pytest.mark.parametrize("text", ["350 ms", "0.35 s", "350_000 us", "350000µs", "350 milliseconds", "3.5e8 ns"])
def test_times(text):
    assert parse(text).value == pytest.approx(0.35)
    assert parse(text).dimension == "s"


def test_lengths():
    assert (parse("1 km").value, parse("2 m").value, parse("2 m").dimension) == (1000, 2, "m")
    assert show(1500, "km") == "1.50 km"


def test_gib_is_not_gb():
    assert parse("1 GiB").value / parse("1 GB").value == GiB / GB == 1.073741824
    assert parse("1 GiB/s").value / parse("1 GB/s").value == 1.073741824
    assert gbps(400) * 8 == 400e9
    assert one_way(900e9) == 450e9


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("50 gb/s", "ambiguous: write Gb for bits or GB for bytes"),
        ("50 kb", "ambiguous: write Kb for bits or KB for bytes"),
        ("50 parsecs", "not known"),
        ("fast", "does not start with a number"),
        ("", "does not start with a number"),
        ("3,2 ms", "not known"),
        ("1e999 s", "is beyond 1e308"),
    ],
)
def test_refusals_name_the_fix(text, said):
    with pytest.raises(ValueError, match=said):
        parse(text)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((1.0, "furlong"), "unit = 'furlong' is not known"),
        ((1.0, ["s"]), "is not known"),
        (([1.0, 2.0], "s"), r"value = \[1.0, 2.0\] is not one number"),
        ((None, "s"), "value = None is not one number"),
        ((10**400, "s"), "is not one number"),
        ((1.0, "s", 0), "digits = 0 must be"),
        ((1.0, "s", 2.5), "digits = 2.5 must be"),
    ],
)
def test_show_refuses_in_one_sentence(given, said):
    with pytest.raises(ValueError, match=said):
        show(*given)


@given(value=st.floats(1e-3, 1e15), unit=st.sampled_from([u for u in units._UNITS if u != "%"]))
def test_what_is_shown_can_be_read_back(value, unit):
    quantity = parse(show(value * units._UNITS[unit][0], unit, digits=6))
    assert quantity.value == pytest.approx(value * units._UNITS[unit][0], rel=1e-5)
    assert quantity.dimension == units._UNITS[unit][1]


def test_show_keeps_whole_digits_and_rounds_up_cleanly():
    assert show(999.96, "s", 4) == "1,000 s"
    assert show(9.996, "s") == "10.0 s"
    assert show(1234567, "B") == "1,234,567 B"
    assert show(0.0, "s") == "0 s"
    assert show(float("inf"), "s") == "inf s"
    assert show(0.153, "%") == "15.3 %"
    assert size_name(12) == "12 B"
