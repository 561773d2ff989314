"""Presets: every value has a source and a unit, what has no SI meaning is refused, and differences say what they do."""

import datetime
import re
from dataclasses import MISSING, fields, replace
from math import inf, isclose
from pathlib import Path

import pytest

from netlib.congestion import (
    Dcqcn,
    Marking,
    difference_table,
    differences,
    preset,
    preset_names,
    preset_record,
    recovery_time,
)
from netlib.congestion import presets as module
from netlib.congestion.effects import EFFECTS
from netlib.congestion.presets import TYPES, dimension_of
from netlib.units import gbps

KEYS = set(
    re.findall(r"^@\w+\{([\w-]+),", (Path(__file__).parents[2] / "book" / "references.bib").read_text(), re.MULTILINE)
)
ALL = [(control, name) for control in TYPES for name in preset_names(control)]
RATE = gbps(100)


@pytest.mark.parametrize(("control", "name"), ALL)
def test_every_value_has_a_source_a_day_and_a_place(control: str, name: str) -> None:
    made = preset_record(control, name)
    assert len(made.title) > 3
    assert {each.field for each in made.settings} >= {e.name for e in fields(TYPES[control]) if e.default is MISSING}
    for each in made.settings:
        assert each.source in KEYS, each
        assert len(each.locator) > 3
        assert isinstance(each.as_of, datetime.date)
        assert datetime.date(2026, 11, 1) <= each.as_of
        assert each.confidence in ("primary", "secondary")
        assert (each.value is None) == bool(each.unusable)
        assert not each.unusable or len(each.unusable.split()) > 5
    assert set(made.scaled) <= {each.field for each in made.settings}
    assert bool(made.scaled) == (made.per > 0)


@pytest.mark.parametrize(("control", "name"), ALL)
def test_a_preset_builds_or_says_in_one_sentence_what_it_lacks(control: str, name: str) -> None:
    made = preset_record(control, name)
    if not made.missing:
        assert type(preset(control, name, RATE)) is TYPES[control]
        return
    with pytest.raises(ValueError, match=r"has no usable .* \(.*\); give it in fill") as said:
        preset(control, name, RATE)
    assert all(field in str(said.value) for field in made.missing)
    full = {
        field: 0.5 if dimension_of(control, field) == "1" else 1e-3 if dimension_of(control, field) == "s" else 1e6
        for field in made.missing
    }
    full = {field: True if field == "clamp_target" else value for field, value in full.items()}
    if control == "swift":
        full |= {"fs_least": 0.1, "fs_most": 100.0}
    built = preset(control, name, RATE, fill=full)
    assert all(getattr(built, field) == value for field, value in full.items())


def test_published_values_by_hand() -> None:
    """DCQCN's paper (its table of parameters), run.py of the HPCC fork, NVIDIA's and Intel's defaults."""
    paper = preset("dcqcn", "paper")
    assert (paper.g, paper.cnp_interval, paper.alpha_timer, paper.increase_timer) == (1 / 256, 50e-6, 55e-6, 55e-6)
    assert (paper.byte_counter, paper.fast_recovery, paper.additive * 8) == (10e6, 5, 40e6)
    assert preset("dcqcn", "fluid") == paper
    nic = preset("dcqcn", "connectx", fill={"byte_counter": inf})
    assert nic == preset("dcqcn", "connectx-timer")
    assert (nic.g, nic.alpha_timer, nic.cut_interval, nic.increase_timer) == (5 / 1024, 1e-6, 4e-6, 300e-6)
    assert (nic.fast_recovery, nic.additive * 8, nic.hyper * 8, nic.min_rate * 8) == (1, 5e6, 50e6, 1e6)
    assert nic.initial_alpha == 1023 / 1024
    assert 1 / nic.g == pytest.approx(204.8)
    intel = {each.field: each.value for each in preset_record("dcqcn", "irdma").settings}
    assert (intel["cut_interval"], intel["increase_timer"], intel["byte_counter"]) == (50e-6, 55e-6, 150000)
    assert intel["fast_recovery"] == 5
    assert paper.byte_counter / intel["byte_counter"] == pytest.approx(66.7, abs=0.05)


def test_simulators_have_the_timer_and_the_steps_of_their_own_files() -> None:
    timers = {name: preset("dcqcn", name, RATE).increase_timer for name in ("ns3", "ns3-paper", "ns3-datacenter")}
    assert timers == {"ns3": 300e-6, "ns3-paper": 55e-6, "ns3-datacenter": 900e-6}
    fast = preset("dcqcn", "ns3", gbps(25))
    assert (fast.additive * 8, fast.hyper * 8) == (5e6, 50e6)
    assert preset("dcqcn", "ns3", RATE).additive == 4 * fast.additive
    assert preset("dcqcn", "ns3", RATE).min_rate == fast.min_rate == gbps(1)  # not stated per rate


