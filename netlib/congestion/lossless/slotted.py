"""Slotted: a whole run of the slot model, with its series.

Read with the chapter "Congestion control", section "Lossless by pause".
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared
from netlib.congestion.lossless.greedy import steps_in
from netlib.congestion.lossless.slots import Slots
from netlib.congestion.lossless.waiting import Waits
from netlib.congestion.lossless.watchdogs import Hang, Watchdog
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import Traffic

Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SlotRun:
    """What happened, by flow (F,) and gate (G,): link x lanes + lane.

    sent      (F,) bytes;  received (F,) bytes;  lost (F,) bytes that the watchdog threw away; the rest is on the way
    frames    (G,) pause frames;  stopped (G,) s for which a gate was shut;  fired (G,) times the watchdog dropped
    time      (T,) moments;  rate (T, F) bytes/s received since the moment before;  shut (T, G);  held (T, G) bytes
    most      (G,) the most bytes that came by a gate and had not left
    waits     who waits for whom at the end
    """

    sent: Floats
    received: Floats
    lost: Floats
    frames: Floats
    stopped: Floats
    fired: Floats
    time: Floats
    rate: Floats
    shut: Mask
    held: Floats
    most: Floats
    waits: Waits


@declared
def run_slots(
    traffic: Traffic, until: float, rule: Pfc | LinkCredits | None, rng: Generator, lane: ArrayLike | None = None,
    watchdog: Watchdog | None = None, hangs: Sequence[Hang] = (), every: int = 16,
) -> SlotRun:  # fmt: skip
    """Run `traffic` for `until` seconds, every flow as fast as its NIC and the gates let it.

    rule   pauses, credits, or None: switches with room for all
    lane   of each link of each way (S, hops), or one for all; without it the lane of each flow
    hangs  NICs that read nothing for a while
    every  slots between two moments of the series
    rng    draws the way of each packet where a flow has several

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> pfc = Pfc(buffer=1e9, alpha=0, xoff=2e5, hysteresis=4e3, response=0)
    >>> two = incast(2, 1e9, Link(1e-6, 50e9), Packet(4096, 4096))
    >>> made = run_slots(two, 1e-3, pfc, np.random.default_rng(0))
    >>> round(float(made.received.sum() / made.time[-1] / 50e9), 2)
    1.0
    """
    if every < 1:
        raise ValueError(f"every = {every} must be at least 1; give the slots between two moments of the series")
    made = Slots(traffic, rule, rng, lane, watchdog, hangs)
    fired = made.guard.fired if made.guard else [0] * len(made.shut)
    slots = steps_in(until, made.slot)
    time, received, shut, held = [0.0], [np.zeros(traffic.flows)], [made.shut.copy()], [made.held.copy()]
    for slot in range(1, slots + 1):
        made.advance()
        if slot % every == 0 or slot == slots:
            time.append(slot * made.slot)
            received.append(np.array(made.received, float))
            shut.append([made.closed(gate) for gate in range(len(made.shut))])
            held.append(made.held.copy())
    moments = np.array(time)
    rate = np.diff(np.array(received), axis=0) * made.wire / np.diff(moments)[:, None]
    return SlotRun(
        sent=np.array(made.sent) * made.wire, received=received[-1] * made.wire, lost=np.array(made.lost) * made.wire,
        frames=np.array(made.frames, float), stopped=np.array(made.stopped) * made.slot,
        fired=np.array(fired, float), time=moments,
        rate=np.concatenate([np.zeros((1, traffic.flows)), rate]), shut=np.array(shut),
        held=np.array(held) * made.wire, most=np.array(made.most) * made.wire, waits=made.waits(),
    )  # fmt: skip
