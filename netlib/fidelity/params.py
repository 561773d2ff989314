"""The set-up of a row about congestion: a scenario in words, and parameters as `name=value; name=value`.

A value carries its unit ("C=40 Gb/s"); a name has one spelling for each thing that papers write in many. What is not
written is not guessed here: a model that takes the paper's value for it says so.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from netlib.fidelity.prediction import Unanswerable
from netlib.units import parse

_PAIR = re.compile(r"([A-Za-z][\w'*^]*)\s*=\s*([-+]?[\d.]+(?:e[-+]?\d+)?(?:/\d+)?)\s*([A-Za-zµ%][\w/%]*)?(?!\s*=)")
_SLOPE = re.compile(r"slope\s+([\d.]+\s*%)\s*/\s*([\d.]+\s*[KM]?B)")
_RATE = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*(?:Gb/s|Gbps|Gbit/s|GbE|G)(?![\w/])")
_SIZE = re.compile(r"(?<![\w.,/=])(\d+(?:\.\d+)?|\d{1,3}(?:,\d{3})+)\s*(MB|KB|B)(?![\w/])")
_LENGTH = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)\s*m(?![\w/])")
_ALIKE = {
    "kmin": "k_min", "kmax": "k_max", "pmax": "p_max", "rai": "additive", "taustar": "delay", "tauprime": "alpha_timer",
    "tau'": "alpha_timer", "tau*": "delay", "tau": "cnp_interval", "pkt": "packet", "prop": "delay", "seg": "segment",
    "tlow": "t_low", "thigh": "t_high", "minrtt": "min_rtt", "rtt": "rtt",
}  # fmt: skip
_EXACT = {"C": "rate", "N": "flows", "n": "ports", "B": "size", "T": "increase_timer", "F": "fast_recovery",
          "W": "window", "p": "loss", "L": "length", "K": "threshold"}  # fmt: skip
MOST = 1e15  # no number of a set-up is larger, in SI


@dataclass(frozen=True)
class Asked:
    """What a row asks: its scenario and metric in lower case and without brackets, all its words, and numbers in SI."""

    scenario: str
    metric: str
    text: str
    numbers: Mapping[str, float]

    def number(self, name: str) -> float:
        """A number that must be there, above 0 or 0. Raises Unanswerable with its name.

        >>> read_params({"scenario": "pause", "params": "C=40 Gb/s", "metric": "longest"}).number("rate")
        5000000000.0
        """
        if name not in self.numbers:
            raise Unanswerable(f"{name.replace('_', ' ')} is not stated")
        return self.numbers[name]

    def get(self, name: str, otherwise: float) -> float:
        """A number, or `otherwise` where none is stated.

        >>> read_params({"scenario": "x", "metric": "y"}).get("flows", 2.0)
        2.0
        """
        return self.numbers.get(name, otherwise)

    def says(self, words: str) -> bool:
        """Whether scenario, parameters or metric match the pattern `words`.

        >>> read_params({"scenario": "Swift", "metric": "mean queue"}).says("queue|delay")
        True
        """
        return re.search(words, self.text, re.IGNORECASE) is not None


def read_params(row: Mapping[str, str]) -> Asked:
    """Read the columns scenario, params and metric. Raises Unanswerable for a number that cannot be meant.

    >>> asked = read_params({"scenario": "DCQCN", "params": "C=40Gb/s; N=8; R_AI=40 Mb/s; tau_star=50us"})
    >>> {name: round(value, 9) for name, value in asked.numbers.items()}
    {'rate': 5000000000.0, 'flows': 8.0, 'additive': 5000000.0, 'delay': 5e-05}
    """
    scenario, params, metric = ((row.get(name) or "").strip() for name in ("scenario", "params", "metric"))
    if metric.lower() == "value":  # what is asked for then stands among the parameters
        metric = params
    numbers: dict[str, float] = {}
    for name, value, unit in _PAIR.findall(f"{metric}; {params}"):
        key = _EXACT.get(name) or _ALIKE.get(name.lower().replace("_", "")) or name.lower()
        numbers[key] = _si(value, unit)
    if ramp := _SLOPE.search(params):
        numbers["p_max"] = _si(*_parted(ramp[1]))
        numbers["ramp"] = _si(*_parted(ramp[2]))
    for key, pattern, unit in (("rate", _RATE, "Gb/s"), ("length", _LENGTH, "m")):
        if key not in numbers and (found := pattern.search(params) or pattern.search(scenario)):
            numbers[key] = _si(found[1], unit)
    if "size" not in numbers and (found := _SIZE.search(params.replace("x", " "))):
        numbers["size"] = _si(found[1].replace(",", ""), found[2])
    about, asks = (re.sub(r"\([^)]*\)", " ", each).lower() for each in (scenario, metric))
    return Asked(about, asks, f"{scenario} {params} {metric}", numbers)


def _parted(text: str) -> tuple[str, str]:
    """A number and its unit."""
    found = re.match(r"([\d.]+)\s*(.*)", text)
    return (found[1], found[2]) if found else (text, "")


def _si(value: str, unit: str) -> float:
    try:
        if "/" in value:
            above, below = map(float, value.split("/"))
            number = above / below
        else:
            number = parse(f"{float(value):.15g} {unit}" if _known(unit) else f"{float(value):.15g}").value
    except (ValueError, ZeroDivisionError):
        raise Unanswerable(f"{value[:20]} {unit[:10]} is no number with a unit") from None
    if not 0 <= number <= MOST:
        raise Unanswerable(f"{value[:20]} {unit[:10]} is no number of a set-up")
    return float(f"{number:.12g}")  # 55 us are 5.5e-05 s


def _known(unit: str) -> bool:
    """Whether a word after a number is its unit; others ("N=8 flows") only name what is counted."""
    try:
        parse(f"1 {unit}")
    except ValueError:
        return False
    return True
