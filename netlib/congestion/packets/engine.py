"""The packet-level engine: a traffic under a controller until all flows are done, and what was seen on the way.

Read with the chapter "Congestion control", section "One bottleneck".
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

from netlib.arguments import Floats, declared, floats
from netlib.congestion.packets.hearing import Heard, Mask, Sender
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.spreading import Spread
from netlib.congestion.packets.steps import Engine
from netlib.congestion.packets.switches import Switches
from netlib.congestion.packets.traffic import Ints, Traffic

# What a run may take: steps in one round trip and in all, and packets of one NIC in one step. More is a slip of units.
MOST_AROUND, MOST_STEPS, MOST_PACKETS = 1_000_000, 100_000_000, 10_000

__all__ = ["Engine", "Heard", "Mask", "Run", "Sender", "Series", "Switches", "run"]


@dataclass(frozen=True, eq=False)
class Run:
    """What happened. Times in s, bytes on the wire.

    finish      (F,) when the last byte was acknowledged, from the flow's start; nan if it was not
    acked       (F,) bytes acknowledged by the end
    marked      (F,) packets that reached the receiver with a mark        (np_ecn_marked_roce_packets)
    cnps        (F,) CNPs that the receiver sent                          (np_cnp_sent)
    peak        (Q,) longest queue;  link (Q,) the link it feeds;  lane (Q,) its class
    time        (T,) moments of the series
    series      what was seen at these moments: "queue" (T, Q) bytes; "rate" (T, F) bytes/s acknowledged since the
                moment before; "allowed" (T, F) bytes/s that the controller allows, by its rate and by its window over
                the base round trip; "marks" (T, F) marked packets since the moment before; with PFC "ingress" (T, G)
                bytes, "pause" (T, G) share of the time since the moment before in which a gate was shut; with losses
                "lost" (T, F) bytes since the moment before
    counters    by name, as NICs and switches name them: with PFC tx_prio_pause and rx_prio_pause_duration (G,); with
                losses out_of_sequence, packet_seq_err, local_ack_timeout_err, retransmitted, trimmed (F,) and
                dropped (Q,) bytes; with several ways reordered (F,), the most bytes that a receiver had to hold
    steps, dt   how many steps of how many seconds
    """

    finish: Floats
    acked: Floats
    marked: Floats
    cnps: Floats
    peak: Floats
    link: Ints
    lane: Ints
    time: Floats
    steps: int
    dt: float
    series: Mapping[str, Floats] = field(default_factory=dict)
    counters: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def queue(self) -> Floats:
        """(T, Q) bytes in each queue."""
        return self.series["queue"]

    @property
    def rate(self) -> Floats:
        """(T, F) bytes/s acknowledged since the moment before."""
        return self.series["rate"]

    def queue_of(self, link: int, lane: int = 0) -> Floats:
        """(T,) bytes waiting for `link` in `lane`."""
        found = np.flatnonzero((self.link == link) & (self.lane == lane))
        if not len(found):
            raise ValueError(f"link = {link}, lane = {lane} has no queue in this run; give one of those in run.link")
        return np.asarray(self.queue[:, found[0]])


class Series:
    """What is noted every few steps."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.time, self.base = engine, [0.0], engine.traffic.base_rtt()
        self._sums = self._totals()
        self._at = 0
        self.rows = {name: [np.zeros_like(value)] for name, value in {**self._levels(), **self._sums}.items()}
        self.rows["allowed"] = [self._allowed()]

    def _levels(self) -> dict[str, Floats]:
        engine = self.engine
        found = {"queue": engine.queues.length.copy(), "allowed": self._allowed()}
        return found | ({"ingress": engine.pauses.held} if engine.pauses else {})

    def _allowed(self) -> Floats:
        sender = self.engine.sender
        return np.asarray(np.minimum(sender.rate, np.maximum(sender.window, 0.0) / self.base))

    def _totals(self) -> dict[str, Floats]:
        engine = self.engine
        found = {"rate": engine.acked.copy(), "marks": engine.marked.copy()}
        if engine.pauses:
            found["pause"] = engine.pauses.time.copy()
        if engine.repeats:
            found["lost"] = engine.repeats.repeated * engine.wire
        return found

    def note(self) -> None:
        """One more moment."""
        engine = self.engine
        passed = (engine.step - self._at) * engine.dt
        self.time.append(engine.step * engine.dt)
        for name, value in self._levels().items():
            self.rows[name].append(value)
        new = self._totals()
        for name, value in new.items():
            self.rows[name].append((value - self._sums[name]) / (passed if name in ("rate", "pause") else 1))
        self._sums, self._at = new, engine.step

    def arrays(self) -> dict[str, Floats]:
        """(T, ...) by name."""
        return {name: np.array(rows) for name, rows in self.rows.items()}


