"""Swift: each acknowledgement and loss by hand, windows below one packet, and the target of flow scaling.

By hand: two links, a round trip of 4.04 us without queues, a target of 8 + 2 x 1 = 10 us; 500 packets fill it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.congestion.packets.engine import run
from netlib.congestion.packets.senders.swift import SwiftSender
from netlib.congestion.packets.traffic import Packet, incast
from netlib.congestion.parameters import Swift
from netlib.links import Link
from tests.congestion.packets.senders.spoken import Said

ONE = incast(1, 1e8, Link(1e-6, 50e9), Packet(1000, 1000))
FLAT = Swift(
    base=8e-6, per_hop=1e-6, fs_range=0.0, fs_least=0.25, fs_most=100.0, ai=1.0, beta=0.8, max_cut=0.5, min_window=0.001
)
SCALED = replace(FLAT, fs_range=5e-6)


def told(sender: SwiftSender, at: float, rtt: float, acked: float = 1000.0, lost: float = 0.0) -> float:
    """Window in packets after what comes back at `at` us with a round trip of `rtt` us."""
    sender.react(at * 1e-6, Said(ONE).says(acked, lost=lost, delay=(rtt - 4.04) * 1e-6))
    assert sender.window[0] == pytest.approx(1000 * sender.packets[0])
    return float(sender.packets[0])


def test_acknowledgement_by_acknowledgement() -> None:
    """Kumar et al. 2020, algorithm 1: + ai acked / w below the target, x (1 - beta (d - target) / d) above it."""
    sender = SwiftSender(ONE, FLAT)
    assert sender.packets[0] == pytest.approx(500)
    assert told(sender, 9, 5, acked=5000) == pytest.approx(500)  # what fills the target at line rate is the most
    sender.packets[:] = 100
    assert told(sender, 10, 5, acked=5000) == pytest.approx(100 + 5 / 100)
    assert told(sender, 11, 9.9, acked=10_005) == pytest.approx(100.05 + 0.1)
    # 12.5 us, 2.5 above: x (1 - 0.8 x 0.2); then nothing for a round trip of 12.5 us, whatever comes
    assert told(sender, 20, 12.5) == pytest.approx(100.15 * 0.84)
    assert told(sender, 32.4, 100) == pytest.approx(84.126)
    # 100 us: 0.8 x 0.9 = 0.72, and no more than half at once
    assert told(sender, 32.5, 100) == pytest.approx(42.063)
    assert told(sender, 40, 5, acked=42_063) == pytest.approx(43.063)  # increases do not wait
    assert told(sender, 132.4, 100) == pytest.approx(43.063)
    assert told(sender, 132.5, 20) == pytest.approx(43.063 * 0.6)
    assert sender.rate[0] == 50e9


def test_at_the_target_nothing_changes() -> None:
    sender = SwiftSender(ONE, FLAT)
    sender.base[:], sender.packets[:] = ONE.base_rtt(), 100  # the target is the round trip without queues, to the bit
    sender.react(1e-3, Said(ONE).says(1000))
    assert sender.packets[0] == 100


def test_a_loss_takes_the_largest_cut_once_per_round_trip() -> None:
    sender = SwiftSender(ONE, replace(FLAT, max_cut=0.3))
    sender.packets[:] = 100
    assert told(sender, 10, 5, acked=0, lost=1000) == pytest.approx(70)
    assert told(sender, 14.9, 5, acked=0, lost=1000) == pytest.approx(70)
    assert told(sender, 15, 5, acked=0, lost=1000) == pytest.approx(49)
    assert told(sender, 30, 5, lost=1000) == pytest.approx(34.3)  # a loss and an answer in time: the loss


def test_below_one_packet_a_window_is_a_pause() -> None:
    """One packet each rtt / w; each acknowledged packet is ai then, not ai / w."""
    sender = SwiftSender(ONE, FLAT)
    sender.packets[:] = 1.2
    assert told(sender, 100, 40) == pytest.approx(0.6)
    assert sender.rate[0] == pytest.approx(1000 / (40e-6 / 0.6))
    assert told(sender, 120, 40) == pytest.approx(0.6)  # too soon for a cut; the pause is that of the newest round trip
    assert told(sender, 121, 30) == pytest.approx(0.6)
    assert sender.rate[0] == pytest.approx(1000 / (30e-6 / 0.6))
    assert told(sender, 130, 5, acked=300) == pytest.approx(0.9)
    assert told(sender, 131, 5) == pytest.approx(1.9)
    assert sender.rate[0] == 50e9
    assert told(sender, 132, 5) == pytest.approx(1.9 + 1 / 1.9)
    sender.packets[:] = 1.0
    assert told(sender, 200, 4.04, acked=0, lost=1000) == pytest.approx(0.5)
    assert sender.rate[0] == pytest.approx(1000 / (4.04e-6 / 0.5))  # what is lost makes it wait too
    for k in range(40):
        told(sender, 1000 + 500 * k, 400)
    assert sender.packets[0] == 0.001


def test_who_hears_nothing_keeps_its_pace() -> None:
    two = incast(2, 1e8, Link(1e-6, 50e9), Packet(1000, 1000))
    said, sender = Said(two), SwiftSender(two, FLAT)
    sender.packets[:] = 0.5
    sender.react(1e-4, said.says([300, 300], delay=36e-6))
    assert sender.rate == pytest.approx([1000 * 0.25 / 40.04e-6] * 2)
    sender.react(1.1e-4, said.says([300, 0], delay=[16e-6, 0]))
    assert sender.rate == pytest.approx([1000 * 0.25 / 20.04e-6, 1000 * 0.25 / 40.04e-6])


def test_target_of_flow_scaling() -> None:
    """a = 5 us / (1 / sqrt(1/4) - 1 / sqrt(100)) = 5 / 1.9; target = 10 us + a (1 / sqrt(w) - 0.1), 0 to 5 us more."""
    sender = SwiftSender(ONE, SCALED)
    for packets, more in ((500, 0), (100, 0), (25, 0.1 * 5 / 1.9), (1, 0.9 * 5 / 1.9), (0.25, 5), (0.01, 5)):
        sender.packets[:] = packets
        assert sender.target()[0] == pytest.approx(10e-6 + more * 1e-6)
    sender.packets[:] = 1
    assert told(sender, 100, 12.3) == pytest.approx(2)  # 12.37 us is the target of one packet
    assert told(sender, 101, 12.3) == pytest.approx(2 * (1 - 0.8 * (1 - (10 + (0.5**0.5 - 0.1) * 5 / 1.9) / 12.3)))


@given(st.floats(4.04, 1e4), st.floats(4.04, 1e4), st.floats(0.001, 500))
def test_more_delay_never_more_window(one: float, other: float, packets: float) -> None:
    after = []
    for rtt in sorted((one, other)):
        sender = SwiftSender(ONE, SCALED)
        sender.packets[:] = packets
        after.append(told(sender, 1e3, rtt))
        assert 0.5 * packets - 1e-9 <= after[-1] <= packets + 1
    assert after[0] >= after[1] - 1e-9


def test_many_senders_rest_below_one_packet_each() -> None:
    """300 senders on one port with a target of 10 us: room for 125 packets, so each rests at less than one."""
    many = incast(300, 1e6, Link(1e-6, 12.5e9), Packet(1000, 1000), start=np.arange(300) * 0.08e-6)
    sender = SwiftSender(many, FLAT)
    sender.packets[:] = 1  # their first windows would be 125 packets each, three milliseconds of queue
    sender.window = sender.packets * 1000
    made = run(many, sender, 1.2e-3, np.random.default_rng(0), dt=0.5e-6)
    late = made.time > 0.6e-3
    assert made.rate[late].sum(axis=1).mean() == pytest.approx(12.5e9, rel=0.01)
    assert 0.1 < sender.packets.mean() < 1
    assert 10e-6 - many.base_rtt()[0] < made.queue[late].mean() / 12.5e9 < 15e-6
