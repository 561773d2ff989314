"""A table of the chapter "Congestion control": two kinds of card in one incast, and who gets the link."""

import numpy as np

from netlib.congestion.experiments import experiment

_PAIRS = (
    ("paper", "paper"),
    ("paper", "ns3-datacenter"),
    ("ns3-datacenter", "paper"),
    ("connectx-timer", "paper"),
    ("ns3", "ns3-datacenter"),
)
_SIZE, _HOSTS = 2e6, 8


def mixed_share(first: str, second: str) -> tuple[float, float, float]:
    """Share of the link that the second preset's half has until somebody is done; last finish of each half in s.

    Eight senders of 2 MB, 100 Gb/s, every other one with a card of the second kind. The gap between CNPs is the
    receiver's, which is of the first kind.

    >>> share, early, late = mixed_share("paper", "paper")
    >>> 0.45 < share < 0.55, abs(early / late - 1) < 0.02
    (True, True)
    """
    seen = experiment("incast", "dcqcn", first, beside=("dcqcn", second), hosts=_HOSTS, size=_SIZE, dt=1e-6).run
    done = seen.finish
    rates = seen.rate[seen.time < np.nanmin(done)].mean(axis=0)
    return float(rates[1::2].sum() / rates.sum()), float(done[::2].max()), float(done[1::2].max())


def mixed() -> str:
    """DCQCN presets in pairs, as Markdown.

    >>> mixed().splitlines()[0]
    '| four cards with | beside four with | share of the latter | first four done | others done |'
    """
    lines = ["| four cards with | beside four with | share of the latter | first four done | others done |"]
    lines.append("|---|---|--:|--:|--:|")
    for first, second in _PAIRS:
        share, early, late = mixed_share(first, second)
        lines.append(f"| `{first}` | `{second}` | {share:.0%} | {early * 1e3:.1f} ms | {late * 1e3:.1f} ms |")
    return "\n".join(lines)
