"""Bytes of experts: what a dispatch or combine carries, counted on the schedule that the book executes.

DeepEP's low-latency kernels send a token once for each chosen expert: with FP8 one byte a number, a scale of four bytes
for each 128 and 16 bytes of header; with BF16 two bytes a number. A row states tokens, hidden size and top-k in words.
Source: deepseek-ai/DeepEP@dd758ca, tests/test_low_latency.py and docs/legacy.md.
"""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np

from netlib import collectives as c
from netlib.fidelity.prediction import Prediction, Unanswerable

BYTES = ("experts", "bytes of a rank")
RATE = ("experts", "those bytes over the printed time")
FEWEST_EXPERTS = 256
MOST_RANKS = 512
MOST_CHOICES = 4_000_000


def counted(row: Mapping[str, str]) -> Prediction:
    """Bytes of one rank (metric "bytes"), or those over the time that the row states in us (metric "rate").

    >>> text = "128 tok, hidden 7168, top-8, 77 us"
    >>> row = {"system": text, "collective": "moe_dispatch(FP8)", "ranks": "8", "metric": "bytes"}
    >>> counted(row).value, round(counted(row | {"metric": "rate"}).value, 1)
    (7585792.0, 98.5)
    """
    text, collective = row.get("system") or "", row.get("collective") or ""
    tokens, hidden = (_said(text, pattern) for pattern in (r"\b(\d+) tok", r"\bhidden (\d+)\b"))
    top_k, ranks = _said(text, r"\btop-(\d+)\b"), _said(row.get("ranks") or "", r"^(\d+)(?:\.0)?$")
    if "FP8" not in collective and "BF16" not in collective:
        raise Unanswerable(f"{collective[:30]!r} does not say FP8 or BF16")
    if not 0 < top_k <= FEWEST_EXPERTS or not 0 < ranks <= MOST_RANKS or not 0 < ranks * tokens * top_k < MOST_CHOICES:
        raise Unanswerable("tokens, top-k or ranks are none or too many to count")
    each = hidden + 4 * hidden // 128 + 16 if "FP8" in collective else 2 * hidden
    size = float(each * copies(tokens, top_k, ranks, "combine" in collective))
    if (row.get("metric") or "").strip() == "bytes":
        return Prediction(size, "B", "a copy for each expert, counted on the schedule", BYTES)
    time = re.search(r"\b(\d{1,6}(?:\.\d{1,6})?) us\b", text)
    if not time or not float(time[1]):
        raise Unanswerable("the time is not stated")
    return Prediction(size / float(time[1]) / 1e3, "GB/s", "counted bytes over the printed time", RATE)


@cache
def copies(tokens: int, top_k: int, ranks: int, back: bool) -> int:
    """Messages of a rank on the schedule: those that leave it and those that stay; the same for every rank.

    >>> copies(4, 2, 8, False)
    8
    """
    routing = _routing(tokens, top_k, ranks)
    made = c.moe_combine(routing, "expert") if back else c.moe_dispatch(routing, "expert")
    home, away = (made.target, made.source) if back else (made.source, made.target)
    out = np.concatenate([step.dst if back else step.src for step in made.phases] or [np.zeros(0, int)])
    found = np.bincount(out, minlength=ranks) + np.bincount(home[home == away], minlength=ranks)
    if (found != found[0]).any():  # cannot be: each token has top_k copies
        raise Unanswerable("ranks carry different counts")
    return int(found[0])


@cache
def _routing(tokens: int, top_k: int, ranks: int) -> c.Routing:
    g = min(ranks, 8)
    if ranks % g:
        raise Unanswerable(f"ranks {ranks} are no whole nodes of {g}")
    total = -(-FEWEST_EXPERTS // ranks) * ranks
    return c.routed(np.random.default_rng(0), tokens, total, top_k, g, ranks // g)


def _said(text: str, pattern: str) -> int:
    found = re.search(pattern, text)
    if not found or len(found[1]) > 9:
        raise Unanswerable("tokens, hidden size, top-k and ranks are not all stated")
    return int(found[1])
