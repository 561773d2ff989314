"""What a link achieves, as opposed to what it is sold as.

NVLink: the per-link speeds NCCL plans with (NVIDIA/nccl, src/graph/topo.h, v2.30.7): 20, 20.6 and 40.1 GB/s of a
nominal 25, 25 and 50. NVLS: the share of them that NCCL expects through the switch (src/graph/tuning.cc, v2.30.7).
NICs: 0.96 of line rate, NCCL maintainers' 24 and 48 GB/s for 200 and 400 Gb/s ports.
Trees: NCCL halves a chunk of 512 KiB until each channel has 8 chunks for every rank on the way to the root
(src/enqueue.cc and src/graph/connect.cc); from there on chunks stay as they are, and a longer message fills no larger
pipeline. Of NVLSTree it bounds chunks from four nodes on, at sizes that changed with versions (8 MiB to 2 GiB).
"""

from dataclasses import dataclass

NIC_SHARE = 0.96
PORTS = {"EDR": 100, "HDR": 200, "NDR": 400, "XDR": 800}  # Gb/s of an InfiniBand port of four lanes
NVLS_RANKS = 3  # with two ranks NCCL leaves the switch out (src/transport/nvls.cc, until 2.26: gpuCount <= 2)
PLAIN_TREE_SHARE = 0.92  # tree without NVLS, same file
FULL_CHUNKS = 16 * 8 * 512 * 1024  # bytes per rank on the way up: 16 channels x 8 x 512 KiB
BOUNDED_FROM = 4  # nodes
NVLSTREE_FROM = (2, 28)  # before, NCCL plans half the cards for it on several nodes, less than for a plain tree


@dataclass(frozen=True)
class Generation:
    """One NVLink generation: nominal and planned bytes/s of a link, one way; links of a GPU; NVLS share, if any."""

    name: str
    nominal: float
    planned: float
    links: int
    nvls_share: float | None


GENERATIONS = {
    "Volta": Generation("Volta", 25e9, 20e9, 6, None),
    "Ampere": Generation("Ampere", 25e9, 20e9, 12, None),
    "Hopper": Generation("Hopper", 25e9, 20.6e9, 18, 0.85),
    "Blackwell": Generation("Blackwell", 50e9, 40.1e9, 18, 0.74),
}

_CHIPS = {
    "V100": "Volta", "A100": "Ampere", "A800": "Ampere", "H100": "Hopper", "H200": "Hopper", "H800": "Hopper",
    "H20": "Hopper", "GH200": "Hopper", "SM90": "Hopper", "B200": "Blackwell", "B300": "Blackwell",
    "GB200": "Blackwell", "GB300": "Blackwell", "SM100": "Blackwell",
}  # fmt: skip


def generation(gpu: str) -> Generation | None:
    """The NVLink generation of a GPU named as people name it; None for a name that is not known.

    >>> generation("H100").planned * generation("H100").links / 1e9
    370.8
    """
    chip = gpu.upper().replace("-", "/").replace(" ", "/").split("/")[0]
    return GENERATIONS.get(_CHIPS.get(chip, ""))
