"""Volumes: every collective of one training step, with how often it is called and how many bytes a rank sends.

A list of records, one for each axis and collective. `payload` is the buffer as nccl-tests prints it (n shards for
all-gather, reduce-scatter and all-to-all), so a rank's ring sends (n-1)/n of it, twice for an all-reduce. The totals
agree with `netlib.collectives.traffic`; the tests count the bytes of small steps that they execute.
Read with the chapter "Collectives", section "Who moves what".
Sources: Rajbhandari et al. (2020) for ZeRO; Narayanan et al. (2021) for tensor and pipeline parallelism; Korthikanti et
al. (2022) for sequence parallelism; DeepSeek-AI (2024) for node-limited dispatch.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from netlib.arguments import declared, declared_fields
from netlib.collectives.training.copies import token_copies
from netlib.collectives.training.layout import Layout, Placement, check_fit
from netlib.collectives.training.shapes import Model

SHARE = {"all_reduce": 2.0, "reduce_scatter": 1.0, "all_gather": 1.0, "all_to_all": 1.0}


@dataclass(frozen=True)
class Widths:
    """Bytes of one number: weights gathered, gradients reduced, activations, and the two ways of expert traffic.

    FP8 is 1 (its scales, 4 bytes for each 128 numbers, are left out), BF16 2, FP32 4.
    """

    weight: float = 2
    gradient: float = 2
    activation: float = 2
    dispatch: float = 2
    combine: float = 2

    def __post_init__(self) -> None:
        declared_fields(self)
        for name, value in vars(self).items():
            if not 0 < value < float("inf"):
                raise ValueError(f"{name} = {value:g} must be above 0 bytes a number, and finite")


@dataclass(frozen=True)
class Flow:
    """One collective of a step: `calls` times over `size` ranks with `payload` bytes a call.

    `axis` is tp, cp, pp, dp, ep or edp (the copies of an expert); `role` says what is moved. `crossing` is given where
    a token crosses the network once for a whole node: its bytes a call that leave the node.
    """

    axis: str
    collective: str
    role: str
    size: int
    calls: float
    payload: float
    crossing: float | None = None

    @property
    def sent(self) -> float:
        """Bytes that a rank sends in a step: by ring 2(n-1)/n of the payload for an all-reduce, (n-1)/n for its halves
        and for all-to-all, all of it for a send.

        >>> Flow("dp", "all_reduce", "gradients", 8, 1, 140e9).sent
        245000000000.0
        """
        if self.collective == "send":
            return self.calls * self.payload
        return self.calls * self.payload * SHARE[self.collective] * (self.size - 1) / self.size

    @declared
    def outside(self, place: Placement) -> float:
        """Bytes of a step that leave a rank's node through its own NIC.

        A group with several ranks in each node runs one ring per rank and NIC, so a NIC carries sent / local. Of an
        all-to-all the part for ranks of other nodes leaves, or `crossing` where tokens are sent once for each node.

        >>> Flow("dp", "all_reduce", "gradients", 16, 1, 8e9).outside(Placement("dp", 16, 8, 2))
        1875000000.0
        """
        if place.inside:
            return 0.0
        if self.collective == "all_to_all":
            away = self.payload * (self.size - place.local) / self.size
            return self.calls * (away if self.crossing is None else self.crossing)
        return self.sent / (1 if self.collective == "send" else place.local)


@declared
def step_flows(
    model: Model,
    layout: Layout,
    widths: Widths | None = None,
    *,
    g: int = 8,
    node_limit: int | None = None,
    dedup: bool = False,
    scatter_gather: bool = False,
    regather: bool = False,
) -> tuple[Flow, ...]:
    """All collectives of one step, for a rank in the middle of the pipeline (the busiest).

    `dedup` sends a token once to each node (then on to its experts inside); `scatter_gather` cuts what a pipeline stage
    sends into tp parts and gathers them behind the NIC; `regather` gathers sequence-parallel inputs again backward.
    The embedding's and the loss's few collectives are left out. For another sequence length, replace the model's.

    >>> from netlib.collectives.training.shapes import model
    >>> for one in step_flows(model("llama2-70b"), Layout(tp=8, dp=16, pp=8, microbatches=8)):
    ...     print(f"{one.axis} {one.collective} {one.calls:g} x {one.payload / 1e9:.3f} GB, sent {one.sent / 1e9:.2f}")
    tp all_reduce 320 x 0.067 GB, sent 37.58
    pp send 16 x 0.067 GB, sent 1.07
    dp all_reduce 1 x 2.156 GB, sent 4.04
    """
    check_fit(model, layout)
    if g < 1:
        raise ValueError(f"g = {g} must be at least 1 GPU in a node")
    widths = Widths() if widths is None else widths
    tokens = layout.micro * model.sequence / layout.cp
    flows = [
        *_tensor(model, layout, tokens * model.hidden * widths.activation, regather),
        *_context(model, layout, layout.micro * model.sequence * widths.activation),
        *_pipeline(layout, tokens * model.hidden * widths.activation, scatter_gather),
        *_experts(model, layout, tokens * model.hidden, widths, g, node_limit, dedup),
        *_copies(model, layout, widths),
    ]
    return tuple(flow for flow in flows if flow.size > 1 and flow.calls * flow.payload > 0)


@declared
def axis_bytes(flows: Sequence[Flow]) -> dict[str, float]:
    """Bytes that a rank sends in a step, by axis.

    >>> halves = [Flow("dp", collective, "", 4, 1, 8.0) for collective in ("reduce_scatter", "all_gather")]
    >>> axis_bytes(halves)
    {'dp': 12.0}
    """
    total: dict[str, float] = {}
    for flow in flows:
        total[flow.axis] = total.get(flow.axis, 0.0) + flow.sent
    return total


def _tensor(model: Model, layout: Layout, payload: float, regather: bool) -> list[Flow]:
    """Two all-reduces a layer forward, two backward, two more if the forward pass is run again."""
    calls = (6 if layout.recompute else 4) * model.layers / layout.pp * layout.microbatches
    if not layout.sequence_parallel:
        return [Flow("tp", "all_reduce", "activations", layout.tp, calls, payload)]
    again = 2 * model.layers / layout.pp * layout.microbatches if regather else 0
    return [
        Flow("tp", "all_gather", "activations", layout.tp, calls + again, payload),
        Flow("tp", "reduce_scatter", "activations", layout.tp, calls, payload),
    ]


def _context(model: Model, layout: Layout, per_number: float) -> list[Flow]:
    """Keys and values of the whole sequence, gathered forward and backward; their gradients scattered backward."""
    wide = model.kv_rank + model.rope_dim or model.kv_heads * (model.head_dim + model.v_dim) / layout.tp
    calls = model.layers / layout.pp * layout.microbatches
    return [
        Flow(
            "cp", "all_gather", "keys and values", layout.cp, (3 if layout.recompute else 2) * calls, per_number * wide
        ),
        Flow("cp", "reduce_scatter", "their gradients", layout.cp, calls, per_number * wide),
    ]


def _pipeline(layout: Layout, payload: float, scatter_gather: bool) -> list[Flow]:
    """Activations forward and gradients backward over each boundary of each chunk; at two stages an end is missing."""
    if layout.pp == 1:
        return []
    calls = (2 * layout.virtual - (layout.pp == 2)) * layout.microbatches
    cut = layout.tp if scatter_gather or layout.sequence_parallel else 1
    sends = [Flow("pp", "send", "activations and gradients", layout.pp, calls, payload / cut)]
    if scatter_gather and not layout.sequence_parallel:  # what arrives in parts is put together inside the node
        sends.append(Flow("tp", "all_gather", "received activations", layout.tp, calls, payload))
    return sends


def _experts(
    model: Model, layout: Layout, numbers: float, widths: Widths, g: int, node_limit: int | None, dedup: bool
) -> list[Flow]:
    """Dispatch and combine of each MoE layer, and the same two for the gradients on the way back."""
    if layout.ep == 1:
        return []
    copies = token_copies(model.experts, model.top_k, layout.ep, g, node_limit)
    calls = (3 if layout.recompute else 2) * model.moe_layers / layout.pp * layout.microbatches
    each = copies.ranks if dedup else copies.experts
    return [
        Flow(
            "ep", "all_to_all", role, layout.ep, calls, numbers * width * each,
            numbers * width * copies.away_nodes if dedup else None,
        )
        for role, width in (("dispatch", widths.dispatch), ("combine", widths.combine))
    ]  # fmt: skip


def _copies(model: Model, layout: Layout, widths: Widths) -> list[Flow]:
    """Gradients and weights over the ranks that hold copies: dense parts over dp x cp, experts over dp x cp / ep."""
    m, routed = layout.microbatches, model.routed_parameters
    reductions = 1 if layout.zero < 2 or layout.local else m
    flows = []
    for axis, held, size in (
        ("dp", (model.parameters - routed) / (layout.tp * layout.pp), layout.dp * layout.cp),
        ("edp", routed / (layout.ep * layout.pp), layout.dp * layout.cp // layout.ep),
    ):
        gradient, weight = held * widths.gradient, held * widths.weight
        if layout.zero == 0:
            flows.append(Flow(axis, "all_reduce", "gradients", size, 1, gradient))
            continue
        flows.append(Flow(axis, "reduce_scatter", "gradients", size, reductions, gradient))
        flows.append(Flow(axis, "all_gather", "weights", size, 2 * m if layout.zero == 3 else 1, weight))
    return flows
