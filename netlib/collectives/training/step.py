"""A training step: how long it takes, and where the time goes.

Compute from counted FLOPs and counted passes over memory, communication from counted bytes, the bubble from the
schedule, gradients from the overlap engine. What goes in is measured on one GPU or one node; no run is fitted.
Left out: the optimizer, data loading, kernel launches, imbalance among ranks and experts, failures. A prediction is
therefore a lower bound, good for comparing layouts. Read with the chapter "Collectives", section "Who moves what".
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from netlib.arguments import Floats, declared
from netlib.collectives.training.layout import Layout, Placement, placement, stage_layers
from netlib.collectives.training.overlap import prefetched, reduced
from netlib.collectives.training.pipelines import dualpipe_idle, pipeline_bubble, zero_bubble_idle
from netlib.collectives.training.shapes import Model, forward_flops, training_flops
from netlib.collectives.training.volumes import Flow
from netlib.collectives.training.wires import Cluster, call_time

SCHEDULES = ("1F1B", "ZB-H1", "DualPipe")
INSIDE = ("tp", "cp", "pp", "ep")  # axes whose collectives stand between the passes of a microbatch


@dataclass(frozen=True)
class TrainingStep:
    """One step. All times in seconds: `matmul` and `memory` of the busiest stage, `exposed` communication and all
    `communication` by axis, the pipeline's `bubble`; `tokens` of the step over `ranks` GPUs of `peak` FLOP/s.

    `model_flops` counts forward and backward pass, `hardware_flops` what is run, recomputation included.
    """

    matmul: float
    memory: float
    bubble: float
    exposed: Mapping[str, float]
    communication: Mapping[str, float]
    tokens: float
    ranks: int
    peak: float
    model_flops: float
    hardware_flops: float

    @property
    def total(self) -> float:
        """Seconds of the step."""
        return self.matmul + self.memory + self.bubble + sum(self.exposed.values())

    @property
    def mfu(self) -> float:
        """Model FLOPs utilisation: forward and backward pass over what the GPUs could do in the time."""
        return self.model_flops / (self.total * self.ranks * self.peak)

    @property
    def hfu(self) -> float:
        """Hardware FLOPs utilisation: recomputation counted as well, which makes it the larger number."""
        return self.hardware_flops / (self.total * self.ranks * self.peak)

    @property
    def share(self) -> float:
        """Exposed communication as a part of the step."""
        return sum(self.exposed.values()) / self.total

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """The bars of a figure: name and seconds, adding up to the total."""
        waits = tuple((f"waits for {axis}", seconds) for axis, seconds in self.exposed.items())
        return (("matrix products", self.matmul), ("memory", self.memory), *waits, ("bubble", self.bubble))


@declared
def passes_over_memory(model: Model, *, fused_attention: bool = False, width: float = 2) -> tuple[float, float]:
    """Bytes of activations that one layer's forward pass moves for a token outside of matrix products: (bytes that
    tensor parallelism divides, bytes that only sequence parallelism does). Backward moves half as much again.

    Each operation reads its inputs and writes its output once: two norms (4 hidden), two residual additions (6 hidden),
    the activation function (2 ffn, gated 3), and, unless attention is fused, softmax and dropout of all scores
    (4 heads sequence). Backward an operation reads two and writes one.

    >>> passes_over_memory(Model("x", "x", 1, 10, 1, 40, 1, 100, 0, ""), width=1)
    (480.0, 100.0)
    """
    each = 3 if model.gated else 2
    wide = (model.top_k + model.shared) * model.expert_ffn
    dense = (model.layers - model.moe_layers) * model.ffn + model.moe_layers * wide
    scores = 0 if fused_attention else 4 * model.heads * model.sequence
    return width * (each * dense / model.layers + scores), width * 10.0 * model.hidden


@declared
def step_time(
    model: Model,
    layout: Layout,
    cluster: Cluster,
    flows: Sequence[Flow],
    *,
    schedule: str = "1F1B",
    hidden: Mapping[str, float] | None = None,
    bucket: float | None = None,
    fused_attention: bool = False,
    causal: bool = False,
) -> TrainingStep:
    """One step of a model on a cluster, with the collectives that `step_flows` gave for the same model and layout.

    `hidden` names the part (0 to 1) of an axis's communication that runs behind computation, for tp, cp, pp and ep.
    Gradients wait for the end of the step, or with `bucket` (bytes) are reduced beside the backward pass, and weights
    are then gathered one layer ahead. `fused_attention` computes only the scores that a token may see, and keeps them
    out of memory. `causal` counts only those as useful FLOPs; Megatron-LM's convention counts all.

    >>> from netlib.collectives.training.shapes import model
    >>> from netlib.collectives.training.volumes import step_flows
    >>> from netlib.links import Link
    >>> h100 = Cluster("H100", 989.4e12, 794.5e12, Link(0, 450e9), Link(0, 50e9), memory=3.35e12)
    >>> layout = Layout(tp=8, dp=16, pp=8, microbatches=32)
    >>> step = step_time(model("llama2-70b"), layout, h100, step_flows(model("llama2-70b"), layout))
    >>> round(step.total, 2), round(step.mfu, 2), round(step.share, 2)
    (2.56, 0.36, 0.2)
    """
    hidden = {} if hidden is None else hidden
    for axis, part in hidden.items():
        if axis not in INSIDE or not 0 <= part <= 1:
            raise ValueError(f"hidden = {{{axis!r}: {part}}} must name one of {', '.join(INSIDE)} and a part of 0 to 1")
    if schedule not in SCHEDULES:
        raise ValueError(f"schedule = {schedule!r} is not one of {', '.join(SCHEDULES)}")
    _belong(flows, layout, cluster.g)
    m, deep = layout.microbatches, stage_layers(model, layout)
    forward, backward = _passes(model, layout, cluster, deep, fused_attention)
    waits: dict[str, float] = {}
    wire: dict[str, float] = {}
    for flow in flows:
        if flow.axis in INSIDE:
            seconds = flow.calls * call_time(flow, _place(layout, flow.axis, cluster.g), cluster)
            seconds *= 1.0 if flow.axis == "pp" else deep * layout.pp / model.layers  # the busiest stage's
            wire[flow.axis] = wire.get(flow.axis, 0.0) + seconds
            waits[flow.axis] = waits.get(flow.axis, 0.0) + seconds * (1 - hidden.get(flow.axis, 0.0))
    lost = sum(waits.values()) / m  # a third of it in the forward pass, as of the FLOPs
    f, b = sum(forward) + lost / 3, sum(backward) + 2 * lost / 3
    copies = _copies(flows, layout, cluster, deep, bucket, f, b)
    whole = float(layout.batch * model.sequence)
    useful = (float(training_flops(model, causal=causal, recompute=again)) for again in (False, layout.recompute))
    return TrainingStep(
        matmul=m * (forward[0] + backward[0]),
        memory=m * (forward[1] + backward[1]),
        bubble=_bubble(layout, schedule, f, b),
        exposed=waits | copies[0],
        communication=wire | copies[1],
        tokens=whole,
        ranks=layout.n,
        peak=cluster.peak,
        model_flops=whole * next(useful),
        hardware_flops=whole * next(useful),
    )


def _belong(flows: Sequence[Flow], layout: Layout, g: int) -> None:
    """Refuse the collectives of another layout: an axis of another size, or none where there must be some."""
    told = "give step_flows(model, layout) of the same model and layout"
    for flow in flows:
        if flow.size != (wanted := _place(layout, flow.axis, g).size):
            raise ValueError(f"flows hold {flow.axis} over {flow.size} ranks, where layout has {wanted}; {told}")
        if flow.collective == "send" and flow.calls % layout.microbatches:
            raise ValueError(
                f"flows hold {flow.calls:g} sends, no multiple of layout's microbatches = {layout.microbatches}; {told}"
            )
    for axis in ("tp", "pp", "dp"):
        if _place(layout, axis, g).size > 1 and axis not in {flow.axis for flow in flows}:
            raise ValueError(f"flows hold nothing of {axis}, over which layout has several ranks; {told}")


def _place(layout: Layout, axis: str, g: int) -> Placement:
    """Weights have copies on all ranks of dp x cp, as experts would with ep = 1."""
    return placement(replace(layout, ep=1), "edp", g) if axis == "dp" else placement(layout, axis, g)


Pair = tuple[float, float]


def _passes(model: Model, layout: Layout, cluster: Cluster, deep: int, fused: bool) -> tuple[Pair, Pair]:
    """A microbatch's forward and backward pass on the busiest stage, each (matrix products, memory) in seconds."""
    tokens = layout.micro * model.sequence / layout.cp
    layers, output = (float(flops) for flops in forward_flops(model, causal=fused))
    # the last stage has the output layer on top; where stages are uneven it has fewer layers instead
    mean = (layers + output) / layout.pp
    work = max(deep * layers / model.layers, mean) if layout.uneven else layers / layout.pp + output
    again = layers / layout.pp if layout.recompute else 0.0
    cut, kept = passes_over_memory(model, fused_attention=fused)
    moved = deep * (cut / layout.tp + kept / (layout.tp if layout.sequence_parallel else 1))
    rate = tokens / (layout.tp * cluster.matmul)
    memory = tokens * moved / cluster.memory
    return (work * rate, memory), ((2 * work + again) * rate, memory * (2.5 if layout.recompute else 1.5))


