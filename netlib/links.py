"""Links: what one message costs.

The alpha-beta model (Hockney 1994): a message of `size` bytes takes alpha + size / bandwidth seconds.
Read with the chapter "Scale-up", section "The other ladder: time".
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from netlib.arguments import Floats, Number, clash, floats, formula


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
        if sentence := clash({"alpha": np.shape(self.alpha), "bandwidth": np.shape(self.bandwidth)}):
            raise ValueError(sentence)

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
