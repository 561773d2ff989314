"""Published numbers of congestion control's theory: rests, margins, critical delays, times until flows are fair.

A parameter that a row does not state is the paper's (`netlib.congestion.presets`: dcqcn "fluid", timely "patched",
marking "dcqcn-paper"); the link's rate and the number of flows have no default.
"""

import re
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np

from netlib.congestion import Dcqcn, Marking, Timely, paced_queue, preset
from netlib.congestion.fluid import (
    critical_delay,
    cube_root_marks,
    dcqcn_convergence,
    dcqcn_loop,
    most_flows,
    phase_margin,
    power_left,
    published_loop,
    rest_point,
    timely_convergence,
    timely_margin,
    timely_rest,
)
from netlib.fidelity.params import Asked
from netlib.fidelity.prediction import Prediction

MARGIN = ("theory of control", "phase margins")
REST = ("theory of control", "rests and critical delays")
FAIR = ("theory of control", "times until fair")
HALF_TURN = 180.0  # degrees: errors of margins are shares of it
MOST_FLOWS = 10_000  # that a report looks for a margin with

Answer = tuple[str, str, Callable[[Asked], Prediction]]


def dcqcn_of(asked: Asked) -> Dcqcn:
    """DCQCN with what the row states, and the fluid study's values for the rest."""
    base = preset("dcqcn", "fluid")
    names = (each.name for each in fields(base))
    stated: dict[str, Any] = {name: asked.numbers[name] for name in names if name in asked.numbers}
    if "size" in asked.numbers:  # B is the byte counter here
        stated["byte_counter"] = asked.numbers["size"]
    if "fast_recovery" in stated:
        stated["fast_recovery"] = int(stated["fast_recovery"])
    return replace(base, **stated)


def marking_of(asked: Asked) -> Marking:
    """RED with what the row states, and the paper's values for the rest."""
    base = preset("marking", "dcqcn-paper")
    names = ("k_min", "k_max", "p_max")
    stated: dict[str, Any] = {name: asked.numbers[name] for name in names if name in asked.numbers}
    if "ramp" in asked.numbers:  # "slope 1%/195KB"
        stated["k_max"] = stated.get("k_min", base.k_min) + asked.numbers["ramp"]
    return replace(base, **stated)


def timely_of(asked: Asked) -> Timely:
    """Patched TIMELY with what the row states."""
    base = preset("timely", "patched")
    names = ("alpha", "beta", "delta", "t_low", "t_high", "min_rtt", "segment")
    stated: dict[str, Any] = {name: asked.numbers[name] for name in names if name in asked.numbers}
    return replace(base, **stated)


def _link(asked: Asked) -> tuple[float, float]:
    """(bytes/s, flows)."""
    rate, flows = asked.number("rate"), asked.number("flows")
    if flows > MOST_FLOWS:
        raise ValueError(f"{flows:g} flows are more than a report looks for; up to {MOST_FLOWS:,} are")
    return rate, flows


def _margin(asked: Asked) -> Prediction:
    rate, flows = _link(asked)
    at = re.search(r"margin at ([\d.]+) ?us", asked.metric)
    delay = float(at[1]) * 1e-6 if at else asked.number("delay")
    if re.search("exact", f"{asked.scenario} {asked.metric}"):
        found = phase_margin(dcqcn_loop(dcqcn_of(asked), marking_of(asked), rate, flows), delay)
        return Prediction(float(found), "", "exact linearisation", MARGIN)
    found = phase_margin(published_loop(dcqcn_of(asked), marking_of(asked), rate, flows), delay, cut="delay")
    return Prediction(float(found), "", "the paper's linearisation", MARGIN)


def _critical(asked: Asked) -> Prediction:
    rate, flows = _link(asked)
    rough = re.search("published|approximation|paper", f"{asked.scenario} {asked.metric}")
    make = published_loop if rough else dcqcn_loop
    value = float(critical_delay(make(dcqcn_of(asked), marking_of(asked), rate, flows)))
    return Prediction(value, "s", "the paper's linearisation" if rough else "exact linearisation", REST)


