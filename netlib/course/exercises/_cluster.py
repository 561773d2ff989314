"""The recurring cluster of the collectives exercises: 1,024 GPUs in 128 nodes of 8, and the gradients of a 70B model.

Two sets of links, both one way per GPU: Blackwell (NVLink 5 and an 800 Gb/s NIC) and Hopper (NVLink 4 and 400 Gb/s).
"""

from netlib.links import Link
from netlib.units import GB, gbps, one_way

GRADS = 70e9 * 2  # parameters x bytes of BF16
GPUS, NODES = 8, 128
RANKS = GPUS * NODES

NVLINK5, NIC_800 = Link(0, one_way(1800 * GB)), Link(0, gbps(800))
NVLINK4, NIC_400 = Link(0, one_way(900 * GB)), Link(0, gbps(400))
NVLINK6, NIC_1600 = Link(0, one_way(3600 * GB)), Link(0, gbps(1600))

# sold both ways, used as if it were one way: the commonest mistake with a data sheet
NVLINK4_BOTH_WAYS = Link(0, 900 * GB)
