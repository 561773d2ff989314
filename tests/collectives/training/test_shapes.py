"""Parameters and FLOPs: against the published counts, the closed forms of the paper, and a forward pass that counts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netlib.collectives.training import Model, forward_flops, model, models, training_flops


class Counter:
    """Matrices by name, and the FLOPs of every product."""

    def __init__(self) -> None:
        self.weights: dict[str, np.ndarray] = {}
        self.flops = 0

    def weight(self, name: str, *shape: int) -> np.ndarray:
        return self.weights.setdefault(name, np.zeros(shape))

    def product(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        self.flops += 2 * a.shape[-2] * a.shape[-1] * b.shape[-1] * int(np.prod(a.shape[:-2], dtype=int))
        return a @ b


def forward(shape: Model, tokens: int) -> tuple[int, int, int]:
    """One sequence of `tokens` through a model of zeros: (FLOPs of the layers, FLOPs of the output, parameters)."""
    count = Counter()
    h, s = shape.hidden, tokens
    x = np.zeros((s, h))

    def linear(name: str, value: np.ndarray, wide: int, bias: bool = shape.biases) -> np.ndarray:
        out = count.product(value, count.weight(name, value.shape[-1], wide))
        return out + count.weight(f"{name}.bias", wide) if bias else out

    def norm(name: str, value: np.ndarray) -> np.ndarray:
        if shape.biases:
            count.weight(f"{name}.shift", value.shape[-1])
        return value * count.weight(name, value.shape[-1])

    def heads(value: np.ndarray, number: int) -> np.ndarray:
        return np.repeat(value.reshape(s, number, -1), shape.heads // number, axis=1).swapaxes(0, 1)

    def mlp(name: str, value: np.ndarray, wide: int) -> np.ndarray:
        up = linear(f"{name}.up", value, wide)
        if shape.gated:
            up = up * linear(f"{name}.gate", value, wide)
        return linear(f"{name}.down", up, h)

    for layer in range(shape.layers):
        at = f"{layer}."
        y = norm(at + "norm1", x)
        if shape.kv_rank:
            low = norm(at + "qnorm", linear(at + "qdown", y, shape.q_rank))
            q = heads(linear(at + "qup", low, shape.heads * (shape.head_dim + shape.rope_dim)), shape.heads)
            both = linear(at + "kvdown", y, shape.kv_rank + shape.rope_dim)
            low = norm(at + "kvnorm", both[:, : shape.kv_rank])
            kv = heads(linear(at + "kvup", low, shape.heads * (shape.head_dim + shape.v_dim)), shape.heads)
            turned = np.broadcast_to(both[:, shape.kv_rank :], (shape.heads, s, shape.rope_dim))
            k, v = np.concatenate([kv[..., : shape.head_dim], turned], axis=-1), kv[..., shape.head_dim :]
        else:
            q = heads(linear(at + "q", y, shape.heads * shape.head_dim), shape.heads)
            k = heads(linear(at + "k", y, shape.kv_heads * shape.head_dim), shape.kv_heads)
            v = heads(linear(at + "v", y, shape.kv_heads * shape.v_dim), shape.kv_heads)
        seen = count.product(count.product(q, k.swapaxes(1, 2)), v).swapaxes(0, 1).reshape(s, -1)
        x = x + linear(at + "out", seen, h)
        y = norm(at + "norm2", x)
        if not shape.experts or layer < shape.dense_layers:
            x = x + mlp(at + "mlp", y, shape.ffn)
            continue
        linear(at + "router", y, shape.experts, bias=False)
        count.weight(at + "router.balance", shape.experts)
        for expert in range(shape.experts):  # every expert gets its even share of the tokens
            x = x + 0 * mlp(f"{at}expert{expert}", y[: s * shape.top_k // shape.experts], shape.expert_ffn).sum()
        for expert in range(shape.shared):
            x = x + mlp(f"{at}shared{expert}", y, shape.expert_ffn)
    layers = count.flops
    out = norm("norm", x)
    embedding = count.weight("embedding", shape.vocab, h)
    count.product(out, embedding.T if shape.tied else count.weight("head", h, shape.vocab))
    if shape.positions:
        count.weight("positions", shape.positions, h)
    return layers, count.flops - layers, sum(weight.size for weight in count.weights.values())


BASE = Model("gpt", "gpt", 3, 12, 4, 48, 40, 10, 0, "", positions=10)
SMALL = {
    "GPT": BASE,
    "grouped, gated": replace(BASE, kv_heads=2, gated=True, tied=False, biases=False, positions=0),
    "experts": replace(BASE, biases=False, gated=True, experts=4, top_k=2, shared=1, expert_ffn=6, dense_layers=1),
    "latent": Model(
        "mla", "mla", 2, 12, 4, 20, 30, 8, 0, "", head_dim=4, v_dim=3, rope_dim=2, q_rank=5, kv_rank=6, biases=False
    ),
}


@pytest.mark.parametrize("name", SMALL)
def test_counts_of_a_forward_pass_that_multiplies(name: str) -> None:
    shape, tokens = SMALL[name], SMALL[name].sequence + 2
    layers, output, parameters = forward(shape, tokens)
    counted = forward_flops(shape, tokens)
    assert (float(counted[0]) * tokens, counted[1] * tokens, shape.parameters) == (layers, output, parameters)


def test_parameters_are_the_published_ones() -> None:
    """To the digits printed; exactly where the weights themselves are published."""
    for one in models():
        if one.id.startswith("llama"):
            assert one.parameters == one.printed, one.id
        elif one.id.startswith("megatron"):  # billions with one decimal
            assert abs(one.parameters - one.printed) <= 0.0501e9, one.id
        else:
            assert one.parameters == pytest.approx(one.printed, rel=0.0015), one.id


def test_the_papers_own_formulas() -> None:
    """Narayanan et al., eq. 2 (without the last norm) and eq. 3; published for V3: 250 GFLOP a token, causal."""
    for one in models():
        if not one.id.startswith("megatron"):
            continue
        h, layers, s, v = one.hidden, one.layers, one.sequence, one.vocab
        assert one.parameters - 2 * h == round(12 * layers * h**2 * (1 + 13 / (12 * h) + (v + s) / (12 * layers * h)))
        eq3 = 96 * layers * h**2 * (1 + s / (6 * h) + v / (16 * layers * h))
        assert float(training_flops(one, recompute=True)) == pytest.approx(eq3, rel=1e-12)
    v3 = model("deepseek-v3")
    assert round(float(training_flops(v3, causal=True)) / 1e9) == 250
    assert round(v3.active_weights / 1e9, 1) == 36.6
    assert model("gpt3-175b").parameters / 1e9 == pytest.approx(174.6, abs=0.05)


def test_flops_grow_with_what_is_seen() -> None:
    one = model("llama2-70b")
    lengths = np.array([1, 1024, 4096])
    full, causal = training_flops(one, lengths), training_flops(one, lengths, causal=True)
    assert full.shape == (3,)
    assert np.all(np.diff(full) > 0)
    assert full[0] == causal[0]
    assert np.all(causal[1:] < full[1:])
    again = training_flops(one, lengths, recompute=True)
    np.testing.assert_allclose(again - full, forward_flops(one, lengths)[0])


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: model("gpt-3"), "gpt-3.* is not in the table"),
        (lambda: model(3), "id = 3 must be text"),
        (lambda: replace(BASE, layers=0), "layers = 0 must be at least 1"),
        (lambda: replace(BASE, heads=5, head_dim=0), "heads = 5 does not divide hidden = 12"),
        (lambda: replace(BASE, top_k=2), "top_k = 2 must be at most experts = 0"),
        (lambda: training_flops(BASE, 0), "sequence = 0 must be at least 1"),
    ],
)
def test_bad_input_is_refused_in_a_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        call()  # type: ignore[operator]
