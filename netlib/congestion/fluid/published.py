"""The published stability of DCQCN, and what each of its approximations does to it.

The paper linearises a shortened model: with the marks p small, the increases per packet are straight lines in p,

    b + d = A - (1 + A/2) p,     c + e = A - (1 + A/2 + 2F) p,     A = 1/B + 1/(T R),     a = tau R p,

and p* is the cube root. Its figures, and the numbers behind them, come from the authors' program. Read against the
model, that program differs in three more places, all of them found by reproducing its numbers to 0.05 degrees: alpha
forgets per packet (g R) instead of per timer (g / tau'); A is held fixed where the timer's share 1/(T R) moves with R;
and of the rate's own memory the part that is late stands at once, the part at once late, and R_AI A twice.
`corrected` takes them back one by one: the last loop is `dcqcn_loop`.
Read with the chapter "Congestion control", section "Rest and stability". Source: Zhu, Ghobadi, Misra and Padhye,
"ECN or Delay" (CoNEXT 2016), section 3.1 and appendix A; github.com/jitupadhye-zz/rdma @e7e9160,
fluidmodel/dcqcn/stability.m and conext2016/figures/pm_*.txt.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.fluid.dcqcn import PACKET, Law, law
from netlib.congestion.fluid.loops import Loop
from netlib.congestion.fluid.rest import cube_root_marks, per_packet, rest_point
from netlib.congestion.fluid.stability import dcqcn_loop, fed_back
from netlib.congestion.parameters import Dcqcn, Marking

STEPS = (
    "as published",
    "exact share of marks",
    "alpha forgets by its timer",
    "late is late, R_AI A once",
    "the timer's share moves with the rate",
    "no expansion: exact",
)
"""The loops of `corrected`, in their order; each keeps the corrections before it."""


def _expanded(it: Law, rate: Floats, marks: Floats, gain: Floats, level: int) -> Loop:
    """The loop of the shortened model at this share of marks, with the corrections up to `level` (2, 3, 4)."""
    a, alpha, _, adding = per_packet(marks, rate, it)
    target = rate * (1 + adding * it.cnp_interval * it.additive / a)
    part = 1 / it.byte_counter + 1 / (it.increase_timer * rate)
    half, fast = 0.5 + part / 4, 1 + 2 * it.fast_recovery + part / 2
    gap, zero = target - rate, np.zeros_like(rate)
    up = (part / 2 - half * marks) * rate  # 1/s at which R closes its gap
    cut = marks * rate * alpha / 2
    moves = part if level < 4 else 1 / it.byte_counter  # d(R A)/dR: the timer's share of R A does not move with R
    own_late = -cut + (moves / 2 - (0.5 + moves / 4) * marks) * gap
    own_now = -cut - up
    adds = it.additive * (moves - (1 + 2 * it.fast_recovery + moves / 2) * marks)
    if level < 3:  # the authors' program: the late part at once, the part at once late, R_AI A twice
        own_late, own_now = own_now, own_late
        adds_now = part * it.additive
    else:
        adds_now = zero
    forgets = it.g * rate if level < 2 else it.g / it.alpha_timer + zero
    now = [
        [own_now, up, -marks * rate**2 / 2],
        [marks * rate + adds_now, -marks * rate, zero],
        [zero, zero, -forgets],
    ]
    late = [own_late, -gap * marks + adds, zero if level < 2 else it.g * marks]
    by_marks = [-(rate**2) * alpha / 2 - half * rate * gap, -rate * gap - fast * it.additive * rate, it.g * rate]
    rows = np.stack([np.stack(row, axis=-1) for row in now], axis=-2)
    return Loop(rows, np.stack(late, axis=-1), np.stack(by_marks, axis=-1), gain, zero)


@declared
@formula
def published_loop(
    control: Dcqcn, marking: Marking, capacity: ArrayLike, flows: ArrayLike, *, packet: float = PACKET
) -> Loop:
    """The loop behind the paper's figures; take its margin with cut="delay", as there. Capacity and flows broadcast.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> from netlib.congestion.fluid.loops import phase_margin
    >>> loop = published_loop(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, 10)
    >>> phase_margin(loop, [0, 50e-6, 100e-6], cut="delay").round(1).tolist()  # 4.7564, -6.5844, -17.925 in its data
    [4.7, -6.6, -18.0]
    """
    return corrected(control, marking, capacity, flows, packet=packet)[STEPS[0]]


@declared
@formula
def corrected(
    control: Dcqcn, marking: Marking, capacity: ArrayLike, flows: ArrayLike, *, packet: float = PACKET
) -> Mapping[str, Loop]:
    """The published loop and, one correction after another (`STEPS`), the way to the exact one.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> from netlib.congestion.fluid.loops import critical_delay
    >>> found = corrected(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, 10)
    >>> {name: round(float(critical_delay(loop)) * 1e6, 1) for name, loop in found.items()}
    {'as published': 20.8, 'exact share of marks': 0.0, 'alpha forgets by its timer': 0.0, \
'late is late, R_AI A once': 0.0, "the timer's share moves with the rate": 4.8, 'no expansion: exact': 62.5}
    """
    full, many = np.broadcast_arrays(floats("capacity", capacity, above=True), floats("flows", flows, 1.0))
    it, rate = law(control, packet).single(), np.asarray(full / many / packet)
    gain, _ = fed_back(marking, np.asarray(many), packet)
    rough = cube_root_marks(control, full, many, packet=packet)
    if (rough >= 1).any():
        raise ValueError(f"flows = {many.max():g} has a cube root of 1 or more, which is no share; give fewer")
    exact = rest_point(control, marking, full, many, packet=packet).marks
    loops = [_expanded(it, rate, rough if level == 0 else exact, np.asarray(gain), level) for level in range(5)]
    return dict(zip(STEPS, [*loops, dcqcn_loop(control, marking, full, many, packet=packet)], strict=True))
