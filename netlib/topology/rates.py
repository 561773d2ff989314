"""Rates: how flows share links that are too few, max-min fair, and when each is done.

A network that shares well cannot give one flow more without taking from a flow that has as little. That is one
allocation, found by filling: raise all rates together; where a link is full, its flows stop; go on with the rest. Each
flow then has a link that holds it: full, and no flow there is faster. Latency, queues and losses are left out: this is
what congestion control would reach if it were perfect. Read with the chapter "Scale-out", section "Where the bytes go".

Paths are rows of link numbers, padded with -1, as `paths` makes them. A path that crosses a link twice loads it twice.

"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, array, declared, floats, written

Ints = NDArray[np.int64]
NEAR = 1e-9  # what counts as full, or as equally fast, when rates are judged


class Subflows(NamedTuple):
    """What a transfer reaches over several queue pairs, bytes/s: `total` if a fast one takes bytes from a slow one,
    `equal` if each carries the same share, so that the slowest decides."""

    total: Floats
    equal: Floats


@written
def max_min_rates(
    paths: ArrayLike, capacity: ArrayLike, demand: ArrayLike | None = None, weight: ArrayLike | None = None
) -> Floats:
    """(F,) bytes/s of each flow when links are shared max-min fairly.

    paths (F, hops) link numbers, -1 beyond the end; capacity (E,) bytes/s; demand: what a flow can send at most;
    weight: a flow of weight 2 counts as two. A flow without links gets its demand (infinity without one).

    The level of a link is what remains of its capacity over the weight of its flows that are still open. Levels never
    fall: who stops took at most the level. So if all flows of a link see their lowest level there, none of them can be
    stopped earlier, and the link stops them all, wherever the lowest level of the network is. All such links are closed
    in the same round, which gives what closing one link after the other gives, in tens of rounds instead of thousands.
    A round costs time in proportion to the open flows' hops and to the links.

    Source: Bertsekas and Gallager, Data Networks (1992), section 6.5.2 (max-min fairness, filling).

    Three flows on two links in a row; one crosses both. The second link has room for more:

    >>> max_min_rates([[0, 1], [0, -1], [1, -1]], [10, 30]).tolist()
    [5.0, 5.0, 25.0]
    >>> max_min_rates([[0], [0]], [10], demand=[2, 100]).tolist()
    [2.0, 8.0]
    >>> max_min_rates([[0], [0]], [12], weight=[1, 3]).tolist()
    [3.0, 9.0]
    """
    at, room = _network(paths, capacity)
    share = None if weight is None else _each("weight", weight, len(at), above=True)
    most = None if demand is None else _each("demand", demand, len(at), limit=True)
    return _fill(at, room, most, share)


@written
def completion_times(paths: ArrayLike, size: ArrayLike, capacity: ArrayLike) -> Floats:
    """(F,) seconds until each flow has sent its `size` bytes: all start together and share fairly at every moment.

    When a flow ends, those as fast or faster share again; slower ones keep their rates, because the links that hold
    them were full at a lower level, where the ended flow was not. So if all sizes are equal nothing ever changes: the
    fastest end first, and a flow needs its size over its first rate. Of the faster flows, those keep their rates too
    that are not joined to the ended one by a chain of shared links. So different sizes cost a small filling for each
    moment at which something ends; equal moments count once. A flow that gets nothing never ends: infinity.

    Two flows on one link; when the short one has ended, the other has the link to itself:

    >>> completion_times([[0], [0]], [10, 30], [10]).tolist()
    [2.0, 4.0]
    """
    at, free = _network(paths, capacity)  # free: what flows that keep their rates leave
    left = _each("size", size, len(at)).copy()
    ends, rate, since = np.zeros((3, len(at)))
    open_ = np.flatnonzero((left > 0) & (at < len(free) - 1).any(axis=1))  # nothing to send, or no link to wait for
    again = open_
    while open_.size:
        links, place = np.unique(np.append(at[again], len(free) - 1), return_inverse=True)  # "no link" stays the last
        rate[again] = _fill(place[:-1].reshape(-1, at.shape[1]), free[links], None, None)
        np.subtract.at(free, at[again], rate[again, None])
        with np.errstate(divide="ignore"):
            ends[again] = since[again] + left[again] / rate[again]
        now = ends[open_].min()
        if now == np.inf:
            break
        done = ends[open_] <= now * (1 + 1e-12)
        gone, open_ = open_[done], open_[~done]
        again = open_[rate[open_] >= rate[gone].min() * (1 - NEAR)]
        again = again[_met(at[gone], at[again], len(free))]
        both = np.concatenate([gone, again])
        np.add.at(free, at[both], rate[both, None])
        left[again] -= rate[again] * (now - since[again])
        since[again] = now
    return ends


@written
def bottleneck(paths: ArrayLike, rates: ArrayLike, capacity: ArrayLike, weight: ArrayLike | None = None) -> Ints:
    """(F,) the link that holds each flow: full, and no flow there is faster (per weight); the first such on its path.

    -1 where there is none: the flow sends all that it has, or the rates are not max-min fair.

    >>> bottleneck([[0, 1], [0, -1], [1, -1]], [5, 5, 25], [10, 30]).tolist()
    [0, 0, 1]
    """
    at, room = _network(paths, capacity)
    rate = _each("rates", rates, len(at), limit=True)
    level = rate / _each("weight", 1.0 if weight is None else weight, len(at), above=True)
    full = _load(at, rate, len(room)) >= room * (1 - NEAR)
    full[-1] = False
    most = np.zeros(len(room))
    np.maximum.at(most, at, np.broadcast_to(level[:, None], at.shape))
    holds = full[at] & (level[:, None] >= most[at] * (1 - NEAR))
    if not at.shape[1]:
        return np.full(len(at), -1)
    first = holds.argmax(axis=1)[:, None]
    return np.where(holds.any(axis=1), np.take_along_axis(at, first, axis=1)[:, 0], -1)


@written
def is_max_min(
    paths: ArrayLike,
    rates: ArrayLike,
    capacity: ArrayLike,
    demand: ArrayLike | None = None,
    weight: ArrayLike | None = None,
) -> bool:
    """Whether rates are the max-min fair ones: no link above its capacity, and each flow held by a link or its demand.

    That both together suffice is the theorem of Bertsekas and Gallager (1992), section 6.5.2: it checks the result
    without repeating how it was found.

    >>> is_max_min([[0, 1], [0, -1], [1, -1]], [5, 5, 25], [10, 30])
    True
    >>> is_max_min([[0, 1], [0, -1], [1, -1]], [4, 6, 26], [10, 30])
    False
    """
    at, room = _network(paths, capacity)
    rate = _each("rates", rates, len(at), limit=True)
    most = _each("demand", np.inf if demand is None else demand, len(at), limit=True)
    within = np.all(_load(at, rate, len(room))[:-1] <= room[:-1] * (1 + NEAR)) and np.all(rate <= most * (1 + NEAR))
    held = (bottleneck(paths, rates, capacity, weight) >= 0) | (rate >= most * (1 - NEAR))
    return bool(within and held.all())


@declared
def subflows(rates: ArrayLike, pairs: int) -> Subflows:
    """(F,) bytes/s of transfers whose `pairs` queue pairs follow each other in `rates` (F x pairs).

    total = sum of the pairs; equal = pairs x the slowest.

    >>> subflows([1, 3, 2, 2], 2)
    Subflows(total=array([4., 4.]), equal=array([2., 4.]))
    """
    flat = floats("rates", rates, limit=True).ravel()
    if pairs < 1 or flat.size % pairs:
        raise ValueError(f"pairs = {pairs} does not divide the {flat.size} rates; give the queue pairs of a transfer")
    each = flat.reshape(-1, pairs)
    return Subflows(each.sum(axis=1), pairs * each.min(axis=1) if each.size else np.zeros(0))


def _fill(at: Ints, room: Floats, most: Floats | None, weight: Floats | None) -> Floats:
    """Rates by rounds of filling. `at` holds links, the last of which stands for "no link" and is never full.

    No `most` is infinity, no `weight` is one.
    """
    links = len(room)
    rate = np.zeros(len(at))
    used = np.zeros(links)
    open_ = np.arange(len(at))
    while open_.size:
        crossed = np.bincount(at.ravel(), minlength=links)
        weights = crossed if weight is None else _load(at, weight, links)
        level = np.full(links, np.inf)
        np.divide(np.maximum(room - used, 0), weights, out=level, where=weights > 0)
        level[-1] = np.inf
        seen = level[at]
        lowest = seen.min(axis=1, initial=np.inf)
        own = np.inf if most is None else most / (1.0 if weight is None else weight)
        here = seen == np.minimum(lowest, own)[:, None]
        closes = np.bincount(at[here], minlength=links) == crossed  # all of its flows see their lowest level here
        stops = (here & closes[at]).any(axis=1) | (own <= lowest)
        got = lowest if weight is None else weight * lowest
        got = (got if most is None else np.where(own <= lowest, most, got))[stops]
        rate[open_[stops]] = got
        used += _load(at[stops], got, links)
        used[-1] = 0  # flows without links may be infinitely fast
        open_, at = open_[~stops], at[~stops]
        most, weight = (None if each is None else each[~stops] for each in (most, weight))
    return rate


def _met(gone: Ints, flows: Ints, links: int) -> NDArray[np.bool_]:
    """Which of `flows` share a link with one that is gone, or with a flow of theirs that does, and so on.

    Both are rows of links, of which the last stands for "no link".
    """
    freed = np.zeros(links, bool)
    met = np.zeros(len(flows), bool)
    new = gone
    while new.size:
        freed[new] = True
        freed[-1] = False
        fresh = freed[flows].any(axis=1) & ~met
        met |= fresh
        new = flows[fresh]
    return met


def _load(at: Ints, rate: Floats, links: int) -> Floats:
    """(E + 1,) the sum of `rate` over each link's flows."""
    return np.bincount(at.ravel(), np.repeat(rate, at.shape[1]), minlength=links).astype(float, copy=False)


