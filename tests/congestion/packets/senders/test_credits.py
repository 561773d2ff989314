"""Credits of the receiver: exact times, who gets how much, and the incasts beside uet-htsim's."""

from __future__ import annotations

import numpy as np
import pytest

from netlib.congestion import preset
from netlib.congestion.packets.drops import Buffers
from netlib.congestion.packets.engine import Engine, Switches, run
from netlib.congestion.packets.recovery import Recovery
from netlib.congestion.packets.senders.credits import CreditSender
from netlib.congestion.packets.traffic import Packet, incast, together
from netlib.congestion.parameters import Credits
from netlib.links import Link
from tests.congestion.packets.senders.spoken import HTSIM, Said, incasts, jain, mean_of

QUEUE = 43 * 4150
TRIM = Switches(buffers=Buffers(QUEUE, trim=True))
AGAIN = Recovery("selective-repeat", timeout=np.inf)
RCCC, NDP = preset("credits", "rccc", 12.5e9), Credits(1.0, 1.0, np.inf, echo=True)
TWO = incast(2, 1e6, Link(1e-6, 50e9), Packet(1000, 1000))


def test_walk() -> None:
    """Unused first credit is void; then the link's bytes in credits, in turn."""
    said, sender = Said(TWO), CreditSender(TWO, Credits(start=1.0, rate=1.0, backlog=1.5))
    nics = said.engine.nics
    nics.sent[:], nics.flying[:], nics.left[:] = 50_000, 50_000, 950_000
    sender.react(0.0, said.says())
    assert sender.credit.tolist() == pytest.approx([152_000, 152_000])
    nics.flying[:] -= [1000, 0]
    sender.react(1e-7, said.says([1000, 0]))  # the first is heard of: it begins anew, with all 5 packets of 0.1 us
    assert sender.credit.tolist() == pytest.approx([5000, 152_000])
    sender.react(2e-7, said.says())
    assert sender.credit.tolist() == pytest.approx([10_000, 152_000])
    sender.react(3e-7, said.says([0, 1000]))
    assert sender.credit.tolist() == pytest.approx([12_000, 3000])  # three of five: it has waited longer
    assert sender.window.tolist() == pytest.approx((nics.flying + sender.credit).tolist())


