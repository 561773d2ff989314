"""Loops: whether a small disturbance of a fluid model dies out, read from the frequencies it passes around.

Near its fixed point a model is linear: with x what each flow holds (its rate first), z = exp(-s tau) a delay and p
the marks that the queue's change k N/s R sends back,

    s x = A x + z (a R + b p),         1 + L(s) = 0 decides.

L is the loop's gain once around. Where |L| = 1 the angle left until -1 is the phase margin: above 0 disturbances die
out. L depends on where the loop is cut. Cut at the marks, the rate's own memory stays inside; cut at the delay, all
that comes late is outside, and the delay that uses up the angle is the critical one. Both cuts agree on the sign while
the rate comes to rest by its own memory; where that alone makes it swing, no angle outside can tell.
Read with the chapter "Congestion control", section "Rest and stability". The method is in any text on feedback.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, declared, floats, formula, one_of

Complex = NDArray[np.complexfloating[Any, Any]]
Ints = NDArray[np.int64]
LoopOf = Callable[[Ints], Callable[[Floats], Complex]]
"""Given numbers of cases (n,), their L: takes omega (n, frequencies)."""
OMEGAS = np.geomspace(1.0, 1e7, 241)
"""Radians per second that are searched for |L| = 1: from a second to a tenth of a microsecond."""
FINER = np.geomspace(1.0, 1e7, 16 * 240 + 1)
"""The same, sixteen times finer: for signals that turn by much from one of `OMEGAS` to the next."""
TURN, STRIDE = 0.3, 2.5
"""Radians between two frequencies beyond which the finer ones are searched, and up to which whole turns are counted."""
PART = 1024
"""Cases that are searched at a time; with the finer frequencies a sixteenth of them."""
CROSSINGS = 3
HALVINGS = 36


@dataclass(frozen=True)
class Loop:
    """A linearised model: x = (R, ...) with three entries, arrays (..., 3, 3) and (..., 3) over all cases.

    now       A: what x does at once
    late      a: what R does a delay later
    marks     b: what the share of marks does a delay later
    gain      k N: marks per second for each unit of a flow's rate, from the queue's height
    integral  the same from the queue's sum over time (a PI controller); 0 without
    """

    now: Floats
    late: Floats
    marks: Floats
    gain: Floats
    integral: Floats

    def parts(self, s: Complex) -> tuple[Complex, Complex, Complex]:
        """(n, d, e): R answers the marks with z n / (d + z e). s (..., frequencies)."""
        a = self.now[..., None]
        m = [[(s if i == j else 0) - a[..., i, j, :] for j in range(3)] for i in range(3)]
        cofactors = (
            m[1][1] * m[2][2] - m[1][2] * m[2][1],
            m[0][2] * m[2][1] - m[0][1] * m[2][2],
            m[0][1] * m[1][2] - m[0][2] * m[1][1],
        )
        late, marks = self.late[..., None], self.marks[..., None]
        n, e = (sum(each[..., i, :] * cofactors[i] for i in range(3)) for each in (marks, late))
        d = sum(m[i][0] * cofactors[i] for i in range(3))
        return np.asarray(n), np.asarray(d), np.asarray(-e)

    def at_marks(self, omega: Floats, delay: Floats) -> Complex:
        """L cut at the marks: -(k N / s) z n / (d + z e). omega (..., frequencies), delay (...)."""
        s = 1j * omega
        z = np.exp(-s * delay[..., None])
        n, d, e = self.parts(s)
        return np.asarray(-self._fed(s) * z * n / (d + z * e))

    def at_delay(self, omega: Floats, delay: Floats) -> Complex:
        """L cut at the delay: -z ((k N / s) n - e) / d."""
        s = 1j * omega
        n, d, e = self.parts(s)
        return np.asarray(-np.exp(-s * delay[..., None]) * (self._fed(s) * n - e) / d)

    def _fed(self, s: Complex) -> Complex:
        """What the switch makes of a change of one flow's rate, all flows alike."""
        return np.asarray((self.gain[..., None] + self.integral[..., None] / s) / s)

    def part(self, cases: Ints) -> "Loop":
        """Only these cases, counted through all: (n,) numbers of them."""
        ends = {"now": (3, 3), "late": (3,), "marks": (3,)}
        return Loop(**{name: each.reshape(-1, *ends.get(name, ()))[cases] for name, each in vars(self).items()})

    def over(self, shape: tuple[int, ...]) -> "Loop":
        """The loop with its cases broadcast to a shape, as numpy broadcasts."""
        ends = {"now": (3, 3), "late": (3,), "marks": (3,)}
        spread = {}
        for name, each in vars(self).items():
            end = ends.get(name, ())
            lead = each.shape[: each.ndim - len(end)]
            spread[name] = np.broadcast_to(each.reshape((1,) * (len(shape) - len(lead)) + lead + end), shape + end)
        return Loop(**spread)


