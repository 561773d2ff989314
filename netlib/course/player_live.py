"""Player, live: a player in a notebook, as ipywidgets around one vector picture."""

import html
import os
from typing import Any

import numpy as np

from netlib.course.player import Player, bake
from netlib.course.player_draw import legend, picture
from netlib.course.player_page import STEPS_HEAD, step_rows
from netlib.course.player_story import clock, faults, sentences, story
from netlib.course.words import nice


class Baked:
    """What a notebook shows in the book build: the page figure, and no widget state."""

    def __init__(self, own: Player) -> None:
        self.own = own

    def __repr__(self) -> str:
        return f"Player({self.own.id!r})"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": bake(self.own)}


def show(own: Player) -> Any:
    """The live player, or with NETLIB_BOOK=1 in the environment its page figure."""
    return live(own) if os.environ.get("NETLIB_BOOK", "") in {"", "0"} else Baked(own)


def live(own: Player) -> Any:
    """A box of widgets: the knobs, play and a slider over the steps, the picture, its sentence, its table."""
    import ipywidgets as w  # type: ignore[import-untyped]

    wide = w.Layout(width="46em", max_width="100%")

    class Live(w.VBox):  # type: ignore[misc]
        """The box; `.knobs` are the controls by name, `.step` the slider, `.image` the picture, `.said` the words."""

        def __init__(self) -> None:
            self.knobs = {}
            for name, knob in own.knobs.items():
                kind = w.Dropdown if any(isinstance(v, str) for v in knob.values) else w.SelectionSlider
                control = kind(
                    options=list(zip(knob.texts, range(len(knob.values)), strict=True)),
                    value=knob.index(knob.default),
                    description=knob.label or name,
                    style={"description_width": "16em"},
                    layout=wide,
                )
                control.observe(self._changed, "value")
                self.knobs[name] = control
            self.play = w.Play(min=0, max=1, interval=1500)
            self.step = w.IntSlider(min=0, max=1, description="step", style={"description_width": "4em"})
            w.link((self.play, "value"), (self.step, "value"))
            self.step.observe(self._moved, "value")
            self.numbers = w.ToggleButton(description="Table", tooltip="all steps as a table")
            self.numbers.observe(self._moved, "value")
            self.image, self.said, self.table = w.HTML(layout=wide), w.HTML(), w.HTML()
            self.marks = w.HTML()
            caption = w.HTML(f"<b>{html.escape(own.title)}</b> {html.escape(own.caption)}")
            transport = w.HBox([self.play, self.step, self.numbers])
            super().__init__([*self.knobs.values(), transport, self.marks, self.image, self.said, self.table, caption])
            self._changed()

        def __repr__(self) -> str:
            return f"Player({own.id!r})"

        def _repr_mimebundle_(self, **options: Any) -> Any:
            return {**super()._repr_mimebundle_(**options), "text/plain": repr(self)}

        def _changed(self, *_: object) -> None:
            try:
                self.run = own.at(tuple(control.value for control in self.knobs.values()))
                self.story = story(self.run.schedule)
                self.play.max = self.step.max = len(self.story.steps)
                self.marks.value = legend(any(m.add for step in self.story.steps for m in step))
                self._moved()
            except Exception as error:  # a callback's exception would vanish into the server's log
                self.said.value = f'<b role="alert">{type(error).__name__}: {html.escape(str(error))}</b>'

        def _moved(self, *_: object) -> None:
            k, told, run = self.step.value, self.story, self.run
            said, seconds = sentences(told)[k], clock(told, run)
            elapsed = np.append(0.0, np.cumsum(seconds))
            self.image.value = picture(told, k, run.size, 700, f"{own.alt} {said}")
            took = f"This step takes {nice(seconds[k - 1], 's')}; " if k else ""
            time = f"{took}{nice(elapsed[k], 's')} of {nice(elapsed[-1], 's')} elapsed."
            wrong = f'<br><b style="color:#a3195b">✕ {html.escape(faults(told))}</b>' if faults(told) else ""
            self.said.value = f'<div role="status">{html.escape(said)} {time}{wrong}</div>'
            self.table.value = self._table() if self.numbers.value else ""

        def _table(self) -> str:
            def row(cells: Any, tag: str) -> str:
                return "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"

            rows = "".join(row(cells, "td") for cells in step_rows(self.story, self.run))
            return f"<table>{row(STEPS_HEAD, 'th')}{rows}</table>"

    return Live()
