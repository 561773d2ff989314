"""Overlap: how much of the communication hides behind the computation, event by event.

One stream computes, one communicates, each in order. Gradients of the last layer are ready first; they are packed into
buckets, and a bucket is reduced as soon as it is full and the one before it is through. What is still under way when
the backward pass has ended is exposed. Read with the chapter "Collectives", section "Who moves what".
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, clash, declared, floats, formula

Cost = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Overlap:
    """Two streams side by side, in seconds: for each communication when it may start (`ready`), `start` and `end`; for
    each layer, in the order of the work, `work_start` and `work_end`.

    `alone` is how long the computation lasts without any communication, `done` when both are through; the difference is
    `exposed`, and what the communication lasts beyond it is `hidden`.
    """

    ready: Floats
    start: Floats
    end: Floats
    work_start: Floats
    work_end: Floats
    alone: float
    done: float

    @property
    def exposed(self) -> float:
        """Seconds that the communication adds.

        >>> prefetched([1.0], [0.5]).exposed
        0.5
        """
        return self.done - self.alone

    @property
    def hidden(self) -> float:
        """Seconds of communication that cost nothing.

        >>> prefetched([1.0, 1.0], [0.5, 0.5]).hidden
        0.5
        """
        return float((self.end - self.start).sum()) - self.exposed


def _layers(first: str, one: ArrayLike, second: str, other: ArrayLike) -> tuple[Floats, Floats]:
    """Two lists with an entry for each layer, checked."""
    a, b = floats(first, array(first, one)), floats(second, array(second, other))
    if sentence := clash({first: a.shape, second: b.shape}):
        raise ValueError(sentence)
    if a.ndim == b.ndim == 1 and a.shape != b.shape:  # an entry in a list is one layer's, not every layer's
        raise ValueError(f"{first} has {len(a)} layers, {second} has {len(b)}; give as many, or one number for all")
    a, b = np.broadcast_arrays(np.atleast_1d(a), np.atleast_1d(b))
    if a.ndim != 1 or not a.size:
        raise ValueError(f"{first} has shape {a.shape}; give one entry for each layer")
    return a, b


def _priced(cost: Cost, packed: Floats) -> Floats:
    """What `cost` says of each bucket, checked."""
    seconds = floats("cost", cost(packed))
    if seconds.shape not in ((), packed.shape):
        raise ValueError(f"cost returns shape {seconds.shape} for {packed.size} buckets; return seconds for each")
    return np.broadcast_to(seconds, packed.shape)


@declared
@formula
def buckets(gradients: ArrayLike, bucket: float) -> NDArray[np.int64]:
    """Which bucket each layer's gradient falls into, layers in the order of the forward pass: last layer, bucket 0.

    A bucket is closed once it holds at least `bucket` bytes (a layer is not cut), as in PyTorch's DDP.

    >>> buckets([4, 4, 4, 4, 4], 8).tolist()
    [2, 1, 1, 0, 0]
    """
    size, _ = _layers("gradients", gradients, "gradients", 0.0)
    limit = float(floats("bucket", bucket, above=True, limit=True))
    which = np.zeros(len(size), dtype=np.int64)
    held, number = 0.0, 0
    for layer in range(len(size) - 1, -1, -1):
        which[layer] = number
        held += float(size[layer])
        if held >= limit:
            held, number = 0.0, number + 1
    return which


@declared
@formula
def reduced(backward: ArrayLike, gradients: ArrayLike, bucket: float, cost: Cost) -> Overlap:
    """The gradients' reduction beside a backward pass: `backward` seconds and `gradients` bytes a layer.

    `cost` gives the seconds of one bucket's collective. With buckets ready at r and lasting T, bucket k ends at
    max over j <= k of (r_j + T_j + ... + T_k): the one stream is either behind since j, or waits.

    >>> done = reduced([1.0] * 4, [10.0] * 4, 20, lambda size: 0.08 * size)
    >>> done.ready.tolist(), done.end.round(6).tolist(), round(done.exposed, 6)
    ([2.0, 4.0], [3.6, 5.6], 1.6)
    """
    seconds, size = _layers("backward", backward, "gradients", gradients)
    which = buckets(size, bucket)
    finished = np.cumsum(seconds[::-1])[::-1]  # when each layer's backward pass ends
    count = int(which.max()) + 1
    packed = np.bincount(which, weights=size).astype(np.float64)
    ready = np.zeros(count)
    np.maximum.at(ready, which, finished)
    lasting = _priced(cost, packed)
    total = np.cumsum(lasting)
    end = np.maximum.accumulate(ready - (total - lasting)) + total
    alone = float(finished[0])
    worked = finished[::-1]
    return Overlap(ready, end - lasting, end, worked - seconds[::-1], worked, alone, max(alone, float(end[-1])))


@declared
@formula
def exposed_by_bucket(backward: ArrayLike, gradients: ArrayLike, sizes: ArrayLike, cost: Cost) -> Floats:
    """Exposed seconds for each bucket size of a sweep: too small pays latency, too large has nothing to hide behind.

    >>> cost = lambda size: 0.1 + 0.08 * size
    >>> exposed_by_bucket([1.0] * 4, [10.0] * 4, [10, 20, 40], cost).round(6).tolist()
    [0.9, 1.7, 3.3]
    """
    swept = floats("sizes", array("sizes", sizes), above=True, limit=True)
    found = [reduced(backward, gradients, float(size), cost).exposed for size in swept.ravel()]
    return np.array(found).reshape(swept.shape)


@declared
@formula
def exposed_bounds(backward: ArrayLike, gradients: ArrayLike, bucket: float, cost: Cost) -> tuple[float, float]:
    """Least and most exposed seconds, closed: the larger of the last bucket's time and of what is left when all of the
    communication starts at the first bucket; and the sum of all.

    >>> low, high = exposed_bounds([1.0] * 4, [10.0] * 4, 20, lambda size: 0.08 * size)
    >>> round(low, 6), round(high, 6)
    (1.6, 3.2)
    """
    seconds, size = _layers("backward", backward, "gradients", gradients)
    which = buckets(size, bucket)
    packed = np.bincount(which, weights=size).astype(np.float64)
    lasting = _priced(cost, packed)
    before = float(seconds[which == 0].sum())
    left = float(lasting.sum()) - (float(seconds.sum()) - before)
    return max(float(lasting[-1]), left, 0.0), float(lasting.sum())


@declared
@formula
def prefetched(compute: ArrayLike, gather: ArrayLike, depth: int = 1) -> Overlap:
    """Layers whose weights are gathered just before use (FSDP): `compute` and `gather` seconds a layer, in their order.

    At most depth + 1 layers are whole at once: gather i waits for gather i-1 and for the computation of layer
    i - depth - 1. Depth 0 gathers only when the layer is needed.

    >>> prefetched([1.0] * 4, [0.5] * 4, 0).exposed, prefetched([1.0] * 4, [0.5] * 4, 1).exposed
    (2.0, 0.5)
    """
    seconds, lasting = _layers("compute", compute, "gather", gather)
    if depth < 0:
        raise ValueError(f"depth = {depth} must be at least 0 layers gathered ahead")
    count = len(seconds)
    start, worked = np.zeros(count), np.zeros(count)
    ready = np.zeros(count)
    stream = clock = 0.0
    for i in range(count):
        ready[i] = worked[i - depth - 1] if i > depth else 0.0
        start[i] = max(stream, ready[i])
        stream = float(start[i] + lasting[i])
        clock = max(clock, stream) + float(seconds[i])
        worked[i] = clock
    return Overlap(ready, start, start + lasting, worked - seconds, worked, float(seconds.sum()), clock)
