"""Arguments: what a formula accepts, and the one sentence that says what it does not.

Every model of netlib takes numbers or arrays that broadcast, and refuses in one sentence what makes no sense: the name
of the argument, its value, what to give. No message of numpy's reaches a learner.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from inspect import Signature, formatannotation, signature, unwrap
from numbers import Rational, Real
from re import search, sub
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, get_args, get_origin

import numpy as np
from numpy.random import Generator
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Number = float | Floats
Given = ParamSpec("Given")
Result = TypeVar("Result")
SHOWN = "__signature__"  # where `inspect` and `?` look first
Made = TypeVar("Made", bound=Callable[..., object])


def quoted(value: object) -> str:
    """A value as a sentence quotes it, in one line and not too long: text in quotes, and nothing else.

    >>> quoted("8"), quoted(8), quoted(None), quoted([1, 2])
    ("'8'", '8', 'None', '[1, 2]')
    """
    if isinstance(value, str):
        return repr(str(value)[:40])
    return " ".join(str(value).split())[:40] or type(value).__name__


def floats(name: str, value: ArrayLike, least: float = 0.0, *, above: bool = False, limit: bool = False) -> Floats:
    """`value` as a float array, refused in one sentence unless every entry is finite and >= `least` (> if `above`).

    `limit` lets infinity in, where a formula has a limit there.

    >>> floats("size", [1, 2]).tolist()
    [1.0, 2.0]
    """
    try:
        given = np.asarray(value)
        if given.dtype.kind not in "iufO":  # numpy would read "8" as 8 and True as 1, and drop an imaginary part
            raise TypeError
        if given.dtype.kind == "O" and not all(isinstance(each, Real) for each in given.flat):  # None would be nan
            raise TypeError
        array = given.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        # what counts from 1 is a number of things; the rest has a unit
        count = "write it without quotes, such as 8" if least >= 1 else ""
        example = count or "write bytes, seconds or bytes/s, such as 1e9 or parse('1 GB').value"
        raise ValueError(f"{name} = {quoted(value)} is not a number or an array of numbers; {example}") from None
    wrong = ~(array > least) if above else ~(array >= least)
    if wrong.any():
        first = array[wrong].flat[0]
        if np.isnan(first):
            raise ValueError(f"{name} = nan is not a number; give one {'above' if above else 'of at least'} {least:g}")
        raise ValueError(f"{name} = {first:g} must be {'above' if above else 'at least'} {least:g}")
    if not (limit or np.isfinite(array).all()):
        raise ValueError(f"{name} = inf must be finite; give the largest value that you mean")
    return array


def array(name: str, value: ArrayLike) -> NDArray[Any]:
    """`value` as an array, refused in one sentence if its rows are not equally long.

    >>> array("src", [[1], [2, 3]])
    Traceback (most recent call last):
    ValueError: src = [[1], [2, 3]] has rows of unequal length; make all equally long
    """
    try:
        return np.asarray(value)
    except ValueError:
        raise ValueError(f"{name} = {quoted(value)} has rows of unequal length; make all equally long") from None


def one_of(name: str, value: object, options: Sequence[str]) -> None:
    """Refuse a `value` that is none of the words in `options`.

    >>> one_of("paths", "luck", ("ecmp", "spray"))
    Traceback (most recent call last):
    ValueError: paths = 'luck' is not one of: 'ecmp', 'spray'
    """
    if not isinstance(value, str) or value not in options:
        shown = str(value).replace("\n", " ")[:40]
        raise ValueError(f"{name} = {shown!r} is not one of: {', '.join(map(repr, options))}")


def declared(f: Callable[Given, Result]) -> Callable[Given, Result]:
    """`f`, with each argument that is not of its declared type refused in one sentence; arrays are left to `f`.

    A whole number is no bool and below 2^63, a number is not nan, a list is no text and holds what it should. numpy's
    single numbers arrive in `f` as Python's, so that no product of int8 wraps.

    >>> def half(k: int) -> float: return k / 2
    >>> declared(half)("8")
    Traceback (most recent call last):
    ValueError: k = '8' must be a whole number; write it without quotes or point, such as 8
    """
    wanted = signature(unwrap(f))
    kinds = {name: kind for name, one in wanted.parameters.items() if (kind := _kinds(one.annotation))}
    parts = {name: part for name, one in wanted.parameters.items() if (part := _part(one.annotation))}

    @wraps(f)
    def checked(*values: Given.args, **named: Given.kwargs) -> Result:
        try:
            bound = wanted.bind(*values, **named)
        except TypeError:
            return f(*values, **named)  # an argument too many or too few, which Python says well
        for name, value in bound.arguments.items():
            if name in kinds:
                bound.arguments[name] = _typed(name, value, kinds[name])
            if name in parts:
                bound.arguments[name] = [_typed(name, each, (parts[name],)) for each in bound.arguments[name]]
        return f(*bound.args, **bound.kwargs)

    setattr(checked, SHOWN, _as_written(wanted))
    return checked


def declared_fields(made: Any) -> None:
    """The same for the fields of a dataclass, to be called in its `__post_init__`.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Node:
    ...     gpus: int
    ...     def __post_init__(self) -> None: declared_fields(self)
    >>> Node("8")
    Traceback (most recent call last):
    ValueError: gpus = '8' must be a whole number; write it without quotes or point, such as 8
    """
    for each in fields(made):
        value = getattr(made, each.name)
        if kinds := _kinds(each.type):
            object.__setattr__(made, each.name, _typed(each.name, value, kinds))


def _typed(name: str, value: Any, kinds: tuple[Any, ...]) -> Any:
    """The value, if it is of one of the kinds; a single number as Python's own."""
    if not any(_is(value, kind) for kind in kinds):
        raise ValueError(_unlike(name, value, *kinds))
    if isinstance(value, (np.generic, np.ndarray)) and not value.ndim:
        return value.item()
    return float(value) if isinstance(value, Rational) and not isinstance(value, int) else value  # a fraction


