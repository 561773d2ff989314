from functools import cache
from typing import Literal

import numpy as np

from netlib.congestion import differences, preset, walk_recovery
from netlib.congestion.comparison import shown_in_unit
from netlib.congestion.parameters import Dcqcn
from netlib.course.exercises import exercise
from netlib.units import gbps

LINE, SHARE = gbps(100), 0.99
Which = Literal["paper", "connectx-timer"]


def told(name: Which) -> Dcqcn:
    made = preset("dcqcn", name)
    assert isinstance(made, Dcqcn)
    return made


@cache
def back(name: Which, current: float, target: float) -> float:
    """Seconds until 99 % of the line, from shares of it."""
    time, rate, *_ = walk_recovery(told(name), LINE, current * LINE, target * LINE, 0.1)
    return float(np.asarray(time)[np.argmax(np.asarray(rate) >= SHARE * LINE)])


def once(name: Which) -> float:
    return back(name, 1 / 2, 1.0)


def twice(name: Which) -> float:
    return back(name, 1 / 4, 1 / 2 if told(name).clamp_target else 1.0)


def table() -> str:
    """The rows of `differences` that act after a cut."""
    rows = [("field", "paper", "card")]
    for each in differences(told("paper"), told("connectx-timer")):
        if each.field in ("increase_timer", "byte_counter", "fast_recovery", "additive", "hyper", "clamp_target"):
            one, two = (shown_in_unit(value, each.dimension) for value in (each.first, each.second))
            rows.append((each.field, one, two))
    return "\n".join(f"{field:15}{one:>10}{two:>10}" for field, one, two in rows)


EXERCISE = exercise(
    id="preset-01",
    chapter="congestion",
    skill="reading two presets",
    stars=2,
    minutes=(8, 14),
    place=418,
    ask="Here is where two presets of DCQCN differ. A lone flow runs at 100 Gb/s when it is cut once to half; the "
    "target stays at 100 Gb/s, and each tick of the increase timer halves the gap to the target. No further mark "
    "comes. After how many ms does it have 99 % of 100 Gb/s again, with the preset `paper` and with the `card`? Then "
    "it is cut twice in a row, to a quarter. Where the target is clamped, the second cut also moves it down, to the "
    "rate before that cut; after fast recovery (F ticks) it has to climb back by the additive step with each tick. "
    "How many ms now (`paper2`, `card2`; the paper's byte counter adds a few steps, so 6 % are allowed)? And which "
    "field makes the difference after two cuts (`field`)?",
    shown=table(),
    answer=lambda: {
        "paper": once("paper"),
        "card": once("connectx-timer"),
        "paper2": twice("paper"),
        "card2": twice("connectx-timer"),
        "field": "b",
    },
    unit={"paper": "ms", "card": "ms", "paper2": "ms", "card2": "ms"},
    # counting only ticks of the timer, without the byte counter, is near enough
    rtol={"paper": 0.01, "card": 0.01, "paper2": 0.06, "card2": 0.01},
    compare={"field": "choice"},
    options={"field": {"a": "increase_timer", "b": "clamp_target", "c": "fast_recovery"}},
    hints=(
        "A preset's F says when the target begins to move, not when the flow is back. How many halvings take the gap "
        "below one per cent?",
        "n ticks leave (1/2)^(n + 1) of the line after one cut. After two: from a quarter with the target at the line, "
        "or with the target at half, which then has half of the line to climb.",
        "`walk_recovery(preset('dcqcn', 'paper'), 12.5e9, 12.5e9 / 4, 12.5e9 / 2, 0.1)`, and its first `current` that "
        "is large enough",
    ),
    wrong={
        "paper": {
            0.055: "one tick halves the gap once, to three quarters of the line",
            1.8: "that is the card's; the paper's timer ticks every 55 us",
            0.275: "five ticks are all of fast recovery, and leave 98.4 %",
            0.385: "the gap is one half after the cut, not one: one halving fewer",
        },
        "card": {
            0.33: "that is the paper's; the card's timer ticks every 300 us",
            0.3: "F = 1 does not mean that one tick is enough: it leaves three quarters; later ticks halve the gap too",
            1.5: "five ticks leave 98.4 %",
            2.1: "the gap is one half after the cut, not one: one halving fewer",
        },
        "paper2": {
            0.33: "the target is at half of the line now, and halving the gap to it does not lead beyond",
            0.385: "the target is at half of the line now, and halving the gap to it does not lead beyond",
            134: "the target climbs half of the line, not all of it",
            8.4: "40 Mb/s and 100 Gb/s are both bits: no factor eight between them",
        },
        "card2": {
            3000: "the card does not clamp its target: it still remembers the line",
            1.8: "it starts at a quarter now: the gap is larger",
            0.3: "F = 1 does not mean that one tick is enough; later ticks halve the gap too",
        },
        "field": {
            "a": "the paper's timer is the faster one, and its flow is back later",
            "c": "what keeps the flow down is where its target went",
        },
    },
    right=(
        (0.33, 1.8, 64.5, 2.1, "b"),
        {"paper": "330 us", "card": "1.8 ms", "paper2": "67.6 ms", "card2": 2.1, "field": "clamp_target"},
    ),
    explain=lambda: (
        f"After one cut six halvings: {once('paper') * 1e3:.2f} ms and {once('connectx-timer') * 1e3:.1f} ms. The slip "
        "is to take F times the timer, 275 and 300 us, for the way back: then both look alike. After two cuts the card "
        f"still remembers the line and is back in {twice('connectx-timer') * 1e3:.1f} ms; the paper's target has "
        f"followed to half, and 40 Mb/s a tick take {twice('paper') * 1e3:.1f} ms. The preset with the faster timer is "
        "the slower one. One field is worth a factor of thirty."
    ),
)
