"""Buffers: how long memory lasts, how fast an incast fills it, and what even perfect rates leave in a queue.

Read every buffer as a time: at the speed of a port, tens of megabytes are a millisecond.
"""

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.rates import speed_of_port


@formula
def buffer_time(buffer: ArrayLike, rate: ArrayLike) -> Floats:
    """Seconds for which `buffer` bytes feed a port of `rate` bytes/s, or for which they take its input. Broadcasts.

    >>> [round(float(each) * 1e3, 2) for each in buffer_time([64e6, 160e6], 50e9)]  # ms at 400 Gb/s
    [1.28, 3.2]
    """
    return floats("buffer", buffer) / speed_of_port("rate", rate, above=True)


@formula
def buffer_needed(time: ArrayLike, rate: ArrayLike) -> Floats:
    """Bytes that a port of `rate` bytes/s sends in `time` seconds: what a pause of that length needs. Broadcasts.

    >>> float(buffer_needed(0.1, 50e9))  # 100 ms at 400 Gb/s
    5000000000.0
    """
    return floats("time", time) * speed_of_port("rate", rate)


@formula
def incast_fill_time(buffer: ArrayLike, senders: ArrayLike, rate: ArrayLike) -> Floats:
    """Seconds until `senders` ports at `rate` fill a buffer that one such port drains: B / ((N - 1) rate); inf for one.

    Holds while all of the buffer may be this queue's; a dynamic threshold gives it less. Broadcasts.

    >>> round(float(incast_fill_time(64e6, 32, 50e9)) * 1e6, 1)
    41.3
    """
    extra = (floats("senders", senders, 1) - 1) * speed_of_port("rate", rate, above=True)
    size = floats("buffer", buffer)
    shape = np.broadcast_shapes(size.shape, extra.shape)
    return np.asarray(np.divide(size, extra, out=np.full(shape, np.inf), where=extra > 0))


@formula
def drain_time(queue: ArrayLike, rate: ArrayLike, inflow: ArrayLike = 0.0) -> Floats:
    """Seconds until a queue of `queue` bytes is gone: queue / (rate - inflow); inf while as much comes in. Broadcasts.

    >>> float(drain_time(1e6, 5e9)) * 1e6  # 1 MB at 40 Gb/s
    200.0
    """
    size, left = floats("queue", queue), speed_of_port("rate", rate, above=True) - floats("inflow", inflow)
    shape = np.broadcast_shapes(size.shape, left.shape)
    return np.where(size > 0, np.divide(size, left, out=np.full(shape, np.inf), where=left > 0), 0.0)


@formula
def incast_peak(senders: ArrayLike, bdp: ArrayLike, wire: ArrayLike = 1.0) -> Floats:
    """Bytes queued when `senders` send one BDP each before any feedback: (N - 1) bdp wire. Broadcasts.

    `wire` is bytes on the wire for each byte of payload. No control that waits a round trip can do better.

    >>> [round(float(each) / 1e6, 2) for each in incast_peak([8, 32], 177e3, 1.09)]
    [1.35, 5.98]
    """
    return (floats("senders", senders, 1) - 1) * floats("bdp", bdp) * floats("wire", wire, 1)


@formula
def dctcp_threshold(rate: ArrayLike, rtt: ArrayLike) -> Floats:
    """The least step (bytes) at which DCTCP keeps a link full: rate x rtt / 7 (Alizadeh et al., 2010). Broadcasts.

    >>> float(dctcp_threshold(12.5e9, 14e-6))  # 100 Gb/s
    25000.0
    """
    return speed_of_port("rate", rate) * floats("rtt", rtt) / 7


@formula
def paced_queue(flows: ArrayLike) -> Floats:
    """Mean packets queued by N paced flows that fill a link exactly, at random phases (N*D/D/1). Broadcasts.

    Q(N) / 2, where Q(N) = sum over k of N! / ((N - k)! N^k) is Ramanujan's: the queue is N times the one-sided
    Kolmogorov-Smirnov statistic of N uniform phases, whose mean Birnbaum and Pyke (1958) give. It grows as
    sqrt(pi N / 8) - 1/6: no rate control, however exact, goes below it.

    >>> paced_queue([1, 2, 100, 5000]).round(3).tolist()
    [0.5, 0.75, 6.105, 44.145]
    """
    from scipy.special import gammaincc, gammaln

    n = floats("flows", flows, 1)
    return np.asarray(np.exp(gammaln(n + 1) - n * np.log(n) + n) * gammaincc(n, n) / 2)


@formula
def paced_queue_limit(flows: ArrayLike) -> Floats:
    """The law that `paced_queue` follows for many flows: sqrt(pi N / 8), the mean of a Brownian bridge's maximum.

    >>> round(float(paced_queue_limit(10000)), 2)
    62.67
    """
    return np.sqrt(np.pi * floats("flows", flows) / 8)


@declared
def sampled_queue(flows: int, trials: int, rng: Generator) -> Floats:
    """(trials,) mean packets queued in one period, each with new phases: the queue itself, arrival by arrival.

    The second way: unit packets at N random moments of a period of N, a server of unit rate, twice around so that the
    second period is periodic; the mean is the area under the work that waits, over the period.

    >>> found = sampled_queue(100, 400, np.random.default_rng(1))
    >>> bool(abs(found.mean() - float(paced_queue(100))) < 3 * found.std() / 20)
    True
    """
    for name, value, most in (("flows", flows, 10**6), ("trials", trials, 10**6)):
        if not 1 <= value <= most:
            raise ValueError(f"{name} = {value} must be between 1 and {most}")
    if flows * trials > 10**8:
        raise ValueError(f"flows x trials = {flows * trials} is too much to hold; give fewer trials")
    arrive = np.sort(rng.random((trials, flows)), axis=1) * flows
    # The work just before arrival i, with a packet a unit and the clock in packets, is a running maximum:
    # what came since the last empty moment, less the time since.
    twice = np.concatenate([arrive, arrive + flows], axis=1)
    lead = np.arange(2 * flows) - twice  # packets before i less the time until i
    before = lead - np.minimum.accumulate(lead, axis=1)
    work = before[:, flows:] + 1  # just after each arrival of the second period
    gap = np.diff(np.concatenate([twice[:, flows:], twice[:, :1] + 2 * flows], axis=1), axis=1)
    busy = np.minimum(gap, work)
    return np.asarray((work * busy - busy**2 / 2).sum(axis=1) / flows)
