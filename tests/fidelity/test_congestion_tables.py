"""Tables of the chapter: three models, and ours beside two simulators; the recorded runs behind them run again."""

from dataclasses import fields

import numpy as np
import pytest

from netlib.congestion import Dcqcn, preset, preset_record
from netlib.course.explorer import find
from netlib.fidelity import congestion_table, judge, published_rows, rest_runs
from netlib.fidelity.rest_runs import CASES, RestCase, Stood, fluid_run, packet_run, rest_queue, rests, write_rests

SHORT = CASES[-1]
LONG = [case for case in CASES if case != SHORT]


def same(seen: Stood, held: Stood) -> None:
    for each in fields(Stood):
        assert getattr(seen, each.name) == pytest.approx(getattr(held, each.name), rel=1e-9, abs=1e-9), each.name


def test_the_table_holds_both_engines_in_all_cases(tmp_path):
    assert set(rests()) == {(engine, case) for engine in ("fluid", "packets") for case in CASES}
    path = tmp_path / "rests.csv"
    write_rests(path, (SHORT,))
    head, *lines = path.read_text().splitlines()
    held = rest_runs.TABLE.read_text().splitlines()
    assert head == held[0]
    assert [line.split(",")[:6] for line in lines] == [line.split(",")[:6] for line in held[-2:]]
    for line, engine in zip(lines, ("fluid", "packets"), strict=True):
        same(Stood(*map(float, line.split(",")[6:])), rests()[engine, SHORT])
    assert rests()["packets", SHORT].mean > 1e3


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", LONG, ids=str)
def test_all_recorded_rests_are_what_the_engines_give(case):
    same(fluid_run(case), rests()["fluid", case])
    same(packet_run(case), rests()["packets", case])


def test_three_models_agree_where_there_is_a_rest_and_no_swing():
    for case in CASES[:2]:
        fluid, packets = rests()["fluid", case], rests()["packets", case]
        assert fluid.mean == pytest.approx(rest_queue(case), rel=0.01)
        assert packets.mean == pytest.approx(rest_queue(case), rel=0.30)
        assert packets.low < 0.5 * packets.mean < 1.5 * packets.mean < packets.high, "never at rest"
    swings = next(case for case in CASES if case.delay > 50e-6)
    for engine in ("fluid", "packets"):
        assert rests()[engine, swings].empty > 0.2
        assert rests()[engine, swings].mean < 0.8 * rest_queue(swings)
    left, came = (rests()["packets", case].mean for case in CASES[2:4])
    assert np.isnan(rest_queue(CASES[2])), "64 flows have none"
    assert left == pytest.approx(rests()["fluid", CASES[2]].mean, rel=0.15)
    assert came < 0.7 * left, "a mark that waits in the queue is older than the fluid's"


def cells(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_the_table_of_three_models_shows_the_gap_of_each_line():
    head, _, *lines = cells(congestion_table.three_models())
    assert len(lines) == 2 + len(LONG) + 1
    assert all(len(line) == len(head) and all(line[each] for each in (0, 2, 3, 5)) for line in lines)
    for line in lines[:-1]:
        fluid, packets = (float(line[k].split()[0]) for k in (2, 3))
        assert float(line[4].strip("%")) / 100 == pytest.approx(packets / fluid - 1, abs=0.015)
    assert sum("none" in line for line in lines) == 2
    assert [abs(float(line[4].strip("%"))) <= 2 for line in lines[:2]] == [True, True]
    assert "fluid 20, packets 0 to 50 kB" in lines[2][5]


def test_the_peers_are_all_there_and_what_misses_is_bold():
    rows = [row for row in published_rows() if row["confidence"] == "simulated" and "20 MB" not in row["params"]]
    shown = [row for row in judge(rows) if not ("queue" in row.group and "peak" not in row.group)]
    tables = congestion_table.peers() + "\n" + congestion_table.peers_on_fabrics()
    assert tables.count(" / ") == len(shown)
    assert tables.count("**") == 2 * sum(row.ok is False for row in shown) > 0
    first = cells(congestion_table.peers())[2]
    assert first[:3] == ["8:1", "htsim", "NSCC"]
    assert all(line[0] in ("8:1", "32:1") for line in cells(congestion_table.peers())[2:])


def test_a_table_follows_its_row(monkeypatch):
    """A published value that moves changes its cell and no other."""
    before = congestion_table.peers().splitlines()
    moved = tuple(
        {**row, "value": "5000"}
        if row["params"].startswith("DCQCN; K=100/400 KB; N=8") and "mean" in row["metric"]
        else row
        for row in published_rows()
    )
    monkeypatch.setattr(congestion_table, "published_rows", lambda: moved)
    after = congestion_table.peers().splitlines()
    changed = [(one, two) for one, two in zip(before, after, strict=True) if one != two]
    assert len(changed) == 1
    assert "/ 5.00, -18.6%**" in changed[0][1]


def test_a_rest_of_another_case_is_computed():
    assert rest_queue(RestCase(10, 4e-6, "arrival", 1e-3, 1e-6)) == pytest.approx(122.6e3, rel=1e-3)


def test_presets_compare_paper_and_card_and_say_what_the_card_does_not_document():
    head, _, *lines = cells(congestion_table.presets())
    assert head[-1] == "what it does, paper against ConnectX"
    rows = {line[0].strip("`"): line[1:] for line in lines}
    card, paper = preset("dcqcn", "connectx-timer"), preset("dcqcn", "paper")
    differs = {each.name for each in fields(Dcqcn) if getattr(card, each.name) != getattr(paper, each.name)}
    assert set(rows) == differs - {"initial_alpha"}, "1,023 parts of 1,024 and 1 are shown alike"
    assert rows["byte_counter"][1] == "not documented (off here)"
    assert rows["byte_counter"][3].endswith("is not documented")
    assert preset_record("dcqcn", "connectx").missing == ("byte_counter",)
    assert rows["g"][0] == rows["g"][2] != rows["g"][1], "paper and simulator alike, the card not"
    assert rows["min_rate"][1] == "1 Mb/s" in rows["min_rate"][3]


def test_two_copies_of_ns3_are_told_apart():
    simulators = {line[1] for line in cells(congestion_table.peers())[2:]}
    assert simulators == {"htsim", "ns-3, PowerTCP's copy"}
    for id in ("dcqcn-heartbeat", "incast-traces"):
        for knob in find(id).knobs.values():
            named = [str(value) for value in knob.values if "ns-3" in str(value)]
            assert all("copy" in value for value in named)
