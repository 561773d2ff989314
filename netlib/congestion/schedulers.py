"""Schedulers: strict priority, weighted and deficit round robin, packet by packet on one link.

The second way to netlib.congestion.shares: here a packet is sent whole, a class has a queue, and weights are quanta.
It shows what the fluid shares leave out: weighted round robin counts packets, so that long ones win.
"""

from collections.abc import Iterator
from math import inf
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula

DISCIPLINES = ("strict", "wrr", "dwrr")


class Served(NamedTuple):
    """What a link sent: bytes `served` and `offered` and packets `queued` at the end, by class; s `idle`."""

    served: Floats
    offered: Floats
    queued: Floats
    idle: float
    seconds: float


@declared
@formula
def serve_packets(
    discipline: Literal["strict", "wrr", "dwrr"],
    offered: ArrayLike,
    packet: ArrayLike,
    capacity: float,
    seconds: float,
    weights: ArrayLike = 1.0,
) -> Served:
    """Serve classes that offer `offered` bytes/s in packets of `packet` bytes on a link of `capacity` for `seconds`.

    Packets of a class come evenly, those of the classes in turn. "strict": the first class with a packet. "wrr": up to
    `weights` packets in each round. "dwrr": a quantum of bytes in proportion to `weights` is added in each round, and
    packets are sent while the sum lasts; the least quantum is the longest packet.

    >>> done = serve_packets("dwrr", [8e9, 1e10, 1e10], [4096, 4096, 1024], 1e10, 1e-3, [60, 30, 10])
    >>> (done.served / 1e7).round(2).tolist(), done.idle
    ([0.6, 0.3, 0.1], 0.0)
    """
    if not isinstance(discipline, str) or discipline not in DISCIPLINES:
        raise ValueError(f"discipline = {str(discipline)[:40]!r} is not one of {', '.join(DISCIPLINES)}")
    load, size, weight = np.broadcast_arrays(
        np.atleast_1d(floats("offered", offered)),
        floats("packet", packet, above=True),
        floats("weights", weights, above=True),
    )
    if load.ndim != 1 or not load.size:
        raise ValueError(f"offered has shape {load.shape}; give one number for each class")
    speed, end = float(floats("capacity", capacity, above=True)), float(floats("seconds", seconds, above=True))
    if not end * speed / size.min() <= 2e6:
        raise ValueError(f"seconds = {end:g} are more than 2e6 packets; give a shorter time")
    if discipline == "wrr" and (weight != np.floor(weight)).any():
        raise ValueError("weights of weighted round robin count packets; give whole numbers")
    sent = [0] * load.size
    clock = [
        _Clock(each, length, turn / load.size)
        for turn, (each, length) in enumerate(zip(load.tolist(), size.tolist(), strict=True))
    ]
    ready = [each.came(0.0) for each in clock]
    choose = _CHOOSERS[discipline](ready, size.tolist(), weight.tolist())
    now = idle = 0.0
    lengths = size.tolist()
    while True:
        for k, each in enumerate(clock):
            ready[k] = each.came(now) - sent[k]
        if not any(ready):
            later = min(each.following(now) for each in clock)
            if later >= end:
                idle += end - now
                break
            idle, now = idle + later - now, later
            continue
        k = next(choose)
        if now + lengths[k] / speed > end * (1 + 1e-12):
            break  # would not be through in time
        sent[k] += 1
        now += lengths[k] / speed
    came = np.array([each.came(end) for each in clock], float)
    done = np.array(sent, float)
    return Served(done * size, came * size, came - done, float(idle), end)


class _Clock:
    """Packets of one class: the first after `phase` of a gap, then one each gap."""

    def __init__(self, load: float, size: float, phase: float) -> None:
        self.gap = size / load if load else inf
        self.first = phase * self.gap if self.gap < inf else inf

    def came(self, now: float) -> int:
        """Packets until now, one at this very moment included."""
        return 0 if now < self.first else int((now - self.first) / self.gap * (1 + 1e-12) + 1e-9) + 1

    def following(self, now: float) -> float:
        """The moment of the next packet."""
        return self.first + self.came(now) * self.gap if self.gap < inf else inf


def _strict(ready: list[int], size: list[float], weight: list[float]) -> Iterator[int]:
    while True:
        yield next(k for k, waiting in enumerate(ready) if waiting)


def _wrr(ready: list[int], size: list[float], weight: list[float]) -> Iterator[int]:
    while True:
        for k, most in enumerate(weight):
            for _ in range(int(most)):
                if not ready[k]:
                    break
                yield k


def _dwrr(ready: list[int], size: list[float], weight: list[float]) -> Iterator[int]:
    base = max(size) / min(weight)
    deficit = [0.0] * len(size)
    while True:
        for k, length in enumerate(size):
            if not ready[k]:
                deficit[k] = 0.0  # who has nothing to send saves nothing up
                continue
            deficit[k] += weight[k] * base
            while ready[k] and deficit[k] >= length:
                deficit[k] -= length
                yield k


_CHOOSERS = {"strict": _strict, "wrr": _wrr, "dwrr": _dwrr}
