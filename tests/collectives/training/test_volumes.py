"""Bytes of a step: closed records against executed steps, against `traffic`, and against the derivations on paper."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives import traffic
from netlib.collectives.training import (
    Flow,
    Layout,
    Model,
    Widths,
    axis_bytes,
    interleaved,
    model,
    placement,
    step_flows,
    token_copies,
)
from tests.collectives.training.small_step import (
    expert_step,
    one_process_step,
    pipeline_step,
    sharded_step,
    tensor_step,
)

REAL = Widths(weight=8, gradient=8, activation=8, dispatch=8, combine=8)  # numpy's float64
TOY = Model("toy", "toy", layers=4, hidden=8, heads=4, ffn=16, vocab=24, sequence=8, printed=0, source="", biases=False)
MOE = replace(TOY, id="moe", experts=8, top_k=3, expert_ffn=4, dense_layers=0)


def sent(flows: tuple[Flow, ...], axis: str) -> float:
    return axis_bytes(flows).get(axis, 0.0)


@pytest.mark.parametrize("zero", [0, 1, 2, 3])
@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (4, 3)])
def test_sharded_steps_send_what_the_records_say(zero: int, local: bool, n: int, m: int) -> None:
    rng = np.random.default_rng(7)
    count = TOY.parameters
    assert count % n == 0
    weights, data = rng.normal(size=count), rng.normal(size=(n, m, 3, count + 1)) / 30
    wire, after = sharded_step(n, weights, data, zero, local)
    for each in after:
        np.testing.assert_allclose(each, one_process_step(weights, data), atol=1e-10)
    flows = step_flows(TOY, Layout(dp=n, microbatches=m, zero=zero, local=local), REAL)
    assert np.all(wire.sent["dp"] == sent(flows, "dp"))
    assert np.all(wire.received["dp"] == wire.sent["dp"])


@pytest.mark.parametrize("tp", [2, 4])
@pytest.mark.parametrize(
    ("sequence_parallel", "recompute", "regather"),
    [(False, False, False), (False, True, False), (True, False, False), (True, True, False), (True, False, True)],
)
def test_tensor_parallel_steps_send_what_the_records_say(
    tp: int, sequence_parallel: bool, recompute: bool, regather: bool
) -> None:
    options = {"sequence_parallel": sequence_parallel, "recompute": recompute}
    wire, sharded, alone = tensor_step(tp, 4, 8, 8, regather=regather, seed=1, **options)
    np.testing.assert_allclose(sharded, alone, atol=1e-10)
    flows = step_flows(TOY, Layout(tp=tp, **options), REAL, regather=regather)
    assert np.all(wire.sent["tp"] == sent(flows, "tp"))
    assert np.all(wire.received["tp"] == wire.sent["tp"])


def test_sequence_parallelism_sends_as_much_in_other_collectives() -> None:
    plain = step_flows(TOY, Layout(tp=4), REAL)
    cut = step_flows(TOY, Layout(tp=4, sequence_parallel=True), REAL)
    assert sent(plain, "tp") == sent(cut, "tp")
    assert {flow.collective for flow in plain} == {"all_reduce"}
    assert {flow.collective for flow in cut} == {"all_gather", "reduce_scatter"}


@pytest.mark.parametrize(("p", "v"), [(2, 1), (4, 1), (2, 2)])
def test_pipelined_steps_send_what_the_records_say(p: int, v: int) -> None:
    m = 4
    schedule = interleaved(p, m, v)
    home = {(i, k): k % p for i in range(m) for k in range(p * v)}
    wire, got, expected = pipeline_step(list(schedule.blocks), home, p * v, p, m, 8, 8, seed=2)
    np.testing.assert_allclose(got, expected, atol=1e-12)
    flows = step_flows(TOY, Layout(pp=p, virtual=v, microbatches=m), REAL)
    assert wire.sent["pp"].max() == sent(flows, "pp")
    assert wire.sent["pp"].sum() == wire.received["pp"].sum() == (p * v - 1) * m * traffic.pp_bytes(8, 8, 8)


@pytest.mark.parametrize("dedup", [False, True])
@pytest.mark.parametrize(("ep", "g", "limit"), [(4, 2, None), (4, 2, 1), (8, 2, 3), (8, 4, 1), (8, 2, None)])
def test_expert_steps_send_what_the_records_say(dedup: bool, ep: int, g: int, limit: int | None) -> None:
    """Every possible route once, so that the mean over tokens is the expected value exactly."""
    experts, top_k, nodes = 8, 3, ep // g
    by_node = np.arange(experts).reshape(nodes, -1)
    routes = [
        tuple(int(e) for e in chosen)
        for picked in combinations(range(nodes), limit or nodes)
        for chosen in combinations(by_node[list(picked)].ravel(), top_k)
    ]
    wire, result, alone = expert_step(routes, experts, ep, g, TOY.hidden, dedup=dedup, seed=3)
    np.testing.assert_allclose(result, alone, atol=1e-12)
    assert sum(w.sum() for w in wire.sent.values()) == sum(w.sum() for w in wire.received.values())

    layout = Layout(dp=ep, ep=ep)
    flows = step_flows(MOE, layout, REAL, g=g, node_limit=limit, dedup=dedup)
    dispatch = next(flow for flow in flows if flow.role == "dispatch")
    steps = MOE.sequence * dispatch.calls / len(routes)  # tokens of a step for each token executed here
    nic = wire.sent["nic"].mean() * steps
    assert nic == pytest.approx(dispatch.outside(placement(layout, "ep", g)), rel=1e-12)
    if not dedup:
        total = (wire.sent["nic"] + wire.sent["nvlink"]).mean() * steps
        assert total == pytest.approx(dispatch.sent, rel=1e-12)


def test_copies_of_a_token() -> None:
    copies = token_copies(256, 8, 64, 8, node_limit=4)
    assert copies.experts == 8
    assert copies.nodes < 4 < copies.ranks < 8
    assert copies.away_nodes == pytest.approx(copies.nodes * 7 / 8)
    alone = token_copies(256, 8, 1, 8)
    assert (alone.ranks, alone.nodes, alone.away_experts, alone.away_nodes) == (1, 1, 0, 0)
    assert token_copies(8, 8, 8, 2).ranks == 8  # all experts: every rank


def test_the_table_of_section_3_3() -> None:
    """70B, 1,024 GPUs, BF16: D1's corrected row (TP x PP = 102.4) is no layout, only a ratio."""
    big = model("llama2-70b")
    exact = 2 * big.parameters
    rows = ((1, 1, 140, 279.7, 5.59), (8, 1, 17.5, 34.7, 0.695), (8, 4, 4.375, 8.48, 0.170), (8, 8, 2.19, 4.10, 0.082))
    for tp, pp, shard, ring, seconds in rows:
        dp = 1024 // (tp * pp)
        flow = next(f for f in step_flows(big, Layout(tp=tp, pp=pp, dp=dp)) if f.axis == "dp")
        scaled = 140e9 / exact  # the table rounds the model to 140 GB
        assert flow.payload * scaled == pytest.approx(140e9 / (tp * pp))
        assert flow.payload * scaled / 1e9 == pytest.approx(shard, abs=0.005)
        assert flow.sent * scaled / 1e9 == pytest.approx(ring, abs=0.05)
        assert flow.sent * scaled / 50e9 == pytest.approx(seconds, abs=0.005)
        assert flow.sent == pytest.approx(float(traffic.dp_bytes(traffic.shard_bytes(exact, tp, pp), dp)), rel=1e-12)
    shard = float(traffic.dp_bytes(140e9 * 10 / 1024, 10))
    assert (140e9 * 10 / 1024 / 1e9, shard / 1e9, shard / 50e9) == pytest.approx((1.367, 2.461, 0.0492), abs=5e-4)


