"""Domain size: how many GPUs should share one NVLink fabric before its own half of the time wins?"""

from collections.abc import Mapping
from typing import Annotated, Any

import numpy as np

from netlib.collectives import inside_outside_balance, serial_stages
from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Rule
from netlib.hardware import bandwidth, node
from netlib.links import Link
from netlib.units import GB

SIZE, GPUS = 140 * GB, 1024  # gradients of a 70B model in BF16, on the book's cluster
NVLINKS = tuple(bandwidth(f"nvlink{k}") for k in (3, 4, 5, 6))
NICS = (*(bandwidth(port) for port in ("hdr-200", "ndr-400", "xdr-800")), node("rubin-nvl72").out)


def _halves(g: Array, up: Link, out: Link) -> tuple[Array, Array]:
    """NVLink and NIC seconds; as many whole domains as come closest to the cluster, two at least."""
    return serial_stages(SIZE, g, np.maximum(2, np.round(GPUS / g)), up, out)


@explorer(
    "domain-size",
    title="How large should a domain be?",
    caption="140 GB of gradients over about 1,024 GPUs, two levels in series, bytes alone. A larger NVLink domain "
    "divides the NICs' half by its size and hardly changes NVLink's, so past the balance it buys less and less.",
    alt="Over domain sizes from 2 to 576 on a log axis the NIC half falls steeply, the NVLink half rises and soon lies "
    "flat, and their sum levels off; one vertical mark stands where the halves cross, another at the domain chosen.",
)
def domain_size(
    domain: Annotated[Array, Knob(2, 4, 8, 16, 32, 72, 144, 288, 576, default=8, unit="GPUs", label="NVLink domain")],
    out: Annotated[Array, Knob(*NICS, default=NICS[2], unit="B/s", label="NIC per GPU, one way")],
    up: Annotated[Array, Knob(*NVLINKS, default=NVLINKS[2], unit="B/s", label="NVLink per GPU, one way")],
) -> Figure:
    """Both halves over g, and the g at which they are equal on an endless cluster."""
    g = np.round(np.geomspace(2, 576, 81))  # repeated at the low end, so that the samples stay even
    nvlink, nic = Link(0.0, up), Link(0.0, out)
    inside, across = _halves(g, nvlink, nic)
    here_in, here_out = _halves(domain, nvlink, nic)
    node_in, node_out = _halves(np.full(domain.shape, 8), nvlink, nic)
    balance = inside_outside_balance(nvlink, nic)
    share = np.maximum(here_in, here_out) / (here_in + here_out)
    return Figure(
        x=Axis("domain size (GPUs)", "", "log"),
        y=Axis("time", "s", "log"),
        elements=(
            Line("NIC half", g, across, "nic"),
            Line("NVLink half", g, inside, "nvlink"),
            Line("both", g, inside + across, "hierarchy"),
            Rule(balance, "equal at {at} GPUs"),
            Rule(domain, "", ink="measured"),
        ),
        numbers={
            "balance": Number(balance, "GPUs", "domain with equal halves, many domains"),
            "inside": Number(here_in, "s", "NVLink half"),
            "across": Number(here_out, "s", "NIC half"),
            "both": Number(here_in + here_out, "s", "both halves"),
            "gain": Number((node_in + node_out) / (here_in + here_out), "times", "speed against a domain of 8"),
            "share": Number(share, "%", "larger half's share"),
        },
        reading=_reading,
        failure=_failure,
    )


def _reading(s: Mapping[str, Any]) -> str:
    ms = {name: f"{s[name] * 1e3:,.0f} ms" for name in ("both", "inside", "across")}
    said = f"In domains of {s['domain']:.0f} the sum takes {ms['both']}: {ms['inside']} on NVLink"
    said += f" and {ms['across']} on NICs"
    said += f", {s['gain']:.3g} times as fast as in domains of 8" if s["domain"] != 8 else ""
    return f"{said}; the halves are equal at {s['balance']:.3g} GPUs."


def _failure(s: Mapping[str, Any]) -> str:
    if s["share"] <= 0.8:
        return ""
    slow, fast = ("NVLink", "NIC") if s["inside"] > s["across"] else ("the NICs", "NVLink")
    return f"{s['share']:.0%} of the time is {slow}: a faster {fast} saves at most {1 - s['share']:.0%}."
