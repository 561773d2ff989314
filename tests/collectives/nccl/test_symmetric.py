"""Kernels for symmetric memory against a scalar port, and limits that must hold."""

from math import ceil, exp, expm1, log1p

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netlib.collectives.nccl.symmetric import KERNELS, symmetric_times

GIB = 2**30 / 1e6  # GiB/s in bytes per microsecond


def model(moved, base, blocks, one, gain, peak):
    """Microseconds, as in sym_kernels.cc."""
    x = blocks * one * gain
    bandwidth = peak - one * log1p(expm1(peak / one) * exp(-x / one))
    z = moved / bandwidth - 1
    return base + (z if z >= 100 else log1p(exp(z)))


def port(op, kernel, size, n, gpu):
    """Microseconds and blocks of one kernel; NCCL counts a gather by the piece of one GPU."""
    hopper, each = gpu == "Hopper", size if op == "all_reduce" else size / n
    ll, switch = "LL" in kernel, kernel.endswith(("STMC", "LDMC"))
    if ll:
        moved = n * each * 9
    elif kernel == "RSxLDMC_AGxSTMC":
        moved = each / n + each
    elif op == "all_reduce":
        moved = 2 * each * (n - 1) / n
    else:
        moved = (n - 1) * each
    gain = 1.1 if kernel.endswith("LLMC_R") or kernel == "LLMC" else 1
    gain = n if kernel == "RSxLDMC_AGxSTMC" else 0.55 * n if switch else gain
    most = ceil((16 if hopper else 32) / n) if switch else 64
    if hopper:
        base, one = (4.5 if ll else 7.8), (65 if op == "all_reduce" else 44) * GIB
        peak = (480 if kernel == "RSxLDMC_AGxSTMC" else 320) * GIB
    else:
        base = (8.5 if op == "all_gather" else 11) if ll else 19.5 if op == "all_reduce" else 13
        one, peak = 55 * GIB, (1000 if kernel == "RSxLDMC_AGxSTMC" else 600) * GIB
    best = model(moved, base, most, one, gain, peak)
    for blocks in range(1, most):
        time = model(moved, base, blocks, one, gain, peak)
        if time <= 1.025 * best:
            return time, blocks
    return best, most


@given(
    op=st.sampled_from(list(KERNELS)),
    size=st.floats(1, 2**34),
    n=st.integers(2, 72),
    gpu=st.sampled_from(["Hopper", "Blackwell"]),
)
@settings(max_examples=150, deadline=None)
def test_every_kernel_is_that_of_the_port(op, size, n, gpu):
    out = symmetric_times(op, size, n, gpu)
    for index, kernel in enumerate(out.names):
        micro, blocks = port(op, kernel, size, n, gpu)
        assert float(out.seconds[index]) * 1e6 == pytest.approx(micro, rel=1e-9), kernel
        assert int(out.blocks[index]) == blocks, kernel
    weighed = [out.seconds[i] * (1 + 0.025 * out.blocks[i]) for i in range(len(out.names))]
    assert int(out.chosen) == int(np.argmin(weighed))


def test_large_messages_run_at_the_peak_of_their_bytes():
    """1 TiB on 8 Hoppers with the switch: S(1 + 1/8) bytes at 480 GiB/s; without it 2 x 7/8 S at 320 GiB/s."""
    size = 2.0**40
    fast, slow = (symmetric_times("all_reduce", size, 8, "Hopper", multicast=each).best for each in (True, False))
    assert float(fast) == pytest.approx(1.125 * size / (480 * 2**30), rel=0.03)
    assert float(slow) == pytest.approx(1.75 * size / (320 * 2**30), rel=0.03)


def test_small_messages_cost_the_base_and_more_bytes_take_longer():
    sizes = np.geomspace(1, 2**36, 400)
    out = symmetric_times("all_reduce", sizes, 8, "Hopper")
    assert float(out.best[0]) * 1e6 == pytest.approx(4.5 + log1p(exp(-1)), rel=1e-3)
    exact = symmetric_times("all_reduce", sizes[:, None], np.array([8, 8]), "Hopper")
    assert (exact.seconds[:, :, 0] == out.seconds).all()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("broadcast", 1, 8, "Hopper"), "only these have symmetric kernels"),
        (("all_reduce", 1, 8, "Ampere"), "is not one of Hopper, Blackwell"),
        (("all_reduce", 1, 1, "Hopper"), "n = 1 must be at least 2"),
        (("all_reduce", -1, 8, "Hopper"), "sizes = -1 must be at least 0"),
        (("all_reduce", [1, 2], [2, 3, 4], "Hopper"), "do not broadcast"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, told):
    with pytest.raises(ValueError, match=told):
        symmetric_times(*arguments)
