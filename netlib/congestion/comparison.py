"""Differences: what two presets of one control set differently, and what each difference does.

Read as a table before two results are compared: a claim that "DCQCN does X" is a claim about a preset.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import inf, log, log1p
from typing import Any

from netlib.arguments import declared
from netlib.congestion.parameters import (
    Control,
    Credits,
    Dcqcn,
    Dctcp,
    Hpcc,
    Marking,
    Nscc,
    PowerTcp,
    Swift,
    Timely,
    Uncontrolled,
)
from netlib.congestion.presets import CONTROLS, dimension_of
from netlib.congestion.recovery import forgetting_time

Consequence = tuple[str, Callable[[Any], str]]


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
            _with_unit(each.first, each.dimension),
            _with_unit(each.second, each.dimension),
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
    numbers = all(isinstance(each, (int, float)) and not isinstance(each, bool) for each in (one, two))
    if not numbers or one in (0, inf) or two in (0, inf):
        return None
    return float(two / one)  # type: ignore[operator]


def _shown(value: float | str) -> str:
    if isinstance(value, (str, bool)):
        return str(value)
    return "off" if value == inf else f"{value:.4g}"


def _effect(field: str, a: Control | Marking, b: Control | Marking) -> str:
    """The sentence of this field; with what follows from all fields of either preset, where that can be computed."""
    words, computed = EFFECTS[type(a)][field]
    return f"{words} {computed(a)} against {computed(b)}"


def _time(seconds: float) -> str:
    if seconds == inf:
        return "never"
    unit, name = next(
        (unit, name) for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (0, "ns")) if seconds >= unit
    )
    return f"{seconds / (unit or 1e-9):.3g} {name}"


def _speed(rate: float) -> str:
    return f"{rate * 8 / 1e6:.3g} Mb/s"


def _with_unit(value: float | str, dimension: str) -> str:
    """A value as a reader writes it: 55 us, 40 Mb/s, 200 KB."""
    if isinstance(value, (str, bool)) or value == inf:
        return _shown(value)
    if dimension == "bytes":
        return f"{value / 1e3:.4g} KB" if value >= 1e4 else f"{value:.4g} B"
    return {"s": _time, "bytes/s": _speed}.get(dimension, _shown)(value)


def _plain(field: str) -> Callable[[Any], str]:
    return lambda control: _shown(getattr(control, field))


def _growth(field: str) -> Callable[[Any], str]:
    return lambda control: _speed(getattr(control, field) * 1e-3 / control.increase_timer)


def _cuts(control: Dcqcn) -> str:
    gap = max(control.cut_interval, control.cnp_interval)
    return _time(10 * gap) if gap else "10 marked packets"


# What each field does: words, and what follows from the preset's values. 100 Gb/s are 12.5e9 bytes/s.
EFFECTS: Mapping[type, Mapping[str, Consequence]] = {
    Dcqcn: {
        "machine": (
            "a CNP cuts at once in the paper's machine and waits for a clock in the vendor's:",
            _plain("machine"),
        ),
        "g": ("without marks alpha halves in", lambda c: _time(float(forgetting_time(c, 0.5)))),
        "alpha_timer": ("from 1, alpha is down to 0.2 in", lambda c: _time(float(forgetting_time(c, 0.2)))),
        "cnp_interval": (
            "two CNPs of a flow are apart by at least",
            lambda c: _time(c.cnp_interval) if c.cnp_interval else "nothing",
        ),
        "cut_interval": ("with all packets marked, a flow is cut to a thousandth within", _cuts),
        "increase_timer": (
            "after a cut, fast recovery to the target takes",
            lambda c: _time(c.fast_recovery * c.increase_timer),
        ),
        "byte_counter": ("at 10 Gb/s the byte counter acts every", lambda c: _time(c.byte_counter / 1.25e9)),
        "fast_recovery": ("fast recovery leaves of the gap", lambda c: f"1/{2**c.fast_recovery}"),
        "additive": ("then the target gains in a millisecond", _growth("additive")),
        "hyper": ("in hyper increase the target gains in a millisecond", _growth("hyper")),
        "min_rate": ("cuts stop at", lambda c: _speed(c.min_rate) if c.min_rate else "no rate"),
        "initial_alpha": ("the first cut takes", lambda c: f"{50 * c.initial_alpha:.3g} %"),
        "clamp_target": ("a second cut moves the target down too:", _plain("clamp_target")),
    },
    Marking: {
        "k_min": ("at 100 Gb/s marks begin at a wait of", lambda c: _time(c.k_min / 12.5e9)),
        "k_max": ("at 100 Gb/s all is marked from a wait of", lambda c: _time(c.k_max / 12.5e9)),
        "p_max": (
            "100 KB more of queue mark a share of packets of",
            lambda c: "a step" if c.slope == inf else f"{c.slope * 1e5:.3g}",
        ),
    },
    Timely: {
        "patched": ("the decrease follows the queue's distance from a reference:", _plain("patched")),
        "alpha": ("a new round trip weighs in the gradient", _plain("alpha")),
        "beta": (
            "a decrease takes",
            lambda c: (
                f"{100 * c.beta:.3g} % at twice the reference"
                if c.patched
                else f"{10 * c.beta:.3g} % at a gradient of 0.1"
            ),
        ),
        "delta": ("one increase adds", lambda c: _speed(c.delta)),
        "t_low": ("a flow always increases below", lambda c: _time(c.t_low)),
        "t_high": ("a flow always decreases above", lambda c: _time(c.t_high)),
        "min_rtt": ("the gradient is one when a round trip grows between updates by", lambda c: _time(c.min_rtt)),
        "segment": ("at 1 Gb/s an update comes every", lambda c: _time(c.segment / 125e6)),
        "hai": ("the increase is five-fold after as many updates as", _plain("hai")),
    },
    Dctcp: {
        "g": ("round trips until alpha has taken in half of a change:", lambda c: f"{_half(c.g):.3g}"),
        "additive": ("bytes that a round trip without marks adds:", _plain("additive")),
    },
    Swift: {
        "base": ("the delay aimed at, hops and small windows aside, is", lambda c: _time(c.base)),
        "per_hop": ("each hop adds to it", lambda c: _time(c.per_hop)),
        "fs_range": ("the smallest windows may wait longer by", lambda c: _time(c.fs_range)),
        "fs_least": ("that holds from windows (packets) down to", _plain("fs_least")),
        "fs_most": ("windows without it begin at (packets)", _plain("fs_most")),
        "ai": ("packets gained in a round trip below the target:", _plain("ai")),
        "beta": ("twice the target takes of the window, before the cap,", lambda c: f"{50 * c.beta:.3g} %"),
        "max_cut": ("a round trip takes at most", lambda c: f"{100 * c.max_cut:.3g} %"),
        "min_window": ("at 20 us a flow may be as slow as packets/s:", lambda c: f"{c.min_window / 20e-6:.3g}"),
    },
    Hpcc: {
        "eta": ("the share of a link left empty on purpose is", lambda c: f"{max(0.0, 1 - c.eta):.3g}"),
        "max_stage": ("additive steps before the window may shrink by measure:", _plain("max_stage")),
        "additive": ("bytes that each round adds, the speed of fairness:", _plain("additive")),
    },
    PowerTcp: {
        "gamma": ("the newest window weighs", _plain("gamma")),
        "flows": ("BDPs of queue that eight flows leave standing:", lambda c: f"{8 / c.flows:.3g}"),
        "theta": ("it sees round trips only, not what switches stamp:", _plain("theta")),
    },
    Nscc: {
        "target": ("BDPs of queue left standing:", _plain("target")),
        "max_window": ("BDPs in flight at most, and at first:", _plain("max_window")),
        "gamma": ("twice the target takes of the window, before the cap,", lambda c: f"{50 * c.gamma:.3g} %"),
        "max_cut": ("one decrease takes at most", lambda c: f"{100 * c.max_cut:.3g} %"),
        "fair": ("packets added in a round trip of long waits without marks:", _plain("fair")),
        "eta": ("packets added in any round trip:", _plain("eta")),
        "proportional": ("packets added for a whole target of delay to spare:", _plain("proportional")),
        "fast": ("bytes added for each byte acknowledged while nothing waits:", _plain("fast")),
        "gate": ("quick adaptation acts below a share of the largest window of", lambda c: f"1/{2**c.gate:.3g}"),
        "qa_target": ("quick adaptation acts above targets of delay:", _plain("qa_target")),
        "adjust": ("packets between two adjustments:", _plain("adjust")),
        "reference": ("a step of bytes is scaled by the BDP over", _plain("reference")),
        "reference_rtt": ("a step by delay is scaled by the target over", lambda c: _time(c.reference_rtt)),
    },
    Credits: {
        "start": (
            "BDPs that a new flow sends unasked, so that N of them queue N times as much, less one:",
            _plain("start"),
        ),
        "rate": ("share of the receiver's link that credits ask for:", _plain("rate")),
        "backlog": ("BDPs of credit that one sender may hold:", _plain("backlog")),
    },
    Uncontrolled: {
        "window": ("BDPs that one flow may have in flight:", _plain("window")),
    },
}


def _half(g: float) -> float:
    """Round trips until an average with weight g has taken in half of a change; 1 where it takes all at once."""
    return 1.0 if g == 1 else log(0.5) / log1p(-g)
