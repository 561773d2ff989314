"""The bandwidth ladder: six links, and what happens to their ratios when directions are counted differently."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.course.explorer import Knob, explorer, pick
from netlib.course.figure import Array, Axis, Bars, Figure, Number, Points
from netlib.hardware import bandwidth, fact
from netlib.units import GB

LINKS = {
    "NVLink 5": "nvlink5",
    "NVLink 4": "nvlink4",
    "NVLink 3": "nvlink3",
    "800G NIC": "xdr-800",
    "PCIe 5 x16": "pcie5-x16",
    "400G NIC": "ndr-400",
}
COPIES = {
    "NVLink 5": "nvlink5-copy",
    "NVLink 4": "nvlink4-copy",
    "NVLink 3": "nvlink3-copy",
    "PCIe 5 x16": "pcie5-x16-copy",
}
COUNTS = ("one way", "both ways", "as printed")
ONE = np.array([bandwidth(id) for id in LINKS.values()])
RATES = {"one way": ONE, "both ways": 2 * ONE, "as printed": np.array([fact(id).value for id in LINKS.values()])}
WAYS = dict(zip(LINKS, (fact(id).direction for id in LINKS.values()), strict=True))


@explorer(
    "bandwidth-ladder",
    title="Six links in one convention",
    caption="Data sheets print NVLink with both directions added and everything else with one. Count all links alike, "
    "whichever way, and the ratios stay; take them as printed, and an NVLink over any other doubles. The marks are "
    "copies between GPUs and from the host, as S. Bekman measured them, one way.",
    alt="Six bars from the fastest link to the slowest, three NVLinks far above two NICs and a PCIe slot; measured "
    "marks lie a little below the tops of four bars when directions are counted one way.",
)
def bandwidth_ladder(
    count: Annotated[Array, Knob(*COUNTS, label="directions counted")],
    over: Annotated[Array, Knob("NVLink 3", "NVLink 4", "NVLink 5", default="NVLink 5", label="this link")],
    under: Annotated[Array, Knob("PCIe 5 x16", "400G NIC", "800G NIC", label="over that one")],
) -> Figure:
    """Rates under the three ways to count, and one ratio."""
    rate = pick(count, RATES)
    names = list(LINKS)
    kinds = {"NVLink": [n.startswith("NVLink") for n in names], "NIC": [n.endswith("NIC") for n in names]}
    kinds["PCIe"] = [n.startswith("PCIe") for n in names]
    found = {name: pick(count, {c: r[names.index(name)] for c, r in RATES.items()}) for name in names}
    upper, lower = (pick(knob, {n: i for i, n in enumerate(names)}).astype(int) for knob in (over, under))
    values = np.concatenate([found[name] + 0 * upper for name in names], axis=-1)
    fast, slow = (np.take_along_axis(values, place + 0 * upper, -1) for place in (upper, lower))
    mixed = pick(over, {n: WAYS[n] == "both-ways" for n in kinds_of("NVLink")}).astype(float) * (count == "as printed")
    return Figure(
        x=Axis("link of one GPU", categories=tuple(names)),
        y=Axis("bandwidth", "B/s"),
        elements=(
            *(
                Bars(kind, np.where(mask, rate, np.nan), ink, stacked=kind != "NVLink")
                for (kind, mask), ink in zip(kinds.items(), ("nvlink", "nic", "compute"), strict=True)
            ),
            Points(
                "copy measured",
                [names.index(n) for n in COPIES],
                [bandwidth(id) for id in COPIES.values()],
                notes=tuple(COPIES),
            ),
        ),
        numbers={
            "fast": Number(fast, "B/s", "this link"),
            "slow": Number(slow, "B/s", "that one"),
            "ratio": Number(fast / slow, "times", "ratio"),
            "fair": Number(np.take(ONE, upper) / np.take(ONE, lower), "times", "ratio with all links counted alike"),
            "mixed": Number(mixed, "", "1 if the two are counted differently"),
        },
        reading="Counted {count}, {over} moves {fast} and {under} {slow}: {ratio}.",
        failure=_failure,
    )


def kinds_of(start: str) -> list[str]:
    """The links of a kind."""
    return [name for name in LINKS if name.startswith(start)]


def _failure(s: Mapping[str, Any]) -> str:
    if not s["mixed"]:
        return ""
    return (
        f"{s['fast'] / GB:,.0f} GB/s adds two directions and {s['slow'] / GB:,.0f} GB/s is one: the ratio is "
        f"{s['fair']:.3g}, not {s['ratio']:.3g}."
    )
