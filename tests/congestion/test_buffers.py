"""Buffers, losses and latency: the chapter's numbers, and a second way that knows no formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives import crossover_size
from netlib.congestion import (
    break_even_step,
    buffer_needed,
    buffer_time,
    dctcp_threshold,
    drain_time,
    go_back_n_goodput,
    halving_loss,
    incast_fill_time,
    incast_peak,
    jittered,
    paced_queue,
    paced_queue_limit,
    sampled_queue,
    selective_repeat_goodput,
    simulate_transfer,
)
from netlib.links import Link
from netlib.units import gbps


def test_a_buffer_is_a_time() -> None:
    """64 MB are 1.28 ms at 400 Gb/s, 160 MB 3.2 ms, 100 ms would take 5 GB; 32:1 fills 64 MB in 41.3 us."""
    assert float(buffer_time(64e6, gbps(400))) == pytest.approx(1.28e-3)
    assert float(buffer_time(160e6, gbps(400))) == pytest.approx(3.2e-3)
    assert float(buffer_needed(0.1, gbps(400))) == pytest.approx(5e9)
    assert float(incast_fill_time(64e6, 32, gbps(400))) == pytest.approx(41.29e-6, rel=1e-3)
    assert float(incast_fill_time(64e6, 1, gbps(400))) == np.inf
    # 1 MB at 40 Gb/s drains in 200 us (Zhu et al., 2016)
    assert float(drain_time(1e6, gbps(40))) == pytest.approx(200e-6)
    assert drain_time([0, 1e6], 1e9, 1e9).tolist() == [0, np.inf]


def test_filling_and_draining_are_one_rate() -> None:
    """What 31 ports too many bring in 41 us takes 31 times as long to leave."""
    fill = float(incast_fill_time(64e6, 32, gbps(400)))
    assert float(drain_time(64e6, gbps(400))) == pytest.approx(31 * fill)


def test_the_first_round_trip_of_an_incast() -> None:
    """ns-3, HPCC, 100 Gb/s, 14.17 us: 1.308 and 5.99 MB measured for 8 and 32 senders, with 9 % of headers."""
    peak = incast_peak([8, 32], gbps(100) * 14.17e-6, 1.09)
    assert peak == pytest.approx([1.308e6, 5.99e6], rel=0.05)
    assert float(incast_peak(1, 1e5)) == 0


def test_dctcp_steps() -> None:
    """K > C RTT / 7: 25 KB at 100 Gb/s and 14 us, 86 KB at 400 Gb/s and 12 us."""
    assert float(dctcp_threshold(gbps(100), 14e-6)) == pytest.approx(25e3)
    assert float(dctcp_threshold(gbps(400), 12e-6)) == pytest.approx(85.7e3, rel=1e-3)


@pytest.mark.parametrize("flows", [1, 2, 3, 7, 30])
def test_the_paced_queue_is_ramanujans_sum(flows: int) -> None:
    """Q(N) = 1 + (N - 1)/N + (N - 1)(N - 2)/N^2 + ..., summed term by term."""
    term, total = 1.0, 0.0
    for k in range(1, flows + 1):
        total += term
        term *= (flows - k) / flows
    assert float(paced_queue(flows)) == pytest.approx(total / 2, rel=1e-12)


@pytest.mark.parametrize("flows", [1, 2, 10, 100, 1000])
def test_the_paced_queue_by_running_the_queue(flows: int) -> None:
    found = sampled_queue(flows, 4000 if flows < 1000 else 1500, np.random.default_rng(flows))
    error = found.std() / np.sqrt(found.size)
    assert abs(found.mean() - float(paced_queue(flows))) < 4 * error + 1e-9


@pytest.mark.parametrize("flows", [5, 50])
def test_the_paced_queue_is_the_kolmogorov_smirnov_statistic(flows: int) -> None:
    from scipy.stats import ksone

    assert float(paced_queue(flows)) == pytest.approx(flows * ksone(flows).mean(), rel=1e-6)


def test_the_queue_of_perfect_rates_grows_as_a_root() -> None:
    """0.62 packets times sqrt(N) at 1,000 and 5,000 flows; sqrt(pi / 8) = 0.627 in the limit, a sixth below it."""
    flows = np.array([1000, 5000])
    assert (paced_queue(flows) / np.sqrt(flows)).round(2).tolist() == [0.62, 0.62]
    assert paced_queue(flows) - paced_queue_limit(flows) == pytest.approx(-1 / 6, abs=2e-3)
    assert float(paced_queue_limit(1)) == pytest.approx(0.6267, abs=1e-4)


def test_sampled_queue_refuses_what_cannot_be_held() -> None:
    rng = np.random.default_rng(0)
    for flows, trials, said in ((0, 1, "flows = 0"), (1, 0, "trials = 0"), (10**6, 10**4, "too much to hold")):
        with pytest.raises(ValueError, match=said):
            sampled_queue(flows, trials, rng)


def test_goodput_under_loss() -> None:
    """W = 122 packets of 4,096 bytes (500 kB): 99.9, 98.8, 89.1, 44.8 and 28.7 %; selective repeat 98 % at 2 %."""
    found = go_back_n_goodput([1e-5, 1e-4, 1e-3, 1e-2, 2e-2], 122) * 100
    assert found.round(1).tolist() == [99.9, 98.8, 89.1, 44.8, 28.7]
    assert 1 - float(selective_repeat_goodput(0.02)) == pytest.approx(0.02)
    assert float(go_back_n_goodput(halving_loss(122), 122)) == pytest.approx(0.5)
    assert go_back_n_goodput([0.0, 0.3], 1).tolist() == pytest.approx([1.0, 0.7])  # a window of one repeats one


@pytest.mark.parametrize(("loss", "window"), [(0.02, 122), (0.001, 122), (0.1, 8), (0.3, 1), (0.5, 20)])
def test_goodput_packet_by_packet(loss: float, window: int) -> None:
    rng = np.random.default_rng(7)
    back = simulate_transfer("go-back-n", loss, window, 30_000, rng)
    expected = float(go_back_n_goodput(loss, window))
    losses = max(back.lost, 1)
    assert back.goodput == pytest.approx(expected, rel=4 / np.sqrt(losses) + 2 * window / 30_000)
    assert back.lost / back.sent == pytest.approx(loss, rel=5 / np.sqrt(losses))
    select = simulate_transfer("selective-repeat", loss, window, 30_000, rng)
    assert select.goodput == pytest.approx(1 - loss, rel=0.02)
    assert select.sent == 30_000 + select.lost  # nothing is sent again that was not lost


def test_a_narrow_reorder_window_stalls_selective_repeat() -> None:
    """Room for one round trip is not enough: each loss holds the window's foot for a round trip."""
    narrow = simulate_transfer("selective-repeat", 0.01, 100, 20_000, np.random.default_rng(1), reorder=100)
    wide = simulate_transfer("selective-repeat", 0.01, 100, 20_000, np.random.default_rng(1), reorder=800)
    assert narrow.goodput < 0.7 < 0.95 < wide.goodput
    assert narrow.silent > 0
    held = simulate_transfer("go-back-n", 0.0, 100, 5_000, np.random.default_rng(1), reorder=50)
    assert held.goodput == pytest.approx(0.5, abs=0.02)  # half a round trip of window, half of the rate


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["go-back-n", "selective-repeat"]), st.floats(0, 0.6), st.integers(1, 40), st.integers(1, 300),
    st.one_of(st.none(), st.integers(1, 80)), st.integers(0, 2**31),
)  # fmt: skip
def test_a_transfer_ends_with_everything_delivered(scheme, loss, window, packets, reorder, seed) -> None:
    done = simulate_transfer(scheme, loss, window, packets, np.random.default_rng(seed), reorder)
    assert done.delivered == packets
    assert done.sent >= packets + (done.lost if scheme == "selective-repeat" else 0)
    assert 0 < done.goodput <= 1
    if loss == 0 and reorder is None:
        assert done.sent == packets


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scheme": "hope"}, "scheme = 'hope' is not one of go-back-n, selective-repeat"),
        ({"loss": 1.0}, "loss = 1 leaves nothing"),
        ({"loss": 0.95}, "loss = 0.95 would make the transfer endless"),
        ({"window": 0}, "window = 0 must be between 1"),
        ({"packets": 10**7, "loss": 0.5, "window": 1000}, "take more than 5e7 slots"),
        ({"reorder": 0}, "reorder = 0 must be between 1"),
    ],
)
def test_a_transfer_that_makes_no_sense(change: dict, said: str) -> None:
    right = {"scheme": "go-back-n", "loss": 0.01, "window": 8, "packets": 10, "rng": np.random.default_rng(0)}
    with pytest.raises(ValueError, match=said):
        simulate_transfer(**{**right, **change})


