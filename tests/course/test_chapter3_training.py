"""The training part of the collectives chapter: what its figures say, counted another way, and the shape they draw."""

import itertools

import numpy as np
import pytest

from netlib.collectives.training import (
    Layout,
    beside,
    by_order,
    exposed_by_bucket,
    model,
    placement,
    runs,
    step_flows,
    with_batch,
)
from netlib.course import prose
from netlib.course.exercises import load
from netlib.course.explorer import find, state
from netlib.course.explorers import overlap_buckets, overlap_curve, pipeline_gantt, placement_orders, step_bars
from netlib.course.figure import Spans
from netlib.course.spans import corners

# ---- pipeline-gantt


def drawn(id, **knobs):
    """The bars of a state: (name, row, start, end, number), and nothing that is not drawn."""
    found = []
    for part in find(id)(**knobs).elements:
        if isinstance(part, Spans):
            row, start, end, label = (
                np.broadcast_to(np.ravel(v), np.shape(np.ravel(part.start)))
                for v in (part.row, part.start, part.end, part.label)
            )
            seen = np.isfinite(start)
            found += [(part.name, *row4) for row4 in zip(row[seen], start[seen], end[seen], label[seen], strict=True)]
    return found


RUNNING = [
    (kind, p, m)
    for kind, p, m in itertools.product(find("pipeline-gantt").knobs["kind"].values, (2, 4, 6), (4, 8, 12, 16))
    if np.isfinite(state("pipeline-gantt", kind=kind, p=p, m=m)["bubble"])
]


@pytest.mark.parametrize(("kind", "p", "m"), RUNNING)
def test_the_bubble_is_the_white_between_the_bars(kind, p, m):
    """Counted from the drawn rectangles alone, by area."""
    bars = drawn("pipeline-gantt", kind=kind, p=p, m=m)
    stage = np.array([round(row) for _, row, *_ in bars])
    start, end = (np.array([bar[i] for bar in bars]) for i in (2, 3))
    edges = np.unique(np.concatenate([start, end]))
    middle = (edges[1:] + edges[:-1]) / 2
    busy = sum(
        float((np.diff(edges) * ((start[s] <= middle[:, None]) & (middle[:, None] < end[s])).any(axis=1)).sum())
        for s in (stage == row for row in np.unique(stage))
    )
    found = state("pipeline-gantt", kind=kind, p=p, m=m)
    assert len(np.unique(stage)) == p
    assert end.max() - start.min() == pytest.approx(found["span"])
    assert p * found["span"] / busy - 1 == pytest.approx(found["bubble"], abs=1e-9)
    if kind == pipeline_gantt.ZERO and m < p:
        assert found["formula"] < found["bubble"] - 0.1
        assert "the formula is too low" in found["failure"]
    else:
        assert found["formula"] == pytest.approx(found["bubble"], abs=1e-9)


@pytest.mark.parametrize(("kind", "p", "m"), RUNNING)
def test_each_stage_runs_each_microbatch_forward_and_backward_once(kind, p, m):
    chunks = pipeline_gantt.CHUNKS if kind == pipeline_gantt.INTER else 1
    rows = {}
    for name, row, start, end, number in drawn("pipeline-gantt", kind=kind, p=p, m=m):
        rows.setdefault((name, round(row)), []).append((number, end - start))
    for (name, _), found in rows.items():
        if name != "weights' gradient":
            assert sorted(number for number, _ in found) == sorted([*range(1, m + 1)] * chunks)


def test_what_the_text_says_of_the_schedules():
    four = {kind: state("pipeline-gantt", kind=kind, p=4, m=12) for kind in find("pipeline-gantt").knobs["kind"].values}
    gpipe, one, inter, *_ = four.values()
    assert gpipe["bubble"] == one["bubble"] == 0.25
    assert (gpipe["held"], one["held"]) == (12, 4)
    assert inter["bubble"] == pytest.approx(0.125)
    assert four["DualPipe"]["bubble"] < four[pipeline_gantt.ZERO]["bubble"] < 0.125


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"kind": "DualPipe", "p": 6, "m": 8}, "at least 12 microbatches for 6 stages"),
        ({"kind": pipeline_gantt.INTER, "p": 6, "m": 8}, "groups of 6, which 8 are not"),
        ({"kind": "GPipe", "p": 4, "m": 16}, "all 16 microbatches at once"),
        ({"kind": "1F1B", "p": 6, "m": 4}, "more than half"),
    ],
)
def test_pipelines_that_fail(knobs, says):
    assert says in state("pipeline-gantt", **knobs)["failure"]


# ---- overlap


