"""Large messages, curves, the second model, NCCL's choices and DeepEP's bytes: shares that are held, and reasons."""

from dataclasses import replace

import numpy as np
import pytest

from netlib.collectives import nccl
from netlib.collectives.algorithms import experts
from netlib.collectives.training import side_by_side
from netlib.fidelity import boards, judge, models, page, peaks, published_rows, summary, tokens, tuned
from netlib.fidelity.calibration import FITTED, constants
from netlib.fidelity.prediction import Unanswerable
from netlib.fidelity.report import text
from netlib.fidelity.score import about, judged_rows
from netlib.fidelity.setup import read_setup

ROWS = {row["id"]: row for row in published_rows()}
H200 = ROWS["H200x8-016"]
GiB = 2**30


def error(id, **changes):
    return judge([ROWS[id] | changes])[0].rel_error


# ---- peaks


def test_nine_in_ten_peaks_are_within_five_per_cent():
    found = peaks.peaks()
    assert len(found) >= 105
    assert peaks.within(found, 0.05) >= 0.90 * len(found)
    beyond = {peak.row.id for peak in found if abs(peak.error) > 0.10}
    assert beyond == {"GTC-012", "GTC-017", "B200x32f-002"}


def test_every_far_peak_has_one_reason():
    explained = [id for cause in peaks.FAR for id in cause.rows]
    assert sorted(explained) == sorted(peak.row.id for peak in peaks.far())
    assert all(cause.reason.endswith(".") for cause in peaks.FAR)


def test_the_set_is_the_rule_and_nothing_is_dropped():
    scored = {row.id for row in judged_rows() if row.rel_error is not None}
    assert {peak.row.id for peak in peaks.peaks()} == {id for id in scored if peaks.is_peak(ROWS[id])}
    for change in ({"message_bytes": str(GiB - 1)}, {"collective": "broadcast"}, {"gpu": "GB200"}, {"ranks": "1032"}):
        assert peaks.is_peak(H200)
        assert not peaks.is_peak(H200 | change)
    assert not peaks.is_peak({})
    blind = H200 | {"value": "1", "id": "x", "source_title": ""}
    assert peaks.is_peak(blind)


def test_the_issue_s_kinds_are_all_in_it():
    kinds = {(peak.gpu, peak.several) for peak in peaks.peaks()}
    assert kinds >= {(gpu, False) for gpu in peaks.GPUS} | {("H100", True), ("B200", True)}
    assert any(peak.row.id.startswith("NVT") and ROWS[peak.row.id]["ranks"] == "1024" for peak in peaks.peaks())
    assert not FITTED & {peak.row.id for peak in peaks.peaks()}


@pytest.mark.parametrize(("prefix", "most"), [("NVT", 0.10), ("MGEN", 0.05)])
def test_curves_to_thousands_of_gpus(prefix, most):
    errors = [abs(row.rel_error) for row in peaks.curve(prefix)]
    assert len(errors) > 20
    assert np.mean(errors) <= most
    assert max(int(ROWS[row.id]["ranks"]) for row in peaks.curve(prefix)) >= 4096


# ---- the two rules behind them


def test_a_pipeline_grows_until_chunks_are_full():
    """Four nodes: 9 ranks on the way up, so 576 MiB; racks, and two nodes, have no bound."""
    setup = replace(read_setup(ROWS["NVT-001"]), size=64 * 2**20)
    assert models.fill(setup) == pytest.approx((2 * 64 * 2**20) ** 0.5)
    full = [models.fill(replace(setup, size=size)) for size in (576 * 2**20, GiB, 1e15)]
    assert full == pytest.approx([(2 * 576 * 2**20) ** 0.5] * 3)
    two = replace(setup, nodes=2, ranks=16)
    assert models.fill(replace(two, size=4.0 * GiB)) == pytest.approx(2 * models.fill(replace(two, size=1.0 * GiB)))
    rack = replace(setup, domain=72, per_node=4, nodes=72, ranks=288)
    assert models.fill(replace(rack, size=4.0 * GiB)) == pytest.approx(2 * models.fill(replace(rack, size=1.0 * GiB)))


