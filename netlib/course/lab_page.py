"""The labs as the book shows them: what each asks, how long it takes, what its parts are worth.

No solution is read here: the parts come from the learner's own notebook.
"""

from collections.abc import Callable
from functools import partial

from netlib.course.lab_build import Lab, labs, read, student_of
from netlib.course.serve import root

DIFFICULTY = ("first steps", "easy", "middling", "hard", "open-ended")


def index() -> str:
    """A table of all labs, as MyST Markdown for the `generated` directive."""
    rows = [
        f"| [{lab.title}](#{anchor(lab)}) | {lab.chapter} | {minutes(lab)} | {lab.points} |" for lab in labs(root())
    ]
    return "\n".join(["| lab | chapter | minutes | points |", "|---|---|---|---|", *rows])


def __getattr__(name: str) -> Callable[[], str]:
    """`lab_01_allreduce` is the outline of that lab: a directive on a page names a function without arguments."""
    for lab in labs(root()):
        if name == f"lab_{lab.name}":
            return partial(outline, lab)
    raise AttributeError(f"no lab is called {name!r}")


def outline(lab: Lab) -> str:
    """One lab's objectives, what it needs, and the parts with their points; its heading stands on the page."""
    aims = "\n".join(f"* {each}." for each in lab.objectives)
    parts = "\n".join(f"| `{name}` | {points:g} |" for name, points in graded(lab).items())
    return (
        f"{lab.summary}\n\n"
        f"`labs/{lab.name}.ipynb` in JupyterLab (`desk/labs/` on the disk), "
        f"{minutes(lab)} minutes, {DIFFICULTY[lab.difficulty - 1]} "
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
