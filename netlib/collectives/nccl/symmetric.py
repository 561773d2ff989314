"""Symmetric: NCCL's model of its kernels for symmetric memory, smooth where the tuner's is a straight line.

With buffers registered in a window, GPUs of one NVLink domain read and write one another directly. For those kernels
NCCL counts bytes instead of steps: T = base + softplus(bytes / bandwidth - 1 us), and the bandwidth grows with the
thread blocks up to a peak, by a soft minimum. The byte counts are those of the hardware, S(1 + 1/n) for an all-reduce
that the switch adds, so this is a second, physical opinion on NVLS.
Source: NVIDIA/nccl@01050a1 src/sym_kernels.cc. Read with the chapter "Collectives", section "NCCL decides".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, clash, declared, floats, formula
from netlib.collectives.cost import ranks as ranks_of
from netlib.collectives.nccl.tables import edition, known, rows

EDITION = "2.30.7"
KERNELS = {
    "all_reduce": ("AGxLL_R", "AGxLLMC_R", "RSxLD_AGxST", "RSxLDMC_AGxSTMC"),
    "all_gather": ("LL", "LLMC", "ST", "STMC"),
    "reduce_scatter": ("LL", "LD", "LDMC"),
}


@dataclass(frozen=True, eq=False)
class Symmetric:
    """What the model says of each kernel: `names` (kernels,), `seconds` and `blocks` (kernels, *sizes and ranks).

    `chosen` is the index of the kernel that NCCL takes: the least seconds x (1 + 0.025 blocks), since blocks hold SMs.
    """

    names: tuple[str, ...]
    seconds: Floats
    blocks: NDArray[np.int64]
    chosen: NDArray[np.int64]

    @property
    def best(self) -> Floats:
        """Seconds of the chosen kernel.

        >>> round(float(symmetric_times("all_reduce", 8 * 2**30, 8, "Hopper").best) * 1e3, 1)
        18.8
        """
        return np.asarray(np.take_along_axis(self.seconds, self.chosen[None], axis=0)[0])


@declared
@formula
def symmetric_times(op: str, sizes: ArrayLike, n: ArrayLike, gpu: str, multicast: bool = True) -> Symmetric:
    """Seconds, blocks and the choice for all_reduce, all_gather or reduce_scatter of whole buffers of `sizes` bytes.

    `n` GPUs of one NVLink domain, "Hopper" or "Blackwell". `multicast=False` leaves out the kernels (MC) that let the
    switch copy or add. For a GPU's piece s = sizes/n the bytes each way are 2(n-1) s for a two-step all-reduce,
    (n+1) s with the switch, (n-1) s for a gather or scatter, and 9 times all data for LL.

    >>> out = symmetric_times("all_reduce", [8192, 2**30], 8, "Hopper")
    >>> [out.names[each] for each in out.chosen]
    ['AGxLLMC_R', 'RSxLDMC_AGxSTMC']
    """
    if op not in KERNELS:
        raise ValueError(f"op = {op[:40]!r} is not one of {', '.join(KERNELS)}; only these have symmetric kernels")
    if gpu not in ("Hopper", "Blackwell"):
        raise ValueError(f"gpu = {gpu[:40]!r} is not one of Hopper, Blackwell; only these have symmetric kernels")
    size, ranks = floats("sizes", sizes), ranks_of(n)
    if sentence := clash({"sizes": size.shape, "n": ranks.shape}):
        raise ValueError(sentence + "; for a grid give sizes[:, None]")
    if (ranks < 2).any():
        raise ValueError(f"n = {ranks.min():g} must be at least 2")
    size, ranks = np.broadcast_arrays(size, ranks)
    names = tuple(name for name in KERNELS[op] if multicast or "MC" not in name)
    pairs = [_least_blocks(op, name, size, ranks, gpu) for name in names]
    seconds, blocks = (np.stack(each) for each in zip(*pairs, strict=True))
    weighed = seconds * (1 + known(edition(EDITION), "symmetric penalty of a block") * blocks)
    return Symmetric(names, seconds, blocks.astype(np.int64), np.argmin(weighed, axis=0))


def _value(table: str, gpu: str, op: str = "", kernel: str = "") -> float:
    """The constant of a table that fits best: that of the kernel, of the operation, or of all."""
    held = [row for row in rows(edition(EDITION), table) if row.gpu in ("", gpu)]
    by_name = {row.algorithm: row.value for row in held}
    return next(by_name[name] for name in (kernel or op, op, "") if name in by_name)


def _bytes(op: str, kernel: str, size: Floats, n: Floats) -> Floats:
    """The larger of the bytes that a GPU sends and receives."""
    if "LL" in kernel:  # twice the bytes, and slow to unpack
        whole = size * n if op == "all_reduce" else size
        return np.asarray(whole * known(edition(EDITION), "symmetric LL factor"))
    if kernel == "RSxLDMC_AGxSTMC":
        return np.asarray(size / n + size)
    return np.asarray((2 if op == "all_reduce" else 1) * size * (n - 1) / n)


def _least_blocks(op: str, kernel: str, size: Floats, n: Floats, gpu: str) -> tuple[Floats, Floats]:
    """Seconds with the fewest blocks that come within 2.5 % of the most that NCCL would take, and those blocks."""
    moved, limit = _bytes(op, kernel, size, n), _value("symmetric blocks", gpu)
    in_switch = "MC" in kernel and "LL" not in kernel
    most = np.ceil(_value("symmetric blocks of a switch", gpu) / n) if in_switch else np.full(n.shape, limit)
    gain = np.ones(n.shape)
    if "MC" in kernel:
        gain = n if kernel == "RSxLDMC_AGxSTMC" else n * _value("symmetric gain", gpu, op, "MC")
        gain = np.full(n.shape, _value("symmetric gain", gpu, op, "LLMC")) if "LL" in kernel else gain
    family = "LL" if "LL" in kernel else op
    base = _value("symmetric base", gpu, op, f"{family} {op}" if family == "LL" else op)
    one, peak = _value("symmetric block", gpu, op), _value("symmetric peak", gpu, op, kernel)

    def seconds(blocks: Floats) -> Floats:
        return base + _softplus(moved / _softmin(blocks * one * gain, peak, one))

    best, blocks = seconds(most), most.copy()
    target, done = best * known(edition(EDITION), "symmetric tolerance"), np.zeros(n.shape, dtype=bool)
    for fewer in range(1, int(np.max(most, initial=1))):
        trial = seconds(np.full(n.shape, float(fewer)))
        take = ~done & (fewer < most) & (trial <= target)
        best, blocks, done = np.where(take, trial, best), np.where(take, fewer, blocks), done | take
    return best, blocks


def _softmin(x: Floats, ceiling: float, softness: float) -> Floats:
    """A smooth min(x, ceiling), for bandwidths."""
    return np.asarray(ceiling - softness * np.log1p(np.expm1(ceiling / softness) * np.exp(-x / softness)))


def _softplus(seconds: Floats) -> Floats:
    """A smooth max(0, time - 1 us), bent over one microsecond."""
    unit = 1e-6
    return np.asarray(unit * np.logaddexp(0.0, seconds / unit - 1))
