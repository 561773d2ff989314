"""Stamps of switches as senders read them, several ways included, and which controller belongs to which parameters."""

from __future__ import annotations

import numpy as np
import pytest

from netlib.congestion.packets.engine import Engine, Switches, run
from netlib.congestion.packets.senders import sender
from netlib.congestion.packets.senders.credits import CreditSender
from netlib.congestion.packets.senders.hpcc import HpccSender
from netlib.congestion.packets.senders.nscc import NsccSender
from netlib.congestion.packets.senders.powertcp import PowerTcpSender
from netlib.congestion.packets.senders.telemetry import Stamps
from netlib.congestion.packets.traffic import Packet, incast, traffic
from netlib.congestion.parameters import Credits, Hpcc, Nscc, PowerTcp, Uncontrolled
from netlib.links import Link

LAWS = {
    HpccSender: Hpcc(0.95, 5, 80),
    PowerTcpSender: PowerTcp(0.9, 500, False),
    CreditSender: Credits(1.0, 1.0, 1.5),
    NsccSender: Nscc(0.75, 1.5, 0.8, 0.5, 5, 0.15, 4, 0.25, 3, 4, 8, 150e3, 12e-6),
}


@pytest.mark.parametrize("kind", LAWS)
def test_sender_by_parameters(kind: type) -> None:
    assert type(sender(LAWS[kind], incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000)))) is kind


@pytest.mark.parametrize("kind", LAWS)
def test_flows_of_two_ways(kind: type) -> None:
    """Two flows sprayed over two spines: both links carry nearly their rate."""
    ways = [[0, 2, 4, 6], [0, 3, 5, 6], [1, 2, 4, 7], [1, 3, 5, 7]]
    both = traffic(ways, 1e6, [12.5e9] * 8, [1e-6] * 8, Packet(1000, 1000), flow=[0, 0, 1, 1])
    made = run(both, sender(LAWS[kind], both), 1e-3, np.random.default_rng(0))
    assert (made.finish > 80e-6).all()
    assert (made.finish < 80e-6 * 1.5).all()


class Watching:
    """Line rate, and every stamp that comes."""

    def __init__(self, watched) -> None:
        self.plain, self.stamps, self.seen = sender(Uncontrolled(np.inf), watched), Stamps(watched), []
        self.rate, self.window = self.plain.rate, self.plain.window

    def react(self, now, heard) -> None:
        new = self.stamps.answered(heard)
        for hop, stamp in enumerate(self.stamps.read(heard, new)):
            if stamp.valid[0]:
                self.seen.append((hop, *(float(np.asarray(each)[0]) for each in (
                    stamp.seconds, stamp.capacity, stamp.left, stamp.came, stamp.length))))  # fmt: skip


def test_stamps_are_what_the_queue_did() -> None:
    """2:1 at line rate: what leaves is the link's rate, what comes is twice that, while both send."""
    two = incast(2, 4e5, Link(3.5e-6, 12.5e9), Packet(1000, 1000), start=[0, 8e-8])
    watch = Watching(two)
    engine = Engine(two, watch, Switches(), np.random.default_rng(0), 0.25e-6)
    while engine.open:
        engine.advance()
    stamps = np.array(watch.seen)
    assert (stamps[:, 0] == 0).all()  # one hop
    assert (stamps[:, 2] == 12.5e9).all()
    assert stamps[:, 3].sum() / stamps[:, 1].sum() == pytest.approx(12.5e9, rel=0.01)
    early = stamps[: len(stamps) // 3]
    assert early[:, 4].sum() / early[:, 1].sum() == pytest.approx(25e9, rel=0.02)
    assert early[-1, 5] > early[0, 5]


def test_answers_are_whole_packets() -> None:
    one = incast(1, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
    stamps = Stamps(one)

    class Bytes:
        acked = np.zeros(1)

    got = []
    for part in (400, 600, 999, 1, 2500, 500, 0):
        Bytes.acked = np.array([float(part)])
        got.append(bool(stamps.answered(Bytes)[0]))
    assert got == [False, True, False, True, True, True, False]
