"""What `?` shows in a notebook: a signature that a reader can read."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages

import pytest

import netlib
from netlib.arguments import declared, formula, written

PACKAGES = ("collectives", "collectives.nccl", "collectives.training", "topology", "links", "units")


def public() -> Iterator[tuple[str, object]]:
    """Every exported function, class and method of the floors that learners call."""
    for name in PACKAGES:
        module = import_module(f"netlib.{name}")
        for each in getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]:
            made = getattr(module, each)
            exported = hasattr(module, "__all__") or getattr(made, "__module__", "") == module.__name__
            if exported and callable(made) and getattr(made, "__module__", "").startswith("netlib."):
                yield f"{name}.{each}", made
                if inspect.isclass(made):
                    methods = [one for key, one in vars(made).items() if not key.startswith("_") and callable(one)]
                    yield from ((f"{name}.{each}.{one.__name__}", one) for one in methods)


def test_no_public_signature_spells_out_what_numpy_calls_array_like() -> None:
    assert {name for name, _ in public()} >= {"collectives.ring_allreduce_time", "collectives.nccl.Tuning.choose"}
    shown = {name: str(inspect.signature(made)) for name, made in public()}
    assert [name for name, text in shown.items() if "_SupportsArray" in text] == []


def test_decorated_functions_show_their_types_as_written() -> None:
    from netlib.collectives import hierarchical_allreduce_time

    assert str(inspect.signature(hierarchical_allreduce_time)) == (
        "(size: ArrayLike, g: ArrayLike, nodes: ArrayLike, up: Link, out: Link, *, "
        "segments: ArrayLike | None = 1) -> NDArray[float64]"
    )


@pytest.mark.parametrize("wraps", [declared, formula, written])
def test_types_without_arrays_stay_as_they_are(wraps) -> None:
    def half(k: int, name: str = "x", more=None) -> float:
        return k / 2

    assert str(inspect.signature(wraps(half))) == "(k: int, name: str = 'x', more=None) -> float"
    assert half(3) == wraps(half)(3) == 1.5


def test_a_function_that_is_declared_and_a_formula_is_still_checked() -> None:
    @declared
    @formula
    def half(k: int) -> float:
        return k / 2

    with pytest.raises(ValueError, match="k = '8' must be a whole number"):
        half("8")


def test_the_packages_are_those_that_exist() -> None:
    found = {each.name.removeprefix("netlib.") for each in walk_packages(netlib.__path__, "netlib.")}
    assert set(PACKAGES) <= found
