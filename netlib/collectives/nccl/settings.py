"""Settings: what the tuner makes of the environment variables that are given to it.

Read with the chapter "Collectives", section "NCCL decides".
"""

from collections.abc import Mapping
from dataclasses import replace
from difflib import get_close_matches

import numpy as np

from netlib.arguments import quoted
from netlib.collectives.nccl.graph import Cluster
from netlib.collectives.nccl.tables import integer
from netlib.collectives.nccl.variables import MODELLED, known_variables


def overlooked(variables: Mapping[str, str]) -> tuple[str, ...]:
    """What is said of variables that the plan does not see; one that is nearly one that it sees is refused.

    >>> overlooked({"NCCL_ALGO": "Ring", "NCCL_IB_TIMEOUT": "22"})
    ('NCCL_IB_TIMEOUT changes the run, not the plan: these numbers do not depend on it',)
    """
    known = {each.name for each in known_variables()}
    found = []
    for name in variables:
        if name in MODELLED:
            continue
        if name not in known and (close := get_close_matches(name.upper(), MODELLED, 1, 0.85)):
            raise ValueError(f"variables[{quoted(name)}] is not a variable known here; did you mean {close[0]}?")
        why = "changes the run, not the plan" if name in known else "is not among the variables known here"
        found.append(f"{name} {why}: these numbers do not depend on it")
    return tuple(found)


def overhead(variables: Mapping[str, str]) -> float | None:
    """NCCL_NET_OVERHEAD in seconds; it is given in nanoseconds, and -2 stands for the default.

    >>> overhead({"NCCL_NET_OVERHEAD": "0"}), overhead({})
    (0.0, None)
    """
    text = variables.get("NCCL_NET_OVERHEAD", "-2").strip()
    value = integer(text)
    if value is None:
        raise ValueError(f"NCCL_NET_OVERHEAD = {text[:40]!r} is no whole number; give nanoseconds")
    return None if value == -2 else value * 1e-9


def limited(cluster: Cluster, variables: Mapping[str, str]) -> Cluster:
    """The communicator's channels within the user's limits; the searched graph, and so the plan's bandwidth, stays.

    >>> from netlib.collectives.nccl.graph import named
    >>> limited(named("dgx-h100"), {"NCCL_MAX_CTAS": "4"}).channels.tolist()
    4
    """
    limits: dict[str, int] = {}
    for name in ("NCCL_MIN_CTAS", "NCCL_MIN_NCHANNELS", "NCCL_MAX_CTAS", "NCCL_MAX_NCHANNELS"):
        if name in variables:
            text = variables[name].strip()
            limit = integer(text)
            if limit is None or limit < 1:
                raise ValueError(f"{name} = {text[:40]!r} must be a whole number, 1 or more; give channels")
            limits[name] = limit
    if not limits:
        return cluster
    count = np.asarray(cluster.ring.count if cluster.channels is None else cluster.channels)
    most = min([v for name, v in limits.items() if "MAX" in name], default=None)
    least = max([v for name, v in limits.items() if "MIN" in name], default=None)
    count = count if most is None else np.minimum(count, most)
    return replace(cluster, channels=count if least is None else np.maximum(count, least))