def _share(asked: Asked) -> Prediction:
    rate, flows = _link(asked)
    if asked.says("cube"):
        return Prediction(float(cube_root_marks(dcqcn_of(asked), rate, flows)), "", "cube root", REST)
    return Prediction(float(rest_point(dcqcn_of(asked), marking_of(asked), rate, flows).marks), "", "exact root", REST)


def _rest(asked: Asked) -> Prediction:
    rate, flows = _link(asked)
    queue = float(rest_point(dcqcn_of(asked), marking_of(asked), rate, flows).queue)
    if np.isnan(queue):
        raise ValueError(f"{flows:g} flows have no rest on this ramp")
    return Prediction(queue, "B", "exact root", REST)


def _most(asked: Asked) -> Prediction:
    found = most_flows(dcqcn_of(asked), marking_of(asked), asked.number("rate"))
    return Prediction(float(found), "", "root at p_max", REST)


def _fair(asked: Asked) -> Prediction:
    rate, flows = _link(asked)
    return Prediction(
        float(dcqcn_convergence(dcqcn_of(asked), marking_of(asked), rate, flows).time), "s", "saw-teeth", FAIR
    )


def _timely_margin(asked: Asked) -> Prediction:
    rate, flows = _link(asked)
    found = timely_margin(timely_of(asked), rate, flows, asked.number("delay"), form="published")
    return Prediction(float(found), "", "the paper's linearisation, patched TIMELY", MARGIN)


def _timely_rest(asked: Asked) -> Prediction:
    return Prediction(float(timely_rest(timely_of(asked), *_link(asked))), "B", "closed form, patched TIMELY", REST)


def _timely_fair(asked: Asked) -> Prediction:
    found = timely_convergence(timely_of(asked), asked.number("flows"))
    return Prediction(float(found), "s", "closed form, patched TIMELY", FAIR)


def _timely_most(asked: Asked) -> Prediction:
    """The last number of flows before more are unstable again; 0 if none of the first 200 is stable."""
    many = np.arange(2, 200)
    delay = asked.get("delay", 0.0)
    stable = timely_margin(timely_of(asked), asked.number("rate"), many, delay, form="published") > 0
    first = int(np.argmax(stable))
    lasts = first + int(np.argmin(stable[first:])) - 1
    return Prediction(float(many[lasts]) if stable.any() else 0.0, "", "margins counted", REST)


def _paced(asked: Asked) -> Prediction:
    flows = asked.number("flows")
    if not 1 <= flows <= 1e5:
        raise ValueError(f"flows = {flows:g} are not summed in a report; 1 to 100,000 are")
    scale = np.sqrt(flows) if "sqrt" in asked.metric else 1.0
    return Prediction(float(paced_queue(flows) / scale), "", "paced flows at random phases", REST)


def _power_gone(asked: Asked) -> Prediction:
    """What is gone after so many update intervals over gamma."""
    found = re.search(r"(\d+(?:\.\d+)?) ?\*? ?(?:dt|delta_t) ?/ ?gamma", asked.text)
    if not found:
        raise ValueError("after how many update intervals over gamma is not stated")
    return Prediction(1 - float(power_left(float(found[1]), 1.0)), "", "exponential", REST)


THEORY: tuple[Answer, ...] = (
    ("timely", r"margin", _timely_margin),
    ("timely", r"q_?star|queue|rest", _timely_rest),
    ("timely", r"most|largest stable", _timely_most),
    ("timely.*converg|timely.*fair", r"time", _timely_fair),
    ("dcqcn", r"delay at zero|critical|swings", _critical),
    ("dcqcn", r"margin", _margin),
    ("dcqcn", r"p_?star|share of mark", _share),
    ("dcqcn", r"q_?star_?|queue at rest", _rest),
    ("dcqcn", r"(?:most|largest) (?:n|flows|number)", _most),
    ("dcqcn.*converg|dcqcn.*fair", r"time", _fair),
    ("swift|paced", r"queue", _paced),
    ("powertcp|window control", r"gone|remove", _power_gone),
)
"""(what the scenario says, what the metric says, the answer), tried in order."""