@pytest.mark.parametrize("each", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("flows", [2, 3])
def test_turns_go_on_from_one_step_to_the_next(each: int, flows: int) -> None:
    """However many credits a step holds: after 30 steps all have the same number. A B A is followed by B A B."""
    traffic = incast(flows, 1e9, Link(1e-6, 50e9), Packet(1000, 1000))
    said, sender = Said(traffic), CreditSender(traffic, Credits(start=0.0, rate=1.0, backlog=np.inf))
    for k in range(31):
        sender.react(k * each * 2e-8, said.says(1.0))
    assert sender.granted.tolist() == [30 * each / flows * 1000] * flows


def test_credits_ask_for_a_share_of_the_link_and_no_more_than_is_left() -> None:
    """Half of 50 packets a microsecond for 2 us; then credits of four packets for a sender that has six left."""
    said, sender = Said(TWO), CreditSender(TWO, Credits(start=0.0, rate=0.5, backlog=np.inf))
    sender.react(0.0, said.says(1.0))
    for k in range(1, 21):
        sender.react(k * 1e-7, said.says(1.0))
    assert sender.granted.tolist() == [25_000, 25_000]
    said, sender = Said(TWO), CreditSender(TWO, Credits(start=0.0, rate=1.0, backlog=np.inf, packets=4))
    said.engine.nics.left[:] = [6000, 0]
    for k in range(10):
        sender.react(k * 1e-7, said.says(1.0))
    assert sender.granted.tolist() == [6000, 0]


def test_nothing_is_asked_for_that_is_not_left() -> None:
    said, sender = Said(TWO), CreditSender(TWO, Credits(start=0.1, rate=1.0, backlog=1.5))
    said.engine.nics.left[:] = 1500
    for k in range(10):
        sender.react(k * 1e-7, said.says(1.0))
    assert sender.granted.tolist() == [2000, 2000]


def test_backlog_bounds_what_a_sender_holds() -> None:
    said, sender = Said(TWO), CreditSender(TWO, Credits(start=0.0, rate=1.0, backlog=0.1))
    for k in range(100):
        sender.react(k * 1e-6, said.says(1.0))
    assert sender.credit.max() <= 0.1 * 202_000 + 1000


def test_idle_receiver_saves_up_one_credit() -> None:
    said, sender = Said(TWO), CreditSender(TWO, Credits(start=0.1, rate=1.0, backlog=1.5, packets=4))
    said.engine.nics.left[:] = 0
    sender.react(1e-3, said.says(1.0))  # a millisecond in which nobody wanted anything
    said.engine.nics.left[:] = 1e6
    sender.react(1e-3 + 1e-9, said.says(1.0))
    assert sender.granted.sum() == 4000


def test_echo_gives_one_credit_for_one_packet() -> None:
    said, sender = Said(TWO), CreditSender(TWO, NDP)
    sender.react(0.0, said.says())
    for k in range(1, 50):
        sender.react(k * 1e-6, said.says([1000, 0], lost=[0, 1000]))
    assert sender.granted.tolist() == [49_000, 49_000]


@pytest.mark.parametrize("law", [Credits(1.0, 1.0, 1.5), NDP])
def test_one_flow_loses_nothing(law: Credits) -> None:
    traffic = incast(1, 2e6, Link(1e-6, 50e9), Packet(4000, 4150))
    made = run(traffic, CreditSender(traffic, law), 1e-3, np.random.default_rng(0), dt=0.5e-7)
    assert made.finish[0] == pytest.approx(500 * 4150 / 50e9 + 4.166e-6 - 4150 / 50e9, rel=0.005)


@pytest.mark.parametrize("law", [RCCC, Credits(1.0, 1.0, np.inf), NDP])
def test_what_was_trimmed_is_asked_for_again(law: Credits) -> None:
    traffic = incast(8, 5e5, Link(HTSIM[0], 12.5e9), HTSIM[1])
    sender = CreditSender(traffic, law)
    engine = Engine(traffic, sender, TRIM, np.random.default_rng(0), 0.25e-6, AGAIN)
    while engine.open and engine.step < 20_000:
        engine.advance()
        assert (sender.credit >= -4150 - 1e-6).all()  # any credit lets a whole packet go, no more
    assert not engine.open
    assert engine.trimmed.sum() > 50
    assert engine.nics.sent == pytest.approx(traffic.wire + engine.trimmed * 4150)
    first = law.start * 12.5e9 * traffic.base_rtt()[0]
    assert (engine.nics.sent <= first + sender.granted + 2 * 4150).all()


def test_turns_are_fair_and_start_does_not_matter() -> None:
    """A flow that comes late gets its share at once."""
    traffic = incast(4, 4e6, Link(HTSIM[0], 12.5e9), HTSIM[1], start=[0, 0, 0, 0.3e-3])
    made = run(traffic, CreditSender(traffic, RCCC), 0.8e-3, np.random.default_rng(0), TRIM, recovery=AGAIN)
    late = (made.time > 0.5e-3) & (made.time < 0.75e-3)
    assert jain(made.rate[late].mean(axis=0)) > 0.995


def test_batch_is_the_same_alone() -> None:
    def of(n: int):
        return incast(n, 4e5, Link(HTSIM[0], 12.5e9), HTSIM[1], start=np.arange(n) * 1e-7)

    both = together([of(3), of(8)])
    made = run(both, CreditSender(both, RCCC), 1e-2, np.random.default_rng(0))
    for part, where in ((of(3), slice(0, 3)), (of(8), slice(3, 11))):
        alone = run(part, CreditSender(part, RCCC), 1e-2, np.random.default_rng(0))
        assert made.finish[where].tolist() == alone.finish.tolist()


def test_beside_htsim() -> None:
    """RCCC of uet-htsim: 1300/1310/1315.3 and 5206/5246/5262.8 us, 304 and 1681 packets sent again."""
    seen, made = incasts(RCCC, HTSIM, [8] * 4 + [32] * 2, TRIM)
    eight, more = seen[:4], seen[4:]
    assert mean_of(eight) == pytest.approx(1309.9, rel=0.01)
    assert mean_of(eight, "max") == pytest.approx(1315.3, rel=0.01)
    assert mean_of(more) == pytest.approx(5246.2, rel=0.01)
    assert mean_of(more, "max") == pytest.approx(5262.8, rel=0.01)
    assert made.counters["trimmed"][:32].sum() / 4 == pytest.approx(304, rel=0.15)
    assert max(each.peak for each in seen) <= QUEUE + 1


def test_start_queue_drains_at_what_the_pace_leaves() -> None:
    """The first burst leaves one BDP; asked for 99 %, it drains in 1.4 ms, and a few packets stay (htsim: 9.2 kB)."""
    seen, _ = incasts(RCCC, HTSIM, [8], TRIM, size=5e6)
    time, queue = seen[0].time, seen[0].queue
    drained = time[(queue < 2e4) & (time > 1e-4)][0]
    assert drained == pytest.approx(QUEUE / (0.01 * 12.5e9), rel=0.15)
    assert queue[(time > 2e-3) & (time < 3e-3)].mean() < 12e3
