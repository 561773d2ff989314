"""Verdicts: the published margin, the exact one and a run, side by side, on whether DCQCN is stable.

Three ways that share no formula beyond the model's equations: the paper's shortened loop, the exact linearisation, and
a run that starts 2 % beside the fixed point. Where they disagree, the run decides.
Read with the chapter "Congestion control", section "Rest and stability".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.fluid.dcqcn import PACKET
from netlib.congestion.fluid.loops import critical_delay, phase_margin
from netlib.congestion.fluid.published import published_loop
from netlib.congestion.fluid.stability import dcqcn_loop, growth
from netlib.congestion.parameters import Dcqcn, Marking

FLOWS = (2, 4, 8, 10, 12)
DELAYS = (4e-6, 50e-6, 60e-6, 70e-6, 85e-6, 100e-6)
"""Thirty cases at 40 Gb/s with the paper's parameters, some on either side of the exact critical delays."""


@dataclass(frozen=True)
class Verdicts:
    """One entry a case: flows x delays.

    flows, delays  of each case; s
    published      phase margin in degrees of the paper's loop
    exact          phase margin in degrees, exact
    growth         1/s of a disturbance in a run
    """

    flows: Floats
    delays: Floats
    published: Floats
    exact: Floats
    growth: Floats

    @property
    def published_wrong(self) -> np.ndarray:
        """Where the paper's sign differs from the run's."""
        return np.asarray((self.published > 0) != (self.growth < 0))

    @property
    def exact_wrong(self) -> np.ndarray:
        """Where the exact sign differs from the run's."""
        return np.asarray((self.exact > 0) != (self.growth < 0))


@declared
@formula
def dcqcn_verdicts(
    control: Dcqcn,
    marking: Marking,
    capacity: float,
    flows: ArrayLike = FLOWS,
    delays: ArrayLike = DELAYS,
    *,
    seconds: float = 0.3,
    step: float = 1e-6,
    packet: float = PACKET,
) -> Verdicts:
    """Margins and a run for each number of flows with each delay, the delays of one number together.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> red = Marking(k_min=5e3, k_max=200e3, p_max=0.01)
    >>> found = dcqcn_verdicts(paper, red, 5e9, [10], [20e-6, 40e-6, 80e-6], seconds=0.05, step=4e-6)
    >>> found.published_wrong.tolist(), found.exact_wrong.tolist()  # 40 us is stable, and the paper says it is not
    ([False, True, False], [False, False, False])
    """
    each = np.meshgrid(floats("flows", flows, 1.0), floats("delays", delays), indexing="ij")
    many, late = (np.asarray(one, float).ravel() for one in each)
    published = phase_margin(published_loop(control, marking, capacity, many, packet=packet), late, cut="delay")
    exact = phase_margin(dcqcn_loop(control, marking, capacity, many, packet=packet), late)
    run = growth(control, marking, capacity, many, late, seconds=seconds, step=step, packet=packet)
    return Verdicts(many, late, published, exact, run)


@declared
@formula
def critical_delays(
    control: Dcqcn, marking: Marking, capacity: float, flows: ArrayLike, *, packet: float = PACKET
) -> tuple[Floats, Floats]:
    """(published, exact) critical delay in s for each number of flows.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> found = critical_delays(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, [2, 10])
    >>> [(each * 1e6).round(1).tolist() for each in found]
    [[72.4, 20.8], [85.6, 62.5]]
    """
    loops = (make(control, marking, capacity, flows, packet=packet) for make in (published_loop, dcqcn_loop))
    first, second = (critical_delay(loop) for loop in loops)
    return first, second
