"""Stability of DCQCN: the exact linearisation at the exact fixed point, and runs that confirm what it says.

`dcqcn_loop` differentiates the very equations that `dcqcn_run` integrates, at `rest_point`: nothing is expanded and
nothing left out. `growth` starts a run beside the fixed point and measures whether the disturbance grows, so that the
verdict of a margin can be checked by a second way that knows no frequency.
Read with the chapter "Congestion control", section "Rest and stability". The model: Zhu, Ghobadi, Misra and Padhye,
"ECN or Delay" (CoNEXT 2016); this linearisation is ours, theirs is in `netlib.congestion.fluid.published`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.fluid.dcqcn import PACKET, dcqcn_run, law, slopes
from netlib.congestion.fluid.loops import Loop, critical_delay, phase_margin
from netlib.congestion.fluid.marks import PiMarking
from netlib.congestion.fluid.rest import rest_point
from netlib.congestion.parameters import Dcqcn, Marking

NUDGE = 1e-5
"""Share by which a value is moved to differentiate: its square and the rounding are both below 1e-9."""


def fed_back(marking: Marking | PiMarking, flows: Floats, packet: float) -> tuple[Floats, Floats]:
    """What the switch makes of a packet more in its queue: k N, and for a PI controller also its integral part.

    >>> [each.tolist() for each in fed_back(Marking(k_min=0.0, k_max=250e3, p_max=1.0), np.array([2.0]), 1e3)]
    [[0.008], [0.0]]
    """
    if isinstance(marking, PiMarking):
        return marking.proportional * packet * flows, marking.integral * packet * flows
    if marking.slope == np.inf:
        raise ValueError(f"k_min = k_max = {marking.k_max:g} is a step without a slope; give k_min < k_max in bytes")
    return marking.slope * packet * flows, np.zeros_like(flows)


@declared
@formula
def dcqcn_loop(
    control: Dcqcn,
    marking: Marking | PiMarking,
    capacity: ArrayLike,
    flows: ArrayLike,
    *,
    packet: float = PACKET,
) -> Loop:
    """DCQCN linearised exactly: the derivatives of its equations at its fixed point. Capacity and flows broadcast.

    RED's ramp is taken to go on with its slope where p_max is too small for a fixed point: `rest_point` says where.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> loop = dcqcn_loop(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, 10)
    >>> loop.now[2].round(1).tolist()  # alpha forgets g of itself each tau'
    [0.0, 0.0, -71.0]
    """
    full, many = np.broadcast_arrays(floats("capacity", capacity, above=True), floats("flows", flows, 1.0))
    rest = rest_point(control, marking, full, many, packet=packet)
    plain = law(control, packet).single()
    at = [rest.marks, rest.rate / packet, rest.rate / packet, rest.target / packet, rest.alpha]
    columns = []
    for i, value in enumerate(at):
        step = value * NUDGE
        sides = [slopes(plain, *(each + sign * step * (i == j) for j, each in enumerate(at))) for sign in (1, -1)]
        columns.append(np.stack([(up - down) / (2 * step) for up, down in zip(*sides, strict=True)], axis=-1))
    gain, integral = fed_back(marking, np.asarray(many), packet)
    return Loop(np.stack(columns[2:], axis=-1), columns[1], columns[0], np.asarray(gain), np.asarray(integral))


@dataclass(frozen=True)
class StabilityMap:
    """Phase margins over flows and delays.

    flows   (N,) number of flows
    delays  (D,) s
    margin  (N, D) degrees
    inside  (N,) whether RED's ramp holds the fixed point
    critical (N,) s: the delay at which the margin is 0
    """

    flows: Floats
    delays: Floats
    margin: Floats
    inside: np.ndarray
    critical: Floats


@declared
@formula
def stability_map(
    control: Dcqcn,
    marking: Marking | PiMarking,
    capacity: float,
    flows: ArrayLike,
    delays: ArrayLike,
    *,
    packet: float = PACKET,
) -> StabilityMap:
    """Exact phase margins for each number of flows with each delay.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> found = stability_map(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, [2, 8], [0, 85e-6])
    >>> found.margin.round(1).tolist()
    [[20.4, 0.1], [9.8, -3.6]]
    """
    many, late = floats("flows", flows, 1.0).ravel(), floats("delays", delays).ravel()
    loop = dcqcn_loop(control, marking, capacity, many, packet=packet)
    margin = phase_margin(loop, late[:, None]).T
    inside = rest_point(control, marking, capacity, many, packet=packet).inside
    return StabilityMap(many, late, margin, inside, critical_delay(loop))


@declared
@formula
def growth(
    control: Dcqcn,
    marking: Marking,
    capacity: ArrayLike,
    flows: ArrayLike,
    delay: ArrayLike,
    *,
    seconds: float = 0.1,
    disturbance: float = 0.02,
    step: float = 1e-6,
    packet: float = PACKET,
) -> Floats:
    """1/s at which a disturbance of the fixed point grows (> 0) or dies out (< 0) in a run, one a scenario.

    The run starts with rates `disturbance` above their fixed point. The queue's swing (most - least) is taken in the
    first 4 %, the next 10 % and the last 10 % of the run; the larger of the two rates between them is given, since a
    swing that has become a limit cycle grows no more. The sign is the verdict; close to 0 give more `seconds`.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> red = Marking(k_min=5e3, k_max=200e3, p_max=0.01)
    >>> found = growth(paper, red, 5e9, 10, [30e-6, 90e-6], seconds=0.05, step=5e-6)
    >>> (found > 0).tolist()
    [False, True]
    """
    run = dcqcn_run(
        control, marking, capacity, flows, delay, seconds, disturbance=disturbance, step=step, every=5, packet=packet
    )
    whole = run.time[-1]
    swings = []
    for begin, end in ((0.0, 0.04), (0.04, 0.14), (0.9, 1.0)):
        part = run.queue[:, (run.time >= begin * whole) & (run.time <= end * whole)]
        swings.append(np.log(np.maximum(part.max(axis=1) - part.min(axis=1), 1e-9)))
    early, late = (swings[1] - swings[0]) / (0.07 * whole), (swings[2] - swings[1]) / (0.86 * whole)
    return np.asarray(np.maximum(early, late))
