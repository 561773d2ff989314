"""InfiniBand's credits, block by block: rate, reach, what a lost packet takes and what gives it back; lanes in turn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion import Arbitration, arbitrate, credit_rate, credit_reach, low_share, simulate_lane
from netlib.congestion.arbitration import TABLES
from netlib.congestion.credits import BLOCK, MODULUS, MOST_CREDITS
from netlib.units import gbps


def test_128_kib_and_260_m() -> None:
    """2,048 blocks of 64 bytes are 128 KiB: 2.6 us of round trip at 400 Gb/s, so at most 260 m of cable."""
    most = MOST_CREDITS * BLOCK
    assert most == 128 * 1024
    assert most / gbps(400) == pytest.approx(2.62e-6, rel=1e-3)
    assert float(credit_reach(gbps(400))) == pytest.approx(260, abs=1)
    # 1 us of processing takes 99 m
    assert float(credit_reach(gbps(400), processing=1e-6)) == pytest.approx(260 - 99, abs=1)
    assert float(credit_reach(gbps(400), processing=1e-3)) == 0
    # beyond the reach the rate falls as one over the length
    rtt = 2 * 2 * float(credit_reach(gbps(400))) / 1.98e8
    assert float(credit_rate(most, rtt, gbps(400))) == pytest.approx(gbps(200))
    assert float(credit_rate(most, rtt / 10, gbps(400))) == gbps(400)


@pytest.mark.parametrize("delay", [0, 10, 49, 50, 99, 400])
def test_a_lane_runs_at_credits_over_round_trip(delay: int) -> None:
    """One block a packet: credits come back after 2 delay + 1 ticks, so that 100 of them give 100 / (2 delay + 1)."""
    run = simulate_lane(buffer=100, packet=1, delay=delay, ticks=6000)
    rate = (run.sent[-1] - run.sent[2000]) / (run.sent.size - 2001)
    assert rate == pytest.approx(float(credit_rate(100, 2 * delay + 1, 1.0)), rel=0.03)
    assert run.free.min() >= 0


def test_more_buffer_than_the_counters_can_say_is_of_no_use() -> None:
    long = {"packet": 16, "delay": 4000, "ticks": 60_000}
    much, most = simulate_lane(buffer=20_000, **long), simulate_lane(buffer=MOST_CREDITS, **long)
    assert much.sent[-1] == most.sent[-1]
    assert much.credit.max() <= MOST_CREDITS
    assert much.sent[-1] > 3 * MODULUS  # the counters went round several times


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3000), st.integers(1, 65), st.integers(0, 500), st.integers(1, 50), st.integers(0, 300),
    st.floats(0, 1), st.lists(st.integers(0, 200), max_size=8),
)  # fmt: skip
def test_a_lane_never_overruns_its_buffer(buffer, packet, delay, update, resync, drain, lost) -> None:
    """Nothing is dropped for want of room, whatever the cable loses; nothing appears; the narrower lane is named."""
    packet = min(packet, buffer)
    run = simulate_lane(buffer, packet, delay, 3000, update, resync, lost, drain)
    assert run.free.min() >= 0
    assert run.free.max() <= buffer
    assert (run.arrived <= run.sent).all()
    assert (run.sent % packet == 0).all()
    assert (np.diff(run.sent) <= packet).all()
    assert run.leaked.min() >= 0
    assert (run.credit + run.leaked <= min(buffer, MOST_CREDITS)).all()
    gone = [each for each in set(lost) if each < run.sent[-1] // packet]
    if not resync:
        assert run.leaked[-1] == packet * len(gone)
    if not drain:
        assert run.arrived[-1] <= buffer


def test_a_lost_packet_narrows_the_lane_until_the_sender_says_its_count() -> None:
    """512 credits, packets of 33 blocks (a 2 KiB MTU), a round trip of 533: three lost packets take 99 blocks away."""
    base = {"buffer": 512, "packet": 33, "delay": 250, "ticks": 20_000, "lost": [20, 21, 22]}
    narrow, healed = simulate_lane(**base), simulate_lane(**base, resync=5000)
    assert narrow.leaked[-1] == 99
    assert healed.leaked[-1] == 0
    assert healed.leaked.max() == 99
    whole = simulate_lane(**{**base, "lost": []})
    assert whole.leaked.max() == 0
    last = slice(12_000, None)
    rates = [np.diff(run.sent[last]).mean() for run in (narrow, healed, whole)]
    assert rates[0] / rates[2] == pytest.approx((512 - 99) / 512, rel=0.05)
    assert rates[1] == pytest.approx(rates[2], rel=0.02)


def test_a_lane_that_loses_all_its_credits_is_dead() -> None:
    lost = list(range(5))
    dead = simulate_lane(buffer=100, packet=20, delay=10, ticks=3000, lost=lost)
    assert dead.sent[-1] == 100
    assert dead.arrived[-1] == 0
    alive = simulate_lane(buffer=100, packet=20, delay=10, ticks=3000, lost=lost, resync=500)
    assert alive.arrived[-1] > 1000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"packet": 101}, "packet = 101 never fits"),
        ({"buffer": 0}, "buffer = 0 must be between 1"),
        ({"delay": -1}, "delay = -1 and resync = 0 must be between 0"),
        ({"drain": 1.5}, "drain = 1.5 is beyond the link's own rate"),
        ({"ticks": 10**9}, "ticks = 1000000000 must be between 1"),
    ],
)
def test_a_lane_that_makes_no_sense(change: dict, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        simulate_lane(**{"buffer": 100, "packet": 4, "delay": 5, "ticks": 10, **change})


def share(sent: np.ndarray) -> np.ndarray:
    return sent / sent.sum()


@pytest.mark.parametrize(("limit", "high", "low"), [(0, 4096, 4096), (1, 4096, 1024), (4, 4096, 256), (10, 2048, 4096)])
def test_what_the_low_table_keeps(limit: int, high: int, low: int) -> None:
    tables = Arbitration(((0, 255),), ((1, 255),), limit)
    sent = share(arbitrate(tables, [high, low], 20_000))
    assert sent[1] == pytest.approx(float(low_share(limit, high, low)), rel=1e-2)


def test_an_unlimited_high_table_starves_the_low_one() -> None:
    tables = TABLES["nccl"]
    sent = share(arbitrate(tables, 4096, 1000))
    assert sent.tolist() == [0, 1]
    # without traffic on lane 1, lane 0 has the link
    assert share(arbitrate(tables, 4096, 1000, busy=[0])).tolist() == [1, 0]
    assert arbitrate(tables, 4096, 1000, busy=[]).sum() == 0
    # OpenSM's default: every second packet is of lane 0, the others of lanes 1 to 14 in turn
    sent = share(arbitrate(TABLES["opensm"], 4096, 28_000))
    assert sent[0] == pytest.approx(0.5)
    assert sent[1:] == pytest.approx(np.full(14, 0.5 / 14), rel=1e-6)


def test_weights_count_blocks_and_a_packet_goes_whole() -> None:
    # packets of one block: shares are the weights
    fine = share(arbitrate(Arbitration((), ((0, 10), (1, 30)), 0), 64, 40_000))
    assert fine.tolist() == pytest.approx([0.25, 0.75], rel=1e-3)
    assert arbitrate(Arbitration((), ((0, 2), (1, 1)), 0), 64, 3).tolist() == [128, 64]
    # packets longer than any weight: one packet each
    coarse = share(arbitrate(Arbitration((), ((0, 10), (1, 30)), 0), 4096, 1000))
    assert coarse.tolist() == [0.5, 0.5]
    # a lane of weight 0 never goes
    assert arbitrate(Arbitration((), ((0, 0), (1, 1)), 0), 64, 100)[0] == 0


@given(st.integers(0, 254), st.integers(64, 4096), st.integers(64, 4096), st.integers(0, 2**31))
def test_arbitration_conserves_packets(limit: int, high: int, low: int, seed: int) -> None:
    weights = np.random.default_rng(seed).integers(1, 256, 4).tolist()
    tables = Arbitration(((0, weights[0]), (1, weights[1])), ((2, weights[2]), (3, weights[3])), limit)
    sent = arbitrate(tables, [high, high, low, low], 500)
    assert (sent[:2].sum() / high + sent[2:].sum() / low) == pytest.approx(500)
    assert (sent / np.array([high, high, low, low]) % 1 == 0).all()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Arbitration(((0, 300),), (), 0), "weight beyond 255"),
        (lambda: Arbitration(((16, 1),), (), 0), "lane beyond 15"),
        (lambda: Arbitration(((0, 1, 2),), (), 0), "is no list of"),
        (lambda: Arbitration((), (), 256), "limit = 256 must be between 0 and 255"),
        (lambda: arbitrate(Arbitration((), (), 0), 64, 1), "packet has 1 entries for 0 lanes"),
        (lambda: arbitrate(TABLES["nccl"], [1, 2, 3], 1), "packet has 3 entries for 2 lanes"),
        (lambda: arbitrate(TABLES["nccl"], 64, 0), "packets = 0 must be between 1"),
        (lambda: low_share(256, 1, 1), "limit = 256 must be between"),
    ],
)
def test_tables_that_make_no_sense(make, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make()
