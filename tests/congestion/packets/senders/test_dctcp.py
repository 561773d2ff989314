"""DCTCP: each acknowledgement by hand, what its steady state is, and its incast beside ns-3's.

By hand: one BDP is 202,000 bytes, a packet 1,000, a round trip 4.04 us, g = 1/4, one packet more per round trip.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netlib.congestion.packets.engine import Switches
from netlib.congestion.packets.senders.dctcp import DctcpSender
from netlib.congestion.packets.traffic import Packet, incast
from netlib.congestion.parameters import Dctcp, Marking
from netlib.links import Link
from tests.congestion.packets.senders.spoken import Said, incasts, mean_of

ONE = incast(1, 1e8, Link(1e-6, 50e9), Packet(1000, 1000))
BDP = 202_000
LAW = Dctcp(g=1 / 4, additive=1000)


def told(sender: DctcpSender, at: float, acked: float, marked: float = 0.0, delay: float = 0.0) -> list[float]:
    """Window in bytes and alpha after what comes back at `at` us; `delay` in us."""
    sender.react(at * 1e-6, Said(ONE).says(acked, marked=marked, delay=delay * 1e-6))
    return [float(sender.window[0]), float(sender.alpha[0])]


def test_acknowledgement_by_acknowledgement() -> None:
    """Alizadeh et al. 2010: alpha = (1 - g) alpha + g F each window; w (1 - alpha / 2) at its first mark, else + 1."""
    sender = DctcpSender(ONE, LAW)
    assert told(sender, 5, 1000) == pytest.approx([BDP + 1000, 1])  # the first answer ends a round that has no share
    # a mark, 2 us later: at once, by alpha / 2; a second one in the same round trip does nothing
    window = (BDP + 1000) / 2
    assert told(sender, 7, 2000, marked=1) == pytest.approx([window, 1])
    assert told(sender, 8, 1000, marked=1) == pytest.approx([window, 1])
    # what comes at 9.1 was sent at 5.06, after 5: the round is over with two of four packets marked
    assert told(sender, 9.1, 1000) == pytest.approx([window, 0.75 + 0.25 / 2])  # the cut of 7 is in force: no increase
    # what comes at 11.1 was sent at 7.06, after the cut: the next mark cuts again
    window *= 1 - 0.875 / 2
    assert told(sender, 11.1, 1000, marked=1) == pytest.approx([window, 0.875])
    assert told(sender, 13.2, 1000) == pytest.approx([window, 0.75 * 0.875 + 0.25 / 2])
    # sent at 11.16: no cut is in force, but the round began at 13.2; what comes at 17.3 ends it, without a mark
    assert told(sender, 15.2, 1000) == pytest.approx([window, 0.78125])
    assert told(sender, 17.3, 1000) == pytest.approx([window + 1000, 0.75 * 0.78125])
    # a microsecond in queues: what comes at 21.4 was sent at 16.36
    assert told(sender, 21.4, 1000, delay=1) == pytest.approx([window + 1000, 0.5859375])
    assert told(sender, 22.4, 1000, delay=1) == pytest.approx([window + 2000, 0.75 * 0.5859375])


def test_every_packet_marked_halves_and_none_leaves_alpha_to_decay() -> None:
    sender = DctcpSender(ONE, LAW)
    windows = [told(sender, 5.0 * k, 2000, marked=2)[0] for k in range(1, 6)]
    assert windows == pytest.approx([BDP / 2**k for k in range(1, 6)])
    assert sender.alpha[0] == 1
    sender = DctcpSender(ONE, LAW)
    seen = [told(sender, 5.0 * k, 2000) for k in range(1, 6)]
    assert [each[0] for each in seen] == pytest.approx([BDP + 1000 * k for k in range(1, 6)])
    assert [each[1] for each in seen] == pytest.approx([0.75**k for k in range(5)])


def test_a_small_alpha_cuts_a_little() -> None:
    """One mark in twenty for long: alpha settles at 1/20, and a cut takes a fortieth."""
    sender = DctcpSender(ONE, LAW)
    for k in range(1, 100):
        before = sender.window[0]
        told(sender, 5.0 * k, 20_000, marked=1)
    assert sender.alpha[0] == pytest.approx(0.05)
    assert sender.window[0] / before == pytest.approx(1 - 0.05 / 2)


def test_no_window_is_below_a_packet_or_above_its_bound() -> None:
    sender = DctcpSender(ONE, replace(LAW, window=1.0))
    assert told(sender, 5, 1000)[0] == pytest.approx(BDP)
    for k in range(2, 20):
        told(sender, 5.0 * k, 1000, marked=1)
    assert sender.window[0] == 1000


def test_paced_the_rate_is_the_windows_share_of_a_bdp() -> None:
    free, paced = DctcpSender(ONE, LAW), DctcpSender(ONE, replace(LAW, paced=True))
    for sender in (free, paced):
        told(sender, 5, 1000, marked=1)
    assert free.rate[0] == 50e9
    assert paced.rate[0] == pytest.approx(25e9)
    for k in range(2, 120):
        told(paced, 5.0 * k, 1000)
    assert paced.window[0] > BDP
    assert paced.rate[0] == 50e9


def test_beside_ns3() -> None:
    """ns-3.39, 8:1, marks of 100 .. 400 kB: 983/1225/1426 us, peak 1.304 MB."""
    law = Dctcp(g=1 / 16, additive=1000, paced=True, window=1.0)
    marks = Switches(Marking(100e3, 400e3, 0.2, "departure"))
    seen, _ = incasts(law, (3.5e-6, Packet(1000, 1038)), [8] * 4, marks)
    assert mean_of(seen) == pytest.approx(1225, rel=0.06)
    assert mean_of(seen, "max") == pytest.approx(1426, rel=0.05)
    assert np.mean([each.peak for each in seen]) == pytest.approx(1.304e6, rel=0.02)
