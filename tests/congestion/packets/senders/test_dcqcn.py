"""DCQCN, the paper's machine and the vendor's: each event by hand, and the incasts beside ns-3's.

By hand: a line of 1,000 (MB/s), g = 1/4, so that every value is short. Rates below are in MB/s, times in us.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from netlib.congestion.packets.engine import Switches
from netlib.congestion.packets.senders.dcqcn import DcqcnPaper, DcqcnVendor
from netlib.congestion.packets.traffic import Packet, incast
from netlib.congestion.parameters import Dcqcn, Marking
from netlib.links import Link
from tests.congestion.packets.senders.spoken import Said, incasts, mean_of

ONE = incast(1, 1e8, Link(1e-6, 1e9), Packet(1000, 1000))
PAPER = Dcqcn(
    "paper", g=1 / 4, alpha_timer=50e-6, cnp_interval=50e-6, cut_interval=0.0, increase_timer=60e-6, byte_counter=1e6,
    fast_recovery=2, additive=8e6, hyper=16e6, min_rate=0.0, initial_alpha=1.0, clamp_target=True,
)  # fmt: skip
CARD = Dcqcn(
    "vendor", g=1 / 4, alpha_timer=1e-6, cnp_interval=0.0, cut_interval=4e-6, increase_timer=300e-6,
    byte_counter=float("inf"), fast_recovery=1, additive=8e6, hyper=16e6, min_rate=1e6, initial_alpha=1.0,
    clamp_target=False,
)  # fmt: skip
Sender = DcqcnPaper | DcqcnVendor


def told(sender: Sender, at: float, cnp: bool = False, acked: float = 0.0) -> list[float]:
    """Rate and target in MB/s and alpha after what is heard at `at` us."""
    sender.react(at * 1e-6, Said(ONE).says(acked, cnp=cnp))
    return [sender.rate[0] / 1e6, sender.target[0] / 1e6, sender.alpha[0]]


def test_papers_machine_event_by_event() -> None:
    """Zhu et al. 2015, algorithm 1: cut, forget, two fast recoveries, additive, hyper, cut."""
    sender = DcqcnPaper(ONE, PAPER)
    # target = rate, rate (1 - 1/2), alpha = 3/4 + 1/4
    assert told(sender, 0, cnp=True) == pytest.approx([500, 1000, 1])
    assert told(sender, 10, cnp=True) == pytest.approx([250, 500, 1])
    # 50 us without a CNP: 3/4 alpha; both clocks began again at the second CNP
    assert told(sender, 59) == pytest.approx([250, 500, 1])
    assert told(sender, 60) == pytest.approx([250, 500, 0.75])
    # the timer's first two: half of the gap
    assert told(sender, 70) == pytest.approx([375, 500, 0.75])
    assert told(sender, 110) == pytest.approx([375, 500, 0.5625])
    assert told(sender, 130) == pytest.approx([437.5, 500, 0.5625])
    # its third and fourth are beyond F = 2: the target gains 8
    assert told(sender, 190) == pytest.approx([(437.5 + 508) / 2, 508, 0.75**3])
    assert told(sender, 250) == pytest.approx([(472.75 + 516) / 2, 516, 0.75**4])
    # the byte counter's first two: only the timer is beyond F, so 8 each
    assert told(sender, 251, acked=1e6) == pytest.approx([(494.375 + 524) / 2, 524, 0.75**4])
    assert told(sender, 252, acked=4e5) == pytest.approx([509.1875, 524, 0.75**4])
    assert told(sender, 253, acked=6e5) == pytest.approx([(509.1875 + 532) / 2, 532, 0.75**4])
    # its third: both are beyond F, the smaller by one: 16; then the timer's fifth: 16; the counter's fourth: 2 x 16
    assert told(sender, 254, acked=1e6) == pytest.approx([(520.59375 + 548) / 2, 548, 0.75**4])
    assert told(sender, 310) == pytest.approx([(534.296875 + 564) / 2, 564, 0.75**6])
    assert told(sender, 311, acked=1e6) == pytest.approx([(549.1484375 + 596) / 2, 596, 0.75**6])
    # a CNP: the target comes down to the rate, alpha = 3/4 alpha + 1/4, and the timer's next is due 60 us from now
    rate, alpha = 572.57421875, 0.75**6
    cut = rate * (1 - alpha / 2)
    assert told(sender, 320, cnp=True) == pytest.approx([cut, rate, 0.75 * alpha + 0.25])
    assert told(sender, 369)[0] == pytest.approx(cut)
    assert told(sender, 380)[:2] == pytest.approx([(cut + rate) / 2, rate])
    assert (sender.timed[0], sender.counted[0]) == (1, 0)


def test_papers_counter_begins_again_with_a_cut() -> None:
    sender = DcqcnPaper(ONE, PAPER)
    told(sender, 0, cnp=True)
    told(sender, 1, acked=9e5)
    told(sender, 2, cnp=True)
    assert told(sender, 3, acked=9e5)[0] == pytest.approx(250)  # 1.8 MB in all, 0.9 since the cut
    assert told(sender, 4, acked=1e5)[0] == pytest.approx(375)


def test_five_fast_recoveries_leave_one_sixtyfourth() -> None:
    """After one cut to a half: 1 - 1/2 / 2^5 of the line, five periods of 55 us later, with the published values."""
    published = Dcqcn("paper", 1 / 256, 55e-6, 50e-6, 0.0, 55e-6, 10e6, 5, 5e6, 5e6, 0.0, 1.0, True)
    sender = DcqcnPaper(ONE, published)
    told(sender, 0, cnp=True)
    assert [told(sender, 55 * k)[0] for k in range(1, 6)] == pytest.approx([750, 875, 937.5, 968.75, 984.375])
    assert sender.alpha[0] == pytest.approx((255 / 256) ** 5)
    assert told(sender, 330)[:2] == pytest.approx([(984.375 + 1000) / 2, 1000])  # the line is the most that is aimed at


@pytest.mark.parametrize("law", [PAPER, CARD])
def test_cuts_stop_at_the_floor_and_the_window_goes_with_the_rate(law: Dcqcn) -> None:
    sender = (DcqcnPaper if law is PAPER else DcqcnVendor)(ONE, replace(law, min_rate=100e6, window=2.0))
    bdp = 1e9 * ONE.base_rtt()[0]
    assert sender.window[0] == pytest.approx(2 * bdp)
    for k in range(60):
        rate, *_ = told(sender, 4 * k, cnp=True)
        assert sender.window[0] == pytest.approx(2 * bdp * rate / 1000)
    assert rate == pytest.approx(100)


def test_a_minimum_between_cuts() -> None:
    sender = DcqcnPaper(ONE, replace(PAPER, cut_interval=50e-6))
    assert told(sender, 0, cnp=True)[0] == pytest.approx(500)
    assert told(sender, 49, cnp=True) == pytest.approx([500, 1000, 1])
    assert told(sender, 50, cnp=True)[0] == pytest.approx(250)


def test_no_hyper_step_is_the_additive_one() -> None:
    sender = DcqcnPaper(ONE, replace(PAPER, hyper=0.0))
    told(sender, 0, cnp=True)
    told(sender, 0, cnp=True)
    sender.timed[:] = sender.counted[:] = 10
    assert told(sender, 60)[1] == pytest.approx(508)


def test_vendors_machine_event_by_event() -> None:
    """As ns-3's model of a card: a CNP waits for clocks, and the target stays where the first CNP found it."""
    sender = DcqcnVendor(ONE, CARD)
    assert told(sender, 0, cnp=True) == pytest.approx([1000, 1000, 1])  # the first only starts the clocks
    assert told(sender, 1) == pytest.approx([1000, 1000, 0.75])  # and does not count in alpha's first tick
    assert told(sender, 2) == pytest.approx([1000, 1000, 0.5625])
    assert told(sender, 2.5, cnp=True) == pytest.approx([1000, 1000, 0.5625])
    assert told(sender, 3) == pytest.approx([1000, 1000, 0.75 * 0.5625 + 0.25])
    alpha = 0.75 * 0.671875  # the fourth tick comes before the cut
    rate = 1000 * (1 - alpha / 2)
    assert told(sender, 4) == pytest.approx([rate, 1000, alpha])
    assert told(sender, 8) == pytest.approx([rate, 1000, alpha * 0.75**4])  # no CNP since: no cut
    # a CNP at 9.5: alpha's tick at 10 has it, those at 11 and 12 do not; the cut at 12 leaves the target
    told(sender, 9)
    told(sender, 9.5, cnp=True)
    alpha = (alpha * 0.75**6 + 0.25) * 0.75**2
    second = rate * (1 - alpha / 2)
    assert told(sender, 12) == pytest.approx([second, 1000, alpha])
    # the timer begins again at the cut: 312 halves the gap, 612 adds 8 (the line is the most), 912 adds 16
    assert told(sender, 311)[0] == pytest.approx(second)
    third = (second + 1000) / 2
    assert told(sender, 312)[:2] == pytest.approx([third, 1000])
    # a cut after an increase takes the target along
    told(sender, 314)
    told(sender, 314.5, cnp=True)
    alpha = sender.alpha[0]
    alpha = alpha * 0.75 * 0.75 + 0.25 * 0.75  # ticks at 315 and 316
    cut = third * (1 - alpha / 2)
    assert told(sender, 316) == pytest.approx([cut, third, alpha])
    one = (cut + third) / 2
    two = (one + third + 8) / 2
    assert told(sender, 616)[:2] == pytest.approx([one, third])
    assert told(sender, 916)[:2] == pytest.approx([two, third + 8])
    assert told(sender, 1216)[:2] == pytest.approx([(two + third + 24) / 2, third + 24])


