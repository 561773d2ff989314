"""The reader: every format in tests/fieldwork/pastes, refusals, and what it says it left out."""

import json
from pathlib import Path

import numpy as np
import pytest

from netlib.fieldwork import disagreements, measured, read_all, read_nccl_tests
from netlib.fieldwork.nccl_tests import EXAMPLE
from netlib.units import KiB, MiB
from tests.fieldwork import printer

PASTES = Path(__file__).parent / "pastes"

# file: (rows, op, op_from, ranks, ranks_from, both halves)
EXPECTED = {
    "gather_linear.txt": (4, "gather", "command", 2, "device list", True),
    "hgx_h100_two_nodes.txt": (7, "all_reduce", "columns", 16, "device list", True),
    "markdown.txt": (11, "all_reduce", "columns", 8, "busbw / algbw", False),
    "mpi_tags.txt": (7, "reduce_scatter", "columns", 16, "device list", True),
    "nccl1_ms.txt": (3, "all_reduce", "command", 4, "device list", True),
    "overwritten.txt": (4, "all_reduce", "columns", 16, "busbw / algbw", True),
    "per_iteration.txt": (3, "all_reduce", "columns", 4, "device list", True),
    "report.json.txt": (3, "all_reduce", "command", 8, "device list", True),
    "shortened.txt": (11, "all_reduce", "command", 8, "busbw / algbw", False),
    "srun_label.txt": (6, "alltoall", "columns", 8, "device list", True),
    "timestamps.txt": (4, "broadcast", "columns", 4, "device list", True),
    "types.txt": (8, "all_reduce", "columns", 8, "device list", True),
    "v218.txt": (3, "all_gather", "command", 2, "device list", True),
    "wrong_and_cut.txt": (4, "all_reduce", "columns", 2, "busbw / algbw", True),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_each_format_is_read_whole_and_agrees_with_itself(name):
    table = read_nccl_tests(PASTES / name)
    rows, op, op_from, ranks, ranks_from, both = EXPECTED[name]
    assert (len(table.size), table.op, table.op_from) == (rows, op, op_from)
    assert (table.ranks, table.ranks_from) == (ranks, ranks_from)
    assert table.inplace.present is both
    assert table.copies == 1
    assert disagreements(table) == []  # a cell read from the wrong column or in the wrong unit could not agree


def test_every_paste_is_covered():
    elsewhere = {"several.txt", "no_mpi_interleaved.txt", "doubled_8gpu.txt"}
    assert {path.name for path in PASTES.iterdir()} == set(EXPECTED) | elsewhere


def test_values_are_si():
    table = read_nccl_tests(PASTES / "hgx_h100_two_nodes.txt")
    assert table.size[-1] == 16 * 2**30
    assert table.count[-1] == 4 * 2**30
    assert table.out.time[0] == pytest.approx(68.52e-6)
    assert table.inplace.busbw[-1] == pytest.approx(469.10e9)
    assert table.out.algbw[-1] == pytest.approx(250.24e9)
    assert (table.type[0], table.redop[0], table.root[0]) == ("float", "sum", -1)
    assert table.average == pytest.approx(139.56e9)
    assert table.out_of_bounds == 0
    assert len(table.devices) == 16
    assert table.hosts == ("node000", "node001")


def test_the_first_generation_prints_milliseconds():
    table = read_nccl_tests(PASTES / "nccl1_ms.txt")
    assert table.out.time[-1] == pytest.approx(2.117e-3)
    assert not table.counts_wrong


def test_header_fields():
    header = read_nccl_tests(PASTES / "v218.txt").header
    assert (header.threads, header.gpus, header.warmup, header.iters, header.agg_iters) == (1, 1, 10, 50, 1)
    assert (header.min_bytes, header.max_bytes, header.step, header.step_is_factor) == (64 * MiB, 256 * MiB, 2, True)
    assert (header.validation, header.graph) == (1, 0)
    assert (header.tests_version, header.nccl_version) == ("2.18.3", "22809")
    linear = read_nccl_tests(PASTES / "gather_linear.txt").header
    assert (linear.step, linear.step_is_factor) == (128 * MiB, False)


def test_rccl_header_and_nccl_version_line():
    lines = ["# nThread: 2 nGpus: 4 minBytes: 8 maxBytes: 64 step: 2(factor) warmupIters: 5 iters: 20 validation: 1"]
    lines += ["NCCL version 2.16.2+cuda11.6", printer.row("all_reduce", 8, printer.Line(MiB, 50, 49))]
    header = read_nccl_tests(lines).header
    assert (header.threads, header.gpus, header.iters, header.nccl_version) == (2, 4, 20, "2.16.2+cuda11.6")


def test_words_and_separators_in_sizes():
    for name in ("markdown.txt", "shortened.txt"):
        table = read_nccl_tests(PASTES / name)
        np.testing.assert_array_equal(table.size, 2.0 ** np.arange(15, 26))
        assert table.out.busbw[-1] == pytest.approx(199e9, rel=0.01)
    assert read_nccl_tests(PASTES / "markdown.txt").size[0] == 32 * KiB


def test_wrong_elements_cut_rows_and_elisions_are_said():
    table = read_nccl_tests(PASTES / "wrong_and_cut.txt")
    np.testing.assert_array_equal(table.out.wrong, [0, 0, 237858, 0])
    assert np.isnan(table.inplace.time[-1])
    said = " ".join(table.problems)
    assert "Line 9 (1 MiB) is cut; only its out-of-place half was read." in said
    assert "'...'" in said


def test_a_row_whose_beginning_was_overwritten_is_left_out_and_said():
    table = read_nccl_tests(PASTES / "overwritten.txt")
    assert table.size.tolist() == [2 * MiB, 4 * MiB, 8 * MiB, 16 * MiB]
    assert table.problems == ("Line 5 holds the end of a row whose size is missing; it was left out.",)


def test_a_clock_in_front_of_a_cut_row_is_no_size():
    rows = [printer.row("all_reduce", 8, printer.Line(size, 50, 49)) for size in (MiB, 2 * MiB)]
    table = read_nccl_tests([rows[0], "12:30:45 " + rows[1][14:]])
    assert table.size.tolist() == [MiB]
    assert "Line 2 prints fewer bytes (45)" in table.problems[0]


def test_cut_before_the_first_result_is_left_out():
    rows = [printer.row("all_reduce", 8, printer.Line(size, 50, 49)) for size in (MiB, 2 * MiB)]
    table = read_nccl_tests([*printer.header("all_reduce", "2021"), rows[0], rows[1][:70]])
    assert table.size.tolist() == [MiB]
    assert table.problems == ("Line 5 (2 MiB) is cut before its first result; it was left out.",)


@pytest.mark.parametrize(
    ("op", "layout"),
    [(op, layout) for layout in ("2018", "2021") for op in (*printer.BLOCKS, "all_reduce", "reduce", "sendrecv")],
)
def test_the_collective_shows_in_the_numbers(op, layout):
    """Without any name, the op is among the candidates, and if one is left it is the op; the ranks come out exactly."""
    table = read_nccl_tests(printer.table(op, 8, printer.sweep(op, 8, 32 * MiB, 512 * MiB, 20, 100), layout=layout))
    assert op in table.candidates
    assert table.op in (op, None)
    assert table.ranks == 8
    unique = {
        "2018": {"reduce", "reduce_scatter", "alltoall"},
        "2021": {"reduce", "sendrecv", "alltoall", "all_reduce"},
    }
    assert (table.op == op) or op not in unique[layout]


@pytest.mark.parametrize("op", ["all_reduce", "all_gather", "reduce_scatter", "alltoall"])
@pytest.mark.parametrize("n", [2, 3, 8, 64, 250])
def test_ranks_are_inferred_without_a_device_list(op, n):
    lines = [printer.Line(n * 4 * 2**20 * k, 900.0 * k, 890.0 * k) for k in (1, 2, 4, 8, 16)]
    text = [*printer.header(op, "2021"), *[printer.row(op, n, line) for line in lines]]
    assert read_nccl_tests(text, op=op).ranks == n


def test_too_many_ranks_to_infer_are_not_guessed():
    lines = [printer.row("all_reduce", 1440, printer.Line(2**29, 7108.4, 7145.8))]
    table = read_nccl_tests(lines)
    assert table.ranks is None
    assert "ranks; give ranks=" in table.problems[-1]
    assert read_nccl_tests(lines, ranks=1440).ranks_from == "given"


def test_contradictions_are_said():
    text = printer.table("all_reduce", 16, printer.sweep("all_reduce", 16, MiB, 64 * MiB, 20, 100))
    shortened = "\n".join(line for line in text.splitlines() if "node001" not in line)
    table = read_nccl_tests(shortened)
    assert (table.ranks, table.ranks_from) == (16, "busbw / algbw")
    assert "The device list has 8 ranks, but busbw / algbw says 16" in table.problems[-1]
    assert table.hosts == ()
    named = read_nccl_tests("$ ./build/all_gather_perf -b 1M -e 64M\n" + text)
    assert named.op == "all_gather"
    assert "The text names all_gather, but the numbers fit all_reduce." in named.problems
    wrong = read_nccl_tests("\n".join(text.splitlines()[20:]), ranks=4)
    assert (wrong.ranks, wrong.ranks_from) == (4, "given")
    assert "ranks = 4 was given, but busbw / algbw says 16." in wrong.problems
    assert read_nccl_tests(text, op="alltoall").op_from == "given"


def test_only_the_last_device_line_is_enough():
    text = printer.table("all_reduce", 72, printer.sweep("all_reduce", 72, 2**29, 2**33, 500, 800), per_host=4)
    lines = [line for line in text.splitlines() if "Rank" not in line or "Rank 71 " in line]
    table = read_nccl_tests(lines)
    assert (table.ranks, table.ranks_from, table.hosts) == (72, "last device line", ())


def test_ranks_from_the_log():
    row = printer.row("all_reduce", 2, printer.Line(128, 5.56, 5.82))
    assert read_nccl_tests(row).ranks is None
    table = read_nccl_tests([row, "hostA:1:1 [0] NCCL INFO comm 0x55 rank 0 nranks 4 cudaDev 0 - Destroy COMPLETE"])
    assert (table.ranks, table.ranks_from) == (4, "log")


def test_header_of_another_run():
    lines = printer.sweep("all_reduce", 8, MiB, 8 * MiB, 20, 100)
    text = printer.table("all_reduce", 8, lines).replace(f"maxBytes {8 * MiB}", f"maxBytes {2 * MiB}")
    assert "larger than the header's maxBytes" in read_nccl_tests(text).problems[0]


def test_several_tables_in_one_paste():
    tables = read_all(PASTES / "several.txt")
    assert [(t.op, t.ranks, len(t.size)) for t in tables] == [
        ("all_reduce", 8, 4),
        ("alltoall", 8, 3),
        ("all_gather", 8, 2),
    ]
    assert [t.ranks_from for t in tables] == ["device list", "device list", "size / count"]
    assert tables[0].average == pytest.approx(94.1643e9)
    assert tables[2].average is None
    assert "The text holds 3 tables; read_all returns each of them." in tables[0].problems
    assert all(disagreements(table) == [] for table in tables)


@pytest.mark.parametrize(("name", "ranks"), [("no_mpi_interleaved.txt", 1), ("doubled_8gpu.txt", 8)])
def test_runs_printed_into_one_another_are_one_table_that_says_so(name, ranks):
    (table,) = read_all(PASTES / name)
    assert (table.copies, len(table.size), table.ranks) == (2, 12, ranks)
    assert "2 runs printed into this table" in table.problems[0]


def test_two_whole_runs_one_after_the_other_are_two_tables():
    text = printer.table("all_reduce", 8, printer.sweep("all_reduce", 8, MiB, 8 * MiB, 20, 100))
    rows_only = "\n".join(line for line in text.splitlines() if "Avg" not in line and "Out of" not in line)
    for both in (text + "\n" + text, rows_only + "\n" + rows_only):
        assert [(len(t.size), t.copies) for t in read_all(both)] == [(4, 1), (4, 1)]


def test_a_repeated_sweep_is_no_mixture_but_shuffled_sizes_are():
    rows = [printer.row("all_reduce", 8, line) for line in printer.sweep("all_reduce", 8, MiB, 8 * MiB, 20, 100)]
    assert read_nccl_tests(rows + rows).problems == ()
    assert "Sizes repeat out of order" in read_nccl_tests([rows[0], rows[1], rows[0], rows[2], rows[1]]).problems[0]


def test_types_stay_apart():
    table = read_nccl_tests(PASTES / "types.txt")
    assert table.types == ("float", "f8e4m3")
    with pytest.raises(ValueError, match="float, f8e4m3: choose one with type="):
        measured(table)
    with pytest.raises(ValueError, match="type = 'half' is not in the table"):
        measured(table, "half")
    assert measured(table, "f8e4m3")[1][0] == pytest.approx(1.3 * measured(table, "float")[1][0], rel=1e-3)


def test_measured_drops_empty_messages_and_takes_the_half_that_is_there():
    rows = [printer.row("all_reduce", 8, line) for line in (printer.Line(0, 35, 34), printer.Line(MiB, 50, 49))]
    size, time, busbw = measured(read_nccl_tests(rows))
    assert (size.tolist(), time.tolist()) == ([MiB], [50e-6])
    assert busbw[0] == pytest.approx(36.70e9)
    report = json.loads((PASTES / "report.json.txt").read_text().splitlines()[2])
    for result in report["results"]:
        result["out_of_place"] = None
    table = read_nccl_tests(json.dumps(report))
    assert not table.out.present
    assert measured(table)[1][0] == table.inplace.time[0]


def test_json_oddities():
    table = read_nccl_tests(PASTES / "report.json.txt")
    assert (table.size.tolist(), table.root.tolist()) == ([MiB, 2 * MiB, 4 * MiB], [-1, -1, -1])
    assert np.isnan(table.out.time[1])
    assert np.isnan(table.inplace.wrong[2])
    assert table.counts_wrong
    assert table.header.gpus == 4
    assert [device.rank for device in table.devices] == list(range(8))
    assert table.hosts == ("node000", "node001")
    assert "SECRET" not in repr(table)


def test_json_that_failed_or_was_cut():
    text = (PASTES / "report.json.txt").read_text().splitlines()[2]
    with pytest.raises(ValueError, match="cut or malformed"):
        read_nccl_tests(text[: len(text) // 2])
    failed = json.loads(text) | {"results": [], "errors": ["unhandled system error"]}
    with pytest.raises(ValueError, match="no complete row: unhandled system error"):
        read_nccl_tests(json.dumps(failed))
    odd = json.loads(text)
    odd["results"][0]["size"] = None
    odd["results"][1]["in_place"]["time"] = "nan"
    odd["config"]["devices"] = [None]
    table = read_nccl_tests(json.dumps(odd))
    assert len(table.size) == 2
    assert table.problems[0] == "Result 1 of the JSON has no size or no numbers; it was left out."


ROOT = Path(__file__).parents[2]
PUBLISHED = sorted([*(ROOT / "tests/fieldwork/data").glob("*.txt"), *(ROOT / "notebooks/data").glob("*.txt")])


@pytest.mark.parametrize("path", PUBLISHED, ids=lambda path: path.stem)
def test_the_published_tables_name_their_ranks_by_their_numbers(path):
    text = path.read_text(encoding="utf-8")
    stated = next(int(line.split()[-1]) for line in text.splitlines() if line.startswith("# ranks: "))
    table = read_nccl_tests(text)
    assert (table.op, table.ranks, table.problems) == ("all_reduce", stated, ())
    assert disagreements(table) == []
    silent = read_nccl_tests(text.replace("# ranks: ", "# "))
    assert silent.ranks == (stated if stated < 1000 else None)  # 1,440 is beyond what two decimals tell


REFUSED = {
    "": "no nccl-tests table",
    "hello\nworld": "no nccl-tests table; paste rows such as: 1048576",
    "size(B) count(elems) type time:avg(us) algbw(GB/s) busbw(GB/s)\n 8 2 fp32 63.52 0.00 0.00": "nccom-test",
    "| payload | busbw | algbw |\n|---|---|---|\n| 32KiB | 1.44GBps | 0.82GBps |": "all_reduce_bench.py",
    "#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]\n 65536 5000 196.0 195.9 0.37": "perftest",
    "# OSU MPI-CUDA Allreduce Latency Test\n# Size Avg Latency(us)\n4 20.1": "OSU",
    "#NVL num GPUs protocol size algbw busbw #wrong time algbw busbw #wrong\nNVL4 12 tree 17179869184 127.87 234.43 0 "
    "134159 128.06 234.77 0": "other columns \\(nvl, num, gpus, protocol\\)",
    "| rails used | algbw |\n|---|---|\n| 1 | 27.0 GB/s |": "no row with size and time",
    "# size count type redop root time algbw busbw #wrong\nhostB:1:1 [4] NCCL WARN Net : no route": "NCCL WARN Net",
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 64": "probably failed before its first result",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refusals_are_one_sentence(text):
    with pytest.raises(ValueError, match=REFUSED[text]) as caught:
        read_nccl_tests(text)
    assert "\n" not in str(caught.value)


def test_a_failed_run_and_a_cousin_beside_a_table_are_noted():
    good = printer.table("all_reduce", 8, printer.sweep("all_reduce", 8, MiB, 8 * MiB, 20, 100))
    failed = "\n# nThread 1 nGpus 1 minBytes 8 maxBytes 64\nTest NCCL failure common.cu:1 'unhandled system error'"
    table = read_nccl_tests("# OSU MPI Allreduce\n" + good + failed)
    assert table.problems[0] == "The text also holds output of the OSU micro-benchmarks, which was not read."
    assert table.problems[1].startswith("One run has no rows: Test NCCL failure")


def test_a_run_that_died_is_said():
    rows = [printer.row("all_reduce", 8, printer.Line(MiB, 50, 49)), "hostB:1:1 [4] NCCL WARN Net : no route"]
    assert read_nccl_tests(rows).problems == ("There is no footer: hostB:1:1 [4] NCCL WARN Net : no route.",)


def test_text_comes_as_string_bytes_path_or_lines(tmp_path):
    text = printer.table("all_reduce", 8, printer.sweep("all_reduce", 8, MiB, 8 * MiB, 20, 100))
    path = tmp_path / "log.txt"
    path.write_bytes(text.encode("utf-16"))
    sources = [
        text,
        text.encode(),
        text.replace("\n", "\r\n"),
        text.splitlines(),
        path,
        str(path),
        iter(text.splitlines(True)),
    ]
    for source in sources:
        assert read_nccl_tests(source).size.tolist() == [MiB, 2 * MiB, 4 * MiB, 8 * MiB]
    with pytest.raises(ValueError, match="cannot be read"):
        read_nccl_tests(tmp_path / "none.txt")
    with pytest.raises(ValueError, match="neither text, nor a path, nor a list of lines"):
        read_nccl_tests(12)
    with pytest.raises(ValueError, match=r"text = 'logs/none.txt' is no file here and no table"):
        read_nccl_tests("logs/none.txt")


@pytest.mark.parametrize("ranks", [0, -1, 2.5, "8", [8], float("nan"), 10**30])
def test_a_rank_count_is_a_whole_number(ranks):
    with pytest.raises(ValueError, match=r"ranks = .* must be a whole number, at least 1"):
        read_nccl_tests(EXAMPLE, ranks=ranks)


@pytest.mark.parametrize("op", ["allreduce", "ALL_REDUCE", 5, []])
def test_an_unknown_op_is_refused(op):
    with pytest.raises(ValueError, match="is not an nccl-tests operation; use one of all_reduce"):
        read_nccl_tests(EXAMPLE, op=op)


def test_a_number_too_large_is_no_number():
    broken = EXAMPLE.replace("19.81", "1e300")
    assert "is cut before its first result" in read_nccl_tests([broken, EXAMPLE]).problems[0]
    report = {"size": 8, "count": 2, "type": "float", "out_of_place": {"time": 5, "alg_bw": 1e308, "bus_bw": 1.0}}
    assert np.isnan(read_nccl_tests(json.dumps({"results": [report]})).out.algbw[0])


def test_average_that_missed_its_threshold():
    text = printer.table("all_reduce", 8, printer.sweep("all_reduce", 8, MiB, 8 * MiB, 20, 100))
    average = next(line for line in text.splitlines() if "Avg" in line)
    assert read_nccl_tests(text).average_ok is None
    assert read_nccl_tests(text.replace(average, average + "FAILED")).average_ok is False
    assert read_nccl_tests(text.replace(average, average + "OK")).average_ok is True


def test_cells_that_contradict_each_other_leave_the_largest_row_to_speak():
    rows = [printer.row("all_reduce", 8, printer.Line(size, 500, 490)) for size in (2**26, 2**27)]
    odd = rows[0].replace(rows[0].split()[7], "999.99")  # a busbw changed by hand
    table = read_nccl_tests([odd, rows[1]], op="all_reduce")
    assert (table.ranks, table.ranks_from) == (8, "busbw / algbw")
    assert (
        "busbw differs from algbw x 1.75 (all_reduce, 8 ranks) beyond rounding in 1 of 4 cells"
        in disagreements(table)[0]
    )
    hopeless = read_nccl_tests([odd, "#  Rank  0 Pid 1 on a device 0 [0x00] Invented GPU"], op="all_reduce")
    assert (hopeless.ranks, hopeless.ranks_from) == (1, "device list")
    assert "busbw / algbw fits no rank count, so only the device list names it." in hopeless.problems


def test_a_label_may_stand_before_every_line_and_a_log_name_the_only_run():
    text = printer.table("all_reduce", 8, printer.sweep("all_reduce", 8, MiB, 8 * MiB, 20, 100))
    assert read_nccl_tests("\n".join("launcher-x7 | " + line for line in text.splitlines())).header.max_bytes == 8 * MiB
    assert read_nccl_tests(["NCCL version 2.1", *text.splitlines(), "NCCL version 9.9"]).header.nccl_version == "2.1"


def test_json_numbers_beyond_floats_are_missing():
    report = json.loads((PASTES / "report.json.txt").read_text().splitlines()[2])
    report["results"][0]["in_place"]["time"] = 10**400
    assert np.isnan(read_nccl_tests(json.dumps(report)).inplace.time[0])
