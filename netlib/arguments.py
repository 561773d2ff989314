"""Arguments: what a formula accepts, and the one sentence that says what it does not.

Every model of netlib takes numbers or arrays that broadcast, and refuses in one sentence what makes no sense: the name
of the argument, its value, what to give. No message of numpy's reaches a learner.
"""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Number = float | Floats
Given = ParamSpec("Given")
Result = TypeVar("Result")


def floats(name: str, value: ArrayLike, least: float = 0.0, *, above: bool = False, limit: bool = False) -> Floats:
    """`value` as a float array, refused in one sentence unless every entry is finite and >= `least` (> if `above`).

    `limit` lets infinity in, where a formula has a limit there.

    >>> floats("size", [1, 2]).tolist()
    [1.0, 2.0]
    """
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "biufO":  # numpy would read the text "8" as 8 and drop an imaginary part
            raise TypeError
        array = given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        example = "write bytes, seconds or bytes/s, such as 1e9 or parse('1 GB').value"
        raise ValueError(f"{name} = {str(value)[:40]!r} is not a number or an array of numbers; {example}") from None
    wrong = ~(array > least) if above else ~(array >= least)
    if wrong.any():
        first = array[wrong].flat[0]
        raise ValueError(f"{name} = {first:g} must be {'above' if above else 'at least'} {least:g}")
    if not (limit or np.isfinite(array).all()):
        raise ValueError(f"{name} = inf must be finite; give the largest value that you mean")
    return array


def formula(f: Callable[Given, Result]) -> Callable[Given, Result]:
    """`f`, with what numpy would say about unfit arguments turned into one sentence that names them.

    A number in place of a Link, arrays that do not broadcast, a result beyond 1e308: each raises ValueError.

    >>> added = formula(lambda size, time: np.add(size, time))
    >>> added([1, 2], [1, 2, 3])
    Traceback (most recent call last):
    ValueError: size has shape (2,), time has shape (3,): these do not broadcast; give equal lengths, or single numbers
    """

    @wraps(f)
    def checked(*values: Given.args, **named: Given.kwargs) -> Result:
        try:
            with np.errstate(over="raise", divide="raise", invalid="raise"):
                return f(*values, **named)
        except (ArithmeticError, AttributeError, TypeError, ValueError) as error:
            if sentence := _unfit(f, error, values, named):
                raise ValueError(sentence) from None
            raise

    return checked


def _unfit(f: Callable[..., object], error: Exception, values: tuple[object, ...], named: dict[str, object]) -> str:
    """Which arguments of `f` made numpy or Python raise `error`, as one sentence; "" if they did not."""
    try:
        given = signature(f).bind(*values, **named).arguments
    except TypeError:
        return ""  # an argument too many or too few, which Python says well
    for name, value in given.items():
        wanted = signature(f).parameters[name].annotation
        if isinstance(wanted, type) and is_dataclass(wanted) and not isinstance(value, wanted):
            made = ", ".join(f"{field.name}=..." for field in fields(wanted))
            return f"{name} = {str(value)[:40]!r} is not a {wanted.__name__}; make one with {wanted.__name__}({made})"
    given = {"link" if name == "self" else name: value for name, value in given.items()}
    if isinstance(error, ArithmeticError):
        return f"{', '.join(given)} give a number beyond 1e308 in {f.__name__}; check their units"
    if "broadcast" not in str(error):
        return ""
    return clash({name: getattr(value, "shape", None) or np.shape(value) for name, value in given.items()})


def clash(shapes: dict[str, tuple[int, ...]]) -> str:
    """The sentence that names arrays which do not broadcast; "" if they do.

    >>> clash({"size": (2,), "n": ()})
    ''
    """
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        arrays = ", ".join(f"{name} has shape {shape}" for name, shape in shapes.items() if shape)
        return f"{arrays}: these do not broadcast; give equal lengths, or single numbers"
    return ""
