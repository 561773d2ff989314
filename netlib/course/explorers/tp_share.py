"""Tensor parallelism's share of a step: is there a law that keeps it inside the domain?"""

from typing import Annotated

import numpy as np

from netlib.collectives import tp_bytes
from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth, fact
from netlib.units import GB

PARAMETERS, LAYERS, HIDDEN, MFU = 70e9, 80, 8192, 0.4
PEAK = fact("bf16-h100").value
LINKS = {
    "400G NIC": bandwidth("ndr-400"),
    "800G NIC": bandwidth("xdr-800"),
    "two 800G NICs": 2 * bandwidth("xdr-800"),
    "NVLink 4": bandwidth("nvlink4"),
}


@explorer(
    "tp-share",
    title="The price of tensor parallelism",
    caption="A 70B model (80 layers, hidden size 8,192) on H100 at 40 % of the peak: four ring all-reduces of BF16 "
    "activations a layer, in the critical path. Tokens move nothing, since bytes and arithmetic both grow with them; "
    "more ranks leave less arithmetic for the same bytes. The lower curve hides half of the all-reduces.",
    alt="Two curves fall over the rate of a link on a log axis, from most of the step at 25 GB/s to a few percent at "
    "1.8 TB/s; a horizontal mark stands at a quarter, a vertical one at the link chosen.",
)
def tp_share(
    link: Annotated[Array, Knob(*LINKS, default="NVLink 4", label="link per GPU, one way")],
    tp: Annotated[Array, Knob(2, 4, 8, 16, 32, default=8, unit="ranks", label="tensor parallel")],
    tokens: Annotated[Array, Knob(1024, 8192, 65536, default=8192, unit="tokens")],
) -> Figure:
    """Share of the step in exposed all-reduces, over the link's rate."""
    rate = np.geomspace(25e9, 1.8e12, 73)
    here = pick(link, LINKS)
    sent = tp_bytes(LAYERS, tokens, HIDDEN, 2, tp)
    compute = 6 * PARAMETERS * tokens / (tp * MFU * PEAK)
    share = 1 / (1 + compute * here / sent)
    return Figure(
        x=Axis("link per GPU, one way", "B/s", "log"),
        y=Axis("all-reduces' share of the step", "%", limits=(0.0, 1.0)),
        elements=(
            Line("nothing overlaps", rate, 1 / (1 + compute * rate / sent), "nvlink"),
            Line("half overlaps", rate, 1 / (1 + 2 * compute * rate / sent), "compute"),
            Rule(0.25, "a quarter", along="y"),
            Rule(here + 0 * sent, "{at}", ink="measured"),
        ),
        numbers={
            "sent": Number(sent + 0 * here, "B", "each GPU sends in a step"),
            "compute": Number(compute + 0 * here, "s", "computing"),
            "exposed": Number(sent / here, "s", "all-reduces"),
            "share": Number(share, "%", "all-reduces' share, nothing overlaps"),
            "quarter": Number(3 * sent / compute + 0 * here, "B/s", "rate for a quarter"),
        },
        reading="Over {link}, {tp} spend {share} of the step on all-reduces ({exposed} beside {compute} of computing); "
        "a quarter takes {quarter}.",
        failure=lambda s: (
            f"{s['share']:.0%} of the step is waiting: for a quarter this link would have to be "
            f"{s['quarter'] * s['exposed'] / s['sent']:.2g} times as fast, {s['quarter'] / GB:,.0f} GB/s."
            if s["share"] > 0.25
            else ""
        ),
    )
