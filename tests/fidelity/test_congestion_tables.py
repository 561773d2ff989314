"""Tables of the chapter: three models, and ours beside two simulators; the recorded runs behind them run again."""

from dataclasses import fields, replace

import numpy as np
import pytest

from netlib.congestion import Dcqcn, preset, preset_record
from netlib.congestion.fluid import rest_point
from netlib.congestion.packets.hearing import Heard
from netlib.congestion.packets.senders.dcqcn import DcqcnPaper
from netlib.congestion.packets.traffic import Packet, incast
from netlib.course.explorer import find
from netlib.fidelity import congestion_table, judge, published_rows, rest_runs
from netlib.fidelity.rest_runs import (
    CASES,
    RATE,
    SETTLED,
    RestCase,
    Stood,
    event_queue,
    fluid_run,
    packet_run,
    rest_gap,
    rest_queue,
    rests,
    write_rests,
)
from netlib.links import Link

SHORT = CASES[-1]
LONG = [case for case in CASES if case != SHORT]
FEW, EIGHT, DRAWN_OUT, LARGE, NO_SILENCE, MANY, ARRIVAL, OLD = LONG
INPUTS = len(fields(RestCase)) + 1


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
    assert [line.split(",")[:INPUTS] for line in lines] == [line.split(",")[:INPUTS] for line in held[-2:]]
    for line, engine in zip(lines, ("fluid", "packets"), strict=True):
        same(Stood(*map(float, line.split(",")[INPUTS:])), rests()[engine, SHORT])
    assert rests()["packets", SHORT].mean > 1e3


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", LONG, ids=str)
def test_all_recorded_rests_are_what_the_engines_give(case):
    same(fluid_run(case), rests()["fluid", case])
    same(packet_run(case), rests()["packets", case])


def test_what_the_table_shows_had_settled_and_a_start_had_not():
    for case in LONG:
        for engine in ("fluid", "packets"):
            seen = rests()[engine, case]
            assert abs(seen.earlier / seen.later - 1) <= SETTLED, (engine, case)
            assert seen.mean == pytest.approx((seen.earlier + seen.later) / 2, rel=1e-3)
    assert not rests()["packets", SHORT].settled
    with pytest.raises(ValueError, match="no settled run"):
        rest_gap(3)


def test_packets_stand_above_the_fixed_point_by_what_the_silence_of_receivers_explains():
    for case in (FEW, EIGHT, DRAWN_OUT, LARGE, NO_SILENCE):
        fluid, packets = rests()["fluid", case], rests()["packets", case]
        assert fluid.mean == pytest.approx(rest_queue(case), rel=0.01)
        assert packets.low < 0.75 * packets.mean < 1.25 * packets.mean < packets.high, "never at rest"
    for case in (FEW, DRAWN_OUT, LARGE, NO_SILENCE):
        packets = rests()["packets", case]
        assert packets.mean == pytest.approx(event_queue(case), rel=0.08)
    assert rests()["packets", LARGE].mean == pytest.approx(event_queue(LARGE), rel=0.02), "little chance is left"
    for case in (FEW, EIGHT, DRAWN_OUT, LARGE):
        assert rests()["packets", case].mean > 1.15 * rest_queue(case)
    assert abs(rests()["packets", NO_SILENCE].mean / rest_queue(NO_SILENCE) - 1) < 0.08
    assert rests()["packets", EIGHT].mean < rests()["packets", DRAWN_OUT].mean, "the end of the ramp bounds it"


def test_more_flows_share_chance_and_keep_the_mean():
    one, large = rests()["packets", DRAWN_OUT], rests()["packets", LARGE]
    assert (large.high - large.low) / large.mean < 0.5 * (one.high - one.low) / one.mean
    assert large.mean / rest_queue(LARGE) == pytest.approx(one.mean / rest_queue(DRAWN_OUT), rel=0.08)
    assert rest_queue(LARGE) == pytest.approx(8 * rest_queue(DRAWN_OUT), rel=1e-9)
    assert rest_gap(8, "same-slope") == one.mean / rest_queue(DRAWN_OUT) - 1
    assert rest_gap(8, "same-slope", events=True) == event_queue(DRAWN_OUT) / rest_queue(DRAWN_OUT) - 1


def test_an_old_signal_swings_and_a_mark_that_waits_is_older_than_the_fluids():
    for engine in ("fluid", "packets"):
        assert rests()[engine, OLD].empty > 0.2
        assert rests()[engine, OLD].mean < 0.8 * rest_queue(OLD)
    left, came = (rests()["packets", case].mean for case in (MANY, ARRIVAL))
    assert np.isnan(rest_queue(MANY)), "64 flows have none"
    assert np.isnan(event_queue(MANY)), "nor when their cuts are counted one by one"
    assert left == pytest.approx(rests()["fluid", MANY].mean, rel=0.15)
    assert came < 0.75 * left


def crowd_rate(share: float, flows: int, rng: np.random.Generator, crowd: int = 400, dt: float = 5e-6) -> float:
    """Mean rate, as a share of C/N, of many senders that share nothing; each packet is marked with chance `share`."""
    control = DRAWN_OUT.control
    rest = rest_point(control, DRAWN_OUT.marking, RATE, flows)
    sender = DcqcnPaper(incast(crowd, 1e9, Link(1e-6, RATE), Packet(1000, 1000)), control)
    sender.rate[:], sender.target[:], sender.alpha[:] = rest.rate, rest.target, rest.alpha
    again, none, seen = np.zeros(crowd), np.zeros(crowd), []
    for now in np.arange(0, 50e-3, dt):
        sent = sender.rate * dt
        cnp = (rng.random(crowd) < 1 - (1 - share) ** (sent / 1000)) & (now >= again - dt / 10)
        again[cnp] = now + control.cnp_interval
        sender.react(now, Heard(sent, none, cnp, none, None))
        seen.append(sender.rate.mean())
    return float(np.mean(seen[len(seen) // 2 :]) / rest.rate)


def test_senders_alone_keep_their_share_at_the_marks_that_events_need():
    """No queue, no other flow: only marks by lot at a constant share, and the machine."""
    rng = np.random.default_rng(0)
    marking = DRAWN_OUT.marking
    for_events = (event_queue(DRAWN_OUT) - marking.k_min) * marking.slope
    for_equations = (rest_queue(DRAWN_OUT) - marking.k_min) * marking.slope
    assert crowd_rate(for_events, 8, rng) == pytest.approx(1, abs=0.05)
    assert crowd_rate(for_equations, 8, rng) > 1.1


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
    assert "fluid 20, packets 0 to" in lines[2][5]
    assert [("counted by events" in line[5]) for line in lines[2:-1]] == [True] * 5 + [False] * 3
    assert not any("not settled" in line[5] for line in lines)


def test_a_run_that_has_not_settled_says_so(monkeypatch):
    one = rests()["packets", EIGHT]
    moved = {**rests(), ("packets", EIGHT): replace(one, earlier=one.later * 0.9)}
    monkeypatch.setattr(congestion_table, "rests", lambda: moved)
    lines = cells(congestion_table.three_models())[2:]
    assert [line[5].endswith("not settled") for line in lines] == [False] * 3 + [True] + [False] * 7


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
    assert simulators == {"htsim", "ns-3"}  # the page says above the table whose copy: one for all rows
    for id in ("dcqcn-heartbeat", "incast-traces"):
        for knob in find(id).knobs.values():
            named = [str(value) for value in knob.values if "ns-3" in str(value)]
            assert all("copy" in value for value in named)
