"""Storms: a slow receiver, a NIC that hangs, and the watchdog that frees the rest."""

import numpy as np
import pytest

from netlib.congestion import watchdog_outage
from netlib.congestion.lossless import (
    Hang,
    SlotRun,
    Watchdog,
    chain,
    run_slots,
    slow_receiver,
    slowed_all_to_all,
    sonic_watchdog,
    storm,
)
from netlib.congestion.lossless.slots import Slots
from netlib.congestion.lossless.watchdogs import Guard
from netlib.congestion.packets.traffic import incast
from netlib.topology import leaf_spine, one_switch
from tests.congestion.lossless.small import CREDITS, ENDLESS, LINK, PACKET, PFC, RATE, US, all_to_all, rng

HOSTS = 4
POD = leaf_spine(HOSTS, 4, LINK)
POD_TRAFFIC, TO = all_to_all(POD)
LAST = int(POD_TRAFFIC.receiver[TO == 0][0])


def mean_rate(ran: SlotRun, flows: np.ndarray, begin: float, end: float) -> float:
    """Bytes/s that these flows bring together between two moments."""
    some = (ran.time > begin) & (ran.time <= end)
    return float(ran.rate[some][:, flows].sum(axis=1).mean())


def test_one_nic_that_hangs_stops_the_pod() -> None:
    """All stand still but what the hung NIC sends itself; when it reads again all go on, and nothing is lost."""
    ran = run_slots(POD_TRAFFIC, 900 * US, PFC, rng(), hangs=[Hang(LAST, 100 * US, 500 * US)])
    others = POD_TRAFFIC.sender != POD_TRAFFIC.sender[0]  # the hung host is the sender of flow 0
    before, during, after = (
        mean_rate(ran, others, *when) for when in ((50e-6, 1e-4), (3e-4, 5e-4), (6e-4, 9e-4))
    )  # fmt: skip
    assert before > 0.7 * 3 * RATE
    assert during == 0
    assert after > 0.7 * 3 * RATE
    assert ran.lost.sum() == 0
    assert ran.stopped[LAST] == pytest.approx(400 * US, abs=US)


def test_a_watchdog_drops_what_goes_to_the_hung_nic_and_frees_the_rest() -> None:
    hang, dog = Hang(LAST, 100 * US, 500 * US), Watchdog(150 * US, 50 * US)
    ran = run_slots(POD_TRAFFIC, 900 * US, PFC, rng(), watchdog=dog, hangs=[hang])
    healthy = (TO != 0) & (POD_TRAFFIC.sender != POD_TRAFFIC.sender[0])
    stood, freed = mean_rate(ran, healthy, 200e-6, 250e-6), mean_rate(ran, healthy, 3e-4, 5e-4)
    assert stood < 0.1 * freed
    assert freed > 0.7 * 2 * RATE
    assert ran.lost[TO == 0].sum() > 0
    assert ran.lost[TO != 0].sum() == 0
    assert ran.fired[LAST] == 1
    assert ran.fired.sum() == 1
    assert mean_rate(ran, TO == 0, 3e-4, 5e-4) == 0
    assert mean_rate(ran, TO == 0, 6e-4, 9e-4) > 0.7 * RATE


@pytest.mark.parametrize("storm_time", [100e-6, 400e-6])
def test_the_outage_is_that_of_the_closed_form(storm_time: float) -> None:
    """`watchdog_outage` and the slot model share no code: dropped for storm - detection + restoration."""
    dog = Watchdog(150 * US, 50 * US)
    made = incast(1, ENDLESS, LINK, PACKET)
    ran = run_slots(made, 900 * US, PFC, rng(), watchdog=dog, hangs=[Hang(1, 100 * US, 100 * US + storm_time)])
    theory = watchdog_outage(storm_time, dog.detect, dog.restore)
    assert (ran.lost.sum() > 0) == bool(theory.dropped > 0)
    # on top, what stood there: XOFF and a loop's bytes, of which the sender's restart takes a loop's again
    queue = PFC.xoff if theory.dropped else 0
    assert ran.lost.sum() == pytest.approx(RATE * float(theory.dropped) + queue, abs=4 * PACKET.wire)


def test_who_waits_longer_never_drops_more() -> None:
    lost = []
    for detect in (50, 100, 200, 300, 390, 410):
        made = run_slots(
            POD_TRAFFIC, 700 * US, PFC, rng(), watchdog=Watchdog(detect * US, 20 * US),
            hangs=[Hang(LAST, 100 * US, 500 * US)],
        )  # fmt: skip
        lost.append(float(made.lost.sum()))
    assert lost == sorted(lost, reverse=True)
    assert lost[0] > 2 * lost[3]
    assert lost[-1] == 0, "the storm was over before"


def test_a_watchdog_faster_than_a_normal_pause_throws_good_packets_away() -> None:
    """False alarm: nothing hangs, four send to one, and each pause lasts some microseconds."""
    made = slow_receiver(chain(2, LINK, PACKET), 4, 0.25)
    quick, slow = (run_slots(made, 600 * US, PFC, rng(), watchdog=Watchdog(t, 5 * US)) for t in (2e-6, 2e-4))
    assert quick.lost.sum() > 0
    assert slow.lost.sum() == 0


