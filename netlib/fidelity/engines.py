"""Engines: one collective by closed form, by counting an executed schedule, and by simulation, on random cases.

The three share no formula. The closed form knows ranks, bytes and links. The count adds up what the messages of a
schedule put on the busiest port of each step. The simulation routes them over a built fabric and shares its links. The
sums themselves are checked on real numbers. Read with the chapter "Collectives", section "Three engines, one answer".
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.random import Generator

from netlib.arguments import Floats
from netlib.collectives import Schedule, Step, Wiring, is_correct, simulate
from netlib.fidelity.agreement import gap
from netlib.links import Link
from netlib.topology import Fabric

EXACT = 1e-9
CASES, SEED = 6, 4


@dataclass(frozen=True)
class Net:
    """What a random case runs on: `up` inside a node, `out` between nodes, or any two; `gamma` seconds a byte added."""

    up: Link
    out: Link
    gamma: float = 0.0


Shape = tuple[int, ...]
Kind = Literal["exact", "above", "below", "near"]


VERDICTS = {"exact": "exact", "above": "a bound from above", "below": "a bound from below", "near": "near"}


@dataclass(frozen=True)
class Algorithm:
    """One algorithm of one collective, ready for all three engines.

    op, name  the collective and the algorithm, as the table prints them
    closed    closed(size, net, *shape): seconds by formula
    made      made(*shape): the schedule
    fabric    fabric(net, *shape): the network that it is simulated on
    shapes    shapes(rng): a random shape, ranks first or the two factors of them
    ports     "rank": all that a rank sends of one kind shares its port; "pair": each two ranks have a cable
    nodes     nodes(*shape): ranks in a node, if messages inside nodes take `up`; otherwise all take `out`
    kind      "exact"; or the closed form lies "above", "below" or "near" the other two, never more than `slack` away
    slack     slack(size, net, *shape): seconds
    reason    why it is a bound
    adds      whether the closed form knows the price of adding
    latency   whether a message has any; without, bytes alone are compared
    pace      of the simulation
    """

    op: str
    name: str
    closed: Callable[..., Floats | float]
    made: Callable[..., Schedule]
    fabric: Callable[..., Fabric | Wiring]
    shapes: Callable[[Generator], Shape]
    ports: Literal["rank", "pair"] = "rank"
    nodes: Callable[..., int] | None = None
    kind: Kind = "exact"
    slack: Callable[..., Floats | float] | None = None
    reason: str = ""
    adds: bool = False
    latency: bool = True
    pace: str = "step"

    @property
    def id(self) -> str:
        """Its name beside all others."""
        return f"{self.op}, {self.name}"

    def counted(self, schedule: Schedule, size: float, net: Net, *shape: int) -> float:
        """Seconds by the messages of the schedule."""
        inside = self.nodes(*shape) if self.nodes else 0
        return counted(schedule, size, net, inside, self.ports, overlap=self.pace == "data")

    def simulated(self, schedule: Schedule, size: float, net: Net, *shape: int) -> float:
        """Seconds on the fabric."""
        return simulate(schedule, self.fabric(net, *shape), size, gamma=net.gamma, pace=self.pace).seconds


def counted(
    schedule: Schedule,
    size: float,
    net: Net,
    inside: int = 0,
    ports: Literal["rank", "pair"] = "rank",
    overlap: bool = False,
) -> float:
    """Seconds of steps in lockstep, each as long as its busiest port needs, counted message by message.

    Of what a rank sends and receives in a step, all inside its node (of `inside` ranks) goes through one port at `up`,
    all else through another at `out`; to a switch that adds it is half of the way. ports = "pair" gives each two ranks
    a cable of their own. The largest sum that a rank must add comes on top. With `overlap` a phase begins when its
    channel is free and the phases that touched its chunks are done; otherwise when the one before it is done.

    >>> from netlib.collectives import ring_allreduce
    >>> round(counted(ring_allreduce(8), 4e9, Net(Link(0, 1), Link(2e-6, 50e9))), 9)
    0.140028
    """
    volume, now = schedule.bytes_of(size), 0.0
    free: dict[int, float] = {}
    done = np.zeros(schedule.chunks)
    for part in schedule.phases:
        steps = list(replace(schedule, phases=(part,)).written_out())
        touched = np.concatenate([np.zeros(0, np.int32), *(step.chunk for step in steps)])
        begin = max(free.get(part.channel, 0.0), float(done[touched].max(initial=0))) if overlap else now
        now = begin + sum(_step(schedule, step, volume[step.chunk], net, inside, ports) for step in steps)
        free[part.channel] = now
        done[touched] = now
    return float(done.max(initial=0))


def _step(schedule: Schedule, step: Step, sent: Floats, net: Net, inside: int, ports: str) -> float:
    """Seconds of one step, whose entries carry `sent` bytes."""
    src, dst = step.src.astype(np.int64), step.dst.astype(np.int64)
    pair = src * (schedule.n + schedule.switches) + dst
    up = np.maximum(src, dst) >= schedule.n
    near = (src // inside == dst // inside) & ~up if inside else np.zeros(src.size, bool)
    half = Link(np.asarray(net.out.alpha) / 2, net.out.bandwidth)
    slowest = 0.0
    for link, these in ((net.up, near), (half, up), (net.out, ~near & ~up)):
        if these.any():
            ends = (pair,) if ports == "pair" else (src, dst)
            busiest = max(float(np.bincount(end[these], sent[these]).max()) for end in ends)
            slowest = max(slowest, float(link.time(busiest)))
    return slowest + (net.gamma and net.gamma * float(np.bincount(pair, sent * step.add, 1).max()))


@dataclass(frozen=True, eq=False)
class Compared:
    """An algorithm in all engines on K random cases.

    correct                     (K,) whether everybody got its sum, executed on real numbers
    closed, counted, simulated  (K,) seconds
    slack                       (K,) seconds that a bound may be off
    """

    algorithm: Algorithm
    shapes: tuple[Shape, ...]
    correct: np.ndarray
    closed: Floats
    counted: Floats
    simulated: Floats
    slack: Floats

    @property
    def counted_gap(self) -> float:
        """Largest relative gap between closed form and count."""
        return gap(self.closed, self.counted)

    @property
    def simulated_gap(self) -> float:
        """Largest relative gap between closed form and simulation."""
        return gap(self.closed, self.simulated)

    @property
    def executed_gap(self) -> float:
        """Largest relative gap between count and simulation."""
        return gap(self.counted, self.simulated)

    @property
    def off(self) -> Floats:
        """(K,) by how much, relatively, each case breaks what is claimed; beyond `EXACT` it does."""
        more, slack = self.closed - self.counted, self.slack
        broken = {
            "exact": np.maximum(np.abs(more), np.abs(self.closed - self.simulated)),
            "above": np.maximum(-more, more - slack),
            "below": np.maximum(more, -more - slack),
            "near": np.abs(more) - slack,
        }[self.algorithm.kind]
        scale = np.maximum.reduce([self.closed, self.counted, self.simulated])
        return np.asarray(np.maximum(broken, np.abs(self.counted - self.simulated)) / np.where(scale > 0, scale, 1))

    @property
    def holds(self) -> bool:
        """Whether the sums are right and the three agree, or the closed form is the bound that it claims to be."""
        return bool(self.correct.all() and (self.off <= EXACT).all())

    @property
    def verdict(self) -> str:
        """What a page says of it: of an agreement its kind, of a parting its worst case."""
        if self.holds:
            return VERDICTS[self.algorithm.kind]
        if not self.correct.all():
            return f"wrong sum for {self._shape(int(np.argmin(self.correct)))}"
        i = int(np.argmax(self.off))
        times = (self.closed[i], self.counted[i], self.simulated[i])
        return f"they part: {self._shape(i)}: {', '.join(f'{each:.6g}' for each in times)} s"

    def _shape(self, i: int) -> str:
        return " x ".join(map(str, self.shapes[i]))


def cases(algorithm: Algorithm, many: int = CASES, seed: int = SEED) -> Iterator[tuple[float, Net, Shape]]:
    """Random cases: (size, net, shape). Sizes from 1 B to 3 GB, latencies and rates over three decades.

    >>> from netlib.fidelity.algorithms import algorithm
    >>> size, net, shape = next(cases(algorithm("all-reduce, ring")))
    >>> size > 0, net.out.alpha > 0, len(shape)
    (True, True, 1)
    """
    rng = np.random.default_rng([seed, *algorithm.id.encode()])
    for _ in range(many):
        size = 10 ** rng.uniform(0, 9.5)
        alphas, rates = 10 ** rng.uniform(-7, -4, 2) * algorithm.latency, 10 ** rng.uniform(9.5, 12, 2)
        gamma = 10 ** rng.uniform(-13, -10)
        net = Net(Link(alphas[0], rates[0]), Link(alphas[1], rates[1]), gamma if algorithm.adds else 0.0)
        yield size, net, tuple(int(each) for each in algorithm.shapes(rng))


def compared(algorithm: Algorithm, many: int = CASES, seed: int = SEED) -> Compared:
    """Run an algorithm through all engines.

    >>> from netlib.fidelity.algorithms import algorithm
    >>> compared(algorithm("all-reduce, ring"), many=3).verdict
    'exact'
    """
    drawn = list(cases(algorithm, many, seed))
    rng = np.random.default_rng(seed)
    slack = algorithm.slack or (lambda *_: 0.0)
    times, correct = [], []
    for size, net, shape in drawn:
        schedule = algorithm.made(*shape)
        engines = (each(schedule, size, net, *shape) for each in (algorithm.counted, algorithm.simulated))
        times.append([float(algorithm.closed(size, net, *shape)), *engines, float(slack(size, net, *shape))])
        correct.append(_right(schedule, rng))
    return Compared(algorithm, tuple(shape for *_, shape in drawn), np.array(correct), *np.array(times).T)


def _right(schedule: Schedule, rng: Generator) -> bool:
    """Whether it is correct; what cannot be executed is not."""
    try:
        return is_correct(schedule, rng)
    except ValueError:
        return False
