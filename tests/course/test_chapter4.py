"""Chapter 4 as a whole: page and notebook show the same figures and ask the same questions; the notebook's rhythm.

What the notebook says about its own outputs is read here from the outputs that are stored.
"""

import json
import re
from pathlib import Path

import pytest

from netlib.congestion import preset
from netlib.congestion.experiments import experiment
from netlib.congestion.fluid import most_flows, rest_point
from netlib.course.exercises import load, sheet
from netlib.course.explorers.permutation import CONTROLS, KEPT
from netlib.course.judge import judge
from netlib.fidelity.cite import engine_run, last_excess
from netlib.fidelity.peers import LAWS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "book/04_congestion_control.md").read_text(encoding="utf8")
CELLS = json.loads((ROOT / "notebooks/04_congestion_control.ipynb").read_text(encoding="utf8"))["cells"]
CODE = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
EXPLORERS = re.findall(r"^```\{explorer\} (\S+)$", PAGE, re.MULTILINE)


def printed(part: str) -> str:
    """What the one cell that holds `part` has printed."""
    (cell,) = (cell for cell in CELLS if cell["cell_type"] == "code" and part in "".join(cell["source"]))
    return "".join("".join(output.get("text", "")) for output in cell["outputs"])


@pytest.mark.parametrize("id", EXPLORERS)
def test_page_and_notebook_show_the_same_figures(id: str) -> None:
    assert PAGE.count(f"```{{explorer}} {id}\n") == 1
    assert CODE.count(f'explore("{id}")') == 1


def test_page_and_notebook_ask_the_same_questions() -> None:
    ids = [exercise.id for exercise in sheet("congestion")]
    assert len(ids) >= 10
    for id in ids:
        assert PAGE.count(f"```{{exercise}} {id}\n") == 1, id
        assert sum(bool(re.search(rf'^check\(\s*"{id}",', source, re.MULTILINE)) for source in CODE) == 1, id


