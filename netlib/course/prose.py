"""Numbers in prose: what the roles of the book print.

A page never carries a typed bandwidth. It names a registry fact or writes an expression, and the build prints the value:

    {fact}`ndr-400`                                        a registry fact, with unit and direction
    {ratio}`nvlink4/ndr-400`                               two facts in one convention (one way)
    {calc}`ring_allreduce_time(140e9, 8, Link(0, 900e9)) | s | 3`   an expression of netlib, in a unit, to 3 digits

An expression sees the public names of `netlib.units`, `links`, `collectives`, `hardware` and a little arithmetic, nothing else.
"""

import ast
import math
from collections.abc import Callable
from functools import cache
from importlib import import_module
from importlib.metadata import version
from typing import Any

from netlib import __version__
from netlib.units import show

FLOORS = ("netlib.units", "netlib.links", "netlib.collectives", "netlib.hardware")

_ALLOWED = (
    ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Attribute, ast.Call, ast.keyword, ast.Tuple, ast.List, ast.Subscript,
    ast.Slice, ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.UnaryOp, ast.USub, ast.UAdd,
)  # fmt: skip


@cache
def vocabulary() -> dict[str, Any]:
    """Every name an expression in prose may use."""
    names: dict[str, Any] = {f.__name__: f for f in (abs, float, int, len, max, min, round, sum)}
    names |= {"edition": edition, "log2": math.log2, "sqrt": math.sqrt, "ceil": math.ceil, "floor": math.floor}
    for floor in FLOORS:
        module = import_module(floor)
        exported = getattr(module, "__all__", [name for name in vars(module) if not name.startswith("_")])
        names |= {name: getattr(module, name) for name in exported if not _is_module(getattr(module, name))}
    return names


def _is_module(value: object) -> bool:
    return isinstance(value, type(ast))


def evaluate(expression: str) -> Any:
    """The value of an expression in the vocabulary of prose.

    Raises ValueError for anything but arithmetic, calls and public names, and for an expression that fails.

    >>> evaluate("2 * (8 - 1) / 8")
    1.75
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"expression {expression!r} is not one Python expression: {error.msg}") from None
    names = vocabulary()
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED) or (isinstance(node, ast.Attribute) and node.attr.startswith("_")):
            raise ValueError(f"expression {expression!r} uses {type(node).__name__}; prose may use arithmetic, calls and names")
        if isinstance(node, ast.Name) and node.id not in names:
            raise ValueError(f"expression {expression!r} names {node.id!r}, which is not public in {', '.join(FLOORS)}")
    try:
        return eval(compile(tree, "<prose>", "eval"), {"__builtins__": {}}, names)
    except Exception as error:
        raise ValueError(f"expression {expression!r} failed: {error}") from None


def calc(text: str) -> tuple[str, str]:
    """`expression | unit | digits` as (what is printed, the expression); unit and digits may be left out.

    >>> calc("2 * (1024 - 1) / 1024 | x | 4")
    ('1.998 x', '2 * (1024 - 1) / 1024')
    >>> calc("16 * 2**30 | GB")[0]
    '17.2 GB'
    """
    expression, *rest = (part.strip() for part in text.split("|"))
    if len(rest) > 2 or (len(rest) == 2 and not rest[1].isdigit()):
        raise ValueError(f"calc {text!r} is not `expression | unit | digits`")
    value = evaluate(expression)
    if isinstance(value, str):
        return value, expression
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"expression {expression!r} gives a {type(value).__name__}, not one number") from None
    if not math.isfinite(number):
        raise ValueError(f"expression {expression!r} gives {number}, which a page cannot print")
    return show(number, rest[0] if rest else "", int(rest[1]) if len(rest) == 2 else 3), expression


def fact(name: str) -> tuple[str, str]:
    """A registry fact as (what is printed, where it comes from)."""
    found = _registry("fact")(name)
    return found.text, provenance(found)


def provenance(found: Any) -> str:
    """One sentence: what the fact is, its direction, standing, source and date."""
    printed = f"{found.name}: {found.text}" if found.name else found.text
    standing = ", ".join(str(word) for word in (f"per {found.scope}", found.nominal, found.status) if word)
    return f"{printed} ({standing}). Source: {found.source}, as of {found.as_of}."


def ratio(pair: str) -> tuple[str, str]:
    """`a/b`, both one way, as (the ratio to three digits, what was divided)."""
    value = _registry("ratio")(pair)
    top, _, bottom = pair.partition("/")
    words = " over ".join(f"{fact(part.strip())[0]}" for part in (top, bottom))
    return show(float(value), "", 3), f"{words}, both taken one way"


def _registry(name: str) -> Callable[[str], Any]:
    function: Callable[[str], Any] = getattr(import_module("netlib.hardware"), name)
    return function


def edition() -> str:
    """The edition of the book, which is the version of netlib."""
    return __version__


def colophon() -> str:
    """The tools that built this book, as a Markdown table."""
    tools = {
        "jupyter-book": "builds the pages",
        "sphinx": "under it",
        "myst-nb": "executes the notebooks",
        "sphinx-book-theme": "the theme",
        "numpy": "all arithmetic over arrays",
        "matplotlib": "still pictures",
        "ipywidgets": "sliders in JupyterLab",
    }
    rows = [f"| {name} | {version(name)} | {use} |" for name, use in tools.items()]
    return "\n".join(["| tool | version | use |", "|---|---|---|", *rows])
