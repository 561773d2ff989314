"""The classic slips: what a wrong number looks like.

A wrong answer that misses the right one by a factor of 8, 2 or 1.074 was usually not guessed: bits were read as bytes,
both directions were added, GiB were taken for GB. Naming the slip is the cheapest good feedback. A slip is named only
where it can be made: a ratio or a count of flows has no bits, and nothing goes both ways in it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from netlib.units import GB, KB, MB, GiB, KiB, MiB

# A slip is recognised within half a percent: learners type three digits, and GiB/GB lies 2.4 % from MiB/MB.
CLOSE = 0.005


@dataclass(frozen=True)
class Slip:
    """A mistake that multiplies the right value by `factor`; `says` completes "it looks like ..."."""

    factor: float
    says: str


BITS = "bits and bytes mixed up (a factor 8)"
WAYS = "one direction and both directions mixed up, or one of two passes left out or counted twice (a factor 2)"
GIBI = "GiB and GB mixed up (7.4 %)"
MEBI = "MiB and MB mixed up (4.9 %)"
KIBI = "KiB and kB mixed up (2.4 %)"
PREFIX = "a decimal prefix slipped (a power of 1,000)"
PERCENT = "percent and fraction mixed up (a factor 100)"
OWN_SHARE = "a rank's own share, 1/n, wrongly counted or left out ((n-1)/n)"
PER_RANK = "one rank and all ranks mixed up (a factor n)"
RING = "the ring's factor 2(n-1)/n left out, used twice or used upside down"
SIGN = "the sign turned round"
UPSIDE_DOWN = "the ratio turned upside down"
EXCESS = "what is above 1, where the whole ratio is asked for"
_OF_BYTES = (
    "bytes",
    "bytes/s",
    "s",
)  # dimensions in which bits and binary prefixes may hide; a time is bytes over a rate
_OF_WAYS = (*_OF_BYTES, "m", "S")  # and those that count there and back; S: multiples of a buffer
REST = "the other part of the whole (one minus the answer)"


def factors(dimension: str = "bytes", ranks: int | None = None) -> Iterator[Slip]:
    """Every slip that multiplies an answer of that dimension ("1": a plain number, which may be a percentage; words
    such as "flows" count things). `ranks` adds those that depend on n.

    >>> [sum(slip.says == GIBI for slip in factors(dimension)) for dimension in ("bytes", "1")]
    [2, 0]
    """
    both = [(8.0, BITS), (GiB / GB, GIBI), (MiB / MB, MEBI), (KiB / KB, KIBI)] if dimension in _OF_BYTES else []
    both += [(2.0, WAYS)] if dimension in _OF_WAYS else []
    both += [(1000.0**k, PREFIX) for k in (1, 2, 3, 4)]
    if dimension == "1":
        both.append((100.0, PERCENT))
    if ranks and ranks > 1:
        ring = 2 * (ranks - 1) / ranks
        both += [(ring / 2, OWN_SHARE), (float(ranks), PER_RANK), (ring, RING), (ring**2, RING)]
    for factor, says in both:
        yield Slip(factor, says)
        yield Slip(1 / factor, says)
    yield Slip(-1.0, SIGN)


def looks_like(got: float, want: float, dimension: str = "bytes", ranks: int | None = None) -> str:
    """What a wrong `got` looks like beside `want` (same unit): "" or a phrase; two when two explain it equally well.

    >>> looks_like(8e9, 1e9) == BITS, looks_like(3.3, 1)
    (True, '')
    >>> looks_like(8, 1, ranks=8)
    'bits and bytes mixed up (a factor 8), or one rank and all ranks mixed up (a factor n)'
    >>> looks_like(16, 2, "flows")
    ''
    """
    misses = [(_gap(got, want * slip.factor), slip.says) for slip in factors(dimension, ranks)]
    if dimension == "1":
        misses += [(_gap(got, 1 - want), REST)] if 0 < want < 1 else []
        misses += [(_gap(got, 1 / want), UPSIDE_DOWN)] if want else []
        misses += [(_gap(got, share * (want - 1)), EXCESS) for share in (1, 100)] if want > 1 else []
    best = min(gap for gap, _ in misses)
    if best > CLOSE:
        return ""
    # what is as near as rounding can tell is an equally good explanation
    named = dict.fromkeys(says for gap, says in sorted(misses) if gap <= best + 1e-4)
    return ", or ".join([*named][:2])


def _gap(got: float, value: float) -> float:
    """Relative distance; infinite where the value is zero or the two have different signs."""
    ratio = got / value if value else 0.0
    return abs(math.log(ratio)) if 0 < ratio < math.inf else math.inf