def test_the_notebook_has_its_rhythm() -> None:
    """Predict, build, explore, break, check, in this order of first appearance; no four code cells in a row."""
    kinds = "".join(cell["cell_type"][0] for cell in CELLS)
    assert kinds[0] == "m"
    assert "cccc" not in kinds
    first = [next(i for i, source in enumerate(CODE) if word in source) for word in ("predict(", "def ", "explore(")]
    assert first == sorted(first)
    text = "\n".join("".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "markdown")
    assert text.count("Break") >= 3
    sizes = sorted(len(source.splitlines()) for source in CODE)
    assert sizes[-1] <= 20
    assert sizes[len(sizes) // 2] <= 5


def test_three_engines_agree_and_the_gap_is_stated() -> None:
    """Closed form and equations to a hundredth of a per cent; packets by the quarter that the notebook speaks of."""
    said = printed("closed form {closed")
    equations, packets = (float(each) for each in re.findall(r"gap (-?[\d.]+)%", said))
    assert equations < 0.05
    assert 15 <= packets <= 35


def test_the_empty_queue_waits_for_the_timer() -> None:
    said = printed("the queue is empty for")
    rows = re.findall(r"timer +(\d+) us: the queue is empty for +(\d+) us", said)
    assert len(rows) >= 2
    for timer, gap in rows:
        assert 0.95 * int(timer) <= int(gap) <= int(timer)


def test_a_control_and_its_switch_are_told_apart() -> None:
    """With room the longest queue is eleven times the shortest; NSCC and RCCC owe their short ones to trimming."""
    rows = re.findall(
        r"^(.+?) +first .*last ([\d.]+) times"
        r".*queue +([\d.]+) MB with room, +([\d.]+) MB with its switch, +(\d+)% trimmed",
        printed("name, pair in CONTROLS.items()"),
        re.MULTILINE,
    )
    assert len(rows) == 8
    room = [float(row[2]) for row in rows]
    assert max(room) / min(room) == pytest.approx(11, abs=0.5)
    assert min(room) > 1
    for name, last, alone, kept, trimmed in rows:
        assert (float(last) < 1.1) == ("DCQCN" not in name)
        if name in ("NSCC", "RCCC"):
            assert float(kept) < 0.2 < 1.4 < float(alone)
            assert 7 <= int(trimmed) <= 12
        else:
            assert (alone, trimmed) == (kept, "0")


def test_at_the_next_speeds_only_the_switch_differs() -> None:
    last = printed("longest queue, as a share of all bytes").split("Gb/s:")[-1]
    rows = re.findall(r"(\d+)% with room, +(\d+)% with its switch, +(\d+)% trimmed", last)
    assert len(rows) == 4
    assert len({row[0] for row in rows}) == 1
    assert int(rows[0][0]) > 80
    assert [row for row in rows if row[0] != row[1]] == [("86", "18", "69")]


def test_chance_moves_some_rows_and_not_others() -> None:
    """One timeout in fifteen lossy runs; senders done by seed, from half of them to all."""
    draws = [float(each) for each in re.findall(r"five seeds: +([\d. ]+)", printed("five seeds:"))[0].split()]
    assert max(draws) > 10 * sorted(draws)[2]
    done = [int(each) for each in re.findall(r"by seed: ([\d ]+)", printed("by seed:"))[0].split()]
    assert (min(done), max(done)) == (4, 8)
    assert sum(int(each) for each in re.findall(r"(\d+) timeouts", printed("schemes = {"))) == 1


def test_half_a_tuning_is_the_worst_of_four() -> None:
    said = printed('"as it was": (before, old)')
    last = [float(each) for each in re.findall(r"last ([\d.]+) times", said)]
    assert last.index(max(last)) == 2
    assert last[2] > 3 * last[3]


LEAN = [("RCCC", "htsim", 0.0), ("NSCC", "htsim", 0.0)]
WINDOWS = [("DCTCP", "ns-3", 400e3), ("HPCC", "ns-3", 0.0), ("PowerTCP", "ns-3", 0.0)]
LATE = [("DCQCN", "ns-3", 400e3), ("DCQCN", "ns-3", 1600e3), ("TIMELY", "ns-3", 0.0), ("DCQCN, window", "ns-3", 400e3)]


@pytest.mark.parametrize("hosts", [8, 32])
def test_last_finishes_are_near_the_least_except_where_the_link_idles(hosts: int) -> None:
    """Credits and NSCC within a hundredth, windows and telemetry within a tenth, DCQCN and TIMELY far beyond."""

    def excess(law: str, peer: str, k_max: float) -> float:
        return last_excess(law, hosts, k_max, peer=peer)

    assert all(abs(excess(*each)) < 0.01 for each in LEAN)
    assert all(0.01 < excess(*each) < 0.1 for each in (*WINDOWS, ("theta-PowerTCP", "ns-3", 0.0)))
    assert all(excess(*each) > 0.15 for each in LATE)
    assert max(excess(*each) for each in WINDOWS) == excess("HPCC", "ns-3", 0.0), "1,090 wire bytes counted"
    assert [LAWS["ns-3", law].packet.wire for law in ("HPCC", "PowerTCP", "DCTCP")] == [1090, 1090, 1038]


def test_on_one_path_dcqcn_takes_two_to_three_times_as_long_as_the_controls_of_the_figure() -> None:
    pauses = engine_run("pauses", 128, peer="htsim", scenario="permutation").last
    for law, k_max in (("DCQCN", 1600e3), ("DCQCN, window", 400e3)):
        assert 2 < engine_run(law, 128, k_max, scenario="permutation").last / pauses < 3.3
    for law, k_max in (("DCTCP", 400e3), ("HPCC", 0.0), ("PowerTCP", 0.0)):
        assert engine_run(law, 128, k_max, scenario="permutation").last / pauses < 1.13


def test_sprayed_the_last_flow_of_hpcc_is_a_third_later_and_that_of_powertcp_three_fifths() -> None:
    last = {name: KEPT.of("finish", "a path a packet", name, 128)[0] for name in CONTROLS}
    later = {name: float(each / last["pauses only"] - 1) for name, each in last.items()}
    assert abs(later["HPCC"] - 1 / 3) < 0.03
    assert abs(later["PowerTCP"] - 3 / 5) < 0.03
    assert max(later[name] for name in ("DCTCP", "Swift", "NSCC", "RCCC")) < 0.1, "marks, delay and credits do well"


def test_the_fluid_refuses_a_cards_machine() -> None:
    for name in ("connectx-timer", "ns3", "ns3-datacenter"):
        card, ramp = preset("dcqcn", name, 5e9), preset("marking", "dcqcn-paper")
        assert card.machine == "vendor"
        with pytest.raises(ValueError, match="give machine='paper'"):
            most_flows(card, ramp, 5e9)
        with pytest.raises(ValueError, match="give machine='paper'"):
            rest_point(card, ramp, 5e9, 2)


def test_the_page_says_cycle_and_names_its_words_once() -> None:
    assert "circle" not in PAGE
    for word in ("XOFF", "XON", "cyclic buffer dependency"):
        assert PAGE.count(word) == 1, word


def test_every_fallacy_quotes_what_it_answers() -> None:
    text = PAGE.split("## Fallacies and pitfalls")[1].split("## Exercises")[0]
    heads = re.findall(r"^\*\*(Fallacy|Pitfall|Question): (.+?)\*\*", text, re.MULTILINE)
    assert len(heads) == 20
    assert all('"' in head for _, head in heads)
    assert len(re.findall(r"^### About ", text, re.MULTILINE)) == 4


def test_the_predict_box_offers_numbers() -> None:
    box = PAGE.split("```{admonition} Predict first")[1].split("```")[0]
    assert "as a multiple of that: 1, 1.1 or 3?" in box
    assert judge(load("recover-02"), 3).ok
    assert not any(judge(load("recover-02"), other).ok for other in (1, 1.1))


def test_timely_as_printed_does_not_come_back_at_a_tenfold_rate() -> None:
    """The page: not done after 20 ms, fifteen times the least; 10 Mb/s a step."""
    seen = experiment("incast", "timely", "paper", dt=1.5e-6, every=64)
    assert seen.summary()["unfinished"] == 8
    assert 20e-3 / seen.ideal.max() == pytest.approx(15, abs=0.5)
    assert preset("timely", "paper").delta * 8 == pytest.approx(10e6)