def test_clamped_target_follows_every_cut() -> None:
    free, clamped = (DcqcnVendor(ONE, replace(CARD, clamp_target=each)) for each in (False, True))
    for sender in (free, clamped):
        for at in (0, 3, 7):
            told(sender, at, cnp=True)
            told(sender, at + 1)
    assert free.target[0] == 1e9
    assert clamped.rate[0] < clamped.target[0] < 1e9
    assert clamped.rate[0] == free.rate[0]


def test_vendors_byte_counter_adds_increases_of_the_same_kind() -> None:
    sender = DcqcnVendor(ONE, replace(CARD, byte_counter=1e6))
    told(sender, 0, cnp=True)
    rate = told(sender, 4)[0]
    assert told(sender, 5, acked=9e5)[0] == rate
    sender.target[:] = 900e6
    assert told(sender, 6, acked=1e5)[:2] == pytest.approx([(rate + 900) / 2, 900])
    assert told(sender, 7, acked=1e6)[1] == pytest.approx(908)
    assert told(sender, 8, acked=1e6)[1] == pytest.approx(924)
    told(sender, 9, cnp=True, acked=9e5)
    cut = told(sender, 12)[0]
    assert told(sender, 13, acked=9e5)[0] == cut  # 1.8 MB in all, 0.9 since the cut
    assert told(sender, 14, acked=1e5)[0] > cut


