"""The engine: what is conserved, what never happens, and cases that are computed by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.packets.engine import Engine, Heard, Run, Switches, run
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.marks import new_marks, red, whole
from netlib.congestion.packets.traffic import Packet, Traffic, incast, together, traffic
from netlib.congestion.parameters import Marking
from netlib.links import Link
from tests.congestion.packets.steady import LINK, PACKET, RATE, US, Steady

PFC = Switches(pfc=Pfc(np.inf, 0, 30e3, 5e3, 0))
DEEP = Switches(pfc=Pfc(np.inf, 0, 100e3, 5e3, 0))  # no link idles while its pause ends
CREDITS = Switches(credits=LinkCredits(50e3, 0))


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def chain(seed: int, flows: int) -> Traffic:
    """Flows of one to three hops over a few shared links, of several speeds and lengths."""
    source = rng(seed)
    middle = 3
    way = np.full((flows, 4), -1)
    for flow in range(flows):
        inner = np.sort(source.choice(middle, source.integers(0, middle), replace=False))
        row = [flow, *(flows + inner), flows + middle + source.integers(0, 2)]
        way[flow, : len(row)] = row
    links = flows + middle + 2
    speed = RATE * source.choice([0.5, 1, 2], links)
    return traffic(way, source.integers(1, 60, flows) * 1000.0, speed, source.choice([1, 2, 3], links) * US, PACKET)


@given(seed=st.integers(0, 10**6), flows=st.integers(1, 6), how=st.sampled_from([Switches(), PFC, CREDITS]))
@settings(max_examples=25, deadline=None)
def test_bytes_are_conserved_and_no_link_is_faster_than_it_is(seed: int, flows: int, how: Switches) -> None:
    made = chain(seed, flows)
    dt = 0.2 * US
    engine = Engine(made, Steady(made), how, rng(), dt)
    at, queues = engine.at, engine.queues
    first, last = at.entry, at.exit
    nic_sent = np.zeros(len(made.capacity))
    while engine.open and engine.step < 8000:
        gone, sent, left = queues.gone.copy(), engine.nics.sent.copy(), queues.left.copy()
        engine.advance()
        assert (queues.gone - gone <= made.capacity[at.link] * dt + 1e-6).all()
        assert (queues.left >= left - 1e-9).all()
        assert (queues.left <= queues.came + 1e-9).all()
        nic_sent += np.bincount(made.sender, engine.nics.sent - sent, len(nic_sent))
        most = made.capacity * (engine.step * dt) + 1000  # a packet counts when it begins
        assert (nic_sent <= most + 1e-6).all()
        np.testing.assert_allclose(
            np.bincount(at.queue, queues.came - queues.left, len(at.link)), queues.length, atol=1e-5
        )
        assert (engine.nics.sent >= queues.came[first] - 1e-6).all()
        on = at.after >= 0
        assert (queues.came[at.after[on]] <= queues.left[on] + 1e-6).all()
        assert (engine.acked <= queues.left[last] + 1e-6).all()
        np.testing.assert_allclose(engine.nics.sent + engine.nics.left, made.wire)
        np.testing.assert_allclose(engine.nics.flying, engine.nics.sent - engine.acked, atol=1e-6)
    np.testing.assert_allclose(engine.acked, made.wire, atol=0.5)


@given(seed=st.integers(0, 10**6), flows=st.integers(2, 6), how=st.sampled_from([Switches(), PFC, CREDITS]))
@settings(max_examples=15, deadline=None)
def test_a_batch_is_its_parts_and_the_order_of_flows_is_nothing(seed: int, flows: int, how: Switches) -> None:
    parts = [chain(seed + k, flows + k) for k in range(3)]
    both = together(parts)
    whole_ = run(both, Steady(both), 3e-3, rng(), how, dt=0.2 * US)
    for k, part in enumerate(parts):
        alone = run(part, Steady(part), 3e-3, rng(), how, dt=0.2 * US)
        np.testing.assert_array_equal(whole_.finish[both.scenario == k], alone.finish)
    made = parts[0]
    order = rng(seed).permutation(flows)
    mixed = traffic(made.way[order], made.size[order], made.capacity, made.latency, PACKET)
    there = run(made, Steady(made), 3e-3, rng(), how, dt=0.2 * US)
    here = run(mixed, Steady(mixed), 3e-3, rng(), how, dt=0.2 * US)
    np.testing.assert_allclose(here.finish, there.finish[order], atol=0.41 * US)  # sums in another order round


def same(a: Run, b: Run) -> bool:
    return all(np.array_equal(a.series[name], b.series[name]) for name in a.series) and np.array_equal(
        a.finish, b.finish, equal_nan=True
    )


class Half(Steady):
    """Halves the rate at a CNP."""

    def react(self, now: float, heard: Heard) -> None:
        self.rate = np.where(heard.cnp, self.rate / 2, self.rate)


def test_the_same_seed_gives_the_same_bits_and_another_one_others() -> None:
    made = incast(4, 400e3, LINK, PACKET)
    how = Switches(Marking(20e3, 200e3, 0.2), cnp_interval=5 * US)
    first, again, other = (run(made, Half(made), 0.5e-3, rng(seed), how) for seed in (1, 1, 2))
    assert same(first, again)
    assert not same(first, other)
    assert first.cnps.sum() > 0
    assert first.marked.sum() >= first.cnps.sum()


@pytest.mark.parametrize("senders", [1, 2, 8, 32])
@pytest.mark.parametrize("how", [Switches(), DEEP], ids=["free", "pfc"])
def test_an_incast_ends_when_its_packets_are_through(senders: int, how: Switches) -> None:
    made = incast(senders, 200e3, Link(3.5 * US, RATE), Packet(1000, 1038))
    done = run(made, Steady(made), 10e-3, rng(), how)
    expected = senders * 200 * 1038 / RATE + made.base_rtt()[0] - 1038 / RATE
    assert done.finish.max() == pytest.approx(expected, abs=3 * 0.25 * US + senders * 1038 / RATE * (how is DEEP))
    if how is not DEEP and senders > 1:
        burst = senders * 200 * 1038 * (1 - 1 / senders)  # all sent at line rate: all but what the link took meanwhile
        assert done.peak[0] == pytest.approx(burst, rel=0.04)


def test_two_flows_by_hand() -> None:
    # 100 and 50 packets of 80 ns, the second 1.6 us later; half the link each from 1.6 us until the second has ended.
    made = traffic([[0, 2], [1, 2]], [100e3, 50e3], [RATE] * 3, [2 * US] * 3, PACKET, start=[0, 1.6 * US])
    done = run(made, Steady(made), 1e-3, rng(), dt=0.08 * US)
    trip = made.base_rtt()[0]
    # 1.6 us alone, then 50 packets each: 8 us; of the first 30 are left, which the queue (FIFO) holds among others
    assert done.finish[1] == pytest.approx(trip + 100 * 0.08 * US - 0.08 * US, abs=0.25 * US)
    assert done.finish[0] == pytest.approx(trip + 150 * 0.08 * US - 0.08 * US, abs=0.25 * US)
    assert done.peak[0] == pytest.approx(50e3, abs=2e3)  # two come, one leaves, for 4 us


def test_an_empty_network_has_its_base_round_trip() -> None:
    for dt in (0.05 * US, 0.25 * US, 0.5 * US):
        made = traffic([[0, 1, 2]], 1000, [RATE] * 3, [2 * US] * 3, PACKET)
        done = run(made, Steady(made), 1e-3, rng(), dt=dt)
        assert done.finish[0] == pytest.approx(made.base_rtt()[0], abs=3 * dt)


def test_steps_of_half_a_microsecond_change_little() -> None:
    made = incast(8, 500e3, Link(3.5 * US, RATE), Packet(1000, 1038))
    for how in (Switches(), PFC):
        fine, coarse = (run(made, Steady(made, window=175e3), 5e-3, rng(), how, dt=dt) for dt in (0.1 * US, 0.5 * US))
        np.testing.assert_allclose(coarse.finish, fine.finish, rtol=0.02)
        assert coarse.peak[0] == pytest.approx(fine.peak[0], rel=0.02 if how is not PFC else 0.06)


def test_red_marks_the_share_that_it_promises() -> None:
    rule = Marking(5e3, 205e3, 0.1)
    assert red(np.array([5e3, 105e3, 204e3]), rule).tolist() == pytest.approx([0, 0.05, 0.0995])
    assert red(np.array([9e3, 10e3]), Marking(10e3, 10e3, 1.0)).tolist() == [0, 1]
    many = np.full(2000, 5000.0)
    found = new_marks(many, many, np.array([105e3]), np.zeros(2000, int), rule, 1000.0, rng())
    assert found is not None
    assert found.sum() == pytest.approx(10_000 * 0.05, rel=0.15)
    assert found.max() <= 5
    assert new_marks(many, many, np.array([5e3]), np.zeros(2000, int), rule, 1000.0, rng()) is None
    assert new_marks(many, many * 0, np.array([105e3]), np.zeros(2000, int), rule, 1000.0, rng()) is None
    assert whole(np.array([3000.0, 3000.0]), np.array([2999.0, 3000.0]), 1000.0).tolist() == [3, 3]


@pytest.mark.parametrize("when", ["arrival", "departure"])
@pytest.mark.parametrize("hops", [1, 2])
def test_every_packet_beyond_the_step_is_marked_and_heard_of(when: str, hops: int) -> None:
    inner = list(range(4, 4 + hops))
    made = traffic([[k, *inner] for k in range(4)], 200e3, [RATE] * (4 + hops), [2 * US] * (4 + hops), PACKET)
    how = Switches(Marking(20e3, 20e3, 1.0, when), cnp_interval=10 * US)  # type: ignore[arg-type]
    seen = []

    class Note(Steady):
        def react(self, now: float, heard: Heard) -> None:
            seen.append((heard.acked.sum(), heard.marked.sum(), heard.cnp.sum()))

    done = run(made, Note(made), 3e-3, rng(), how)
    acked, marked, cnps = (sum(each) for each in zip(*seen, strict=True))
    assert acked == pytest.approx(800e3)
    assert marked == pytest.approx(800 - 20 - (20 if when == "departure" else 4), abs=26)
    assert done.cnps.sum() == cnps
    spans = 4 * (64 * US) / (10 * US)
    assert cnps == pytest.approx(spans, rel=0.2)


def test_the_series_add_up() -> None:
    made = incast(4, 300e3, LINK, PACKET)
    how = Switches(Marking(20e3, 100e3, 0.5), PFC.pfc)
    done = run(made, Steady(made), 5e-3, rng(), how, every=10)
    step = np.diff(done.time)
    np.testing.assert_allclose(step, 10 * done.dt)
    late = done.steps % 10 * done.dt * RATE
    np.testing.assert_allclose((done.rate[1:] * step[:, None]).sum(axis=0), done.acked, atol=late + 1)
    assert done.series["marks"].sum() <= done.marked.sum()
    assert done.series["pause"].max() <= 1 + 1e-9
    total = (done.series["pause"][1:] * step[:, None]).sum(axis=0)
    assert (total <= done.counters["rx_prio_pause_duration"] + 1e-12).all()
    assert total.sum() > 0
    assert done.series["ingress"].max() <= done.counters["ingress_peak"].max()
    np.testing.assert_array_equal(done.queue_of(4), done.queue[:, 0])
    np.testing.assert_array_equal(done.series["allowed"][0], [RATE] * 4)
    with pytest.raises(ValueError, match="link = 0, lane = 0 has no queue in this run"):
        done.queue_of(0)


def test_delay_is_what_the_queue_held() -> None:
    made = traffic([[0, 2, 3], [1, 2, 3]], 300e3, [RATE] * 4, [2 * US] * 4, PACKET)
    seen: list[tuple[float, float, float]] = []

    class Watch(Steady):
        def react(self, now: float, heard: Heard) -> None:
            if heard.acked[0] > 0:
                delay = heard.delay()[0]
                engine = heard._engine
                stamped = 0.0
                for valid, queue, step in heard.hops():
                    if valid[0]:
                        stamped += engine.log_length[step[0] % engine.log, queue[0]] / RATE
                seen.append((now, delay, stamped))

    run(made, Watch(made), 2e-3, rng())
    now, delay, _ = np.array(seen).T
    # Two come for one that leaves: a byte sent at t waits t, half of the time since its flow began.
    sent = now - delay - made.base_rtt()[0]
    early = sent < 20 * US
    np.testing.assert_allclose(delay[early], sent[early], atol=1.5 * US)


def test_the_log_is_as_long_as_a_byte_is_under_way() -> None:
    # Two senders share a cable that leads to one of a tenth of the rate: a millisecond waits there, and little before.
    made = traffic([[0, 2, 3], [1, 2, 3]], 800e3, [RATE, RATE, RATE, RATE / 10], [2 * US] * 4, PACKET)
    seen: list[float] = []

    class Watch(Steady):
        def react(self, now: float, heard: Heard) -> None:
            if heard.acked[0] > 0 and now > 500 * US:
                engine = heard._engine
                for valid, queue, step in heard.hops():
                    if valid[0] and engine.at.link[queue[0]] == 2:
                        seen.append(float(engine.log_length[step[0] % engine.log, queue[0]]))
                        assert engine.step - step[0] < engine.log

    engine = Engine(made, Watch(made), Switches(), rng(), 0.25 * US)
    for _ in range(3500):
        engine.advance()
    assert engine.log * 0.25 * US > 800 * US
    # what left the first queue some 60 us after the start saw it filled by one more link's worth until then
    first = np.array(seen)
    assert first.max() == pytest.approx(RATE * 70 * US, rel=0.3)
    assert (np.diff(first) > -1e-6).mean() > 0.9


def test_what_cannot_be_is_refused() -> None:
    made = incast(2, 1e5, LINK, PACKET)
    for words, arguments in {
        "dt = 1e-05 is too long for a round trip of 8.16e-06 s": {"dt": 1e-5},
        "every = 0 must be at least 1": {"every": 0},
        "until = 0 must be above 0": {"until": 0.0},
        "rng = '3' must be a random generator|rng = 3 must be a random generator": {"rng": 3},
        "switches = 'x' is not a Switches": {"switches": "x"},
        "recovery = 'x' is not a Recovery": {"recovery": "x"},
        "spread = 'x' is not a Spread": {"spread": "x"},
    }.items():
        with pytest.raises(ValueError, match=words):
            run(**({"traffic": made, "sender": Steady(made), "until": 1e-3, "rng": rng()} | arguments))  # type: ignore[arg-type]
