"""Differences: what two presets of one control set differently, and what each difference does.

Read as a table before two results are compared: a claim that "DCQCN does X" is a claim about a preset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf, isfinite

from netlib.arguments import declared
from netlib.congestion.effects import EFFECTS, shown, shown_rate, shown_time
from netlib.congestion.parameters import Control, Marking
from netlib.congestion.presets import CONTROLS, dimension_of


@dataclass(frozen=True)
class Difference:
    """One field that differs: both values in SI (`dimension`), `ratio` = second / first (None where it has no meaning),
    and its `effect`."""

    field: str
    dimension: str
    first: float | str
    second: float | str
    ratio: float | None
    effect: str


@declared
def differences(a: Control | Marking, b: Control | Marking) -> tuple[Difference, ...]:
    """The fields in which `b` differs from `a`, in the order of the dataclass, each with one sentence on its effect.

    >>> from netlib.congestion.presets import preset
    >>> found = differences(preset("dcqcn", "paper"), preset("dcqcn", "connectx-timer"))
    >>> [each.field for each in found][:4]
    ['machine', 'g', 'alpha_timer', 'cnp_interval']
    >>> next(each for each in found if each.field == "increase_timer").effect
    'after a cut, fast recovery to the target takes 275 us against 300 us'
    """
    if type(a) is not type(b):
        raise ValueError(
            f"b = {type(b).__name__} is no {type(a).__name__}; give two presets of one control, such as two of dcqcn"
        )
    rows = []
    for each in fields(a):
        one, two = getattr(a, each.name), getattr(b, each.name)
        if one != two:
            dimension = dimension_of(CONTROLS[type(a)], each.name)
            rows.append(Difference(each.name, dimension, one, two, _ratio(one, two), _effect(each.name, a, b)))
    return tuple(rows)


@declared
def difference_table(rows: Sequence[Difference], first: str = "first", second: str = "second") -> str:
    """The differences as a table of text, `first` and `second` at the head of the values.

    >>> from netlib.congestion.presets import preset
    >>> made = differences(preset("hpcc", "paper"), preset("hpcc", "printed"))
    >>> print(difference_table(made, "used", "printed"))
    field      used  printed  ratio  what it does
    max_stage     0        5         additive steps before the window may shrink by measure: 0 against 5
    """
    head = ("field", first, second, "ratio", "what it does")
    body = [
        (
            each.field,
            shown_in_unit(each.first, each.dimension),
            shown_in_unit(each.second, each.dimension),
            "" if each.ratio is None else f"{each.ratio:.3g}",
            each.effect,
        )
        for each in rows
    ]
    width = [max(len(row[k]) for row in (head, *body)) for k in range(4)]
    lines = []
    for row in (head, *body):
        cells = [row[0].ljust(width[0])] + [row[k].rjust(width[k]) for k in range(1, 4)]
        lines.append("  ".join((*cells, row[4])))
    return "\n".join(lines)


def _ratio(one: object, two: object) -> float | None:
    """Second over first, where both are numbers between zero and infinity."""
    pair = [float(each) for each in (one, two) if isinstance(each, (int, float)) and not isinstance(each, bool)]
    return pair[1] / pair[0] if len(pair) == 2 and all(0 < each < inf for each in pair) else None


def _effect(field: str, a: Control | Marking, b: Control | Marking) -> str:
    """The sentence of this field; with what follows from all fields of either preset, where that can be computed."""
    words, computed = EFFECTS[type(a)][field]
    return f"{words} {computed(a)} against {computed(b)}"


def shown_in_unit(value: float | str, dimension: str) -> str:
    """A value as a reader writes it: 55 us, 40 Mb/s, 200 KB."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not isfinite(value):
        return shown(value) if isinstance(value, (str, bool, float)) else str(value)
    if dimension == "bytes":
        unit, name = next(
            (unit, name) for unit, name in ((1e6, "MB"), (1e3, "KB"), (1, "B")) if value >= 10 * unit or unit == 1
        )
        return f"{value / unit:.4g} {name}"
    return {"s": shown_time, "bytes/s": shown_rate}.get(dimension, shown)(value)