@pytest.mark.parametrize("machine", ["dgx-h100", "p5"])
def test_older_nccl_takes_no_nvlstree_on_four_nodes_by_its_own_tuner(machine):
    """The rule that the first model borrows, against the second model's tuner, for every version and count."""
    nodes, sizes = np.array([4, 5, 12, 64, 512]), 2.0 ** np.arange(20, 36)[:, None]
    for version in nccl.editions():
        key = tuple(int(part) for part in version.split("."))
        if key >= (2, 18):
            names = nccl.tune(version, nccl.named(machine, nodes, version=version)).choose(sizes).name
            assert np.char.startswith(names, "NVLSTree").any() == (key >= models.NVLSTREE_FROM), version


def test_the_version_is_read_and_only_then_used():
    row = ROWS["MGEN-005"]
    assert read_setup(row).version == (2, 23)
    plain = row["system"].partition(", NCCL")[0]
    free, newer = (judge([row | {"system": text}])[0] for text in (plain, plain + ", NCCL 2.28.3"))
    assert free.model == newer.model > judge([row])[0].model
    assert judge([row])[0].note == "double binary tree"
    forced = judge([row | {"algorithm": "NVLSTree"}])[0]
    assert forced.note == "NVLS in the domain, tree across"
    three = judge([row | {"nodes": "3", "ranks": "24"}])[0]
    assert three.note == "NVLS in the domain, tree across"


def test_queued_calls_are_quicker_by_a_floor():
    row = ROWS["H200x8q-002"]
    waiting = judge([row | {"system": row["system"].replace("queued calls", "blocking calls")}])[0]
    times = [1 / judged.model for judged in (judge([row])[0], waiting)]
    gained = (times[1] - times[0]) * 65536 * 1.75 * 1e-9
    c = constants()
    assert gained == pytest.approx(c.launch["Hopper"] - c.queued["Hopper"], rel=1e-6)
    a100 = row | {"gpu": "A100", "scaleup_GBps_per_dir": "300"}
    assert judge([a100])[0].model == judge([a100 | {"system": "blocking"}])[0].model


# ---- the second model


def test_the_plan_of_a_row_by_hand():
    """H200, 1 GiB, NVLS of 2.27.7: 8 channels of 40 GB/s x 5/6, and 25 us; nothing fitted, nothing launched."""
    planned = tuned.planned(H200)
    tuning = nccl.tune("2.27.7", nccl.named("dgx-h100", 1, 8, "2.27.7"))
    seconds = float(tuning.latency[tuning.row("NVLS/Simple")]) + GiB / (320e9 * 5 / 6)
    assert planned.value == pytest.approx(GiB / seconds * 1.75 / 1e9, rel=1e-6)
    assert tuned.planned(H200 | {"metric": "algbw"}).value == pytest.approx(planned.value / 1.75)


@pytest.mark.parametrize(
    ("id", "changes", "note"),
    [
        ("H200x8-016", {"algorithm": "ring"}, "Ring/Simple in NCCL 2.27.7"),
        ("H200x8-016", {"algorithm": "ring (NCCL_NVLS_ENABLE=0)"}, "Ring/Simple in NCCL 2.27.7"),
        ("H200x8-016", {"algorithm": "NVLS", "system": "8x H200, NCCL 2.30.7"}, "NVLS/Simple in NCCL 2.30.7"),
        ("H200x8-016", {"collective": "all_gather", "algorithm": "ring"}, "Ring/Simple in NCCL 2.27.7"),
        ("NVT-055", {}, "NVLSTree/Simple in NCCL 2.27.7"),
        ("MGEN-013", {}, "Ring/Simple in NCCL 2.23"),
        ("GTC-012", {"message_bytes": str(GiB)}, "NVLS/Simple in NCCL 2.27.7"),
        ("AWS-008", {}, "NVLSTree/Simple in NCCL 2.27.7"),
    ],
)
def test_what_the_plan_takes(id, changes, note):
    assert tuned.planned(ROWS[id] | changes).note == note


