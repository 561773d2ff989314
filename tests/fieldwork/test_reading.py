"""What is said about a table: each finding where it is due, and not where it is not."""

from pathlib import Path

import pytest

from netlib.fieldwork import disagreements, read_nccl_tests, recomputed
from netlib.fieldwork.reading import link_ceiling, observations
from netlib.hardware import node
from netlib.units import MiB
from tests.fieldwork import printer

PASTES = Path(__file__).parent / "pastes"
HGX = node("dgx-h100")


def said(text, node=None, **known):
    return "\n".join(observations(read_nccl_tests(text, **known), node))


def lines(rows, op="all_reduce", n=8):
    return [*printer.header(op, "2021"), *[printer.row(op, n, row) for row in rows]]


def curve(times, first=MiB):
    return lines([printer.Line(first * 2**i, us, us) for i, us in enumerate(times)])


def test_two_nodes_above_their_nics():
    heard = said(PASTES / "hgx_h100_two_nodes.txt", HGX)
    assert "all_reduce (inferred from the numbers), 16 ranks on 2 hosts (from the device list)." in heard
    assert "Peak busbw is 469 GB/s at 16 GiB (out-of-place), where it has levelled off." in heard
    assert "Half of the peak is first reached between 64 KiB and 64 MiB." in heard
    assert "Latency floor 25.9 us from 8 B to 64 KiB." in heard
    assert "8 B took 68.5 us out-of-place and 24.7 us in-place: the first row, so probably a cold start." in heard
    assert "256 B took 94.4 us out-of-place and 25.9 us in-place: one of the two was disturbed." in heard
    assert "Avg bus bandwidth, 140 GB/s, is the mean over all sizes and both halves" in heard
    assert "The rows here average 237 GB/s, the footer says 140 GB/s: rows are missing." in heard
    assert "if a tree ran, the NICs of a node carried 250 GB/s each way" in heard  # 469.21 x 16 / 30
    assert "469 GB/s is 117 % of 400 GB/s, the NICs of a node together, one way: busbw is a formula for rings" in heard


def test_without_link_rates_nothing_is_called_good_or_bad():
    heard = said(PASTES / "hgx_h100_two_nodes.txt")
    assert "Cannot tell whether the peak is good: no link rates were given." in heard
    assert "nor does the table name the nodes" in said(PASTES / "overwritten.txt")


def test_one_node_above_nvlink_and_four_nodes_below_their_nics():
    one = said(lines([printer.Line(2**33, 31122.0, 31100.0)]), HGX)
    assert "483 GB/s is 107 % of 450 GB/s, the NVLink rate of a GPU one way: busbw is a formula" in one
    four = said(lines([printer.Line(2**33, 45606.0, 45573.0)], n=32), HGX)
    assert "365 GB/s is 91.3 % of 400 GB/s, the NICs of a node together, one way." in four
    assert "a tree" not in four


def test_ranks_that_fill_no_node():
    heard = said(lines([printer.Line(2**33, 45606.0, 45573.0)], n=12), HGX)
    assert "Cannot tell the number of nodes: 12 ranks are no multiple of 8 GPUs." in heard


def test_link_ceilings():
    assert link_ceiling("all_reduce", 8, 1, HGX)[0] == 450e9
    assert link_ceiling("all_gather", 32, 4, HGX)[0] == 400e9
    assert link_ceiling("alltoall", 16, 2, HGX)[0] == pytest.approx(50e9 * 2 * 15 / 16)  # half stays inside a node
    assert link_ceiling("sendrecv", 16, 2, HGX)[0] == 0
    rows = lines([printer.Line(2**28, 9000.0, 9000.0)], op="sendrecv", n=16)
    assert "Cannot hold sendrecv against a link rate" in said(rows, HGX, ranks=16)


def test_runs_that_measured_no_network_are_not_judged():
    alone = observations(read_nccl_tests(PASTES / "no_mpi_interleaved.txt"), HGX)
    assert len(alone) == 2
    assert alone[0].startswith("Every process ran alone (1 rank), so nothing here measures a network")
    doubled = observations(read_nccl_tests(PASTES / "doubled_8gpu.txt"), HGX)
    assert doubled[0].startswith("2 runs printed into one table")
    assert not any("Peak" in sentence for sentence in alone + doubled)


def test_wrong_results_come_before_speed():
    heard = observations(read_nccl_tests(PASTES / "wrong_and_cut.txt"))
    assert heard[1].startswith("WRONG RESULTS: 2 cells count wrong elements (up to 237858), first at 512 KiB")
    footer = said([*lines([printer.Line(MiB, 50, 49)]), "# Out of bounds values : 3 FAILED"])
    assert "the footer counts 3 values out of bounds" in footer
    assert "WRONG" not in said(lines([printer.Line(MiB, 50, 49)]))


def test_validation_that_says_nothing():
    assert "No cell says whether the results are right" in said(lines([printer.Line(MiB, 50, 49, None)]))
    old = [*printer.header("alltoall", "2018"), printer.row("alltoall", 8, printer.Line(MiB, 50, 49, 1), layout="2018")]
    heard = said(old)
    assert "The error column reaches 1, a relative error; alltoall in place is not validated" in heard
    assert "WRONG" not in heard


def test_peak_that_still_rises_levels_off_or_falls():
    assert "the largest size: the plateau may lie higher" in said(curve([100, 120, 160]))
    assert "where it has levelled off" in said(curve([100, 195, 385, 768]))
    assert "it falls; cannot tell why" in said(curve([100, 150, 260, 700, 1500]))


