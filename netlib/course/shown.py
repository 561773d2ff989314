"""Shown: what an explorer and a player share in a notebook: the page figure of the book build, and a box of widgets."""

import html
import os
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any

from netlib.course.explorer import Knobbed
from netlib.course.ink import INKS, RAMP_DARK


class Baked:
    """What a notebook shows in the book build: the page figure, and no widget state."""

    def __init__(self, own: Knobbed, bake: Callable[[Any], str]) -> None:
        self.own, self.bake = own, bake

    def __repr__(self) -> str:
        return called(self.own)

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self.bake(self.own)}


# JupyterLab's dark theme: pictures in pixels are turned round (black on white becomes white on black, hues stay), and
# those in vectors, which ask for these colours by name, get the page's.
NIGHT = (
    '<style>body[data-jp-theme-light="false"] .netlib-figure{filter:invert(1) hue-rotate(180deg);'
    "mix-blend-mode:lighten}"
    'body[data-jp-theme-light="false"]{'
    + "".join(f"--nx-{name}:{look.dark};" for name, look in INKS.items())
    + "".join(f"--nx-ramp-{level}:{colour};" for level, colour in enumerate(RAMP_DARK))
    + "--nx-text:#e6e9ee;--nx-paper:#111111;--nx-soft:#1b2129;--nx-line:#39424e}</style>"
)


def called(own: Knobbed) -> str:
    """What a notebook stores as text: what is shown, and its id."""
    return f"{type(own).__name__}({own.id!r})"


def shown(own: Knobbed, live: Callable[[Any], Any], bake: Callable[[Any], str]) -> Any:
    """The live figure, or with NETLIB_BOOK=1 in the environment its page figure."""
    return live(own) if os.environ.get("NETLIB_BOOK", "") in {"", "0"} else Baked(own, bake)


def box_of(own: Knobbed) -> Any:
    """A class of boxes with a control for each knob; made here, since a page needs no widgets.

    The class that is made of it says in `redraw` what follows a knob, and puts its parts into `children`.
    """
    w: Any = import_module("ipywidgets")  # published without types

    wide = {"layout": w.Layout(width="46em", max_width="100%"), "style": {"description_width": "16em"}}

    class Box(w.VBox):  # type: ignore[misc]
        """`.knobs` are the controls by name, `.said` the sentences, `.table` the numbers, `.caption` the last line."""

        def __init__(self) -> None:
            super().__init__()
            self.knobs = {}
            for name, knob in own.knobs.items():
                kind = w.Dropdown if any(isinstance(value, str) for value in knob.values) else w.SelectionSlider
                options, start = list(zip(knob.texts, range(len(knob.values)), strict=True)), knob.index(knob.default)
                self.knobs[name] = kind(options=options, value=start, description=knob.label or name, **wide)
                self.knobs[name].observe(self.changed, "value")
            self.said, self.table = w.HTML(), w.HTML()
            self.caption = w.HTML(f"{NIGHT}<b>{html.escape(own.title)}</b> {html.escape(own.caption)}")

        def __repr__(self) -> str:
            return called(own)

        def _repr_mimebundle_(self, **options: Any) -> Any:
            return {**super()._repr_mimebundle_(**options), "text/plain": repr(self)}

        def redraw(self, places: tuple[int, ...]) -> None:
            """Show the state at these places of the knobs."""
            raise NotImplementedError

        def changed(self, *_: object) -> None:
            """Show the state of the knobs; an error, which would vanish into the server's log, becomes a sentence."""
            try:
                self.redraw(tuple(control.value for control in self.knobs.values()))
            except Exception as error:
                self.said.value = f'<b role="alert">{type(error).__name__}: {html.escape(str(error))}</b>'

        def tell(self, said: str, failure: str) -> None:
            """What the picture says, and what is wrong with it, if anything is."""
            warning = f'<br><b style="color:var(--nx-failure,#a3195b)">✕ {html.escape(failure)}</b>' if failure else ""
            self.said.value = f'<div role="status">{html.escape(said)}{warning}</div>'

    return Box


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table in HTML, its cells as text.

    >>> table(["rank"], [["0"]])
    '<table><tr><th>rank</th></tr><tr><td>0</td></tr></table>'
    """

    def row(cells: Iterable[str], tag: str) -> str:
        return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table>{row(head, 'th')}{''.join(row(cells, 'td') for cells in rows)}</table>"
