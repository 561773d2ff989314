"""Waiting: what is stuck for ever, by brute force over all sets; who is the cause; what a running engine shows."""

from itertools import chain, combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib.congestion.lossless import Greedy, Waits, causes, stuck, waiting_cycle, waits_of
from netlib.congestion.lossless.slots import Slots
from netlib.congestion.lossless.waiting import waits_from
from netlib.congestion.packets.engine import Engine, Switches
from netlib.congestion.packets.traffic import incast, traffic
from tests.congestion.lossless.small import ENDLESS, LINK, PACKET, PFC, RATE, US, rng

GATES = 5
STATES = st.builds(
    lambda shut, asked, rows: waits_from(
        np.array(shut), *np.array([[a, b] for a, b, _ in rows], np.int64).reshape(-1, 2).T,
        np.array([h for *_, h in rows], float), asked=np.array(asked),
    ),
    st.lists(st.booleans(), min_size=GATES, max_size=GATES),
    st.lists(st.sampled_from([True, True, True, False]), min_size=GATES, max_size=GATES),
    st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from([10.0, 50.0, 90.0])), max_size=12),
)  # fmt: skip


def holds(waits: Waits, some: set[int], resume: float) -> bool:
    """Whether each gate of a set is shut, meant to be, and holds enough that waits for gates of the set."""
    rows = list(zip(waits.came.tolist(), waits.leaves.tolist(), waits.held.tolist(), strict=True))
    return all(
        waits.shut[g] and waits.asked[g] and sum(h for a, b, h in rows if a == g and b in some) > resume for g in some
    )


@given(STATES, st.sampled_from([0.0, 40.0, 100.0]))
def test_what_is_stuck_is_the_largest_set_that_holds_itself(waits: Waits, resume: float) -> None:
    sets = chain.from_iterable(combinations(range(GATES), k) for k in range(GATES + 1))
    largest: set[int] = set().union(*(set(some) for some in sets if holds(waits, set(some), resume)))
    assert set(np.flatnonzero(stuck(waits, resume)).tolist()) == largest
    if largest:
        assert waiting_cycle(waits).size > 0, "what is stuck waits in a cycle"


@given(STATES)
def test_every_shut_gate_that_holds_bytes_has_a_cause_or_waits_in_a_cycle(waits: Waits) -> None:
    """Follow what a gate waits for: the end is an open gate, a cycle, or a shut gate that holds nothing here."""
    found = causes(waits)
    for one in found:
        assert not waits.shut[one.gate]
        assert (np.diff(one.depth) >= 0).all()
        assert waits.shut[one.shut].all()
        deep = dict(zip(one.shut.tolist(), one.depth.tolist(), strict=True)) | {one.gate: 0}
        assert [deep[gate] for gate in one.towards.tolist()] == (one.depth - 1).tolist()
    assert [len(one.shut) for one in found] == sorted((len(one.shut) for one in found), reverse=True)
    behind = set().union(*(one.shut.tolist() for one in found))
    direct = {a for a, b in zip(waits.came.tolist(), waits.leaves.tolist(), strict=True) if waits.shut[a]}
    for gate in direct - behind:
        seen, level = set(), {gate}
        while level:
            seen |= level
            rows = zip(waits.came.tolist(), waits.leaves.tolist(), strict=True)
            level = {b for a, b in rows if a in level} - seen
        assert waits.shut[sorted(seen)].all()


def test_news_that_is_under_way_is_no_deadlock() -> None:
    """Both gates are still shut; the first has been told to go on."""
    ring = waits_from(
        np.ones(2, bool), np.array([0, 1]), np.array([1, 0]), np.full(2, 1e5), asked=np.array([False, True])
    )  # fmt: skip
    assert waiting_cycle(ring).tolist() == [0, 1]
    assert not stuck(ring, 9e4).any()


def test_an_engine_with_lanes_names_gates_and_not_links() -> None:
    """Two lanes into one port, the second never sends: only lane 0's gates are shut and waited for."""
    made = traffic([[0, 2], [1, 2], [0, 2]], [ENDLESS, ENDLESS, 4096], [RATE] * 3, [1e-6] * 3, PACKET,
                   start=[0, 0, 1.0], lane=[0, 0, 1])  # fmt: skip
    engine = Engine(made, Greedy(made), Switches(pfc=PFC), rng(), 0.4 * US)
    for _ in range(100):
        engine.advance()
    seen = waits_of(engine)
    assert seen.lanes == 2
    assert seen.came.tolist() == [0, 2]
    assert seen.leaves.tolist() == [4, 4]
    assert len(seen.shut) == 6


def test_the_two_models_wait_for_the_same() -> None:
    made = incast(3, ENDLESS, LINK, PACKET)
    engine = Engine(made, Greedy(made), Switches(pfc=PFC), rng(), PACKET.wire / RATE)
    slots = Slots(made, PFC, rng())
    for _ in range(60):
        engine.advance()
        slots.advance()
    one, other = waits_of(engine), slots.waits()
    assert one.came.tolist() == other.came.tolist() == [0, 1, 2]
    assert one.leaves.tolist() == other.leaves.tolist() == [3, 3, 3]
    np.testing.assert_allclose(one.held, other.held, atol=3 * PACKET.wire)
    assert causes(one)[0].gate == causes(other)[0].gate == 3


def test_without_pauses_nothing_waits() -> None:
    made = incast(2, ENDLESS, LINK, PACKET)
    with pytest.raises(ValueError, match="engine has no pauses"):
        waits_of(Engine(made, Greedy(made), Switches(), rng(), 0.4 * US))
    with pytest.raises(ValueError, match="resume = -1"):
        stuck(waits_from(np.ones(1, bool), np.zeros(0, int), np.zeros(0, int), np.zeros(0)), -1)
