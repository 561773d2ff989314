"""Random schedules for tests of what is counted and timed, not of what is computed: any message, any chunk."""

import numpy as np
from hypothesis import strategies as st

from netlib.collectives import Phase, Schedule, phase, schedule_of


@st.composite
def phases(draw: st.DrawFn, n: int, chunks: int) -> Phase:
    """Some steps with some messages, repeated or not, of several chunks, around the end or stopping there."""
    pair = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)).filter(lambda p: p[0] != p[1])
    entry = st.tuples(st.integers(0, 2), pair, st.integers(-2, chunks + 1), st.booleans(), st.integers(1, 3))
    step, pairs, chunk, add, count = zip(*draw(st.lists(entry, min_size=1, max_size=6)), strict=True)
    src, dst = zip(*pairs, strict=True)
    times, shift, stride = draw(st.tuples(st.integers(1, 4), st.integers(-2, 2), st.integers(1, 3)))
    wrap, channel = draw(st.booleans()), draw(st.integers(0, 1))
    return phase(step, src, dst, chunk, add, count, times=times, shift=shift, stride=stride, wrap=wrap, channel=channel)


@st.composite
def schedules(draw: st.DrawFn, n: int = 5) -> Schedule:
    """Up to four random phases on even or uneven chunks."""
    chunks = draw(st.integers(1, 4))
    made = draw(st.lists(phases(n, chunks), max_size=4))
    weight = draw(st.one_of(st.none(), st.lists(st.integers(0, 5), min_size=chunks, max_size=chunks)))
    return schedule_of("random", "all_reduce", n, made, chunks=chunks, weight=weight)


def disjoint(n: int, steps: int, rng: np.random.Generator) -> Schedule:
    """In each step some ranks send to one other each, no two to the same: on one switch nobody shares a link."""
    made = []
    for _ in range(steps):
        order = rng.permutation(n)
        to = np.roll(order, 1)
        some = rng.random(n) < 0.7
        if some.any():
            made.append(phase(0, order[some], to[some], rng.integers(0, n, int(some.sum())), False))
    return schedule_of("disjoint", "all_reduce", n, made, weight=rng.integers(1, 9, n) / 8)
