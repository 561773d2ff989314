"""NCCL's own decisions: the tuner of NVIDIA's collective library by version, as data and formulas.

tuning     latency and bandwidth of every algorithm and protocol, and the choice at each size   (start here)
graph      what NCCL's topology search hands to it: channels and their speeds; named clusters
tables     every constant by version, with its source (tables.csv)
bandwidth, latency, rules   the three parts of the cost model
closed     the single threshold of NCCL 2.4
selection  how NCCL_ALGO and NCCL_PROTO are read
"""

from netlib.collectives.nccl.closed import tree_threshold
from netlib.collectives.nccl.graph import Channels, Cluster, named, nvls_channels
from netlib.collectives.nccl.tables import edition, editions
from netlib.collectives.nccl.tuning import Choice, Tuning, tune

__all__ = [
    "Channels",
    "Choice",
    "Cluster",
    "Tuning",
    "edition",
    "editions",
    "named",
    "nvls_channels",
    "tree_threshold",
    "tune",
]
