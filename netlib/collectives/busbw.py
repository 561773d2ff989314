"""algbw, busbw and the wire: what nccl-tests prints.

algbw = size / time. busbw = algbw x factor, the factor chosen so that a ring on equal links shows the link's speed.
It is a formula and not a wire: where another algorithm runs, busbw may pass the link (two-node trees, NVLS, SHARP).
Read with the chapter "Collectives", section "Reading a log".
Source: nccl-tests, doc/PERFORMANCE.md, and each test's source.
"""

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, declared, floats, formula
from netlib.collectives.cost import ranks

Op = Literal[
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "alltoall",
    "gather",
    "scatter",
    "broadcast",
    "reduce",
    "sendrecv",
    "hypercube",
]
OPS: tuple[Op, ...] = get_args(Op)


@declared
@formula
def busbw_factor(n: ArrayLike, op: str) -> Floats:
    """busbw / algbw: 2(n-1)/n for all_reduce; (n-1)/n for all_gather, reduce_scatter, alltoall, gather and scatter,
    whose `size` is n blocks; 1 for broadcast, reduce, sendrecv and hypercube.

    >>> float(busbw_factor(8, "all_reduce")), float(busbw_factor(8, "alltoall")), float(busbw_factor(8, "reduce"))
    (1.75, 0.875, 1.0)
    """
    n = ranks(n)
    if op not in OPS:
        raise ValueError(f"op = {op[:40]!r} is not an nccl-tests operation; use one of {', '.join(OPS)}")
    if op == "all_reduce":
        return 2 * (n - 1) / n
    return np.ones_like(n) if op in ("broadcast", "reduce", "sendrecv", "hypercube") else (n - 1) / n


@formula
def algbw(size: ArrayLike, time: ArrayLike) -> Floats:
    """Bytes of the caller's buffer per second: size / time.

    >>> float(algbw(1e9, 0.004))
    250000000000.0
    """
    return floats("size", size) / floats("time", time, above=True)


@declared
@formula
def busbw(size: ArrayLike, time: ArrayLike, n: ArrayLike, op: str = "all_reduce") -> Floats:
    """algbw x busbw_factor: what a ring's busiest link would carry.

    >>> float(busbw(1e9, 0.004, 8))
    437500000000.0
    """
    return algbw(size, time) * busbw_factor(n, op)


@declared
@formula
def time_at_busbw(size: ArrayLike, busbw: ArrayLike, n: ArrayLike, op: str = "all_reduce") -> Floats:
    """The time behind a printed busbw: size x factor / busbw.

    >>> round(float(time_at_busbw(16 * 2**30, 381.8e9, 32)), 4)
    0.0872
    """
    return floats("size", size) * busbw_factor(n, op) / floats("busbw", busbw, above=True)
