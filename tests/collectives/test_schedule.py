"""The data model: phases, their repetitions, digits, and schedules put together."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netlib import collectives as c
from tests.collectives import executed as e

RNG = np.random.default_rng


def test_a_phase_sorts_its_messages_and_repeats_what_is_given_once():
    made = c.phase([1, 0, 1], [0, 1, 2], 3, [4, 5, 6], True, times=2)
    assert made.step.tolist() == [0, 1, 1]
    assert made.src.tolist() == [1, 0, 2]
    assert made.chunk.tolist() == [5, 4, 6]
    assert made.dst.tolist() == [3, 3, 3]
    assert made.count.tolist() == [1, 1, 1]
    assert made.period == 2
    assert c.schedule_of("two", "reduce", 4, [made, made], chunks=9).steps == 8


@given(
    times=st.integers(1, 6),
    shift=st.integers(-3, 3),
    stride=st.integers(1, 4),
    count=st.integers(1, 3),
    start=st.integers(-4, 9),
    wrap=st.booleans(),
)
def test_written_out_by_hand(times, shift, stride, count, start, wrap):
    part = c.phase(0, 0, 1, start, False, count, times=times, shift=shift, stride=stride, wrap=wrap)
    made = c.schedule_of("any", "broadcast", 2, [part], chunks=7, source=0)
    wanted = []
    for repetition in range(times):
        places = [start + repetition * shift + nth * stride for nth in range(count)]
        wanted.append([at % 7 for at in places if wrap or 0 <= at < 7])
    assert [step.chunk.tolist() for step in made.written_out()] == wanted
    assert all(step.src.size == step.dst.size == step.add.size == step.chunk.size for step in made.written_out())


def test_written_out_keeps_the_channel_and_the_steps_apart():
    part = c.phase([0, 1], [0, 1], [1, 0], 0, True, [2, 1], times=2, shift=2, channel=3)
    steps = list(c.schedule_of("any", "all_reduce", 2, [part], chunks=4).written_out())
    assert [step.src.tolist() for step in steps] == [[0, 0], [1], [0, 0], [1]]
    assert [step.chunk.tolist() for step in steps] == [[0, 1], [0], [2, 3], [2]]
    assert {step.channel for step in steps} == {3}


@given(inner=st.integers(1, 5), outer=st.integers(1, 5))
def test_digits_rings_inside_nodes_and_across_them_make_one_sum(inner, outer):
    """Chunk = outer digit x inner + inner digit: a ring inside moves one digit in blocks, a ring across the other."""
    n = inner * outer
    nodes = np.arange(n).reshape(outer, inner)
    blocks = [
        part.placed(nodes, blocks=outer, apart=inner)
        for part in (*c.ring_reduce_scatter(inner).phases, *c.ring_all_gather(inner).phases)
    ]
    across = [part.placed(nodes.T, scale=inner, offset=np.arange(inner)) for part in c.ring_allreduce(outer).phases]
    half = len(blocks) // 2
    made = c.schedule_of("grid", "all_reduce", n, [*blocks[:half], *across, *blocks[half:]], chunks=n)
    assert c.is_correct(made, RNG(0))
    share = 2 * (inner - 1) / inner + 2 * (outer - 1) / outer / inner  # of the buffer, from each rank
    assert c.counts(made, 1.0).sent == pytest.approx([share] * n, rel=1e-12)


def test_blocks_of_long_entries_are_refused():
    long = c.phase(0, 0, 1, 0, True, 2)
    with pytest.raises(ValueError, match="blocks needs entries of one chunk each"):
        long.placed([[0, 1]], blocks=2, apart=2)
    assert long.placed([[0, 1]], scale=3).stride == 3


@given(k=st.integers(1, 4), n=st.integers(1, 6))
def test_side_by_side_shares_the_buffer_and_the_steps(k, n):
    made = c.side_by_side("rings", [c.ring_allreduce(n)] * k)
    assert made.steps == 2 * (n - 1)
    assert made.chunks == k * n
    assert made.weight.sum() == pytest.approx(1)
    assert c.is_correct(made, RNG(n))
    assert c.counts(made, 1.0).sent == pytest.approx([2 * (n - 1) / n] * n, rel=1e-12)


def test_side_by_side_of_unlike_shapes_runs_in_channels():
    made = c.side_by_side("mixed", [c.binomial_broadcast(5, 2), c.pipelined_broadcast(5, 1, 3)])
    assert {part.channel for part in made.phases} == {0, 1}
    assert made.source.tolist() == [2, 3]
    assert c.is_correct(made, RNG(0))
    twice = c.side_by_side("twice", [made, c.side_by_side("same", [c.binomial_broadcast(5)] * 2)])
    assert {part.channel for part in twice.phases} == {0, 1, 2}
    assert c.is_correct(twice, RNG(0))


def test_in_turn_starts_as_the_first_and_ends_as_the_last():
    made = c.in_turn("there and back", "all_reduce", [c.bruck_reduce_scatter(6), c.doubling_all_gather(6)])
    assert made.steps == 3 + 4
    assert c.is_correct(made, RNG(0))


def test_bytes_of_a_buffer():
    made = c.schedule_of("uneven", "broadcast", 2, [], weight=[0.25, 0.75], source=0)
    assert made.bytes_of(8e6).tolist() == [2e6, 6e6]
    assert made.chunks == 2
    assert made.steps == 0
    assert not list(made.written_out())


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.phase(0.5, 0, 1, 0, True), "step = 0.5 must be whole numbers, one for each message"),
        (lambda: c.phase(0, 0, 1, 0, 1), "add = 1 must be True or False, one for each message"),
        (lambda: c.phase(0, -1, 1, 0, True), "src = -1 is too small; count from 0"),
        (lambda: c.phase(0, 0, 1, 0, True, 0), "count = 0 is too small; count from 1"),
        (lambda: c.phase(0, 0, 1, 0, True, times=0), "times = 0 and stride = 1 must be 1 or more"),
        (lambda: c.phase(0, 0, 1, 0, True, stride=0), "times = 1 and stride = 0 must be 1 or more"),
        (
            lambda: c.phase(0, [0, 1], [1, 0, 2], 0, True),
            "step 1, src 2, dst 3, chunk 1, add 1, count 1: these must be",
        ),
        (lambda: c.phase(0, [0, 1], 1, 0, True), "src equals dst in a message"),
        (lambda: c.phase(0, [[0], [1, 2]], 1, 0, True), "src = [[0], [1, 2]] has rows of unequal length"),
        (lambda: c.phase(0, 0, 1, 0, True, times="2"), "times = '2' must be a whole number"),
        (lambda: c.schedule_of("x", "sum", 2, []), "op = 'sum' is no collective; use all_reduce, all_gather"),
        (
            lambda: c.schedule_of("x", "all-reduce", 2, []),
            "op = 'all-reduce' is no collective; did you mean",
        ),
        (lambda: c.schedule_of("x", "reduce", 2, [], chunks=3, target=[0, 1]), "target = [0, 1] must be one whole"),
        (lambda: c.schedule_of("x", "reduce", 2, [], target=2), "target = 2 must hold ranks below n = 2, or -1"),
        (lambda: c.schedule_of("x", "reduce", 2, [], source=0.5), "source = 0.5 must be one whole number"),
        (lambda: c.schedule_of("x", "reduce", 2, [], weight=[-1.0]), "weight = -1 must be at least 0"),
        (
            lambda: c.schedule_of("x", "reduce", 2, [c.phase(0, 0, 2, 0, True)]),
            "phases must use ranks below n + switches",
        ),
        (lambda: c.side_by_side("x", []), "schedules must be a list of at least one Schedule"),
        (lambda: c.side_by_side("x", [1]), "schedules = 1 is not a Schedule; make one with a builder"),
        (lambda: c.in_turn("x", "y", [c.ring_allreduce(2), c.ring_allreduce(3)]), "schedules must share n, switches"),
        (lambda: c.ring_allreduce(3).bytes_of(-1), "size = -1 must be at least 0"),
    ],
)
def test_bad_input_gets_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        bad()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", e.ROOTED)
@pytest.mark.parametrize(
    ("n", "root", "said"),
    [
        (4, 4, "root = 4 is none of n = 4 ranks; give 0 to 3"),
        (4, -1, "root = -1 is none of n = 4 ranks; give 0 to 3"),
        (4, "0", "root = '0' must be a whole number"),
        (0, 0, "n = 0 must be a whole number, 1 or more"),
    ],
)
def test_a_root_is_a_rank(name, n, root, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        e.ROOTED[name](n, root)


@pytest.mark.parametrize("name", [name for name in e.BUILDERS if " orders" not in name and "_v" not in name])
@pytest.mark.parametrize("n", [0, -3, 2.5, "8", True, None])
def test_n_is_a_number_of_ranks(name, n):
    with pytest.raises(ValueError, match=r"n = .* must be a whole number"):
        e.BUILDERS[name](n)