@pytest.mark.parametrize(
    ("id", "changes", "why"),
    [
        ("H200x8-016", {"collective": "alltoall"}, "no tuner for 'alltoall'"),
        ("H200x8-016", {"gpu": "V100", "scaleup_GBps_per_dir": "150"}, "nodes of A100, H100, H200 and B200"),
        ("H200x8-016", {"scaleup_GBps_per_dir": "200"}, "not known for such a node"),
        ("CW-006", {}, "not known for such a node"),
        ("AWS-013", {}, "not known for such network cards"),
        ("H200x8-016", {"system": "NCCL 2.1.2"}, "2.1.2"),
        ("A100x8-016", {"algorithm": "NVLSTree"}, "NCCL fails here"),
    ],
)
def test_where_there_is_no_plan(id, changes, why):
    with pytest.raises(Unanswerable, match=why):
        tuned.planned(ROWS[id] | changes)
    assert judge([ROWS[id] | changes])[0].tuner is None


def test_the_second_model_sees_no_value_either():
    row = ROWS["B200x8-016"]
    one, other = judge([row])[0], judge([row | {"value": "1", "note": "", "source_title": ""}])[0]
    assert one.tuner == other.tuner
    assert one.tuner_error == pytest.approx(one.tuner / one.published - 1)
    assert judge([row | {"unit": "MB/s"}])[0].tuner == pytest.approx(1000 * one.tuner)
    assert judge([ROWS["P2P-002"]])[0].tuner_error is None


def test_a_plan_is_close_for_large_messages_only():
    """As the page says: a few per cent from 256 MiB or 1 GiB on, far too fast below."""
    errors = {}
    for row in judged_rows():
        if row.tuner_error is not None:
            errors.setdefault(row.group, []).append(row.tuner_error)
    large, small = "busbw: one domain, >= 256 MiB", "busbw: one domain, < 1 MiB"
    assert np.median(np.abs(errors[large])) < 0.05
    assert np.median(np.abs(errors["busbw: across domains, >= 1 GiB"])) < 0.08
    assert np.median(errors[small]) > 0.5


# ---- choices


def test_nccl_s_choices_are_reproduced():
    rows = [row for row in judged_rows() if about(row.group) == "choices"]
    assert len(rows) == 30
    assert all(row.ok for row in rows)
    assert {ROWS[row.id]["gpu"] for row in rows} == {"H200", "B200"}
    (group,) = (group for group in summary(judged_rows()) if about(group.group) == "choices")
    assert (group.rows, group.hits, group.tolerance) == (30, 30, 0.0)


def test_a_wrong_choice_is_a_miss_and_the_newer_version_makes_some():
    row = ROWS["SEL-007"]
    assert judge([row | {"value": "Ring/LL"}])[0].ok is False
    assert judge([row | {"value": "NVLS"}])[0].ok is True
    assert judge([row | {"value": ""}])[0].ok is None
    assert judge([row | {"gpu": "V100"}])[0].status == "not answerable"
    newer = [ROWS[f"SEL-{i:03d}"] | {"system": "NCCL 2.30.7"} for i in range(21, 31)]
    assert sum(judged.ok is False for judged in judge(newer)) == 3  # 5 H200s, 6 and 7 B200s
    assert not {"value", "note"} & {key for key in row if "NVLS" in (row["algorithm"] + row["system"])}


def test_a_missed_choice_can_be_printed():
    (judged,) = judge([ROWS["SEL-007"] | {"value": "Ring/LL"}])
    assert "NVLS/Simple chosen, Ring/LL seen" in text([judged])


# ---- experts


def test_deepep_s_bytes_are_exact():
    rows = [row for row in judged_rows() if row.group == "experts: bytes of a rank"]
    assert {row.published for row in rows} == {128 * 8 * (7168 + 224 + 16), 128 * 8 * 7168 * 2}
    assert len(rows) == 12
    assert all(row.model == row.published for row in rows)


