"""The figures and sentences of "An algorithm as data" and "Three engines, one answer": what a reader finds there."""

import numpy as np
import pytest

from netlib import collectives as c
from netlib.course.exercises import load, schedule_02, schedule_03
from netlib.course.explorer import state
from netlib.course.explorers import agreement_three, late_rank
from netlib.course.judge import judge
from netlib.fidelity import engine_table
from netlib.units import GiB, KiB, MiB

ALGORITHMS = ("ring", "halving and doubling", "binomial tree")


# ---- agreement-three


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("network", agreement_three.NETWORKS)
def test_the_count_lies_on_the_formula_whatever_the_network(algorithm, network):
    found = state("agreement-three", algorithm=algorithm, network=network)
    assert found["count"] == pytest.approx(found["closed form"], rel=1e-12)
    assert (np.array(found["simulation"]) >= np.array(found["closed form"]) * (1 - 1e-12)).all()
    if network == "one switch":
        assert found["simulation"] == pytest.approx(found["closed form"], rel=1e-12)
        assert not found["failure"]


def test_in_order_a_ring_passes_a_taper_and_dealt_out_it_pays_all_of_it():
    network = {where: f"taper 3:1, ranks {where}" for where in ("in order", "dealt out")}
    ring = {where: state("agreement-three", network=name, size=1 * GiB) for where, name in network.items()}
    assert ring["in order"]["simulation"] == pytest.approx(ring["in order"]["closed form"])
    at = ring["dealt out"]["x"].index(24)  # four whole leaves: every message crosses
    share = ring["dealt out"]["simulation"][at] / ring["dealt out"]["closed form"][at]
    assert 2.9 < share < 3, "but for the latency"
    assert "The formula misses" in ring["dealt out"]["failure"]
    doubling = state("agreement-three", network=network["in order"], algorithm="halving and doubling", size=1 * GiB)
    assert doubling["ratio"] > 2.5


def test_a_slow_cable_costs_bytes_and_no_latency():
    large = state("agreement-three", network="one cable at a quarter", size=1 * GiB)
    small = state("agreement-three", network="one cable at a quarter", size=64 * KiB)
    assert large["ratio"] == pytest.approx(4, abs=0.1)
    assert small["ratio"] == pytest.approx(1, abs=0.05)


# ---- late-rank


@pytest.mark.parametrize("rank", [0, 1, 5, 12])
@pytest.mark.parametrize("slow", [1, 2])
def test_a_ring_is_as_late_as_its_latest_rank(rank, slow):
    found = state("late-rank", rank=rank, slow=slow)
    assert found["ring"] == pytest.approx(found["cable_ring"] + np.array(found["x"]), abs=1e-12)
    chunk = 64 * MiB / 13 / late_rank.CABLE.bandwidth
    assert found["cable_ring"] == pytest.approx((slow - 1) * 24 * chunk)
    assert found["free_ring"] == 0


@pytest.mark.parametrize(("rank", "tree", "doubling"), [(0, 0, 0), (1, 0, 0), (5, 0, 1), (12, 2, 0)])
@pytest.mark.parametrize("size", [16 * MiB, 32 * MiB, 64 * MiB])
def test_slack_is_whole_steps_of_the_buffer(rank, tree, doubling, size):
    """Rank 12 of 13 sends first in the third step of the tree; rank 5 has nobody to fold in."""
    found = state("late-rank", rank=rank, size=size)
    step = size / late_rank.CABLE.bandwidth + 2 * late_rank.CABLE.alpha
    for name, line, steps in (("doubling", "halving and doubling", doubling), ("tree", "binomial tree", tree)):
        free = found[f"free_{name}"]
        assert free == pytest.approx(steps * step, abs=1e-12)
        assert found[line] == pytest.approx(np.maximum(0, np.array(found["x"]) - free), abs=1e-12)


def test_what_the_figure_says():
    found = state("late-rank")
    assert found["reading"].endswith("nothing in a ring, nothing in halving and doubling, 2.69 ms in a tree.")
    assert not found["failure"]
    assert "no slack for rank 0" in state("late-rank", rank=0)["failure"]
    root = state("late-rank", rank=0, slow=2)
    assert root["cable_tree"] > root["cable_doubling"] > root["cable_ring"]
    assert "Even in time, its cable costs all 13 ranks" in root["failure"]


# ---- the sentences


def test_the_example_is_a_ring():
    lines = [line.strip("| ").split(" | ") for line in engine_table.example().splitlines()]
    assert lines[0] == ["step", "0 → 1", "1 → 2", "2 → 3", "3 → 0"]
    cells = np.array([line[1:] for line in lines[2:]], int)
    np.testing.assert_array_equal(cells[1:], np.roll(cells[:-1], 1, axis=1))  # passed on, a rank further


def test_the_bits_are_the_same_on_all_ranks():
    numbers = np.random.default_rng(1).normal(size=(8, 8)) * 1e3 ** np.arange(8)[:, None]
    for made in (c.ring_allreduce(8), c.tree_allreduce(8), c.halving_doubling_allreduce(8)):
        result = c.execute(made, numbers[:, : made.chunks])
        assert (result == result[0]).all()


def test_the_paper_counts_more_steps_than_are_needed():
    for n in range(3, 34):
        for k in (1, 3, 8):
            assert 4 <= 4 * (c.depth(n) + k) - c.double_tree_allreduce(n, k).steps <= 6


# ---- the exercises


def test_the_faulty_schedule_looks_like_the_right_one_to_a_count():
    right, bent = schedule_03.RING, schedule_03.bent()
    one, other = c.counts(right, 1e6), c.counts(bent, 1e6)
    assert (one.steps, one.critical, one.sent.tolist()) == (other.steps, other.critical, other.sent.tolist())
    assert c.is_correct(right, np.random.default_rng(0))
    assert not c.is_correct(bent, np.random.default_rng(0))
    assert schedule_03.wrong_sums() == 2


def test_a_learners_schedule_is_executed():
    made = schedule_02.written(schedule_02.target, 8)
    assert made.steps == 3
    assert c.is_correct(made, np.random.default_rng(0))
    slow = judge(load("schedule-02"), schedule_02.one_pair_at_a_time)
    assert "no more than log2 n steps" in slow.message
    assert "n = 4" in slow.message
    assert judge(load("schedule-02"), 3).status == "unreadable"
    again = judge(load("schedule-02"), lambda rank, step, n: rank ^ 1 if 2**step < n else -1)
    assert "nobody's sum holds a rank's part twice" in again.message
    silent = judge(load("schedule-02"), lambda rank, step, n: -1)
    assert "no rank's part is missing in anybody's sum" in silent.message
    assert "raised ZeroDivisionError" in judge(load("schedule-02"), lambda rank, step, n: 1 // 0).message
    assert "to another rank" in judge(load("schedule-02"), lambda rank, step, n: 0.5).message