def test_fsdp_of_a_model_that_is_cut_otherwise_too() -> None:
    """F2: 3 (D-1)/D of the shard, not of the whole model."""
    big = model("llama2-70b")
    flows = step_flows(big, Layout(tp=8, pp=4, dp=32, zero=3))
    shard = 2 * big.parameters / 32
    assert sent(flows, "dp") == pytest.approx(float(traffic.zero_bytes(shard, 32, 3)), rel=1e-12)
    assert sent(flows, "dp") == pytest.approx(3 * 31 / 32 * shard, rel=1e-12)


def test_gradient_accumulation_costs_fsdp_again_and_ddp_nothing() -> None:
    big = model("llama2-70b")

    def dp(zero: int, m: int, local: bool = False) -> float:
        return sent(step_flows(big, Layout(dp=64, zero=zero, microbatches=m, local=local)), "dp")

    assert dp(0, 8) == dp(0, 1) == dp(1, 8) == dp(2, 1)
    assert dp(3, 8) == 8 * dp(3, 1)
    assert dp(2, 8) == pytest.approx(4.5 * dp(0, 1))  # eight reduce-scatters and one all-gather
    assert dp(3, 8, local=True) == pytest.approx(17 / 3 * dp(3, 1))  # sixteen gathers, one reduce-scatter


