"""NICs: pacing, windows, turns and lanes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.congestion.packets.lanes import Dealer, Lanes, deal
from netlib.congestion.packets.nics import Nics, in_turn
from netlib.congestion.packets.places import places
from netlib.congestion.packets.traffic import Traffic, traffic
from tests.congestion.packets.steady import PACKET, RATE

INF = np.array([np.inf])


def one_nic(flows: int, lane: list[int] | int = 0, size: float = 1e9, start: float = 0.0) -> Traffic:
    return traffic([[0, 1]] * flows, size, [RATE] * 2, [1e-6] * 2, PACKET, start, lane=lane)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.31, 0.01])
def test_a_flow_is_paced_at_its_rate(share: float) -> None:
    nics = Nics(one_nic(1), 0.25e-6, None)
    sent = sum(float(nics.send(step, np.array([RATE * share]), INF, None)[0]) for step in range(8000))
    assert sent == pytest.approx(share * RATE * 8000 * 0.25e-6 / 1000, abs=2)
    assert nics.sent[0] == nics.flying[0] == sent * 1000
    assert nics.left[0] == 1e9 - sent * 1000


def test_no_packet_before_the_start_none_beyond_the_window_or_the_size() -> None:
    nics = Nics(one_nic(1, size=50e3, start=10e-6), 1e-6, None)
    rate = np.array([RATE])
    given_ = [float(nics.send(step, rate, np.array([7500.0]), None)[0]) for step in range(20)]
    assert given_ == [0] * 10 + [8.0] + [0] * 9  # a window that is not full lets one whole packet more go
    nics.flying[:] = 0
    assert sum(float(nics.send(step, rate, INF, None)[0]) for step in range(20, 60)) == 42
    assert nics.left[0] == 0


def test_a_flow_that_had_to_wait_does_not_make_up_for_it() -> None:
    nics = Nics(one_nic(1), 1e-6, None)
    rate, shut = np.array([RATE / 30]), np.zeros(1)  # a packet each 2.4 us
    assert sum(float(nics.send(step, rate, INF, lambda gates, packets: shut)[0]) for step in range(100)) == 0
    assert [float(nics.send(step, rate, INF, None)[0]) for step in range(100, 108)] == [1, 0, 1, 0, 1, 0, 0, 1]


@given(
    want=st.lists(st.integers(0, 6), min_size=1, max_size=9), slots=st.lists(st.integers(0, 9), min_size=3, max_size=3),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_in_turn_is_max_min_fair_in_packets(want: list[int], slots: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, len(want))
    asked, most, served = np.array(want, float), np.array(slots, float), rng.permutation(len(want))
    got = in_turn(asked, group, most, served)
    assert (got <= asked).all()
    for nic in range(3):
        mine = got[group == nic]
        assert mine.sum() == min(most[nic], asked[group == nic].sum())
        hungry = mine[mine < asked[group == nic]]
        if len(hungry):
            assert mine.max(initial=0) <= hungry.min() + 1, "nobody is two packets ahead of one who wants more"


def test_two_flows_share_a_nic_to_the_packet() -> None:
    nics = Nics(one_nic(2), 0.2e-6, None)  # 2.5 packets a step: now two, now three
    total = sum(nics.send(step, np.array([RATE, RATE]), np.full(2, np.inf), None) for step in range(1000))
    assert total.tolist() == [1250, 1250]


@pytest.mark.parametrize(
    ("weights", "expected"), [((), [0.8, 0.2]), ((70, 30), [0.7, 0.3]), ((10, 90), [0.1, 0.9]), ((95, 5), [0.8, 0.2])]
)
def test_lanes_of_a_nic_by_order_and_by_weight(weights: tuple[float, ...], expected: list[float]) -> None:
    nics = Nics(one_nic(2, lane=[0, 1]), 0.1e-6, Lanes(weights))
    rate = np.array([0.8, 1.0]) * RATE
    total = sum(nics.send(step, rate, np.full(2, np.inf), None) for step in range(4000))
    assert (total / total.sum()).tolist() == pytest.approx(expected, abs=4e-3)
    assert total.sum() == pytest.approx(RATE * 4000 * 0.1e-6 / 1000, abs=2)


@given(seed=st.integers(0, 10**6), lanes=st.integers(1, 5), weighted=st.booleans())
def test_nothing_idles_while_a_lane_waits(seed: int, lanes: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    want = rng.integers(0, 5, (6, lanes)) * 1000.0
    room = rng.integers(0, 9, 6) * 1000.0
    weights = rng.integers(1, 9, lanes).astype(float)
    got = deal(want, room, Lanes(tuple(weights.tolist())) if weighted else None)
    assert (got <= want + 1e-9).all()
    np.testing.assert_allclose(got.sum(axis=1), np.minimum(want.sum(axis=1), room), atol=1e-6)
    level = got / weights if weighted else None
    for row in range(6):
        for a in range(lanes):
            for b in range(lanes):
                if got[row, a] < want[row, a] - 1e-6:  # a has not all it wants
                    if level is None:
                        assert a == b or (
                            got[row, b] == 0 if b > a else got[row, a] == 0 or got[row, b] == want[row, b]
                        )
                    else:
                        assert level[row, b] <= level[row, a] + 1e-6, "b may not have more than its weight gives"


def test_the_dealer_deals_each_link_to_its_own_lanes() -> None:
    two = traffic([[0, 4], [1, 4], [2, 5]], 1e6, [RATE] * 6, [1e-6] * 6, PACKET, lane=[0, 1, 1])
    at = places(two, 1e-6)
    dealer = Dealer(at, np.full(3, 12500.0), Lanes((3, 1)))
    assert at.link.tolist() == [4, 4, 5]
    assert at.lane.tolist() == [0, 1, 1]
    assert dealer.room(np.array([1e5, 1e5, 1e5])).tolist() == [9375.0, 3125.0, 12500.0]
    assert dealer.room(np.array([0, 1e5, 3e3])).tolist() == [0.0, 12500.0, 3000.0]
