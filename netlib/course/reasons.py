"""Reasons: why a function of yours failed, in one line that names the line of the function."""

import traceback
from collections.abc import Callable
from types import CodeType
from typing import Any


def ended(sentence: str) -> str:
    """A sentence with its full stop, unless it has a mark of its own.

    >>> ended("is it a loop?"), ended("it is a loop")
    ('is it a loop?', 'it is a loop.')
    """
    return sentence if sentence.endswith((".", "?", "!")) else f"{sentence}."


def _lines(code: CodeType) -> list[int]:
    """The lines of a function and of those inside it."""
    inner = [line for each in code.co_consts if isinstance(each, CodeType) for line in _lines(each)]
    return [line for _, _, line in code.co_lines() if line] + inner


def reason(error: BaseException, work: Callable[..., Any]) -> str:
    """What was raised, and in which line of the function."""
    try:
        text = " ".join(str(error).split())[:160]
    except Exception:  # an exception may have a text that raises
        text = ""
    file = getattr(getattr(work, "__code__", None), "co_filename", "")
    first = getattr(getattr(work, "__code__", None), "co_firstlineno", 1)
    own = set(_lines(work.__code__)) if hasattr(work, "__code__") else set()
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == file and frame.lineno in own]
    where = f" (line {lines[-1] - first + 1} of your function)" if lines and lines[-1] else ""
    return f"raised {type(error).__name__}: {text}".rstrip(": ") + where