def _network(paths: ArrayLike, capacity: ArrayLike) -> tuple[Ints, Floats]:
    """Paths with E instead of -1, and capacities with one more entry, of link E: "no link", never full."""
    room = floats("capacity", capacity)
    at = array("paths", paths)
    if room.ndim != 1:
        raise ValueError(f"capacity has shape {room.shape}; give one value for each link")
    if at.ndim != 2 or at.dtype.kind not in "iu":
        raise ValueError(f"paths has shape {at.shape} and type {at.dtype}; give rows of link numbers, padded with -1")
    if at.size and not -1 <= at.min() <= at.max() < len(room):
        wrong = at[(at < -1) | (at >= len(room))].flat[0]
        raise ValueError(
            f"paths = {wrong} is no link of these {len(room)}, the size of capacity; give less, or -1 for none"
        )
    return np.where(at < 0, len(room), at), np.append(room, np.inf)


def _each(name: str, value: ArrayLike, flows: int, *, above: bool = False, limit: bool = False) -> Floats:
    """One value for each flow."""
    given = floats(name, value, above=above, limit=limit)
    if given.shape not in ((), (flows,)):
        raise ValueError(f"{name} has shape {given.shape}; give one value, or one for each of the {flows} paths")
    return np.broadcast_to(given, (flows,))
