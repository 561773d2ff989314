"""Domains: the GPUs that reach one another over NVLink, all through one layer of NVSwitch chips.

Every GPU has links to every switch, so any pair is two links apart and uses all of its links. Read with the chapter
"Scale-up", section "Anatomy of a domain".
"""

import numpy as np

from netlib.arguments import declared
from netlib.hardware import bandwidth, fact, node
from netlib.links import Link
from netlib.topology.fabric import Cables, Fabric, affordable, build, whole


@declared
def nvlink_domain(gpus: int, switches: int, links_per_gpu: int, link: Link, name: str = "NVLink domain") -> Fabric:
    """`gpus` GPUs, each with `links_per_gpu` NVLinks spread over `switches` NVSwitch chips; `link` is one NVLink.

    Where the links do not divide, the first switches get one more from each GPU. GPUs come first (hosts), then
    switches (tier 1); cable i of GPU g is number g links_per_gpu + i; label `node` is 0 throughout.

    >>> small = nvlink_domain(gpus=4, switches=2, links_per_gpu=6, link=Link(0, 25e9))
    >>> small.cables, small.degree.tolist()
    (24, [6, 6, 6, 6, 12, 12])
    """
    gpus, switches = whole("gpus", gpus), whole("switches", switches)
    links_per_gpu = whole("links_per_gpu", links_per_gpu)
    if links_per_gpu < switches:
        raise ValueError(
            f"links_per_gpu = {links_per_gpu} is fewer than the {switches} switches; every GPU needs one link to each"
        )
    affordable(gpus * links_per_gpu, gpus=gpus, links_per_gpu=links_per_gpu)
    chip = np.sort(np.arange(links_per_gpu) % switches)
    return build(
        name,
        gpus + switches,
        hosts=np.arange(gpus),
        tier=np.repeat([0, 1], [gpus, switches]),
        cables=[Cables(np.repeat(np.arange(gpus), links_per_gpu), gpus + np.tile(chip, gpus), link, "nvlink")],
        labels={"node": np.zeros(gpus + switches)},
    )


@declared
def nvlink_node(id: str, alpha: float = 0.0) -> Fabric:
    """The NVLink domain of a node or rack of the hardware registry, by its id there.

    Counts of GPUs, switches and links and the rate of a link are the registry's. `alpha`: seconds for one link with its
    switching; 0 by default, as no data sheet prints it.

    >>> a100 = nvlink_node("dgx-a100")  # 8 GPUs, 6 switches, 12 links each: 2 to every switch
    >>> a100.cables, a100.degree[a100.switches].tolist(), float(a100.capacity[0])
    (96, [16, 16, 16, 16, 16, 16], 25000000000.0)
    """
    box = node(id)
    links = int(fact(f"{box.nvlink}-links").value)
    return nvlink_domain(box.gpus, box.switches, links, Link(alpha, bandwidth(f"{box.nvlink}-link")), box.name)


@declared
def nvl72(alpha: float = 0.0) -> Fabric:
    """GB200 NVL72: 72 GPUs, 18 switch chips in 9 trays, one link from every GPU to every chip: 72 x 18 = 1,296 links.

    `alpha` as in `nvlink_node`.

    >>> rack = nvl72()
    >>> rack.cables, rack.switches.size, float(rack.capacity.sum() / 2)  # bytes/s into the switches, one way
    (1296, 18, 64800000000000.0)
    """
    return nvlink_node("gb200-nvl72", alpha)


@declared
def hgx_h100(alpha: float = 0.0) -> Fabric:
    """HGX or DGX H100: 8 GPUs, 4 switch chips, 18 links on a GPU: 5 to two of the chips and 4 to the other two.

    Which two is not modelled after the board: the first two here.

    Source: NVIDIA Fabric Manager user guide, "GPU Baseboard Topologies". `alpha` as in `nvlink_node`.

    >>> box = hgx_h100()
    >>> box.cables, box.degree[box.switches].tolist()  # of 64 ports on each chip
    (144, [40, 40, 32, 32])
    """
    return nvlink_node("dgx-h100", alpha)