def test_marking_is_scaled_where_the_source_scales_it() -> None:
    assert preset("marking", "alibaba", RATE) == Marking(400e3, 1600e3, 0.2)
    assert preset("marking", "ns3", gbps(50)) == Marking(200e3, 800e3, 0.2, "departure")
    assert preset("marking", "ns3-dctcp", RATE) == Marking(300e3, 300e3, 1.0, "departure")
    for name in ("dcqcn-paper", "sonic"):
        assert preset("marking", name, RATE) == preset("marking", name)
    with pytest.raises(ValueError, match=r"stated per 3\.125e\+09 bytes/s of link; give rate"):
        preset("marking", "alibaba")


def test_the_ramp_drawn_out_has_the_slope_of_the_paper() -> None:
    """The authors' code has K_max = 2000 KB with 10 %: 2.3 % less steep than the printed 200 KB with 1 %."""
    paper, code, same = (preset("marking", each) for each in ("dcqcn-paper", "fluid", "same-slope"))
    assert isclose(same.slope, paper.slope, rel_tol=1e-12)
    assert code.slope / paper.slope == pytest.approx(1950 / 1995, rel=1e-12)


def test_nscc_and_timely_and_hpcc() -> None:
    """UEC 1.0 by its simulator; HPCC's typo; the patch of TIMELY changes beta by a hundred."""
    trimmed, dropped = preset("nscc", "uec-1.0"), preset("nscc", "uec-1.0-drop")
    assert [each.field for each in differences(trimmed, dropped)] == ["target"]
    assert trimmed.reference == pytest.approx(gbps(100) * trimmed.reference_rtt)
    assert (preset("hpcc", "printed").max_stage, preset("hpcc", "paper").max_stage) == (5, 0)
    changed = {each.field: each.ratio for each in differences(preset("timely", "fluid"), preset("timely", "patched"))}
    assert changed == {"patched": None, "beta": pytest.approx(0.01)}
    paper, ns3 = preset("timely", "paper"), preset("timely", "ns3-datacenter")
    assert (paper.delta * 8, paper.hyper, paper.min_rate) == (10e6, 5, 0)
    assert (ns3.delta * 8, ns3.delta * ns3.hyper * 8, ns3.min_rate * 8, ns3.segment) == (50e6, 100e6, 100e6, inf)
    assert {each.field for each in differences(paper, ns3)} == {"delta", "hyper", "min_rate", "segment"}
    swift = preset("swift", "htsim")
    assert swift.base / swift.per_hop == pytest.approx(6.55)
    assert swift.fs_range == pytest.approx(5 * swift.base)


@pytest.mark.parametrize(
    ("control", "name", "rate", "fill", "said"),
    [
        ("dcqn", "paper", None, None, "control = 'dcqn' has no presets; give one of dcqcn, timely"),
        ("dcqcn", "papr", None, None, "name = 'papr' is no preset of dcqcn; give one of paper, fluid, connectx"),
        ("timely", "alibaba", None, None, "is no preset of timely; give one of paper, fluid, patched, ns3-datacenter$"),
        ("marking", "alibaba", 0.0, None, "rate = 0 must be above 0"),
        ("dcqcn", "paper", None, {"gg": 1}, "fill has 'gg', which is no field of dcqcn"),
        ("dcqcn", "connectx", None, {"byte_counter": "many"}, "byte_counter = 'many' must be one number"),
    ],
)
def test_unknown_pairs_and_unfit_values_are_refused(control, name, rate, fill, said) -> None:
    with pytest.raises(ValueError, match=said):
        preset(control, name, rate, fill)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"values": {"k_min": "5 KB"}}, "give k_min, k_max, p_max, when"),
        (
            {"values": {"k_min": "5 KB", "k_max": "200 Mb/s", "p_max": "1 %"}},
            "k_max = '200 Mb/s' is in bytes/s, not in bytes",
        ),
        (
            {"values": {"k_min": "5", "k_max": "200 KB", "p_max": "1 %"}},
            "k_min = '5' has no unit; write for example '5 KB'",
        ),
    ],
)
def test_a_table_with_a_wrong_field_or_unit_is_refused(row: dict, said: str) -> None:
    whole = {"title": "x", "source": "zhu2015", "locator": "y", "as_of": datetime.date(2026, 11, 30), **row}
    with pytest.raises(ValueError, match=said):
        module._read("marking", "x", whole)


