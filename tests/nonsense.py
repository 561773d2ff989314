"""Nonsense for every argument: what a public function must refuse in one sentence, or answer."""

import inspect
import warnings
from collections.abc import Callable, Mapping
from fractions import Fraction

import numpy as np

from netlib.links import Link

NONSENSE = (
    "abc", "8", b"8", None, float("nan"), float("inf"), -float("inf"), -1, 0, True, 2.5, 2.0, 10**9, 10**30, 1e308, [],
    np.array([]), [[1, 2], [3, 4]], [[1], [2, 3]], [1, 2, 3], ["a", "b"], {"a": 1}, {1}, Fraction(1, 2), 1 + 2j,
    np.uint8(200), np.int8(100), np.array(4), np.array([np.nan]), object(), Link(1e-6, 50e9), Link(0, [1e9, 2e9]),
)  # fmt: skip
NOT_OURS = (  # words of numpy's and Python's messages
    "array element",
    "could not",
    "broadcast together",
    "ambiguous",
    "object has no",
    "identity",
    "Maximum allowed",
)


def needed(call: Callable, own: Mapping[str, object], given: Mapping[str, object]) -> dict[str, object]:
    """A right value for each argument without a default: the function's own, or what the name means elsewhere."""
    parameters = inspect.signature(call).parameters
    return {each: own.get(each, given.get(each)) for each, one in parameters.items() if one.default is one.empty}


def one_sentence_or_a_result(call: Callable, right: Mapping[str, object], *more: object) -> None:
    """Call it with right arguments, then with each argument replaced by each piece of nonsense."""
    call(**right)
    for each in inspect.signature(call).parameters:
        for wrong in (*NONSENSE, *more):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    call(**{**right, each: wrong})
                except ValueError as error:
                    said = str(error)
                    assert "\n" not in said, (each, wrong, said)
                    assert not any(foreign in said for foreign in NOT_OURS), (each, wrong, said)