def _bubble(layout: Layout, schedule: str, f: float, b: float) -> float:
    """Seconds that a stage waits for the pipeline to fill and drain; W is half of the backward pass."""
    if schedule == "1F1B":
        each = pipeline_bubble(layout.pp, layout.microbatches, layout.virtual)
        return float(each) * layout.microbatches * (f + b)
    if layout.virtual > 1:
        raise ValueError(f"virtual = {layout.virtual} interleaves 1F1B; give virtual = 1 with schedule = {schedule!r}")
    if schedule == "ZB-H1":
        return float(zero_bubble_idle(layout.pp, f, b, b / 2))
    return float(dualpipe_idle(layout.pp, f + b, b, b / 2))


def _copies(
    flows: Sequence[Flow], layout: Layout, cluster: Cluster, deep: int, bucket: float | None, f: float, b: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Seconds that the step waits for gradients and weights, and that they take, by axis; each axis as if alone."""
    waits: dict[str, float] = {}
    wire: dict[str, float] = {}
    sums: dict[str, tuple[float, float, float]] = {}  # calls of an axis's gradients, seconds and wait of each
    for flow in sorted(flows, key=lambda flow: flow.role != "gradients"):
        if flow.axis in INSIDE:
            continue
        place = _place(layout, flow.axis, cluster.g)

        def cost(sizes: Floats, flow: Flow = flow, place: Placement = place) -> Floats:
            each, where = np.unique(sizes, return_inverse=True)
            return np.array([call_time(flow, place, cluster, float(size)) for size in each])[where]

        if bucket is None:
            seconds = wait = float(cost(np.array([flow.payload]))[0])
        elif flow.role == "gradients":
            done = reduced([b / deep] * deep, [flow.payload / deep] * deep, bucket, cost)
            seconds, wait = float((done.end - done.start).sum()), done.exposed
            sums[flow.axis] = flow.calls, seconds, wait
        else:
            gathers = cost(np.full(deep, flow.payload / deep))
            seconds, wait = float(gathers.sum()), prefetched([f / deep] * deep, gathers).exposed
            if layout.zero == 3:  # half of the gathers run beside the backward pass
                calls, summing, late = sums.get(flow.axis, (0.0, 0.0, 0.0))
                wait = (wait + _beside_sums(gathers, b, min(1.0, 2 * calls / flow.calls), summing, late)) / 2
        waits[flow.axis] = waits.get(flow.axis, 0.0) + flow.calls * wait
        wire[flow.axis] = wire.get(flow.axis, 0.0) + flow.calls * seconds
    return waits, wire


def _beside_sums(gathers: Floats, b: float, share: float, summing: float, late: float) -> float:
    """Seconds that a backward pass of `b` waits for the weights of its layers, on average over the passes.

    In a `share` of them gradients are summed on the same wires, for `summing` seconds of which `late` are waited for
    already; there only what gathers add to that counts.
    """
    layers = [b / gathers.size] * gathers.size
    alone, both = (prefetched(layers, gathers + more / gathers.size).exposed for more in (0.0, summing))
    return float((1 - share) * alone + share * max(0.0, both - late))
