"""Shares of a link by priority and by weight: fluid and packet by packet, and what holds for both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion import serve_packets, slowdown, strict_shares, weighted_shares
from netlib.congestion.schedulers import _dwrr

LOADS = st.lists(st.floats(0, 3), min_size=1, max_size=6)


def test_experts_against_gradients() -> None:
    """Experts at 0.8 leave gradients 20 % by strict priority, five times slower; weights 60/30/10 leave 30 %."""
    strict = strict_shares([0.8, 1.0])
    assert strict.tolist() == pytest.approx([0.8, 0.2])
    assert slowdown([0.8, 1.0], strict).tolist() == pytest.approx([1, 5])
    weighted = weighted_shares([0.8, 1.0, 1.0], [60, 30, 10])
    assert weighted.tolist() == pytest.approx([0.6, 0.3, 0.1])
    # with nothing to check-point, its part goes to both: a third for gradients
    assert weighted_shares([0.8, 1.0, 0.0], [60, 30, 10])[1] == pytest.approx(1 / 3)


def test_the_last_class_starves_by_priority_and_not_by_weight() -> None:
    load = np.array([np.linspace(0.5, 1.2, 8), np.full(8, 0.5)]).T
    strict, fair = strict_shares(load), weighted_shares(load, [1, 1])
    assert strict[-1, 1] == 0
    assert fair[:, 1].tolist() == pytest.approx([0.5] * 8)
    assert slowdown(load, strict)[-1, 1] == np.inf


@given(LOADS, st.floats(0.1, 4), st.integers(0, 2**31))
def test_shares_conserve_work(load: list[float], capacity: float, seed: int) -> None:
    weights = np.random.default_rng(seed).uniform(0.01, 100, len(load))
    for got in (strict_shares(load, capacity), weighted_shares(load, weights, capacity)):
        assert (got >= 0).all()
        assert (got <= np.array(load) * (1 + 1e-12)).all()
        assert got.sum() == pytest.approx(min(sum(load), capacity), rel=1e-9, abs=1e-12)


@given(LOADS, st.floats(0.1, 4), st.integers(0, 2**31))
def test_weighted_shares_are_max_min_fair(load: list[float], capacity: float, seed: int) -> None:
    """Who gets less than it offers has the highest share for its weight: nobody else could give it some."""
    weights = np.random.default_rng(seed).uniform(0.1, 10, len(load))
    got = weighted_shares(load, weights, capacity)
    held = got < np.array(load) * (1 - 1e-9)
    if held.any():
        assert (got / weights)[held].min() >= (got / weights).max() * (1 - 1e-9)


@given(LOADS, st.floats(0.1, 4))
def test_a_class_of_strict_priority_is_blind_to_those_below(load: list[float], capacity: float) -> None:
    whole = strict_shares(load, capacity)
    for k in range(1, len(load) + 1):
        assert whole[:k] == pytest.approx(strict_shares(load[:k], capacity))


def test_shares_broadcast() -> None:
    grid = weighted_shares(np.full((4, 1, 3), 1.0), [1, 2, 1], capacity=np.array([[1.0, 2.0, 4.0]]))
    assert grid.shape == (4, 3, 3)
    assert grid[0].tolist() == pytest.approx(np.array([[0.25, 0.5, 0.25], [0.5, 1, 0.5], [1, 1, 1]]))
    assert strict_shares(2.0, 1.5).tolist() == [1.5]
    with pytest.raises(ValueError, match="offered has no classes"):
        strict_shares([])
    with pytest.raises(ValueError, match="served is more than offered"):
        slowdown([1.0], [2.0])
    with pytest.raises(ValueError, match="weights = 0 must be above 0"):
        weighted_shares([1, 1], [1, 0])


@pytest.mark.parametrize(
    ("discipline", "load", "packet", "weights"),
    [
        ("strict", [0.8, 1.0], [4096, 4096], 1),
        ("strict", [0.5, 0.6, 0.4], [1024, 4096, 64], 1),
        ("strict", [0.2, 0.3], [1500, 1500], 1),
        ("dwrr", [0.8, 1.0, 1.0], [4096, 1024, 4096], [60, 30, 10]),
        ("dwrr", [0.8, 1.0, 0.0], [4096, 4096, 4096], [60, 30, 10]),
        ("dwrr", [0.1, 2.0, 2.0], [64, 9000, 256], [5, 1, 1]),
        ("wrr", [0.8, 1.0, 1.0], [4096, 4096, 4096], [6, 3, 1]),
    ],
)
def test_packets_get_what_the_fluid_says(discipline: str, load: list, packet: list, weights) -> None:
    speed, time = 1e9, 0.1
    done = serve_packets(discipline, np.array(load) * speed, packet, speed, time, weights)
    fluid = (
        strict_shares(load) if discipline == "strict" else weighted_shares(load, np.broadcast_to(weights, len(load)))
    )
    # a round of the largest quantum may be unfinished
    slack = 2 * len(load) * max(packet) * np.max(weights) / np.min(weights) / (speed * time)
    assert done.served / (speed * time) == pytest.approx(fluid, abs=slack + 1e-4)


def test_round_robin_of_packets_favours_long_ones() -> None:
    """Equal weights, packets of 4,096 and 256 bytes: WRR gives 94 %, DWRR half."""
    given_ = ([1e9, 1e9], [4096, 256], 1e9, 0.05)
    packets, bytes_ = serve_packets("wrr", *given_), serve_packets("dwrr", *given_)
    assert packets.served[0] / packets.served.sum() == pytest.approx(16 / 17, abs=1e-3)
    assert bytes_.served[0] / bytes_.served.sum() == pytest.approx(0.5, abs=1e-3)


def test_a_deficit_is_spent_whole_and_never_saved_up() -> None:
    """Equal quanta of one packet alternate for ever; a class that was idle for long comes back with one quantum."""
    ready = [1, 1]
    turn = _dwrr(ready, [1000.0, 1000.0], [1.0, 1.0])
    assert [next(turn) for _ in range(60)] == [0, 1] * 30
    ready[1] = 0
    assert [next(turn) for _ in range(30)] == [0] * 30
    ready[1] = 1
    assert [next(turn) for _ in range(10)] in ([1, 0] * 5, [0, 1] * 5)
    # 400 bytes that were left over are gone after a time without packets
    ready = [1, 1]
    short = _dwrr(ready, [1000.0, 600.0], [1.0, 1.0])
    assert [next(short), next(short)] == [0, 1]
    ready[1] = 0
    assert [next(short), next(short)] == [0, 0]
    ready[1] = 1
    assert [next(short) for _ in range(3)] == [1, 0, 1]
    # half a packet is left over and counts in the next round
    long = _dwrr([1, 1], [1000.0, 500.0], [1.0, 1.0])
    assert [next(long) for _ in range(9)] == [0, 1, 1] * 3


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["strict", "wrr", "dwrr"]),
    st.lists(st.tuples(st.floats(0, 2), st.integers(64, 9000), st.integers(1, 20)), min_size=1, max_size=4),
)
def test_a_scheduler_conserves_work(discipline: str, classes: list[tuple[float, int, int]]) -> None:
    load, packet, weights = (np.array(each, float) for each in zip(*classes, strict=True))
    speed, time = 1e8, 0.02
    done = serve_packets(discipline, load * speed, packet, speed, time, weights)
    assert (done.served <= done.offered).all()
    assert done.queued == pytest.approx((done.offered - done.served) / packet)
    assert done.served.sum() + done.idle * speed == pytest.approx(speed * time, abs=packet.max() + 1e-3)
    # the work that waits is the same whoever goes first, so every discipline idles as long
    other = serve_packets("strict" if discipline == "dwrr" else "dwrr", load * speed, packet, speed, time, weights)
    assert other.idle == pytest.approx(done.idle, abs=packet.max() / speed * 1.001)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"discipline": "fair"}, "discipline = 'fair' is not one of strict, wrr, dwrr"),
        ({"offered": [[1.0]]}, r"offered has shape \(1, 1\)"),
        ({"seconds": 1e9}, "seconds = 1e\\+09 are more than 2e6 packets"),
        ({"discipline": "wrr", "weights": 1.5}, "weights of weighted round robin count packets"),
        ({"packet": 0}, "packet = 0 must be above 0"),
    ],
)
def test_a_link_that_makes_no_sense(change: dict, said: str) -> None:
    right = {"discipline": "dwrr", "offered": [1e6], "packet": 1500, "capacity": 1e6, "seconds": 0.1}
    with pytest.raises(ValueError, match=said):
        serve_packets(**{**right, **change})
