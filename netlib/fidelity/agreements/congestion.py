"""Agreements of the chapter "Congestion control": its formulas against counters, packets in a row, and both engines."""

from collections import deque
from functools import cache

import numpy as np

from netlib import congestion as c
from netlib.congestion.fluid import dcqcn_run, rest_point
from netlib.congestion.packets.engine import Run, run
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.traffic import Packet, Traffic, incast
from netlib.fidelity.agreement import Agreement
from netlib.links import Link

_PACKET = Packet(1000, 1000)
_CABLE = Link(2e-6, 12.5e9)
_FLOWS = [2, 50, 64]

# ---------------------------------------------------------------- queues


def watched(traffic: Traffic, window: float, until: float) -> Run:
    """Uncontrolled senders with a window of so many BDPs, every step of the queue kept."""
    control = sender(c.Uncontrolled(window=window), traffic)
    return run(traffic, control, until, np.random.default_rng(1), dt=0.25e-6, every=1)


def fill_time(buffer: float, senders: int, rate: float) -> float:
    """Seconds until the buffer is full."""
    return float(c.incast_fill_time(buffer, senders, rate))


def fill_time_run(buffer: float, senders: int, rate: float) -> float:
    """Seconds from the first byte in the queue until `buffer` are, packet by packet."""
    made = incast(senders, 2 * buffer, Link(2e-6, rate), _PACKET)
    seen = watched(made, np.inf, 2 * buffer / rate + 20e-6)
    queue = seen.queue[:, 0]
    begin = seen.time[int(np.argmax(queue > 0)) - 1]
    return float(np.interp(buffer, queue[: int(np.argmax(queue)) + 1], seen.time[: int(np.argmax(queue)) + 1]) - begin)


def first_burst(senders: int, rate: float) -> float:
    """Bytes queued by one BDP from everybody."""
    return float(c.incast_peak(senders, incast(senders, 1e6, Link(2e-6, rate), _PACKET).base_rtt()[0] * rate))


def first_burst_run(senders: int, rate: float) -> float:
    """The peak of the same, with senders that stop after a BDP until something is acknowledged."""
    return float(watched(incast(senders, 2e6, Link(2e-6, rate), _PACKET), 1.0, 60e-6).peak.max())


def left_by_curves(starts: tuple[float, ...], packets: int) -> list[float]:
    """When the last byte of each flow was acknowledged, by arrival curves."""
    made = incast(len(starts), packets * 1000.0, _CABLE, _PACKET, start=list(starts))
    return [float(each) for each in watched(made, np.inf, 5e-3).finish]


def left_in_a_row(starts: tuple[float, ...], packets: int) -> list[float]:
    """The same with packets that stand in a row: each is served after all that came before it."""
    each = _PACKET.wire / float(np.asarray(_CABLE.bandwidth))
    came = sorted((start + k * each, k, flow) for flow, start in enumerate(starts) for k in range(packets))
    row, free, last = deque(came), 0.0, dict.fromkeys(range(len(starts)), 0.0)
    while row:
        moment, _, flow = row.popleft()
        free = max(free, moment + each) + each
        last[flow] = free
    trip = 4 * float(np.asarray(_CABLE.alpha))
    return [last[flow] + trip - start for flow, start in enumerate(starts)]


# ---------------------------------------------------------------- credits, pauses, losses


def lane_rate(buffer: int, delay: int) -> float:
    """Share of the line: credits over round trip, in blocks and block times; a block takes one time itself."""
    return float(c.credit_rate(buffer, 2 * delay + 1, 1.0))


def lane_rate_counted(buffer: int, delay: int) -> float:
    """Blocks that the counters of a lane let through, in its second half."""
    ticks = 40 * (delay + 1)
    sent = c.simulate_lane(buffer=buffer, packet=1, delay=delay, ticks=2 * ticks).sent
    return float(sent[-1] - sent[ticks]) / (ticks - 1)


