"""Effects: what each field of a control does, as words and as what follows from its values.

One line for each field of netlib/congestion/parameters.py; netlib.congestion.comparison puts two presets into it. Where
an effect depends on the link, its speed is in the line; `RATED` holds those, and `effect` writes them for any other.
"""

from collections.abc import Callable, Mapping
from math import inf, log, log1p
from typing import Any

from netlib.congestion.parameters import (
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
from netlib.congestion.recovery import forgetting_time

Consequence = tuple[str, Callable[[Any], str]]


def shown(value: float | str) -> str:
    """A value without a unit, as a reader writes it; infinity is "off"."""
    if isinstance(value, (str, bool)):
        return str(value)
    return "off" if value == inf else f"{value:.4g}"


def shown_time(seconds: float) -> str:
    """Seconds in the unit that fits: 5.5e-05 is "55 us"."""
    if seconds == inf:
        return "never"
    unit, name = next(
        (unit, name) for unit, name in ((1, "s"), (1e-3, "ms"), (1e-6, "us"), (0, "ns")) if seconds >= unit
    )
    return f"{seconds / (unit or 1e-9):.3g} {name}"


def shown_rate(rate: float) -> str:
    """Bytes/s in the unit that fits: Mb/s, and Gb/s from 1,000 of them.

    >>> shown_rate(5e6), shown_rate(125e6), shown_rate(5e9)
    ('40 Mb/s', '1 Gb/s', '40 Gb/s')
    """
    mega = f"{rate * 8e-6:.3g}"
    return f"{mega} Mb/s" if float(mega) < 1000 else f"{rate * 8e-9:.3g} Gb/s"


def _plain(field: str) -> Callable[[Any], str]:
    return lambda control: shown(getattr(control, field))


def _growth(field: str) -> Callable[[Any], str]:
    return lambda control: shown_rate(getattr(control, field) * 1e-3 / control.increase_timer)


def _cuts(control: Dcqcn) -> str:
    gap = max(control.cut_interval, control.cnp_interval)
    return shown_time(10 * gap) if gap else "10 marked packets"


# What each field does: words, and what follows from the preset's values.
EFFECTS: Mapping[type, Mapping[str, Consequence]] = {
    Dcqcn: {
        "machine": (
            "a CNP cuts at once in the paper's machine and waits for a clock in the vendor's:",
            _plain("machine"),
        ),
        "g": ("without marks alpha halves in", lambda c: shown_time(float(forgetting_time(c, 0.5)))),
        "alpha_timer": ("from 1, alpha is down to 0.2 in", lambda c: shown_time(float(forgetting_time(c, 0.2)))),
        "cnp_interval": (
            "two CNPs of a flow are apart by at least",
            lambda c: shown_time(c.cnp_interval) if c.cnp_interval else "nothing",
        ),
        "cut_interval": ("with all packets marked, a flow is cut to a thousandth within", _cuts),
        "increase_timer": (
            "after a cut, fast recovery ends after",
            lambda c: f"{shown_time(c.fast_recovery * c.increase_timer)} (1/{2**c.fast_recovery} of the gap left)",
        ),
        "fast_recovery": ("fast recovery leaves of the gap", lambda c: f"1/{2**c.fast_recovery}"),
        "additive": ("then the target gains in a millisecond", _growth("additive")),
        "hyper": ("in hyper increase the target gains in a millisecond", _growth("hyper")),
        "min_rate": ("cuts stop at", lambda c: shown_rate(c.min_rate) if c.min_rate else "no rate"),
        "initial_alpha": ("the first cut takes", lambda c: f"{50 * c.initial_alpha:.3g} %"),
        "clamp_target": ("a second cut moves the target down too:", _plain("clamp_target")),
        "window": ("BDPs in flight at most, fewer as the rate falls:", _plain("window")),
    },
    Marking: {
        "p_max": (
            "100 KB more of queue mark a share of packets of",
            lambda c: "a step" if c.slope == inf else f"{c.slope * 1e5:.3g}",
        ),
        "when": ("the queue that counts is that of a packet's", _plain("when")),
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
        "delta": ("one increase adds", lambda c: shown_rate(c.delta)),
        "t_low": ("a flow always increases below", lambda c: shown_time(c.t_low)),
        "t_high": ("a flow always decreases above", lambda c: shown_time(c.t_high)),
        "min_rtt": ("the gradient is one when a round trip grows between updates by", lambda c: shown_time(c.min_rtt)),
        "hai": ("the increase is larger after as many updates in a row as", _plain("hai")),
        "hyper": ("then it is larger by a factor of", _plain("hyper")),
        "min_rate": ("cuts stop at", lambda c: shown_rate(c.min_rate or c.delta)),
    },
    Dctcp: {
        "g": ("round trips until alpha has taken in half of a change:", lambda c: f"{_half(c.g):.3g}"),
        "additive": ("bytes that a round trip without marks adds:", _plain("additive")),
        "paced": ("it moves a rate, and packets leave evenly:", _plain("paced")),
        "window": ("BDPs in flight at first and at most:", _plain("window")),
    },
    Swift: {
        "base": ("the delay aimed at, hops and small windows aside, is", lambda c: shown_time(c.base)),
        "per_hop": ("each hop adds to it", lambda c: shown_time(c.per_hop)),
        "fs_range": ("the smallest windows may wait longer by", lambda c: shown_time(c.fs_range)),
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
        "eta": ("the power at which the window rests, over that of a full link without a queue:", _plain("eta")),
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
        "reference_rtt": ("a step by delay is scaled by the target over", lambda c: shown_time(c.reference_rtt)),
    },
    Credits: {
        "start": (
            "BDPs that a new flow sends unasked, so that N of them queue N times as much, less one:",
            _plain("start"),
        ),
        "rate": ("share of the receiver's link that credits ask for:", _plain("rate")),
        "backlog": ("BDPs of credit that one sender may hold:", _plain("backlog")),
        "packets": ("packets that one credit allows:", _plain("packets")),
        "echo": ("credits answer packets that came, and nothing else:", _plain("echo")),
    },
    Uncontrolled: {
        "window": ("BDPs that one flow may have in flight:", _plain("window")),
    },
}

# What takes a time that depends on the link: words, and the speed in bytes/s where nobody gives one.
RATED: Mapping[type, Mapping[str, tuple[str, float]]] = {
    Dcqcn: {"byte_counter": ("the byte counter acts every", 1.25e9)},
    Marking: {"k_min": ("marks begin at a wait of", 12.5e9), "k_max": ("all is marked from a wait of", 12.5e9)},
    Timely: {"segment": ("an update comes every", 125e6)},
}


def effect(control: object, field: str, rate: float | None = None) -> Consequence:
    """Words for a field of a control, and the function that computes what follows from the values of one.

    `rate` is the link's in bytes/s, where it matters.

    >>> words, follows = effect(Marking(250e3, 1e6, 0.2), "k_min", rate=50e9)
    >>> words, follows(Marking(250e3, 1e6, 0.2))
    ('at 400 Gb/s marks begin at a wait of', '5 us')
    """
    rated = RATED.get(type(control), {})
    if field not in rated:
        return EFFECTS[type(control)][field]
    words, usual = rated[field]
    speed = usual if rate is None else rate
    return f"at {speed * 8e-9:.3g} Gb/s {words}", lambda c: shown_time(getattr(c, field) / speed)


def _half(g: float) -> float:
    """Round trips until an average with weight g has taken in half of a change; 1 where it takes all at once."""
    return 1.0 if g == 1 else log(0.5) / log1p(-g)
