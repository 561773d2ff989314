"""Lines: what takes a fixed number of steps to arrive, each column its own."""

import numpy as np

from netlib.arguments import Floats
from netlib.congestion.packets.traffic import Ints

_FIRST_DEPTH = 256  # steps of history at the start; doubled when someone needs older ones


class Line:
    """A cable as a ring of steps: what is put in at one step comes out `lag` steps later.

    >>> line = Line(np.array([1, 2]))
    >>> line.put(0, np.array([5.0, 7.0]))
    >>> line.get(1).tolist(), line.get(2).tolist()
    ([5.0, 0.0], [0.0, 7.0])
    """

    def __init__(self, lag: Ints) -> None:
        n = len(lag)
        self.lag = lag
        self.turn = int(lag.max(initial=1)) + 1
        self._ring = np.zeros((self.turn, n))
        self._flat = self._ring.reshape(-1)
        self._same = int(lag[0]) if n and (lag == lag[0]).all() else 0  # one lag for all: rows are written whole
        self._base = lag * n + np.arange(n)

    def put(self, step: int, values: Floats) -> None:
        """Send `values` (n,) at `step`; each step once."""
        if self._same:
            self._ring[(step + self._same) % self.turn] = values
            return
        at = self._base + (step % self.turn) * self._ring.shape[1]
        at[at >= len(self._flat)] -= len(self._flat)
        self._flat[at] = values

    def get(self, step: int) -> Floats:
        """What arrives at `step`; to be read before the step is over."""
        return np.asarray(self._ring[step % self.turn])


class Notices:
    """Messages that are rare: amounts for some columns, each after its own delay; what meets is summed.

    >>> told = Notices(2, 4)
    >>> told.put(0, np.array([1, 1]), np.array([2, 2]), np.array([10.0, 5.0]))
    >>> told.get(1).tolist(), told.get(2).tolist(), told.get(6).tolist()
    ([0.0, 0.0], [0.0, 15.0], [0.0, 0.0])
    """

    def __init__(self, columns: int, longest: int) -> None:
        self._ring = np.zeros((longest + 1, columns))
        self._some = np.zeros(longest + 1, bool)
        self._none = np.zeros(columns)

    def put(self, step: int, column: Ints, delay: Ints, amount: Floats) -> None:
        """Send `amount` to `column`, each after its `delay` in steps."""
        row = (step + delay) % len(self._ring)
        np.add.at(self._ring, (row, column), amount)
        self._some[row] = True

    def get(self, step: int) -> Floats:
        """(columns,) what arrives at `step`; each step is read once."""
        row = step % len(self._ring)
        if not self._some[row]:
            return self._none
        told = self._ring[row].copy()
        self._ring[row], self._some[row] = 0.0, False
        return np.asarray(told)


class History:
    """Rows of the last steps, as many as somebody still needs: the ring doubles when it is too short.

    >>> seen = History(1)
    >>> for step in range(600): seen.put(step, np.array([step]), oldest=100)
    >>> seen.rows[seen.row(100)].tolist(), len(seen.rows)
    ([100.0], 512)
    """

    def __init__(self, *shape: int) -> None:
        self.rows = np.zeros((_FIRST_DEPTH, *shape))

    def row(self, step: int) -> int:
        """Where a step is kept."""
        return step % len(self.rows)

    def full(self, step: int, oldest: int) -> bool:
        """Whether `step` would take the row of `oldest` or of the step after it."""
        return step - oldest >= len(self.rows) - 1

    def put(self, step: int, values: Floats, oldest: int) -> None:
        """Keep the values of `step`, and those of all steps from `oldest` on."""
        while self.full(step, oldest):
            depth = len(self.rows)
            steps = np.arange(max(step - depth + 1, 0), step)
            wider = np.zeros((2 * depth, *self.rows.shape[1:]))
            wider[steps % (2 * depth)] = self.rows[steps % depth]
            self.rows = wider
        self.rows[step % len(self.rows)] = values


def picked(index: Ints, n: int) -> Ints | slice:
    """The index itself, or the slice that says "all as they are": numpy then copies nothing.

    >>> picked(np.array([0, 1]), 2), picked(np.array([1, 0]), 2).tolist()
    (slice(None, None, None), [1, 0])
    """
    return slice(None) if len(index) == n and bool((index == np.arange(n)).all()) else index
