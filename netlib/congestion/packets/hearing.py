"""Hearing: what senders learn from the network, and what a controller is.

Read with the chapter "Congestion control", section "Marking".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats
from netlib.congestion.packets.traffic import Ints

if TYPE_CHECKING:
    from netlib.congestion.packets.steps import Engine

Mask = NDArray[np.bool_]


@dataclass(eq=False)
class Heard:
    """What the senders hear in one step, by flow.

    acked    (F,) bytes on the wire, newly acknowledged
    marked   (F,) packets among them that carry a mark
    cnp      (F,) whether a CNP arrives
    lost     (F,) bytes reported missing: trimmed, seen as a gap by the receiver, or given up after the timeout. They
             are no longer in flight, and the engine sends them again
    """

    acked: Floats
    marked: Floats
    cnp: Mask
    lost: Floats
    _engine: "Engine"

    def delay(self) -> Floats:
        """(F,) s that the newest acknowledged byte has waited in all queues; only where `acked` > 0."""
        engine = self._engine
        waited = np.zeros(len(engine.traffic.way))
        for valid, queue, step in self.hops():
            waited += np.where(valid, engine.log_waited[step % engine.log, queue], 0)
        return engine.by_flow_mean(waited) * engine.dt

    def hops(self) -> Iterator[tuple[Mask, Ints, Ints]]:
        """From the last queue to the first: (S,) whether the way has it, its queue, the step when the byte left it."""
        engine = self._engine
        at = engine.at
        place = at.exit
        step = engine.step - engine.back - at.lag[place]
        valid = np.ones(len(place), bool)
        while True:
            when = np.maximum(step, 0)
            yield valid, at.queue[place], when
            valid = valid & (at.before[place] >= 0)
            if not valid.any():
                return
            came = step - np.round(engine.log_waited[when % engine.log, at.queue[place]]).astype(int)
            place = np.where(valid, at.before[place], place)
            step = np.where(valid, came - at.lag[place], step)


class Sender(Protocol):
    """A controller for all flows: it hears, and sets `rate` (F,) bytes/s and `window` (F,) bytes."""

    rate: Floats
    window: Floats

    def react(self, now: float, heard: Heard) -> None:
        """Change `rate` and `window` after what was heard at `now` seconds."""
