"""DCQCN as a fluid: how the rates of flows and the queue of one bottleneck move, with marks that come a delay late.

For each flow with rate R, target T and alpha; a hat marks a value one feedback delay ago, p is the share of marks:

    q'     = sum R - C
    alpha' = g / tau' (1 - (1-p^)^(tau' R^) - alpha)
    T'     = -(T - R) a / tau + R_AI R^ (c + e)            a = 1 - (1-p^)^(tau R^)
    R'     = -R alpha a / (2 tau) + (T - R) R^ (b + d) / 2

b and d are increases per packet, from the byte counter (B packets) and from the timer (T_i R^ packets): with
u = (1-p^)^n for the n packets between two of them, p^ u / (1 - u); c and e, of which u^F survive fast recovery, add.
Packets are the unit inside, since packets are marked; arguments and results are bytes and seconds.
Read with the chapter "Congestion control", section "Marking". Source: Zhu, Ghobadi, Misra and Padhye, "ECN or Delay:
Lessons Learnt from Analysis of DCQCN and TIMELY" (CoNEXT 2016), figure 1; marks by a PI controller: its section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.fluid.bottleneck import shares, total
from netlib.congestion.fluid.delays import Ahead, Jitter, Past, Slope, State, Traces, integrate, reach, unfolded
from netlib.congestion.fluid.marks import PiMarking, by_ramp, by_switch, marked
from netlib.congestion.parameters import Dcqcn, Marking

PACKET = 1000.0
"""Bytes of a packet in the fluid study."""
FAINT = 1e-15
"""A share of marks that stands for none: b and d are then at their limits 1/B and 1/(T R) to 11 digits."""


@dataclass(frozen=True)
class Law:
    """The numbers of the equations in packets, packets/s and seconds, each (1, scenarios)."""

    g: Floats
    alpha_timer: Floats
    cnp_interval: Floats
    increase_timer: Floats
    byte_counter: Floats
    fast_recovery: Floats
    additive: Floats
    floor: Floats

    def single(self) -> "Law":
        """The first scenario's numbers, so that they broadcast against any shape."""
        return Law(**{each.name: np.asarray(getattr(self, each.name)[0, 0]) for each in fields(self)})

    @cached_property
    def kinds(self) -> int:
        """How many waits differ: alpha's timer is often the sender's too, and its chances are then computed once."""
        return 3 if np.array_equal(self.alpha_timer, self.increase_timer) else 4

    @cached_property
    def forgets(self) -> Floats:
        """Share of alpha that a flow forgets per second."""
        return np.asarray(self.g / self.alpha_timer)


def law(control: Dcqcn | Sequence[Dcqcn], packet: float = PACKET) -> Law:
    """The equations' numbers for one control, or for one of each scenario, in packets of `packet` bytes.

    >>> from netlib.congestion.parameters import Dcqcn
    >>> one = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> float(law(one).byte_counter[0, 0]), float(law(one).additive[0, 0])
    (10000.0, 5000.0)
    """
    given = [control] if isinstance(control, Dcqcn) else list(control)
    if not given or not all(isinstance(each, Dcqcn) for each in given):
        raise ValueError(f"control = {str(control)[:40]!r} is not a Dcqcn; give one, or a list with one per scenario")
    floats("packet", packet, above=True)
    for each in given:
        if each.machine != "paper":
            raise ValueError(f"machine = {each.machine!r} has clocks that these equations lack; give machine='paper'")
        if each.cnp_interval <= 0:
            raise ValueError(f"cnp_interval = {each.cnp_interval:g} must be above 0 in the equations; give 50e-6")

    def column(name: str, unit: float = 1.0) -> Floats:
        return np.array([[getattr(each, name) / unit for each in given]])

    return Law(
        column("g"), column("alpha_timer"), column("cnp_interval"), column("increase_timer"),
        column("byte_counter", packet), column("fast_recovery"), column("additive", packet), column("min_rate", packet),
    )  # fmt: skip


def slopes(law: Law, marks: Floats, ago: Floats, rate: Floats, target: Floats, alpha: Floats) -> tuple[Floats, ...]:
    """(R', T', alpha') of the equations: share of marks and rate `ago` one delay back; packets and seconds.

    Both limits hold: without marks (a share of 1e-15) and with every packet marked.

    >>> one = law(Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True))
    >>> rate, target = np.array([[1e6]]), np.array([[1.1e6]])
    >>> no, all_ = (slopes(one, np.array([[p]]), rate, rate, target, np.array([[0.5]])) for p in (0.0, 1.0))
    >>> [float(round(each[0, 0])) for each in no]  # no marks: (T - R) / 2 (R / B + 1 / T_i), R_AI (R / B + 1 / T_i)
    [914090909.0, 91409091.0, -36.0]
    >>> [float(round(each[0, 0])) for each in all_]  # all: -R alpha / 2 tau, -(T - R) / tau
    [-5000000000.0, -2000000000.0, 36.0]
    """
    of_gap, freely, cutting, aim = _late(law, marks, ago)
    gap = target - rate
    return gap * of_gap[0] + rate * alpha * cutting, gap * of_gap[1] + freely[1], aim - law.forgets * alpha


