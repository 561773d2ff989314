"""Layouts: how a job's ranks are divided among tensor, context, data, expert and pipeline parallelism, and where.

A rank's number is read as digits in mixed radix, the innermost axis first: with order tp, cp, dp, pp and tp = 8, ranks
0 to 7 are one tensor-parallel group. What is innermost sits together in a node; that is all that placement means.
Read with the chapter "Collectives", section "Who moves what".
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import declared, declared_fields, quoted
from netlib.collectives.bounds import MOST
from netlib.collectives.training.shapes import Model

AXES = ("tp", "cp", "dp", "pp")
GROUPS = (*AXES, "ep", "edp")


@dataclass(frozen=True)
class Layout:
    """How the ranks are divided, and how the batch is.

    `tp`, `cp`, `dp`, `pp` multiply to the number of ranks; `ep` divides dp x cp: experts are spread over ranks that
    otherwise hold copies. `virtual` model chunks per pipeline stage (interleaving), `uneven` allows stages of unequal
    depth. `micro` sequences form a microbatch, `microbatches` of them a step of one replica. `zero` is the ZeRO stage;
    `local` keeps gradients whole until the last microbatch (FSDP's no_sync; stages 0 and 1 always do).
    `sequence_parallel` cuts activations along the sequence between tensor-parallel regions; `recompute` runs each
    layer's forward pass again in the backward pass. `order` names the axes, innermost first.
    """

    tp: int = 1
    cp: int = 1
    dp: int = 1
    pp: int = 1
    ep: int = 1
    virtual: int = 1
    micro: int = 1
    microbatches: int = 1
    zero: int = 0
    local: bool = False
    sequence_parallel: bool = False
    recompute: bool = False
    uneven: bool = False
    order: tuple[str, ...] = AXES

    def __post_init__(self) -> None:
        if not isinstance(self.order, (tuple, list)) or sorted(map(str, self.order)) != sorted(AXES):
            raise ValueError(f"order = {quoted(self.order)} must name each of {', '.join(AXES)} once, innermost first")
        object.__setattr__(self, "order", tuple(self.order))
        declared_fields(self)
        for name in (*AXES, "ep", "virtual", "micro", "microbatches"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} = {getattr(self, name)} must be a whole number of at least 1")
        if self.zero not in (0, 1, 2, 3):
            raise ValueError(f"zero = {self.zero!r} must be 0 (no sharding), 1, 2 or 3")
        if (self.dp * self.cp) % self.ep:
            raise ValueError(f"ep = {self.ep} must divide dp x cp = {self.dp * self.cp}: experts share those ranks")
        if self.virtual > 1 and self.pp == 1:
            raise ValueError(f"virtual = {self.virtual} interleaves pipeline stages, but pp = 1; give virtual = 1")

    @property
    def n(self) -> int:
        """All ranks: tp cp dp pp.

        >>> Layout(tp=8, pp=8, dp=16).n
        1024
        """
        return self.tp * self.cp * self.dp * self.pp

    @property
    def batch(self) -> int:
        """Sequences in a step: dp x microbatches x micro.

        >>> Layout(dp=16, microbatches=8, micro=2).batch
        256
        """
        return self.dp * self.microbatches * self.micro

    @property
    def radix(self) -> tuple[int, ...]:
        """The sizes of the axes in `order`, innermost first.

        >>> Layout(tp=8, dp=4, order=("dp", "tp", "cp", "pp")).radix
        (4, 8, 1, 1)
        """
        return tuple(getattr(self, axis) for axis in self.order)


@dataclass(frozen=True)
class Placement:
    """Where the groups of one axis lie: `size` ranks a group, at most `local` of them in one node, over `nodes` nodes.

    `inside` says that no group leaves its node.
    """

    axis: str
    size: int
    local: int
    nodes: int

    @property
    def inside(self) -> bool:
        """True if every group of the axis stays in one node.

        >>> Placement("tp", 8, 8, 1).inside
        True
        """
        return self.nodes == 1


@declared
def groups(layout: Layout, axis: str) -> NDArray[np.int64]:
    """The groups of an axis, (groups, size): each row holds the ranks that talk to each other, in order.

    "ep" cuts the ranks that share everything but their data (dp and cp) into runs of ep; "edp" holds those ranks of
    different runs that keep the same experts.

    >>> groups(Layout(tp=2, dp=2), "tp").tolist(), groups(Layout(tp=2, dp=2), "dp").tolist()
    ([[0, 1], [2, 3]], [[0, 2], [1, 3]])
    >>> groups(Layout(dp=4, ep=2), "ep").tolist(), groups(Layout(dp=4, ep=2), "edp").tolist()
    ([[0, 1], [2, 3]], [[0, 2], [1, 3]])
    """
    if axis not in GROUPS:
        raise ValueError(f"axis = {axis!r} is not one of {', '.join(GROUPS)}")
    if layout.n > MOST:
        raise ValueError(f"layout has {layout.n:,} ranks, more than {MOST:,}; give smaller tp, cp, dp or pp")
    grid = np.arange(layout.n).reshape(layout.radix[::-1])  # the last index of an array runs fastest
    places = {name: len(AXES) - 1 - layout.order.index(name) for name in AXES}
    if axis in AXES:
        return np.moveaxis(grid, places[axis], -1).reshape(-1, getattr(layout, axis))
    copies = sorted((places["dp"], places["cp"]))
    shards = np.moveaxis(grid, copies, (-2, -1)).reshape(-1, layout.dp * layout.cp // layout.ep, layout.ep)
    return (shards if axis == "ep" else shards.swapaxes(1, 2)).reshape(-1, shards.shape[2 if axis == "ep" else 1])


@declared
def placement(layout: Layout, axis: str, g: int) -> Placement:
    """Where the groups of an axis lie if node k holds ranks kg to kg + g - 1.

    >>> layout = Layout(tp=8, dp=16, pp=8)
    >>> placement(layout, "tp", 8).inside, placement(layout, "dp", 8)
    (True, Placement(axis='dp', size=16, local=1, nodes=16))
    """
    if g < 1:
        raise ValueError(f"g = {g} must be at least 1 rank in a node")
    nodes = np.sort(groups(layout, axis) // g, axis=1)
    fresh = np.concatenate([np.ones((len(nodes), 1), dtype=bool), nodes[:, 1:] != nodes[:, :-1]], axis=1)
    # a rank's place in its run of equal nodes; the largest is how many of a group share a node
    start = np.maximum.accumulate(np.where(fresh, np.arange(nodes.shape[1]), 0), axis=1)
    local = int((np.arange(nodes.shape[1]) - start).max()) + 1
    return Placement(axis, nodes.shape[1], local, int(fresh.sum(axis=1).max()))


@declared
def with_batch(layout: Layout, sequences: int) -> Layout:
    """The layout with as many microbatches as a batch of `sequences` needs.

    >>> with_batch(Layout(tp=8, pp=8, dp=192), 6144).microbatches
    32
    """
    each = layout.dp * layout.micro
    if sequences < 1 or sequences % each:
        raise ValueError(f"sequences = {sequences} must be a multiple of dp x micro = {each}")
    return replace(layout, microbatches=sequences // each)


@declared
def check_fit(model: Model, layout: Layout) -> None:
    """Refuses, in one sentence, a layout that does not divide the model.

    >>> from netlib.collectives.training.shapes import model
    >>> check_fit(model("gpt3-175b"), Layout(tp=8, pp=8, dp=2))
    >>> check_fit(model("deepseek-v3"), Layout(pp=16, dp=8))
    Traceback (most recent call last):
    ValueError: layers = 61 of DeepSeek-V3 do not divide into pp x virtual = 16 parts; give uneven=True or another pp
    """
    parts = layout.pp * layout.virtual
    if parts >= model.layers + (layout.pp if layout.uneven else 1):
        raise ValueError(f"pp x virtual = {parts} is more than the layers = {model.layers} of {model.name}")
    if model.layers % parts and not layout.uneven:
        raise ValueError(
            f"layers = {model.layers} of {model.name} do not divide into pp x virtual = {parts} parts; "
            "give uneven=True or another pp"
        )
    if layout.virtual > 1 and layout.microbatches % layout.pp:
        raise ValueError(
            f"microbatches = {layout.microbatches} must be a multiple of pp = {layout.pp} when stages are interleaved"
        )
    for name, whole in (("heads", model.heads), ("ffn", model.ffn)):
        if whole % layout.tp:
            raise ValueError(f"tp = {layout.tp} does not divide {name} = {whole} of {model.name}")
    if model.sequence % (layout.cp * layout.tp if layout.sequence_parallel else layout.cp):
        raise ValueError(f"sequence = {model.sequence} of {model.name} is not cut evenly by cp = {layout.cp} and tp")
    if layout.ep > 1 and (not model.experts or model.experts % layout.ep):
        raise ValueError(f"ep = {layout.ep} does not divide experts = {model.experts} of {model.name}")
    if model.experts and layout.tp > 1:
        raise ValueError(f"tp = {layout.tp} with experts is not modelled; give tp = 1 for {model.name}")


@declared
def stage_layers(model: Model, layout: Layout) -> int:
    """Layers on the busiest pipeline stage: those of one chunk, rounded up, times the chunks.

    >>> from netlib.collectives.training.shapes import model
    >>> stage_layers(model("deepseek-v3"), Layout(pp=16, dp=8, uneven=True))
    4
    """
    return -(-model.layers // (layout.pp * layout.virtual)) * layout.virtual
