"""Rows, statuses and tolerances: which published values the models hit, and which they miss.

A row is `predicted` (scored), `fitted` (it chose a constant, so it is no test), `input` (the model takes it as given)
or `not answerable` (with the reason). Tolerances stand here per metric and regime, never per row.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from statistics import median

from netlib.fidelity import models, models_congestion, models_fluid
from netlib.fidelity import models_topology as topology
from netlib.fidelity.calibration import FITTED, constants
from netlib.fidelity.models import predict
from netlib.fidelity.prediction import Unanswerable
from netlib.fidelity.rows import Row, published_rows
from netlib.fidelity.setup import read_setup
from netlib.fidelity.tokens import BYTES, RATE
from netlib.fidelity.tuned import chosen, planned, same
from netlib.units import GiB, MiB, parse

# (metric, regime) -> largest |relative error| that counts as a hit
TOLERANCE = {
    ("busbw", "one domain, >= 256 MiB"): 0.10,
    ("busbw", "one domain, 1 MiB - 256 MiB"): 0.30,
    ("busbw", "one domain, < 1 MiB"): 0.35,
    ("busbw", "across domains, >= 1 GiB"): 0.15,
    ("busbw", "across domains, 16 MiB - 1 GiB"): 0.35,
    ("busbw", "across domains, < 16 MiB"): 0.50,
    ("unidir_bw", "one domain"): 0.15,
    ("latency", "one domain"): 0.20,
    ("latency", "across domains"): 0.15,
    ("logical bw", "one domain"): 0.15,
    ("logical bw", "across domains"): 0.15,
    models.NIC: 0.05,
    BYTES: 0.0,
    RATE: 0.02,  # both sides are printed to two or three digits
    topology.COUNT: 0.0,
    topology.DISTANCE: 0.0005,  # printed to four or five digits
    topology.CUT: 0.0,
    topology.RATE: 0.05,  # printed to two digits
    topology.MEAN: 0.02,  # of a host's own link, whose rate is 1
    topology.EXTREME: 0.05,
    topology.SPREAD: 0.5,  # the standard deviation of a few seeds
    topology.BINS: 0.01,  # some tables come from trials
    topology.WATTS: 0.01,
    models_congestion.ARITHMETIC: 0.001,
    models_congestion.TABLES: 0.0,
    models_fluid.MARGIN: 0.00028,  # of half a turn: 0.05 degrees
    models_fluid.REST: 0.001,
    models_fluid.FAIR: 0.001,
    **models_congestion.PEERS,
}
CHOICES = ("selection", "what NCCL chose")
TOLERANCE[CHOICES] = 0.0
FABRICS = ("topology", "ECMP", "optics", "network card")  # groups of the chapter on scale-out start so
CONGESTION = {key[0] for key in models_congestion.PEERS} | {
    key[0] for key in (models_congestion.ARITHMETIC, models_fluid.MARGIN)
}
# An error is a share of the published value, or of this, where values near 0 are as good as any other.
WHOLE = {topology.MEAN: 1.0, models_fluid.MARGIN: models_fluid.HALF_TURN}
WHOLE[models_congestion.AIMS_AT_NONE] = models_congestion.BDP
# Closed forms must give what is printed: off by half of its last digit is not off, however few digits there are.
ROUNDED = (models_congestion.ARITHMETIC, models_fluid.REST, models_fluid.FAIR)
PLAIN = ("deg", "degrees", "flows", "packets", "quanta", "prob", "share", "-")  # words for plain numbers
INPUT_METRICS = ("link bandwidth", "per-hop latency")


@dataclass(frozen=True)
class Judged:
    """One published row beside the model. `model`, `rel_error`, `tolerance` and `ok` are None where there is none.

    `rel_error` is relative to the published value; for mean rates of hashed flows, to a host's own link; for phase
    margins, to half a turn; for queues that should be empty, to a bandwidth-delay product; for an algorithm that NCCL
    chose, 1 if the model chooses another. `tuner` is the second model's value, NCCL's own plan.
    """

    group: str
    id: str
    status: str
    model: float | None
    published: float | None
    unit: str
    rel_error: float | None
    tolerance: float | None
    ok: bool | None
    note: str
    tuner: float | None = None

    @property
    def tuner_error(self) -> float | None:
        """Relative error of the second model, on rows that are scored."""
        return None if self.tuner is None or self.rel_error is None else self.tuner / (self.published or 1.0) - 1


def judge(rows: Iterable[Row]) -> list[Judged]:
    """Every row with the model's value, computed from its set-up columns alone."""
    return [_judge(row) for row in rows]


@cache
def judged_rows() -> tuple[Judged, ...]:
    """This project's own rows, judged once."""
    return tuple(judge(published_rows()))


def about(group: str) -> str:
    """What a group's rows are about: "fabrics", "congestion", "collectives" or "choices".

    >>> about("topology: distances"), about("busbw: one domain, < 1 MiB")
    ('fabrics', 'collectives')
    """
    if group.split(":")[0] == CHOICES[0]:
        return "choices"
    if group.split(":")[0] in CONGESTION:
        return "congestion"
    return "fabrics" if group.split(":")[0] in FABRICS else "collectives"


def share(tolerance: float) -> str:
    """A tolerance as people write it.

    >>> share(0.0), share(0.0005), share(0.15)
    ('exact', '0.05 %', '15 %')
    """
    return f"{100 * tolerance:g} %" if tolerance else "exact"


