"""What a controller hears, said by hand: no engine behind it. And the incasts whose results others have published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from netlib.congestion.packets.engine import Run, Switches, run
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.traffic import Packet, Traffic, incast, together
from netlib.congestion.parameters import Control
from netlib.links import Link

LOG = 4096
# ns-3.39 (inet-tub/ns3-datacenter): star of 100 Gb/s, 3.5 us a cable, 1,000 B of data and 90 B of headers with INT
NS3 = (3.5e-6, Packet(1000, 1090))
# uet-htsim: fat tree whose only bottleneck is the last link; a star with the same round trip of 14.02 us stands for it
HTSIM = ((14.02e-6 - 2 * 4150 / 12.5e9) / 4, Packet(4086, 4150))


class Said:
    """Flows of one way over one queue, told by the test what comes back to them."""

    def __init__(self, traffic: Traffic, dt: float = 1e-7) -> None:
        self.flows = traffic.flows
        nics = SimpleNamespace(sent=np.zeros(self.flows), left=traffic.wire, flying=np.zeros(self.flows))
        self.paces: list[tuple[np.ndarray, np.ndarray]] = []  # what the NICs were told to change
        nics.change_pace = lambda before, after: self.paces.append((before.copy(), after.copy()))
        self.engine = SimpleNamespace(
            log=LOG, log_length=np.zeros((LOG, 1)), log_gone=np.zeros((LOG, 1)), dt=dt, nics=nics,
            at=SimpleNamespace(link=np.array([traffic.receiver[0]])), by_flow_mean=lambda each: each,
        )  # fmt: skip

    def says(self, acked=0.0, marked=0.0, lost=0.0, delay=0.0, step=0, length=0.0, gone=0.0, cnp=False):
        """One step's news: the stamps are of `step`."""
        self.engine.log_length[step % LOG], self.engine.log_gone[step % LOG] = length, gone
        full = [np.broadcast_to(np.asarray(each, float), self.flows).copy() for each in (acked, marked, lost, delay)]
        return Told(*full, np.broadcast_to(np.asarray(cnp, bool), self.flows).copy(), step, self.engine)


@dataclass
class Told:
    acked: np.ndarray
    marked: np.ndarray
    lost: np.ndarray
    wait: np.ndarray
    cnp: np.ndarray
    step: int
    _engine: SimpleNamespace

    def delay(self):
        return self.wait

    def hops(self):
        ones = np.ones(len(self.acked), int)
        yield ones > 0, 0 * ones, self.step * ones


@dataclass
class Seen:
    """One of the incasts of a run: completion times in us, queue in bytes."""

    finish: np.ndarray
    peak: float
    time: np.ndarray
    queue: np.ndarray

    @property
    def steady(self) -> float:
        """Mean queue between 30 and 90 % of the run, as the published runs were read."""
        last = self.finish.max() * 1e-6
        return float(self.queue[(self.time > 0.3 * last) & (self.time < 0.9 * last)].mean())


def incasts(
    control: Control, case: tuple[float, Packet], senders: Sequence[int], switches: Switches | None = None,
    size: float = 2e6, dt: float = 0.5e-6, seed: int = 1,
) -> tuple[list[Seen], Run]:  # fmt: skip
    """Incasts side by side; senders start within the time that one packet of each takes on the last link."""
    latency, packet = case
    rng = np.random.default_rng(seed)
    link, slot = Link(latency, 12.5e9), packet.wire / 12.5e9
    parts = [incast(n, size, link, packet, start=rng.permutation(n) * slot + rng.uniform(0, slot, n)) for n in senders]
    traffic = together(parts)
    lossy = switches is not None and switches.buffers is not None
    recovery = Recovery("selective-repeat", timeout=np.inf) if lossy else None
    made = run(traffic, sender(control, traffic), 0.1, np.random.default_rng(0), switches, dt, recovery=recovery)
    ends = np.cumsum([0, *senders])
    return [
        Seen(made.finish[a:b] * 1e6, made.peak[k], made.time, made.queue[:, k])
        for k, (a, b) in enumerate(pairwise(ends))
    ], made


def mean_of(seen: Sequence[Seen], what: str = "mean") -> float:
    """Mean over incasts of the first, mean or last completion time."""
    return float(np.mean([getattr(each.finish, what)() for each in seen]))


def jain(rate: np.ndarray) -> float:
    """Jain's index of fairness: 1 if all are equal."""
    return float(rate.sum() ** 2 / (len(rate) * (rate**2).sum()))
