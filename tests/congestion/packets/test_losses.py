"""Losses: closed forms of goodput, full buffers, trimming, and what go-back-N and selective repeat do about it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.packets.drops import Buffers, Losses, fitting
from netlib.congestion.packets.engine import Engine, Run, Switches, run
from netlib.congestion.packets.gates import Pfc
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.scenarios import one_flow
from netlib.congestion.packets.traffic import incast, together
from netlib.links import Link
from tests.congestion.packets.steady import LINK, PACKET, RATE, US, Steady

BACK, AGAIN = Recovery("go-back-n", 500 * US), Recovery("selective-repeat", 500 * US)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("loss", [1e-3, 1e-2, 2e-2])
@pytest.mark.parametrize("scheme", ["go-back-n", "selective-repeat"])
def test_goodput_under_random_loss_follows_its_closed_form(scheme: str, loss: float) -> None:
    window = 60
    link = Link((window * 1000 / RATE - 2 * 1000 / RATE) / 4, RATE)  # `window` packets in a round trip
    made = together([one_flow(1e9, link, PACKET)] * 24)
    assert made.base_rtt()[0] * RATE / 1000 == pytest.approx(window)
    lossy = Switches(loss=loss, lossy=tuple(range(0, 48, 2)))
    time = 1500 * US
    done = run(made, Steady(made), time, rng(), lossy, dt=0.2 * US, recovery=Recovery(scheme, np.inf))
    got = done.acked.sum() / 24 / (RATE * (time - made.base_rtt()[0]))
    expected = (1 - loss) / (1 - loss + loss * window) if scheme == "go-back-n" else 1 - loss
    assert got == pytest.approx(expected, rel=0.05 if scheme == "go-back-n" else 0.01)
    assert done.counters["packet_seq_err"].sum() > 10
    lost = done.counters["dropped"].sum() / 1000
    sent = RATE * time * 24 / 1000
    assert lost == pytest.approx(loss * sent, rel=0.2)  # three sigma at the least loss
    if scheme == "go-back-n":
        assert done.counters["retransmitted"].sum() > 0.6 * window * done.counters["packet_seq_err"].sum()
    else:
        assert done.counters["retransmitted"].sum() <= lost


def finished(done: Run, size: float) -> None:
    assert not np.isnan(done.finish).any()
    np.testing.assert_allclose(done.acked, size, atol=1)


@pytest.mark.parametrize("recovery", [BACK, AGAIN])
@pytest.mark.parametrize("hops", [2, 3])
def test_a_lost_tail_is_found_by_the_timeout(recovery: Recovery, hops: int) -> None:
    made = one_flow(20e3, LINK, PACKET, hops)
    engine = Engine(made, Steady(made), Switches(loss=0.5, lossy=(0,)), rng(), 0.2 * US, recovery)
    assert engine.drops is not None
    assert engine.drops._cable is not None

    class Once:
        """The generator's place: only the last packet is hit, and only once."""

        left = 1

        def binomial(self, n: np.ndarray, p: np.ndarray) -> np.ndarray:
            hit = np.zeros(len(n), np.int64)
            if len(n) and n.sum() and engine.nics.left[0] == 0 and engine.drops._cable._passed[0] > 19.5e3:
                hit[0], self.left = self.left, 0
            return hit

    engine.drops._cable._rng = Once()  # type: ignore[assignment]
    while engine.open and engine.step < 20_000:
        engine.advance()
    assert engine.repeats is not None
    assert engine.repeats.timeouts.tolist() == [1]
    assert engine.repeats.packet_seq_err.tolist() == [0]
    assert engine.repeats.repeated[0] == pytest.approx(1, abs=2 * (recovery is BACK))  # a gap is known to a step
    alone = run(made, Steady(made), 1e-3, rng(), dt=0.2 * US).finish[0]
    wait = engine.finish[0] - alone
    assert 0.8 * recovery.timeout < wait < recovery.timeout + made.base_rtt()[0] + 2 * US


