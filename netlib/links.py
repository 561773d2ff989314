"""Links: what one message costs.

The alpha-beta model (Hockney 1994): a message of `size` bytes takes alpha + size / bandwidth seconds.
Read with the chapter "Scale-up", section "The bandwidth ladder".
"""

from collections.abc import Callable
from dataclasses import dataclass
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

    >>> Link(2e-6, np.array([25e9, 50e9])).time([1, 2, 3])
    Traceback (most recent call last):
    ValueError: link has shape (2,), size has shape (3,): these do not broadcast; give equal lengths, or single numbers
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
        if signature(f).parameters[name].annotation is Link and not isinstance(value, Link):
            return f"{name} = {str(value)[:40]!r} is not a Link; write for example Link(alpha=2e-6, bandwidth=50e9)"
    given = {"link" if name == "self" else name: value for name, value in given.items()}
    if isinstance(error, ArithmeticError):
        return f"{', '.join(given)} give a number beyond 1e308 in {f.__name__}; check their units"
    if "broadcast" not in str(error):
        return ""
    return _clash({name: getattr(value, "shape", None) or np.shape(value) for name, value in given.items()})


def _clash(shapes: dict[str, tuple[int, ...]]) -> str:
    """The sentence that names arrays which do not broadcast; "" if they do."""
    try:
        np.broadcast_shapes(*shapes.values())
    except ValueError:
        arrays = ", ".join(f"{name} has shape {shape}" for name, shape in shapes.items() if shape)
        return f"{arrays}: these do not broadcast; give equal lengths, or single numbers"
    return ""


@dataclass(frozen=True)
class Link:
    """One direction of a link: `alpha` (s per message) and `bandwidth` (bytes/s, one way). Both may be arrays.

    Holds while one message has the link to itself and is longer than a packet.
    """

    alpha: Number
    bandwidth: Number

    def __post_init__(self) -> None:
        for name, above in (("alpha", False), ("bandwidth", True)):
            array = floats(name, getattr(self, name), above=above)
            object.__setattr__(self, name, array if array.ndim else float(array))  # a list would not multiply
        if clash := _clash({"alpha": np.shape(self.alpha), "bandwidth": np.shape(self.bandwidth)}):
            raise ValueError(clash)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of `alpha` and `bandwidth` broadcast together; () for a single link."""
        return np.broadcast_shapes(np.shape(self.alpha), np.shape(self.bandwidth))

    @formula
    def time(self, size: ArrayLike) -> Floats:
        """Seconds to move `size` bytes: alpha + size / bandwidth. Broadcasts.

        >>> float(Link(alpha=2e-6, bandwidth=50e9).time(1e6))
        2.2e-05
        """
        return np.asarray(self.alpha + floats("size", size) * self.beta)

    @property
    def beta(self) -> Floats:
        """Seconds per byte: 1 / bandwidth.

        >>> float(Link(alpha=0, bandwidth=50e9).beta)
        2e-11
        """
        return np.asarray(1 / np.asarray(self.bandwidth))

    @formula
    def half_size(self) -> Floats:
        """Bytes at which half of the time is latency: alpha x bandwidth.

        >>> float(Link(alpha=2e-6, bandwidth=50e9).half_size())
        100000.0
        """
        return np.asarray(self.alpha * np.asarray(self.bandwidth))


@formula
def bytes_in_flight(bandwidth: ArrayLike, round_trip: ArrayLike) -> Floats:
    """Bytes that must be under way to keep a link busy: bandwidth (bytes/s, one way) x round trip (s).

    >>> float(bytes_in_flight(450e9, 1e-6))
    450000.0
    """
    return floats("bandwidth", bandwidth) * floats("round_trip", round_trip)


@dataclass(frozen=True)
class Fit:
    """A fitted cost T = steps alpha + root sqrt(size) + volume / bandwidth, with one standard error for each constant.

    `alpha` (s), `bandwidth` (bytes/s), `root` (s per square root of a byte, 0 if not asked for); `error` is |model -
    measured| / measured for each point. The standard errors assume independent points: read them as lower bounds.
    """

    alpha: float
    bandwidth: float
    root: float
    alpha_error: float
    bandwidth_error: float
    root_error: float
    error: Floats

    @property
    def median_error(self) -> float:
        """Median of the relative errors."""
        return float(np.median(self.error))

    @property
    def worst_error(self) -> float:
        """Largest relative error."""
        return float(np.max(self.error))


@formula
def fit_alpha_beta(
    size: ArrayLike, time: ArrayLike, *, steps: float = 1, volume: ArrayLike | None = None, root: bool = False
) -> Fit:
    """Fit the alpha-beta model to measured times by least squares on the relative error.

    `size` and `time` (bytes, s) are measured points; `steps` messages follow one another; `volume` are the bytes that
    cross the link for each size (default: `size`). With `root=True` a third term c sqrt(size) is added, the price of
    optimal pipelining. Relative errors, since times span six decades and the small ones matter as much.
    Raises ValueError for fewer points than constants or if the data ask for a negative bandwidth.

    >>> size = [1e3, 1e6, 1e9]
    >>> fit = fit_alpha_beta(size, Link(2e-6, 50e9).time(size))
    >>> round(fit.alpha, 12), round(fit.bandwidth)
    (2e-06, 50000000000)
    """
    sizes = floats("size", size, above=True).ravel()
    times = floats("time", time, above=True).ravel()
    volumes = sizes if volume is None else floats("volume", volume, above=True).ravel()
    columns = [np.full_like(sizes, floats("steps", steps, above=True)), volumes] + ([np.sqrt(sizes)] if root else [])
    if not sizes.size == times.size == volumes.size:
        raise ValueError(
            f"size, time and volume must be equally long, not {sizes.size}, {times.size} and {volumes.size}"
        )
    if sizes.size < len(columns):
        raise ValueError(f"size holds {sizes.size} points; {len(columns)} constants need at least as many")
    design = np.stack(columns, axis=1) / times[:, None]
    scale = np.linalg.norm(design, axis=0)  # columns differ by 1e12: scale, solve, scale back
    solution, _, rank, _ = np.linalg.lstsq(design / scale, np.ones_like(times), rcond=None)
    if rank < len(columns):
        raise ValueError("size holds too few different sizes to tell latency from bandwidth; measure more sizes")
    residual = design / scale @ solution - 1
    variance = residual @ residual / max(1, times.size - len(columns))
    deviation = np.sqrt(variance * np.diag(np.linalg.inv((design / scale).T @ (design / scale)))) / scale
    alpha, beta, *rest = solution / scale
    if beta <= 0:
        raise ValueError("time does not grow with size, so no bandwidth can be fitted; measure larger sizes")
    return Fit(
        alpha=float(alpha),
        bandwidth=float(1 / beta),
        root=float(rest[0]) if root else 0.0,
        alpha_error=float(deviation[0]),
        bandwidth_error=float(deviation[1] / beta**2),
        root_error=float(deviation[2]) if root else 0.0,
        error=np.abs(residual),
    )
