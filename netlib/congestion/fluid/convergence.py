"""How long DCQCN needs until its flows share fairly: a bound from its saw-teeth.

All flows cut at once and climb by R_AI a timer until the queue marks again. Cuts shrink the gap between two flows by
1 - alpha / 2, and alpha itself falls to the value at which a tooth forgets as much as its cut adds:

    t = (-1 + sqrt(1 + 8 k_max / (N R_AI tau'))) / 2         timers until k_max bytes are queued
    dT = 2 + (t / 2 + C / (2 N R_AI)) alpha                  timers in a tooth
    alpha = (1 - g)^(dT - 1) ((1 - g) alpha + g)
    time = ln(0.1 / N) / ln(1 - alpha / 2) tau' dT           from a gap C to a tenth of the fair share

The paper's appendix prints the exponent dT; its data have dT - 1, which is used here.
Read with the chapter "Congestion control", section "Marking". Source: Zhu, Ghobadi, Misra and Padhye, "ECN or Delay"
(CoNEXT 2016), section 3.2 and appendix B; github.com/jitupadhye-zz/rdma @e7e9160, conext2016/figures/convergence_*.txt.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.parameters import Dcqcn, Marking


@dataclass(frozen=True)
class Convergence:
    """The bound and what it is made of, each with the shape of capacity and flows together.

    time    s until the gap is a tenth of the fair share
    alpha   the least alpha
    timers  alpha timers in a saw-tooth
    """

    time: Floats
    alpha: Floats
    timers: Floats


@declared
@formula
def dcqcn_convergence(control: Dcqcn, marking: Marking, capacity: ArrayLike, flows: ArrayLike) -> Convergence:
    """The bound for N >= 2 flows that start with the whole link between them; capacity and flows broadcast.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> found = dcqcn_convergence(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, [2, 10, 100])
    >>> (found.time * 1e3).round(1).tolist()  # ms
    [96.9, 35.9, 10.1]
    """
    from scipy.optimize.elementwise import find_root

    full, many = np.broadcast_arrays(floats("capacity", capacity, above=True), floats("flows", flows, 2.0))
    climb = many * control.additive
    build = (-1 + np.sqrt(1 + 8 * marking.k_max / (climb * control.alpha_timer))) / 2
    per_alpha = np.asarray(build / 2 + full / (2 * climb))
    keep = 1 - control.g

    def gap(alpha: Floats, per_alpha: Floats) -> Floats:
        return np.asarray(keep ** (1 + per_alpha * alpha) * (keep * alpha + control.g) - alpha)

    alpha = np.asarray(find_root(gap, (0.0, 1.0), args=(per_alpha,)).x)
    timers = 2 + per_alpha * alpha
    time = np.log(0.1 / many) / np.log1p(-alpha / 2) * control.alpha_timer * timers
    return Convergence(np.asarray(time), alpha, np.asarray(timers))