@pytest.mark.parametrize("recovery", [BACK, AGAIN])
def test_a_gap_costs_one_round_trip_and_no_timeout(recovery: Recovery) -> None:
    made = one_flow(100e3, LINK, PACKET)  # 100 packets, 8 us to send; the tenth is hit
    engine = Engine(made, Steady(made), Switches(loss=0.5, lossy=(0,)), rng(), 0.2 * US, recovery)

    class Tenth:
        left = 1

        def binomial(self, n: np.ndarray, p: np.ndarray) -> np.ndarray:
            hit = np.zeros(len(n), np.int64)
            if len(n) and engine.drops._cable._passed[0] >= 10e3:
                hit[0], self.left = self.left, 0
            return hit

    engine.drops._cable._rng = Tenth()  # type: ignore[union-attr, assignment]
    while engine.open and engine.step < 5000:
        engine.advance()
    seen = engine.repeats
    assert seen is not None
    assert (seen.timeouts.tolist(), seen.packet_seq_err.tolist()) == ([0], [1])
    trip = made.base_rtt()[0]
    clean = 100e3 / RATE + trip
    if recovery is AGAIN:
        assert seen.repeated.tolist() == [1]
        assert engine.finish[0] == pytest.approx(max(clean + 0.08 * US, 0.8 * US + 2 * trip), abs=0.8 * US)
    else:
        assert seen.repeated[0] == pytest.approx(100 - 9, abs=3), "all that followed within the round trip"
        assert engine.finish[0] == pytest.approx(0.8 * US + trip + clean - 0.8 * US, abs=1.2 * US)
        assert seen.out_of_sequence[0] + 1 == pytest.approx(seen.repeated[0], abs=1.01)


@given(
    senders=st.integers(2, 8), room=st.integers(5, 80), shared=st.booleans(), trim=st.booleans(),
    seed=st.integers(0, 99), window=st.integers(4, 60), loss=st.sampled_from([0.0, 0.01]),
)  # fmt: skip
@settings(max_examples=20, deadline=None)
def test_every_byte_is_delivered_once_and_no_buffer_overflows(
    senders: int, room: int, shared: bool, trim: bool, seed: int, window: int, loss: float
) -> None:
    made = incast(senders, 100e3, LINK, PACKET)
    size = room * 1000.0
    buffers = Buffers(queue=1e9, shared=size, trim=trim) if shared else Buffers(queue=size, trim=trim)
    sender = Steady(made, window=window * 1000.0)
    engine = Engine(made, sender, Switches(buffers=buffers, loss=loss), rng(seed), 0.25 * US, AGAIN)
    assert engine.drops is not None
    assert engine.repeats is not None
    while engine.open and engine.step < 40_000:
        engine.advance()
        assert engine.queues.length[0] <= size + 1e-6
        np.testing.assert_allclose(
            engine.nics.sent, 100e3 - engine.nics.left + engine.repeats.repeated * 1000, atol=1e-3
        )  # what was sent is new or repeated
        assert (engine.nics.flying >= -1e-3).all()
        assert (engine.acked <= 100e3 + 1e-3).all()
    np.testing.assert_allclose(engine.acked, 100e3, atol=1)
    np.testing.assert_allclose(engine.nics.flying, 0, atol=1)
    np.testing.assert_allclose(sender.lost, engine.repeats.repeated * 1000)
    lost = engine.drops.lost.sum() + engine._lost_on_last.sum()
    assert lost == pytest.approx(engine.repeats.repeated.sum() * 1000, abs=senders)
    if trim and loss == 0:
        assert engine.trimmed.sum() == pytest.approx(engine.repeats.repeated.sum())
        assert engine.repeats.timeouts.sum() == 0, "a header tells at once"


def test_more_room_loses_less() -> None:
    made = together([incast(8, 200e3, LINK, PACKET)] * 6)
    lost = []
    for room in (10e3, 40e3, 160e3, 640e3, 2e6):
        sender = Steady(made, window=100e3)
        done = run(made, sender, 5e-3, rng(), Switches(buffers=Buffers(room)), recovery=AGAIN)
        lost.append(done.counters["dropped"].sum())
        finished(done, 200e3)
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > lost[2] > lost[-1] == 0


def test_go_back_n_repeats_far_more_than_selective_repeat() -> None:
    made = incast(4, 400e3, LINK, PACKET)
    how = Switches(buffers=Buffers(150e3))
    again, back = (run(made, Steady(made, window=60e3), 20e-3, rng(), how, recovery=each) for each in (AGAIN, BACK))
    finished(again, 400e3)
    finished(back, 400e3)
    assert back.counters["retransmitted"].sum() > 3 * again.counters["retransmitted"].sum() > 0
    assert back.finish.max() > again.finish.max()
    np.testing.assert_allclose(again.counters["trimmed"], 0)