def _late(law: Law, marks: Floats, ago: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """All the past decides: R' and T' per gap T - R, and as far as known apart from it; -a / 2 tau; alpha's aim.

    The first two are stacked for R and T; of R' nothing else is known before alpha is.
    """
    marks = np.minimum(np.maximum(marks, FAINT), 1 - 2**-53)
    unmarked = np.log1p(-marks)
    exponent = np.empty((law.kinds, *np.broadcast(law.g, marks, ago).shape))
    np.multiply(unmarked, law.byte_counter, out=exponent[0, ...])
    unmarked = unmarked * ago
    for k, wait in enumerate((law.increase_timer, law.cnp_interval, law.alpha_timer)[: law.kinds - 1], 1):
        np.multiply(unmarked, wait, out=exponent[k, ...])
    missed = np.expm1(exponent)  # minus the chance of at least one mark among so many packets
    events = 1 / missed[:2]
    events += 1
    events *= marks * ago  # minus the increases per second, by bytes and by timer
    adding = events * _power(1 + missed[:2], law.fast_recovery)
    cutting = missed[2] / law.cnp_interval  # minus cuts per second
    of_gap, freely = np.empty((2, *cutting.shape)), np.zeros((2, *cutting.shape))
    np.add(events[0], events[1], out=of_gap[0, ...])
    of_gap[0] *= -0.5
    of_gap[1] = cutting
    np.add(adding[0], adding[1], out=freely[1, ...])
    freely[1] *= -law.additive
    return of_gap, freely, cutting * 0.5, missed[1 if law.kinds == 3 else 3] * -law.forgets


def _power(base: Floats, whole: Floats) -> Floats:
    """base^whole by multiplication, which is a third of the time of exp, and the same digits in every batch."""
    least, most = int(whole.min()), int(whole.max())
    found = base.copy()
    for _ in range(1, least):
        found *= base
    for k in range(least, most):
        found *= np.where(k < whole, base, 1.0)
    return found


@declared
@formula
def dcqcn_run(
    control: Dcqcn | Sequence[Dcqcn],
    marking: Marking | PiMarking,
    capacity: ArrayLike,
    flows: ArrayLike,
    delay: ArrayLike,
    seconds: float,
    *,
    start: ArrayLike | None = None,
    disturbance: float | None = None,
    jitter: float = 0.0,
    rng: Generator | None = None,
    step: float = 1e-6,
    every: int = 100,
    packet: float = PACKET,
) -> Traces:
    """Rates, alpha, target and queue of flows that share one bottleneck; a scenario for each entry of the arguments.

    `capacity` bytes/s, `delay` s of feedback. `flows`: N identical ones, integrated once. Distinct flows: `start` is
    their rates in bytes/s, (flows,) or (scenarios, flows); without it all start at line rate, alpha at `initial_alpha`.
    With `disturbance` they start at the fixed point instead, with rates that share above it.
    `jitter` s is the most that the feedback is late by chance, drawn from `rng` anew each CNP interval.
    `control` may be a list, one for each scenario. Holds where rates move little between two packets; the order of
    packets in the queue is not modelled.

    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> run = dcqcn_run(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, [10, 12], 4e-6, 0.1, step=4e-6)
    >>> run.settled(0.09).mean.round(-2).tolist()  # bytes of queue
    [122600.0, 152900.0]
    """
    floats("step", step, above=True)
    given, rates, many = shares(capacity, flows, delay, start)
    equation, scenarios = law(control, packet), rates.shape[1]
    if equation.g.shape[1] not in (1, scenarios):
        raise ValueError(
            f"control holds {equation.g.shape[1]} scenarios, the others {scenarios}; give one or {scenarios}"
        )
    pi = isinstance(marking, PiMarking)
    zero = np.zeros((1, scenarios))
    alpha = np.array([[each.initial_alpha for each in ([control] if isinstance(control, Dcqcn) else control)]])
    own, shared = _block(rates.shape, rates / packet, rates / packet, alpha), np.stack([zero] * (1 + pi))
    if disturbance is not None:
        own, shared = _beside_rest(control, marking, given, disturbance, packet)
    begin = State.of(own, shared)
    hold = float(equation.cnp_interval.min())
    chance = Jitter.of(rng, jitter, hold, seconds, scenarios)
    return _follow(
        equation, marking, given["capacity"], many, given["delay"], begin, seconds, step, every, packet, chance
    )


def _beside_rest(
    control: Dcqcn | Sequence[Dcqcn],
    marking: Marking | PiMarking,
    given: dict[str, Floats],
    disturbance: float,
    packet: float,
) -> tuple[Floats, Floats]:
    """The fixed point with all rates moved, as own and shared variables in packets."""
    from netlib.congestion.fluid.rest import rest_point

    if not isinstance(control, Dcqcn):
        raise ValueError("disturbance needs one control for all scenarios; give a Dcqcn, not a list")
    rest = rest_point(control, marking, given["capacity"], given["flows"], packet=packet)
    if not rest.inside.all():
        first = given["flows"][~rest.inside][0]
        raise ValueError(f"flows = {first:g} has no fixed point on this ramp; give fewer flows or a larger p_max")
    own = np.stack([rest.rate * (1 + disturbance) / packet, rest.target / packet, rest.alpha])
    queue = rest.queue / packet
    return own, np.stack([queue, rest.marks] if isinstance(marking, PiMarking) else [queue])


def _block(shape: tuple[int, ...], *values: Floats) -> Floats:
    return np.stack([np.broadcast_to(each, shape) for each in values])


def _follow(
    equation: Law,
    marking: Marking | PiMarking,
    capacity: Floats,
    many: Floats,
    delay: Floats,
    begin: State,
    seconds: float,
    step: float,
    every: int,
    packet: float,
    chance: Jitter | None,
) -> Traces:
    """Integrate from a state in packets; traces in bytes."""
    full = capacity / packet
    floor = np.maximum(equation.floor, full * 1e-9)  # a flow that sends nothing would learn nothing
    share, extra = by_switch() if isinstance(marking, PiMarking) else by_ramp(marking, packet)
    shape, zero = begin.own.shape[1:], np.zeros_like(full)
    low = State.of(_block(shape, floor, floor, zero), np.zeros_like(begin.shared))
    high = State.of(_block(shape, full, full, zero + 1), np.stack([zero + np.inf, zero + 1][: 1 + extra]))

    most = reach(delay, step) if chance is None else 1  # what chance delays is not known ahead
    longest = float(delay.max()) + step + (0.0 if chance is None else float(chance.draws.max()))

    def equations(state: State, past: Past) -> tuple[Ahead, Slope]:
        rates, queues = state.places(0), state.shared_places(extra)
        ago = past.reader(rates, np.broadcast_to(delay, shape), most)
        seen = past.reader(queues, delay, most)
        rate, target, alpha = state.own
        gap, spare = np.empty(shape), np.empty(shape)
        late: list[Floats] = []

        def prepare(count: int) -> None:
            if chance is None:
                late[:] = _late(equation, share(seen(count)), ago(count))
                return
            lag = delay + chance.at(np.full_like(delay, past.time))
            late[:] = _late(equation, share(past.read(queues, lag))[None], past.read(rates, lag)[None])

        def slope(k: int, out: State) -> None:  # as in `slopes`, with nothing allocated
            of_gap, freely, cutting, aim = late
            np.subtract(target, rate, out=gap)
            np.multiply(rate, alpha, out=spare)
            np.multiply(spare, cutting[k], out=freely[0, k])
            np.multiply(gap, of_gap[:, k], out=out.own[:2])
            np.add(out.own[:2], freely[:, k], out=out.own[:2])
            np.multiply(alpha, equation.forgets, out=spare)
            np.subtract(aim[k], spare, out=out.own[2])
            np.subtract(total(rate, many), full, out=out.shared[0])
            if isinstance(marking, PiMarking):
                queue, growth = state.shared[0], out.shared[0]
                out.shared[1] = marking.proportional * packet * np.where(queue > 0, growth, np.maximum(growth, 0.0))
                out.shared[1] += marking.integral * packet * (queue - marking.reference / packet)

        return prepare, slope

    time, y = integrate(equations, begin, low, high, seconds, step, longest, every, most)
    own, shared = unfolded(begin, y)
    queue = shared[0] * packet
    marks = marked(queue, marking) if isinstance(marking, Marking) else shared[1]
    names = {"target": own[1] * packet, "alpha": own[2]}
    return Traces(time, queue, own[0] * packet, many.T.copy(), step, names, {"marked": marks})
