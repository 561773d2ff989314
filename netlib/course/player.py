"""Player: a schedule shown step by step, with at most three knobs, in a notebook and in a page.

A player is a function from plain knob values to a `Scene`:

    @as_player(
        "two-rings",
        title="A ring, step by step",
        caption="Each step moves one chunk a rank.",
        alt="Ranks in a row with their chunks as cells; arrows carry chunks to the next rank.",
    )
    def two_rings(n: Annotated[int, Knob(2, 4, 8, default=4, unit="ranks")]) -> Scene:
        return Scene(ring_allreduce(n), size=1e6, link=Link(5e-6, 50e9))

Put it in `netlib/course/players/two_rings.py`; then `play("two-rings")` shows it in a notebook, and
`bake("two-rings")` is its HTML for the page, where a `player` directive puts it. Any schedule can be shown; how it is
told is in netlib.course.player_story.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from netlib.collectives.schedule import Schedule
from netlib.course.explorer import Knobbed, knobs_of
from netlib.links import Link


@dataclass(frozen=True, eq=False)
class Scene:
    """What a player shows: a schedule on a buffer of `size` bytes (as nccl-tests counts it) over equal links.

    Each step takes alpha, and the bytes of the busiest rank over the bandwidth. `seconds` (one for each step) replaces
    that clock, with a simulation's for example.
    """

    schedule: Schedule
    size: float
    link: Link
    seconds: ArrayLike | None = None


@dataclass(frozen=True)
class Player(Knobbed):
    """A view that returns a `Scene`, with its knobs and its words; call it with knob values for one of them."""

    def at(self, index: tuple[int, ...]) -> Scene:
        """What is shown at these places of the grid."""
        scene = self.view(**{name: k.values[i] for (name, k), i in zip(self.knobs.items(), index, strict=True)})
        if not isinstance(scene, Scene):
            raise ValueError(f"player {self.id!r} returned {type(scene).__name__}; return Scene(schedule, size, link)")
        return scene

    def __call__(self, **values: float | str) -> Scene:
        """What is shown at these knob values; a knob left out stands at its default."""
        return self.at(self.index(**values))


def as_player(id: str, *, title: str, caption: str, alt: str) -> Callable[[Callable[..., Scene]], Player]:
    """Make a player of a view; its knobs are its parameters, annotated `Annotated[int, Knob(...)]`."""
    return lambda view: Player(id, title, caption, alt, view, knobs_of("player", id, view, title, caption, alt))


def find(which: str | Player) -> Player:
    """The player of an id; a player is its own."""
    from netlib.course.players import load

    return which if isinstance(which, Player) else load(which)


def bake(which: str | Player) -> str:
    """The player as HTML for a page: no kernel. Needs `assets/explorer.js`, `player.js` and their style sheets."""
    from netlib.course import page, player_page

    return page.bake(find(which), player_page.render)


def play(which: str | Player) -> Any:
    """Show a player in a notebook: controls and a picture that follows; in the book build, its page figure."""
    from netlib.course import player_live

    return player_live.show(find(which))
