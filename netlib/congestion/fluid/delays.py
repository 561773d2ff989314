"""Delays: equations whose right-hand side looks back in time, integrated for many scenarios at once.

A fluid model says how fast rates and queues change now, given what was seen a delay ago: y' = f(y(t), y(t - delay)).
The state of all scenarios is one flat array, and so is each row of the ring buffer that remembers the past; between two
rows a value is read on a straight line. A step is that of Adams and Bashforth with two points,

    y += step * (3/2 f(now) - 1/2 f(one step ago)),

which costs one evaluation and errs by step^2. Where a queue is empty, or the marks jump, it errs by one step: so the
error is measured and not assumed (`checked_step`). Before time 0 the past is the start.
Read with the chapter "Congestion control", section "Rates that react late".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class State:
    """One flat array and two views of it: `own` (variables, scenarios, flows) and `shared` (variables, scenarios, 1).

    >>> state = State.of(np.ones((2, 3, 4)), np.zeros((1, 3, 1)))
    >>> state.flat.shape, state.own.shape, state.shared.shape
    ((27,), (2, 3, 4), (1, 3, 1))
    """

    flat: Floats
    own: Floats
    shared: Floats

    @staticmethod
    def of(own: Floats, shared: Floats) -> "State":
        """A state that holds copies of these two blocks.

        >>> State.of(np.ones((1, 1, 1)), np.zeros((1, 1, 1))).flat.tolist()
        [1.0, 0.0]
        """
        flat = np.concatenate([own.ravel(), shared.ravel()]).astype(np.float64)
        return State(flat, flat[: own.size].reshape(own.shape), flat[own.size :].reshape(shared.shape))

    def places(self, variable: int) -> Indices:
        """Where one of each flow's own variables stands in the flat array, (scenarios, flows).

        >>> State.of(np.ones((2, 1, 2)), np.zeros((1, 1, 1))).places(1).tolist()
        [[2, 3]]
        """
        return np.arange(self.own.size).reshape(self.own.shape)[variable]

    def shared_places(self, variable: int) -> Indices:
        """The same for a shared variable, (scenarios, 1).

        >>> State.of(np.ones((2, 1, 2)), np.zeros((1, 1, 1))).shared_places(0).tolist()
        [[4]]
        """
        return self.own.size + np.arange(self.shared.size).reshape(self.shared.shape)[variable]


class Past:
    """What the state was: a ring of rows, one a step. Each row is kept twice, so that no reader has to wrap around.

    >>> past = Past(np.zeros(1), step=1.0, longest=3.0)
    >>> for y in (1.0, 2.0, 3.0): past.keep(np.array([y]))
    >>> past.read(np.array([0]), np.array([1.5])).tolist()
    [1.5]
    """

    def __init__(self, start: Floats, step: float, longest: float) -> None:
        self.step, self.size = step, start.size
        self.rows = int(np.ceil(longest / step)) + 2
        if self.rows * start.size > 2**28:
            raise ValueError(
                f"step = {step:g} needs {self.rows} rows of {start.size} numbers to look back {longest:g} s; "
                "give a longer step, fewer scenarios or shorter delays"
            )
        self.ring = np.tile(start, (2 * self.rows, 1))
        self._flat = self.ring.ravel()
        self._now = -1
        self._base = 0

    def keep(self, flat: Floats) -> None:
        """Remember the state as the newest row."""
        self._now = (self._now + 1) % self.rows
        self.ring[self._now] = flat
        self.ring[self._now + self.rows] = flat
        self._base = (self._now + self.rows) * self.size

    def read(self, places: Indices, lag: Floats) -> Floats:
        """The values at these places `lag` seconds ago, each with its own lag, at most the longest."""
        steps = lag * (1 / self.step)
        whole = np.minimum(steps.astype(np.int64), self.rows - 2)
        at = places - whole * self.size + self._base
        newer = self._flat[at]
        return np.asarray(newer + (steps - whole) * (self._flat[at - self.size] - newer))

    def reader(self, places: Indices, lag: Floats) -> Callable[[], Floats]:
        """`read` with lags that never change: what can be prepared is."""
        steps = np.broadcast_to(lag / self.step, places.shape)
        near = np.rint(steps)
        steps = np.where(np.abs(steps - near) < 1e-9 * np.maximum(near, 1.0), near, steps)  # 85e-6 / 1e-6 is 85
        whole = np.minimum(steps.astype(np.int64), self.rows - 2)
        part = steps - whole
        start = places - whole * self.size
        at, newer, older = np.empty_like(start), np.empty(start.shape), np.empty(start.shape)
        between = bool(part.any())

        def value() -> Floats:
            np.add(start, self._base, out=at)
            np.take(self._flat, at, out=newer, mode="clip")
            if between:
                np.subtract(at, self.size, out=at)
                np.take(self._flat, at, out=older, mode="clip")
                np.subtract(older, newer, out=older)
                np.multiply(older, part, out=older)
                np.add(newer, older, out=newer)
            return newer

        return value


Slope = Callable[[State], None]
"""Writes dy/dt into a state of the same shape."""
Equations = Callable[[State, Past], Slope]
"""Given the state (updated in place) and its past, the function that writes the slope."""


@dataclass(frozen=True)
class Traces:
    """What a run of a fluid model showed, thinned; SI units.

    time   (samples,) s
    queue  (scenarios, samples) bytes
    rate   (scenarios, flows, samples) bytes/s of ONE flow (a class of identical flows is one row)
    own    further variables of each flow by name, as `rate`
    shared further variables of the bottleneck by name, as `queue`
    flows  (scenarios, flows): how many flows each row stands for
    step   s
    """

    time: Floats
    queue: Floats
    rate: Floats
    flows: Floats
    step: float
    own: Mapping[str, Floats] = field(default_factory=dict)
    shared: Mapping[str, Floats] = field(default_factory=dict)

    def settled(self, since: float) -> "Settled":
        """Mean, least and greatest queue from `since` seconds on, and the share of that time it was empty.

        >>> t = np.arange(4.0)
        >>> Traces(t, t[None] * 10, t[None, None], np.ones((1, 1)), 1.0).settled(2.0).mean.tolist()
        [25.0]
        """
        kept = self.queue[:, self.time >= float(floats("since", since))]
        if not kept.shape[1]:
            raise ValueError(f"since = {since:g} is after the run's end at {self.time[-1]:g} s; give an earlier time")
        return Settled(kept.mean(axis=1), kept.min(axis=1), kept.max(axis=1), (kept <= 0).mean(axis=1))


@dataclass(frozen=True)
class Settled:
    """The queue late in a run, one value a scenario: bytes, and the share of the time that it was empty."""

    mean: Floats
    least: Floats
    most: Floats
    idle: Floats


@declared
def integrate(
    equations: Callable[[State, Past], Slope],
    start: State,
    low: State,
    high: State,
    seconds: float,
    step: float,
    longest: float,
    every: int,
) -> tuple[Floats, Floats]:
    """Times (samples,) and flat states (samples, numbers), each `every` steps, the start included.

    After each step every number is held between `low` and `high`: no queue is negative, no rate above its link.

    >>> start, low, high = (State.of(np.full((0, 1, 1), 0.0), np.full((1, 1, 1), v)) for v in (1.0, 0.0, 9.0))
    >>> def decay(state, past):  # y' = -y(t - 1): at t = 1 exactly 0
    ...     ago = past.reader(state.shared_places(0), np.array([[1.0]]))
    ...     def slope(out): out.shared[0] = -ago()
    ...     return slope
    >>> time, y = integrate(decay, start, low, high, seconds=1.0, step=0.25, longest=1.0, every=2)
    >>> time.tolist(), y.ravel().tolist()
    ([0.0, 0.5, 1.0], [1.0, 0.5, 0.0])
    """
    floats("seconds", seconds, above=True)
    floats("step", step, above=True)
    if every < 1:
        raise ValueError(f"every = {every} keeps no sample; give 1 or more steps")
    steps = int(np.ceil(seconds / step - 1e-9))
    state = State.of(start.own, start.shared)
    slope, before = State.of(start.own, start.shared), np.empty_like(start.flat)
    change = np.empty_like(before)
    past = Past(state.flat, step, longest)
    past.keep(state.flat)
    write = equations(state, past)
    kept = np.empty((steps // every + 1, state.flat.size))
    kept[0] = state.flat
    with np.errstate(over="ignore", under="ignore"):
        for at in range(1, steps + 1):
            write(slope)
            np.multiply(slope.flat, step / 2, out=slope.flat)
            if at == 1:  # there is no step ago: Euler's
                before[:] = slope.flat
            np.multiply(slope.flat, 3.0, out=change)
            np.subtract(change, before, out=change)
            before[:] = slope.flat
            np.add(state.flat, change, out=state.flat)
            np.maximum(state.flat, low.flat, out=state.flat)
            np.minimum(state.flat, high.flat, out=state.flat)
            past.keep(state.flat)
            if at % every == 0:
                kept[at // every] = state.flat
    return np.arange(len(kept)) * (every * step), kept


@dataclass(frozen=True)
class CheckedRun:
    """A run, and by what share of the largest queue its numbers moved when its step was halved (one a scenario)."""

    traces: Traces
    error: Floats

    @property
    def holds(self) -> bool:
        """Whether no scenario moved by more than one per cent."""
        return bool((self.error <= 0.01).all())


def checked_step(
    run: Callable[[float], Traces], step: float, tolerance: float = 0.01, halvings: int = 3
) -> CheckedRun:
    """The run with the longest step, `step` halved as often as needed, that halving once more hardly changes.

    Compared are mean, least and greatest queue in the second half of the run: a limit cycle keeps them, though not its
    phase. After `halvings` the last run is returned with its error: look at `holds`.

    >>> def run(step): return Traces(np.arange(3.0), np.full((1, 3), 800.0 + step), np.ones((1, 1, 3)), np.ones((1, 1)), step)
    >>> found = checked_step(run, 1.0)
    >>> found.traces.step, found.holds
    (0.5, True)
    """
    floats("step", step, above=True)
    floats("tolerance", tolerance, above=True)
    coarse = run(step)
    for _ in range(max(int(halvings), 1)):
        fine = run(coarse.step / 2)
        error = _moved(coarse, fine)
        coarse = fine
        if (error <= tolerance).all():
            break
    return CheckedRun(coarse, error)


def _moved(a: Traces, b: Traces) -> Floats:
    """By what share of the largest queue two runs differ late, one value a scenario."""
    halves = a.settled(a.time[-1] / 2), b.settled(b.time[-1] / 2)
    sides = [np.stack([each.mean, each.least, each.most]) for each in halves]
    most = np.maximum(np.maximum(a.queue.max(axis=1), b.queue.max(axis=1)), 1.0)
    return np.asarray(np.abs(sides[0] - sides[1]).max(axis=0) / most)


def columns(**given: ArrayLike) -> dict[str, Floats]:
    """Each argument as one number a scenario, (scenarios, 1); single numbers serve all scenarios.

    >>> {name: each.ravel().tolist() for name, each in columns(capacity=5e9, delay=[1e-6, 2e-6]).items()}
    {'capacity': [5000000000.0, 5000000000.0], 'delay': [1e-06, 2e-06]}
    """
    arrays = {name: np.atleast_1d(floats(name, value)) for name, value in given.items()}
    lengths = {each.size for each in arrays.values()} - {1}
    if len(lengths) > 1 or any(each.ndim > 1 for each in arrays.values()):
        shapes = ", ".join(f"{name} has shape {each.shape}" for name, each in arrays.items())
        raise ValueError(f"{shapes}: give one number, or one for each scenario")
    many = max([1, *lengths])
    return {name: np.broadcast_to(each, (many,)).reshape(many, 1).copy() for name, each in arrays.items()}
