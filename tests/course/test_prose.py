"""Numbers in prose: printed from netlib, never from anything else."""

import re

import pytest

from netlib import hardware
from netlib.collectives import ring_allreduce_time
from netlib.course import prose
from netlib.links import Link
from netlib.units import show


def test_a_computed_value_is_the_librarys():
    printed, origin = prose.calc("ring_allreduce_time(140e9, 1024, Link(0, 100e9)) | s | 3")
    assert printed == show(float(ring_allreduce_time(140e9, 1024, Link(0, 100e9))), "s", 3) == "2.80 s"
    assert origin == "ring_allreduce_time(140e9, 1024, Link(0, 100e9))"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("2**10", "1,024"),
        ("bandwidth('ndr-400') | GB/s | 2", "50 GB/s"),
        ("Link(2e-6, 50e9).half_size() | kB", "100 kB"),
        ("0.1266 | %", "12.7 %"),
        ("max(1, [2, 3][-1])", "3.00"),
        ("edition()", prose.edition()),
    ],
)
def test_expressions(text, printed):
    assert prose.calc(text)[0] == printed


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("ring_time(1, 2)", "names 'ring_time'"),
        ("__import__('os')", "names '__import__'"),
        ("Link.__class__", "uses Attribute"),
        ("(lambda: 1)()", "uses Lambda"),
        ("[x for x in (1, 2)]", "uses ListComp"),
        ("1 +", "not one Python expression"),
        ("9**9**9", "failed"),
        ("1 << 9**9", "uses LShift"),
        ("[0] * 9", "computes with a text or a list"),
        ("'%9d' % 1", "computes with a text or a list"),
        ("'{:>9}'.format(1)", "computes with a text or a list"),
        ("-" * 100_000 + "1", "not one Python expression"),
        ("1+" * 50_000 + "1", "not one Python expression"),
        ("\0", "not one Python expression"),
        ("1 | s | 0", "digits = 0"),
        ("1 | s | 999", "digits = 999"),
        ("1 / 0", "failed: division by zero"),
        ("Link(-1, 0).nothing", "failed"),
        ("Link(0, 1)", "gives a Link, not one number"),
        ("1e308 * 10", "cannot print"),
        ("1 | s | three", "is not `expression | unit | digits`"),
        ("1 | s | 3 | 4", "is not `expression | unit | digits`"),
        ("1 | parsec", "parsec"),
        ("ring_allreduce_time(1, 0, Link(0, 1))", "failed"),
    ],
)
def test_what_prose_may_not_say(text, says):
    with pytest.raises(ValueError, match=re.escape(says)) as raised:
        prose.calc(text)
    assert "\n" not in str(raised.value)


def test_every_fact_tells_where_it_comes_from():
    for found in hardware.facts():
        printed, origin = prose.fact(found.id)
        assert printed == found.text
        assert {word for word in (found.printed, found.source, str(found.as_of)) if word not in origin} == set()
        assert ("secondary" in origin) == (found.confidence != "primary")


def test_a_ratio_takes_both_one_way():
    printed, origin = prose.ratio("nvlink4/ndr-400")
    assert printed == "9.00"
    assert origin == "450 GB/s, one way, over 400 Gb/s, one way"


@pytest.mark.parametrize("pair", ["nvlink4", "nvlink4/nothing", "nvlink4/bf16-h100"])
def test_a_ratio_that_makes_no_sense_is_refused(pair):
    with pytest.raises(ValueError, match=r"pair|fact|bandwidth"):
        prose.ratio(pair)


def test_the_colophon_names_versions():
    lines = prose.colophon().splitlines()
    assert any(line.startswith("| jupyter-book | 1.") for line in lines)
    assert all(line.count("|") == 4 for line in lines)
