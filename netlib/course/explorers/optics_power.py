"""What the light costs: optical modules and their watts for each GPU, by tiers."""

from typing import Annotated

import numpy as np

from netlib.course.explorer import Knob, explorer
from netlib.course.figure import Array, Axis, Bars, Figure, Number
from netlib.topology import clos_hosts, clos_tiers, transceivers_per_host
from netlib.units import KB

HOSTS = tuple(float(n) for n in (1024, 2048, 8192, 16_384, 32_768, 65_536, 100_000))
LAYERS = ("hosts to leaves", "leaves to spines", "spines to cores", "a fourth layer")


@explorer(
    "optics-power",
    title="What the light costs",
    caption="One port per GPU, a non-blocking Clos with as few tiers as the radix allows, an optical module at both "
    "ends of every cable. Each tier adds one cable, two modules, to each GPU. Copper in the first layer saves its "
    "modules.",
    alt="Bars for the layers of cables from hosts to the top tier; each used layer has the same height, the watts of "
    "two modules, and layers that the network does not need are empty.",
)
def optics_power(
    hosts: Annotated[Array, Knob(*HOSTS, default=100_000.0, unit="GPUs")],
    radix: Annotated[Array, Knob(64, 128, 144, 512, default=128, unit="ports", label="switch")],
    watts: Annotated[Array, Knob(4.5, 9.0, 13.0, 15.0, 18.0, default=15.0, unit="W", label="one module")],
) -> Figure:
    """Two modules for each layer of cables a host's bandwidth passes."""
    tiers = clos_tiers(hosts, radix)
    layers = np.arange(1, 5)
    modules = hosts * transceivers_per_host(tiers)
    power = modules * watts
    return Figure(
        x=Axis("layer of cables", categories=LAYERS),
        y=Axis("watts for each GPU", "W", limits=(0.0, 160.0)),
        elements=(Bars("modules", np.where(layers <= tiers, 2 * watts, 0.0), "latency"),),
        numbers={
            "tiers": Number(tiers, "tiers", "tiers"),
            "modules": Number(modules, "modules", "modules"),
            "power": Number(power, "W", "power of all modules"),
            "each": Number(power / hosts, "W", "for each GPU"),
            "limit": Number(clos_hosts(radix, 2), "hosts", "held by two tiers"),
        },
        reading="{hosts} on switches of {radix} need {tiers} and {modules}, which draw {power}: {each} for each GPU.",
        failure=lambda s: (
            f"{s['modules'] / KB:,.0f} thousand modules draw {s['power'] / 1e6:.1f} MW before a bit is switched: "
            "this is what planes, larger radices and optics on the switch package are for."
            if s["power"] > 8e6
            else ""
        ),
    )
