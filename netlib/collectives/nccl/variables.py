"""Variables: NCCL's environment variables, what they default to in each version and what they change.

Most of them change the run and not the plan: the cost model sees only those in `MODELLED`. `variables.toml` holds the
facts; `tune` takes variables, so that their price can be computed instead of believed.
Read with the chapter "Collectives", section "NCCL decides".
"""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from netlib.arguments import declared
from netlib.collectives.nccl.tables import numbers
from netlib.names import nearest


@dataclass(frozen=True)
class Variable:
    """One environment variable.

    since, deprecated, removed   versions ("" for never); `instead` is what replaces it
    default    ((since version, value), ...), () where it has none or finds out by itself
    kind       "int" (`low` to `high`), "choice" (of `choices`), "level" (a path, or an old number), "names", "text"
    effect     what it changes; `modelled`: the cost model sees it
    advice     the verdict for a value that is not the default, and `because` why
    """

    name: str
    since: str
    kind: str
    effect: str
    advice: str
    source: str
    because: str = ""
    default: tuple[tuple[str, str], ...] = ()
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None
    deprecated: str = ""
    removed: str = ""
    instead: str = ""
    modelled: bool = False

    @declared
    def at(self, version: str) -> str | None:
        """The default in a version; None where there is none.

        >>> variable("NCCL_IB_TIMEOUT").at("2.12.12"), variable("NCCL_IB_TIMEOUT").at("2.30.7")
        ('14', '20')
        """
        held = [value for since, value in self.default if numbers(since) <= _full(version)]
        return held[-1] if held else None


def known_variables() -> tuple[Variable, ...]:
    """All of them, in the order of the data file.

    >>> known_variables()[0].name, len(known_variables()) > 60
    ('NCCL_ALGO', True)
    """
    return tuple(_known().values())


@declared
def variable(name: str) -> Variable:
    """The variable of that name; an unknown one raises ValueError with the nearest.

    >>> variable("NCCL_IB_RETRY_CNT").at("2.30.7"), variable("NCCL_MIN_NCHANNELS").instead
    ('7', 'NCCL_MIN_CTAS')
    """
    if name not in _known():
        raise ValueError(f"name = {name[:60]!r} is no variable of NCCL in this list; {meant(name)}")
    return _known()[name]


def meant(name: str) -> str:
    """Which variable a misspelt name may have meant.

    >>> meant("NCCL_IB_TIMOUT").split()[:4]
    ['did', 'you', 'mean', 'NCCL_IB_TIMEOUT']
    """
    names = {each.lower(): each for each in _known()}
    hint = nearest(name, names, "no name is near").rstrip("?")
    return " ".join(names.get(word, word) for word in hint.split())


def _full(version: str) -> tuple[int, ...]:
    """The version as three numbers; without a patch number, the last of its series."""
    asked = numbers(version)
    return asked if len(asked) == 3 else (*asked, 10**6)


@cache
def _known() -> dict[str, Variable]:
    """The data file, read once."""
    table = tomllib.loads(Path(__file__).with_name("variables.toml").read_text())
    found = {}
    for name, facts in table.items():
        facts["default"] = tuple((str(since), str(value)) for since, value in facts.get("default", ()))
        facts["choices"] = tuple(facts.get("choices", ()))
        found[name] = Variable(name=name, **facts)
    return found


MODELLED = tuple(name for name, each in _known().items() if each.modelled)
"""The variables that the cost model sees."""
