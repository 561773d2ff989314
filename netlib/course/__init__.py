"""The course around the models: figures that move, exercises that check, the book.

    figure, explorer, explorers   a picture as data; a view with knobs; one file each
    live, page                    an explorer in JupyterLab; the same one baked into a page
    player, players               a schedule shown step by step, in both lives; one file each
    exercises, checks             one file each; a learner's answer and what it looks like
    journal                       predictions and answers, kept beside the notebook
    notebook                      execute a notebook and store canonical outputs
    prose, sphinx, site           numbers in prose, the book's directives, building it

What a notebook uses is here by name, loaded when it is first asked for: ask, check, explain, explore, hint, play,
predict.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from netlib.course.checks import ask, check, explain, hint, predict
    from netlib.course.explorer import explore
    from netlib.course.player import play

__all__ = ["ask", "check", "explain", "explore", "hint", "play", "predict"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = {"explore": "explorer", "play": "player"}.get(name, "checks")
    return getattr(import_module(f"netlib.course.{home}"), name)
