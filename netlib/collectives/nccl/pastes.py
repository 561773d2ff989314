"""Pastes: what somebody's export lines, job script or mpirun line sets.

A paste is read as a shell would: commands end at a line's end, at ; and at &&, quotes hold a value together, # begins a
comment. Of a program's command line only what it hands on is taken (`-x NAME=value`), the rest is the program's.
Read with the chapter "Collectives", section "NCCL decides".
"""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from netlib.arguments import declared

HANDED_ON = ("-x", "-e", "--env", "-env")  # mpirun's and docker's ways to set a variable of the program
BEGIN = ("export", "env", "$", "set", "declare")
ENDS = ";&|"


@dataclass(frozen=True)
class Setting:
    """One thing that a line says: `name` and `value`, or in one sentence the `trouble` with `text`, the whole line."""

    number: int
    text: str
    name: str = ""
    value: str = ""
    trouble: str = ""


@declared
def pasted_settings(text: str) -> list[Setting]:
    """Every assignment of a pasted block in its order, and every line that holds none; empty lines are skipped.

    >>> pasted = "export A=1;export B=2" + chr(10) + "mpirun -x C=3 -np 8 ./a"
    >>> [(one.name, one.value) for one in pasted_settings(pasted)]
    [('A', '1'), ('B', '2'), ('C', '3')]
    >>> pasted_settings("hello")[0].trouble
    "line 1, 'hello', is no assignment; write export NAME=value"
    """
    found = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        where = f"line {number}, {line.strip()[:60]!r},"
        try:
            words = _words(line)
        except ValueError:
            found.append(Setting(number, line.strip(), trouble=f"{where} has a quote that is not closed"))
            continue
        for ends, group in groupby(words, key=lambda word: set(word) <= set(ENDS)):
            command = list(group)
            if ends:
                continue
            pairs = list(_assigned(command))
            if pairs:
                found += [Setting(number, line.strip(), name, value) for name, value in pairs]
            else:
                spaced = "; leave no space round =" if any(word.startswith("=") for word in command) else ""
                trouble = f"{where} is no assignment; write export NAME=value{spaced}"
                found.append(Setting(number, line.strip(), trouble=trouble))
    return found


@declared
def parse_env(text: str) -> dict[str, str]:
    """Names and values of a pasted block: lines `export NAME=value`, `NAME=value` or mpirun's `-x NAME=value`.

    Comments and empty lines are skipped; the last of two equal names counts. A line that sets nothing raises
    ValueError with the line.

    >>> parse_env('export NCCL_IB_TIMEOUT=22  # rides out flaps' + chr(10) + 'NCCL_ALGO="ring;allreduce:tree"')
    {'NCCL_IB_TIMEOUT': '22', 'NCCL_ALGO': 'ring;allreduce:tree'}
    """
    found = pasted_settings(text)
    for each in found:
        if each.trouble:
            raise ValueError(each.trouble)
    return {each.name: each.value for each in found}


def _words(line: str) -> list[str]:
    """A line's words, without its comment; what ends a command is a word of its own."""
    reader = shlex.shlex(line.rstrip().rstrip("\\"), posix=True, punctuation_chars=ENDS)
    reader.whitespace_split = True
    words: list[str] = []
    for word in reader:
        # without quotes a shell would run "allreduce:tree"; who pastes ring;allreduce:tree means one value
        if words[-1:] == [";"] and len(words) > 1 and ":" in word and "=" not in word and "=" in words[-2]:
            words.pop()
            words[-1] += f";{word}"
        else:
            words.append(word)
    return words


def _assigned(command: list[str]) -> Iterator[tuple[str, str]]:
    """The assignments of one command: before the program's name, and after it those that are handed on."""
    program = False
    for before, word in zip(["", *command], command, strict=False):
        name, equals, value = word.partition("=")
        plain = bool(equals) and name.replace("_", "a").isalnum() and not name[0].isdigit()
        if plain and (before in HANDED_ON or not program):
            yield name, value
        elif not plain and word not in HANDED_ON and before not in HANDED_ON and word not in BEGIN:
            program = True
