"""Marks: which share of packets a switch marks, by RED's ramp from its queue, or by a PI controller that holds a queue.

Read with the chapter "Congestion control", section "Marking". Sources: Zhu et al., "Congestion Control for Large-Scale
RDMA Deployments" (SIGCOMM 2015), figure 5; Hollot, Misra, Towsley and Gong, "On designing improved controllers for AQM
routers supporting TCP flows" (INFOCOM 2001) for PI, as used by Zhu, Ghobadi, Misra and Padhye, "ECN or Delay" (CoNEXT
2016), section 5.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, floats, formula
from netlib.congestion.parameters import Checked, Marking


@dataclass(frozen=True)
class PiMarking(Checked):
    """What a switch marks that holds its queue at `reference`: p' = proportional q' + integral (q - reference).

    reference     bytes of queue
    proportional  probability per byte
    integral      probability per byte and second
    """

    reference: float
    proportional: float
    integral: float
    _positive = ("reference", "proportional", "integral")


@formula
def marked(queue: ArrayLike, marking: Marking) -> Floats:
    """Share of packets that RED marks at this queue in bytes: 0, then a ramp from k_min to p_max at k_max, then 1.

    >>> marked([0, 5e3, 102.5e3, 200e3, 201e3], Marking(k_min=5e3, k_max=200e3, p_max=0.01)).tolist()
    [0.0, 0.0, 0.005, 0.01, 1.0]
    """
    held = floats("queue", queue)
    if marking.k_max == marking.k_min:
        return np.where(held > marking.k_max, 1.0, 0.0)
    ramp = np.maximum(held - marking.k_min, 0.0) / (marking.k_max - marking.k_min) * marking.p_max
    return np.where(held > marking.k_max, 1.0, ramp)


def by_ramp(marking: Marking, packet: float) -> tuple[Callable[[Floats], Floats], int]:
    """The share of marks at a queue in packets, and how many variables of the switch it needs: none.

    >>> share, extra = by_ramp(Marking(k_min=0.0, k_max=100e3, p_max=1.0), packet=1e3)
    >>> share(np.array([50.0, 101.0])).tolist(), extra
    ([0.5, 1.0], 0)
    """
    slope, least, most = marking.slope * packet, marking.k_min / packet, marking.k_max / packet
    if slope == np.inf:
        return lambda queue: (queue > most) * 1.0, 0
    return lambda queue: np.where(
        queue > most, 1.0, (queue - least) * slope
    ), 0  # below 0: none, as the equations take it


def by_switch() -> tuple[Callable[[Floats], Floats], int]:
    """The share of marks is one variable of the switch itself.

    >>> share, extra = by_switch()
    >>> share(np.array([0.5])).tolist(), extra
    ([0.5], 1)
    """
    return lambda share: share, 1
