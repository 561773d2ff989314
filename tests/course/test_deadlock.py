"""The cycle of chapter 4, in its figure and its exercise: what the page says, and the answers by hand."""

import networkx as nx
import numpy as np
import pytest

from netlib.course.exercises import deadlock_01, load
from netlib.course.explorer import state
from netlib.course.explorers import deadlock

LOADS, SIZES = (0.4, 0.5, 0.6, 1.0), (50e3, 100e3, 200e3)


def at(ways: str, **knobs: float) -> dict[str, object]:
    return state("deadlock", ways=ways, **knobs)


@pytest.mark.parametrize("load_", LOADS)
def test_the_curve_goes_flat_where_it_locks_and_only_with_a_cycle(load_: float) -> None:
    seen = at(deadlock.ROUND, load=load_, xoff=200e3)
    time, got = np.array(seen["x"]), np.array(seen["received"])
    assert seen["cycle"] == 4
    assert np.isfinite(seen["begin"]) == (load_ > 0.5), "half of what its cable can carry does not lock"
    assert bool(seen["failure"]) == np.isfinite(seen["begin"])
    if np.isfinite(seen["begin"]):
        assert np.ptp(got[time > seen["begin"] + 10e-6]) == 0
        assert np.diff(got[time < seen["begin"] - 10e-6])[5:].min() > 0
        assert seen["late"] == 0
    else:
        assert seen["late"] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("ways", [deadlock.LANE, deadlock.LINE])
def test_without_the_cycle_bytes_come_to_the_end(ways: str) -> None:
    for load_ in LOADS:
        seen = at(ways, load=load_)
        assert seen["cycle"] == 0
        assert seen["begin"] == np.inf
        assert seen["late"] > 0.7
        assert not seen["failure"]
        assert np.all(np.array(seen["received"]) <= np.array(seen["with room for all"]) + deadlock.PACKET.wire)


def test_more_room_before_the_pause_locks_later() -> None:
    begin = [at(deadlock.ROUND, load=1.0, xoff=each)["begin"] for each in SIZES]
    assert begin == sorted(begin)
    assert begin[-1] > 2 * begin[0]


def test_ways_that_leave_a_cable_out_do_not_use_it_and_arrive() -> None:
    ring, way, _ = deadlock.drawn(deadlock.LINE)
    assert not np.isin(way // 2, [2 * deadlock.SWITCHES - 1]).any()
    last = way[np.arange(len(way)), (way >= 0).sum(axis=1) - 1]
    assert ring.target[last].tolist() == [2, 3, 0, 1]


def test_the_exercise_is_counted_by_hand() -> None:
    """Link i leads from switch i on: host k, switches k, k + 1, k + 2, k + 3, host k + 3."""
    ways = [[("in", k), *(("ring", (k + i) % 6) for i in range(3)), ("out", (k + 3) % 6)] for k in range(6)]

    def graph(some: list[list[tuple[str, int]]]) -> nx.DiGraph:
        made = nx.DiGraph()
        for way in some:
            nx.add_path(made, way)
        return made

    assert load("deadlock-01").answer() == {"arrows": graph(ways).number_of_edges(), "flows": 2, "cable": "b"}
    assert all(not nx.is_directed_acyclic_graph(graph([*ways[:k], *ways[k + 1 :]])) for k in range(6))
    assert nx.is_directed_acyclic_graph(graph(ways[2:]))
    assert (deadlock_01.SWITCHES, deadlock_01.HOPS) == (6, 3)
