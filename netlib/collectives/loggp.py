"""LogGP: what a message costs its two processors, and what the wire between them costs.

Alpha-beta says when a message arrives. LogGP also says when its sender is free again, so it can tell a rank that sends
one message after the other from one that waits for each. Closed forms, and a clock that executes any schedule.
Read with the chapter "Collectives", section "Ways to add". Model: Alexandrov, Ionescu, Schauser and Scheiman, "LogGP:
incorporating long messages into the LogP model" (SPAA 1995).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, Number, declared, floats, formula
from netlib.collectives.cost import ranks
from netlib.collectives.schedule import Schedule


@dataclass(frozen=True)
class LogGP:
    """The four constants; the P of the name is the number of ranks.

    L  seconds a byte is on the way
    o  seconds a processor is busy with a message, to send it and again to receive it
    g  least seconds between two messages of a rank: from the last byte of one to the next
    G  seconds between two bytes of a message: 1 / bandwidth
    """

    L: Number
    o: Number
    g: Number
    G: Number

    def __post_init__(self) -> None:
        for name in ("L", "o", "g", "G"):
            held = floats(name, getattr(self, name))
            object.__setattr__(self, name, held if held.ndim else float(held))

    @formula
    def time(self, size: ArrayLike) -> Floats:
        """Seconds until a message is received: L + 2o + (k-1) G for k = `size` bytes.

        >>> round(float(LogGP(L=1e-6, o=0.5e-6, g=0.4e-6, G=2e-11).time(1e6 + 1)), 9)
        2.2e-05
        """
        return np.asarray(self.L + 2 * np.asarray(self.o) + self.stream(size))

    @formula
    def interval(self, size: ArrayLike) -> Floats:
        """Seconds until the sender can begin its next message: max(o, g) + (k-1) G.

        >>> round(float(LogGP(L=1e-6, o=0.5e-6, g=0.4e-6, G=2e-11).interval(1e6 + 1)), 9)
        2.05e-05
        """
        return np.asarray(np.maximum(self.o, self.g) + self.stream(size))

    @formula
    def stream(self, size: ArrayLike) -> Floats:
        """Seconds from the first byte of a message to its last: (k-1) G; 0 for an empty one.

        >>> round(float(LogGP(L=1e-6, o=0.5e-6, g=0.4e-6, G=2e-11).stream(1e6 + 1)), 9)
        2e-05
        """
        return np.asarray(np.maximum(floats("size", size) - 1, 0) * self.G)


@formula
def loggp_ring_allreduce_time(size: ArrayLike, n: ArrayLike, model: LogGP) -> Floats:
    """2(n-1) steps of size / n bytes, each of which must come before the next can go: (2(n-1) - 1) max(time, interval)
    + time. A rank that is not yet free to send (L + 2o < max(o, g)) waits for that.

    >>> round(float(loggp_ring_allreduce_time(8, 8, LogGP(L=1e-6, o=0.5e-6, g=0, G=2e-11))), 9)
    2.8e-05
    """
    size, n = floats("size", size), ranks(n)
    return _chained(2 * (n - 1), size / n, model)


@formula
def loggp_recursive_doubling_time(size: ArrayLike, n: ArrayLike, model: LogGP) -> Floats:
    """lg n exchanges of the whole buffer: (lg n - 1) max(time, interval) + time. For n a power of two.

    >>> round(float(loggp_recursive_doubling_time(1, 8, LogGP(L=1e-6, o=0.5e-6, g=0, G=2e-11))), 9)
    6e-06
    """
    size, n = floats("size", size), ranks(n)
    mantissa, exponent = np.frexp(n)
    if np.any(mantissa != 0.5):
        raise ValueError(
            f"n = {n[mantissa != 0.5].flat[0]:g} is no power of two; execute the schedule with loggp_clock"
        )
    return _chained(exponent - 1.0, size, model)


@formula
def loggp_binomial_broadcast_time(size: ArrayLike, n: ArrayLike, model: LogGP) -> Floats:
    """Round i doubles the ranks that have the buffer, and no rank waits for the round to end.

    Who is told at rounds i1 < i2 < ... has it after one `time` for each and one `interval` for each round that its
    teller spent on others: the latest of n = 2^h ranks after max(h time, (h-1) interval + time). In between, what is
    needed for the largest rank numbers below n.

    >>> round(float(loggp_binomial_broadcast_time(1, 8, LogGP(L=1e-6, o=0.5e-6, g=0, G=2e-11))), 9)
    6e-06
    >>> round(float(loggp_binomial_broadcast_time(1, 8, LogGP(L=1e-6, o=0.5e-6, g=9e-6, G=2e-11))), 9)
    2e-05
    """
    size, n = floats("size", size), ranks(n)
    time, between = model.time(size), model.interval(size)
    latest = np.zeros(np.broadcast_shapes(np.shape(time), n.shape))
    last = n - 1  # rank r is told at the rounds that are its bits
    bits = np.frexp(last)[1]
    for top in range(int(bits.max(initial=0))):
        # below n, the numbers with highest bit `top` hold any count of ones from 1 to that of the fullest one
        for ones, there in ((1, bits > top), (_most_ones(last, top), bits > top)):
            latest = np.where(there, np.maximum(latest, (top + 1 - ones) * between + ones * time), latest)
    return latest


def _most_ones(last: Floats, top: int) -> Floats:
    """The most ones of a number up to `last` whose highest bit is `top`."""
    whole = np.minimum(last, 2.0 ** (top + 1) - 1).astype(np.int64)
    best = np.bitwise_count(whole).astype(float)
    for bit in range(top):  # clear one 1 and fill what is below it with ones
        held = (whole >> bit) & 1
        best = np.where(held == 1, np.maximum(best, np.bitwise_count(whole >> (bit + 1)) + float(bit)), best)
    return best


def _chained(steps: Floats, size: Floats, model: LogGP) -> Floats:
    """Messages each of which needs the one before it, of the same sender."""
    time = model.time(size)
    return np.where(steps > 0, (steps - 1) * np.maximum(time, model.interval(size)) + time, 0.0)


@declared
def loggp_clock(schedule: Schedule, size: float, model: LogGP) -> Floats:
    """(n + switches,) when each rank is done: the schedule executed message by message on the clocks of its ranks.

    In a step a rank first sends what it has to, in the order of destinations, then takes what comes, in the order of
    arrival; it goes on when it has taken the last. A send keeps the processor for o and the sending side of the NIC for
    max(o, g) + (k-1) G; to take a message needs o, and the receiving side of the NIC takes one message after the other
    in the same way. The wires between are free of contention.

    >>> from netlib.collectives import ring_allreduce
    >>> loggp_clock(ring_allreduce(8), 8, LogGP(L=1e-6, o=0.5e-6, g=0, G=2e-11)).round(9).tolist()[0]
    2.8e-05
    """
    if any(np.ndim(constant) for constant in (model.L, model.o, model.g, model.G)):
        raise ValueError("model must hold single numbers here; call loggp_clock once for each")
    far, o, g, gap = (float(constant) for constant in (model.L, model.o, model.g, model.G))
    everyone, volume = schedule.n + schedule.switches, schedule.bytes_of(size)
    free, out = np.zeros((2, everyone))  # processor, and the sending side of the NIC
    into = np.full(everyone, -np.inf)
    for step in schedule.written_out():
        pair, which = np.unique(step.src.astype(np.int64) * everyone + step.dst, return_inverse=True)
        stream = np.maximum(np.bincount(which, volume[step.chunk], pair.size) - 1, 0) * gap
        comes = np.empty(pair.size)
        for i, (src, long) in enumerate(zip((pair // everyone).tolist(), stream.tolist(), strict=True)):
            begin = max(float(free[src]), float(out[src]))
            free[src], out[src] = begin + o, begin + max(o, g) + long
            comes[i] = begin + o + long + far  # the last byte
        for i in np.argsort(comes, kind="stable").tolist():
            dst, long = int(pair[i] % everyone), float(stream[i])
            last = max(float(comes[i]), float(into[dst]) + g + long)
            into[dst] = last
            free[dst] = max(float(free[dst]), last) + o
    return free
