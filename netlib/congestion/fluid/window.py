"""Windows as a fluid: DCTCP, Swift, HPCC and PowerTCP at one bottleneck, one equation each.

A flow keeps W bytes on the way, so it sends R = W / theta with theta = q / C + tau, and q' = sum R - C. What differs is
what moves W; a hat marks what the flow learns now, one round trip old:

    DCTCP     W' = (a - W alpha p^ / 2) / theta,    alpha' = g (p^ - alpha) / theta           a: bytes per round trip
    Swift     W' = a / theta below the target delay,   else -min(beta (1 - target / delay^), max_cut) W / theta
    HPCC      W' = (W eta / U^ + a - W) / tau,         U = q / (C tau) + min(sum R, C) / C
    PowerTCP  W' = gamma / tau (W^ e / G^ + beta - W), e / G = C^2 tau / ((q + C tau)(q' + mu))

At rest DCTCP and Swift swing about their threshold; HPCC has U = eta + N a / (C tau), so no queue while that is below
1; PowerTCP has q = N beta. The fluid knows no packets and no first burst that overflows a buffer.
Read with the chapter "Congestion control", section "Delay and telemetry". Sources: Alizadeh, Javanmard
and Prabhakar, "Analysis of DCTCP" (SIGMETRICS 2011), with its fixed feedback delay tau + K / C; Kumar et al., "Swift"
(SIGCOMM 2020); Li et al., "HPCC" (SIGCOMM 2019), with maxStage 0 as in its simulations, an own fluid form of its update
per round trip; Addanki et al., "PowerTCP" (NSDI 2022), section 3, updated once per base round trip.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.fluid.bottleneck import shares, total
from netlib.congestion.fluid.dcqcn import PACKET
from netlib.congestion.fluid.delays import Ahead, Past, Slope, State, Traces, integrate, unfolded
from netlib.congestion.fluid.marks import marked
from netlib.congestion.parameters import Dctcp, Hpcc, Marking, PowerTcp, Swift

Window = Dctcp | Swift | Hpcc | PowerTcp
FULLEST = 20.0
"""The buffer in C tau; more flows than that start with less than a window of C tau each, or fill it."""


@dataclass(frozen=True)
class Seen:
    """What a law may use: (1 or flows, scenarios), bytes and seconds; `_ago` what the flow learns now."""

    window: Floats
    alpha: Floats
    theta: Floats
    window_ago: Floats
    queue_ago: Floats
    arrival_ago: Floats
    capacity: Floats
    rtt: Floats


Moves = Callable[[Seen], tuple[Floats, Floats]]


def _dctcp(control: Dctcp, marking: Marking) -> Moves:
    def moves(seen: Seen) -> tuple[Floats, Floats]:
        share = marked(seen.queue_ago, marking)
        window = (control.additive - seen.window * seen.alpha * share / 2) / seen.theta
        return window, control.g * (share - seen.alpha) / seen.theta

    return moves


@declared
@formula
def swift_target(control: Swift, window: ArrayLike, hops: float, packet: float = PACKET) -> Floats:
    """Seconds of delay that a flow with this window in bytes aims at: base, hops, and more for small windows.

    base + hops per_hop + clip(A (W^-1/2 - fs_most^-1/2), 0, fs_range), W in packets,
    A = fs_range / (fs_least^-1/2 - fs_most^-1/2)

    >>> one = Swift(25e-6, 2e-6, 50e-6, 0.25, 100.0, 1.0, 0.8, 0.5, 0.001)
    >>> (swift_target(one, np.array([100e3, 250.0]), 5) * 1e6).round(1).tolist()
    [35.0, 85.0]
    """
    window = floats("window", window, above=True)
    floats("hops", hops)
    if control.fs_range > 0 and control.fs_least >= control.fs_most:
        raise ValueError(f"fs_least = {control.fs_least:g} must be below fs_most = {control.fs_most:g}; give packets")
    return _target(control, window, hops, packet)


def _target(control: Swift, window: Floats, hops: float, packet: float) -> Floats:
    if control.fs_range <= 0:
        return np.full_like(window, control.base + hops * control.per_hop)
    least, most = control.fs_least**-0.5, control.fs_most**-0.5
    part = (np.sqrt(packet / window) - most) * control.fs_range / (least - most)
    return np.asarray(control.base + hops * control.per_hop + np.clip(part, 0.0, control.fs_range))


def _swift(control: Swift, hops: float, packet: float) -> Moves:
    swift_target(control, packet, hops, packet)  # refuses what makes no sense before the run

    def moves(seen: Seen) -> tuple[Floats, Floats]:
        delay = seen.queue_ago / seen.capacity + seen.rtt
        target = _target(control, seen.window, hops, packet)
        gain = control.ai * np.minimum(packet, seen.window)  # below one packet an acknowledged byte adds ai bytes
        loss = np.minimum(control.beta * (1 - target / delay), control.max_cut) * seen.window
        return np.where(delay < target, gain, -loss) / seen.theta, np.zeros_like(seen.window)

    return moves


def _hpcc(control: Hpcc) -> Moves:
    def moves(seen: Seen) -> tuple[Floats, Floats]:
        use = seen.queue_ago / (seen.capacity * seen.rtt) + np.minimum(seen.arrival_ago / seen.capacity, 1.0)
        wanted = seen.window * control.eta / np.maximum(use, 1e-3) + control.additive
        return (wanted - seen.window) / seen.rtt, np.zeros_like(seen.window)

    return moves


def _power_tcp(control: PowerTcp) -> Moves:
    def moves(seen: Seen) -> tuple[Floats, Floats]:
        beta = seen.capacity * seen.rtt / control.flows
        full = seen.capacity * seen.rtt
        current = seen.arrival_ago / seen.capacity  # q' + mu is what arrives, in link rates
        if control.theta:  # a round trip without a queue does not show that the link is half empty
            current = np.where(seen.queue_ago > 0, current, np.maximum(current, 1.0))
        power = np.maximum((seen.queue_ago + full) / full * current, 1e-3)
        return control.gamma / seen.rtt * (seen.window_ago / power + beta - seen.window), np.zeros_like(seen.window)

    return moves


@declared
@formula
def window_run(
    control: Dctcp | Swift | Hpcc | PowerTcp,
    capacity: ArrayLike,
    flows: ArrayLike,
    rtt: ArrayLike,
    seconds: float,
    *,
    marking: Marking | None = None,
    start: ArrayLike | None = None,
    hops: float = 1.0,
    step: float = 5e-7,
    every: int = 20,
    packet: float = PACKET,
) -> Traces:
    """Windows, rates and queue of flows that share one bottleneck; a scenario for each entry of the arguments.

    `capacity` bytes/s, `rtt` s without queue. `flows`: N identical ones, integrated once. Distinct flows: `start` is
    their first rates in bytes/s, (flows,) or (scenarios, flows), windows are rate x rtt; without it all have C tau / N.
    DCTCP needs `marking`, with k_min = k_max = K its step; Swift counts `hops`. PowerTCP's hosts have the link's rate.

    >>> one = PowerTcp(gamma=0.9, flows=100.0, theta=False)
    >>> run = window_run(one, 12.5e9, [2, 10], 20e-6, 1e-3)
    >>> run.queue[:, -1].round().tolist()  # N beta = N C tau / 100
    [5000.0, 25000.0]
    """
    if isinstance(control, Dctcp) and marking is None:
        raise ValueError("marking = None leaves DCTCP without a signal; give a Marking with k_min = k_max = K bytes")
    if not isinstance(control, Dctcp) and marking is not None:
        raise ValueError(f"marking = {marking!r} is not seen by {type(control).__name__}; leave it out")
    floats("rtt", rtt, above=True)
    floats("hops", hops)
    floats("packet", packet, above=True)
    given, first, many = shares(capacity, flows, rtt, start)
    full, base = given["capacity"], given["delay"]
    bdp = full * base
    windows = bdp / many if start is None else first * base
    moves, late = _law(control, marking, hops, packet), None
    if isinstance(control, Dctcp) and marking is not None:
        late = base + marking.k_max / full
    least = packet * (control.min_window if isinstance(control, Swift) else 1e-3)
    ones, none = np.ones_like(windows), np.zeros_like(full)
    begin = State.of(np.stack([windows, ones * isinstance(control, Dctcp)]), none[None])
    low = State.of(np.stack([ones * least, ones * 0]), none[None])
    most = np.maximum(bdp, 1.0) * (1 + FULLEST)
    high = State.of(np.stack([ones * most, ones]), (FULLEST * bdp)[None])

    def equations(state: State, past: Past) -> tuple[Ahead, Slope]:
        where, mine = state.shared_places(0), state.places(0)
        window, alpha = state.own

        def slope(k: int, out: State) -> None:
            theta = state.shared[0] / full + base
            ago = theta if late is None else late
            queue_ago = past.read(where, ago)
            window_ago = past.read(mine, np.broadcast_to(ago, window.shape))
            arrival_ago = total(window_ago, many) / (queue_ago / full + base)
            seen = Seen(window, alpha, theta, window_ago, queue_ago, arrival_ago, full, base)
            out.own[0], out.own[1] = moves(seen)
            out.shared[0] = total(window, many) / theta - full

        return lambda count: None, slope

    longest = float((base * (1 + FULLEST)).max() if late is None else late.max()) + step
    time, y = integrate(equations, begin, low, high, seconds, step, longest, every)
    own, shared = unfolded(begin, y)
    queue = shared[0]
    theta = queue / full.T + base.T
    names = {"window": own[0], **({"alpha": own[1]} if isinstance(control, Dctcp) else {})}
    return Traces(time, queue, own[0] / theta[:, None], many.T.copy(), step, names, {"rtt": theta})


def _law(control: Window, marking: Marking | None, hops: float, packet: float) -> Moves:
    if isinstance(control, Dctcp):
        assert marking is not None
        return _dctcp(control, marking)
    if isinstance(control, Swift):
        return _swift(control, hops, packet)
    return _hpcc(control) if isinstance(control, Hpcc) else _power_tcp(control)


@declared
@formula
def hpcc_rest(control: Hpcc, capacity: ArrayLike, flows: ArrayLike, rtt: ArrayLike) -> tuple[Floats, Floats]:
    """(utilisation U, bytes of queue) at HPCC's rest: U = eta + N a / (C tau), q = max(U - 1, 0) C tau.

    So a queue stays as soon as N a is above (1 - eta) C tau: the rule that bounds the additive step.

    >>> use, queue = hpcc_rest(Hpcc(eta=0.95, max_stage=0, additive=80.0), 12.5e9, [10, 1000], 8e-6)
    >>> use.round(3).tolist(), queue.round(-1).tolist()
    ([0.958, 1.75], [0.0, 75000.0])
    """
    full, many = floats("capacity", capacity, above=True), floats("flows", flows, 1.0)
    bdp = full * floats("rtt", rtt, above=True)
    use = control.eta + many * control.additive / bdp
    return np.asarray(use), np.asarray(np.maximum(use - 1, 0.0) * bdp)


@declared
@formula
def power_tcp_rest(control: PowerTcp, capacity: ArrayLike, flows: ArrayLike, rtt: ArrayLike) -> tuple[Floats, Floats]:
    """(bytes of window of all flows, bytes of queue) at PowerTCP's rest: (C tau + N beta, N beta).

    beta = C tau / `control.flows` is what one flow adds.

    >>> [float(each.round()) for each in power_tcp_rest(PowerTcp(0.9, 100.0, False), 12.5e9, 10, 20e-6)]
    [275000.0, 25000.0]
    """
    bdp = floats("capacity", capacity, above=True) * floats("rtt", rtt, above=True)
    queue = floats("flows", flows, 1.0) * bdp / control.flows
    return np.asarray(bdp + queue), np.asarray(queue)
