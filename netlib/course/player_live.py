"""Player, live: a player in a notebook, as ipywidgets around one vector picture."""

from importlib import import_module
from typing import Any

import numpy as np

from netlib.course.player import Player, bake
from netlib.course.player_draw import legend, picture
from netlib.course.player_page import STEPS_HEAD, step_rows
from netlib.course.player_story import clock, faults, sentences, story
from netlib.course.shown import box_of, shown, table
from netlib.course.words import nice


def show(own: Player) -> Any:
    """The live player, or in the book build its page figure."""
    return shown(own, live, bake)


def live(own: Player) -> Any:
    """A box of widgets: the knobs, play and a slider over the steps, the picture, its sentence, its table."""
    w: Any = import_module("ipywidgets")  # published without types

    class Live(box_of(own)):  # type: ignore[misc]
        """The box; `.step` is the slider, `.image` the picture, `.marks` what its signs mean."""

        def __init__(self) -> None:
            super().__init__()
            self.play = w.Play(min=0, max=1, interval=1500)
            self.step = w.IntSlider(min=0, max=1, description="step", style={"description_width": "4em"})
            w.link((self.play, "value"), (self.step, "value"))
            self.step.observe(self.moved, "value")
            self.numbers = w.ToggleButton(description="Table", tooltip="all steps as a table")
            self.numbers.observe(self.moved, "value")
            self.image = w.HTML(layout=w.Layout(width="46em", max_width="100%"))
            self.marks = w.HTML()
            transport = w.HBox([self.play, self.step, self.numbers])
            shown = [transport, self.marks, self.image, self.said, self.table, self.caption]
            self.children = [*self.knobs.values(), *shown]
            self.changed()

        def redraw(self, places: tuple[int, ...]) -> None:
            self.run = own.at(places)
            self.story = story(self.run.schedule)
            self.play.max = self.step.max = len(self.story.steps)
            self.marks.value = legend(any(m.add for step in self.story.steps for m in step))
            self.moved()

        def moved(self, *_: object) -> None:
            k, told, run = self.step.value, self.story, self.run
            said, seconds = sentences(told)[k], clock(told, run)
            elapsed = np.append(0.0, np.cumsum(seconds))
            self.image.value = picture(told, k, run.size, 700, f"{own.alt} {said}")
            took = f"This step takes {nice(seconds[k - 1], 's')}; " if k else ""
            self.tell(f"{said} {took}{nice(elapsed[k], 's')} of {nice(elapsed[-1], 's')} elapsed.", faults(told))
            self.table.value = table(STEPS_HEAD, step_rows(told, run)) if self.numbers.value else ""

    return Live()
