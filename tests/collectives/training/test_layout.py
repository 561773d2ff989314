"""Groups of ranks: each axis partitions them, innermost axes stay in a node, layouts that do not divide are refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives.training import Layout, check_fit, groups, model, placement, stage_layers, with_batch
from netlib.collectives.training.layout import AXES, GROUPS

small = st.integers(1, 4)


@settings(max_examples=80, deadline=None)
@given(tp=small, cp=st.integers(1, 3), dp=small, pp=small, ep=st.integers(1, 12), order=st.permutations(AXES))
def test_groups_partition_the_ranks(tp: int, cp: int, dp: int, pp: int, ep: int, order: list[str]) -> None:
    if (dp * cp) % ep:
        ep = 1
    layout = Layout(tp=tp, cp=cp, dp=dp, pp=pp, ep=ep, order=tuple(order))
    # a rank's coordinates, counted out by hand in the order of the axes
    counters = product(*(range(getattr(layout, axis)) for axis in reversed(order)))
    where = [dict(zip(reversed(order), digits, strict=True)) for digits in counters]
    for axis in GROUPS:
        rows = groups(layout, axis)
        assert sorted(rows.ravel().tolist()) == list(range(layout.n))
        fixed = [name for name in AXES if name != axis and not (axis in ("ep", "edp") and name in ("dp", "cp"))]
        for row in rows.tolist():
            assert len({tuple(where[rank][name] for name in fixed) for rank in row}) == 1
    for first, second in zip(groups(layout, "ep").tolist(), groups(layout, "edp").tolist(), strict=False):
        assert len(set(first) & set(second)) <= 1
    assert groups(layout, "ep").shape[1] * groups(layout, "edp").shape[1] == dp * cp


def test_an_ep_and_an_edp_group_share_one_rank() -> None:
    layout = Layout(tp=1, dp=8, ep=4)
    for ep in groups(layout, "ep"):
        for edp in groups(layout, "edp"):
            assert len(set(ep.tolist()) & set(edp.tolist())) == 1


def test_what_is_innermost_stays_in_the_node() -> None:
    megatron = Layout(tp=8, dp=6, pp=64)
    assert megatron.n == 3072
    assert placement(megatron, "tp", 8).inside
    assert placement(megatron, "dp", 8).local == 1
    assert groups(megatron, "pp")[0, :3].tolist() == [0, 48, 96]
    outside_in = Layout(tp=8, dp=6, pp=64, order=("dp", "cp", "pp", "tp"))
    assert not placement(outside_in, "tp", 8).inside
    assert placement(outside_in, "dp", 8).local == 6
    v3 = Layout(pp=16, dp=128, ep=64, uneven=True)
    assert (placement(v3, "ep", 8).local, placement(v3, "ep", 8).nodes) == (8, 8)
    assert (placement(v3, "edp", 8).local, placement(v3, "edp", 8).nodes) == (1, 2)


def test_placement_counts_ranks_by_node() -> None:
    """Against a plain count, where groups lie askew to the nodes."""
    layout = Layout(tp=3, dp=5, pp=2)
    for axis, g in product(("tp", "dp", "pp"), (1, 2, 4, 7, 40)):
        counts = [np.unique(row // g, return_counts=True)[1] for row in groups(layout, axis)]
        place = placement(layout, axis, g)
        assert (place.local, place.nodes) == (max(c.max() for c in counts), max(len(c) for c in counts))


def test_batches_and_stages() -> None:
    layout = with_batch(Layout(tp=8, pp=8, dp=192, virtual=6), 6144)
    assert (layout.microbatches, layout.batch) == (32, 6144)
    assert stage_layers(model("megascale-175b"), layout) == 12
    assert stage_layers(model("megatron-530b"), Layout(pp=35)) == 3


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Layout(tp=0), "tp = 0 must be a whole number"),
        (lambda: Layout(pp=2.0), "pp = 2.0 must be a whole number"),
        (lambda: Layout(dp=True), "dp = True must be a whole number"),
        (lambda: Layout(zero=4), "zero = 4 must be 0"),
        (lambda: Layout(dp=6, ep=4), "ep = 4 must divide dp x cp = 6"),
        (lambda: Layout(virtual=2), "virtual = 2 interleaves pipeline stages, but pp = 1"),
        (lambda: Layout(order=("tp", "dp", "pp")), "must name each of tp, cp, dp, pp once"),
        (lambda: groups(Layout(), "sp"), "axis = 'sp' is not one of"),
        (lambda: placement(Layout(), "tp", 0), "g = 0 must be at least 1"),
        (lambda: with_batch(Layout(dp=6), 20), "sequences = 20 must be a multiple of dp x micro = 6"),
        (lambda: check_fit(model("gpt3-175b"), Layout(pp=36)), "layers = 96 of GPT-3 175B do not divide"),
        (lambda: check_fit(model("gpt3-175b"), Layout(pp=97)), "pp x virtual = 97 is more than the layers = 96"),
        (lambda: check_fit(model("gpt3-175b"), Layout(tp=5)), "tp = 5 does not divide heads = 96"),
        (lambda: check_fit(model("gpt3-175b"), Layout(cp=3)), "sequence = 2048 of GPT-3 175B is not cut evenly"),
        (lambda: check_fit(model("gpt3-175b"), Layout(dp=2, ep=2)), "ep = 2 does not divide experts = 0"),
        (lambda: check_fit(model("deepseek-v3"), Layout(dp=6, ep=6)), "ep = 6 does not divide experts = 256"),
        (lambda: check_fit(model("deepseek-v3"), Layout(tp=8)), "tp = 8 with experts is not modelled"),
        (
            lambda: check_fit(model("gpt3-175b"), Layout(pp=8, virtual=2, microbatches=12)),
            "microbatches = 12 must be a multiple of pp = 8",
        ),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]
