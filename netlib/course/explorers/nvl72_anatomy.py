"""NVL72 from inside: 18 compute trays, nine switch trays, 1,296 links, and what a dead tray costs everybody."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, explorer
from netlib.course.fabric_map import ledger_map
from netlib.course.figure import Array, Figure, Number
from netlib.hardware import bandwidth
from netlib.links import Link
from netlib.topology import Cables, Fabric, build, domain_bisection, domain_pairs, nvl72
from netlib.units import GB

RACK = nvl72()
GPUS, CHIPS = RACK.hosts.size, RACK.switches.size
PER_BOX, CHIPS_PER_TRAY = 12, 2  # three compute trays of four GPUs are drawn as one
LINKS = RACK.cables // GPUS  # of one GPU
GPU, CHIP = RACK.source[::2], RACK.target[::2] - GPUS  # the ends of each cable
BOXES, SWITCH_TRAYS = GPUS // PER_BOX, CHIPS // CHIPS_PER_TRAY


def _trays() -> Fabric:
    """The rack with a vertex for three compute trays and for each switch tray; every cable stays a cable."""
    tray, switch = GPU // PER_BOX, BOXES + CHIP // CHIPS_PER_TRAY
    return build(
        "NVL72 by trays",
        BOXES + SWITCH_TRAYS,
        hosts=range(BOXES),
        tier=[0] * BOXES + [1] * SWITCH_TRAYS,
        cables=[Cables(tray, switch, Link(0, bandwidth("nvlink5-link")), "nvlink")],
    )


FABRIC = _trays()
NAMES = [f"GPU {i * PER_BOX + 1}-{(i + 1) * PER_BOX}" for i in range(BOXES)]
NAMES += [f"tray {i + 1}" for i in range(SWITCH_TRAYS)]


@explorer(
    "nvl72-anatomy",
    title="What a rack of 72 is made of",
    caption="GB200 NVL72: 18 compute trays of four GPUs below, three to a box, nine switch trays of two chips "
    "above; each line stands for 24 NVLinks. Every GPU has one link to every chip and spreads what it sends over all "
    "that work, so a dead tray cuts nobody off and slows everybody.",
    alt="A row of six boxes below and of nine boxes above, each joined to each by a line. Lines of idle GPUs are "
    "pale, those of busy ones dark; lines to a dead switch tray are dotted, and where the rest cannot carry what is "
    "asked for they turn dashed.",
)
def nvl72_anatomy(
    gpus: Annotated[Array, Knob(12, 36, 60, 72, default=72, unit="GPUs", label="GPUs that exchange")],
    dead: Annotated[Array, Knob(0, 1, 2, 4, unit="of 9", label="switch trays dead")],
    ask: Annotated[Array, Knob(0.5, 0.75, 1.0, default=1.0, unit="%", label="rate asked for, of NVLink 5")],
) -> Figure:
    """Uniform all-to-all among the first GPUs; loads from the rack's own cables."""
    alive = CHIPS - CHIPS_PER_TRAY * dead
    share = ask * CHIPS / alive
    gpu, chip = (np.repeat(end, 2) for end in (GPU, CHIP))  # both directions alike
    load = np.where(chip // CHIPS_PER_TRAY < dead, np.nan, np.where(gpu < gpus, share, 0.0))
    found = ledger_map(FABRIC, load, boxes=NAMES, both=False)
    link, left = bandwidth("nvlink5-link"), alive * GPUS
    rate = np.minimum(ask * LINKS, alive) * link
    return Figure(
        elements=found.elements,
        numbers={
            "links": Number(left + 0 * gpus, "links", "links that work"),
            "pairs": Number(domain_pairs(GPUS, alive) + 0 * gpus, "pairs", "pairs of wires that work"),
            "both": Number(2 * left * link, "B/s", "all GPUs, both ways"),
            "one_way": Number(left * link, "B/s", "all GPUs, one way"),
            "bisection": Number(domain_bisection(GPUS, alive * link), "B/s", "half to half, one way"),
            "rate": Number(rate, "B/s", "each GPU gets, one way"),
            "used": Number(share + 0 * gpus, "%", "load of the links in use"),
            "asked": Number(ask * LINKS * link, "B/s", "each GPU asks for, one way"),
        },
        reading="{links} carry {bisection} between two halves; each of {gpus} gets {rate} of the {asked} it asks for.",
        failure=_failure,
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["used"] <= 1 + 1e-9:
        return ""
    return (
        f"With {s['dead']:.0f} of 9 switch trays dead the other links would need {s['used']:.0%} of what they have: "
        f"every GPU drops to {s['rate'] / GB:,.0f} GB/s, and none is cut off."
    )
