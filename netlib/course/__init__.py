"""The course around the models: figures that move, exercises that check, the book.

    figure, explorer, explorers   a picture as data; a view with knobs; one file each
    live, page                    an explorer in JupyterLab; the same one baked into a page
    exercises, checks             one file each; a learner's answer and what it looks like
    journal                       predictions and answers, kept beside the notebook
    notebook                      execute a notebook and store canonical outputs
    prose, sphinx, site           numbers in prose, the book's directives, building it

What a notebook uses is here by name, loaded when it is first asked for: ask, check, explain, explore, hint, predict.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netlib.course.checks import ask, check, explain, hint, predict
    from netlib.course.explorer import explore

__all__ = ["ask", "check", "explain", "explore", "hint", "predict"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module("netlib.course.explorer" if name == "explore" else "netlib.course.checks"), name)
