"""The constants that no table prints, fitted to a few published rows; those rows are never scored.

Launch: the floor of one call, and the price of a pipeline that starts and drains, c sqrt(size), per NVLink generation.
A queued call has a floor of its own. Tree: what one more level of nodes costs, alpha d + c sqrt(d size), the shape of
the pipelined tree's optimum, until chunks are full.
Ring: what one more step costs. MoE: the floor of one low-latency dispatch kernel.
"""

from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from netlib.arguments import Floats
from netlib.collectives import time_at_busbw
from netlib.fidelity import models
from netlib.fidelity.models import Constants
from netlib.fidelity.rows import Row, published_rows
from netlib.fidelity.setup import Setup, read_setup

# the smallest message of the log, then 2, 32 and 128 MiB (8 and 128 MiB where the log has fewer)
LAUNCH_ROWS = {
    "Ampere": ("AZA100-001", "AZA100-010", "AZA100-014", "AZA100-018"),
    "Hopper": ("AZH200-001", "AZH200-012", "AZH200-016", "AZH200-018"),
    "Blackwell": ("B200x8-001", "B200x8-007", "B200x8-011", "B200x8-013"),
}
TREE_ROWS = ("NVT-001", "NVT-019", "NVT-037", "NVT-006", "NVT-024", "NVT-042")
# the smallest message of each log of queued calls, which do not pay the host for waiting
QUEUED_ROWS = {"Hopper": "H200x8q-001", "Blackwell": "B200x8q-001"}
RING_ROWS = ("SIMAI-003", "SIMAI-013", "SIMAI-028")
MOE_ROWS = ("DEP-003",)
FITTED = frozenset((*sum(LAUNCH_ROWS.values(), ()), *QUEUED_ROWS.values(), *TREE_ROWS, *RING_ROWS, *MOE_ROWS))


def calibrate(rows: Sequence[Row]) -> Constants:
    """Fit every constant to its rows among `rows`, by least squares on the relative error."""
    by_id = {row["id"]: row for row in rows}
    launch: dict[str, float] = {}
    root: dict[str, float] = {}
    for name, ids in LAUNCH_ROWS.items():
        setups, times = _measured(by_id, ids)
        sizes = np.array([s.size for s in setups])
        wire = np.array([models.scale_up_time(s)[0] for s in setups])
        launch[name], root[name] = _relative_fit([np.ones_like(sizes), np.sqrt(sizes)], times - wire, times)

    queued = {}
    for name, id in QUEUED_ROWS.items():
        (setup,), (time,) = _measured(by_id, (id,))
        queued[name] = float(time - root[name] * np.sqrt(setup.size) - models.scale_up_time(setup)[0])

    setups, times = _measured(by_id, TREE_ROWS)
    depth = np.log2([s.domains for s in setups])
    fixed = np.array([launch[models.chip_of(s).name] + models.tree_wire_time(s)[0] for s in setups])
    level, tree_root = _relative_fit([depth, np.array([models.fill(s) for s in setups])], times - fixed, times)

    setups, times = _measured(by_id, RING_ROWS)
    steps = np.array([2.0 * (s.ranks - 1) for s in setups])
    fixed = np.array([launch[models.chip_of(s).name] + models.ring_wire_time(s) for s in setups])
    (ring_step,) = _relative_fit([steps], times - fixed, times)

    moe = [float(by_id[i]["value"]) * 1e-6 - models.moe_wire_time(read_setup(by_id[i])) for i in MOE_ROWS]
    return Constants(launch, queued, root, level, tree_root, ring_step, float(np.mean(moe)))


@cache
def constants() -> Constants:
    """The constants fitted to this project's published rows."""
    return calibrate(published_rows())


def _measured(by_id: Mapping[str, Row], ids: Sequence[str]) -> tuple[list[Setup], Floats]:
    setups = [read_setup(by_id[i]) for i in ids]
    times = [
        float(time_at_busbw(s.size, float(by_id[i]["value"]) * 1e9, s.ranks, s.collective))
        for i, s in zip(ids, setups, strict=True)
    ]
    return setups, np.array(times)


def _relative_fit(columns: list[Floats], target: Floats, weight: Floats) -> tuple[float, ...]:
    """Coefficients x that make |columns x - target| / weight small; none may be negative, or the shape is wrong."""
    design = np.stack(columns, axis=1) / weight[:, None]
    scale = np.linalg.norm(design, axis=0)
    solution = np.linalg.lstsq(design / scale, target / weight, rcond=None)[0] / scale
    if (solution < 0).any():
        raise ValueError("rows ask for a negative constant: the model has the wrong shape for them")
    return tuple(float(x) for x in solution)