CRISP, WIDE = Link(2e-6, gbps(200)), Link(8e-6, gbps(400))


def test_when_latency_beats_bandwidth() -> None:
    """200G at 2 us against 400G at 8 us: 300 kB a step; rings of 8, 64, 512, 1,024: 2.4, 19.2, 153.6, 307.2 MB."""
    step = float(break_even_step(CRISP, WIDE))
    assert step == pytest.approx(300e3)
    assert [step * n / 1e6 for n in (8, 64, 512, 1024)] == pytest.approx([2.4, 19.2, 153.6, 307.2])
    # a pipelined tree of 12 steps that moves 2 S / 8: 14.4 MB
    assert step * 12 * 8 / 2 == pytest.approx(14.4e6)


@pytest.mark.parametrize("n", [8, 512])
def test_the_same_by_searching_where_two_costs_cross(n: int) -> None:
    def ring(link):
        return lambda size: 2 * (n - 1) * link.time(size / n)

    found = float(crossover_size(ring(CRISP), ring(WIDE)))
    assert found == pytest.approx(n * float(break_even_step(CRISP, WIDE)), rel=1e-9)


def test_jitter_that_all_wait_for_stretches_the_step() -> None:
    """Exponential with means of 2 and 8 us, the slowest of 512: 2.04 MB a step, 1.05 GB for the ring."""
    step = float(break_even_step(jittered(CRISP, 512), jittered(WIDE, 512)))
    assert step == pytest.approx(2.045e6, rel=1e-3)
    assert step * 512 == pytest.approx(1.05e9, rel=0.01)
    drawn = np.random.default_rng(1).exponential(2e-6, (4000, 64)).max(axis=1)
    assert float(jittered(CRISP, 64).alpha) == pytest.approx(drawn.mean(), rel=0.03)
    assert jittered(CRISP, 1).alpha == CRISP.alpha


def test_links_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match="crisp must have the lower alpha"):
        break_even_step(WIDE, CRISP)
    with pytest.raises(ValueError, match="crisp must have the lower alpha"):
        break_even_step(CRISP, CRISP)
    with pytest.raises(ValueError, match="ranks = 0"):
        jittered(CRISP, 0)
