"""Live: an explorer in a notebook, as ipywidgets around one matplotlib picture that is repainted in place."""

import html
import os
from typing import Any

from netlib.course.draw import Picture
from netlib.course.explorer import Explorer
from netlib.course.frame import frame
from netlib.course.page import bake
from netlib.course.twin import fill, tables

_TABLE = "<table><tr>{head}</tr>{rows}</table>"


class Baked:
    """What a notebook shows in the book build: the page figure, and no widget state."""

    def __init__(self, own: Explorer) -> None:
        self.own = own

    def __repr__(self) -> str:
        return f"Explorer({self.own.id!r})"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": bake(self.own)}


def explore(own: Explorer) -> Any:
    """The live explorer, or with NETLIB_BOOK=1 in the environment its page figure."""
    return live(own) if os.environ.get("NETLIB_BOOK", "") in {"", "0"} else Baked(own)


def live(own: Explorer) -> Any:
    """A box of widgets: one control per knob, reset, the picture, its reading, and its numbers as a table."""
    import ipywidgets as w  # type: ignore[import-untyped]

    wide = {"description_width": "16em"}

    class Live(w.VBox):  # type: ignore[misc]
        """The box; `.knobs` are the controls by name, `.image` the picture, `.said` the sentences."""

        def __init__(self) -> None:
            self.frame = frame(own.grid)
            first = own()
            self.picture = Picture(first, self.frame)
            self.layout_of_tables = tables(first)
            self.knobs = {}
            for name, knob in own.knobs.items():
                kind = w.Dropdown if any(isinstance(v, str) for v in knob.values) else w.SelectionSlider
                control = kind(
                    options=list(zip(knob.texts, range(len(knob.values)), strict=True)),
                    value=knob.index(knob.default),
                    description=knob.label or name,
                    style=wide,
                    layout=w.Layout(width="46em", max_width="100%"),
                )
                control.observe(self._changed, "value")
                self.knobs[name] = control
            reset = w.Button(description="Reset", tooltip="every knob back to its default")
            reset.on_click(self._reset)
            self.numbers = w.ToggleButton(description="Numbers", tooltip="this state as a table")
            self.numbers.observe(self._changed, "value")
            self.image = w.Image(format="png", layout=w.Layout(width="704px", max_width="100%"))
            self.image.alt = own.alt
            self.image.add_class("netlib-figure")
            self.said, self.table = w.HTML(), w.HTML()
            caption = w.HTML(f"<b>{html.escape(own.title)}</b> {html.escape(own.caption)}")
            buttons = w.HBox([reset, self.numbers])
            super().__init__([*self.knobs.values(), self.image, self.said, buttons, self.table, caption])
            self._changed()

        def __repr__(self) -> str:
            return f"Explorer({own.id!r})"

        def _repr_mimebundle_(self, **options: Any) -> Any:
            return {**super()._repr_mimebundle_(**options), "text/plain": repr(self)}

        def _reset(self, _: object) -> None:
            self.quiet = True
            for (_name, control), start in zip(self.knobs.items(), own.start, strict=True):
                control.value = start
            self.quiet = False
            self._changed()

        def _changed(self, *_: object) -> None:
            if getattr(self, "quiet", False):
                return
            try:
                index = tuple(control.value for control in self.knobs.values())
                now = own.at(index)
                self.picture.show(now)
                self.image.value = self.picture.png()
                reading, failure = own.words(now, index)
                warning = f'<br><b style="color:#a3195b">✕ {html.escape(failure)}</b>' if failure else ""
                self.said.value = f'<div role="status">{html.escape(reading)}{warning}</div>'
                self.table.value = self._tables(now) if self.numbers.value else ""
            except Exception as error:  # a callback's exception would vanish into the server's log
                self.said.value = f'<b role="alert">{type(error).__name__}: {html.escape(str(error))}</b>'

        def _tables(self, now: Any) -> str:
            def row(cells: Any, tag: str) -> str:
                return "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells)

            return "".join(
                _TABLE.format(head=row(t.head, "th"), rows="".join(f"<tr>{row(r, 'td')}</tr>" for r in fill(t, now)))
                for t in self.layout_of_tables
            )

    return Live()
