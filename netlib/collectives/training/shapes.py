"""Shapes: what a model's layers are, how many parameters that makes, and how many FLOPs a token costs.

Everything is counted matrix by matrix from the shape; the published count stands beside it in `models.toml`. A multiply
and an add are two FLOPs. Read with the chapter "Collectives", section "Who moves what".
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, declared_fields, floats, formula
from netlib.names import nearest

TABLE = Path(__file__).with_name("models.toml")


@dataclass(frozen=True)
class Model:
    """A transformer's shape. The fields are those of `models.toml`, with 0 where a model has no such part.

    `head_dim` is a head's width of queries and keys (with latent attention: the part without rotation), `v_dim` that of
    values, `rope_dim` the rotated part of latent attention. `printed` is the source's own count of parameters.
    """

    id: str
    name: str
    layers: int
    hidden: int
    heads: int
    ffn: int
    vocab: int
    sequence: int
    printed: float
    source: str
    kv_heads: int = 0
    head_dim: int = 0
    v_dim: int = 0
    gated: bool = False
    tied: bool = True
    biases: bool = True
    positions: int = 0
    experts: int = 0
    top_k: int = 0
    shared: int = 0
    expert_ffn: int = 0
    dense_layers: int = 0
    q_rank: int = 0
    kv_rank: int = 0
    rope_dim: int = 0
    _called = ("training.model", "llama2-70b")

    def __post_init__(self) -> None:
        declared_fields(self)
        for name in ("layers", "hidden", "heads", "ffn", "vocab", "sequence"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} must be at least 1")
        if not self.head_dim and self.hidden % self.heads:
            raise ValueError(f"heads = {self.heads} does not divide hidden = {self.hidden}; give head_dim as well")
        if self.top_k > self.experts:
            raise ValueError(f"top_k = {self.top_k} must be at most experts = {self.experts}")
        width = self.head_dim or self.hidden // self.heads
        for name, value in (("head_dim", width), ("v_dim", width), ("kv_heads", self.heads)):
            object.__setattr__(self, name, getattr(self, name) or value)

    @property
    def moe_layers(self) -> int:
        """Layers whose feed-forward part is a mixture of experts.

        >>> model("deepseek-v3").moe_layers, model("gpt3-175b").moe_layers
        (58, 0)
        """
        return self.layers - self.dense_layers if self.experts else 0

    @property
    def attention_weights(self) -> int:
        """Entries of one layer's attention matrices.

        Four projections, keys and values with `kv_heads`; with latent attention the two low-rank ways in and out.

        >>> model("gpt3-175b").attention_weights == 4 * 12288**2
        True
        """
        out = self.heads * self.v_dim * self.hidden
        if not self.kv_rank:
            return (
                (self.heads + self.kv_heads) * self.head_dim * self.hidden
                + self.kv_heads * self.v_dim * self.hidden
                + out
            )
        down = self.hidden * (self.q_rank + self.kv_rank + self.rope_dim)
        up = self.q_rank * self.heads * (self.head_dim + self.rope_dim)
        return down + up + self.kv_rank * self.heads * (self.head_dim + self.v_dim) + out

    @property
    def expert_weights(self) -> int:
        """Entries of one expert's matrices; 0 without experts.

        >>> model("deepseek-v3").expert_weights == 3 * 7168 * 2048
        True
        """
        return (3 if self.gated else 2) * self.hidden * self.expert_ffn

    @property
    def dense_weights(self) -> int:
        """Entries of one dense layer's feed-forward matrices.

        >>> model("gpt3-175b").dense_weights == 8 * 12288**2
        True
        """
        return (3 if self.gated else 2) * self.hidden * self.ffn

    @property
    def routed_parameters(self) -> int:
        """Parameters of all routed experts: the part that expert parallelism shards.

        >>> round(model("deepseek-v3").routed_parameters / 1e9)
        654
        """
        return self.moe_layers * self.experts * self.expert_weights

    @property
    def parameters(self) -> int:
        """All parameters, counted: matrices, biases, norms, embeddings, router.

        >>> model("llama3-70b").parameters == model("llama3-70b").printed
        True
        >>> round(model("deepseek-v3").parameters / 1e9)
        671
        """
        dense = self.layers - self.moe_layers
        router = self.hidden * self.experts + self.experts
        each_moe = self.shared * self.expert_weights + router
        latent_norms = self.q_rank + self.kv_rank
        # two norms a layer and one at the end; LayerNorm has a bias too, RMSNorm has none
        norms = (2 * self.layers + 1) * self.hidden * (2 if self.biases else 1) + self.layers * latent_norms
        qkv = (self.heads + self.kv_heads) * self.head_dim + self.kv_heads * self.v_dim
        biases = self.layers * (qkv + self.hidden + self.ffn + self.hidden) if self.biases else 0
        embeddings = (self.vocab * (1 if self.tied else 2) + self.positions) * self.hidden
        matrices = self.layers * self.attention_weights + dense * self.dense_weights + self.moe_layers * each_moe
        return matrices + self.routed_parameters + norms + biases + embeddings

    @property
    def active_weights(self) -> int:
        """Matrix entries that multiply each token, the output layer included, the looked-up embedding not.

        >>> round(model("deepseek-v3").active_weights / 1e9, 1)
        36.6
        """
        chosen = (self.top_k + self.shared) * self.expert_weights + self.hidden * self.experts
        dense = self.layers - self.moe_layers
        layers = self.layers * self.attention_weights + dense * self.dense_weights + self.moe_layers * chosen
        return layers + self.hidden * self.vocab


@declared
def model(id: str) -> Model:
    """The model called `id` in `models.toml`; an unknown id raises ValueError with the closest names.

    >>> model("megatron-1t").layers, model("megatron-1t").hidden
    (128, 25600)
    """
    if id not in _models():
        raise ValueError(f"model {id[:40]!r} is not in the table; {nearest(id, _models(), 'see models()')}")
    return _models()[id]


def models() -> tuple[Model, ...]:
    """All named models in the order of the data file.

    >>> models()[0].name
    'GPT-3 175B'
    """
    return tuple(_models().values())


@cache
def _models() -> dict[str, Model]:
    rows = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return {id: Model(id=id, **row) for id, row in rows.items()}


@declared
@formula
def forward_flops(shape: Model, sequence: ArrayLike | None = None, causal: bool = False) -> tuple[Floats, float]:
    """FLOPs of one token's forward pass: (all layers, output layer). Two for each weight, and the attention scores.

    Scores and their use cost 2 heads (key width + value width) for each position seen: all `sequence` of them, or with
    `causal` the (sequence + 1) / 2 that a token sees on average. Norms, softmax and rotations are left out.

    >>> layers, output = forward_flops(model("gpt3-175b"))
    >>> round(float(layers) / 1e9, 1), round(output / 1e9, 2)
    (357.6, 1.24)
    """
    length = floats("sequence", shape.sequence if sequence is None else sequence, 1)
    seen = (length + 1) / 2 if causal else length
    scores = 2 * shape.heads * (shape.head_dim + shape.rope_dim + shape.v_dim) * seen
    output = 2.0 * shape.hidden * shape.vocab
    return 2.0 * shape.active_weights - output + shape.layers * scores, output


@declared
@formula
def training_flops(
    shape: Model, sequence: ArrayLike | None = None, *, causal: bool = False, recompute: bool = False
) -> Floats:
    """FLOPs of one token, forward and backward: 3 x forward, or 4 x if the layers are computed again (`recompute`).

    The backward pass multiplies twice for each multiplication forward. For a GPT with recomputation it is eq. 3 of
    Narayanan et al. (2021) for one token, 96 l h^2 (1 + s/6h + V/16lh); without, 72 l h^2 (1 + s/6h + V/12lh).

    >>> round(float(training_flops(model("deepseek-v3"), causal=True)) / 1e9)  # published: 250
    250
    """
    layers, output = forward_flops(shape, sequence, causal)
    return np.asarray((4 if recompute else 3) * layers + 3 * output)
