"""Pauses: for how long a frame of PFC stops a port, and what a rate of such frames means.

A pause is counted in quanta of 512 bit times, so the same frame is 80 times shorter on 800 Gb/s than on 10 Gb/s. A
counter of frames says nothing until it is turned into a share of time.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.congestion.rates import in_both_units, speed_of_port

QUANTUM = 64  # bytes: 512 bits of line time (IEEE 802.3, annex 31B)
MOST_QUANTA = 65535  # 16 bits
# IEEE 802.3, 31B.3.7, by link rate in Gb/s: quanta within which a port must have stopped; as listed in SONiC's
# cfgmgr/buffer_headroom_mellanox.lua (sonic-net/sonic-swss@18913fa).
RESPONSE_QUANTA = {10: 67, 25: 80, 40: 118, 50: 147, 100: 394, 200: 453, 400: 905, 800: 905}


class Outage(NamedTuple):
    """What a storm of pauses costs a class on one port: s `paused`, then s in which the watchdog `dropped` it."""

    paused: Floats
    dropped: Floats


@formula
def pause_time(rate: ArrayLike, quanta: ArrayLike = MOST_QUANTA) -> Floats:
    """Seconds for which one pause frame stops a port of `rate` bytes/s: 64 quanta / rate. Broadcasts.

    >>> round(float(pause_time(50e9)) * 1e6, 1)  # 400 Gb/s, the longest pause
    83.9
    """
    return QUANTUM * _quanta(quanta) / speed_of_port("rate", rate, above=True)


@formula
def paused_share(frames: ArrayLike, rate: ArrayLike, quanta: ArrayLike = MOST_QUANTA) -> Floats:
    """The largest share of time that a port can be paused by `frames` pause frames/s: min(1, frames x pause time).

    An upper bound: it holds if no frame overlaps another and none is taken back by a frame of zero quanta.

    >>> paused_share([10, 100], 50e9).round(5).tolist()  # 400 Gb/s
    [0.00084, 0.00839]
    """
    return np.minimum(floats("frames", frames) * pause_time(rate, quanta), 1.0)


@formula
def storm_frames(rate: ArrayLike, quanta: ArrayLike = MOST_QUANTA) -> Floats:
    """Pause frames/s that keep a port of `rate` bytes/s stopped: 1 / pause time. A storm has to be refreshed.

    >>> round(float(storm_frames(100e9)))  # 800 Gb/s
    23842
    """
    return 1 / pause_time(rate, floats("quanta", quanta, above=True))


@formula
def frame_rate(counts: ArrayLike, window: ArrayLike) -> Floats:
    """Mean frames/s of a plot of `counts`, one for each window of `window` seconds: mean(counts) / window.

    The window decides: the same twelve bars are 387 frames/s or 38,667.

    >>> bars = [12, 18, 25, 8, 189, 45, 33, 27, 52, 19, 22, 14]
    >>> [round(float(frame_rate(bars, each))) for each in (100e-3, 1e-3)]
    [387, 38667]
    """
    seen = floats("counts", counts)
    if seen.size == 0:
        raise ValueError("counts is empty; give one count for each window")
    return np.mean(seen) / floats("window", window, above=True)


@formula
def watchdog_outage(storm: ArrayLike, detection: ArrayLike, restoration: ArrayLike) -> Outage:
    """What a storm of `storm` seconds costs a class whose watchdog acts after `detection` s without a gap.

    paused = min(storm, detection); beyond that the watchdog drops the class until the storm is over and has stayed
    away for `restoration` s: dropped = storm - detection + restoration. SONiC takes 0.2 s for both, and
    0.4 s for 33 to 64 ports (sonic-net/sonic-utilities, pfcwd/main.py @015521a).

    >>> watchdog_outage([0.1, 1.0], 0.4, 2.0)
    Outage(paused=array([0.1, 0.4]), dropped=array([0. , 2.6]))
    """
    length, limit = floats("storm", storm), floats("detection", detection)
    over = length > limit
    return Outage(np.minimum(length, limit), np.where(over, length - limit + floats("restoration", restoration), 0.0))


@declared
def response_quanta(gbit: float) -> int:
    """Quanta within which a port of `gbit` Gb/s must have stopped (IEEE 802.3, 31B.3.7).

    The standard names ports by their speed in Gb/s, and so does this table; everywhere else a rate is in bytes/s.

    >>> response_quanta(400), response_quanta(400) * QUANTUM
    (905, 57920)
    """
    if gbit not in RESPONSE_QUANTA:
        known = ", ".join(map(str, RESPONSE_QUANTA))
        raise ValueError(f"gbit = {gbit:g} is no rate of the table; give one of {known}: {in_both_units(gbit)}")
    return RESPONSE_QUANTA[int(gbit)]


def _quanta(quanta: ArrayLike) -> Floats:
    """Quanta, refused beyond the 16 bits of the frame."""
    given = floats("quanta", quanta)
    if (given > MOST_QUANTA).any():
        raise ValueError(
            f"quanta = {given.max():g} does not fit into the 16 bits of a frame; give at most {MOST_QUANTA}"
        )
    return given
