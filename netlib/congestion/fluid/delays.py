"""Delays: equations whose right-hand side looks back in time, integrated for many scenarios at once.

A fluid model says how fast rates and queues change now, given what was seen a delay ago: y' = f(y(t), y(t - delay)).
The state of all scenarios is one flat array, and so is each row of the ring buffer that remembers the past; between two
rows a value is read on a straight line. A step is that of Adams and Bashforth with two points,

    y += step * (3/2 f(now) - 1/2 f(one step ago)),

which costs one evaluation and errs by step^2. Where a queue is empty, or the marks jump, it errs by one step: so the
error is measured and not assumed (`checked_step`). Before time 0 the past is the start.
Read with the chapter "Congestion control", section "Rest and stability".
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats

Indices = NDArray[np.int64]
MOST_STEPS = 2e7
MOST_NUMBERS = 2**28
"""What a run may take: some ten minutes for a single scenario, and 2 GiB."""


@dataclass(frozen=True)
class State:
    """One flat array and two views of it: `own` (variables, flows, scenarios) and `shared` (variables, 1, scenarios).

    >>> state = State.of(np.ones((2, 4, 3)), np.zeros((1, 1, 3)))
    >>> state.flat.shape, state.own.shape, state.shared.shape
    ((27,), (2, 4, 3), (1, 1, 3))
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
        """Where one of each flow's own variables stands in the flat array, (flows, scenarios).

        >>> State.of(np.ones((2, 2, 1)), np.zeros((1, 1, 1))).places(1).tolist()
        [[2], [3]]
        """
        return np.asarray(np.arange(self.own.size).reshape(self.own.shape)[variable])

    def shared_places(self, variable: int) -> Indices:
        """The same for a shared variable, (1, scenarios).

        >>> State.of(np.ones((2, 2, 1)), np.zeros((1, 1, 1))).shared_places(0).tolist()
        [[4]]
        """
        return np.asarray(self.own.size + np.arange(self.shared.size).reshape(self.shared.shape)[variable])


class Past:
    """What the state was: a ring of rows, one a step, read on straight lines between them.

    >>> past = Past(np.zeros(1), step=1.0, longest=3.0)
    >>> for y in (1.0, 2.0, 3.0): past.keep(np.array([y]))
    >>> past.read(np.array([0]), np.array([1.5])).tolist()
    [1.5]
    """

    def __init__(self, start: Floats, step: float, longest: float) -> None:
        self.step, self.size = step, start.size
        self.rows = int(np.ceil(longest / step)) + 2
        if self.rows * start.size > MOST_NUMBERS:
            raise ValueError(
                f"step = {step:g} needs {self.rows} rows of {start.size} numbers to look back {longest:g} s; "
                "give a longer step, fewer scenarios or shorter delays"
            )
        self.ring = np.tile(start, (self.rows, 1))
        self._flat = self.ring.ravel()
        self._now = -1
        self.kept = 0

    def keep(self, flat: Floats) -> None:
        """Remember the state as the newest row."""
        self._now = (self._now + 1) % self.rows
        self.ring[self._now] = flat
        self.kept += 1

    @property
    def time(self) -> float:
        """Seconds since the start, which is the first row kept."""
        return (self.kept - 1) * self.step

    def read(self, places: Indices, lag: Floats) -> Floats:
        """The values at these places `lag` seconds ago, each with its own lag, at most the longest."""
        steps = lag * (1 / self.step)
        whole = np.minimum(steps.astype(np.int64), self.rows - 2)
        at = places + (self._now - whole) * self.size
        newer = self._flat.take(at, mode="wrap")
        return np.asarray(newer + (steps - whole) * (self._flat.take(at - self.size, mode="wrap") - newer))

    def reader(self, places: Indices, lag: Floats, most: int) -> Callable[[int], Floats]:
        """`read` with lags that never change, for up to `most` steps from now on: (steps, *places.shape).

        Nobody can look ahead: with a lag of L steps the state now and before serves the next L + 1 of them.
        """
        steps = np.broadcast_to(in_steps(lag, self.step), places.shape)
        whole = np.minimum(steps.astype(np.int64), self.rows - 2)
        part, between = steps - whole, bool((steps != whole).any())
        start = places - whole * self.size + np.arange(most).reshape(-1, *(1 for _ in places.shape)) * self.size

        def values(count: int) -> Floats:
            at = start[:count] + self._now * self.size
            newer = self._flat.take(at, mode="wrap")
            if between:
                at -= self.size
                older = self._flat.take(at, mode="wrap")
                older -= newer
                older *= part
                newer += older
            return np.asarray(newer)

        return values


