"""Ranks of a lab: bytes cross from process to process, links take their time, and whatever goes wrong is a sentence."""

import os
import re
import socket
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives import hierarchical_allreduce_time
from netlib.course import ranks, wires
from netlib.course.lab_sweep import sweep
from netlib.course.peers import Rank
from netlib.course.ranks import can_fork, on_ranks
from netlib.course.wires import Clock, Seat, close, sockets_for
from netlib.links import Link

MODES = [False, True] if can_fork() else [False]
FORKED = [mode for mode in MODES if mode]  # what a thread cannot show: memory of its own, an end from outside
LINK = Link(alpha=2e-3, bandwidth=10e6)


def ring(me, buffer):
    """The usual one."""
    pieces = np.array_split(buffer, me.n)
    for step in range(2 * (me.n - 1)):
        mine, next_one = (me.rank - step) % me.n, (me.rank - step - 1) % me.n
        got = me.exchange((me.rank + 1) % me.n, pieces[mine], (me.rank - 1) % me.n)
        pieces[next_one] = got if step >= me.n - 1 else got + pieces[next_one]
    return np.concatenate(pieces)


def pairs(me, buffer):
    """A hierarchy on nodes of two."""
    halves, keep = np.array_split(buffer, 2), me.rank % 2
    own = halves[keep] + me.exchange(me.rank ^ 1, halves[1 - keep], me.rank ^ 1)
    own = ring(me.group(range(keep, me.n, 2)), own)
    other = me.exchange(me.rank ^ 1, own, me.rank ^ 1)
    return np.concatenate([own, other] if keep == 0 else [other, own])