def test_deepep_s_rates_within_two_per_cent_but_for_two():
    rows = [row for row in judged_rows() if row.group == "experts: those bytes over the printed time"]
    assert len(rows) == 12
    assert {row.id for row in rows if not row.ok} == {"DEP-030", "DEP-044"}
    assert max(abs(row.rel_error) for row in rows) < 0.021


def test_the_bytes_come_from_the_schedule(monkeypatch):
    """A builder that loses a message, or keeps one token twice, is noticed."""
    make = experts.moe_dispatch
    assert tokens.copies(2, 3, 16, False) == 6
    tokens.copies.cache_clear()

    def short(routing, copies):
        made = make(routing, copies)
        return replace(made, phases=made.phases[:0])

    monkeypatch.setattr("netlib.collectives.moe_dispatch", short)
    with pytest.raises(Unanswerable, match="different counts"):
        tokens.copies(2, 3, 16, False)
    tokens.copies.cache_clear()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"system": "128 tok, hidden 7168"}, "not all stated"),
        ({"system": "128 tok, hidden 7168, top-0, 77 us"}, "none or too many"),
        ({"system": "128 tok, hidden 7168, top-999, 77 us"}, "none or too many"),
        ({"system": "99999999 tok, hidden 7168, top-8, 77 us"}, "none or too many"),
        ({"ranks": "9999"}, "none or too many"),
        ({"ranks": "9"}, "no whole nodes of 8"),
        ({"ranks": ""}, "not all stated"),
        ({"collective": "moe_dispatch(INT4)"}, "does not say FP8 or BF16"),
        ({"metric": "rate", "system": "128 tok, hidden 7168, top-8"}, "the time is not stated"),
        ({"metric": "rate", "system": "128 tok, hidden 7168, top-8, 0 us"}, "the time is not stated"),
    ],
)
def test_experts_that_are_not_stated(changes, why):
    with pytest.raises(Unanswerable, match=why):
        tokens.counted(ROWS["DEP-025"] | changes)


def test_other_experts_than_those_of_the_table():
    row = ROWS["DEP-025"] | {"system": "64 tok, hidden 4096, top-6, 50 us", "ranks": "16"}
    assert tokens.counted(row).value == 64 * 6 * (4096 + 128 + 16)
    bf16 = row | {"collective": "moe_combine(BF16)", "metric": "rate"}
    assert tokens.counted(bf16).value == pytest.approx(64 * 6 * 8192 / 50e-6 / 1e9)


# ---- the page


def test_the_page_shows_both_models_and_every_reason():
    board = boards.peaks_board()
    found = peaks.peaks()
    assert f"| {len(found)} | {peaks.within(found, 0.05)} (" in board.splitlines()[-1]
    assert all(f"`{peak.row.id}` {peak.error:+.1%}" in boards.peaks_far() for peak in peaks.far())
    assert boards.choices().count("`SEL-") == 30
    assert boards.curves().count("\n") == 3
    assert all(group.group in boards.second_model() for group in summary(judged_rows()) if "busbw" in group.group)
    assert "NCCL's plan" in page.every_row().splitlines()[0]
    for table in (board, boards.curves(), boards.second_model(), boards.choices(), page.every_row(), page.misses()):
        blocks = [block.splitlines() for block in table.split("\n\n") if block.startswith("|")]
        assert all(line.count("|") == lines[0].count("|") for lines in blocks for line in lines)


def test_a_title_keeps_its_capitals():
    titles = [cause.title for cause in peaks.FAR]
    assert "8 GiB on B200" in titles
    assert "Two nodes on EFA" in titles


def test_training_runs_are_on_the_page_as_their_module_has_them():
    board = boards.training_board()
    runs = side_by_side()
    assert board.count("\n") == len(runs) + 1
    for run in runs:
        (line,) = (line for line in board.splitlines() if line.startswith(f"| {run.id} |"))
        assert f"| {run.printed:.1%} |" in line
        assert line.endswith(f"| {run.ratio:.2f} |")
