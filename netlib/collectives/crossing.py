"""Where one algorithm overtakes another.

Read with the chapter "Collectives", section "Ring or tree".
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from netlib.arguments import Floats, declared, floats, formula

Cost = Callable[[Floats], Floats]


@declared
@formula
def crossover_size(small: Cost, large: Cost, low: float = 1.0, high: float = 1e13) -> Floats:
    """The size at which `large` stops being slower than `small`, by bisection on log(size); NaN if it never does.

    Both are costs as functions of size; they may return arrays (a crossing for each entry) and must cross at most once.

    >>> from netlib.links import Link
    >>> slow, fast = Link(1e-6, 1e9), Link(11e-6, 2e9)
    >>> round(float(crossover_size(slow.time, fast.time)))
    20000
    """

    def ahead(size: Floats) -> NDArray[np.bool_]:
        return np.asarray(floats("large", large(size), limit=True) <= floats("small", small(size), limit=True))

    lower, upper = np.log(floats("low", low, above=True)), np.log(floats("high", high, low, above=True))
    never = ~ahead(np.asarray(high)) | ahead(np.asarray(low))
    left, right = np.full(never.shape, lower), np.full(never.shape, upper)
    for _ in range(60):  # halves the bracket beyond double precision
        middle = (left + right) / 2
        won = ahead(np.exp(middle))
        left, right = np.where(won, left, middle), np.where(won, middle, right)
    return np.where(never, np.nan, np.exp(right))
