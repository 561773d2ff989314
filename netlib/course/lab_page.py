"""The labs as the book shows them: what each asks, how long it takes, what its parts are worth.

No solution is read here: the parts come from the learner's own notebook.
"""

from netlib.course.lab_build import Lab, labs, read, student_of
from netlib.course.serve import root

DIFFICULTY = ("first steps", "easy", "middling", "hard", "open-ended")


def index() -> str:
    """A table of all labs, as MyST Markdown for the `generated` directive."""
    rows = [
        f"| [{lab.title}](#{anchor(lab)}) | {lab.chapter} | {minutes(lab)} | {lab.points} |" for lab in labs(root())
    ]
    return "\n".join(["| lab | chapter | minutes | points |", "|---|---|---|---|", *rows])


def outlines() -> str:
    """Each lab's objectives, what it needs, and the parts with their points."""
    return "\n\n".join(outline(lab) for lab in labs(root()))


def outline(lab: Lab) -> str:
    """One lab, read from `lab.toml` and from the learner's own notebook."""
    aims = "\n".join(f"* {each}." for each in lab.objectives)
    parts = "\n".join(f"| `{name}` | {points:g} |" for name, points in graded(lab).items())
    return (
        f"({anchor(lab)})=\n## {lab.title}\n\n{lab.summary}\n\n"
        f"`labs/{lab.name}.ipynb`, {minutes(lab)} minutes, {DIFFICULTY[lab.difficulty - 1]} "
        f"(level {lab.difficulty} of 5). Before: {'; '.join(lab.prerequisites)}.\n\n"
        f"Afterwards you can:\n\n{aims}\n\n| part | points |\n|---|---|\n{parts}\n| all | {lab.points} |"
    )


def graded(lab: Lab) -> dict[str, float]:
    """The graded cells of the learner's notebook by grade_id, in order, with their points."""
    marks = [cell.metadata.get("nbgrader", {}) for cell in read(student_of(root(), lab)).cells]
    return {mark["grade_id"]: mark["points"] for mark in marks if mark.get("grade")}


def anchor(lab: Lab) -> str:
    """Where the lab stands on the page."""
    return f"lab-{lab.name.replace('_', '-')}"


def minutes(lab: Lab) -> str:
    """From and to."""
    return "{} to {}".format(*lab.minutes)
