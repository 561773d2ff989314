"""Repetition: one experiment under several seeds, and how far its results lie apart.

A seed draws which packets are marked and which are lost. Where few such draws decide, one run says little.
Read with the chapter "Congestion control", section "One bottleneck".
"""

from typing import Any, NamedTuple

import numpy as np

from netlib.arguments import declared
from netlib.congestion.experiments import Scenario, experiment
from netlib.congestion.parameters import Control

MOST_SEEDS = 1000


class Range(NamedTuple):
    """The mean of a result over the seeds, its least and its largest value; nan if it is nan in one run."""

    mean: float
    least: float
    most: float


@declared
def over_seeds(
    scenario: Scenario, control: str, preset_name: str | Control, *, seeds: int = 5, **more: Any
) -> dict[str, Range]:
    """What `experiment(...).summary()` gives under the seeds 0 .. `seeds` - 1: mean and range of each entry.

    `more` are other arguments of `netlib.congestion.experiments.experiment`, but for `seed`. Entries: first, mean and
    last finish in s, the peak queue and what was kept beyond the buffer in bytes, flows that did not finish by `until`.
    One flow that did not finish in one run makes mean and last nan: raise `until`.

    Chance decides where a few draws matter: flows of few round trips, cards whose timers are long against the run,
    losses, permutations (each seed draws another one). All start at one instant. Controls that draw nothing (HPCC,
    PowerTCP, Swift) then act in step, and seeds show no spread: give spread=True, so that each seed draws the starts of
    an incast. A range of zero says that nothing was drawn, not that the result is certain. A range
    over five seeds is a hint, no interval of confidence; and half the `dt` should not move the mean out of it.

    >>> told = over_seeds("loss", "uncontrolled", "one-bdp", seeds=3, size=2e5, loss=0.02)
    >>> told["last"].least < told["last"].mean < told["last"].most, told["unfinished"].most
    (True, 0.0)
    """
    if not 1 <= seeds <= MOST_SEEDS:
        raise ValueError(
            f"seeds = {seeds} must be between 1 and {MOST_SEEDS}; give how many runs to compare, such as 5"
        )
    if "seed" in more:
        raise ValueError("seed is set by over_seeds, from 0 on; give seeds, how many")
    told = [experiment(scenario, control, preset_name, seed=each, **more).summary() for each in range(seeds)]
    ranges = {}
    for name in told[0]:
        values = np.array([each[name] for each in told])
        ranges[name] = Range(float(values.mean()), float(values.min()), float(values.max()))
    return ranges
