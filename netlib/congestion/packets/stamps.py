"""Stamps: what every queue was like in the steps that a byte still under way may have seen (INT).

Read with the chapter "Congestion control", section "Delay and telemetry".
"""

import numpy as np

from netlib.congestion.packets.queues import Queues


class Stamped:
    """The last steps of all queues: as many as a byte can be under way, over `hops` queues and `around` steps of cable.

    `around` is the whole round trip without queues: every cable, and a packet's time on each. A byte waits at most
    `hops` times what any queue has ever held back, and each wait is rounded to a step.

    waited, length, gone  (steps, Q) steps that the byte then leaving had waited; bytes in the queue; bytes that had
                          ever left it. The row of a step is step % steps
    """

    def __init__(self, queues: int, hops: int, around: int) -> None:
        self._hops, self._around = hops, around + hops
        steps = 1 << int(np.ceil(np.log2(2 * self._around + 64)))
        self.waited, self.length, self.gone = (np.zeros((steps, queues)) for _ in range(3))

    def note(self, step: int, queues: Queues) -> None:
        """One more row; twice as many where queues have become deep."""
        while self._hops * float(queues.waited.max()) + self._around > len(self.waited):
            depth = len(self.waited)
            steps = np.arange(max(step - depth, 0), step)
            for name in ("waited", "length", "gone"):
                old = getattr(self, name)
                longer = np.zeros((2 * depth, old.shape[1]))
                longer[steps % (2 * depth)] = old[steps % depth]
                setattr(self, name, longer)
        row = step % len(self.waited)
        self.waited[row], self.length[row], self.gone[row] = queues.waited, queues.length, queues.gone
