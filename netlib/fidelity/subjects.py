"""What a row is about, once its text is read: how to build the fabric, and what is known beside it."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from netlib.fidelity.prediction import Unanswerable
from netlib.links import Link
from netlib.topology import Fabric, dragonfly, torus, torus_diameter, torus_mean_hops

UNIT = Link(0.0, 1.0)  # capacities of 1, so that bytes/s count links
MOST_HOSTS = 70_000
SHAPE = r"\b\d+(?:x\d+)+\b"


@dataclass(frozen=True)
class Subject:
    """What a row is about: how to build it, and numbers that its text or its maker's description adds.

    known      answers what a fabric cannot show (the trays of a rack), or what is too large to build, by closed form
    per_cable  how many of our cables one published cable holds
    alike      what looks the same from everywhere, so that one of them shows all distances: "host", "group" or nothing
    core       the same switches with one host each, where the whole has too many hosts to build
    """

    name: str
    make: Callable[[], Fabric]
    known: Mapping[str, float] = field(default_factory=dict)
    per_cable: int = 1
    alike: str = ""
    core: Callable[[], Fabric] | None = None


@cache
def built(make: Callable[..., Fabric], *sizes: Any, **options: Any) -> Fabric:
    """A fabric with links of capacity 1. Raises ValueError for parameters that make none."""
    return make(*sizes, link=UNIT, **options)


@cache
def built_named(make: Callable[..., Fabric], *sizes: Any) -> Fabric:
    """A named fabric with its own rates. Raises ValueError for sizes that make none."""
    return make(*sizes)


def limit(hosts: int) -> None:
    """Raises Unanswerable for more hosts than a report builds, and for none."""
    if not 0 < hosts <= MOST_HOSTS:
        refuse(f"{hosts:,} hosts are not built in a report; up to {MOST_HOSTS:,} are")


def refuse(reason: str) -> Fabric:
    """In place of a fabric that is not built."""
    raise Unanswerable(reason)


def read_sides(shape: str) -> tuple[int, ...]:
    """The sides of a torus as `fold` leaves its shape.

    >>> read_sides("4x4x8")
    (4, 4, 8)
    """
    return tuple(int(side) for side in shape.split("x"))


def torus_of(sides: tuple[int, ...], wrap: bool, known: Mapping[str, float], name: str = "") -> Subject:
    """A torus or mesh; the closed forms of its distances where there are too many steps of too many chips to walk."""
    chips = math.prod(sides)
    limit(chips)
    known = dict(known)
    if wrap and max(sides) * chips > 2e7:
        known |= {"most": float(torus_diameter(sides)), "mean": float(torus_mean_hops(sides))}
    name = name or f"{'torus' if wrap else 'mesh'} {'x'.join(map(str, sides))}"
    return Subject(name, lambda: built(torus, sides, wrap=wrap), known, 1, "host" * wrap)


def dragonfly_of(a: int, p: int, h: int, groups: int | None, one: bool = False) -> Subject:
    """A dragonfly with its closed forms, which stand where it is too large to build; or `one` group of it."""
    name, full = f"dragonfly p={p} a={a} h={h}", a * h + 1
    g = 1 if one else groups or full
    known = {"ports of a switch": float(p + a - 1 + h), "global ports of a switch": float(h),
             "local ports of a switch": float(a - 1), "hosts of a switch": float(p)}  # fmt: skip
    if one or g * a * p > MOST_HOSTS:
        known |= {"hosts": float(g * a * p), "groups": float(g), "switches": float(a * g), "nodes": float(g * a * p)}
        known |= {
            "local cables": g * a * (a - 1) / 2,
            "local ports": float(g * a * (a - 1)),
            "cables 0-1": float(g * a * p),
        }
        known |= {"global ports": float(g * a * h)} | ({"global cables": g * a * h / 2} if g == full else {})
        core = (lambda: built(dragonfly, 1, a, h, groups=groups)) if a * g * (a + h) < 2e6 and not one else None
        why = f"{g * a * p:,} hosts are not built in a report" if not one else "a group alone is no fabric"
        return Subject(name, lambda: refuse(why), known, 1, "group", core)
    alike = "group" if g == full else ""
    known |= {"global ports": float(g * a * h), "local ports": float(g * a * (a - 1))}
    return Subject(name, lambda: built(dragonfly, p, a, h, groups=groups), known, 1, alike)
