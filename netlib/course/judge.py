"""Judging one answer: right, wrong with a reason, not answered yet, or unreadable. Never tells the answer.

A number is read (`answers`), compared as its exercise says, looked up among the exercise's known wrong answers, and
then among the classic slips (`slips`). A function is held to its laws on small cases.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from netlib.course.answers import Reading, parts_of, plain, read, said, scale
from netlib.course.exercises import Exercise, Law, Part
from netlib.course.exercises._page import plain_html
from netlib.course.reasons import ended
from netlib.course.slips import looks_like

RIGHT, WRONG, OPEN, UNREADABLE = "right", "wrong", "not answered yet", "unreadable"
_EDGE = {RIGHT: "#2a7f4f", WRONG: "#b4551d"}


@dataclass(frozen=True)
class Reply:
    """What `check`, `hint`, `predict` and `explain` say about exercise `id`: a `status` and a `message` in words.

    >>> Reply("ring-01", "right", "Right.")
    ring-01: Right.
    """

    id: str
    status: str
    message: str
    html: str = ""

    @property
    def ok(self) -> bool:
        """Whether the answer is right.

        >>> Reply("ring-01", "wrong", "Not yet.").ok
        False
        """
        return self.status == RIGHT

    def __repr__(self) -> str:
        return f"{self.id}: {self.message}"

    def _repr_html_(self) -> str:
        body = self.html or plain_html(f"{self.id}: {self.message}".replace("\n", "\n\n"))
        return (
            f'<div class="nx-reply nx-{escape(self.status.replace(" ", "-"))}" '
            f'style="border-left: 4px solid {_EDGE.get(self.status, "#767676")}; padding-left: 0.8em">{body}</div>'
        )


def judge(exercise: Exercise, answer: object) -> Reply:
    """The verdict on `answer`, with its reason.

    >>> from netlib.course.exercises import load
    >>> judge(load("busbw-01"), 480)
    busbw-01: Not yet: that is busbw itself, as the log prints it.
    """
    if exercise.laws:
        return Reply(exercise.id, *_judge_function(exercise.laws, answer))
    parts = exercise.parts
    if parts[0].name == "":
        return Reply(exercise.id, *_judge_part(exercise, parts[0], answer))
    given = parts_of(answer, [part.name for part in parts])
    if isinstance(given, Reading):
        return Reply(exercise.id, *_unread(given))
    outcomes = {part.name: _judge_part(exercise, part, given[part.name]) for part in parts}
    found = [status for status, _ in outcomes.values()]
    # all right is right; nothing but stubs is not answered; otherwise the most telling status names the whole
    status = next(word for word in (WRONG, UNREADABLE, OPEN, RIGHT) if word in found)
    if set(found) == {RIGHT}:
        return Reply(exercise.id, RIGHT, "Right.")
    if set(found) == {OPEN}:
        return Reply(exercise.id, OPEN, "Not answered yet.")
    return Reply(exercise.id, status, "\n".join(f"{name}: {message}" for name, (_, message) in outcomes.items()))


def fits(part: Part, got: float) -> bool:
    """Whether `got` (SI) is right by the part's own comparison.

    >>> fits(Part("", 1.05, compare="excess"), 1.051), fits(Part("", 1.05), 1.051)
    (False, True)
    """
    want = float(part.want)
    reference = {"exact": 0.0, "excess": want - 1, "complement": 1 - want}.get(part.compare, want)
    # the last term forgives floating-point noise in exact counts
    return abs(got - want) <= part.rtol * abs(reference) + 1e-9 * abs(want)


def _judge_part(exercise: Exercise, part: Part, answer: object) -> tuple[str, str]:
    if part.compare == "choice":
        return _judge_choice(exercise, part, answer)
    reading = read(answer, part.unit)
    if reading.status:
        return _unread(reading)
    got, want = reading.value, float(part.want)
    if fits(part, got):
        return RIGHT, "Right."
    factor, dimension = scale(part.unit)
    echo = "" if reading.bare else f" (read as {plain(got / factor)} {part.unit})".replace(" )", ")")
    known = [(abs(got - value), says) for value, says in _known_wrong(part) if fits(replace(part, want=value), got)]
    if known:
        return WRONG, f"Not yet{echo}: {min(known)[1]}."
    slip = looks_like(got / factor, want / factor, dimension, part.ranks)
    if slip:
        return WRONG, f"Not yet{echo}: it looks like {slip}."
    return WRONG, f'Not yet{echo}. hint("{exercise.id}") gives a nudge.'


def _known_wrong(part: Part) -> list[tuple[float, str]]:
    readings = [(read(guess, part.unit), says) for guess, says in part.wrong.items()]
    return [(reading.value, says) for reading, says in readings if not reading.status]


def _judge_choice(exercise: Exercise, part: Part, answer: object) -> tuple[str, str]:
    options = exercise.options[part.name]
    if read(answer, "").status == "unanswered":
        return OPEN, "Not answered yet."
    letters = f"answer with one letter of {', '.join(options)}"
    if not isinstance(answer, str):
        return _unread(Reading(status="unreadable", note=letters))
    text = " ".join(answer.lower().split())
    letter = next((key for key, option in options.items() if text.strip(" ().") == key or text == option.lower()), "")
    if not letter:
        return _unread(Reading(status="unreadable", note=letters))
    if letter == part.want:
        return RIGHT, "Right."
    return WRONG, f"Not yet: {part.wrong[letter]}."


def _unread(reading: Reading) -> tuple[str, str]:
    if reading.status == "unanswered":
        return OPEN, "Not answered yet."
    if reading.status == "wrong":
        return WRONG, ended(f"Not yet: {reading.note}")
    return UNREADABLE, ended(f"Cannot read this: {reading.note}")


class _Stop(Exception):
    """A learner's function could not be used; carries the status and the sentence."""

    def __init__(self, status: str, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def _judge_function(laws: tuple[Law, ...], function: object) -> tuple[str, str]:
    if read(function, "").status == "unanswered":
        return OPEN, "Not answered yet."
    if not callable(function):
        note = "a function is asked for; pass its name without calling it"
        return _unread(Reading(status="unreadable", note=note))
    home = str(getattr(getattr(function, "func", function), "__module__", ""))
    if home.split(".")[0] == "netlib" and not home.startswith("netlib.course.exercises."):
        return WRONG, "Not yet: that is the book's own function; write yours."
    for law in laws:
        for case in law.cases:
            shown = ", ".join(f"{name} = {_shown(value, 'g')}" for name, value in zip(law.names, case, strict=True))
            returned: list[float | tuple[float, ...]] = []
            try:
                held = law.holds(_guarded(function, shown, returned, law.several), *case)
            except _Stop as stop:
                return stop.status, stop.message
            if not held:
                value = f"; your function returned {_shown(returned[0], '.6g')}" if returned else ""
                return WRONG, f"Not yet. This does not hold: {law.says}. Small case: {shown}{value}."
    return RIGHT, "Right."


def _shown(value: Any, form: str) -> str:
    """A number, True or False, or a list of numbers, as a learner would type it."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(_shown(each, form) for each in value)}]"
    return str(value) if isinstance(value, bool) else format(value, form)


def _guarded(
    function: Callable[..., object], shown: str, returned: list[float | tuple[float, ...]], several: bool
) -> Callable[..., float | tuple[float, ...]]:
    """`function`, made to return one finite number (or a tuple of them) or stop with a sentence about the case."""
    asked = "a list of numbers" if several else "one number"

    def number(value: object, whole: object) -> float:
        reading = read(value, "")
        if reading.status == "unanswered":
            raise _Stop(OPEN, "Not answered yet: the function returns nothing.")
        if reading.status or isinstance(value, str) or not math.isfinite(reading.value):
            raise _Stop(WRONG, f"Not yet: your function returned {said(whole)} instead of {asked}, for {shown}.")
        return reading.value

    def call(*arguments: Any) -> float | tuple[float, ...]:
        try:
            # lists of their own: a function that sorts its argument must not change the case
            value = function(*(list(each) if isinstance(each, tuple) else each for each in arguments))
            entries = _entries(value) if several else None
        except NotImplementedError:
            raise _Stop(OPEN, "Not answered yet.") from None
        except (Exception, SystemExit) as error:
            why = f"{type(error).__name__}: {_words(error)}".rstrip(": ")
            raise _Stop(WRONG, f"Not yet: your function raised {why} in the small case {shown}.") from None
        made = number(value, value) if entries is None else tuple(number(each, value) for each in entries)
        returned.append(made)
        return made

    return call


_MOST_ENTRIES = 10_000  # of what a function returns; no law asks for as many, and each is read


def _entries(value: Any) -> list[Any] | None:
    """What a learner's list, tuple or array holds; None where nothing came back; [nan] for all else and too many."""
    if value is None or value is Ellipsis:
        return None
    listed = isinstance(value, (list, tuple)) or len(getattr(value, "shape", ())) == 1
    return list(value) if listed and len(value) <= _MOST_ENTRIES else [math.nan]


def _words(error: BaseException) -> str:
    try:
        return " ".join(str(error).split())[:100]
    except (Exception, SystemExit):
        return ""