def crossings(loop: Callable[[Floats], Complex], passed: Complex, grid: Floats = OMEGAS) -> Floats:
    """Where |L| = 1, rad/s, (..., 3): nan where there are fewer; `loop` takes omega (..., frequencies).

    `passed` (..., frequencies) is L on the grid, from 1 to 1e7 rad/s, where they are searched. A loop that is still
    above 1 at the end raises ValueError: nothing in it is so fast.

    >>> loop = lambda w: 1e3 / (1j * w)
    >>> [round(float(w), 6) for w in crossings(loop, loop(OMEGAS))]
    [1000.0, nan, nan]
    """
    above, cases = np.abs(passed) > 1, passed.shape[:-1]
    if above[..., -1].any():
        raise ValueError(f"loop reacts faster than {grid[-1]:g} rad/s; check units: give bytes, seconds and bytes/s")
    change = above[..., 1:] != above[..., :-1]
    order = np.cumsum(change, axis=-1)
    found = np.full((*cases, CROSSINGS), np.nan)
    for k in range(CROSSINGS):
        here = change & (order == k + 1)
        some = here.any(axis=-1)
        if not some.any():
            break
        at = np.argmax(here, axis=-1)
        left, right = np.log(grid[at]), np.log(grid[at + 1])
        first = np.take_along_axis(above, at[..., None], axis=-1)[..., 0]
        for _ in range(HALVINGS):
            middle = (left + right) / 2
            same = (np.abs(loop(np.exp(middle)[..., None])[..., 0]) > 1) == first
            left, right = np.where(same, middle, left), np.where(same, right, middle)
        found[..., k] = np.where(some, np.exp(right), np.nan)
    return found


