"""HPCC: its law walked by hand, and its incasts beside ns-3's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.congestion.packets.engine import run
from netlib.congestion.packets.senders.hpcc import HpccSender
from netlib.congestion.packets.traffic import Packet, incast, together
from netlib.congestion.packets.traffic import traffic as ways
from netlib.congestion.parameters import Hpcc
from netlib.links import Link
from tests.congestion.packets.senders.spoken import NS3, Said, incasts, jain, mean_of

LAW = Hpcc(eta=0.95, max_stage=5, additive=80)
ONE = incast(1, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))
T, BDP = 4.04e-6, 202_000
NS3_LAW = Hpcc(eta=0.95, max_stage=5, additive=50e6 / 8 * 14.17e-6)


def test_walk() -> None:
    """Two stamps make a utilisation; the reference follows once per round trip."""
    said, sender = Said(ONE), HpccSender(ONE, LAW)
    sender.react(5e-6, said.says(1000, step=10, length=101_000))
    assert sender.window[0] == pytest.approx(BDP)  # one stamp is no rate
    sender.react(5.4e-6, said.says(1000, step=14, length=202_000, gone=20_000))
    used = (1 - 0.4 / 4.04) * 1 + 0.4 / 4.04 * (1 + 0.5)  # a full link, and half a BDP as the shorter queue
    assert sender.used[0] == pytest.approx(used)
    assert sender.window[0] == pytest.approx(BDP * 0.95 / used + 80)
    assert sender.reference[0] == 50e9  # what is acknowledged was sent before the first answer came
    sender.react(10e-6, said.says(1000, step=60, length=0, gone=43_000))  # 4.6 us, more than a round trip: U = u
    assert sender.used[0] == pytest.approx(0.1)
    assert sender.window[0] == pytest.approx(BDP)  # W_c + W_AI, and not above the line
    assert sender.stage[0] == 1


def test_no_rate_is_below_a_thousandth_and_nics_are_told() -> None:
    """A queue of a second: the floor; and the gap that a packet waits in changes with the rate."""
    said, sender = Said(ONE), HpccSender(ONE, LAW)
    sender.react(0, said.says(1000, step=0, length=5e10))
    sender.react(5e-6, said.says(1000, step=50, length=5e10, gone=2e5))
    assert sender.rate[0] == pytest.approx(0.001 * 50e9)
    assert sender.window[0] == pytest.approx(0.001 * BDP)
    before, after = said.paces[-1]
    assert (before[0], after[0]) == pytest.approx((50e9, 50e6))


def test_part_of_a_packet_is_no_answer() -> None:
    said, sender = Said(ONE), HpccSender(ONE, LAW)
    sender.react(5e-6, said.says(1000, step=10))
    sender.react(5.1e-6, said.says(400, step=11, length=1e6, gone=5000))
    assert sender.used[0] == 1
    sender.react(5.2e-6, said.says(600, step=12, length=1e6, gone=20_000))
    assert sender.used[0] != 1


@pytest.mark.parametrize("stages", [0, 2, 5])
def test_increases_in_a_row(stages: int) -> None:
    """After `max_stage` additive increases comes a multiplicative one."""
    law = Hpcc(eta=0.95, max_stage=stages, additive=80)
    said, sender = Said(ONE), HpccSender(ONE, law)
    sender.react(0, said.says(1000, step=0))
    sender.reference[:] = 5e9  # a tenth of the line
    seen = []
    for k in range(1, 8):
        sender.react(k * 5e-6, said.says(1000, step=50 * k, gone=50 * k * 0.76 * 5000))  # used to 76 %
        seen.append(sender.stage[0])
    assert seen == ([0] * 7 if stages == 0 else [(k % (stages + 1)) for k in range(1, 8)])
    jumps = sum(each == 0 for each in seen)
    gain = 80 / BDP
    share = 0.1
    for each in seen:
        share = min(share * (0.95 / 0.76 if each == 0 else 1) + gain, 1)
    assert jumps >= 1
    assert sender.reference[0] == pytest.approx(share * 50e9)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1))
def test_more_queue_never_more_window(one: float, other: float, load: float) -> None:
    said = Said(ONE)
    window = []
    for length in sorted((one, other)):
        sender = HpccSender(ONE, LAW)
        sender.react(0, said.says(1000, step=1, length=length))
        sender.react(1e-6, said.says(1000, step=11, length=length, gone=load * 50_000))
        window.append(sender.window[0])
        assert 0.001 * BDP - 1 <= sender.window[0] <= BDP + 1
    assert window[0] >= window[1]


def test_batch_is_the_same_alone() -> None:
    def of(n: int):
        return incast(n, 2e5, Link(3.5e-6, 12.5e9), Packet(1000, 1090), start=np.arange(n) * 1e-7)

    both = together([of(3), of(8)])
    made = run(both, HpccSender(both, LAW), 1e-2, np.random.default_rng(0))
    for part, where in ((of(3), slice(0, 3)), (of(8), slice(3, 11))):
        alone = run(part, HpccSender(part, LAW), 1e-2, np.random.default_rng(0))
        assert made.finish[where].tolist() == alone.finish.tolist()


def test_order_of_flows_is_nothing() -> None:
    start = np.arange(8) * 1090 / 12.5e9
    order = np.random.default_rng(3).permutation(8)
    ends = []
    for begin in (start, start[order]):
        traffic = incast(8, 2e5, Link(3.5e-6, 12.5e9), Packet(1000, 1090), start=begin)
        ends.append(run(traffic, HpccSender(traffic, LAW), 1e-2, np.random.default_rng(0)).finish)
    assert ends[0][order] == pytest.approx(ends[1], rel=1e-9)


def test_two_hops_the_busier_counts() -> None:
    """A way over an idle queue and a crowded one: the window is that of the crowded one alone."""
    links = {"capacity": [12.5e9] * 6, "latency": [1e-6] * 6, "packet": Packet(1000, 1000), "start": [0, 8e-8]}
    made = [
        run(one, HpccSender(one, LAW), 1e-2, np.random.default_rng(0), dt=1e-7)
        for one in (ways([[0, 2, 3], [1, 4, 3]], 1e6, **links), ways([[0, 3, 5], [1, 3, 5]], 1e6, **links))
    ]
    for each in made:  # either way the crowded link is used to eta at most, and holds nearly nothing at the end
        last = float(each.finish.max())
        assert 0.85 < 2e6 / last / 12.5e9 < 1
        late = (each.time > 0.5 * last) & (each.time < 0.95 * last)
        assert each.queue[late].max(axis=0).max() < 20e3


@pytest.fixture(scope="module")
def ns3():
    return incasts(NS3_LAW, NS3, [8] * 6 + [32] * 2)[0]


def test_beside_ns3(ns3) -> None:
    """ns-3: 1350/1456/1538 us and 4557/5652/5919; peak 1.308 and 5.987 MB; steady 1.1 and 2.3 KB."""
    eight, more = ns3[:6], ns3[6:]
    assert mean_of(eight) == pytest.approx(1455.5, rel=0.05)
    assert mean_of(eight, "max") == pytest.approx(1538.4, rel=0.03)
    assert mean_of(more) == pytest.approx(5651.5, rel=0.05)
    assert mean_of(more, "max") == pytest.approx(5918.9, rel=0.03)
    assert max(each.steady for each in ns3) < 5e3
    for each, senders, measured in [(eight[0], 8, 1.308e6), (more[0], 32, 5.987e6)]:
        assert each.peak == pytest.approx((senders - 1) * 12.5e9 * 14.17e-6 * 1.09, rel=0.05)
        assert each.peak == pytest.approx(measured, rel=0.05)


def test_long_incast_is_fair() -> None:
    """After some milliseconds flows share alike, at eta of the link."""
    traffic = incast(4, 40e6, Link(3.5e-6, 12.5e9), Packet(1000, 1090), start=np.arange(4) * 1e-7)
    fast = Hpcc(eta=0.95, max_stage=0, additive=0.05 / 4 * 177e3)  # W_AI = W (1 - eta) / N, the authors' rule
    made = run(traffic, HpccSender(traffic, fast), 6e-3, np.random.default_rng(0), dt=0.5e-6)
    rate = made.rate[made.time > 4e-3].mean(axis=0)
    assert jain(rate) > 0.99
    assert 0.9 < rate.sum() / 12.5e9 <= 1.001
