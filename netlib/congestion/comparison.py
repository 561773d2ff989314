"""Differences: what two presets of one control set differently, and what each difference does.

Read as a table before two results are compared: a claim that "DCQCN does X" is a claim about a preset.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from math import inf, isfinite

from netlib.arguments import declared
from netlib.congestion.effects import effect, shown, shown_rate, shown_time
from netlib.congestion.parameters import Control, Marking
from netlib.congestion.presets import CONTROLS, dimension_of
from netlib.congestion.rates import speed_of_port


@dataclass(frozen=True)
class Difference:
    """One field that differs: both values in SI (`dimension`), `ratio` = second / first (None where it has no meaning),
    its `effect`, and whether they are `alike`: within a hundredth, and the effect reads the same for both."""

    field: str
    dimension: str
    first: float | str
    second: float | str
    ratio: float | None
    effect: str
    alike: bool = False


@declared
def differences(a: Control | Marking, b: Control | Marking, rate: float | None = None) -> tuple[Difference, ...]:
    """The fields in which `b` differs from `a`, in the order of the dataclass, each with one sentence on its effect.

    `rate` is the link's in bytes/s, for effects that depend on it: the byte counter, marks, TIMELY's segments. Without
    it each names the speed of the papers: 10, 100 and 1 Gb/s.

    >>> from netlib.congestion.presets import preset
    >>> found = differences(preset("dcqcn", "paper"), preset("dcqcn", "connectx-timer"))
    >>> [each.field for each in found][:4]
    ['machine', 'g', 'alpha_timer', 'cnp_interval']
    >>> next(each for each in found if each.field == "increase_timer").effect
    'after a cut, fast recovery ends after 275 us (1/32 of the gap left) against 300 us (1/2 of the gap left)'
    """
    speed = None if rate is None else float(speed_of_port("rate", rate, above=True))
    if type(a) is not type(b):
        raise ValueError(
            f"b = {type(b).__name__} is no {type(a).__name__}; give two presets of one control, such as two of dcqcn"
        )
    rows = []
    for each in fields(a):
        one, two = getattr(a, each.name), getattr(b, each.name)
        if one != two:
            dimension = dimension_of(CONTROLS[type(a)], each.name)
            said, same = _effect(each.name, a, b, speed)
            ratio = _ratio(one, two)
            near = ratio is not None and abs(ratio - 1) < 0.01
            rows.append(Difference(each.name, dimension, one, two, ratio, said, same and near))
    return tuple(rows)


@declared
def difference_table(rows: Sequence[Difference], first: str = "first", second: str = "second") -> str:
    """The differences as a table of text, `first` and `second` at the head of the values.

    Without those that are `alike`, such as a first cut of 50 % against 49.95 %.
    Speeds in it are those that `differences` was given.

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
        if not each.alike
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


def _effect(field: str, a: Control | Marking, b: Control | Marking, rate: float | None) -> tuple[str, bool]:
    """The sentence of this field, with what follows from all fields of either preset, and whether both are alike."""
    words, computed = effect(a, field, rate)
    one, two = computed(a), computed(b)
    return f"{words} {one} against {two}", one == two


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