def test_first_alpha_is_what_a_card_is_told() -> None:
    """ConnectX begins with 1023/1024: the first cut of the paper's machine, and the vendor's after four ticks."""
    first = 1023 / 1024
    assert told(DcqcnPaper(ONE, replace(PAPER, initial_alpha=first)), 0, cnp=True)[0] == pytest.approx(
        1000 * (1 - first / 2)
    )
    sender = DcqcnVendor(ONE, replace(CARD, initial_alpha=first))
    told(sender, 0, cnp=True)
    assert told(sender, 4)[0] == pytest.approx(1000 * (1 - first * 0.75**4 / 2))


def test_beside_ns3() -> None:
    """ns-3.39, 8:1, marks of 100 .. 400 kB: 4004/4101/4171 us, peak 2.32 MB."""
    law = Dcqcn("vendor", 1 / 256, 1e-6, 0.0, 4e-6, 9e-4, float("inf"), 1, 6.25e6, 12.5e6, 12.5e6, 1.0, False)
    marks = Switches(Marking(100e3, 400e3, 0.2, "departure"))
    seen, _ = incasts(law, (3.5e-6, Packet(1000, 1038)), [8] * 3, marks)
    assert mean_of(seen) == pytest.approx(4101, rel=0.03)
    assert np.mean([each.peak for each in seen]) == pytest.approx(2.32e6, rel=0.06)
