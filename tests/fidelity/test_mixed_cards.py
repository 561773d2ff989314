"""Cards of two kinds in one incast: the recorded runs run again, and what chapter 4 says of them is read off them."""

import csv
from pathlib import Path

import pytest

from netlib.congestion import preset
from netlib.fidelity import mixed_cards
from netlib.fidelity.mixed_cards import PAIRS, SEEDS, mixed, mixed_runs, write_mixed


def test_the_table_holds_every_pair_with_every_seed():
    assert list(mixed_runs()) == list(PAIRS)
    assert {seen.shape for seen in mixed_runs().values()} == {(SEEDS, 4)}
    assert len(mixed().splitlines()) == 2 + len(PAIRS)


def test_a_recorded_run_is_what_the_engine_gives(tmp_path: Path):
    path = tmp_path / "mixed.csv"
    write_mixed(path, (("ns3", "ns3-datacenter"),), 1)
    with path.open() as new, mixed_cards.TABLE.open() as old:
        (made,) = csv.DictReader(new)
        held = next(row for row in csv.DictReader(old) if (row["first"], row["second"]) == ("ns3", "ns3-datacenter"))
    for name in ("share", "early", "late", "busy"):
        assert float(made[name]) == pytest.approx(float(held[name]), rel=1e-4), name


@pytest.mark.exhaustive
@pytest.mark.parametrize("pair", PAIRS, ids=" and ".join)
def test_all_recorded_runs_are_what_the_engine_gives(pair: tuple[str, str], tmp_path: Path):
    path = tmp_path / "mixed.csv"
    write_mixed(path, (pair,))
    with path.open() as new:
        for row, held in zip(csv.DictReader(new), mixed_runs()[pair], strict=True):
            assert [float(row[name]) for name in ("share", "early", "late", "busy")] == pytest.approx(held, rel=1e-3)


def test_what_the_page_says_of_unmixed_and_mixed_cards():
    """Unmixed halves are alike on average; a lone card's draw is not; the shorter timer does not always win."""
    for first, second in PAIRS:
        share, early, late, _ = mixed_runs()[first, second].mean(axis=0)
        if first == second:
            assert share == pytest.approx(0.5, abs=0.02)
            assert early == pytest.approx(late, rel=0.03)
        elif (first, second) != ("connectx-timer", "paper"):
            assert abs(share - 0.5) > 0.1
            assert max(early, late) > 1.5 * min(early, late)
    wide = {pair: seen[:, 0].std() for pair, seen in mixed_runs().items()}
    by_chance = {pair for pair in PAIRS if wide[pair] > 0.1}
    assert by_chance == {("connectx-timer", "connectx-timer"), ("connectx-timer", "paper")}
    assert max(value for pair, value in wide.items() if pair not in by_chance) < 0.025
    for pair in by_chance:  # the share depends on the draw, when the halves are done hardly does
        wide_share, *wide_ends = (mixed_runs()[pair].std(axis=0) / mixed_runs()[pair].mean(axis=0))[:3]
        assert wide_share > 0.2
        assert max(wide_ends) < 0.07
    slow, quick = (preset("dcqcn", name).increase_timer for name in ("ns3-datacenter", "paper"))
    assert slow > quick
    assert mixed_runs()["ns3-datacenter", "paper"][:, 0].max() < 0.25, "the paper's half has less"
    assert mixed_runs()["paper", "ns3-datacenter"][:, 0].min() > 0.6


def test_without_the_fast_simulator_the_link_idles():
    for (first, second), seen in mixed_runs().items():
        assert (seen[:, 3].max() < 0.34) == (first != "ns3"), (first, second)
    assert mixed_runs()["ns3", "ns3"][:, 3].min() > 0.6
    busy = {pair: seen[:, 3].mean() for pair, seen in mixed_runs().items()}
    for first, second in PAIRS:
        low, high = sorted((busy[first, first], busy[second, second]))
        assert 0.7 * low < busy[first, second] < 1.05 * high, "mixing empties the link no more than its kinds do"
