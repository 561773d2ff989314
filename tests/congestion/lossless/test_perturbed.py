"""One wrong line at a time: a check of this package must see it."""

from collections.abc import Callable

import numpy as np
import pytest

from netlib.congestion.lossless import deadlocks, pausing, victims
from netlib.congestion.lossless.slots import Slots
from netlib.congestion.lossless.watchdogs import Guard
from tests.congestion.lossless import (
    small,
    test_deadlocks,
    test_dependencies,
    test_pausing,
    test_slots,
    test_storms,
    test_victims,
)

BENT: dict[str, tuple[object, str, Callable, Callable[[], None]]] = {
    "who is paused is never told to go on": (
        Slots, "_tell", lambda own: lambda self, gate, shut: own(self, gate, True),
        lambda: test_deadlocks.test_a_second_lane_opens_the_ring(small.PFC),
    ),
    "pauses get lost": (
        Slots, "_tell", lambda own: lambda self, gate, shut: None,
        lambda: test_deadlocks.test_a_ring_locks_and_stays_locked(3, small.PFC),
    ),
    "each credit is given back twice": (
        Slots, "_tell", lambda own: lambda self, gate, shut: [own(self, gate, shut), own(self, gate, shut)],
        test_slots.test_credits_limit_a_long_cable_to_buffer_over_round_trip,
    ),
    "a gate is never closed": (
        Slots, "closed", lambda own: lambda self, gate: False,
        lambda: test_victims.test_two_models_give_the_victim_of_a_nic_what_the_fluid_limit_says(
            4, small.PFC, "slots"
        ),
    ),
    "nobody watches": (
        Guard, "bites", lambda own: lambda self, gate, shut, waiting: False,
        test_storms.test_a_watchdog_drops_what_goes_to_the_hung_nic_and_frees_the_rest,
    ),
    "a watchdog waits for a time and not for quiet": (
        Guard, "bites", lambda own: lambda self, gate, shut, waiting: own(
            self, gate, shut and not self.dropping[gate], waiting
        ),
        lambda: test_storms.test_the_outage_is_that_of_the_closed_form(400e-6),
    ),
    "whatever is shut is called stuck": (
        deadlocks, "stuck", lambda own: lambda waits, resume: waits.shut,
        lambda: test_deadlocks.test_the_same_circle_with_half_the_flows_does_not_lock(small.PFC),
    ),
    "nothing is ever called stuck": (
        deadlocks, "stuck", lambda own: lambda waits, resume: np.zeros_like(waits.shut),
        lambda: test_deadlocks.test_two_bounces_that_face_each_other_lock_a_leaf_spine(small.PFC),
    ),
    "a lane for each bounce, one too few": (
        test_dependencies, "lanes_by_bounce",
        lambda own: lambda fabric, ways: np.maximum(own(fabric, ways) - 1, 0),
        test_dependencies.test_a_lane_for_each_bounce_opens_every_circle,
    ),
    "the victim is one more in the line": (
        victims, "sender_victim_shares", lambda own: lambda n: own(n + 1),
        lambda: test_victims.test_end_to_end_is_max_min_fair_on_the_links_that_a_flow_uses(3),
    ),
    "the loop counts once and not twice": (
        pausing, "pause_cycle", lambda own: lambda n, rate, loop, xoff, gap: own(n, rate, loop / 2, xoff, gap),
        lambda: test_pausing.test_the_cycle_is_that_of_a_run_in_step(2, 20e3),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BENT)
def test_one_wrong_line_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, what, bend, check = BENT[name]
    check()
    own = getattr(where, what)
    for place in (where, test_victims, test_pausing):  # and where a test took it up by name
        if getattr(place, what, None) is own:
            monkeypatch.setattr(place, what, bend(own))
    with pytest.raises(AssertionError):
        check()
