"""The tables: complete, without doubles, with a source each, and equal to constants typed here from the sources."""

import csv
from collections import Counter
from pathlib import Path

import pytest

from netlib.collectives.nccl import closed, tables

FILE = Path(tables.__file__).with_name("tables.csv")


def held():
    with FILE.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_row_names_its_source_and_a_number():
    for row in held():
        assert row["source"].strip(), row
        assert row["table"] == "edition" or float(row["value"]) == float(row["value"])
        assert row["unit"] in ("us", "GB/s", "GB/s per channel", "GiB/s", "B", "1", "")
        assert tables.numbers(row["first"]) <= tables.numbers(row["last"])


def test_no_constant_stands_twice_for_one_version():
    keys = ("table", "hardware", "algorithm", "protocol", "gpu", "nodes")
    for version in tables.editions():
        key = tables.numbers(version)
        here = [
            tuple(row[each] for each in keys) + ((row["value"],) if row["table"] == "channel speed" else ())
            for row in held()
            if tables.numbers(row["first"]) <= key <= tables.numbers(row["last"])
        ]
        assert [each for each, count in Counter(here).items() if count > 1] == []


@pytest.mark.parametrize("version", tables.editions()[1:])
def test_each_version_has_a_hop_for_each_base(version):
    chosen = tables.edition(version)
    for algorithm, protocol in tables.ROWS:
        if tables.base(chosen, algorithm, protocol) is not None:
            assert tables.hop(chosen, "network", algorithm, protocol) >= 0
            kinds = [
                (r.hardware) for r in tables.rows(chosen, "hop") if (r.algorithm, r.protocol) == (algorithm, protocol)
            ]
            assert "network" in kinds


@pytest.mark.parametrize(
    ("version", "hardware", "algorithm", "protocol", "micro"),
    [
        ("2.30.7", "network", "NVLSTree", "Simple", 20.9),
        ("2.28.3", "network", "NVLSTree", "Simple", 14),
        ("2.18.3", "network", "NVLSTree", "Simple", 19),
        ("2.18.5", "NVLink", "NVLS", "Simple", 0),
        ("2.20.3", "NVLink", "NVLS", "Simple", 23),
        ("2.21.5", "NVLink", "NVLS", "Simple", 25),
        ("2.21.5", "NVLink", "Tree", "Simple", 28),
        ("2.24.3", "NVLink", "Tree", "Simple", 4),
        ("2.12.12", "network", "Ring", "Simple", 28),
        ("2.7.8", "network", "Ring", "Simple", 9.6),
        ("2.7.8", "network", "Tree", "Simple", 50),
        ("2.7.8", "NVLink", "Tree", "LL128", 1.2),
        ("2.12.12", "NVLink", "Tree", "LL128", 1.25),
    ],
)
def test_hops_that_changed(version, hardware, algorithm, protocol, micro):
    assert tables.hop(tables.edition(version), hardware, algorithm, protocol) * 1e6 == pytest.approx(micro)


@pytest.mark.parametrize(
    ("version", "table", "gpu", "caps"),
    [
        ("2.30.7", "NVLSTree cap", "Blackwell", [0, 96, 80]),
        ("2.29.7", "NVLSTree cap", "Blackwell", [0, 96, 43.8]),
        ("2.28.3", "NVLSTree cap", "Blackwell", [0, 96, 43.1]),
        ("2.28.9", "ring LL128 cap", "Blackwell", [73.4, 34.6, 73.4]),
        ("2.26.2", "tree cap", "Blackwell", [77.4, 82.8, 72]),
        ("2.24.3", "tree cap", "Blackwell", [38.7, 41.4, 36]),
        ("2.12.12", "tree cap", "Ampere", [24, 23.6, 17.8]),
    ],
)
def test_caps_that_changed(version, table, gpu, caps):
    found = tables.caps(tables.edition(version), table, gpu)
    assert (found / 1e9).tolist() == pytest.approx(caps)


