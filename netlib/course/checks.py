"""What a learner types in a notebook: ask, predict, check, hint, explain.

    predict("rails-02", "4.5x")       commit a number before looking
    check("rails-02", answer)         the verdict, with the reason
    hint("rails-02")                  the next of three hints
    explain("rails-02")               after a right answer, or with give_up=True

Each returns a `Reply` that prints one calm text. None of them raises, whatever the answer is.
"""

from collections.abc import Mapping
from dataclasses import replace
from operator import index
from typing import SupportsIndex

from netlib.course import journal
from netlib.course.answers import Reading, parts_of, read, said, spell
from netlib.course.exercises import Exercise, load
from netlib.course.exercises._page import plain_html, question_html, question_text
from netlib.course.judge import OPEN, UNREADABLE, Reply, judge
from netlib.course.reasons import ended

_INSTEAD = "instead"  # the status of a prediction that takes the first one's place
_BE = ("is", "are")


def ask(id: str) -> Reply:
    """The question itself, with its minutes and the line to complete.

    >>> print(str(ask("ring-01")).splitlines()[0])
    ring-01: bytes per rank, 1 of 3 stars, 3 to 5 minutes.
    """
    exercise = _find(id)
    if isinstance(exercise, Reply):
        return exercise
    return Reply(exercise.id, "question", question_text(exercise), question_html(exercise))


def check(id: str, answer: object = ...) -> Reply:
    """Whether `answer` is right, and if not, what it looks like; the question, while there is no answer.

    A bare number is taken in the unit that the question states; "350 ms" and "0.35 s" are the same answer.

    >>> print(str(check("busbw-01", ...)).splitlines()[0])
    busbw-01: Not answered yet.
    """
    exercise = _find(id)
    if isinstance(exercise, Reply):
        return exercise
    reply = judge(exercise, answer)
    if reply.status == OPEN and "\n" in reply.message:
        return reply  # some parts are answered: they matter more than the question
    if reply.status == OPEN:
        return replace(
            reply,
            message=f"{reply.message}\n{question_text(exercise)}",
            html=plain_html(f"{exercise.id}: {reply.message}") + question_html(exercise),
        )
    note = journal.keep(exercise.id, "answer", said(answer), reply.status)
    message = reply.message
    if reply.ok:
        message = " ".join([message, *_predicted(exercise), f'explain("{exercise.id}") says why.'])
    return Reply(exercise.id, reply.status, f"{message} {note}".rstrip())


def predict(id: str, guess: object = ..., instead: bool = False) -> Reply:
    """Keep a prediction. The first one is compared once your own answer is right; later ones are kept beside it.

    With instead=True this one is compared in place of the first, say where that was a slip of the keyboard.

    >>> predict("busbw-01", ...)
    busbw-01: No prediction yet. Put your guess in place of the three dots; a wrong one teaches more than none.
    """
    exercise = _find(id)
    if isinstance(exercise, Reply):
        return exercise
    if exercise.laws:
        return Reply(exercise.id, UNREADABLE, "This exercise asks for a function; there is no number to predict.")
    texts = _texts(exercise, guess)
    earlier = _predictions(exercise)
    if isinstance(texts, Reading):
        if texts.status == "unanswered" and earlier:
            words = f"Kept from before: {_spelled(earlier[0].value)}. It is compared once your own answer is right."
            return Reply(exercise.id, OPEN, words)
        if texts.status == "unanswered":
            words = "Put your guess in place of the three dots; a wrong one teaches more than none."
            return Reply(exercise.id, OPEN, f"No prediction yet. {words}")
        return Reply(exercise.id, UNREADABLE, ended(f"Cannot keep this: {texts.note}"))
    value = texts.get("", texts)
    note = journal.keep(exercise.id, "prediction", value, _INSTEAD if instead is True and earlier else "")
    if instead is True and earlier:
        message = "Kept in place of your first prediction, and compared once your own answer is right."
    elif earlier and earlier[0].value != value:
        words = "Kept beside your first prediction, which is the one that will be compared;"
        message = f"{words} with instead=True it is this one."
    else:
        message = "Kept. It is compared with the answer once your own answer is right."
    return Reply(exercise.id, "prediction", f"{message} {note}".rstrip())