@pytest.mark.parametrize("fork", MODES)
@pytest.mark.parametrize("n", [1, 2, 3, 5, 8])
def test_a_ring_adds_and_every_byte_is_counted(n, fork):
    buffers = np.random.default_rng(n).integers(-99, 99, (n, 840))
    run = on_ranks(ring, buffers, fork=fork)
    assert run.trouble == ""
    assert all((value == buffers.sum(axis=0)).all() for value in run.values)
    around = np.roll(np.eye(n, dtype=int), 1, axis=1) if n > 1 else np.zeros((1, 1), int)
    assert (run.sent == around * 2 * (n - 1) * 840 * 8 // n).all()
    assert (run.messages == around * 2 * (n - 1)).all()


@pytest.mark.parametrize("fork", FORKED)
def test_ranks_are_processes_and_share_nothing(fork):
    """What one rank writes into a list of ours no other rank sees, and neither do we: only messages cross."""
    seen: list[int] = []

    def work(me, buffer):
        seen.append(me.rank)
        buffer += 1
        return np.array([os.getpid(), *seen])

    mine = np.zeros((3, 1))
    run = on_ranks(work, mine, fork=fork)
    assert len({value[0] for value in run.values} | {os.getpid()}) == 4
    assert [value[1:].tolist() for value in run.values] == [[0], [1], [2]]
    assert seen == []
    assert not mine.any()


@pytest.mark.parametrize("fork", MODES)
def test_a_message_that_no_socket_holds_at_once_arrives(fork):
    """Three megabytes both ways at the same time: more than any buffer, so both must be read while they are sent."""
    buffers = np.arange(2 * 400_000, dtype=float).reshape(2, -1)
    run = on_ranks(lambda me, buffer: me.exchange(1 - me.rank, buffer, 1 - me.rank), buffers, fork=fork)
    assert [value[0] for value in run.values] == [400_000, 0]
    assert run.sent.tolist() == [[0, 3_200_000], [3_200_000, 0]]


@given(
    st.lists(st.integers(0, 400), min_size=1, max_size=5),
    st.sampled_from(["i1", "<i8", "float32", "float64", "uint16"]),
)
@settings(max_examples=15)
def test_any_array_arrives_as_it_was(lengths, kind):
    arrays = [np.arange(length).astype(kind) for length in lengths]

    def work(me, buffer):
        if me.rank == 0:
            for array in arrays:
                me.send(1, array)
            return None
        return [me.receive(0) for _ in arrays]

    got = on_ranks(work, np.zeros((2, 1)), fork=False).values[1]
    assert [(a.dtype, a.tolist()) for a in got] == [(a.dtype, a.tolist()) for a in arrays]


# --- time ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("fork", MODES)
def test_a_message_takes_alpha_and_its_bytes(fork):
    """One way 10 kB: 2 ms + 1 ms. Two one after the other on one port: twice that. And back: three."""

    def there(me, buffer):
        return me.send(1, buffer) if me.rank == 0 else me.receive(0)

    def twice(me, buffer):
        return [there(me, buffer) for _ in range(2)]

    def back(me, buffer):
        twice(me, buffer)
        return me.receive(1) if me.rank == 0 else me.send(0, buffer)

    for work, messages in ((there, 1), (twice, 2), (back, 3)):
        run = on_ranks(work, np.zeros((2, 1250)), LINK, fork=fork, repeat=2)
        assert run.time == pytest.approx(messages * 3e-3, rel=1e-3)
        assert (run.wall >= run.times - 1e-6).all()  # the links really made us wait
        assert len(run.times) == 2


def test_what_is_done_together_shares_the_port():
    """Two messages on one kind of link queue, on two kinds they do not."""
    other = Link(alpha=3e-3, bandwidth=10e6)

    def both(me, buffer):
        if me.rank:
            return me.together(lambda self, _: self.receive(0), [buffer]) if me.rank == 1 else me.receive(0)
        ways = [lambda self, part: self.send(1, part), lambda self, part: self.send(2, part)]
        return me.together(ways, [buffer, buffer])

    def receive_on_second(me, buffer):
        return me.together([lambda self, part: None, lambda self, part: self.receive(0)], [buffer, buffer])

    def work(me, buffer):
        return receive_on_second(me, buffer) if me.rank == 2 else both(me, buffer)

    buffers = np.zeros((3, 1250))
    same = on_ranks(work, buffers, LINK, channels=2, fork=False)
    assert (same.trouble, same.time) == ("", pytest.approx(6e-3, rel=1e-3))
    apart = on_ranks(work, buffers, lambda source, to: LINK if to == 1 else other, channels=2, fork=False)
    assert (apart.trouble, apart.time) == ("", pytest.approx(4e-3, rel=1e-3))


def test_a_pipelined_hierarchy_takes_what_the_closed_form_says():
    inside, outside = Link(0.1e-3, 12.5e6), Link(0.5e-3, 5e6)

    def wiring(source, to):
        return inside if source // 2 == to // 2 else outside

    def pipelined(me, buffer):
        return np.concatenate(me.together(pairs, np.array_split(buffer, 4)))

    for work, channels, segments in ((pairs, 1, 1), (pipelined, 4, 4)):
        took = sweep(work, 8, [10**6], wiring, channels=channels)
        model = float(hierarchical_allreduce_time(1e6, 2, 4, inside, outside, segments=segments))
        assert took.right
        assert took.times[0] == pytest.approx(model, rel=0.08)


def test_a_gap_on_a_port_is_used():
    """A rank whose thread was late finds its place before what was booked ahead of it, if it fits there."""
    seat = Seat(0, [None, Link(0, 1)], {}, 1.0)
    seat.begin()
    assert [seat.book(1, 10, at) for at in (0, 20, 5, 8)] == [10, 30, 20, 40]
    assert seat.sent.tolist() == [0, 40]


def test_a_late_rank_counts_as_punctual_up_to_the_slack():
    now = time.monotonic()
    assert Clock(now - 0.01, late=10.0).ready() == now - 0.01
    assert Clock(now - 9.0, late=1.0).ready() >= now - 1.0


def test_a_sweep_says_why_there_is_nothing():
    assert repr(sweep(lambda me, buffer: None, 2, [64])) == "Not answered yet: there is nothing to time."
    broken = sweep(lambda me, buffer: 1 / 0, 2, [64])
    assert not broken.ok
    assert repr(broken).startswith("Rank 0 raised ZeroDivisionError: division by zero (line 1 of your function)")
    wrong = sweep(lambda me, buffer: buffer, 2, [64, 128])
    assert wrong.ok
    assert not wrong.right
    assert wrong.verdict == "False, the result of rank 0 lacks what rank 1 gave."
    assert broken.verdict.startswith("Rank 0 raised ZeroDivisionError")
    right = sweep(lambda me, buffer: buffer + me.exchange(1 - me.rank, buffer, 1 - me.rank), 2, [64])
    endless = replace(broken, trouble="rank 0 still runs; is there a loop without an end?")
    assert endless.verdict == repr(endless) == "Rank 0 still runs; is there a loop without an end?"
    assert (right.verdict, right.wrong) == ("True", "")
    assert re.fullmatch(r"( +\d+ B +\S+ ms \(wall \S+ ms\)\n?){2}", repr(wrong))


# --- what goes wrong ----------------------------------------------------------------------------------------------


def everybody_sends(me, buffer):
    me.send((me.rank + 1) % me.n, buffer)
    return me.receive((me.rank - 1) % me.n)


def nobody_sends(me, buffer):
    return me.receive((me.rank - 1) % me.n)


def one_leaves(me, buffer):
    return buffer if me.rank else me.receive(1)


def never_taken(me, buffer):
    return me.exchange(1, buffer, 1) if me.rank == 0 else me.send(0, buffer)


def names_nobody(me, buffer):
    return me.receive(me.n)


def to_itself(me, buffer):
    me.send(me.rank, buffer)


def not_flat(me, buffer):
    me.send(1 - me.rank, np.zeros((2, 2)))


def words(me, buffer):
    me.send(1 - me.rank, np.array(["a"]))


def too_many_things(me, buffer):
    return me.together(lambda self, part: self.exchange(1 - self.rank, part, 1 - self.rank), [buffer, buffer])


def strangers(me, buffer):
    me.group([1 - me.rank])


def not_a_rank(me, buffer):
    me.send("right", buffer)


SENTENCES = [
    (everybody_sends, "the ranks stand still: rank 0 waits for rank 1 to take its message; rank 1 waits for rank 0"),
    (nobody_sends, "the ranks stand still: rank 0 waits for a message from rank 1; rank 1 waits for a message"),
    (one_leaves, "the ranks stand still: rank 0 waits for a message from rank 1; rank 1 has returned"),
    (never_taken, "the ranks stand still: rank 1 waits for rank 0 to take its message|rank 0 waits for rank 1 to take"),
    (names_nobody, "rank 0 raised ValueError: there is no rank 2 to receive from: ranks are 0 to 1 (line 2 of"),
    (to_itself, "rank 0 raised ValueError: a rank cannot send to itself, and this is rank 0 of 2"),
    (not_flat, "rank 0 raised ValueError: a message is a one-dimensional array of numbers, not 2-d float64"),
    (words, "rank 0 raised ValueError: a message is a one-dimensional array of numbers, not 1-d <U1"),
    (too_many_things, "raised ValueError: 2 things at once need as many channels: on_ranks(..., channels=...)"),
    (strangers, "rank 0 raised ValueError: members = [1] must name rank 0 and nobody twice"),
    (not_a_rank, "rank 0 raised ValueError: there is no rank 'right' to send to"),
]


@pytest.mark.parametrize("fork", MODES)
@pytest.mark.parametrize(("work", "sentence"), SENTENCES, ids=lambda each: getattr(each, "__name__", ""))
def test_what_goes_wrong_is_a_sentence(work, sentence, fork):
    run = on_ranks(work, np.zeros((2, 4)), patience=0.4, fork=fork)
    assert any(words in run.trouble for words in sentence.split("|")), run.trouble
    assert run.answered
    assert np.isnan(run.time)
    assert "\n" not in run.trouble


def test_of_many_that_wait_three_are_named():
    assert on_ranks(everybody_sends, np.zeros((5, 4)), patience=0.4, fork=False).trouble.endswith("; and so on")


@pytest.mark.parametrize("fork", FORKED)
@pytest.mark.parametrize(
    ("work", "sentence"),
    [
        (
            lambda me, buffer: [None for _ in iter(int, 1)],
            "rank 0 still runs after 1 s; is there a loop without an end?",
        ),
        (lambda me, buffer: os._exit(3) if me.rank else me.receive(1), "rank 1 ended without a word"),
        (
            lambda me, buffer: lambda: None,
            "rank 0 returned a function, which cannot be handed over",
        ),  # a result that cannot leave its process
    ],
)
def test_a_rank_that_does_not_come_back(work, sentence, fork):
    run = on_ranks(work, np.zeros((2, 4)), patience=0.5, limit=1.0, fork=fork)
    assert run.trouble.startswith(sentence)


@pytest.mark.parametrize("fork", FORKED)
def test_what_ranks_print_comes_back_in_order(fork):
    run = on_ranks(lambda me, buffer: print("rank", me.rank), np.zeros((3, 1)), fork=fork)
    assert run.printed == "rank 0\nrank 1\nrank 2\n"
    assert not run.answered


def test_arguments_that_make_no_sense():
    with pytest.raises(ValueError, match="work = Ellipsis must be a function"):
        on_ranks(..., np.zeros((2, 1)))
    with pytest.raises(ValueError, match="0 buffers, repeat = 1"):
        on_ranks(ring, [])


def test_too_many_sockets_are_refused_and_none_is_left_open(monkeypatch):
    made = []

    def few():
        if len(made) == 3:
            raise OSError(24, "Too many open files")
        made.append(real())
        return made[-1]

    real = socket.socketpair
    monkeypatch.setattr(wires.socket, "socketpair", few)
    with pytest.raises(ValueError, match=r"8 ranks with 4 channels need 448 sockets.*Too many open files.*fewer"):
        sockets_for(8, 4)
    assert all(end.fileno() == -1 for pair in made for end in pair)


def test_nothing_is_left_running():
    before = threading.active_count()
    on_ranks(everybody_sends, np.zeros((3, 4)), patience=0.2, fork=False)
    on_ranks(ring, np.zeros((3, 4)), fork=False)
    assert threading.active_count() == before


def test_a_system_that_does_not_bear_forks_gets_threads(monkeypatch):
    monkeypatch.setattr(ranks.sys, "platform", "darwin")
    assert not can_fork()
    run = on_ranks(lambda me, buffer: np.array([os.getpid()]), np.zeros((2, 1)))
    assert {int(value[0]) for value in run.values} == {os.getpid()}


def test_ends_are_closed_but_ones_own():
    ends = sockets_for(2, 1)
    close(ends, but=1)
    assert [end.fileno() >= 0 for end in (*ends[0, 1, 0], *ends[1, 0, 0])] == [False, True, True, False]
    close(ends, but=-1)
    assert isinstance(Rank, type)