def lag_left(loop_of: LoopOf, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Frequencies with |L| = 1, and the angle of -L there in radians, both (..., 3); nan and inf where there are fewer.

    The angle is followed from the lowest frequency on: a signal a whole turn late is no signal in time. A signal some
    ninety turns late turns too fast to be counted from one frequency to the next: -inf.

    >>> late = lambda cases: lambda w: 1e3 / (1j * w) * np.exp(-2j * np.pi * w / 1e3)
    >>> (np.degrees(lag_left(late, ())[1]).round(3) + 0.0).tolist()
    [-270.0, inf, inf]
    """
    number = int(np.prod(shape))
    omega, angle = np.full((number, CROSSINGS), np.nan), np.full((number, CROSSINGS), np.inf)
    for first in range(0, number, PART):
        cases = np.arange(first, min(first + PART, number))
        omega[cases], angle[cases], turns = _lag(loop_of(cases), cases.size, OMEGAS)
        late, some = cases[turns > TURN], PART // 16
        for at in range(0, late.size, some):
            few = late[at : at + some]
            omega[few], angle[few], _ = _lag(loop_of(few), few.size, FINER)
    return omega.reshape(*shape, CROSSINGS), angle.reshape(*shape, CROSSINGS)


def _lag(loop: Callable[[Floats], Complex], cases: int, grid: Floats) -> tuple[Floats, Floats, Floats]:
    """The same for (cases, 3), and the most that L turns between two frequencies where it is not weak (cases,)."""
    passed = loop(np.broadcast_to(grid, (cases, grid.size)))
    followed = np.unwrap(np.angle(-passed), axis=-1)
    turned = np.abs(np.diff(followed, axis=-1))
    omega = crossings(loop, passed, grid)
    there = np.isfinite(omega)
    at = np.where(there, omega, 1.0)
    fast = turned > STRIDE
    counted = np.where(fast.any(axis=-1), grid[np.argmax(fast, axis=-1)], np.inf)  # beyond it turns may be missed
    near = np.take_along_axis(followed, np.minimum(np.searchsorted(grid, at), grid.size - 1), axis=-1)
    angle = np.angle(-loop(at))
    whole = angle + 2 * np.pi * np.round((near - angle) / (2 * np.pi))
    found = np.where(there, np.where(at <= counted[..., None], whole, -np.inf), np.inf)
    return omega, found, np.asarray((turned * (np.abs(passed[..., 1:]) > 0.5)).max(axis=-1))


def margin_of(loop_of: LoopOf, shape: tuple[int, ...]) -> Floats:
    """Phase margin in degrees: the least angle of -L over all frequencies with |L| = 1; inf if there is none.

    -inf: too late by more turns than can be counted.

    >>> found = [margin_of(lambda cases: lambda w: gain / (1j * w), ()) for gain in (1e3, 0)]
    >>> [float(each.round(6)) for each in found]
    [90.0, inf]
    """
    return np.asarray(np.degrees(lag_left(loop_of, shape)[1]).min(axis=-1))


@declared
@formula
def phase_margin(loop: Loop, delay: ArrayLike, cut: Literal["marks", "delay"] = "marks") -> Floats:
    """Degrees that are left until a disturbance grows; below 0 it grows. One for each case of the loop and delay.

    inf: no frequency passes at full strength. -inf: signals are some ninety turns late, or so late that, cut at the
    marks, the rate's own memory inside makes it swing.

    >>> from netlib.congestion.fluid.stability import dcqcn_loop
    >>> from netlib.congestion.parameters import Dcqcn, Marking
    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> loop = dcqcn_loop(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, 2)
    >>> phase_margin(loop, [0, 50e-6, 85e-6, 100e-6]).round(1).tolist()
    [20.4, 8.5, 0.1, -3.5]
    """
    one_of("cut", cut, ("marks", "delay"))
    late = floats("delay", delay)
    shape = np.broadcast_shapes(late.shape, loop.gain.shape)
    each, over = np.broadcast_to(late, shape).ravel(), loop.over(shape)

    def loop_of(cases: Ints, cut: str) -> Callable[[Floats], Complex]:
        some = over.part(cases)
        return lambda omega: getattr(some, f"at_{cut}")(omega, each[cases])

    found = margin_of(lambda cases: loop_of(cases, cut), shape)
    if cut == "marks":
        positive = np.flatnonzero(found > 0)
        other = margin_of(lambda cases: loop_of(positive[cases], "delay"), positive.shape)
        found.flat[positive[other < 0]] = -np.inf
    return found


@formula
def critical_delay(loop: Loop) -> Floats:
    """Seconds of feedback delay at which the margin is used up: the least angle(-L) / omega, cut at the delay.

    0 where even without delay disturbances grow, inf where no delay makes them grow.

    >>> from netlib.congestion.fluid.stability import dcqcn_loop
    >>> from netlib.congestion.parameters import Dcqcn, Marking
    >>> paper = Dcqcn("paper", 1/256, 55e-6, 50e-6, 50e-6, 55e-6, 10e6, 5, 5e6, 0.0, 0.0, 1.0, True)
    >>> found = critical_delay(dcqcn_loop(paper, Marking(k_min=5e3, k_max=200e3, p_max=0.01), 5e9, [2, 10]))
    >>> (found * 1e6).round(1).tolist()
    [85.6, 62.5]
    """
    whole = loop.over(loop.gain.shape)

    def loop_of(cases: Ints) -> Callable[[Floats], Complex]:
        some, none = whole.part(cases), np.zeros(cases.size)
        return lambda omega: some.at_delay(omega, none)

    omega, angle = lag_left(loop_of, loop.gain.shape)
    there = np.isfinite(omega)
    delay = np.where(there, np.maximum(angle, 0.0) / np.where(there, omega, 1.0), np.inf)
    return np.asarray(delay.min(axis=-1))
