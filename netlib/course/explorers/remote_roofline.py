"""A roofline for remote bytes: how much must be computed with each byte that comes over a link."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth, fact

CHIPS = {  # peak, own memory, NVLink, NIC
    "A100": ("bf16-a100", "hbm-a100-80", "nvlink3", "hdr-200"),
    "H100": ("bf16-h100", "hbm-h100", "nvlink4", "ndr-400"),
    "B200": ("bf16-b200", "hbm-b200", "nvlink5", "ndr-400"),
    "GB200": ("bf16-gb200", "hbm-gb200", "nvlink5", "ndr-400"),
}
WAYS = ("own memory", "NVLink", "NIC")


@explorer(
    "remote-roofline",
    title="A roofline for remote bytes",
    caption="Dense BF16 at the data sheet's peak, if fetching and computing overlap perfectly: a chip is busy from the "
    "FLOP per byte on at which its roof turns flat. The further the bytes come from, the more must be done with each. "
    "Data sheets only: no kernel reaches the corners.",
    alt="On log axes three rising lines, own memory on the left, NVLink and the NIC further right, all turning flat at "
    "the same peak; vertical marks stand at the corner of the chosen link and at the kernel chosen.",
)
def remote_roofline(
    chip: Annotated[Array, Knob(*CHIPS, default="H100")],
    way: Annotated[Array, Knob(*WAYS, default="NVLink", label="operands come from")],
    work: Annotated[Array, Knob(1, 30, 300, 1000, 3000, 30000, default=1000, unit="FLOP/byte", label="kernel")],
) -> Figure:
    """min(peak, work x bandwidth)."""
    peak = pick(chip, {name: fact(ids[0]).value for name, ids in CHIPS.items()})
    rates = [pick(chip, {name: bandwidth(ids[1 + k]) for name, ids in CHIPS.items()}) for k in range(len(WAYS))]
    rate = pick(way, {name: k for k, name in enumerate(WAYS)})
    rate = np.choose(rate.astype(int), rates)
    each = np.geomspace(1, 1e5, 81)
    got = np.minimum(peak, work * rate)
    names = zip(WAYS, rates, ("compute", "nvlink", "nic"), strict=True)
    return Figure(
        x=Axis("FLOP for each byte fetched", "", "log"),
        y=Axis("computing rate", "flop/s", "log"),
        elements=(
            *(Line(name, each, np.minimum(peak, each * own), ink) for name, own, ink in names),
            Rule(peak / rate, "busy from {at}"),
            Rule(work + 0 * rate, "kernel", ink="measured"),
        ),
        numbers={
            "corner": Number(peak / rate, "FLOP/byte", "for a busy chip"),
            "rate": Number(rate, "B/s", "operands arrive at"),
            "got": Number(got, "flop/s", "computing rate"),
            "busy": Number(got / peak, "%", "of the peak"),
        },
        reading="With operands over {way} ({rate}) the {chip} is busy from {corner} on; {work} keep it at {got}, "
        "{busy} of its peak.",
        failure=_failure,
    )


def _failure(s: Mapping[str, Any]) -> str:
    if s["busy"] > 0.999:
        return ""
    return (
        f"The chip waits {1 - s['busy']:.1%} of the time: each byte would have to be used "
        f"{s['corner'] / s['work']:.3g} times as often."
    )
