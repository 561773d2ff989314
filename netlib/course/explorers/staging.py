"""What staging through host memory can cost: Amdahl's law, and the share it would take to lose thirty per cent."""

from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Figure, Line, Number, Points, Rule
from netlib.topology import staged_loss, staged_share

CLAIMS = (0.3, 0.5)


@explorer(
    "staging",
    title="Can it cost thirty per cent?",
    caption="Without GPUDirect RDMA the NIC reads host memory, and the GPU's bytes take a detour. If the exposed "
    "share c of a step becomes s times as long, throughput falls by c(s-1)/(1+c(s-1)). A published measurement on "
    "GH200 found 13 to 21 % more busbw with it, so s of about 1.1 to 1.2.",
    alt="Rising curves of lost throughput over the communication share, for the chosen slow-down; two horizontal "
    "marks at thirty and fifty per cent, which the curve reaches only for large slow-downs.",
)
def staging(
    slowdown: Annotated[Array, Knob(1.1, 1.2, 1.5, 2.0, 3.0, default=1.2, unit="x", label="communication takes")],
    share: Annotated[
        Array, Knob(0.05, 0.1, 0.2, 0.3, 0.5, 0.8, default=0.3, unit="%", label="exposed share of a step")
    ],
) -> Figure:
    """Loss over the share; the share that a loss of 30 % needs."""
    c = np.linspace(0.0, 1.0, 81)
    needed = staged_share(CLAIMS[0], slowdown)
    return Figure(
        x=Axis("exposed communication, share of a step", "%", limits=(0.0, 1.0)),
        y=Axis("throughput lost", "%", limits=(0.0, 0.7)),
        elements=(
            Line("lost", c, staged_loss(c, slowdown), "lost"),
            Points("chosen", share, staged_loss(share, slowdown)),
            Rule(CLAIMS[0], "claimed: {at}", along="y"),
            Rule(CLAIMS[1], "claimed: {at}", along="y"),
            Rule(np.where(needed <= 1, needed, np.nan), "30 % from {at}"),
        ),
        numbers={
            "loss": Number(staged_loss(share, slowdown), "%", "throughput lost"),
            "needed": Number(needed, "%", "exposed share that a loss of 30 % needs"),
            "most": Number(staged_loss(1.0, slowdown), "%", "lost if a step were communication alone"),
        },
        reading=lambda s: (
            f"With {s['share']:.0%} of the step exposed and {s['slowdown']:g} times as long, {s['loss']:.1%} of the "
            f"throughput is lost. A loss of 30 % would need {s['needed']:.0%} of the step"
            + (", which no step has." if s["needed"] > 1 else ".")
        ),
        failure=lambda s: (
            f"{s['loss']:.0%} of the throughput is gone: this job must not be staged." if s["loss"] >= CLAIMS[0] else ""
        ),
    )