def test_sweeps_that_show_no_floor_or_no_half_peak():
    heard = said(curve([100, 190, 380], 32 * MiB))
    assert "Cannot tell the latency floor: time still changes with size at 32 MiB." in heard
    assert "Cannot tell the half-peak size" in heard
    assert "smaller sizes were not run: cannot tell the latency floor" in said(curve([100, 101, 102, 300]))
    assert "there is one size only" in said(curve([100]))
    assert "milliseconds point to a fixed wait" in said(curve([4370, 4380, 4371, 4390, 4500], 8))
    assert "tens of" not in said(curve([37, 38, 37, 39, 45], 8)).lower()


def test_small_messages_only_are_no_bandwidth():
    heard = said(curve([30, 31, 32, 33], 64))
    assert "The largest size is 512 B: latency only, no bandwidth to read." in heard
    assert "Peak" not in heard


def test_empty_messages_only():
    assert "No row has both bytes and a time" in said(lines([printer.Line(0, 1.4, 1.3)]), op="alltoall", ranks=8)


def test_stall_dip_and_faster_larger_messages():
    stalled = said(curve([107, 210, 70248, 71951, 72576, 1071, 1223, 2000]))
    assert "From 4 MiB to 16 MiB every message takes about 72.0 ms, and larger ones are faster: a stall" in stalled
    assert "32 MiB takes less than half the time of 16 MiB" in stalled
    dipped = said(curve([126, 127, 146, 200, 296, 467, 1109, 2056, 3210]))
    assert "busbw dips at 64 MiB (" in dipped
    smooth = said(curve([50 + 10 * 2**i for i in range(10)]))
    assert not any(word in smooth for word in ("stall", "dips", "disturbed", "less than half"))


def test_many_disturbed_rows_are_counted():
    rows = [printer.Line(MiB * 2**i, 100.0 * 2**i, 300.0 * 2**i) for i in range(6)]
    assert "3 more rows differ by more than 2 x" in said(lines(rows))


def test_cpu_times_are_not_transfer_times():
    text = "\n".join(lines([printer.Line(MiB, 50, 49)])).replace("    time", " cputime")
    assert "Times are CPU times (-C)" in said(text)


def test_each_type_is_read_by_itself():
    heard = said(PASTES / "types.txt")
    assert "float: Peak busbw is 143 GB/s" in heard
    assert "f8e4m3: Peak busbw is 110 GB/s" in heard


def test_what_is_not_known_is_said():
    heard = said(
        "     128    32   float     sum      -1     5.56    0.02    0.02      0     5.82    0.02    0.02      0"
    )
    assert "all_reduce (inferred from the numbers); cannot tell the number of ranks." in heard
    assert "Cannot hold the peak against a link rate" in heard
    old = said("  4  1  float  sum  70.95  0.00  0.00  5e-07  68.99  0.00  0.00  5e-07")
    assert "all_reduce or sendrecv (cannot tell which)" in old


def test_recomputed_is_the_definition():
    table = read_nccl_tests("1000000 250000 float sum -1 100.0 10.00 17.50 0 200.0 5.00 8.75 0")
    algbw, busbw = recomputed(table)
    assert (algbw[0], busbw[0]) == (pytest.approx(10e9), pytest.approx(17.5e9))
    assert recomputed(table, table.inplace)[1][0] == pytest.approx(8.75e9)


def row(alg, bus, time=1000.0, size=100_000_000):
    """An all_reduce row on 8 ranks that should print 100.00 and 175.00."""
    return f"{size} {size // 4} float sum -1 {time:.1f} {alg:.2f} {bus:.2f} 0 {time:.1f} {alg:.2f} {bus:.2f} 0"


@pytest.mark.parametrize(
    ("scale", "meaning"),
    [
        (1, None),
        (7 / 8, "it counts (n-1)/n of the bytes for n = 8"),
        (1e9 / 2**30, "the bandwidths are GiB/s"),
        (2**30 / 1e9, "7.4 % too high"),
        (8, "the bandwidths are Gb/s"),
        (1 / 8, "8 times too low"),
        (1.3, "printed / computed = 1.3)."),
    ],
)
def test_algbw_that_is_not_size_over_time_is_explained(scale, meaning):
    found = disagreements(read_nccl_tests(row(100 * scale, 175 * scale), ranks=8))
    assert (found == []) if meaning is None else (len(found) == 1 and meaning in found[0])


def test_times_in_another_unit_are_recognised():
    milli = disagreements(read_nccl_tests(row(100, 175, time=100.0, size=10**10), ranks=8))  # 10 GB at 100 GB/s: 100 ms
    assert milli[0].endswith("the times are in ms, not us.")
    nano = disagreements(read_nccl_tests(row(100, 175, time=1e6, size=10**8), ranks=8))
    assert nano[0].endswith("the times are in ns, not us.")


def test_busbw_of_another_op_or_rank_count_is_explained():
    as_gather = disagreements(read_nccl_tests(row(100, 87.5), op="all_reduce", ranks=8))
    assert "the factor is that of all_gather or reduce_scatter or alltoall" in as_gather[0]
    other_n = disagreements(read_nccl_tests(row(100, 187.5), op="all_reduce", ranks=8))
    assert other_n[0].endswith("the factor is that of all_reduce with 16 ranks.")
    neither = disagreements(read_nccl_tests(row(100, 60), op="broadcast", ranks=8))
    assert "the printed factor lies between" in neither[0]


def test_rounding_is_no_disagreement():
    assert (
        disagreements(read_nccl_tests("262144 65536 float sum -1 325.1 0.81 1.41 0 325.3 0.81 1.41 0", ranks=8)) == []
    )
    assert len(disagreements(read_nccl_tests("262144 65536 float sum -1 325.1 0.83 1.41 0", ranks=8))) >= 1
