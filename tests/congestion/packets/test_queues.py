"""Queues: first in, first out, against a queue that holds its bytes one arrival after the other."""

from collections import deque

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.congestion.packets.lines import History, Line, Notices, picked
from netlib.congestion.packets.places import places
from netlib.congestion.packets.queues import Queues
from netlib.congestion.packets.traffic import incast
from tests.congestion.packets.steady import LINK, PACKET


def slow(coming: np.ndarray, room: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Bytes that leave in each step, and the wait of the byte at the head: arrivals of a step leave side by side."""
    waiting: deque = deque()
    out, wait = np.zeros_like(coming), np.zeros(len(coming))
    for step, (new, most) in enumerate(zip(coming, room, strict=True)):
        if new.sum():
            waiting.append([step, new.copy(), new.sum()])
        while waiting and most > 0:
            take = min(most, waiting[0][2])
            part = waiting[0][1] * (take / waiting[0][2])
            out[step] += part
            waiting[0][1] = waiting[0][1] - part
            waiting[0][2] -= take
            most -= take
            if waiting[0][2] <= 1e-9:
                waiting.popleft()
        wait[step] = step - waiting[0][0] if waiting else 0
    return out, wait


@given(seed=st.integers(0, 10**6), flows=st.integers(1, 5), load=st.floats(0.2, 3), steps=st.integers(1, 90))
@settings(max_examples=40, deadline=None)
def test_what_leaves_is_what_a_queue_of_single_bytes_lets_go(seed: int, flows: int, load: float, steps: int) -> None:
    rng = np.random.default_rng(seed)
    coming = rng.integers(0, 4, (steps, flows)) * (rng.random((steps, flows)) < 0.6) * 1000.0
    room = np.where(rng.random(steps) < 0.15, 0.0, 1.5 * flows * 1000 / load)
    at = places(incast(flows, 1e6, LINK, PACKET), 1e-6)
    queues = Queues(at, rides=1)
    expected, wait = slow(coming, room)
    marks = np.floor(coming / 2000)
    for step in range(steps):
        queues.arrive(step, coming[step], marks[step][None])
        before = queues.left.copy()
        out = queues.serve(step, room[step : step + 1]).copy()
        np.testing.assert_allclose(out, expected[step], atol=1e-6)
        np.testing.assert_allclose(queues.left - before, out, atol=1e-9)
        assert queues.length[0] == np.float64(queues.total[0] - queues.gone[0])
        held = queues.length[0] > 1e-6
        assert wait[step] * held - 1e-9 <= queues.waited[0] <= (wait[step] + 1) * held + 1e-9
        assert (queues.rode[0] <= queues.riding[0] + 1e-9).all()
        if queues.length[0] == 0:
            np.testing.assert_array_equal(queues.rode[0], marks[: step + 1].sum(axis=0))


def test_a_deep_queue_remembers_more_than_the_first_rows() -> None:
    queues = Queues(places(incast(2, 1e9, LINK, PACKET), 1e-6))
    first, second = np.array([1000.0, 0.0]), np.array([0.0, 1000.0])
    for step in range(600):
        queues.arrive(step, first)
        queues.serve(step, np.array([100.0]))
    assert queues.left.tolist() == [60000.0, 0.0]
    assert queues.waited[0] == 540.0  # byte 60,000 came in step 59 and leaves in step 599
    queues.arrive(600, second)
    queues.serve(600, np.array([539e3]))
    assert queues.left.tolist() == [599e3, 0.0], "no byte of the second flow passes the backlog of the first"
    queues.arrive(601, np.zeros(2))
    queues.serve(601, np.array([1500.0]))
    assert queues.left.tolist() == [600e3, 500.0]


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6), longest=st.integers(1, 7), same=st.booleans())
def test_a_line_delays_each_column_by_its_lag(seed: int, n: int, longest: int, same: bool) -> None:
    rng = np.random.default_rng(seed)
    lag = np.full(n, longest) if same else rng.integers(1, longest + 1, n)
    line, sent = Line(lag), rng.random((40, n))
    for step in range(40):
        got = line.get(step).copy()
        line.put(step, sent[step])
        assert got.tolist() == [sent[step - lag[k], k] if step >= lag[k] else 0 for k in range(n)]


def test_notices_that_meet_are_summed_and_read_once() -> None:
    told = Notices(2, 5)
    told.put(3, np.array([1]), np.array([5]), np.array([2.0]))
    told.put(6, np.array([1, 1]), np.array([2, 2]), np.array([3.0, 4.0]))
    assert told.get(8).tolist() == [0, 9]
    assert told.get(14).tolist() == [0, 0]


def test_history_keeps_what_is_still_needed() -> None:
    seen = History(2)
    for step in range(1500):
        seen.put(step, np.array([step, -step]), oldest=max(step - 700, 0))
        old = max(step - 700, 0)
        assert seen.rows[seen.row(old)].tolist() == [old, -old]
    assert len(seen.rows) == 1024
    assert not seen.full(1500, 1499)


def test_picked_names_everything_only_when_it_is_everything() -> None:
    assert picked(np.array([0, 1, 2]), 3) == slice(None)
    for index, n in (([0, 1], 3), ([0, 2, 1], 3)):
        assert picked(np.array(index), n).tolist() == index
