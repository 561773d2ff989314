"""TIMELY as a fluid, as published and patched: rates that follow the round trip and its slope.

For each flow with rate R and gradient g; q^ is the queue a feedback delay tau' ago, q^^ another update tau* earlier,

    q'  = sum R - C
    g'  = alpha / tau* (-g + (q^ - q^^) / (C D))             D the minimum round trip, tau* = max(segment / R, D)
    R'  = delta / tau*                                       q^ below C t_low
    R'  = -beta (1 - C t_high / q^) R / tau*                 q^ above C t_high
    R'  = delta / tau* while g <= 0, else -g beta R / tau*   between: TIMELY
    R'  = ((1-w) delta - w beta R (q^ - q_ref) / q_ref) / tau*   patched, w = 2 g + 1/2 within 0..1

with tau' = (q + packet) / C + propagation and q_ref = C t_low. TIMELY has no fixed point: g = 0 asks for more. With
g < 0 in place of g <= 0 every division of the link is one, and the start decides. The patch has exactly one.
Read with the chapter "Congestion control", section "Delay and telemetry". Sources: Mittal et al., "TIMELY" (SIGCOMM
2015); Zhu, Ghobadi, Misra and Padhye, "ECN or Delay" (CoNEXT 2016), sections 4 and 5, whose queue in place of the round
trip is kept; github.com/jitupadhye-zz/rdma @e7e9160, fluidmodel/timely.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula, one_of
from netlib.congestion.fluid.bottleneck import shares, total
from netlib.congestion.fluid.dcqcn import PACKET
from netlib.congestion.fluid.delays import Ahead, Jitter, Past, Slope, State, Traces, integrate, unfolded
from netlib.congestion.fluid.loops import Complex, Ints, margin_of
from netlib.congestion.fluid.marks import PiMarking
from netlib.congestion.parameters import Timely

SLOWEST = 20
"""A flow sends at least a segment in so many t_high: what the model looks back is finite."""
FULLEST = 2
"""The buffer in C t_high, as in the authors' program; only a start far from rest fills it."""


@declared
@formula
def timely_run(
    control: Timely,
    capacity: ArrayLike,
    flows: ArrayLike,
    propagation: ArrayLike,
    seconds: float,
    *,
    start: ArrayLike | None = None,
    queue: float = 0.0,
    flat: Literal["rises", "rests"] = "rises",
    pi: PiMarking | None = None,
    jitter: float = 0.0,
    rng: Generator | None = None,
    step: float = 1e-6,
    every: int = 100,
    packet: float = PACKET,
) -> Traces:
    """Rates, gradients and queue of flows under TIMELY at one bottleneck; a scenario for each entry of the arguments.

    `start` rates in bytes/s as in `dcqcn_run`, without it C / N; `queue` bytes at the start. `flat` is what a flow with
    gradient 0 does between the thresholds: "rises" is <= in the algorithm, "rests" is <; a patched flow does neither.
    `jitter` s at most are added by chance (`rng`) to a round trip, anew each `min_rtt`: they make it late, and they are
    measured as if they were queue. `pi`: each patched sender makes a signal p' = proportional q^' + integral (q^ -
    reference) of its own in place of the error, as in the paper's section 5; it starts at what suits its first rate.
    `hai` is not modelled: the increase is never five-fold.

    >>> patched = Timely(True, 0.875, 0.008, 1.25e6, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
    >>> run = timely_run(patched, 1.25e9, 2, 4e-6, 0.2, start=[0.875e9, 0.375e9], step=5e-6)
    >>> (run.rate[0, :, -1] / 1e9).round(2).tolist(), run.queue[0, -1].round(-2).tolist()  # fair, at `timely_rest`
    ([0.63, 0.62], 78100.0)
    """
    one_of("flat", flat, ("rises", "rests"))
    if control.t_high <= control.t_low:
        raise ValueError(f"t_high = {control.t_high:g} must be above t_low = {control.t_low:g}; give both in seconds")
    floats("queue", queue)
    given, first, many = shares(capacity, flows, propagation, start)
    full, late = given["capacity"], given["delay"]
    rates = full / many if start is None else first
    slowest = control.segment / (SLOWEST * control.t_high)
    if (full / many.sum(axis=0) < slowest).any():
        raise ValueError(
            f"flows = {many.max():g} leaves less than a segment per {SLOWEST} t_high to each; give fewer flows"
        )
    zero = np.zeros_like(full)

    def block(*values: Floats) -> Floats:
        return np.stack([np.broadcast_to(each, rates.shape) for each in values])

    if pi is not None:
        _only_patched(control)
    signal = control.delta / (control.beta * rates)
    begin = State.of(block(rates, zero, signal), (zero + queue)[None])
    low = State.of(block(zero + slowest, zero - np.inf, zero), zero[None])
    high = State.of(block(full, zero + np.inf, zero + np.inf), (FULLEST * full * control.t_high)[None])
    chance = Jitter.of(rng, jitter, control.min_rtt, seconds, full.shape[1])
    least, most, reference = full * control.t_low, full * control.t_high, full * control.t_low

    def equations(state: State, past: Past) -> tuple[Ahead, Slope]:
        where = state.shared_places(0)
        rate, gradient, error = state.own

        def slope(k: int, out: State) -> None:  # the delays follow the queue: nothing is known ahead
            ago = (state.shared[0] + packet) / full + late
            update = np.maximum(control.segment / rate, control.min_rtt)
            then = ago + update
            if chance is not None:
                now = np.full_like(late, past.time)
                more, earlier = chance.at(now), chance.at(now - update)
                ago, then = ago + more, then + earlier
            seen = past.read(where, ago)
            before = past.read(np.broadcast_to(where, rate.shape), then)
            if chance is not None:
                seen, before = seen + full * more, before + full * earlier
            if control.patched:
                w = np.minimum(np.maximum(2 * gradient + 0.5, 0.0), 1.0)
                by = (seen - reference) / reference if pi is None else error
                middle = (1 - w) * control.delta - w * control.beta * rate * by
            else:
                rising = gradient > 0 if flat == "rises" else gradient >= 0
                middle = np.where(rising, -gradient * control.beta * rate, control.delta)
            high_side = -control.beta * (1 - most / np.maximum(seen, most)) * rate
            change = np.where(seen < least, control.delta, np.where(seen > most, high_side, middle))
            out.own[0] = change / update
            out.own[1] = control.alpha / update * ((seen - before) / (full * control.min_rtt) - gradient)
            out.own[2] = 0.0
            if pi is not None:
                out.own[2] = pi.proportional * (seen - before) / update + pi.integral * (seen - pi.reference)
            out.shared[0] = total(rate, many) - full

        return lambda count: None, slope

    longest = float((FULLEST * control.t_high + packet / full + late).max())
    longest += max(control.segment / slowest, control.min_rtt) + step + float(jitter)
    time, y = integrate(equations, begin, low, high, seconds, step, longest, every)
    own, shared = unfolded(begin, y)
    names = {"gradient": own[1], **({} if pi is None else {"signal": own[2]})}
    return Traces(time, shared[0], own[0], many.T.copy(), step, names, {})