def test_where_buckets_queue_larger_ones_leave_more():
    """The chapter and the exercise say so; layer by layer at a rate that cannot keep up."""
    per_byte = 2 * 63 / 64 / 20e9
    left = [
        float(exposed_by_bucket([0.02] * 8, [250e6] * 8, layers * 250e6, lambda size: size * per_byte))
        for layers in (1, 2, 4, 8)
    ]
    assert left == pytest.approx([8 * 250e6 * per_byte - 0.02 * (8 - layers) for layers in (1, 2, 4, 8)])
    assert left == sorted(left)


@pytest.mark.parametrize("tokens", overlap_buckets.TOKENS)
@pytest.mark.parametrize("bucket", overlap_buckets.BUCKETS)
def test_exposed_is_what_is_drawn_behind_the_mark(bucket, tokens):
    found = state("overlap-buckets", bucket=bucket, tokens=tokens)
    bars = drawn("overlap-buckets", bucket=bucket, tokens=tokens)
    work = [bar for bar in bars if bar[1] == 1]
    sent = [bar for bar in bars if bar[1] == 0]
    assert len(work) == 80
    assert len(sent) == found["count"]
    assert max(bar[3] for bar in work) == pytest.approx(found["alone"])
    assert max(bar[3] for bar in sent) - found["alone"] == pytest.approx(found["exposed"])
    assert sum(end - start for _, _, start, end, _ in sent) == pytest.approx(found["exposed"] + found["hidden"])
    starts = [bar[2] for bar in sent]
    assert all(later >= bar[3] - 1e-12 for later, bar in zip(starts[1:], sent, strict=False)), "one stream at a time"


def test_all_gradients_travel_whatever_the_bucket():
    times = [state("overlap-buckets", bucket=b) for b in overlap_buckets.BUCKETS]
    bytes_ = overlap_buckets.GRADIENT * 80
    for found in times:
        start_ups = found["count"] * 2 * 31 * overlap_buckets.MACHINE.out.alpha
        wire = 2 * 31 / 32 * bytes_ / overlap_buckets.MACHINE.out.bandwidth
        assert found["exposed"] + found["hidden"] == pytest.approx(start_ups + wire)
    assert "One bucket holds everything" in times[-1]["failure"]
    assert "longer than the work" in state("overlap-buckets", tokens=2048)["failure"]


def test_the_valley_lies_above_pytorchs_bucket_in_large_jobs():
    found = state("overlap-curve")
    assert found["usual"] > 5 * found["best"]
    assert found["at"] > overlap_curve.DEFAULT
    assert found["exposed"][-1] > 10 * found["best"]
    assert overlap_curve.TENSORS.sum() * 80 == pytest.approx(
        overlap_buckets.GRADIENT * 80, rel=0.01
    )  # without embeddings
    small = state("overlap-curve", nodes=4)
    assert small["usual"] < found["usual"] / 50


# ---- step-bars, step-published


@pytest.mark.parametrize("gpus", step_bars.GPUS)
def test_the_layout_of_the_paper_gives_the_models_step(gpus):
    """The bars add up, and at the paper's own layout they are the row of the comparison."""
    found = state("step-bars", gpus=gpus)
    one = [sum(found[name][i] for name in step_bars.PARTS) for i in (0, 1)]  # GPU seconds of a sequence
    assert one[0] * step_bars.BATCH / gpus == pytest.approx(found["total"])
    bare = next(r for r in runs("megascale-baseline") if r.gpus == gpus)
    assert bare.layout.virtual == step_bars.layout_of(gpus, 8, 8).virtual == 6
    row = beside(bare)
    assert found["bare"] == pytest.approx(row.modelled)
    assert found["hidden"] == pytest.approx(beside(next(r for r in runs("megascale") if r.gpus == gpus)).modelled)
    assert found["total"] < found["before"]
    assert one[1] * step_bars.BATCH / gpus < found["after"] < found["before"]


@pytest.mark.parametrize(
    ("knobs", "says"),
    [
        ({"tp": 1, "pp": 8}, "Does not fit"),
        ({"tp": 16, "pp": 1}, "left its node"),
        ({"tp": 1, "pp": 1}, "does not divide"),
    ],
)
def test_layouts_that_fail(knobs, says):
    assert says in state("step-bars", **knobs)["failure"]


def test_counting_gives_the_papers_back_and_predicting_does_not():
    from netlib.course.explorers.step_published import BARE, COUNTED, MODELLED

    counted, bare, modelled = (state("step-published", how=how) for how in (COUNTED, BARE, MODELLED))
    assert (counted["count"], modelled["count"]) == (17, 29)
    assert 0.99 < counted["low"] <= counted["high"] < 1.02
    assert bare["high"] < modelled["high"]
    assert modelled["low"] > 1
    assert "DeepSeek-V3 is a miss" in modelled["failure"]
    assert not counted["failure"]


