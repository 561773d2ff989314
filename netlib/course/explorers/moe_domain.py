"""Expert parallelism: what a dispatch costs when the domain is smaller than the experts' group."""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.collectives import moe_bytes, outside_share
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule
from netlib.fidelity.cite import published
from netlib.hardware import bandwidth

TOP_K, HIDDEN = 8, 7168
NIC, NVLINK = bandwidth("ndr-400"), bandwidth("nvlink5")
DEEPEP = {8: "DEP-001", 16: "DEP-003", 32: "DEP-005", 64: "DEP-007", 128: "DEP-009", 256: "DEP-011"}
MEASURED = np.array([published(id) for id in DEEPEP.values()])


def _time(tokens: Array, ep: Array, g: Array | int) -> Array:
    """Seconds of the slower of the two ways: what leaves the domain over the NIC, the rest over NVLink."""
    sent = moe_bytes(tokens, TOP_K, HIDDEN, 1)
    away = outside_share(ep, g)
    return np.maximum(sent * away / NIC, sent * (outside_share(ep, 1) - away) / NVLINK)


@explorer(
    "moe-domain",
    title="Eight neighbours or 72",
    caption="One dispatch of a layer: each token goes to 8 experts, hidden size 7,168, one byte a number, spread "
    "uniformly; a NIC of 400 Gb/s and NVLink 5 per GPU, bytes alone. What leaves the domain waits for the NIC. The "
    "points are DeepEP's low-latency dispatch of 128 tokens on nodes of eight H800, start-up included.",
    alt="Over 8 to 512 ranks on log axes the time in the chosen domain leaves a low curve as soon as the group "
    "outgrows the domain and climbs to a plateau more than ten times higher; that of a domain of 72 leaves only "
    "beyond 72.",
)
def moe_domain(
    domain: Annotated[Array, Knob(4, 8, 16, 32, 64, 72, 144, default=8, unit="GPUs", label="NVLink domain")],
    ep: Annotated[Array, Knob(8, 16, 32, 64, 128, 256, default=64, unit="ranks", label="expert parallel")],
    tokens: Annotated[Array, Knob(128, 1024, 4096, default=4096, unit="tokens", label="tokens per GPU")],
) -> Figure:
    """Time over the size of the experts' group, in the chosen domain, in one of 72, and inside altogether."""
    ranks = np.unique(np.round(np.geomspace(8, 512, 81)))
    here, rack = _time(tokens, ep, domain), _time(tokens, ep, 72)
    inside = moe_bytes(tokens, TOP_K, HIDDEN, 1) * outside_share(ranks, 1) / NVLINK
    shown = np.where((tokens == 128) & (domain == 8), 1.0, np.nan)
    return Figure(
        x=Axis("ranks that share the experts", "", "log"),
        y=Axis("dispatch of a layer", "s", "log"),
        elements=(
            Line("domain chosen", ranks, _time(tokens, ranks, domain), "nic"),
            Line("domain of 72", ranks, _time(tokens, ranks, 72), "nvlink"),
            Line("all inside", ranks, inside, "bound"),
            Points("DeepEP, 128 tokens", np.array([*DEEPEP], float), MEASURED * shown),
            Rule(ep + 0 * here, "{at} ranks", ink="measured"),
        ),
        numbers={
            "sent": Number(moe_bytes(tokens, TOP_K, HIDDEN, 1) + 0 * here, "B", "a rank dispatches"),
            "outside": Number(outside_share(ep, domain) + 0 * here, "%", "of it leaves the domain"),
            "time": Number(here, "s", "dispatch in the domain chosen"),
            "rack": Number(rack, "s", "dispatch in a domain of 72"),
            "ratio": Number(here / rack, "times", "as long as in a domain of 72"),
        },
        reading="Of {sent} a rank sends {outside} out of its domain of {domain}: {time} a dispatch, {ratio} as long as "
        "in a domain of 72 ({rack}).",
        failure=_failure,
    )


def _failure(s: Mapping[str, Any]) -> str:
    if not s["outside"]:
        return ""
    return (
        f"The group of {s['ep']:.0f} does not fit into {s['domain']:.0f}: {s['outside']:.0%} of the bytes wait for the "
        "NIC, and a faster NVLink would change nothing."
    )