@declared
@formula
def timely_rest(control: Timely, capacity: ArrayLike, flows: ArrayLike) -> Floats:
    """Bytes of queue at patched TIMELY's fixed point: q_ref (1 + N delta / (beta C)), q_ref = C t_low.

    >>> patched = Timely(True, 0.875, 0.008, 1.25e6, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
    >>> timely_rest(patched, 1.25e9, [2, 10, 20, 40]).tolist()
    [78125.0, 140625.0, 218750.0, 375000.0]
    """
    _only_patched(control)
    full, many = floats("capacity", capacity, above=True), floats("flows", flows, 1.0)
    reference = full * control.t_low
    return np.asarray(reference * (1 + many * control.delta / (control.beta * full)))


@declared
@formula
def timely_margin(
    control: Timely,
    capacity: ArrayLike,
    flows: ArrayLike,
    propagation: ArrayLike,
    *,
    form: Literal["exact", "published"] = "exact",
    packet: float = PACKET,
) -> Floats:
    """Phase margin in degrees of patched TIMELY at its fixed point; the arguments broadcast.

    L(s) = N/s e^(-s tau') (beta R / (2 q_ref) + 2 k delta / (C D) (1 - e^(-s tau*)) alpha / (s tau* + alpha))
           / (s tau* + delta / (2 R)),

    with k = 2 the slope of w. The figures of the paper come from k = 1/2 ("published"): a quarter of the weight of the
    gradient, which the paper's own equations and runs do not have.

    >>> patched = Timely(True, 0.875, 0.008, 1.25e6, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
    >>> timely_margin(patched, 1.25e9, [2, 10, 40], 0, form="published").round(1).tolist()
    [-1.9, 28.5, -1.3]
    """
    _only_patched(control)
    one_of("form", form, ("exact", "published"))
    given = np.broadcast_arrays(
        floats("capacity", capacity, above=True), floats("flows", flows, 1.0), floats("propagation", propagation)
    )

    def loop_of(cases: Ints) -> Callable[[Floats], Complex]:
        full, many, late = (each.ravel()[cases, None] for each in given)
        rate, reference = full / many, full * control.t_low
        update = control.segment / rate if form == "published" else np.maximum(control.segment / rate, control.min_rtt)
        ago = (timely_rest(control, full, many) + packet) / full + late
        height = control.beta * rate / (2 * reference)
        slope = 2 * (2.0 if form == "exact" else 0.5) * control.delta / (full * control.min_rtt)
        own = control.delta / (2 * rate)

        def loop(omega: Floats) -> Complex:
            s = 1j * omega
            by_slope = slope * (1 - np.exp(-s * update)) * control.alpha / (s * update + control.alpha)
            return np.asarray(many / s * np.exp(-s * ago) * (height + by_slope) / (s * update + own))

        return loop

    return margin_of(loop_of, given[0].shape)


@declared
def timely_most_flows(
    control: Timely, capacity: float, propagation: float = 0.0, *, form: Literal["exact", "published"] = "exact"
) -> int:
    """The largest number of flows, up to 1,000, at which patched TIMELY's rest has a positive margin; 0 if none has.

    >>> patched = Timely(True, 0.875, 0.008, 1.25e6, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
    >>> timely_most_flows(patched, 1.25e9, form="published"), timely_most_flows(patched, 1.25e9)
    (39, 19)
    """
    flows = np.arange(1, 1001)
    stable = timely_margin(control, capacity, flows, propagation, form=form) > 0
    return int(flows[stable].max(initial=0))


@declared
@formula
def timely_convergence(control: Timely, flows: ArrayLike) -> Floats:
    """Seconds until patched TIMELY is fair to a tenth of the fair share: 2 segment ln(10 N) / (delta (N - 1)).

    From the largest gap, C, after the queue has settled; an exponential whose rate is exact for two flows.

    >>> patched = Timely(True, 0.875, 0.008, 1.25e6, 50e-6, 500e-6, 20e-6, 16e3, float("inf"))
    >>> timely_convergence(patched, 2).round(4).tolist()
    0.0767
    """
    _only_patched(control)
    many = floats("flows", flows, 2.0)
    return np.asarray(2 * control.segment * np.log(10 * many) / (control.delta * (many - 1)))


def _only_patched(control: Timely) -> None:
    if not control.patched:
        raise ValueError("control.patched = False has no single fixed point; give a Timely with patched=True")
