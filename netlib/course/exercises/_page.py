"""An exercise as it stands in the rendered book: the question, three hints and an explanation, each folded away.

The book's exercises are for self-study, so their explanations are public; graded labs do not use this page.
"""

import re
from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netlib.course.exercises import Exercise

_HINTS = ("a nudge", "the formula", "the first line")


def plain_html(text: str) -> str:
    """Plain text as HTML: blank lines part paragraphs, `backticks` mark code.

    >>> plain_html("Let `n` < 9.")
    '<p>Let <code>n</code> &lt; 9.</p>'
    """
    paragraphs = [escape(part.strip(), quote=False) for part in re.split(r"\n\s*\n", text.strip())]
    coded = [re.sub("`([^`]+)`", r"<code>\1</code>", part) for part in paragraphs]
    return "".join(f"<p>{part}</p>" for part in coded)


def minutes(made: "Exercise") -> str:
    """How long it takes, in words."""
    low, high = made.minutes
    return f"{low} minutes" if low == high else f"{low} to {high} minutes"


def call(made: "Exercise") -> str:
    """The line a learner completes in the notebook."""
    names = [part.name for part in made.parts if part.name]
    if not names:
        return f'check("{made.id}", ...)'
    return f'check("{made.id}", {{{", ".join(f"{name!r}: ..." for name in names)}}})'.replace("'", '"')


def units(made: "Exercise") -> str:
    """How bare numbers are read: "A bare number is read in GB/s.", or by part; "" for a function."""
    named = {part.name: _unit(part.unit) for part in made.parts if part.compare != "choice"}
    if len(set(named.values())) <= 1:
        return "".join(f"A bare number is read {unit}." for unit in set(named.values()))
    return f"Bare numbers are read so: {', '.join(f'{name} {unit}' for name, unit in named.items())}."


def _unit(unit: str) -> str:
    if unit in ("", "x"):
        return "as a ratio"
    return f"as a multiple of {unit}" if len(unit) == 1 and unit.isupper() else f"in {unit}"


def choices(made: "Exercise") -> list[tuple[str, Mapping[str, str]]]:
    """Each list of options once, with the parts that it is for; without them where there is one list for one part."""
    lists: list[tuple[list[str], Mapping[str, str]]] = []
    for name, part in made.options.items():
        same = next((names for names, known in lists if known == part), None)
        if same is None:
            lists.append(([name], part))
        else:
            same.append(name)
    alone = len(made.options) == 1
    return [("" if alone else ", ".join(names), part) for names, part in lists]


def question_text(made: "Exercise") -> str:
    """The question as plain text, for a terminal."""
    head = f"{made.skill}, {made.stars} of 3 stars, {minutes(made)}."
    options = [
        line
        for names, part in choices(made)
        for line in ([f"{names}:"] if names else []) + [f"{letter}) {text}" for letter, text in part.items()]
    ]
    return "\n".join(
        [head, made.ask, *([made.shown] if made.shown else []), *options, f"Answer with {call(made)}", units(made)]
    ).rstrip()


def question_html(made: "Exercise") -> str:
    """The question: title, text, log or program, options, and the line to complete."""
    stars = "★" * made.stars + "☆" * (3 - made.stars)
    shown = f'<pre tabindex="0">{escape(made.shown, quote=False)}</pre>' if made.shown else ""
    options = "".join(
        (f'<p class="nx-part">{names}:</p>' if names else "")
        + '<ul class="nx-options">'
        + "".join(f"<li>{letter}) {escape(text)}</li>" for letter, text in part.items())
        + "</ul>"
        for names, part in choices(made)
    )
    return (
        f'<p class="nx-exercise-title"><strong>{made.id}</strong> · {escape(made.skill)} · '
        f'<span role="img" aria-label="{made.stars} of 3 stars">{stars}</span> · {minutes(made)}</p>'
        f"{plain_html(made.ask)}{shown}{options}"
        f'<p class="nx-answer-line">In the notebook: <code>{escape(call(made), quote=False)}</code>. {units(made)}</p>'
    )


def exercise_html(made: "Exercise") -> str:
    """The whole exercise as static HTML, for the book."""
    hints = "".join(
        f'<details class="nx-hint"><summary>Hint {i}: {name}</summary>{plain_html(text)}</details>'
        for i, (name, text) in enumerate(zip(_HINTS, made.hints, strict=True), start=1)
    )
    return (
        f'<section class="nx-exercise" id="exercise-{made.id}" aria-label="Exercise {made.id}">'
        f"{question_html(made)}{hints}"
        f'<details class="nx-explain"><summary>After you have tried</summary>{plain_html(made.explain())}</details>'
        "</section>"
    )
