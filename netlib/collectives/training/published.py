"""Published runs beside the model: what the papers printed, what counting makes of it, what the model predicts.

Two comparisons. *Counted*: the utilisation that follows from the printed seconds of a step and from FLOPs counted from
the shape. Nothing is assumed, and it agrees within 0.5 % (MegaScale's own rows: 2 %, as its sliding window spares
FLOPs). *Modelled*: what `step_time` predicts from measurements of one GPU and one node. It leaves out what no formula
here knows: kernels slower than the best one, the optimizer, stragglers, congestion. So it bounds utilisation from
above, and rows of one table keep their order. Read with the chapter "Collectives", section "Who moves what".
"""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from netlib.arguments import Floats, declared
from netlib.collectives.training.layout import Layout, with_batch
from netlib.collectives.training.shapes import model, training_flops
from netlib.collectives.training.step import TrainingStep, step_time
from netlib.collectives.training.volumes import Widths, step_flows
from netlib.collectives.training.wires import Cluster
from netlib.links import Link
from netlib.names import nearest

TABLE = Path(__file__).with_name("published.toml")
BUCKET = 1e8  # bytes; a bucket of gradients where a system overlaps their reduction
MICRO = (1, 2, 4, 8)


@dataclass(frozen=True)
class PublishedRun:
    """One row of a published table: the model's id, the layout and what was printed.

    `utilisation` is of the kind `kind` ("mfu" or "hfu"); `seconds` of a step and `tflops` a GPU are 0 if not printed.
    The rest is what the paper says of its system; see `published.toml`.
    """

    paper: str
    source: str
    cluster: str
    kind: str
    model: str
    gpus: int
    sequences: int
    utilisation: float
    seconds: float
    tflops: float
    layout: Layout
    overlapped: bool
    micro: int = 1
    fused: bool = False
    causal: bool = False
    scatter_gather: bool = False
    schedule: str = "1F1B"
    node_limit: int | None = None
    dispatch: float = 2

    @property
    def id(self) -> str:
        """A name for a row: paper, model and GPUs.

        >>> runs("deepseek")[0].id
        'deepseek deepseek-v3 2048'
        """
        return f"{self.paper} {self.model} {self.gpus}"


@dataclass(frozen=True)
class Beside:
    """A run beside the model: utilisations `printed`, `counted` (None without a printed time) and `modelled`; `bare` is
    the model's with no communication hidden. Where TFLOP/s are printed they are taken: they have more digits.
    """

    id: str
    kind: str
    printed: float
    counted: float | None
    modelled: float
    bare: float
    step: TrainingStep

    @property
    def ratio(self) -> float:
        """How much better than printed the model is; above 1, as it leaves losses out.

        >>> 1.2 < beside(runs("megatron")[6]).ratio < 1.25
        True
        """
        return self.modelled / self.printed


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def _pick(kind: str, id: str) -> dict[str, Any]:
    known = _table()[kind]
    if id not in known:
        raise ValueError(f"{kind} = {id[:40]!r} is not in the table; {nearest(id, known)}")
    found: dict[str, Any] = known[id]
    return found


@declared
def cluster(id: str) -> Cluster:
    """A machine of the table, by its id.

    >>> cluster("a100").up.bandwidth, cluster("a100").out.bandwidth
    (235000000000.0, 25000000000.0)
    """
    row = _pick("cluster", id)
    numbers = {name: row[name] for name in ("name", "peak", "matmul", "memory")}
    return Cluster(up=Link(*row["up"]), out=Link(*row["out"]), **numbers)


@declared
def runs(paper: str) -> tuple[PublishedRun, ...]:
    """The rows of one paper's table: "megatron", "megascale-baseline", "megascale", "llama3" or "deepseek".

    >>> [run.gpus for run in runs("megascale")][-2:]
    [8192, 12288]
    """
    table = dict(_pick("paper", paper))
    columns, rows = table.pop("columns"), table.pop("runs")
    fixed = {name: table.pop(name) for name in tuple(table) if name in Layout.__dataclass_fields__ and name != "micro"}
    found = []
    for row in rows:
        one = dict(zip(columns, row, strict=True))
        tp, pp = one.pop("tp"), one.pop("pp")
        layout = Layout(tp=tp, pp=pp, dp=one["gpus"] // (tp * pp), **fixed)
        found.append(PublishedRun(paper=paper, layout=layout, **table, **one))
    return tuple(found)


@declared
def predicted(run: PublishedRun, hide: bool | None = None) -> TrainingStep:
    """The model's step for a run. `hide` hides all communication or none; left out, as the paper's system does.

    >>> run = runs("megascale")[-1]
    >>> predicted(run, hide=True).total < predicted(run, hide=False).total < run.seconds
    True
    """
    shape, machine = model(run.model), cluster(run.cluster)
    hide = run.overlapped if hide is None else hide
    steps = []
    for micro in (run.micro,) if run.micro else MICRO:
        if run.sequences % (run.layout.dp * micro):
            continue
        layout = with_batch(replace(run.layout, micro=micro), run.sequences)
        flows = step_flows(
            shape,
            layout,
            Widths(dispatch=run.dispatch),
            g=machine.g,
            dedup=run.node_limit is not None,
            node_limit=run.node_limit,
            scatter_gather=run.scatter_gather,
        )
        step = step_time(
            shape,
            layout,
            machine,
            flows,
            schedule=run.schedule,
            hidden={"tp": 1, "pp": 1, "ep": 1} if hide else None,
            bucket=BUCKET if hide else None,
            fused_attention=run.fused,
            causal=run.causal,
        )
        steps.append(step)
    return min(steps, key=lambda step: step.total)


@declared
def counted(run: PublishedRun) -> float | None:
    """Utilisation from the printed seconds and the counted FLOPs; None where no time is printed.

    >>> round(counted(runs("megascale-baseline")[-2]), 3)  # printed: 0.433
    0.433
    """
    if not run.seconds:
        return None
    shape = model(run.model)
    flops = float(training_flops(shape, causal=run.causal, recompute=run.kind == "hfu"))
    return run.sequences * shape.sequence * flops / (run.seconds * run.gpus * cluster(run.cluster).peak)


@declared
def beside(run: PublishedRun) -> Beside:
    """A run beside what counting and the model say.

    >>> one = beside(runs("megatron")[-1])
    >>> round(one.printed, 3), one.counted, round(one.modelled, 2)
    (0.522, None, 0.63)
    """
    step, bare = predicted(run), predicted(run, hide=False)
    printed = run.tflops * 1e12 / cluster(run.cluster).peak if run.tflops else run.utilisation
    return Beside(run.id, run.kind, printed, counted(run), getattr(step, run.kind), getattr(bare, run.kind), step)


@declared
def trend(rows: Sequence[Beside]) -> Floats:
    """How far each row's ratio is from the rows' common one (their geometric mean): what is left if the model may be
    wrong by one factor for all. The seven rows of Narayanan et al. with tp = 8 stay within 3 %.

    >>> bool(abs(trend([beside(run) for run in runs("megatron")[3:]])).max() < 0.03)
    True
    """
    if not rows:
        raise ValueError("rows = [] must hold at least one run beside the model")
    ratios = np.array([row.ratio for row in rows])
    return np.asarray(ratios / np.exp(np.log(ratios).mean()) - 1)


def side_by_side() -> tuple[Beside, ...]:
    """Every published run beside the model, in the order of the table.

    >>> len(side_by_side())
    29
    """
    return tuple(beside(run) for paper in _table()["paper"] for run in runs(paper))
