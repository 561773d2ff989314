"""Order: how many bytes a receiver has to hold because packets of other ways have overtaken those before them.

Read with the chapter "Congestion control", section "Spraying".
"""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.lines import History
from netlib.congestion.packets.traffic import Traffic


class Order:
    """What receivers hold out of order. Exact to the bytes that a flow sends in one step.

    held  (F,) bytes now behind one that is missing;  most  (F,) the most so far
    """

    def __init__(self, traffic: Traffic) -> None:
        flows, ways = traffic.flows, len(traffic.way)
        self._flow, self._first = traffic.flow, np.searchsorted(traffic.flow, np.arange(flows))
        self._sent = np.zeros(ways)
        self._ways, self._flows = History(ways), History(flows)
        self._seen = np.zeros(ways, np.int64)  # the last step whose packets on this way have all arrived
        self._way = np.arange(ways)
        self.held, self.most = np.zeros(flows), np.zeros(flows)

    def watch(self, step: int, sent: Floats, came: Floats) -> None:
        """`sent` (S,) bytes leave on each way in this step; `came` (S,) of all bytes sent there have arrived by now."""
        self._sent = self._sent + sent
        oldest = int(self._seen.min()) if self._ways.full(step, 0) else 0
        self._ways.put(step, self._sent, oldest)
        self._flows.put(step, np.add.reduceat(self._sent, self._first), oldest)
        seen, rows = self._seen, self._ways.rows
        behind = came < self._sent - 0.5
        np.copyto(seen, step, where=~behind)
        on = behind & (rows[(seen + 1) % len(rows), self._way] <= came + 0.5)
        while on.any():
            seen += on
            on &= rows[(seen + 1) % len(rows), self._way] <= came + 0.5
        row = seen % len(rows)
        begun = (
            self._flows.rows[row, self._flow] + came - rows[row, self._way]
        )  # what came of the next step is in order
        missing = np.where(behind, begun, np.inf)
        arrived = np.add.reduceat(came, self._first)
        self.held = np.maximum(arrived - np.minimum.reduceat(missing, self._first), 0)
        np.maximum(self.most, self.held, out=self.most)
