"""Where DCQCN comes to rest: the one share of marks at which rates, targets and alpha all stand still.

N identical flows have R = C/N each. Setting R' = T' = alpha' = 0 leaves one equation for the share p of marks,

    a^2 alpha = tau^2 R_AI R (b + d)(c + e),     alpha = 1 - (1-p)^(tau' R),

whose two sides cross once. RED's ramp then says which queue marks so much; beyond p_max there is none, and the queue
rides at k_max, where the share of marks jumps between p_max and 1. To first order in p the root is a cube root.
Read with the chapter "Congestion control", section "Marking". Source: Zhu, Ghobadi, Misra and Padhye, "ECN or Delay"
(CoNEXT 2016), section 3.1, equations 9 to 14.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.fluid.dcqcn import PACKET, Law, law
from netlib.congestion.fluid.marks import PiMarking
from netlib.congestion.parameters import Dcqcn, Marking


@dataclass(frozen=True)
class Rest:
    """A fixed point of DCQCN with identical flows; every field has the shape of capacity and flows together.

    marks   share of marked packets
    queue   bytes; nan where RED has no such share on its ramp
    rate    bytes/s of a flow
    target  bytes/s
    alpha   the flow's estimate of congestion
    inside  whether the ramp holds the point: marks <= p_max
    """

    marks: Floats
    queue: Floats
    rate: Floats
    target: Floats
    alpha: Floats
    inside: np.ndarray


def _balance(marks: Floats, rate: Floats, law: Law) -> Floats:
    """log of a^2 alpha / (tau^2 R_AI R (b+d)(c+e)): rises with the share of marks, 0 at the fixed point."""
    a, alpha, events, adding = per_packet(marks, rate, law)
    right = law.cnp_interval**2 * law.additive * rate * events * adding
    return np.asarray(2 * np.log(a) + np.log(alpha) - np.log(np.maximum(right, 1e-300)))


def per_packet(marks: Floats, rate: Floats, law: Law) -> tuple[Floats, Floats, Floats, Floats]:
    """(a, alpha, b + d, c + e) of the equations where R^ = R: the last two are increases per packet. Packets, seconds.

    >>> plain = law(Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)).single()
    >>> [round(float(each), 4) for each in per_packet(np.asarray(0.01), np.asarray(1e6), plain)]
    [0.395, 0.4246, 0.0135, 0.0009]
    """
    unmarked = np.log1p(-marks)
    a, alpha = (-np.expm1(unmarked * rate * each) for each in (law.cnp_interval, law.alpha_timer))
    events, adding = np.zeros_like(unmarked * rate), np.zeros_like(unmarked * rate)
    for packets in (law.byte_counter, law.increase_timer * rate):
        hit = -np.expm1(unmarked * packets)
        once = marks * (1 - hit) / hit
        events = events + once
        adding = adding + once * np.exp(law.fast_recovery * unmarked * packets)
    return a, alpha, events, adding


@declared
@formula
def rest_point(
    control: Dcqcn,
    marking: Marking | PiMarking,
    capacity: ArrayLike,
    flows: ArrayLike,
    *,
    packet: float = PACKET,
) -> Rest:
    """The fixed point of N identical flows at a link of `capacity` bytes/s, exact; arguments broadcast.

    With marks from a PI controller the queue is its reference, whatever the number of flows.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> found = rest_point(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, [2, 10, 16])
    >>> found.marks.round(5).tolist(), found.queue.round(-2).tolist()
    ([0.00078, 0.00603, 0.01087], [20200.0, 122600.0, nan])
    """
    from scipy.optimize.elementwise import find_root

    full, many = np.broadcast_arrays(floats("capacity", capacity, above=True), floats("flows", flows, 1.0))
    rate = np.asarray(full / many / packet)
    plain = law(control, packet).single()
    found = find_root(lambda x, rate: _balance(np.exp(x), rate, plain), (np.log(1e-14), np.log(0.5)), args=(rate,))
    if not np.all(found.success):
        raise ValueError(
            f"flows = {many.max():g} has no fixed point with less than half of all marked; give fewer flows"
        )
    marks = np.exp(found.x)
    a, alpha, _, adding = per_packet(marks, rate, plain)
    target = rate + adding * rate * plain.additive * plain.cnp_interval / a
    if isinstance(marking, PiMarking):
        inside, queue = np.ones(marks.shape, bool), np.full(marks.shape, marking.reference)
    elif marking.slope == np.inf:
        inside, queue = np.zeros(marks.shape, bool), np.full(marks.shape, np.nan)  # a step has no ramp to rest on
    else:
        inside = marks <= marking.p_max
        queue = np.where(inside, marking.k_min + marks / marking.slope, np.nan)
    return Rest(marks, queue, rate * packet, target * packet, alpha, inside)


@declared
@formula
def cube_root_marks(control: Dcqcn, capacity: ArrayLike, flows: ArrayLike, *, packet: float = PACKET) -> Floats:
    """The paper's approximation of the share of marks: (R_AI N^2 / (tau' C^2) (1/B + N/(T C))^2)^(1/3).

    Both sides of the balance are taken to first order in p, as if hardly any packet between two cuts were marked. At
    40 Gb/s it is 19 % above the exact share for 2 flows and 58 % for 64: see `rest_point`.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> cube_root_marks(paper, 5e9, [2, 64]).round(5).tolist()
    [0.00092, 0.09312]
    """
    full, many = floats("capacity", capacity, above=True) / packet, floats("flows", flows, 1.0)
    it = law(control, packet).single()
    share = 1 / it.byte_counter + many / (it.increase_timer * full)
    return np.asarray(np.cbrt(it.additive * many**2 / (it.alpha_timer * full**2) * share**2))


@declared
def most_flows(control: Dcqcn, marking: Marking, capacity: float, *, packet: float = PACKET) -> int:
    """The largest number of flows whose fixed point lies on RED's ramp; 0 if not even one.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> most_flows(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9)
    14
    """
    from scipy.optimize import brentq

    floats("capacity", capacity, above=True)
    if marking.slope == np.inf or marking.p_max <= 0:
        return 0
    plain = law(control, packet).single()
    share = min(marking.p_max, 0.5)

    def gap(many: float) -> float:
        return float(_balance(np.asarray(share), np.asarray(capacity / packet / many), plain))

    if gap(1.0) < 0:  # even one flow wants more marks than the ramp has
        return 0
    if gap(1e6) > 0:
        raise ValueError(f"p_max = {marking.p_max:g} serves more than a million flows here; give a smaller p_max")
    return int(brentq(gap, 1.0, 1e6))