def test_a_dynamic_limit_keeps_room_for_others() -> None:
    made = incast(8, 300e3, LINK, PACKET)
    how = Switches(buffers=Buffers(queue=np.inf, shared=120e3, alpha=1.0))
    done = run(made, Steady(made, window=50e3), 10e-3, rng(), how, recovery=AGAIN)
    assert done.peak[0] == pytest.approx(60e3, abs=2e3)  # q = alpha (B - q)
    finished(done, 300e3)


def test_trimming_tells_within_a_round_trip_and_keeps_the_link_busy() -> None:
    made = incast(8, 500e3, LINK, PACKET)
    cut = Switches(buffers=Buffers(60e3, trim=True))
    done = run(made, Steady(made, window=100e3), 10e-3, rng(), cut, recovery=AGAIN)
    finished(done, 500e3)
    assert done.counters["trimmed"].sum() > 100
    assert done.counters["local_ack_timeout_err"].sum() == 0
    assert done.finish.max() == pytest.approx(8 * 500e3 / RATE + made.base_rtt()[0], rel=0.02)


def test_pauses_with_headroom_lose_nothing_and_without_do() -> None:
    made = incast(4, 300e3, LINK, PACKET)
    flying = 4 * RATE * 4 * US + 20e3
    for spare, loses in ((flying, False), (0.2 * flying, True)):
        how = Switches(pfc=Pfc(np.inf, 0, 30e3, 5e3, 0), buffers=Buffers(120e3 + spare))
        done = run(made, Steady(made), 5e-3, rng(), how, recovery=AGAIN)
        finished(done, 300e3)
        assert (done.counters["dropped"].sum() > 0) == loses


@given(seed=st.integers(0, 10**6), chance=st.floats(0.01, 0.5))
@settings(max_examples=30)
def test_a_cable_destroys_whole_packets(seed: int, chance: float) -> None:
    source = rng(seed)
    cable = Losses(np.array([chance, 0.0]), 1000.0, source)
    gone = np.zeros(2)
    for _ in range(300):
        coming = source.random(2) * 2500
        lost = cable.of(coming)
        assert (lost <= coming + 1e-9).all()
        gone += lost
    assert gone[1] == 0
    assert (gone[0] + cable._owed[0]) % 1000 == pytest.approx(0, abs=1e-3) or (
        (gone[0] + cable._owed[0]) % 1000 > 999.999
    )
    packets = cable._passed[0] / 1000
    assert abs(gone[0] / 1000 - chance * packets) < 5 * np.sqrt(packets * chance * (1 - chance)) + 2


@given(seed=st.integers(0, 10**6))
def test_fitting_fills_each_group_and_no_more(seed: int) -> None:
    source = rng(seed)
    coming = source.integers(0, 5, 12) * 1000.0
    group, free = source.integers(0, 3, 12), source.random(3) * 9000
    kept = fitting(coming, group, free, 1000.0, source)
    assert ((kept >= 0) & (kept <= coming) & (kept % 1000 == 0)).all()
    for k in range(3):
        mine = group == k
        assert kept[mine].sum() <= free[k] + 1e-3
        if coming[mine].sum() <= free[k]:
            assert (kept[mine] == coming[mine]).all()
        else:
            assert kept[mine].sum() > free[k] - 5000, "what is refused would not have fitted"


def test_what_cannot_be_is_refused() -> None:
    made = incast(2, 1e5, LINK, PACKET)
    for how in (Switches(loss=0.01), Switches(buffers=Buffers(1e4))):
        with pytest.raises(ValueError, match="recovery = None with packets that can be lost; give"):
            run(made, Steady(made), 1e-3, rng(), how)
    with pytest.raises(ValueError, match="does not fit trimmed packets"):
        run(made, Steady(made), 1e-3, rng(), Switches(buffers=Buffers(1e4, trim=True)), recovery=BACK)
    with pytest.raises(ValueError, match="is not one of: 'go-back-n', 'selective-repeat'"):
        Recovery("hope", 1e-3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"loss = 0\.9 is a share of packets"):
        Switches(loss=0.9)
    with pytest.raises(ValueError, match="lossy = 7 is not a link of this traffic"):
        run(made, Steady(made), 1e-3, rng(), Switches(loss=0.1, lossy=(7,)), recovery=AGAIN)