def counters(engine: Engine) -> dict[str, Floats]:
    """What the NICs and switches of a run have counted."""
    found: dict[str, Floats] = {}
    if engine.pauses:
        found |= {"tx_prio_pause": engine.pauses.frames, "rx_prio_pause_duration": engine.pauses.time}
        found["ingress_peak"] = engine.pauses.most
    if engine.repeats:
        seen = engine.repeats
        found |= {"out_of_sequence": seen.out_of_sequence, "packet_seq_err": seen.packet_seq_err}
        found |= {"local_ack_timeout_err": seen.timeouts, "retransmitted": seen.repeated, "trimmed": engine.trimmed}
    if engine.drops:
        found["dropped"] = np.asarray(np.bincount(engine.at.queue, engine.drops.lost, len(engine.at.link)), float)
    if engine.order:
        found["reordered"] = engine.order.most
    return found


def _bounded(traffic: Traffic, until: float, dt: float) -> None:
    """Refuse what would run for days."""
    around, wire = float(traffic.base_rtt().max()), traffic.packet.wire
    if around / dt > MOST_AROUND:
        raise ValueError(f"dt = {dt:g} is too short for a round trip of {around:.3g} s; give a thousandth of it")
    whole = float((traffic.start + traffic.wire / traffic.line_rate).max())
    if min(until, whole) / dt > MOST_STEPS:
        raise ValueError(f"until = {until:g} is over {MOST_STEPS:,} steps of dt = {dt:g}; give fewer, or less to send")
    most = float(traffic.line_rate.max()) * dt / wire
    if most > MOST_PACKETS:
        raise ValueError(f"wire = {wire:g} makes {most:.2g} packets in a step; give a larger packet, such as 1000")


@declared
def run(
    traffic: Traffic, sender: Sender, until: float, rng: Generator, switches: Switches | None = None,
    dt: float = 0.25e-6, every: int = 16, recovery: Recovery | None = None, spread: Spread | None = None,
) -> Run:  # fmt: skip
    """Run `traffic` under the controller `sender` until all flows are done, `until` seconds at most.

    dt        s of a step: at most an eighth of the shortest round trip. At 100 Gb/s and round trips of 14 us, 0.5 us
              give the finish times of 0.1 us within 2 %; what PFC overshoots grows by up to two steps at line rate
    every     steps between two moments of the series
    recovery  how lost packets are sent again; must be given when packets can be lost
    spread    how a flow of several ways deals its packets; by default each at random

    >>> from netlib.congestion.packets.traffic import Packet, incast
    >>> from netlib.links import Link
    >>> class LineRate:
    ...     def __init__(self, traffic): self.rate, self.window = traffic.line_rate, np.full(traffic.flows, np.inf)
    ...     def react(self, now, heard): pass
    >>> two = incast(2, 125e3, Link(1e-6, 12.5e9), Packet(1000, 1000))
    >>> done = run(two, LineRate(two), 1e-3, np.random.default_rng(0), dt=0.1e-6)
    >>> (done.finish * 1e6).round().tolist(), done.peak.round(-4).tolist()  # 20 us of bytes and a round trip
    ([24.0, 24.0], [120000.0])
    """
    if floats("dt", dt, above=True) > traffic.base_rtt().min() / 8:
        raise ValueError(
            f"dt = {dt:g} is too long for a round trip of {traffic.base_rtt().min():.3g} s; give a tenth of it"
        )
    floats("until", until, above=True)
    if every < 1:
        raise ValueError(f"every = {every} must be at least 1; give the steps between two moments of the series")
    _bounded(traffic, until, dt)
    engine = Engine(traffic, sender, switches or Switches(), rng, dt, recovery, spread)
    series = Series(engine)
    while engine.step * dt < until and engine.open:
        engine.advance()
        if engine.step % every == 0:
            series.note()
    return Run(
        engine.finish, engine.acked, engine.marked, engine.cnps, engine.peak, engine.at.link, engine.at.lane,
        np.array(series.time), engine.step, dt, series.arrays(), counters(engine),
    )  # fmt: skip
