"""Telemetry: what the switches stamp on a packet (INT), and what a sender makes of two stamps.

Every switch writes its queue's length and the bytes that the queue has let go into a packet that leaves. The receiver
sends the stamps back; the difference of two is a rate.
Read with the chapter "Congestion control", section "Delay and telemetry".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.engine import Heard, Mask
from netlib.congestion.packets.traffic import Traffic

# The control's own clock: rates are floored at this share of the line, as ns-3 does (100 Mb/s of 100 Gb/s).
LEAST_RATE = 1e-3
_ROUND = 1e-3  # bytes that may be missing from a packet, for rounding


@dataclass(frozen=True, eq=False)
class Stamp:
    """One hop of all S ways: what has changed since the stamp before.

    valid    (S,) whether the way has this hop, and a stamp before
    rtt      (S,) s of a round trip without queues
    seconds  (S,) s between the two stamps
    capacity (S,) bytes/s of the link behind the queue
    least    (S,) bytes: the shorter of the two queue lengths;  length (S,) the newer
    left     (S,) bytes that left the queue in between;  came (S,) that came to it
    """

    valid: Mask
    rtt: Floats
    seconds: Floats
    capacity: Floats
    least: Floats
    length: Floats
    left: Floats
    came: Floats


class Stamps:
    """The newest stamps of every way, hop by hop from the last to the first."""

    def __init__(self, traffic: Traffic) -> None:
        hops, ways = traffic.way.shape[1] - 1, len(traffic.way)
        self._capacity, self._whose = traffic.capacity, traffic.flow
        self._rtt = traffic.base_rtt()[traffic.flow]
        self._wire, self._part = traffic.packet.wire, np.zeros(traffic.flows)
        self._step = np.full((hops, ways), -1, np.int64)
        self._length, self._gone = np.zeros((hops, ways)), np.zeros((hops, ways))

    def answered(self, heard: Heard) -> Mask:
        """(F,) whether the acknowledgement of a packet's last byte comes in this step."""
        self._part += heard.acked
        whole = self._part >= self._wire - _ROUND
        self._part[whole] %= self._wire
        self._part[self._part > self._wire - _ROUND] = 0
        return whole

    def read(self, heard: Heard, answered: Mask) -> Iterator[Stamp]:
        """The stamps that came for the flows `answered`; they are then the ones before."""
        engine = heard._engine
        new = answered[self._whose]
        for hop, (there, queue, step) in enumerate(heard.hops()):
            row = step % engine.log
            length, gone = engine.log_length[row, queue], engine.log_gone[row, queue]
            before, short, past = self._step[hop], self._length[hop], self._gone[hop]
            on = there & new
            left = gone - past
            yield Stamp(
                on & (before >= 0) & (step > before),
                self._rtt,
                np.where(step > before, (step - before) * engine.dt, 1.0),
                self._capacity[engine.at.link[queue]],
                np.minimum(length, short),
                length,
                left,
                left + length - short,
            )
            np.copyto(before, step, where=on)
            np.copyto(short, length, where=on)
            np.copyto(past, gone, where=on)

    def busiest(self, heard: Heard, answered: Mask, measure: Callable[[Stamp], Floats]) -> tuple[Floats, Floats]:
        """(F,) the largest `measure` of a flow's hops, and the s between the stamps there; 0 and 0 where all are 0."""
        most, seconds = np.zeros(len(self._whose)), np.zeros(len(self._whose))
        for stamp in self.read(heard, answered):
            value = np.where(stamp.valid, measure(stamp), 0.0)
            np.copyto(seconds, stamp.seconds, where=value > most)
            np.maximum(most, value, out=most)
        engine = heard._engine
        return engine.by_flow_mean(most), engine.by_flow_mean(seconds)
