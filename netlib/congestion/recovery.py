"""Recovery: how long DCQCN takes back to its old rate after one cut.

Five halvings of the gap, one for each tick of the increase timer: so the timer, which paper, NIC and simulator set
between 55 us and 1.5 ms, decides, and nothing else does while the byte counter is slower.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.parameters import Dcqcn


class Walk(NamedTuple):
    """Increases of one flow after a cut: `time` (s), `current` and `target` (bytes/s) after each, and its `stage`."""

    time: Floats
    current: Floats
    target: Floats
    stage: NDArray[np.str_]


@formula
def recovered_share(events: ArrayLike, alpha: ArrayLike = 1.0) -> Floats:
    """Share of the old rate after `events` halvings of the gap that a cut by alpha / 2 left: 1 - alpha / 2^(n + 1).

    >>> recovered_share([0, 1, 5]).tolist()
    [0.5, 0.75, 0.984375]
    """
    weight = floats("alpha", alpha)
    if (weight > 1).any():
        raise ValueError(f"alpha = {weight.max():g} is a share; give a number between 0 and 1")
    return np.asarray(1 - weight / 2 * np.exp2(-floats("events", events)))


@declared
@formula
def recovery_time(control: Dcqcn, share: float | None = None, alpha: float = 1.0) -> float:
    """Seconds after a cut until a flow has `share` of its old rate again, by the increase timer alone.

    k = ceil(log2(alpha / 2 / (1 - share))) ticks, at most F of them: beyond that the target itself moves, and the
    answer needs `walk_recovery`. By default all F. Holds if no CNP comes and the byte counter is slower than the timer.

    >>> from netlib.congestion.presets import preset
    >>> recovery_time(preset("dcqcn", "paper")) * 1e3  # ms until 98.4 %
    0.275
    """
    if share is None:
        return control.fast_recovery * control.increase_timer
    if not 0 <= floats("share", share) < 1:
        raise ValueError(f"share = {share:g} is reached only in the limit; give a share below 1")
    gap = float(1 - recovered_share(0, alpha))
    events = int(np.ceil(np.log2(gap / (1 - share)) - 1e-9)) if gap > 1 - share else 0
    if events > control.fast_recovery:
        raise ValueError(
            f"share = {share:g} takes {events} halvings, more than the {control.fast_recovery} of fast recovery; "
            "use walk_recovery"
        )
    return events * control.increase_timer


@declared
@formula
def walk_recovery(control: Dcqcn, line: float, current: float, target: float, seconds: float) -> Walk:
    """Every increase of a flow that was just cut to `current` bytes/s with `target` behind it, on a link of `line`.

    The state machine, event by event: the timer ticks each T, the byte counter each B bytes sent, and each counts its
    own stage. Fast recovery while both counts are at most F, additive increase after, hyper increase when both (vendor:
    the timer's, by two) are beyond F. Each then halves the gap to the target, which the line rate bounds.

    >>> from netlib.congestion.presets import preset
    >>> done = walk_recovery(preset("dcqcn", "paper"), 5e9, 2.5e9, 5e9, 330e-6)
    >>> (done.current / 5e9).round(3).tolist(), str(done.stage[-1])
    ([0.75, 0.875, 0.938, 0.969, 0.984, 0.992], 'additive')
    """
    top = float(floats("line", line, above=True))
    for name, value in (("current", current), ("target", target)):
        if floats(name, value, above=True) > top:
            raise ValueError(f"{name} = {value:g} is beyond line = {line:g}; give rates up to the link's")
    end = float(floats("seconds", seconds))
    if end / control.increase_timer + end * top / control.byte_counter > 1e6:
        raise ValueError(f"seconds = {end:g} are more than 1e6 increases; give a shorter time")
    timer, left = control.increase_timer, control.byte_counter
    ticks = bytes_ = 0
    now, rate, goal = 0.0, current, target
    rows: list[tuple[float, float, float, str]] = []
    while True:
        by_bytes = left / rate
        step = min(timer, by_bytes)
        now += step
        if now > end * (1 + 1e-9):
            break
        left, timer = left - step * rate if left < np.inf else left, timer - step
        if timer <= 0:
            ticks, timer = ticks + 1, control.increase_timer
        else:
            bytes_, left = bytes_ + 1, control.byte_counter
        stage = _stage(control, ticks, bytes_)
        goal = min(goal + {"fast": 0.0, "additive": control.additive, "hyper": control.hyper}[stage], top)
        rate = (rate + goal) / 2
        rows.append((now, rate, goal, stage))
    time, rates, goals, stages = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Walk(np.array(time, float), np.array(rates, float), np.array(goals, float), np.array(stages, "U8"))


def _stage(control: Dcqcn, ticks: int, counted: int) -> str:
    """Which increase the counts call for."""
    limit = control.fast_recovery
    if max(ticks, counted) <= limit:
        return "fast"
    beyond = min(ticks, counted) > limit if control.machine == "paper" else ticks > limit + 1
    return "hyper" if beyond else "additive"


@formula
def forgetting_time(control: Dcqcn, share: ArrayLike) -> Floats:
    """Seconds without a CNP until alpha is down to `share` of itself: alpha_timer ln(share) / ln(1 - g). Broadcasts.

    >>> from netlib.congestion.presets import preset
    >>> [round(float(forgetting_time(preset("dcqcn", each), 0.5)) * 1e6) for each in ("paper", "connectx-timer")]
    [9740, 142]
    """
    part = floats("share", share, above=True)
    if (part > 1).any():
        raise ValueError(f"share = {part.max():g} is a share; give a number above 0 and at most 1")
    if control.g == 1:
        return np.zeros(part.shape) + control.alpha_timer * (part < 1)
    return np.asarray(control.alpha_timer * np.log(part) / np.log1p(-control.g))
