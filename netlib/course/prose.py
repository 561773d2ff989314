"""Numbers in prose: what the roles of the book print.

A page never carries a typed bandwidth. It names a registry fact or writes an
expression, and the build prints the value:

    {fact}`ndr-400`                                        a registry fact, with unit and direction
    {ratio}`nvlink4/ndr-400`                               two facts in one convention (one way)
    {calc}`ring_allreduce_time(140e9, 8, Link(0, 900e9)) | s | 3`   an expression of netlib, in a unit, to 3 digits

In a table, where `|` parts cells, write `\\|`. An expression sees the public names of the modules in `FLOORS`
and a little arithmetic, nothing else.
"""

import ast
import math
from functools import cache
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any

from netlib import __version__, hardware
from netlib.units import show

FLOORS = (
    *("netlib.units", "netlib.links", "netlib.topology", "netlib.collectives.training", "netlib.collectives"),
    *("netlib.hardware", "netlib.fidelity.cite", "netlib.fidelity.nccl_plans"),
    *("netlib.congestion", "netlib.congestion.fluid", "netlib.congestion.lossless"),
)

_ALLOWED = (
    *(ast.Expression, ast.Constant, ast.Name, ast.Load, ast.Attribute, ast.Call, ast.keyword, ast.Tuple, ast.List),
    *(ast.Subscript, ast.Slice, ast.BinOp, ast.UnaryOp, ast.USub, ast.UAdd),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow),
)
_SEQUENCES = (ast.List, ast.Tuple, ast.Constant)


@cache
def vocabulary() -> dict[str, Any]:
    """Every name an expression in prose may use."""
    names: dict[str, Any] = {f.__name__: f for f in (abs, float, int, len, max, min, round, sum)}
    names |= {
        "edition": edition,
        "log2": math.log2,
        "sqrt": math.sqrt,
        "ceil": math.ceil,
        "floor": math.floor,
    }
    for floor in FLOORS:
        for name, value in vars(import_module(floor)).items():
            own = str(getattr(value, "__module__", floor)).startswith("netlib") and not isinstance(value, ModuleType)
            if own and not name.startswith("_"):
                names[name] = value
    return names


def evaluate(expression: str) -> Any:
    """The value of an expression in the vocabulary of prose.

    Raises ValueError for anything but arithmetic, calls and public names, and for an expression that fails.

    >>> evaluate("2 * (8 - 1) / 8")
    1.75
    """
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # too deep is no expression either
        raise ValueError(
            f"expression {expression[:80]!r} is not one Python expression: {getattr(error, 'msg', error)}"
        ) from None
    names = vocabulary()
    for node in ast.walk(tree):
        if not isinstance(node, _ALLOWED) or (isinstance(node, ast.Attribute) and node.attr.startswith("_")):
            raise ValueError(
                f"expression {expression!r} uses {type(node).__name__}; prose may use arithmetic, calls and names"
            )
        if any(isinstance(part, _SEQUENCES) and not _number(part) for part in _operands(node)):
            raise ValueError(f"expression {expression!r} computes with a text or a list; prose computes with numbers")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):  # 9**9**9 overflows at once as a float
            node.left = ast.copy_location(ast.Call(ast.Name("float", ast.Load()), [node.left], []), node.left)
        if isinstance(node, ast.Name) and node.id not in names:
            raise ValueError(f"expression {expression!r} names {node.id!r}, which is not public in {', '.join(FLOORS)}")
    try:
        return eval(compile(ast.fix_missing_locations(tree), "<prose>", "eval"), {"__builtins__": {}}, names)
    except Exception as error:
        raise ValueError(f"expression {expression!r} failed: {error}") from None


def _operands(node: ast.AST) -> list[ast.expr]:
    """What is computed with, or asked for an attribute."""
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    return [node.value] if isinstance(node, ast.Attribute) else []


def _number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def calc(text: str) -> tuple[str, str]:
    """`expression | unit | digits` as (what is printed, the expression); unit and digits may be left out.

    >>> calc("2 * (1024 - 1) / 1024 | x | 4")
    ('1.998 x', '2 * (1024 - 1) / 1024')
    >>> calc("16 * 2**30 | GB")[0]
    '17.2 GB'
    """
    expression, *rest = (part.strip() for part in text.split("|"))
    if len(rest) > 2 or (len(rest) == 2 and not rest[1].isdecimal()):
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
    """A registry fact as (what is printed, where it comes from).

    >>> fact("ndr-400")[0]
    '400 Gb/s, one way'
    """
    found = hardware.fact(name)
    return found.text, provenance(found)


def provenance(found: hardware.Fact) -> str:
    """Two sentences: what the source prints, in which direction and standing; which source, where, when read."""
    direction = "" if found.direction == "not-applicable" else f" {found.direction.replace('-', ' ')}"
    source = f"{found.source}, {found.locator}" if found.locator else found.source
    doubt = "" if found.confidence == "primary" else " Confirmed from secondary pages only."
    return (
        f"{found.name}: printed as {found.printed}{direction}, {found.basis}, {found.status}. "
        f"Source: {source}; read {found.as_of}.{doubt}"
    )


def ratio(pair: str) -> tuple[str, str]:
    """`a/b` as (the ratio to three digits, what was divided); both are taken one way.

    >>> ratio("nvlink5/ndr-400")
    ('18.0', '900 GB/s, one way, over 400 Gb/s, one way')
    """
    top, _, bottom = pair.partition("/")
    return show(hardware.ratio(pair), "", 3), f"{fact(top.strip())[0]}, over {fact(bottom.strip())[0]}"


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