def hint(id: str, level: int | None = None) -> Reply:
    """The next of three hints (a nudge, the formula, the first line), or the one asked for.

    >>> hint("busbw-01", 4)
    busbw-01: There are three hints: level is 1, 2 or 3.
    """
    exercise = _find(id)
    if isinstance(exercise, Reply):
        return exercise
    seen = [entry.value for entry in journal.entries(exercise.id) if entry.kind == "hint"]
    if level is None:
        opened = [int(value) for value in seen if isinstance(value, str) and value in {"1", "2", "3"}]
        level = min(3, max(opened, default=0) + 1)
    if isinstance(level, bool) or not isinstance(level, SupportsIndex) or index(level) not in (1, 2, 3):
        return Reply(exercise.id, UNREADABLE, "There are three hints: level is 1, 2 or 3.")
    level = index(level)
    note = "" if str(level) in seen else journal.keep(exercise.id, "hint", str(level))
    return Reply(exercise.id, "hint", f"Hint {level} of 3: {exercise.hints[level - 1]} {note}".rstrip())


def explain(id: str, give_up: bool = False) -> Reply:
    """Why the answer is what it is: opens after a right answer, or with give_up=True.

    >>> explain("ringo-01").status
    'unreadable'
    """
    exercise = _find(id)
    if isinstance(exercise, Reply):
        return exercise
    past = journal.entries(exercise.id)
    note = ""
    if not any(entry.kind == "gave up" or (entry.kind, entry.status) == ("answer", "right") for entry in past):
        if give_up is not True:
            words = f'Opens after a right answer; explain("{exercise.id}", give_up=True) opens it now.'
            return Reply(exercise.id, "locked", words)
        note = journal.keep(exercise.id, "gave up")
    text = f"{exercise.explain()} {note}".rstrip()
    return Reply(exercise.id, "explanation", text, plain_html(f"`{exercise.id}`: {text}"))


def _predictions(exercise: Exercise) -> list[journal.Entry]:
    """What was predicted, from the one that counts on: the first, or the last that was made in place of it."""
    made = [entry for entry in journal.entries(exercise.id) if entry.kind == "prediction"]
    start = max([number for number, entry in enumerate(made) if entry.status == _INSTEAD], default=0)
    return made[start:]


def _spelled(value: str | Mapping[str, str]) -> str:
    """A kept prediction in a sentence."""
    return value if isinstance(value, str) else ", ".join(f"{name} = {text}" for name, text in value.items())


def _find(id: object) -> Exercise | Reply:
    try:
        return load(id)  # type: ignore[arg-type]
    except ValueError as error:
        sentence = str(error)
    return Reply(said(id)[:40] or "?", UNREADABLE, ended(f"{sentence[0].upper()}{sentence[1:]}"))


def _texts(exercise: Exercise, value: object) -> dict[str, str] | Reading:
    """A prediction as text by part ("" for a single number), or why it cannot be kept."""
    parts = {part.name: part for part in exercise.parts}
    asked = [part.name for part in exercise.parts if part.compare != "choice"]
    empty = read(value, "").status == "unanswered"
    if isinstance(value, (str, int, float)) and not empty and len(asked) > 1:
        return Reading(status="unreadable", note=f"{len(asked)} numbers are asked for; give {_dict_of(asked)}")
    if isinstance(value, (str, int, float)):  # one guess is a guess of the only number, or of the only choice
        given: dict[str, object] | Reading = {(asked or [*parts])[0]: value}
    else:
        given = {"": value} if "" in parts else parts_of(value, [*parts])
    if isinstance(given, Reading):
        return given
    texts = {}
    for name, one in given.items():
        reading = read(one, parts[name].unit)
        if reading.status == "unanswered":
            continue
        letter = parts[name].compare == "choice" and isinstance(one, str)
        if reading.status and not letter:
            return reading
        if not letter and reading.value < 0 <= float(parts[name].want):
            return Reading(status="unreadable", note=f"{name or 'the answer'} cannot be below zero")
        texts[name] = said(one)
    missing = [name for name in asked if name and name not in texts]
    if missing and texts:
        return Reading(status="unreadable", note=f"{' and '.join(missing)} {_BE[len(missing) > 1]} missing; guess all")
    return texts or Reading(status="unanswered")


def _dict_of(names: list[str]) -> str:
    return f"{{{', '.join(f'{name!r}: ...' for name in names)}}}"


def _predicted(exercise: Exercise) -> list[str]:
    """The first prediction beside the answer: "You predicted 4.50x; it is 1.15x."."""
    first = next((entry.value for entry in _predictions(exercise)), None)
    if first is None or exercise.laws:
        return []
    texts = first if isinstance(first, Mapping) else {"": first}
    sentences = []
    for part in exercise.parts:
        reading = read(texts.get(part.name, ...), part.unit)
        if part.compare == "choice" or reading.status:
            continue
        what = f"You predicted {part.name} =" if part.name else "You predicted"
        answer = spell(float(part.want), part.unit, exact=part.compare == "exact")
        sentences.append(f"{what} {spell(reading.value, part.unit)}; it is {answer}.")
    return sentences
