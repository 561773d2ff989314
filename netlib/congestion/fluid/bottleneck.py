"""One bottleneck: which flows share it, as classes of identical flows or as distinct ones, in rows of scenarios.

Every fluid law takes its flows in this form.
Read with the chapter "Congestion control", section "Rest and stability".
"""

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, floats
from netlib.congestion.fluid.delays import rows


def total(rate: Floats, many: Floats) -> Floats:
    """The rates of all flows together, (1, scenarios); added one after another, so that a batch changes no digit.

    >>> total(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[1.0, 1.0], [2.0, 2.0]])).tolist()
    [[7.0, 10.0]]
    """
    each = rate * many
    return each if len(each) == 1 else np.cumsum(each, axis=0)[-1:]


def shares(
    capacity: ArrayLike, flows: ArrayLike, delay: ArrayLike, start: ArrayLike | None
) -> tuple[dict[str, Floats], Floats, Floats]:
    """Rows of the scenarios, first rates and multiplicities, both (flows or 1, scenarios), of a bottleneck's flows.

    >>> given, rates, many = shares(5e9, 4, 1e-6, None)
    >>> rates.tolist(), many.tolist()
    ([[5000000000.0]], [[4.0]])
    >>> shares(5e9, 2, 1e-6, [1e9, 4e9])[1:]
    (array([[1.e+09],
           [4.e+09]]), array([[1.],
           [1.]]))
    """
    floats("flows", flows, 1.0)
    floats("capacity", capacity, above=True)
    given = rows(capacity=capacity, flows=flows, delay=delay)
    scenarios = given["flows"].shape[1]
    if start is None:
        return given, given["capacity"].copy(), given["flows"]
    first = np.atleast_2d(floats("start", start))
    if first.ndim > 2 or (scenarios != 1 and len(first) not in (1, scenarios)):
        raise ValueError(f"start has shape {first.shape}; give (flows,) or (scenarios, flows) rates in bytes/s")
    scenarios = max(scenarios, len(first))
    given = {name: np.broadcast_to(each, (1, scenarios)).copy() for name, each in given.items()}
    first = np.broadcast_to(first, (scenarios, first.shape[1])).T.copy()
    if (given["flows"] != len(first)).any():
        raise ValueError(f"start holds {len(first)} rates and flows = {given['flows'][0, 0]:g}; give one for each flow")
    if (first > given["capacity"]).any():
        raise ValueError(f"start = {first.max():g} is above the capacity; give rates of at most a link in bytes/s")
    return given, first, np.ones_like(first)
