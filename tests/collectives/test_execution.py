"""The execution, on every builder: right as built, wrong with any one fault."""

import re

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from netlib import collectives as c
from tests.collectives import executed as e
from tests.collectives.stepped import holds

RNG = np.random.default_rng


@pytest.mark.parametrize("name", e.UNROOTED)
@pytest.mark.parametrize("above", [[], [64, 100]], ids=["1 to 33", "above"])
def test_every_builder_does_what_its_collective_promises(name, above):
    for n in above or range(1, 34):
        assert c.is_correct(e.UNROOTED[name](n), RNG(n)), n


@pytest.mark.parametrize("name", e.ROOTED)
def test_and_from_every_root(name):
    for n in (*range(1, 34), 64, 257):
        roots = range(n) if n < 8 else {0, n - 2} if n < 34 else {n // 3}
        assert all(c.is_correct(e.ROOTED[name](n, root), RNG(n)) for root in roots), n


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", e.ROOTED)
def test_from_all_roots(name):
    assert all(c.is_correct(e.ROOTED[name](n, root), RNG(n)) for n in range(1, 34) for root in range(n))


@pytest.mark.parametrize("name", e.BUILDERS)
@settings(max_examples=8, deadline=None)
@given(n=st.integers(3, 13), data=st.data())
def test_one_fault_anywhere_is_noticed(name, n, data):
    made = e.flat(e.BUILDERS[name](n))
    assume(made.phases)
    part = made.phases[0]
    i = data.draw(st.integers(0, part.src.size - 1))
    if name == "scatter_gather_broadcast":  # its ring also sends ranks what the scatter left with them
        assume(not e.held_before(made, i))
    src, dst, chunk = int(part.src[i]), int(part.dst[i]), int(part.chunk[i])
    # a part of a sum that goes to another rank may still arrive; to add where nothing is held is to keep
    others = [rank for rank in range(n) if rank not in (src, dst)]
    faults = [
        ({"drop": True}, True),
        ({"dst": data.draw(st.sampled_from(others))}, not part.add[i]),
        ({"add": not part.add[i]}, part.add[i] or e.held_before(made, i)),
    ]
    if made.chunks > 1:
        faults.append(({"chunk": (chunk + data.draw(st.integers(1, made.chunks - 1))) % made.chunks}, True))
    for fault, matters in faults:
        faulty = e.bent(made, i, **fault)
        assert holds(faulty) == e.kept_promise(faulty), fault
        assert not holds(faulty) or not matters, fault
    assert e.kept_promise(made)
    assert holds(made)


@pytest.mark.parametrize("name", [name for name in e.BUILDERS if name != "scatter_gather_broadcast"])
def test_nobody_is_told_what_it_knows(name):
    made = e.flat(e.BUILDERS[name](7))
    part = made.phases[0]
    if (made.source >= 0).all():
        assert not any(e.held_before(made, i) for i in range(part.src.size))
    elif name not in ("recursive_doubling_allreduce", "direct_allreduce, one shot"):  # there, ranks add the same again
        assert part.src.size == made.chunks * (made.n - 1) + (c.in_the_end(made).sum() - made.chunks)


@pytest.mark.parametrize("name", e.BUILDERS)
@settings(max_examples=6, deadline=None)
@given(n=st.integers(1, 12), seed=st.integers(0, 99))
def test_ranks_may_be_renamed_and_phases_written_out(name, n, seed):
    made = e.BUILDERS[name](n)
    names = RNG(seed).permutation(n)
    source, target = (np.where(held < 0, -1, names[held]) for held in (made.source, made.target))
    phases = [part.placed(names) for part in made.phases]
    renamed = c.schedule_of("renamed", made.op, n, phases, weight=made.weight, source=source, target=target)
    assert c.is_correct(renamed, RNG(seed))
    for other in (renamed, e.flat(made)):
        assert c.counts(other, 1e6).critical == pytest.approx(c.counts(made, 1e6).critical, rel=1e-12)
        assert c.counts(other, 1e6).steps == c.counts(made, 1e6).steps
    words = RNG(seed).integers(0, 2**60, (n, made.chunks))
    assert (c.execute(e.flat(made), words) == c.execute(made, words)).all()
    turned = np.empty_like(words)
    turned[names] = words
    assert (c.execute(renamed, turned)[names] == c.execute(made, words)).all()


@pytest.mark.parametrize("name", e.BUILDERS)
@pytest.mark.parametrize("n", [2, 3, 6, 7, 8, 13])
def test_bytes_are_conserved_and_ports_are_single(name, n):
    made = e.BUILDERS[name](n)
    counted = c.counts(made, 1e6)
    assert counted.sent.sum() == pytest.approx(counted.received.sum(), rel=1e-12)
    sent = list(e.messages(made))
    assert counted.messages.sum() == sum(len(step) for step in sent)
    assert counted.steps == made.steps == sum(bool(step) for step in sent), "no step is idle"
    if name not in e.SEVERAL_AT_ONCE:
        assert e.one_port(made)
    elif n > 3:
        assert not e.one_port(made)


@pytest.mark.parametrize("name", e.BUILDERS)
def test_every_sum_holds_each_rank_once(name):
    for n in (2, 5, 8):
        made = e.BUILDERS[name](n)
        if (made.source < 0).all():
            for chunk in range(made.chunks):
                order = c.reduction_order(made, chunk)
                assert sorted(map(int, re.findall(r"\d+", order))) == list(range(n)), order


SAME_BITS = [name for name in e.BUILDERS if e.BUILDERS[name](2).op == "all_reduce" and "one shot" not in name]


@pytest.mark.parametrize("name", [*SAME_BITS, "direct_allreduce, one shot"])
def test_all_ranks_get_the_same_bits_but_for_one_shot(name):
    made = e.BUILDERS[name](13)
    numbers = RNG(1).normal(size=(13, made.chunks, 50)) * 10.0 ** RNG(2).integers(-9, 9, (13, made.chunks, 50))
    result = c.execute(made, numbers)
    assert (result == result[0]).all() == (name in SAME_BITS)
    assert np.allclose(result, numbers.sum(axis=0), rtol=1e-5, atol=1e-6)


def test_other_shapes_and_types():
    ring = c.ring_allreduce(3)
    blocks = RNG(0).integers(-99, 99, (3, 3, 4, 5))
    assert (c.execute(ring, blocks) == blocks.sum(axis=0)).all()
    small = np.full((3, 3), 200, np.uint8)
    assert c.execute(ring, small).dtype == np.uint8
    assert (c.execute(ring, small) == np.uint8(600 % 256)).all()


def test_what_a_rank_has_no_right_to_is_not_read():
    gather = c.ring_all_gather(4)
    filled = np.full((4, 4), 7) - 6 * np.eye(4, dtype=int)
    assert (c.execute(gather, filled) == 1).all()
    scatter = c.execute(c.linear_scatter(3), [[1, 2, 3]] * 3)
    assert scatter.tolist() == [[1, 2, 3], [0, 2, 0], [0, 0, 3]]  # 0 where nothing came


def test_a_switch_adds_what_it_is_sent():
    up = c.phase(0, [0, 1, 2], 3, 0, True)
    down = c.phase(0, 3, [0, 1, 2], 0, False)
    star = c.schedule_of("star", "all_reduce", 3, [up, down], switches=1)
    assert c.execute(star, [[1], [2], [4]]).tolist() == [[7], [7], [7], [7]]
    assert c.is_correct(star, RNG(0))
    assert c.reduction_order(star) == "(2+(1+0))"
    assert c.in_the_end(star).tolist() == c.at_first(star).tolist() == [[True]] * 3 + [[False]]
    assert c.counts(star, 8.0).sent.tolist() == [8, 8, 8, 24]
    assert c.counts(star, 8.0).messages.tolist() == [1, 1, 1, 3]


def test_everything_in_a_step_is_from_before_it():
    swap = c.schedule_of("swap", "sendrecv", 2, [c.phase(0, [0, 1], [1, 0], [0, 1], False)], chunks=2, source=[0, 1])
    assert c.execute(swap, [[5, 0], [0, 9]]).tolist() == [[5, 9], [5, 9]]
    both = c.schedule_of("both", "all_reduce", 2, [c.phase(0, [0, 1], [1, 0], 0, True)])
    assert c.execute(both, [[5], [9]]).tolist() == [[14], [14]]


LATE = c.schedule_of("late", "broadcast", 3, [c.phase(0, 1, 2, 0, False)], source=0)
TORN = c.schedule_of("torn", "all_reduce", 3, [c.phase(0, [0, 1], 2, 0, [True, False])])
RING = c.ring_allreduce(4)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (lambda: c.execute(LATE, [[1], [0], [0]]), "in step 0 rank 1 sends chunk 0, which it does not hold"),
        (lambda: c.execute(TORN, [[1], [2], [3]]), "in step 0 two messages write chunk 0 of rank 2; let both add"),
        (lambda: c.execute(RING, [[1, 2]]), "buffers has shape (1, 2); give (4, 4, ...): ranks, then chunks"),
        (lambda: c.execute(RING, [[1], [2, 3]]), "buffers = [[1], [2, 3]] has rows of unequal length"),
        (lambda: c.execute("ring", [[1]]), "schedule = 'ring' is not a Schedule; make one with a builder"),
        (lambda: c.is_correct(RING, 7), "rng = 7 must be a random generator"),
        (lambda: c.reduction_order(RING, 4), "chunk = 4 is none of this schedule's; give 0 to 3"),
        (lambda: c.reduction_order(RING, 0, 4), "rank = 4 is none of this schedule's; give 0 to 3"),
        (lambda: c.counts(RING, -1), "size = -1 must be at least 0"),
    ],
)
def test_bad_input_gets_one_sentence(bad, said):
    with pytest.raises(ValueError, match=re.escape(said)) as error:
        bad()
    assert "\n" not in str(error.value)


def test_reduction_order_of_a_rank_and_of_nothing():
    assert c.reduction_order(c.ring_reduce_scatter(3), 2) == "((0+1)+2)"
    assert c.reduction_order(c.ring_reduce_scatter(3), 2, rank=1) == "(0+1)"
    assert c.reduction_order(c.linear_scatter(3), 2, rank=1) == ""