@pytest.mark.parametrize("control", TYPES)
def test_every_field_has_an_effect_that_can_be_computed(control: str) -> None:
    """Each field alone, changed: one row, one sentence without a line break, and the number in it changes."""
    usable = [name for name in preset_names(control) if not preset_record(control, name).missing]
    first = preset(control, usable[0], RATE)
    assert set(EFFECTS[type(first)]) == {each.name for each in fields(first)}
    for each in fields(first):
        value = getattr(first, each.name)
        flipped = {"paper": "vendor", "arrival": "departure", True: False, False: True}
        other = flipped[value] if isinstance(value, (bool, str)) else value / 2
        if other == value or value == inf:
            other = 0.5 if value == inf or dimension_of(control, each.name) == "1" else 1e-3
        other = int(other * 2 + 1) if each.type is int else other
        if each.name == "k_max":
            other = value * 2
        (row,) = differences(first, replace(first, **{each.name: other}))
        assert row.field == each.name
        assert "\n" not in row.effect
        before, after = row.effect.rsplit(" against ", 1)
        assert not before.endswith(f" {after}"), row.effect


def test_what_a_difference_does_agrees_with_the_formulas() -> None:
    paper, copy = preset("dcqcn", "paper"), preset("dcqcn", "ns3-datacenter")
    found = {each.field: each for each in differences(paper, copy)}
    assert found["increase_timer"].ratio == pytest.approx(900 / 55)
    assert found["increase_timer"].effect.endswith("275 us against 900 us")
    assert recovery_time(copy) == pytest.approx(900e-6)
    assert found["byte_counter"].ratio is None
    assert found["byte_counter"].effect.endswith("8 ms against never")  # 10 MB at 10 Gb/s
    assert found["fast_recovery"].effect.endswith("1/32 against 1/2")
    assert found["cut_interval"].effect.endswith("500 us against 40 us")
    assert "g" not in found
    assert differences(paper, paper) == ()


def test_the_table_lines_up() -> None:
    rows = differences(preset("dcqcn", "paper"), preset("dcqcn", "connectx-timer"))
    lines = difference_table(rows, "paper", "ConnectX").splitlines()
    assert len(lines) == len(rows) + 1
    at = lines[0].index("what it does")
    assert all(line[at - 2 : at] == "  " and line[at] != " " for line in lines)
    assert "40 Mb/s" in lines[[each.field for each in rows].index("additive") + 1]
    assert difference_table((), "a", "b").startswith("field")


def test_two_controls_are_not_compared() -> None:
    with pytest.raises(ValueError, match="b = Hpcc is no Dcqcn; give two presets of one control"):
        differences(preset("dcqcn", "paper"), preset("hpcc", "paper"))


def test_times_are_shown_in_their_unit() -> None:
    base = preset("dcqcn", "paper")
    shown = [difference_table(differences(base, replace(base, cut_interval=each))) for each in (5e-10, 5e-7, 5e-3, 5.0)]
    assert [text.split()[-4:-3] for text in shown] != []
    for text, unit in zip(shown, ("0.5 ns", "500 ns", "5 ms", "5 s"), strict=True):
        assert unit in text
    quick = replace(base, g=1.0)
    assert isinstance(quick, Dcqcn)
    assert "against 0" in differences(base, quick)[0].effect or "against 55 us" in differences(base, quick)[0].effect


@pytest.mark.parametrize(
    ("printed", "says"),
    [
        ("100", r"dcqcn 'mycard', min_rate = '100' has no unit; write for example '100 Mb/s'"),
        ("100 us", r"dcqcn 'mycard', min_rate = '100 us' is in s, not in bytes/s; write for example '100 Mb/s'"),
        ("100 foo", r"dcqcn 'mycard', min_rate = '100 foo' cannot be read \(unit 'foo' is not known"),
    ],
)
def test_a_table_with_a_slip_stops_its_own_preset_and_no_other(
    printed: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = module._tables()
    mine = {**held["dcqcn"]["paper"], "values": {**held["dcqcn"]["paper"]["values"], "min_rate": printed}}
    monkeypatch.setattr(module, "_tables", lambda: {**held, "dcqcn": {**held["dcqcn"], "mycard": mine}})
    assert preset_names("dcqcn")[-1] == "mycard"
    assert preset("timely", "paper") == preset("timely", "paper", RATE)
    assert preset("dcqcn", "paper").min_rate == 0
    with pytest.raises(ValueError, match=says):
        preset("dcqcn", "mycard")
