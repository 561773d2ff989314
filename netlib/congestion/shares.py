"""Shares: what each class of traffic gets of a link, by strict priority and by weights.

Strict priority gives the first class all it wants and starves the last. Weights guarantee each class its part and pass
on what is not used. Packet by packet, netlib.congestion.schedulers says the same.
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, floats, formula


@formula
def strict_shares(offered: ArrayLike, capacity: ArrayLike = 1.0) -> Floats:
    """What classes get of `capacity`, the first served first: min(offered, what those before it leave).

    `offered` has the classes on its last axis, most urgent first; `capacity` broadcasts over the others. Any unit.

    >>> strict_shares([0.8, 1.0]).round(12).tolist()  # experts, then gradients: five times slower
    [0.8, 0.2]
    """
    load, room = _offered(offered, capacity)
    before = np.cumsum(load, axis=-1) - load
    return np.clip(room - before, 0, load)


@formula
def weighted_shares(offered: ArrayLike, weights: ArrayLike, capacity: ArrayLike = 1.0) -> Floats:
    """What classes get by weight: max-min fair, no class more than it offers, nothing idle while any class waits.

    Raise all classes together in proportion to their weights; who has all it offers stops, the others share the rest.

    >>> weighted_shares([0.8, 1.0, 1.0], [60, 30, 10]).round(12).tolist()  # experts, gradients, checkpoints
    [0.6, 0.3, 0.1]
    >>> weighted_shares([0.8, 1.0, 0.0], [60, 30, 10]).round(4).tolist()  # no checkpoint under way
    [0.6667, 0.3333, 0.0]
    """
    load, room = _offered(offered, capacity)
    load, weight = np.broadcast_arrays(load, floats("weights", weights, above=True))
    # Water level at which each class is full; below it, class k has weight x level.
    full = load / weight
    order = np.argsort(full, axis=-1)
    level, wanted, part = (np.take_along_axis(each, order, axis=-1) for each in (full, load, weight))
    done = np.cumsum(wanted, axis=-1) - wanted  # offered by the classes that are full before this one
    open_ = np.flip(np.cumsum(np.flip(part, -1), axis=-1), -1)  # weight of this class and of those after it
    reach = (room - done) / open_  # level if exactly the classes before this one are full
    stops = reach < level
    first = np.argmax(stops, axis=-1)[..., None]
    height = np.where(stops.any(axis=-1, keepdims=True), np.take_along_axis(reach, first, axis=-1), np.inf)
    return np.asarray(np.minimum(load, weight * np.maximum(height, 0)))


@formula
def slowdown(offered: ArrayLike, served: ArrayLike) -> Floats:
    """How many times longer each class takes: offered / served; 1 for a class without traffic, inf for a starved one.

    >>> slowdown([0.8, 1.0, 1.0, 0.0], [0.8, 0.2, 0.0, 0.0]).round(12).tolist()
    [1.0, 5.0, inf, 1.0]
    """
    load, got = floats("offered", offered), floats("served", served)
    if (got > load * (1 + 1e-9)).any():
        raise ValueError("served is more than offered; give what each class was served of what it offered")
    shape = np.broadcast_shapes(load.shape, got.shape)
    return np.where(load > 0, np.divide(load, got, out=np.full(shape, np.inf), where=got > 0), 1.0)


def _offered(offered: ArrayLike, capacity: ArrayLike) -> tuple[Floats, Floats]:
    """The loads with their classes last, and the capacity ready to broadcast against them."""
    load = np.atleast_1d(floats("offered", offered))
    if load.shape[-1] == 0:
        raise ValueError("offered has no classes; give one number for each class")
    room = floats("capacity", capacity, above=True)
    if room.ndim:
        room = room[..., None]
    shape = np.broadcast_shapes(load.shape, room.shape)
    return np.broadcast_to(load, shape), np.broadcast_to(room, (*shape[:-1], 1))
