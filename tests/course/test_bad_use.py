"""Odd functions for ranks and odd scenes for players: one sentence, at once, and nothing left behind."""

import os
import threading

import numpy as np
import pytest

from netlib.collectives import ring_allreduce
from netlib.course.peers import Rank
from netlib.course.player import Scene
from netlib.course.player_page import _once
from netlib.course.player_story import clock, story
from netlib.course.ranks import on_ranks
from netlib.links import Link

LINK = Link(1e-6, 1e9)
TWO = np.ones((2, 4))


def below(me: Rank, buffer):
    raise RuntimeError("from another function")


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


def yields(me: Rank, buffer):
    yield buffer


def mute(me: Rank, buffer):
    raise Mute


def gone(me: Rank, buffer):
    os._exit(3)


@pytest.mark.parametrize("fork", [True, False])
@pytest.mark.parametrize(
    ("work", "says"),
    [
        (yields, "rank 0 returned a generator, which cannot be handed over; return an array of numbers"),
        (lambda me, x: threading.Lock(), "rank 0 returned a lock, which cannot be handed over"),
        (mute, "rank 0 raised Mute"),
        (lambda me, x: me.send(0.5, x), "there is no rank 0.5 to send to: ranks are 0 to 1"),
        (lambda me, x: me.send(float("inf"), x), "there is no rank inf to send"),
        (lambda me, x: me.send("1", x), "there is no rank '1' to send"),
        (lambda me, x: me.group(3), "members = 3 must be a list of ranks"),
        (
            lambda me, x: me.together([below], [x, x]),
            "1 functions for 2 parts; give one function, or one for each part",
        ),
    ],
)
def test_odd_work_is_told_in_one_sentence(work, says: str, fork: bool) -> None:
    run = on_ranks(work, TWO, patience=2.0, limit=10.0, fork=fork)
    assert says in run.trouble
    assert "\n" not in run.trouble


def test_a_line_of_another_function_is_not_taken_for_one_of_yours() -> None:
    def work(me: Rank, buffer):
        return me.together(below, [buffer])

    assert "(line 2 of your function)" in on_ranks(work, TWO).trouble


def test_a_process_that_ends_is_told() -> None:
    assert on_ranks(gone, TWO).trouble == "rank 0 ended without a word"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"buffers": "abc"}, "buffers = 'abc' must be a list of arrays"),
        ({"buffers": None}, "buffers = None must be a list of arrays"),
        ({"repeat": 1.5}, "repeat = 1.5 must be a whole number"),
        ({"channels": 0}, "channels = 0: each must be at least 1"),
        ({"patience": 0}, "patience = 0 must be above 0 and at most 86400 seconds"),
        ({"limit": float("nan")}, "limit = nan must be one number"),
        ({"limit": 1e9}, "limit = 1e\\+09 must be above 0"),
        ({"link": 3}, "link = 3 must be a function"),
        ({"link": Link(0, [1, 2])}, "link = .* must be one Link"),
        ({"link": lambda source, to: 3}, "link = 3 must be one Link, a function that returns one, or None"),
    ],
)
def test_odd_arguments_of_on_ranks(given, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        on_ranks(lambda me, buffer: buffer, **{"buffers": TWO, **given})


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: Scene(None, 1.0, LINK), "schedule = None is not a Schedule; make one with a builder"),
        (lambda: Scene(ring_allreduce(4), "1", LINK), "size = '1' must be one number"),
        (lambda: Scene(ring_allreduce(4), -1.0, LINK), "size = -1 must be at least 0"),
        (lambda: Scene(ring_allreduce(4), float("inf"), LINK), "size = inf must be finite"),
        (lambda: Scene(ring_allreduce(4), 1.0, 3), "link = 3 is not a Link"),
        (lambda: Scene(ring_allreduce(4), 1.0, Link(0, [1, 2])), r"link has shape \(2,\); give one link"),
        (lambda: _once([Scene(ring_allreduce(10**6), 1.0, LINK)]), "ranks = 1000000 do not fit into a picture"),
        (
            lambda: clock(story(ring_allreduce(4)), Scene(ring_allreduce(4), 1e308, Link(0, 1e-3))),
            "takes more than 1e308 s on this link; check its units",
        ),
    ],
)
def test_odd_scenes(call, says: str) -> None:
    with pytest.raises(ValueError, match=says.replace("schedule = None", "schedule = '?None'?")):
        call()