def test_tensor_parallel_bytes_of_the_derivation() -> None:
    """F1 and U3: 80 layers, 8,192 tokens; 42.9 GB, 75.2 GB; 13.3 % of a step, 58.0 % over NICs, 207 GB/s for 25 %."""
    flow = step_flows(replace(model("llama2-70b"), sequence=8192), Layout(tp=8))[0]
    assert flow.calls * flow.payload / 1e9 == pytest.approx(42.9, abs=0.05)
    assert flow.sent == pytest.approx(float(traffic.tp_bytes(80, 8192, 8192, 2, 8)), rel=1e-12)
    compute = 6 * 70e9 * 8192 / (8 * 0.4 * 989e12)
    nvlink, nic = flow.sent / 450e9, flow.sent / 50e9
    assert (nvlink, nic, compute) == pytest.approx((0.167, 1.503, 1.087), abs=5e-4)
    assert nvlink / (nvlink + compute) == pytest.approx(0.133, abs=5e-4)
    assert nic / (nic + compute) == pytest.approx(0.580, abs=5e-4)
    assert flow.sent / (compute / 3) / 1e9 == pytest.approx(207, abs=1)


def test_expert_bytes_of_the_derivation() -> None:
    """4,096 tokens, top 8 of 256, FP8: 234.9 MB a layer; four nodes at most: 117.4 MB, of which 7/8 leave the node."""
    layout, widths = Layout(dp=64, ep=64), Widths(dispatch=1, combine=2)
    naive = {f.role: f for f in step_flows(model("deepseek-v3"), layout, widths) if f.axis == "ep"}
    assert naive["dispatch"].payload == float(traffic.moe_bytes(4096, 8, 7168, 1)) == 234881024
    assert naive["combine"].payload == 2 * naive["dispatch"].payload
    assert naive["dispatch"].calls == 2 * 58
    place = placement(layout, "ep", 8)
    away = naive["dispatch"].outside(place) / naive["dispatch"].calls
    assert away == naive["dispatch"].payload * float(traffic.outside_share(64, 8))
    assert away / 50e9 == pytest.approx(4.11e-3, abs=5e-6)  # U4
    limited = {f.role: f for f in step_flows(model("deepseek-v3"), layout, widths, node_limit=4, dedup=True)}
    crossing = limited["dispatch"].crossing
    assert crossing is not None
    assert 0.9 < crossing / (float(traffic.moe_bytes(4096, 8, 7168, 1, node_limit=4)) * 7 / 8) < 1


def test_experts_and_the_rest_have_copies_of_their_own() -> None:
    big = model("deepseek-v3")
    flows = {f.axis: f for f in step_flows(big, Layout(pp=16, dp=128, ep=64, uneven=True))}
    assert (flows["dp"].size, flows["edp"].size) == (128, 2)
    assert flows["edp"].payload == 2 * big.routed_parameters / (64 * 16)
    assert flows["dp"].payload + 64 * flows["edp"].payload == pytest.approx(2 * big.parameters / 16)


