"""Where the choice changes: against a dense grid, against crossings found otherwise, and what is refused."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives import nccl
from netlib.collectives.nccl.bandwidth import OPS

MiB, GiB = 2**20, 2**30
C7 = nccl.Channels(16, 24e9, 24e9)


def pod(nodes):
    return nccl.Cluster("Hopper", nodes, 8, C7)


@given(
    version=st.sampled_from(nccl.editions()),
    machine=st.sampled_from(["dgx-a100", "dgx-h100", "p5", "dgx-b200"]),
    nodes=st.sampled_from([1, 2, 3, 4, 9, 16, 100]),
    op=st.sampled_from(OPS),
    seed=st.integers(0, 1000),
)
@settings(max_examples=60, deadline=None)
def test_the_spans_are_what_choose_says(version, machine, nodes, op, seed):
    """At random sizes, and on both sides of each change of mind."""
    tuning = nccl.tune(version, nccl.named(machine, nodes, version=version), op)
    found = nccl.spans(tuning, 8.0, 2.0**36)
    assert (found[0].start, found[-1].end) == (8.0, 2.0**36)
    ends = np.array([each.end for each in found])
    assert (np.diff(ends) > 0).all()
    assert all(one.end == two.start and one.name != two.name for one, two in pairwise(found))
    sizes = 2.0 ** np.random.default_rng(seed).uniform(3, 36, 200)
    beside = np.concatenate([ends[:-1] * (1 - 1e-9), ends[:-1] * (1 + 1e-9)])
    for each in (sizes, beside):
        told = [found[int(np.searchsorted(ends, size, side="right"))].name for size in each]
        assert told == tuning.choose(each).name.tolist()


def test_all_changes_on_eight_nodes():
    """Rings win from 410 MiB and trees again from 512 MiB, where their correction ends."""
    found = nccl.spans(nccl.tune("2.30.7", pod(8)), MiB)
    assert [(each.name, round(each.start / MiB)) for each in found] == [
        ("Tree/LL128", 1),
        ("Ring/LL128", 410),
        ("Tree/Simple", 512),
        ("Ring/Simple", 1198),
    ]


def test_the_last_tree_for_several_clusters_at_once():
    nodes = [2, 4, 8, 16, 32, 64, 128]
    found = nccl.last_size(nccl.tune("2.30.7", pod(nodes)), "Tree") / MiB
    assert found == pytest.approx([18.16, 135.74, 1197.5, 2878.09, 6358.0, 13415.13, 27610.99], rel=1e-4)
    alone = [float(nccl.last_size(nccl.tune("2.30.7", pod(each)), "Tree")) / MiB for each in nodes]
    assert alone == found.tolist()


def test_2_4_as_its_own_formula():
    tuning = nccl.tune("2.4.8", nccl.named("dgx-a100", [1, 2, 16, 128]))
    threshold = nccl.tree_threshold([1, 2, 16, 128], 8, [24, 16, 16, 16])
    assert nccl.last_size(tuning, "Tree") == pytest.approx(threshold, rel=1e-9)
    assert threshold[:2].tolist() == [0, np.inf]


def test_an_algorithm_that_is_off_is_never_last():
    tuning = nccl.tune("2.30.7", pod(4))
    assert nccl.last_size(tuning, "NVLS") == 0
    assert nccl.last_size(tuning, "Ring") == np.inf
    assert nccl.last_size(tuning, "Ring", high=MiB) == 0, "below a MiB a tree wins"


def test_jumps_are_where_times_jump():
    """Between two jumps the second difference of each row is zero; at them some row jumps."""
    tuning = nccl.tune("2.30.7", nccl.named("dgx-h100", 16))
    jumps = np.unique(tuning.jumps())
    for low, high in pairwise(jumps):
        inside = np.linspace(low, high * (1 - 1e-12), 5)
        times = tuning.times(inside)
        times = times[np.isfinite(times).all(axis=1)]
        assert np.abs(np.diff(times, n=2, axis=1)).max() < 1e-9 * times.max()
    on = tuning.enabled
    before, at = (tuning.times(jumps * factor)[on] for factor in (1 - 1e-12, 1.0))
    assert (np.abs(at - before).max(axis=0) > 1e-8).sum() >= 10
    old = nccl.tune("2.4.8", nccl.named("dgx-a100", 16))
    assert old.jumps()[-1] == 0, "no plateau, no jump"


def test_what_is_refused():
    several = nccl.tune("2.30.7", pod([2, 4]))
    with pytest.raises(ValueError, match="2 numbers of nodes; tune one, or use last_size"):
        nccl.spans(several)
    one = nccl.tune("2.30.7", pod(2))
    with pytest.raises(ValueError, match=r"algorithm = 'Trees' is none of NCCL's; did you mean Tree"):
        nccl.last_size(one, "Trees")
    with pytest.raises(ValueError, match="high"):
        nccl.spans(one, 10.0, 1.0)
    with pytest.raises(ValueError, match="low"):
        nccl.last_size(one, "Tree", low=0.0)
    nothing = nccl.tune("2.30.7", pod(2), "all_gather", variables={"NCCL_ALGO": "Tree"})
    with pytest.raises(ValueError, match="leave no algorithm"):
        nccl.spans(nothing)
    with pytest.raises(ValueError, match="leave no algorithm"):
        nccl.last_size(nothing, "Ring")


def test_notes_say_what_was_not_read():
    for version, part in (("2.29.7", "the file of 2.29.7 was not read"), ("2.23.4", "the file of 2.23.4 was not read")):
        assert any(part in note for note in nccl.tune(version, pod(2)).notes)
    assert not any("was not read" in note for note in nccl.tune("2.30.7", pod(2)).notes)