def test_ll_caps_go_by_gpu_on_one_node_and_by_cpu_on_more():
    new, old = tables.edition("2.30.7"), tables.edition("2.18.5")
    assert (tables.ll_caps(new, "Blackwell", "AMD") / 1e9).tolist() == [282, 22.5, 19]
    assert (tables.ll_caps(old, "Hopper", "Power") / 1e9).tolist() == [87.7, 39, 20.4]
    assert tables.ll_caps(tables.edition("2.7.8"), "Volta", "Intel") is None
    assert tables.caps(tables.edition("2.7.8"), "tree cap", "Volta") is None


def test_corrections_have_the_length_of_their_version():
    assert [len(tables.correction(tables.edition(v), "Tree", "LL")) for v in ("2.7.8", "2.12.12", "2.30.7")] == [
        22,
        23,
        23,
    ]
    assert len(tables.correction(tables.edition("2.30.7"), "NVLSTree", "Simple", "Blackwell")) == 24
    assert len(tables.correction(tables.edition("2.30.7"), "NVLSTree", "Simple", "Hopper")) == 0
    assert len(tables.correction(tables.edition("2.29.7"), "NVLSTree", "Simple", "Blackwell")) == 0


@pytest.mark.parametrize(
    ("asked", "first", "exact"),
    [
        ("2.30.7", "2.30.7", True),
        ("2.30", "2.30.7", True),
        ("2.28", "2.28.9", True),
        ("2.21.5", "2.20.5", True),
        ("2.21", "2.20.5", True),
        ("2.22.3", "2.20.5", True),
        ("2.20.4", "2.20.3", False),
        ("2.19.4", "2.18.3", False),
        ("2.8.4", "2.7.8", False),
        ("2.99.1", "2.30.7", False),
        ("v2.27.7-1", "2.27.3", True),
    ],
)
def test_which_table_answers(asked, first, exact):
    found = tables.edition(asked)
    assert (found.first, found.note == "") == (first, exact)


def test_a_name_that_is_not_in_the_table():
    with pytest.raises(ValueError, match=r"is not in the table of NCCL 2\.30\.7"):
        tables.known(tables.edition("2.30.7"), "tree sharing")


def test_the_threshold_of_2_4_by_hand():
    """4 channels: ring 20 GB/s, tree 15 GB/s. 64 ranks: 378 us against 45 + 28. Two nodes: the tree is the faster."""
    assert closed.tree_threshold([1, 2, 8], 8, 4).tolist() == [0, float("inf"), pytest.approx(60e9 * (378 - 73) * 1e-6)]
    assert float(closed.tree_threshold(8, 8, 4, nvlink=False)) == pytest.approx(5e9 * 2 * (378 - 73) * 1e-6)
    assert float(closed.tree_threshold(2, 1, 4)) == 0  # 6 us against 15
    with pytest.raises(ValueError, match="nodes = 0 must be at least 1"):
        closed.tree_threshold(0, 8, 4)


@pytest.mark.parametrize("nodes", [2, 4, 8, 128])
def test_the_threshold_is_where_the_two_rows_of_tune_meet(nodes):
    from netlib.collectives import nccl

    cluster = nccl.Cluster("Volta", nodes, 8, nccl.Channels(4, 10e9, 10e9))
    edge = float(closed.tree_threshold(nodes, 8, 4))
    tuning = nccl.tune("2.4.8", cluster)
    if edge == float("inf"):
        assert set(tuning.choose([1.0, 1e12]).name) == {"Tree/Simple"}
    else:
        assert tuning.choose([edge * 0.999, edge * 1.001]).name.tolist() == ["Tree/Simple", "Ring/Simple"]
    gather = nccl.tune("2.4.8", cluster, "all_gather")
    assert gather.why[0][0] == "Tree does no all_gather in NCCL 2.4"
    assert gather.choose(1.0).name.tolist() == "Ring/Simple"