def _judge(row: Row) -> Judged:
    name, unit = row.get("id") or "(no id)", row.get("unit") or ""
    metric = row.get("metric") or ""
    published = _value(row)
    if metric == "algorithm":
        return _selected(row, name)
    if metric in INPUT_METRICS:
        return Judged("inputs", name, "input", None, published, unit, None, None, None, "a rate that models start from")
    try:
        prediction = predict(row, constants())
        key = prediction.group or ("busbw" if metric == "algbw" else metric, _regime(row, metric))
        factor = _factor(prediction.unit, unit, metric)
    except ValueError as reason:
        return Judged("not answerable", name, "not answerable", None, published, unit, None, None, None, str(reason))
    model = prediction.value * factor
    group = f"{key[0]}: {key[1]}"
    if name in FITTED:
        return Judged(
            group, name, "fitted", model, published, unit, None, None, None, "chose a constant; " + prediction.note
        )
    tolerance = TOLERANCE[key]
    signed = key in WHOLE and key != topology.MEAN
    if published is None or (published < 0 and not signed) or (published == 0 and key != topology.COUNT):
        return Judged(
            group, name, "predicted", model, published, unit, None, tolerance, None, "no published number to compare"
        )
    error = model / published - 1 if published else float(model)  # none published: each one counted is an error
    if key in WHOLE:
        error = (model - published) / (factor * WHOLE[key])
    rounded = key in ROUNDED and abs(model - published) <= half_digit(row.get("value") or "")
    hit, tuner = abs(error) <= tolerance or rounded, _tuner(row, metric)
    tuner = None if tuner is None else tuner * factor
    return Judged(group, name, "predicted", model, published, unit, error, tolerance, hit, prediction.note, tuner)


def half_digit(printed: str) -> float:
    """Half a unit of the last digit of a printed number.

    >>> half_digit("20.2"), half_digit("14"), half_digit("4e-05"), half_digit("fast")
    (0.05, 0.5, 5e-06, 0.0)
    """
    found = re.fullmatch(r"\s*[-+]?\d*(?:\.(\d*))?(?:e([-+]?\d+))?\s*", printed)
    return 0.5 * 10.0 ** (int(found[2] or 0) - len(found[1] or "")) if found else 0.0


def _tuner(row: Row, metric: str) -> float | None:
    """The second model's value in GB/s, None where it has none."""
    try:
        return planned(row).value if metric in ("busbw", "algbw") else None
    except Unanswerable:
        return None


def _selected(row: Row, name: str) -> Judged:
    """A row whose value is an algorithm that NCCL was seen to choose."""
    group, seen = ": ".join(CHOICES), (row.get("value") or "").strip()
    try:
        choice = chosen(row)
    except Unanswerable as reason:
        return Judged("not answerable", name, "not answerable", None, None, "", None, None, None, str(reason))
    if not seen:
        return Judged(group, name, "predicted", None, None, "", None, 0.0, None, f"{choice}; no published choice")
    hit = same(choice, seen)
    return Judged(group, name, "predicted", None, None, "", 1.0 - hit, 0.0, hit, f"{choice} chosen, {seen} seen")


def _factor(ours: str, theirs: str, metric: str) -> float:
    """What turns a value in our unit into theirs; Unanswerable if theirs is no unit or measures something else."""
    if not ours and theirs in PLAIN:
        return 1.0
    try:
        own, other = parse(f"1 {ours}"), parse(f"1 {theirs}")
    except ValueError:  # a unit that nobody can read
        other = None
    if other is None or own.dimension != other.dimension:
        raise Unanswerable(f"unit {theirs[:20]!r} cannot be compared with {metric[:30]!r}")
    return own.value / other.value


def _regime(row: Row, metric: str) -> str:
    setup = read_setup(row if metric in ("busbw", "algbw") else {**row, "message_bytes": "peak"})
    where = "one domain" if setup.domains == 1 else "across domains"
    if metric not in ("busbw", "algbw"):
        return where
    small, large = (MiB, 256 * MiB) if setup.domains == 1 else (16 * MiB, GiB)
    names = ("< 1 MiB", "1 MiB - 256 MiB", ">= 256 MiB")
    if setup.domains > 1:
        names = ("< 16 MiB", "16 MiB - 1 GiB", ">= 1 GiB")
    return f"{where}, {names[(setup.size >= small) + (setup.size >= large)]}"


def _value(row: Row) -> float | None:
    try:
        value = float(row.get("value") or "")
    except ValueError:
        return None
    return value if isfinite(value) else None


@dataclass(frozen=True)
class Group:
    """The predicted rows of one group: how many, how many hit, median and largest relative error."""

    group: str
    rows: int
    hits: int
    tolerance: float
    median: float
    worst: str
    worst_error: float


def summary(judged: Sequence[Judged]) -> list[Group]:
    """One entry for each group that has scored rows."""
    groups: dict[tuple[str, float], list[tuple[float, str, bool]]] = {}
    for row in judged:
        if row.rel_error is not None and row.tolerance is not None:
            groups.setdefault((row.group, row.tolerance), []).append((row.rel_error, row.id, bool(row.ok)))
    return [
        Group(
            group=name,
            rows=len(errors),
            hits=sum(ok for _, _, ok in errors),
            tolerance=tolerance,
            median=median(abs(error) for error, _, _ in errors),
            worst=max(errors, key=lambda row: abs(row[0]))[1],
            worst_error=max(errors, key=lambda row: abs(row[0]))[0],
        )
        for (name, tolerance), errors in sorted(groups.items())
    ]
