"""The vectorised cost model against a scalar port of three versions that shares no code with it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives import nccl
from netlib.collectives.nccl.bandwidth import OPS
from tests.collectives.nccl import port

SPEEDS = st.sampled_from([3.0, 10.0, 12.0, 15.0, 22.5, 24.0, 40.0, 45.0, 90.0])


@st.composite
def jobs(draw):
    """A random cluster in the port's terms."""
    nodes, g = draw(st.sampled_from([(1, 8), (1, 2), (2, 8), (2, 1), (3, 4), (16, 8), (128, 8), (100, 1), (7, 5)]))
    ring = (draw(st.integers(1, 32)), draw(SPEEDS), draw(SPEEDS))
    nvls = draw(st.none() | st.tuples(st.integers(2, 16), SPEEDS, SPEEDS))
    return port.Job(
        draw(st.sampled_from(["Volta", "Ampere", "Hopper", "Blackwell"])),
        nodes,
        g,
        ring,
        nvls,
        draw(st.sampled_from(["Intel", "AMD", "ARM"])),
        draw(st.booleans()),
        draw(st.sampled_from([0.0, 1.5])),
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.none() | st.integers(1, 64)),
    )


def channels(three):
    """Channels of the port in ours."""
    return nccl.Channels(three[0], three[1] * 1e9, three[2] * 1e9)


def as_cluster(job):
    """The same cluster in ours."""
    return nccl.Cluster(
        job.gpu,
        job.N,
        job.g,
        channels(job.ring),
        nvls=channels(job.nvls) if job.nvls else None,
        cpu=job.cpu,
        nvlink=job.nvlink,
        nic_latency=job.nic * 1e-6,
        plain_tree=job.plain,
        same_rings=job.same,
        channels=job.chans,
    )


@pytest.mark.parametrize("version", port.MODELS)
@given(job=jobs(), size=st.integers(0, 2**36), k=st.integers(1, 25), op=st.sampled_from(OPS))
@settings(max_examples=80, deadline=None)
def test_every_time_is_that_of_the_port(version, job, size, k, op):
    if version == "2.7.8" and job.gpu not in ("Volta", "Ampere"):
        job.gpu = "Volta"
    if version == "2.18.3":
        op = "all_reduce"
    tuning = nccl.tune(version, as_cluster(job), op, operations=k)
    for algorithm, protocol in port.ALL:
        wanted = port.time(version, job, op, algorithm, protocol, size, k)
        got = float(tuning.time(f"{algorithm}/{protocol}", size))
        if algorithm.startswith("CollNet"):
            continue
        if algorithm == "NVLSTree" and job.N == 1:
            assert not tuning.enabled[tuning.row("NVLSTree/Simple")]
            continue
        assert got == (np.inf if wanted is None else pytest.approx(wanted * 1e-6, rel=1e-9)), (algorithm, protocol)


@given(size=st.integers(1, 2**36))
@settings(max_examples=60, deadline=None)
def test_the_choice_is_the_least_of_what_is_on(size):
    tuning = nccl.tune("2.30.7", nccl.named("dgx-h100", [1, 2, 16]))
    picked, all_times = tuning.choose(float(size)), tuning.times(float(size))
    assert picked.seconds.tolist() == all_times.min(axis=0).tolist()
    assert picked.row.tolist() == all_times.argmin(axis=0).tolist()


def test_a_grid_of_sizes_and_nodes_is_what_single_calls_give():
    sizes, nodes = np.geomspace(1, 2**34, 23), np.array([1, 2, 3, 8, 100])
    for version in nccl.editions():
        grid = nccl.tune(version, nccl.named("dgx-h200", nodes, version=version)).choose(sizes[:, None])
        for j, count in enumerate(nodes):
            alone = nccl.tune(version, nccl.named("dgx-h200", int(count), version=version)).choose(sizes)
            assert grid.name[:, j].tolist() == alone.name.tolist()
            np.testing.assert_allclose(grid.seconds[:, j], alone.seconds, rtol=1e-12)