# ---- placement-orders


@pytest.mark.parametrize("size", placement_orders.SIZES)
def test_all_orders_send_the_same_bytes(size):
    found = state("placement-orders", size=size)
    sums = np.add(found["over NVLink"], found["through its card"])
    assert sums == pytest.approx([sums[0]] * 6)
    assert sums[0] == pytest.approx(found["bytes"])
    tp, dp, pp = placement_orders.SIZES[size]
    layout = with_batch(Layout(tp=tp, dp=dp, pp=pp), placement_orders.BATCH)
    assert sums[0] == pytest.approx(sum(f.sent for f in step_flows(model("gpt3-175b"), layout)))


def test_tensor_groups_belong_inside():
    found = state("placement-orders")
    assert placement_orders.ORDERS[int(found["best"]) - 1][0] == "tp"
    assert found["card"] < 0.05 * found["bytes"]
    assert found["times"] > 2
    assert "do not fit domains of 4" in state("placement-orders", g=4)["failure"]
    assert "Numbered carelessly" in state("placement-orders", nic=25e9)["failure"]


def test_the_place_exercise_agrees_with_the_fabric():
    """Bytes through a card counted group by group: every pair of neighbours of a ring that lies in two nodes."""
    layout = Layout(tp=8, dp=16, pp=8, microbatches=96, order=("dp", "cp", "tp", "pp"))
    places = {axis: placement(layout, axis, 8) for axis in ("tp", "dp", "pp")}
    assert (places["tp"].local, places["dp"].local) == (1, 8)
    answer = load("placement-01").answer()
    flows = {f.axis: f for f in step_flows(model("gpt3-175b"), layout)}
    by_hand = flows["tp"].sent + flows["dp"].sent / 8 + flows["pp"].sent
    assert answer["card_dp"] == pytest.approx(by_hand)
    machine = step_bars.MACHINE
    assert by_order(model("gpt3-175b"), layout, machine, tuple(flows.values()))[0].order[0] == "tp"


# ---- exercises, from the statement by hand


def test_answers_by_hand():
    want = {
        "pipeline-01": {"bubble": 7 / 32, "lost": 7 / 39, "chunks": 7 / 192},
        "pipeline-02": {
            "idle": 7 * (13.95 / 97 + 2.47 / 23 - 3 * 0.48 / 15),
            "times": 2.06 / (7 * (13.95 / 97 + 2.47 / 23 - 3 * 0.48 / 15)),
            "one": 15 * (1.13 / 23 + 2.47 / 23),
        },
        "zero-01": {"ddp": 271.6e9, "fsdp": 24 * 135.8e9, "local": 17 * 135.8e9, "ratio": 12},
        "overlap-01": {"one": 9.84375e-3, "four": 39.375e-3, "all": 78.75e-3, "slow": 56.875e-3},
        "mfu-01": {"megascale": 0.5577, "megatron": 0.3918, "deepseek": 0.3903},
        "placement-01": {"tp": 405.87e9, "dp": 10.231e9, "card_tp": 19.894e9, "card_dp": 416.82e9},
    }
    for id, parts in want.items():
        got = load(id).answer()
        for name, value in parts.items():
            assert got[name] == pytest.approx(value, rel=5e-4), (id, name)
    assert load("placement-01").answer()["inside"] == "a"


def test_prose_may_use_the_training_models():
    assert prose.calc("beside(runs('deepseek')[0]).ratio | | 3")[0] == "2.74"
    assert prose.calc("float(pipeline_bubble(8, 32)) | % | 3")[0] == "21.9 %"


# ---- the shape


def test_spans_leave_gaps_out_and_keep_labels_by_their_bars():
    boxes, labels = corners(Spans("w", [0.0, 1.0, 2.0], [0.0, np.nan, 4.0], [1.0, 2.0, 6.0], [7.0, 8.0, 9.0], 0.4))
    assert labels.tolist() == [7, 9]
    assert boxes[1].tolist() == [[4.0, 1.8], [4.0, 2.2], [6.0, 2.2], [6.0, 1.8]]


def test_numbers_in_bars_show_only_where_they_fit():
    from netlib.course.draw import Picture
    from netlib.course.frame import frame

    own = find("pipeline-gantt")
    picture = Picture(own(), frame(own.grid))
    picture.show(own())
    told = {text.get_text() for ax in picture.axes for text in ax.texts if text.get_visible()}
    assert {str(k) for k in range(1, 13)} <= told
    picture.show(own(kind=pipeline_gantt.INTER, p=6, m=12))
    texts = [text for ax in picture.axes for text in ax.texts if text.get_visible() and text.get_color() == "white"]
    assert "12" not in {text.get_text() for text in texts}, "a bar of half a pass has no room for two digits"