_SAID: Mapping[Any, str] = {
    int: "a whole number; write it without quotes or point, such as 8",
    float: "one number, such as 1.5",
    bool: "True or False; give one of them",
    str: "text; write it in quotes",
    Mapping: "a dictionary; write {name: value, ...}",
    Sequence: "a list; write [...]",
    Callable: "a function; give its name without calling it",
    Generator: "a random generator; make one with numpy.random.default_rng(0)",
}


def _kinds(annotation: Any) -> tuple[Any, ...]:
    """The types that an annotation names; () if one of them is none that `declared` knows."""
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    plain = [get_origin(part) or part for part in parts]
    fit = all(each in (NoneType, *_SAID) or (isinstance(each, type) and is_dataclass(each)) for each in plain)
    return tuple(plain) if fit else ()


def _part(annotation: Any) -> Any:
    """The dataclass that a list must hold, if its annotation names one."""
    inner = get_args(annotation)[:1] if get_origin(annotation) is Sequence else ()
    return inner[0] if inner and isinstance(inner[0], type) and is_dataclass(inner[0]) else None


def _is(value: object, kind: Any) -> bool:
    if kind is int:
        return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(-(2**63) <= value < 2**63)
    if kind is float:
        single = isinstance(value, Real) or (isinstance(value, np.ndarray) and not value.ndim)
        return single and np.asarray(value).dtype.kind in "iufO" and bool(value == value)
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if kind is Sequence:
        of_many = isinstance(value, Sequence) or (isinstance(value, np.ndarray) and value.ndim > 0)
        return of_many and not isinstance(value, (str, bytes))
    return isinstance(value, kind)


def _unlike(name: str, value: object, kind: Any, *others: Any) -> str:
    """The sentence for an argument of the wrong kind; `others` would do as well."""
    shown = "a number beyond 2^63" if isinstance(value, int) and abs(value) >= 2**63 else quoted(value)
    if kind in _SAID:
        what, fix = _SAID[kind].split("; ") if "; " in _SAID[kind] else (_SAID[kind], "")
        also = [_SAID[each].split("; ")[0] for each in others if each in _SAID]
        return f"{name} = {shown} must be {' or '.join([what, *also])}" + f"; {fix}" * bool(fix)
    made = ", ".join(f"{field.name}=..." for field in fields(kind))
    made = getattr(kind, "_made", f"{kind.__name__}({made})")
    if called := getattr(kind, "_called", None):  # what is known by name: the function that knows it, and an example
        made = f"{called[0]}({(value[:40] if isinstance(value, str) else called[1])!r})"
    return f"{name} = {shown} is not a {kind.__name__}; make one with {made}"


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

    setattr(checked, SHOWN, _as_written(signature(unwrap(f))))
    return checked


def written(made: Made) -> Made:
    """`made`, whose `?` in a notebook shows its types as its file writes them; `declared` and `formula` do it anyway.

    numpy spells ArrayLike in 400 letters.

    >>> def doubled(size: ArrayLike) -> Floats: return 2 * np.asarray(size)
    >>> str(signature(written(doubled)))
    '(size: ArrayLike) -> NDArray[float64]'
    """
    setattr(made, SHOWN, _as_written(signature(made)))
    return made


@dataclass(frozen=True)
class _Written:
    """A type as a file of netlib writes it: `inspect` shows what `repr` returns."""

    text: str

    def __repr__(self) -> str:
        return self.text


def _as_written(wanted: Signature) -> Signature:
    """The same signature for the eye."""

    def short(annotation: Any) -> Any:
        if annotation is Signature.empty:
            return annotation
        many, text = (_bare(formatannotation(each)) for each in (ArrayLike, annotation))
        text = text.replace(many, "ArrayLike").replace(f"{many[:-1]}, NoneType]", "ArrayLike | None")
        return _Written(sub(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+)\]\]", r"NDArray[\1]", text))

    parameters = [one.replace(annotation=short(one.annotation)) for one in wanted.parameters.values()]
    return wanted.replace(parameters=parameters, return_annotation=short(wanted.return_annotation))


def _bare(text: str) -> str:
    """Names of types without their modules."""
    return sub(r"\b(?:netlib|numpy|typing|collections\.abc)\.(?:\w+\.)*", "", text)


def _unfit(f: Callable[..., object], error: Exception, values: tuple[object, ...], named: dict[str, object]) -> str:
    """Which arguments of `f` made numpy or Python raise `error`, as one sentence; "" if they did not."""
    try:
        wants = signature(unwrap(f))
        given = wants.bind(*values, **named).arguments
    except TypeError:
        return ""  # an argument too many or too few, which Python says well
    for name, value in given.items():
        wanted = wants.parameters[name].annotation
        if isinstance(wanted, type) and is_dataclass(wanted) and not isinstance(value, wanted):
            return _unlike(name, value, wanted)
    given = {"link" if name == "self" else name: value for name, value in given.items()}
    if isinstance(error, ArithmeticError):
        return f"{', '.join(given)} give a number beyond 1e308 in {f.__name__}; check their units"
    if not search(r"(could not|cannot)( be)? broadcast", str(error)):
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