def in_steps(lag: Floats, step: float) -> Floats:
    """A lag in steps, whole where only rounding keeps it from it: 85e-6 / 1e-6 is 85.

    >>> in_steps(np.array([85e-6, 2.5e-6]), 1e-6).round(6).tolist()
    [85.0, 2.5]
    """
    steps = lag / step
    near = np.rint(steps)
    return np.where(np.abs(steps - near) < 1e-9 * np.maximum(near, 1.0), near, steps)


def reach(lag: Floats, step: float) -> int:
    """How many steps ahead is known what a state at least `lag` ago does: 1 + the whole steps in it, at most 32.

    >>> reach(np.array([4e-6, 85e-6]), 1e-6)
    5
    """
    return int(min(in_steps(lag, step).min(), 31.0)) + 1


Ahead = Callable[[int], None]
"""Prepares what the next so many steps need of the past."""
Slope = Callable[[int, State], None]
"""Writes dy/dt of the k-th of them into a state of the same shape."""
Equations = Callable[[State, Past], tuple[Ahead, Slope]]
"""Given the state (updated in place) and its past, these two."""


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
    empty: Floats


@declared
def integrate(
    equations: Equations,
    start: State,
    low: State,
    high: State,
    seconds: float,
    step: float,
    longest: float,
    every: int,
    ahead: int = 1,
) -> tuple[Floats, Floats]:
    """Times (samples,) and flat states (samples, numbers), each `every` steps, the start included.

    `longest` s is how far the equations look back, `ahead` for how many steps at once (`reach`).
    After each step every number is held between `low` and `high`: no queue is negative, no rate above its link.

    >>> start, low, high = (State.of(np.full((0, 1, 1), 0.0), np.full((1, 1, 1), v)) for v in (1.0, 0.0, 9.0))
    >>> def decay(state, past):  # y' = -y(t - 1): at t = 1 exactly 0
    ...     def slope(k, out): out.shared[0] = -past.read(state.shared_places(0), np.array([[1.0]]))
    ...     return lambda count: None, slope
    >>> time, y = integrate(decay, start, low, high, seconds=1.0, step=0.25, longest=1.0, every=2)
    >>> time.tolist(), y.ravel().tolist()
    ([0.0, 0.5, 1.0], [1.0, 0.5, 0.0])
    """
    floats("seconds", seconds, above=True)
    floats("step", step, above=True)
    if every < 1:
        raise ValueError(f"every = {every} keeps no sample; give 1 or more steps")
    if seconds / step > MOST_STEPS:
        raise ValueError(f"seconds = {seconds:g} is {seconds / step:.3g} steps of {step:g} s; give a longer step")
    steps = int(np.ceil(seconds / step - 1e-9))
    if steps // every * start.flat.size > MOST_NUMBERS:
        raise ValueError(f"every = {every} keeps {steps // every:.3g} samples of each number; give a larger one")
    state = State.of(start.own, start.shared)
    slope, before = State.of(start.own, start.shared), np.empty_like(start.flat)
    change = np.empty_like(before)
    past = Past(state.flat, step, longest)
    past.keep(state.flat)
    prepare, write = equations(state, past)
    kept = np.empty((steps // every + 1, state.flat.size))
    kept[0] = state.flat
    with np.errstate(over="raise", divide="raise", invalid="raise", under="ignore"):
        for at in range(1, steps + 1):
            k = (at - 1) % ahead
            if k == 0:
                prepare(min(ahead, steps + 1 - at))
            write(k, slope)
            if at == 1:  # there is no step ago: Euler's
                np.multiply(slope.flat, step / 2, out=before)
            np.multiply(slope.flat, 1.5 * step, out=change)
            np.subtract(change, before, out=change)
            np.multiply(slope.flat, step / 2, out=before)
            np.add(state.flat, change, out=state.flat)
            np.maximum(state.flat, low.flat, out=state.flat)
            np.minimum(state.flat, high.flat, out=state.flat)
            past.keep(state.flat)
            if at % every == 0:
                kept[at // every] = state.flat
    return np.asarray(np.arange(len(kept)) * (every * step)), kept


@dataclass(frozen=True)
class CheckedRun:
    """A run, and by what share of the largest queue its numbers moved when its step was halved (one a scenario)."""

    traces: Traces
    error: Floats

    @property
    def holds(self) -> bool:
        """Whether no scenario moved by more than one per cent."""
        return bool((self.error <= 0.01).all())


def checked_step(run: Callable[[float], Traces], step: float, tolerance: float = 0.01, halvings: int = 3) -> CheckedRun:
    """The run with the longest step, `step` halved as often as needed, that halving once more hardly changes.

    Compared are mean, least and greatest queue in the second half of the run: a limit cycle keeps them, though not its
    phase. After `halvings` the last run is returned with its error: look at `holds`.

    >>> one = np.ones((1, 1))
    >>> def run(step): return Traces(np.arange(3.0), np.full((1, 3), 800.0 + step), one[..., None], one, step)
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


@dataclass(frozen=True)
class Jitter:
    """What chance adds to a delay: `draws` (intervals, 1, scenarios) in s, a new one each `hold` seconds."""

    draws: Floats
    hold: float

    @staticmethod
    def of(rng: Generator | None, most: float, hold: float, seconds: float, scenarios: int) -> "Jitter | None":
        """Uniform between 0 and `most` s; None if there is none.

        >>> made = Jitter.of(np.random.default_rng(0), 1e-4, 5e-5, 1e-3, 2)
        >>> made.draws.shape, Jitter.of(None, 0.0, 5e-5, 1e-3, 2)
        ((21, 1, 2), None)
        """
        if float(floats("jitter", most)) == 0:
            return None
        if rng is None:
            raise ValueError(f"jitter = {most:g} is drawn by chance; give rng=numpy.random.default_rng(0)")
        intervals = float(floats("seconds", seconds, above=True)) / hold
        if intervals * scenarios > MOST_NUMBERS:
            raise ValueError(f"seconds = {seconds:g} draws {intervals:.3g} jitters a scenario; give a shorter run")
        return Jitter(rng.uniform(0.0, most, (int(np.ceil(intervals - 1e-9)) + 1, 1, scenarios)), hold)

    def at(self, time: Floats) -> Floats:
        """The jitter at these times (flows or 1, scenarios); before 0 it is the first."""
        index = np.clip((time / self.hold).astype(np.int64), 0, len(self.draws) - 1)
        return np.asarray(self.draws[index, 0, np.arange(index.shape[-1])])


def unfolded(like: State, y: Floats) -> tuple[Floats, Floats]:
    """What `integrate` returned as (variables, scenarios, flows, samples) and (variables, scenarios, samples).

    >>> state = State.of(np.ones((2, 4, 3)), np.zeros((1, 1, 3)))
    >>> [each.shape for each in unfolded(state, np.zeros((5, 27)))]
    [(2, 3, 4, 5), (1, 3, 5)]
    """
    own = y[:, : like.own.size].reshape(-1, *like.own.shape)
    shared = y[:, like.own.size :].reshape(-1, *like.shared.shape)
    return own.transpose(1, 3, 2, 0), shared[:, :, 0].transpose(1, 2, 0)


def rows(**given: ArrayLike) -> dict[str, Floats]:
    """Each argument as one number a scenario, (1, scenarios); single numbers serve all scenarios.

    >>> {name: each.ravel().tolist() for name, each in rows(capacity=5e9, delay=[1e-6, 2e-6]).items()}
    {'capacity': [5000000000.0, 5000000000.0], 'delay': [1e-06, 2e-06]}
    """
    arrays = {name: np.atleast_1d(floats(name, value)) for name, value in given.items()}
    lengths = {each.size for each in arrays.values()} - {1}
    if len(lengths) > 1 or 0 in lengths or any(each.ndim > 1 for each in arrays.values()):
        shapes = ", ".join(f"{name} has shape {each.shape}" for name, each in arrays.items())
        raise ValueError(f"{shapes}: give one number, or one for each scenario")
    many = max([1, *lengths])
    return {name: np.broadcast_to(each, (1, many)).copy() for name, each in arrays.items()}
