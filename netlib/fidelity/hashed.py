"""Hashed traffic of a row: flows on links as statistics, or a permutation over a fat-tree (`ecmp_runs`)."""

import re
from collections.abc import Callable

from netlib import topology as t
from netlib.fidelity.ecmp_runs import Runs, permutation
from netlib.fidelity.prediction import Prediction, Unanswerable

MEAN = ("ECMP", "mean rate of a permutation")
SPREAD = ("ECMP", "spread over seeds")
EXTREME = ("ECMP", "worst flow and hottest link")
BINS = ("ECMP", "balls in bins, exact")

_BINS = r"(\d+)\s*(?:\w+\s+)?flows?\D+(\d+)\s*(?:[a-z-]+\s+)?(?:up)?(?:links?|paths?|ports?|spines?)"


def predict_hashed(text: str, metric: str) -> Prediction:
    """The value of a row about flows that choose their way by hash. Raises Unanswerable with the reason.

    >>> round(predict_hashed("ECMP 2 flows on 2 uplinks", "expected max load").value, 9)
    1.5
    """
    both = f"{text} {metric}"
    if other := re.search(r"spray\w*|adaptive|D-mod-k|flowlets?|valiant|static", both, re.IGNORECASE):
        raise Unanswerable(f"of hashed flows only plain ECMP is run in a report, no {other[0].lower()}")
    if bins := re.search(_BINS, both, re.IGNORECASE):
        return _balls(int(bins[1]), int(bins[2]), metric)
    tree = re.search(r"fat[- ]?tree", text, re.IGNORECASE) and re.search(r"\bk\s*=?\s*(\d+)\b", text)
    if not tree:
        raise Unanswerable("hashed flows need a fat-tree of some k, or so many flows on so many links")
    pairs = re.search(r"(\d+)\s*(?:QPs?|queue pairs?|paths?)\b", both, re.IGNORECASE)
    qps = int(pairs[1]) if pairs else 1
    if not 0 < qps <= 1024:
        raise Unanswerable(f"{qps} queue pairs a flow are not simulated; give 1 to 1,024")
    asked = re.sub(r"max-min(?: fair)?|per-flow", "", metric, flags=re.IGNORECASE)
    for pattern, group, pick in _RUNS:
        if re.search(pattern, asked, re.IGNORECASE):
            runs = permutation(int(tree[1]), qps)
            return Prediction(pick(runs), "", f"random permutations, {runs.seeds} seeds, hashed five-tuples", group)
    raise Unanswerable(f"no model answers {metric[:40]!r} of hashed flows")


_RUNS: tuple[tuple[str, tuple[str, str], Callable[[Runs], float]], ...] = (
    (r"std|standard deviation|spread", SPREAD, lambda runs: runs.spread),
    (r"worst|slowest|min(?:imum)?\b", EXTREME, lambda runs: runs.worst),
    (r"(?:max|most|hottest).*(?:flows|load)|flows.*(?:max|hottest)", EXTREME, lambda runs: runs.most),
    (r"equal|goodput", MEAN, lambda runs: runs.equal),
    (r"sum|mean|average|rate|throughput", MEAN, lambda runs: runs.total),
)


def _balls(flows: int, links: int, metric: str) -> Prediction:
    """Statistics of independent hashes. Shares are the default; words such as number ask for links."""
    scale = links if re.search(r"\b(?:number|count|how many)\b", metric, re.IGNORECASE) else 1
    answers: tuple[tuple[str, Callable[[int, int], float]], ...] = (
        (r"collision|collide", _unknown),
        (r"idle|unused|empty", lambda m, n: scale * (1 - float(t.links_used(m, n)))),
        (r"used|busy", lambda m, n: scale * float(t.links_used(m, n))),
        (r"speed|throughput|goodput|efficiency", lambda m, n: float(t.ecmp_speed(m, n))),
        (r"(?:over|/|to)\s*(?:the )?(?:mean|average)|imbalance", lambda m, n: float(t.expected_max_load(m, n)) * n / m),
        (r"max|hottest|fullest|busiest", lambda m, n: float(t.expected_max_load(m, n))),
        (r"(?:mean|average) (?:load|flows)", lambda m, n: m / n),
    )
    for pattern, answer in answers:
        if re.search(pattern, metric, re.IGNORECASE):
            try:
                return Prediction(answer(flows, links), "", "exact over all outcomes of the hash", BINS)
            except ZeroDivisionError as error:
                raise Unanswerable(str(error)) from None
    raise Unanswerable(f"no model answers {metric[:40]!r} of hashed flows")


def _unknown(flows: int, links: int) -> float:
    raise Unanswerable("no model gives the chance of a collision")