def test_context_parallelism_moves_keys_and_values() -> None:
    """16 ranks, 131,072 tokens, 8 heads of 128 for keys and values, cut by tp = 8: 64 MiB a layer."""
    flows = [
        f for f in step_flows(replace(model("llama3-405b"), sequence=131072), Layout(tp=8, cp=16)) if f.axis == "cp"
    ]
    assert [(f.collective, f.calls) for f in flows] == [("all_gather", 252), ("reduce_scatter", 126)]
    assert flows[0].payload == 131072 * 2 * 128 * 2
    assert [f.size for f in step_flows(model("llama3-405b"), Layout(cp=2, dp=2)) if f.axis == "dp"] == [4]


def test_scatter_gather_cuts_what_a_nic_sends() -> None:
    layout = Layout(tp=8, pp=4, dp=2, microbatches=8)
    whole = {f.role: f for f in step_flows(model("gpt3-175b"), layout)}
    cut = {f.role: f for f in step_flows(model("gpt3-175b"), layout, scatter_gather=True)}
    name = "activations and gradients"
    assert whole[name].sent == 8 * cut[name].sent == 16 * 2048 * 12288 * 2
    assert cut["received activations"].collective == "all_gather"
    parallel = replace(layout, sequence_parallel=True)
    same = {f.role: f for f in step_flows(model("gpt3-175b"), parallel, scatter_gather=True)}
    assert whole["activations"].outside(placement(layout, "tp", 8)) == 0
    assert whole[name].outside(placement(layout, "pp", 8)) == whole[name].sent
    assert same[name].sent == cut[name].sent
    assert "received activations" not in same


@settings(max_examples=60, deadline=None)
@given(
    tp=st.sampled_from([1, 2, 4, 8]),
    pp=st.sampled_from([1, 2, 4, 8]),
    dp=st.integers(1, 9),
    m=st.sampled_from([8, 16]),
    order=st.permutations(["tp", "cp", "dp", "pp"]),
)
def test_bytes_do_not_depend_on_who_has_which_number(tp: int, pp: int, dp: int, m: int, order: list[str]) -> None:
    """Placement changes links, never volumes; and more microbatches never send less."""
    shape = model("gpt3-175b")
    one = Layout(tp=tp, pp=pp, dp=dp, microbatches=m)
    flows = step_flows(shape, one)
    assert flows == step_flows(shape, replace(one, order=tuple(order)))
    more = axis_bytes(step_flows(shape, replace(one, microbatches=2 * m)))
    for axis, volume in axis_bytes(flows).items():
        assert more[axis] >= volume > 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Widths(dispatch=0), "dispatch = 0 must be above 0"),
        (lambda: step_flows(TOY, Layout(cp=3)), "sequence = 8 of toy is not cut evenly"),
        (lambda: token_copies(256, 8, 48, 8), "experts = 256 must be a multiple of ep = 48"),
        (lambda: token_copies(256, 0, 64, 8), "top_k = 0 must be at least 1"),
        (lambda: token_copies(8, 9, 8, 8), "top_k = 9 must be at most experts = 8"),
        (lambda: step_flows(TOY, Layout(), g=0), "g = 0 must be at least 1 GPU in a node"),
        (lambda: step_flows(TOY, Layout(), g=-3), "g = -3 must be at least 1"),
        (lambda: token_copies(12, 2, 12, 8), "ep = 12 must be a multiple of g = 8"),
        (lambda: token_copies(8, 4, 8, 2, node_limit=1), "node_limit = 1 leaves fewer than top_k = 4"),
        (lambda: token_copies(8, 4, 8, 2, node_limit=0), "node_limit = 0 leaves fewer"),
        (lambda: step_flows("llama2-70b", Layout()), r"is not a Model; make one with training.model\('llama2-70b'\)"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]