def test_the_guard_waits_for_quiet_and_not_for_a_time() -> None:
    """Detect in three slots; the pause goes on for five more; two quiet ones restore."""
    guard = Guard(Watchdog(3.0, 2.0), 1, slot=1.0)
    shut = [True] * 8 + [False, True, False, False, False]
    bites = [guard.bites(0, each, True) for each in shut[:-1]]
    assert bites == [False, False, True, *[False] * 9]
    assert not guard.dropping[0]
    assert guard.fired == [1]
    guard = Guard(Watchdog(3.0, 2.0), 1, slot=1.0)
    assert not any(guard.bites(0, each, True) for each in [True, True, False] * 5), "without a break"
    assert not any(guard.bites(0, True, False) for _ in range(9)), "an empty queue stands for nothing"


def test_the_defaults_of_sonic_grow_with_ports() -> None:
    assert [sonic_watchdog(each).detect for each in (1, 32, 33, 64, 65)] == [0.2, 0.2, 0.4, 0.4, pytest.approx(0.6)]
    assert sonic_watchdog(64).restore == 0.4


@pytest.mark.parametrize("rule", [PFC, CREDITS], ids=["pauses", "credits"])
def test_all_to_all_goes_at_the_pace_of_its_slowest_receiver(rule: object) -> None:
    made, to = all_to_all(one_switch(5, LINK))
    ran = run_slots(slow_receiver(made, int(made.receiver[to == 2][0]), 0.25), 3e-3, rule, rng())
    late = ran.time > 1.5e-3
    from_slow = made.sender == made.sender[8]  # host 2's flows are numbers 8 to 11
    each = ran.rate[late].mean(axis=0)
    others = [each[made.sender == nic].sum() / RATE for nic in np.unique(made.sender[~from_slow])]
    assert others == pytest.approx([slowed_all_to_all(0.25, 5)] * 4, rel=0.15)
    assert each[from_slow].sum() / RATE > 0.9, "the slow host itself sends on"


def test_a_slow_receiver_is_found_as_the_cause() -> None:
    made = storm(slow_receiver(chain(3, LINK, PACKET), 6, 0.1), PFC, 120 * US, rng())
    assert made.first[4] < made.first[2] < made.first[0]
    assert made.depth.tolist() == [3, 0, 2, 0, 1, 0, 0, 0]
    assert np.isnan(made.first[6])
    assert made.shut.max() <= 3
    assert made.rate[-1] == pytest.approx(0.1 * RATE, rel=0.1)
    assert (made.frames[[0, 2, 4]] > 0).all()


def test_two_models_agree_when_a_storm_reaches_the_nic() -> None:
    slow = slow_receiver(chain(3, LINK, PACKET), 6, 0.1)
    first = storm(slow, PFC, 120 * US, rng()).first[[4, 2, 0]]
    ran = run_slots(slow, 120 * US, PFC, rng(), every=1)
    other = [float(ran.time[np.argmax(ran.shut[:, gate])]) for gate in (4, 2, 0)]
    np.testing.assert_allclose(other, first, atol=3 * US)


def test_a_hang_holds_the_queue_that_it_found() -> None:
    made = Slots(incast(2, ENDLESS, LINK, PACKET), PFC, rng(), hangs=[Hang(2, 0.0)])
    for _ in range(200):
        made.advance()
    assert sum(made.received) == 0
    assert made.waits().leaves.tolist() == [2, 2]
    assert made.waits().shut.tolist() == made.waits().asked.tolist() == [True] * 3


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: slow_receiver(POD_TRAFFIC, 0, 0.5), "link = 0 leads to no receiver"),
        (lambda: slow_receiver(POD_TRAFFIC, LAST, 1.5), "share = 1.5"),
        (lambda: chain(0, LINK, PACKET), "switches = 0"),
        (lambda: storm(POD_TRAFFIC, PFC, 0, rng()), "until = 0"),
        (lambda: storm(POD_TRAFFIC, PFC, 1e-3, rng(), every=0), "every = 0"),
        (lambda: slowed_all_to_all(1.5, 3), "share = 1.5"),
        (lambda: sonic_watchdog(0), "ports = 0"),
        (lambda: Hang(3, 2.0, 1.0), "end = 1 is not after begin = 2"),
        (lambda: Watchdog(0, 1.0), "detect = 0"),
        (lambda: run_slots(POD_TRAFFIC, 1e-4, PFC, rng(), hangs=[Hang(0)]), "link = 0 leads to no receiver"),
        (lambda: run_slots(POD_TRAFFIC, 1e-4, PFC, rng(), hangs=[3]), "hangs"),
        (lambda: run_slots(POD_TRAFFIC, 1e-4, PFC, rng(), every=0), "every = 0"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert says in str(error.value)
