"""A table of the chapter "Congestion control": cards of one kind and of two in one incast, and who gets the link.

One run is one draw of marks, and some cards depend on it. So each pair is run with several seeds and shown with its
spread, and the kinds stand there unmixed too. The runs are kept: `python -m netlib.fidelity.mixed_cards` writes them
anew, in a minute.
Read with the chapter "Congestion control", section "Fallacies and pitfalls".
"""

import csv
import io
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np

from netlib.congestion.experiments import experiment

TABLE = Path(__file__).with_name("mixed_cards.csv")
KINDS = ("paper", "ns3-datacenter", "connectx-timer", "ns3")
PAIRS = (
    *((kind, kind) for kind in KINDS),
    ("paper", "ns3-datacenter"),
    ("ns3-datacenter", "paper"),
    ("connectx-timer", "paper"),
    ("ns3", "ns3-datacenter"),
)
SEEDS = 5
_SIZE, _HOSTS = 2e6, 8
_HEAD = ("first", "second", "seed", "share", "early", "late", "busy")


def mixed_run(first: str, second: str, seed: int = 0) -> tuple[float, float, float, float]:
    """Share, last finish of either half in s, and how busy the link is, in one run.

    Eight senders of 2 MB, 100 Gb/s, every other one with a card of the second kind. The gap between CNPs is the
    receiver's, which is of the first kind. The share is the link's that the second half has until the first flow of
    all is done; busy is the time that all bytes need over the time until the last flow is done.

    >>> share, early, late, busy = mixed_run("ns3", "ns3")
    >>> 0.4 < share < 0.6, abs(early / late - 1) < 0.05, 0.6 < busy < 0.7
    (True, True, True)
    """
    made = experiment("incast", "dcqcn", first, beside=("dcqcn", second), hosts=_HOSTS, size=_SIZE, dt=1e-6, seed=seed)
    seen, done = made.run, made.run.finish
    rates = seen.rate[seen.time < np.nanmin(done)].mean(axis=0)
    share = rates[1::2].sum() / rates.sum()
    return float(share), float(done[::2].max()), float(done[1::2].max()), float(made.ideal.max() / done.max())


def write_mixed(path: Path = TABLE, pairs: tuple[tuple[str, str], ...] = PAIRS, seeds: int = SEEDS) -> None:
    """Run all pairs with all seeds, and write what was seen."""
    rows = [
        (first, second, str(seed), *(f"{value:.6g}" for value in mixed_run(first, second, seed)))
        for first, second in pairs
        for seed in range(seeds)
    ]
    with path.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows([_HEAD, *rows])


@cache
def mixed_runs() -> dict[tuple[str, str], np.ndarray]:
    """What the table holds: by pair, an array (seeds, 4) of what `mixed_run` gives.

    >>> mixed_runs()["paper", "paper"].shape
    (5, 4)
    """
    text = (files("netlib.fidelity") / TABLE.name).read_text(encoding="utf-8")
    found: dict[tuple[str, str], list[list[float]]] = {}
    for row in csv.DictReader(io.StringIO(text)):
        found.setdefault((row["first"], row["second"]), []).append([float(row[name]) for name in _HEAD[3:]])
    return {pair: np.array(rows) for pair, rows in found.items()}


def mixed() -> str:
    """DCQCN presets alone and in pairs, as Markdown: means over the seeds, and one standard deviation.

    >>> mixed().splitlines()[0]
    '| four cards with | and four with | share of the latter | first four done | others done | link busy |'
    """
    lines = ["| four cards with | and four with | share of the latter | first four done | others done | link busy |"]
    lines.append("|---|---|--:|--:|--:|--:|")
    for first, second in PAIRS:
        seen = mixed_runs()[first, second]
        (share, early, late, busy), (wide, *spread, _) = seen.mean(axis=0), seen.std(axis=0)
        ends = (f"{at * 1e3:.1f} ± {by * 1e3:.1f} ms" for at, by in zip((early, late), spread, strict=True))
        named = "the same" if first == second else f"`{second}`"
        lines.append(f"| `{first}` | {named} | {share:.0%} ± {wide:.0%} | {' | '.join(ends)} | {busy:.0%} |")
    return "\n".join(lines)


if __name__ == "__main__":
    write_mixed()