def pause(quanta: int, gbit: int) -> float:
    """Seconds of a pause."""
    return float(c.pause_time(gbit * 1e9 / 8, quanta))


def pause_counted(quanta: int, gbit: int) -> float:
    """Bits that would have been sent, counted quantum by quantum, at so many bits in a nanosecond."""
    bits = sum(512 for _ in range(quanta))
    return bits / gbit * 1e-9


def goodput(loss: float, window: int) -> float:
    """Share of the rate that go-back-N delivers."""
    return float(c.go_back_n_goodput(loss, window))


def goodput_stepped(loss: float, window: int) -> float:
    """The same of a receiver that throws away what is out of order, packet by packet."""
    return c.simulate_transfer("go-back-n", loss, window, 30_000, np.random.default_rng(7)).goodput


# ---------------------------------------------------------------- rest


def rest_queue(flows: int, rate: float) -> float:
    """Bytes of queue at DCQCN's fixed point."""
    return float(rest_point(c.preset("dcqcn", "fluid"), c.preset("marking", "same-slope"), rate, flows).queue)


@cache
def rested() -> dict[int, float]:
    """Bytes of queue, by flows, when the equations with delay have come to rest; all at once, at 40 Gb/s."""
    control, marking = c.preset("dcqcn", "fluid"), c.preset("marking", "same-slope")
    seen = dcqcn_run(control, marking, 5e9, _FLOWS, 20e-6, 0.05, disturbance=0.02, step=20e-6).settled(0.04)
    return dict(zip(_FLOWS, map(float, seen.mean), strict=True))


def rest_queue_run(flows: int, rate: float) -> float:
    """The queue of `rested`, for a link of `rate`, which is the same in all cases."""
    return rested()[flows] if rate == 5e9 else float("nan")


AGREEMENTS = (
    Agreement(
        "incast-fill",
        "seconds until an incast has filled a buffer",
        fill_time,
        fill_time_run,
        ((1e6, 8, 12.5e9), (2e5, 2, 12.5e9), (3e6, 32, 12.5e9), (2e6, 5, 50e9)),
        "packets in the engine",
        0.05,
    ),
    Agreement(
        "first-burst",
        "bytes that are queued before anybody can have been told",
        first_burst,
        first_burst_run,
        ((2, 12.5e9), (8, 12.5e9), (32, 12.5e9), (5, 50e9)),
        "packets in the engine",
        0.05,
    ),
    Agreement(
        "fifo",
        "the finish of flows that share a queue",
        left_by_curves,
        left_in_a_row,
        (((0.0, 0.0), 200), ((0.0, 5e-6, 11e-6), 100), ((0.0, 40e-6, 3e-6, 0.0), 150), ((0.0,), 50)),
        "packets in a row, one by one",
        0.03,
    ),
    Agreement(
        "credit-rate",
        "what a lane carries with so many credits",
        lane_rate,
        lane_rate_counted,
        ((100, 99), (10, 50), (64, 20), (2048, 1500), (1, 3), (300, 100)),
        "counters of a lane, block by block",
        0.03,
    ),
    Agreement(
        "pause-time",
        "seconds of a pause frame",
        pause,
        pause_counted,
        ((65535, 10), (65535, 400), (65535, 800), (1, 100), (905, 400)),
        "bits counted",
        1e-12,
    ),
    Agreement(
        "go-back-n",
        "share of the rate that go-back-N delivers",
        goodput,
        goodput_stepped,
        ((0.001, 122), (0.01, 122), (0.02, 122), (0.01, 30), (0.05, 500)),
        "packets stepped one by one",
        0.05,
    ),
    Agreement(
        "dcqcn-rest",
        "the queue at which flows of DCQCN rest",
        rest_queue,
        rest_queue_run,
        tuple((flows, 5e9) for flows in _FLOWS),
        "equations with delay, run until they rest",
        0.01,
    ),
)
