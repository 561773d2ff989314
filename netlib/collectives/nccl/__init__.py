"""NCCL's own decisions: the tuner of NVIDIA's collective library by version, as data and formulas.

tuning     latency and bandwidth of every algorithm and protocol, and the choice at each size   (start here)
graph      what NCCL's topology search hands to it: channels and their speeds; named clusters
tables     every constant by version, with its source (tables.csv)
bandwidth, latency, rules   the three parts of the cost model
closed     the single threshold of NCCL 2.4
switching  the sizes at which the choice changes, exactly
selection  how NCCL_ALGO and NCCL_PROTO are read
variables  environment variables: defaults by version, what they change
settings   what the tuner makes of them
pastes     what a pasted block of export lines or an mpirun line sets
lint       a verdict for each line of a pasted configuration
symmetric  the other, smooth model: kernels for symmetric memory (2.27 and later)
"""

from netlib.collectives.nccl.closed import tree_threshold
from netlib.collectives.nccl.graph import Channels, Cluster, named, nvls_channels
from netlib.collectives.nccl.lint import VERDICTS, Verdict, lint_nccl_env
from netlib.collectives.nccl.pastes import Setting, parse_env, pasted_settings
from netlib.collectives.nccl.switching import Span, last_size, spans
from netlib.collectives.nccl.symmetric import Symmetric, symmetric_times
from netlib.collectives.nccl.tables import edition, editions
from netlib.collectives.nccl.tuning import Choice, Tuning, tune, with_variables
from netlib.collectives.nccl.variables import MODELLED, Variable, known_variables, variable

__all__ = [
    "MODELLED",
    "VERDICTS",
    "Channels",
    "Choice",
    "Cluster",
    "Setting",
    "Span",
    "Symmetric",
    "Tuning",
    "Variable",
    "Verdict",
    "edition",
    "editions",
    "known_variables",
    "last_size",
    "lint_nccl_env",
    "named",
    "nvls_channels",
    "parse_env",
    "pasted_settings",
    "spans",
    "symmetric_times",
    "tree_threshold",
    "tune",
    "variable",
    "with_variables",
]
