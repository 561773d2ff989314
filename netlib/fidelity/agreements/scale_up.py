"""Agreements of the chapter "Scale-up"."""

import numpy as np

from netlib.collectives import outside_share
from netlib.fidelity.agreement import Agreement


def outside_share_counted(n: int, domain: int) -> float:
    """Ordered pairs of ranks in two domains, over all ranks squared: a rank keeps its own block too."""
    home = np.arange(n) // domain
    return float(np.mean(home[:, None] != home[None, :]))


AGREEMENTS = (
    Agreement(
        "outside-share",
        "the share of an all-to-all that leaves its domain",
        outside_share,
        outside_share_counted,
        ((8, 8), (16, 8), (64, 8), (144, 72), (72, 72), (256, 1), (6, 3)),
        "counted pair by pair",
        1e-12,
    ),
)
