"""A mixture: cards of two kinds on one network, each flow under the control of its own.

Read with the chapter "Congestion control", section "Fallacies and pitfalls".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.hearing import Heard, Mask, Sender


class MixedSender:
    """Two controllers side by side: `first` for the flows not in `others` (F,), `second` for those in it.

    Both hear everything; of each only the rates and windows of its own flows count. That is right for controllers that
    decide flow by flow from what the flow itself hears.

    >>> from netlib.congestion.packets.senders import sender
    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.congestion.parameters import Uncontrolled
    >>> from netlib.links import Link
    >>> two = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    >>> narrow, wide = (sender(Uncontrolled(window=each), two) for each in (1, 2))
    >>> MixedSender(narrow, wide, np.array([False, True])).window.round().tolist()
    [202000.0, 404000.0]
    """

    def __init__(self, first: Sender, second: Sender, others: Mask) -> None:
        self.parts, self.others = (first, second), others
        self.rate, self.window = self._both("rate"), self._both("window")

    def react(self, now: float, heard: Heard) -> None:
        """Let both react."""
        for part in self.parts:
            part.react(now, heard)
        self.rate, self.window = self._both("rate"), self._both("window")

    def _both(self, name: str) -> Floats:
        first, second = (getattr(part, name) for part in self.parts)
        return np.asarray(np.where(self.others, second, first), float)
