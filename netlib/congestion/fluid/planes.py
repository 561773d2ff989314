"""Phase planes: voltage, current and power, three ways to read a queue, drawn as where they push window and queue.

All flows together hold w bytes; the queue is q, the round trip theta = q / C + tau. Each law compares what it sees, f,
with what it would see at rest, e, and adds beta:

    w' = gain (w e / f - w + beta),     q' = w / theta - C

    voltage   f = q + C tau                e = C tau       the state: DCTCP, Swift, HPCC
    current   f = q' / C + 1               e = 1           its change: TIMELY
    power     f = (q + C tau)(q' + C)      e = C^2 tau     both: PowerTCP

Voltage and power rest at one point, (w, q) = (C tau + beta, beta). Current sees no difference between one queue and
another: without beta every q is a rest, with it none is. Feedback is taken to be at once, as in the paper's figure.
Read with the chapter "Congestion control", section "Delay and telemetry". Source: Addanki, Michel and Schmid,
"PowerTCP" (NSDI 2022), sections 2 and 3 and appendix A.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula, one_of

KINDS = ("voltage", "current", "power")
Kind = Literal["voltage", "current", "power"]


@dataclass(frozen=True)
class Plane:
    """One law at one bottleneck.

    kind      what it sees: "voltage", "current" or "power"
    capacity  C, bytes/s
    rtt       tau, s without queue
    beta      bytes that all flows add together
    gain      1/s: weight of a new window per time between updates, gamma / dt
    """

    kind: Kind
    capacity: float
    rtt: float
    beta: float
    gain: float

    def __post_init__(self) -> None:
        one_of("kind", self.kind, KINDS)
        for name in ("capacity", "rtt", "gain"):
            floats(name, getattr(self, name), above=True)
        floats("beta", self.beta)

    @formula
    def push(self, window: ArrayLike, queue: ArrayLike) -> tuple[Floats, Floats]:
        """(w', q') in bytes/s at these windows and queues: the vector field. An empty queue does not fall.

        >>> plane = Plane("power", 12.5e9, 20e-6, beta=10e3, gain=45e3)
        >>> [each.round(3).tolist() for each in plane.push([260e3, 270e3], [10e3, 10e3])]  # the first is its rest
        [[0.0, -450000000.0], [0.0, 480769230.769]]
        """
        w, q = floats("window", window), floats("queue", queue)
        full = self.capacity * self.rtt
        arrival = w / (q / self.capacity + self.rtt)
        change = np.where(q > 0, arrival - self.capacity, np.maximum(arrival - self.capacity, 0.0))
        sent = np.where(q > 0, self.capacity, np.minimum(arrival, self.capacity))
        seen: dict[str, Floats] = {  # e / f
            "voltage": full / (q + full),
            "current": self.capacity / np.maximum(change + sent, 1e-9 * self.capacity),
            "power": full * self.capacity / ((q + full) * np.maximum(change + sent, 1e-9 * self.capacity)),
        }
        return np.asarray(self.gain * (w * (seen[self.kind] - 1) + self.beta)), np.asarray(change)

    @property
    def rest(self) -> tuple[float, float] | None:
        """(w, q) where nothing moves: (C tau + beta, beta); None for current, which has no point of its own.

        >>> Plane("voltage", 10e9, 25e-6, beta=10e3, gain=36e3).rest
        (260000.0, 10000.0)
        """
        return None if self.kind == "current" else (self.capacity * self.rtt + self.beta, self.beta)

    @property
    def decay(self) -> Floats:
        """1/s: the two eigenvalues at rest, smallest size first; below 0 disturbances die out.

        Power has -1 / theta, theta the round trip at rest, and -gain: the paper's -1 / tau and -gamma / dt, with tau
        for theta, which holds where beta is small.

        >>> Plane("power", 12.5e9, 20e-6, beta=0.0, gain=45e3).decay.round().tolist()
        [-45000.0, -50000.0]
        """
        if self.rest is None:
            raise ValueError("kind = 'current' has no point of rest to linearise at; give 'voltage' or 'power'")
        w, q = self.rest
        full, theta = self.capacity * self.rtt, w / self.capacity
        by_q = -w * full / (q + full) ** 2
        by_w = full / (q + full) - 1
        if self.kind == "power":
            by_w, by_q = -1.0, 0.0  # w / f is then a constant: bytes cancel
        matrix = np.array([[self.gain * by_w, self.gain * by_q], [1 / theta, -1 / theta]])
        found = np.linalg.eigvals(matrix)
        return np.asarray(found[np.argsort(np.abs(found))])


@declared
@formula
def plane_path(plane: Plane, window: ArrayLike, queue: ArrayLike, seconds: float, points: int = 200) -> Floats:
    """Where a point of the plane goes: (points, 2, starts) of window and queue in bytes. Starts broadcast.

    >>> plane = Plane("power", 12.5e9, 20e-6, beta=10e3, gain=45e3)
    >>> plane_path(plane, [100e3, 500e3], [0.0, 200e3], 1e-3)[-1].round().tolist()  # both reach the rest
    [[260000.0, 260000.0], [10000.0, 10000.0]]
    """
    floats("seconds", seconds, above=True)
    if points < 2:
        raise ValueError(f"points = {points} draws no path; give 2 or more")
    w, q = (
        each.astype(float).ravel() for each in np.broadcast_arrays(floats("window", window), floats("queue", queue))
    )
    steps = seconds * max(plane.gain, 1 / plane.rtt) * 5
    if max(steps, points) > 2e4:
        raise ValueError(f"seconds = {seconds:g} takes {max(steps, points):.3g} steps; give less time or points")
    # a step well below both times of the law; Runge and Kutta's fourth order then errs by less than a line's width
    inner = max(1, int(np.ceil(steps / (points - 1))))
    step = seconds / (points - 1) / inner
    path = np.empty((points, 2, w.size))
    path[0] = w, q
    at = path[0].copy()
    for i in range(1, points):
        for _ in range(inner):
            k1 = np.stack(plane.push(*at))
            k2 = np.stack(plane.push(*np.maximum(at + step / 2 * k1, 0.0)))
            k3 = np.stack(plane.push(*np.maximum(at + step / 2 * k2, 0.0)))
            k4 = np.stack(plane.push(*np.maximum(at + step * k3, 0.0)))
            at = np.maximum(at + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4), 0.0)
        path[i] = at
    return path


@declared
@formula
def power_left(time: ArrayLike, gain: ArrayLike) -> Floats:
    """Share of a disturbance of PowerTCP's window that is left after `time` s: exp(-gain time), gain = gamma / dt.

    >>> power_left(5 / 45e3, 45e3).round(4).tolist()  # after 5 dt / gamma, 99.3 % is gone
    0.0067
    """
    return np.asarray(np.exp(-floats("time", time) * floats("gain", gain)))
