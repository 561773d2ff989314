"""Ink: one colour per concept for the whole book, with a dash and a marker of its own.

Each concept has a colour for white paper and one for the dark theme; both stand out from their background by at
least 3:1 and the hues stay apart for the common colour-vision deficiencies (after Okabe and Ito 2008, darkened). A
dash, a marker and a hatch repeat the distinction without colour. `assets/explorer.css` carries the same values; a
test compares them.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Ink:
    """A concept's look: `light` and `dark` colours, dash pattern (pixels), marker and hatch (matplotlib's letters)."""

    light: str
    dark: str
    dash: tuple[float, ...] = ()
    marker: str = "o"
    hatch: str = ""


INKS: dict[str, Ink] = {
    # collectives
    "ring": Ink("#0a62b0", "#6cb4ff", (), "o", ""),
    "tree": Ink("#c04d00", "#ff9a52", (7, 3), "s", "//"),
    "hierarchy": Ink("#7c6200", "#e0c04a", (10, 3, 2, 3), "D", "||"),
    "in-network": Ink("#8c3a9e", "#dc9bea", (3, 3), "^", "xx"),
    # hardware
    "nvlink": Ink("#00785a", "#4fd0a5", (), "v", "\\\\"),
    "nic": Ink("#2b7fae", "#8fd0f0", (6, 2, 2, 2), "P", "--"),
    "compute": Ink("#5f5fa8", "#b3b3f5", (2, 2), "h", "++"),
    # the shape of a network
    "clos": Ink("#0a62b0", "#6cb4ff", (), "o", ""),
    "dragonfly": Ink("#c04d00", "#ff9a52", (7, 3), "s", "//"),
    "dragonfly-plus": Ink("#7c6200", "#e0c04a", (10, 3, 2, 3), "D", "||"),
    "torus": Ink("#8c3a9e", "#dc9bea", (3, 3), "^", "xx"),
    "rail": Ink("#00785a", "#4fd0a5", (6, 2, 2, 2), "v", "\\\\"),
    # behaviour of a queue, a sender, a job
    "rate": Ink("#0a62b0", "#6cb4ff", (), "o", ""),
    "queue": Ink("#c04d00", "#ff9a52", (7, 3), "s", "//"),
    "useful": Ink("#00785a", "#4fd0a5", (), "v", "\\\\"),
    "lost": Ink("#a3195b", "#ff8cbb", (4, 2), "X", "xx"),
    "latency": Ink("#7c6200", "#e0c04a", (10, 3, 2, 3), "D", "||"),
    # the roles every figure shares
    "model": Ink("#0a62b0", "#6cb4ff", (), "o", ""),
    "measured": Ink("#1f2328", "#f0f0f0", (), "o", ""),
    "bound": Ink("#6a7079", "#a3a9b3", (2, 4), "_", "/"),
    "failure": Ink("#a3195b", "#ff8cbb", (4, 2), "X", "xx"),
}

TEXT = "#010203"  # text and axes as matplotlib writes them; the page turns it into currentColor

# a sequence for load and heat, low to high: luminance rises or falls evenly, so it survives grey print
RAMP_LIGHT = ("#eef3fa", "#cfe0f2", "#a3c6e6", "#6fa5d4", "#4383bd", "#23639f", "#0f4479", "#072a50")
RAMP_DARK = ("#1d2733", "#213a55", "#24517c", "#2b6ba4", "#4089c7", "#69a9e0", "#9ccaf1", "#d6ebfd")


def ink(name: str) -> Ink:
    """The look of a concept.

    >>> ink("ring").light
    '#0a62b0'
    """
    if name not in INKS:
        raise ValueError(f"ink = {name!r} is not a concept of the book; use one of {', '.join(INKS)}")
    return INKS[name]
