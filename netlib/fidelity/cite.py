"""Published and modelled values by row id, for prose and figures: nothing measured is typed into a page."""

import numpy as np

from netlib.arguments import Floats
from netlib.collectives import busbw_factor, time_at_busbw
from netlib.fidelity.calibration import FITTED
from netlib.fidelity.congestion_runs import Runs, runs_of
from netlib.fidelity.ecmp_runs import permutation as permutation  # a page may call it
from netlib.fidelity.peers import HTSIM_RTT, LAWS, NS3_RTT, RATE, Case
from netlib.fidelity.rest_runs import rest_gap as rest_gap  # a page may call it
from netlib.fidelity.rows import published_rows
from netlib.fidelity.score import Judged, about, judge, judged_rows
from netlib.fidelity.setup import Setup, read_setup
from netlib.links import Fit, fit_alpha_beta
from netlib.units import parse


def published(id: str) -> float:
    """A published value in SI units.

    >>> published("H200x8-020")
    482260000000.0
    """
    row = _row(id)
    return float(row["value"]) * parse(f"1 {row['unit']}").value


def measured_time(id: str) -> float:
    """Seconds behind a published busbw.

    >>> round(measured_time("B200x32-020"), 4)
    0.0872
    """
    setup = read_setup(_row(id))
    return float(time_at_busbw(setup.size, published(id), setup.ranks, setup.collective))


def log(prefix: str, least: float = 0.0) -> tuple[Setup, Floats, Floats]:
    """One published table: its set-up, and `size` (bytes) and time (s) of its rows from `least` bytes up.

    >>> setup, size, time = log("B200x32")
    >>> len(size), setup.ranks
    (20, 32)
    """
    rows = [row for row in published_rows() if row["id"].startswith(f"{prefix}-")]
    if not rows:
        raise ValueError(f"prefix = {prefix!r} names no published table; use for example B200x32")
    setups = [read_setup(row) for row in rows]
    keep = [(s.size, measured_time(row["id"])) for s, row in zip(setups, rows, strict=True) if s.size >= least]
    size, time = np.array(sorted(keep)).T
    return setups[0], size, time


def log_fit(prefix: str, *, root: bool = False, least: float = 2**20) -> Fit:
    """The alpha-beta fit of one published table from `least` bytes up; its `bandwidth` is a busbw.

    >>> fit = log_fit("B200x32")
    >>> round(fit.bandwidth / 1e9)
    367
    """
    setup, size, time = log(prefix, least)
    return fit_alpha_beta(size, time, volume=busbw_factor(setup.ranks, "all_reduce") * size, root=root)


def judged(id: str) -> Judged:
    """One published row beside the model."""
    return judge([_row(id)])[0]


def engine_run(law: str, hosts: int, k_max: float = 0.0, *, peer: str = "ns-3", scenario: str = "incast",
               size: float = 2e6, spread: bool | None = None) -> Runs:  # fmt: skip
    """What the packet engine gave in a simulator's set-up, over its recorded seeds; marks from `k_max` / 4 to `k_max`.

    Starts are spread as `netlib.fidelity.peers` says, unless `spread` is given.

    >>> round(engine_run("DCQCN", 8, 400e3).mean * 1e3, 1)  # ms; 4.1 in ns-3
    4.1
    """
    late = scenario == "incast" and not LAWS[peer, law].marks if spread is None else spread
    found = runs_of(Case(peer, law, scenario, hosts, size, k_max / 4, k_max, late))
    if found is None:
        raise ValueError(
            f"law = {law!r} with {hosts} hosts and k_max = {k_max:g} has no recorded run; see congestion_runs"
        )
    return found


def last_excess(law: str, hosts: int, k_max: float = 0.0, *, peer: str = "ns-3") -> float:
    """How much later an incast of 2 MB a sender ends than the last link needs for its bytes, headers and all, after
    one round trip: a share of that time. Packets are the law's own: with telemetry they are longer.

    >>> last_excess("RCCC", 8, peer="htsim") < 0.01 < last_excess("HPCC", 8) < 0.1
    True
    """
    packet = LAWS[peer, law].packet
    least = hosts * np.ceil(2e6 / packet.payload) * packet.wire / RATE
    trip = NS3_RTT if peer == "ns-3" else HTSIM_RTT
    return float((engine_run(law, hosts, k_max, peer=peer).last - trip) / least - 1)


def fitted_rows() -> int:
    """How many rows chose a constant."""
    return len(FITTED)


def scored_rows(what: str = "collectives") -> int:
    """How many rows the models were scored on: about "collectives", "fabrics", "congestion" or "choices" (of
    an algorithm)."""
    return len(_scored(what))


def hit_rows(what: str = "collectives") -> int:
    """How many of them were hit."""
    return sum(bool(row.ok) for row in _scored(what))


def group_rows(group: str, how: str | None = None) -> int:
    """How many scored rows one group of the table has, of those that were computed as the column `how` says if given.

    Raises ValueError if there is none.

    >>> group_rows("topology: bisection")
    8
    """
    found = sum(row.group == group and how in (None, row.note) for row in judged_rows() if row.ok is not None)
    if not found:
        raise ValueError(f"group = {group[:60]!r}, how = {how!r} has no scored row; `netlib fidelity` lists the groups")
    return found


def _scored(what: str) -> list[Judged]:
    if what not in ("collectives", "fabrics", "choices", "congestion"):
        raise ValueError(
            f"what = {what[:20]!r} is no part of the table; use collectives, fabrics, congestion or choices"
        )
    return [row for row in judged_rows() if row.ok is not None and about(row.group) == what]


def _row(id: str) -> dict[str, str]:
    for row in published_rows():
        if row["id"] == id:
            return dict(row)
    raise ValueError(f"id = {id!r} is no published row; `netlib fidelity --json` lists them")
