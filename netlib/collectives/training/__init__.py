"""Training: what one step of a large model sends, and how long it takes.

shapes      models: parameters and FLOPs, counted from the shape                          (the core)
layout      axes, groups of ranks, which groups stay in a node                           (the core)
volumes     every collective of a step, with calls and bytes                             (the core)
copies      to how many ranks and nodes a token travels
turns       GPipe, 1F1B, interleaved, zero bubble, DualPipe: who does what, in order
pipelines   a schedule's timetable; bubble and activations measured from it, and closed forms
overlap     gradient buckets and gathers beside the computation, event by event
wires       the cluster, and the time of one collective on it
step        the time of a step and where it goes: MFU, HFU, communication share
orders      the same layout numbered in every way: which axis belongs into the node
published   Megatron-LM, MegaScale, Llama 3 and DeepSeek-V3 beside the model
"""

from netlib.collectives.training.copies import Copies, token_copies
from netlib.collectives.training.layout import Layout, Placement, check_fit, groups, placement, stage_layers, with_batch
from netlib.collectives.training.orders import Ordered, by_order
from netlib.collectives.training.overlap import (
    Overlap,
    buckets,
    exposed_bounds,
    exposed_by_bucket,
    prefetched,
    reduced,
)
from netlib.collectives.training.pipelines import (
    Timetable,
    dualpipe_idle,
    pipeline_bubble,
    timetable,
    zero_bubble_idle,
)
from netlib.collectives.training.published import (
    Beside,
    PublishedRun,
    beside,
    cluster,
    predicted,
    runs,
    side_by_side,
    trend,
)
from netlib.collectives.training.shapes import Model, forward_flops, model, models, training_flops
from netlib.collectives.training.step import TrainingStep, step_time
from netlib.collectives.training.turns import Pipeline, dualpipe, gpipe, interleaved, one_f_one_b, zero_bubble
from netlib.collectives.training.volumes import Flow, Widths, axis_bytes, step_flows
from netlib.collectives.training.wires import Cluster, call_time

__all__ = [
    "Beside",
    "Cluster",
    "Copies",
    "Flow",
    "Layout",
    "Model",
    "Ordered",
    "Overlap",
    "Pipeline",
    "Placement",
    "PublishedRun",
    "Timetable",
    "TrainingStep",
    "Widths",
    "axis_bytes",
    "beside",
    "buckets",
    "by_order",
    "call_time",
    "check_fit",
    "cluster",
    "dualpipe",
    "dualpipe_idle",
    "exposed_bounds",
    "exposed_by_bucket",
    "forward_flops",
    "gpipe",
    "groups",
    "interleaved",
    "model",
    "models",
    "one_f_one_b",
    "pipeline_bubble",
    "placement",
    "predicted",
    "prefetched",
    "reduced",
    "runs",
    "side_by_side",
    "stage_layers",
    "step_flows",
    "step_time",
    "timetable",
    "token_copies",
    "training_flops",
    "trend",
    "with_batch",
    "zero_bubble",
    "zero_bubble_idle",
]
