"""Live: an explorer in a notebook, as ipywidgets around one matplotlib picture that is repainted in place."""

from importlib import import_module
from typing import Any

from netlib.course.draw import Picture
from netlib.course.explorer import Explorer
from netlib.course.frame import frame
from netlib.course.page import bake
from netlib.course.shown import box_of, shown, table
from netlib.course.twin import fill, tables


def explore(own: Explorer) -> Any:
    """The live explorer, or in the book build its page figure."""
    return shown(own, live, bake)


def live(own: Explorer) -> Any:
    """A box of widgets: one control per knob, reset, the picture, its reading, and its numbers as a table."""
    w: Any = import_module("ipywidgets")  # published without types

    class Live(box_of(own)):  # type: ignore[misc]
        """The box; `.image` is the picture."""

        def __init__(self) -> None:
            super().__init__()
            first = own()
            self.picture, self.tables, self.quiet = Picture(first, frame(own.grid)), tables(first), False
            reset = w.Button(description="Reset", tooltip="every knob back to its default")
            reset.on_click(self._reset)
            self.numbers = w.ToggleButton(description="Numbers", tooltip="this state as a table")
            self.numbers.observe(self.changed, "value")
            self.image = w.Image(format="png", layout=w.Layout(width="704px", max_width="100%"))
            self.image.alt = own.alt
            self.image.add_class("netlib-figure")
            buttons = w.HBox([reset, self.numbers])
            self.children = [*self.knobs.values(), self.image, self.said, buttons, self.table, self.caption]
            self.changed()

        def _reset(self, _: object) -> None:
            self.quiet = True
            for control, start in zip(self.knobs.values(), own.start, strict=True):
                control.value = start
            self.quiet = False
            self.changed()

        def redraw(self, places: tuple[int, ...]) -> None:
            if self.quiet:
                return
            now = own.at(places)
            self.picture.show(now)
            self.image.value = self.picture.png()
            self.tell(*own.words(now, places))
            shown = (table(each.head, fill(each, now)) for each in self.tables)
            self.table.value = "".join(shown) if self.numbers.value else ""

    return Live()
