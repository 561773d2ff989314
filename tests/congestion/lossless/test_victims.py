"""Victims: the shares that theory gives, and two models that share no code."""

import numpy as np
import pytest

from netlib.congestion.lossless import (
    ENDLESS,
    flow_shares,
    run_slots,
    sender_victim,
    sender_victim_shares,
    step_of,
    switch_victim,
    switch_victim_shares,
    two_switches,
)
from netlib.congestion.packets.gates import LinkCredits, Pfc
from netlib.congestion.packets.traffic import traffic
from netlib.links import Link
from netlib.topology import max_min_rates
from tests.congestion.lossless.small import CREDITS, LINK, PACKET, PFC, RATE, US, rng


def test_four_to_one_leaves_the_victim_a_quarter_and_its_peer_leaves_three() -> None:
    assert sender_victim_shares(4) == {"pauses": 0.25, "end to end": 0.75, "no control": 0.5}
    assert switch_victim_shares(4) == {"pauses": 0.25, "end to end": 1.0, "no control": 1.0}


@pytest.mark.parametrize("fan_in", [2, 3, 5, 9])
def test_end_to_end_is_max_min_fair_on_the_links_that_a_flow_uses(fan_in: int) -> None:
    made = sender_victim(fan_in, LINK, PACKET)
    fair = max_min_rates(made.way.tolist(), made.capacity) / RATE
    assert fair[-1] == pytest.approx(sender_victim_shares(fan_in)["end to end"])
    made = switch_victim(fan_in, LINK, PACKET)
    fair = max_min_rates(made.way.tolist(), made.capacity) / RATE
    assert fair[-1] == pytest.approx(switch_victim_shares(fan_in)["end to end"])


@pytest.mark.parametrize("model", ["engine", "slots"])
@pytest.mark.parametrize("rule", [PFC, CREDITS], ids=["pauses", "credits"])
@pytest.mark.parametrize("fan_in", [2, 4])
def test_two_models_give_the_victim_of_a_nic_what_the_fluid_limit_says(
    fan_in: int, rule: Pfc | LinkCredits, model: str
) -> None:
    """Within 8 %: packets and a threshold of 25 of them shift it by a point or two."""
    got = flow_shares(sender_victim(fan_in, LINK, PACKET), rule, 1.2e-3, rng(), model)
    assert got[-1] == pytest.approx(sender_victim_shares(fan_in)["pauses"], rel=0.08)
    assert got[:-1].sum() == pytest.approx(1, abs=0.01), "the incast's port never idles"


@pytest.mark.parametrize("rule", [PFC, CREDITS], ids=["pauses", "credits"])
def test_two_models_agree_about_a_victim_behind_a_cable(rule: Pfc | LinkCredits) -> None:
    made = switch_victim(3, LINK, PACKET)
    one, other = (flow_shares(made, rule, 1e-3, rng(), model) for model in ("engine", "slots"))
    np.testing.assert_allclose(one, other, rtol=0.03)
    assert other[-1] == pytest.approx(switch_victim_shares(3)["pauses"], rel=0.03)


@pytest.mark.parametrize("model", ["engine", "slots"])
def test_without_control_the_nic_sends_half_and_half_and_the_cable_holds_nobody(model: str) -> None:
    nic = flow_shares(sender_victim(4, LINK, PACKET), None, 6e-4, rng(), model)
    cable = flow_shares(switch_victim(4, LINK, PACKET), None, 6e-4, rng(), model)
    assert nic[-1] == pytest.approx(sender_victim_shares(4)["no control"], rel=0.01)
    assert cable[-1] == pytest.approx(switch_victim_shares(4)["no control"], rel=0.01)


def test_a_lane_of_its_own_gives_the_victim_what_its_peer_leaves() -> None:
    made = sender_victim(4, LINK, PACKET)
    lane = np.zeros_like(made.way)
    lane[-1] = 1
    got = run_slots(made, 1e-3, PFC, rng(), lane)
    late = got.time > 0.25e-3
    share = got.rate[late].mean(axis=0) / RATE
    assert share[-1] == pytest.approx(0.75, abs=0.03), "the NIC's two lanes take turns, so its peer has a bit less"
    assert share[0] + share[-1] == pytest.approx(1, abs=0.01)


def test_spray_over_the_cables_between_two_switches_does_not_free_the_victim() -> None:
    made = switch_victim(3, LINK, PACKET, cables=3)
    assert flow_shares(made, PFC, 8e-4, rng(), "slots")[-1] == pytest.approx(1 / 3, rel=0.1)


def test_the_order_of_the_flows_does_not_matter() -> None:
    made = sender_victim(4, LINK, PACKET)
    ways = made.way[::-1]
    turned = traffic(ways, ENDLESS, made.capacity, made.latency, PACKET)
    one, other = run_slots(made, 600 * US, PFC, rng()), run_slots(turned, 600 * US, PFC, rng())
    np.testing.assert_allclose(one.received, other.received[::-1], rtol=0.05)
    assert one.received.sum() == pytest.approx(other.received.sum(), rel=0.01)


def test_a_step_is_a_packet_or_a_tenth_of_a_round_trip() -> None:
    long, short = (sender_victim(2, Link(alpha, RATE), PACKET) for alpha in (5e-6, 1e-7))
    assert step_of(long) == pytest.approx(PACKET.wire / RATE)
    assert step_of(short) == pytest.approx((4e-7 + 2 * PACKET.wire / RATE) / 10)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: sender_victim(1, LINK, PACKET), "fan_in = 1 is no incast"),
        (lambda: switch_victim_shares(0), "fan_in = 0"),
        (lambda: two_switches(1, 1, LINK, 0), "cables = 0"),
        (lambda: flow_shares(sender_victim(2, LINK, PACKET), PFC, 1e-3, rng(), "fluid"), "not one of"),
        (lambda: flow_shares(sender_victim(2, LINK, PACKET), PFC, 1e-3, rng(), skip=1.0), "leaves nothing"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_sentence(call: object, says: str) -> None:
    with pytest.raises(ValueError, match=r".") as error:
        call()
    assert says in str(error.value)
