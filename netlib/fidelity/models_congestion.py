"""The model's value for a row about congestion: pauses, headroom, thresholds, credits and losses by arithmetic.

Rows of theory go to `models_fluid`, recorded runs of simulators to `peers`. A row is told by its column `scenario`;
its parameters are read by `params`.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from math import isfinite

from netlib import congestion as c
from netlib.congestion.credits import BLOCK, MOST_CREDITS
from netlib.congestion.pauses import QUANTUM
from netlib.fidelity.congestion_runs import Runs, run_or_recorded
from netlib.fidelity.models_fluid import THEORY, Answer, dcqcn_of, marking_of
from netlib.fidelity.params import Asked, read_params
from netlib.fidelity.peers import LAWS, Case
from netlib.fidelity.prediction import Prediction, Unanswerable
from netlib.fidelity.rest_runs import rests

ARITHMETIC = ("arithmetic of queues", "pauses, headroom, credits, losses")
TABLES = ("arithmetic of queues", "tables that the library holds")
AIMS_AT_NONE = ("standing queue", "of laws that aim at none")
FLUID, PACKETS = ("engines", "equations with delay"), ("engines", "packets")
PERMUTED, SPRAYED = ("permutation", "one path each"), ("permutation", "sprayed")
EVERYBODY = ("all-to-all", "mean and last finish")
T_FLIGHT = 22.4e3  # bytes: headroom of a port and class in the DCQCN paper, for rows that state none
BDP = 177.1e3  # bytes: 100 Gb/s and 14.17 us; queues of laws that aim at none are compared as shares of it


def predict_congestion(row: Mapping[str, str]) -> Prediction:
    """The value for a row whose scenario is about congestion. Raises Unanswerable with the reason.

    >>> row = {"scenario": "pause", "params": "C=400 Gb/s", "metric": "longest pause"}
    >>> round(predict_congestion(row).value * 1e6, 2)
    83.88
    """
    asked = read_params(row)
    try:
        if re.search(r"\bns-?3|htsim", asked.scenario):
            return _peer(asked)
        for scenario, metric, answer in (*_ANSWERS, *THEORY):
            if re.search(scenario, asked.scenario) and re.search(metric, asked.metric):
                return _finite(answer(asked))
    except Unanswerable:
        raise
    except (ValueError, OverflowError, ZeroDivisionError) as error:
        raise Unanswerable(str(error).split("\n")[0]) from None
    raise Unanswerable("no model of congestion answers this question in these words")


def _finite(found: Prediction) -> Prediction:
    """The prediction, refused where a model answers with no number: never full, later than turns can be counted."""
    if not isfinite(found.value):
        raise Unanswerable(f"the model's answer is {found.value:g}, which is no number to compare")
    return found


def _exactly(value: float, unit: str, note: str) -> Prediction:
    return Prediction(float(value), unit, note, ARITHMETIC)


def _longest_pause(asked: Asked) -> Prediction:
    quanta = asked.get("quanta", 65535.0)
    return _exactly(float(c.pause_time(asked.number("rate"), quanta)), "s", "quanta of 512 bit times")


def _response(asked: Asked) -> Prediction:
    quanta = c.response_quanta(round(asked.number("rate") * 8e-9))
    if "byte" in asked.metric:
        return Prediction(float(quanta * QUANTUM), "B", "IEEE 802.3, as SONiC has it", TABLES)
    return Prediction(float(quanta), "", "IEEE 802.3, as SONiC has it", TABLES)


def _formula(asked: Asked) -> Prediction:
    size = c.dynamic_headroom(
        round(asked.number("rate") * 8e-9), asked.number("length"), asked.get("cell", 144.0),
        asked.get("small", 1.0), asked.get("mtu", 9100.0), asked.get("lossless_mtu", 1024.0),
    )  # fmt: skip
    return _exactly(float(size), "B", "SONiC's formula")


def _shipped(asked: Asked) -> Prediction:
    chip = re.search(r"spectrum-?\s?(\d)", asked.text, re.IGNORECASE)
    version = re.search(r"\b(1\.0\.\d)\b", asked.text)
    which = (f"spectrum-{chip[1]}" if chip else "", version[1] if version else "1.0.3")
    at = (round(asked.number("rate") * 8e-9), asked.number("length"))
    table = next((each for each in c.headroom.TABLES if (each.asic, each.version) == which), None)
    if table is None or at not in table.size:
        raise Unanswerable("no such line in SONiC's tables of Spectrum-1 and -2")
    return Prediction(float(table.size[at[0], int(at[1])]), "B", "SONiC's shipped table", TABLES)


def _threshold(asked: Asked) -> Prediction:
    """The buffer of the DCQCN paper: B bytes, n ports, 8 classes, the headroom of one."""
    given = (asked.number("size"), asked.number("ports"), asked.get("classes", 8.0), asked.get("t_flight", T_FLIGHT))
    if "pfc" in asked.metric or "pause" in asked.metric:
        return _exactly(float(c.static_pause_threshold(*given)), "B", "what is left, shared equally")
    if "static" in asked.metric or "beta" not in asked.numbers:
        return _exactly(float(c.static_mark_bound(*given)), "B", "the same over all ports")
    return _exactly(float(c.dynamic_mark_bound(*given, asked.number("beta"))), "B", "threshold beta x free")


def _drain(asked: Asked) -> Prediction:
    if "needed" in asked.metric:
        return _exactly(float(c.buffer_needed(asked.number("time"), asked.number("rate"))), "B", "rate x time")
    return _exactly(float(c.buffer_time(asked.number("size"), asked.number("rate"))), "s", "bytes over rate")


def _fill(asked: Asked) -> Prediction:
    found = c.incast_fill_time(asked.number("size"), asked.number("flows"), asked.number("rate"))
    return _exactly(float(found), "s", "(N - 1) C")


def _credits(asked: Asked) -> Prediction:
    held = MOST_CREDITS * BLOCK
    if re.search(r"outstanding|in flight|most", asked.metric):
        return _exactly(float(held), "B", "half of twelve bits of blocks")
    if re.search(r"reach|cable|length", asked.metric):
        return _exactly(float(c.credit_reach(asked.number("rate"))), "m", "credits over rate")
    return _exactly(held / asked.number("rate"), "s", "credits over rate")


def _repeated(asked: Asked) -> Prediction:
    loss = asked.number("loss")
    if "selective" in f"{asked.scenario} {asked.metric}":
        return _exactly(float(c.selective_repeat_goodput(loss)), "", "1 - p")
    return _exactly(float(c.go_back_n_goodput(loss, asked.number("window"))), "", "(1-p)/(1-p+pW)")


def _engine(asked: Asked) -> Prediction:
    """Where an engine saw the queue of DCQCN stand: a few flows, delays and ramps; unsettled runs do not count."""
    engine, group = ("fluid", FLUID) if re.search("equations|fluid", asked.scenario) else ("packets", PACKETS)
    marking = replace(marking_of(asked), when="departure")
    wanted = (asked.number("flows"), asked.number("delay"), asked.number("rate"), dcqcn_of(asked), marking)
    for (name, case), seen in rests().items():
        held = (case.flows, case.delay, case.capacity, case.control, case.marking)
        if seen.settled and (engine, *wanted) == (name, *held):
            return Prediction(seen.mean, "B", "last half of a recorded run", group)
    raise Unanswerable("no settled run of this engine with these flows, this delay and this ramp is recorded")


def _dctcp(asked: Asked) -> Prediction:
    return _exactly(float(c.dctcp_threshold(asked.number("rate"), asked.number("rtt"))), "B", "C RTT / 7")


_ANSWERS: tuple[Answer, ...] = (
    (r"pfc response|pause response|response", r"quanta|byte|response", _response),
    (r"pause", r"longest|maximum|quanta|duration|time", _longest_pause),
    (r"headroom.*(?:formula|dynamic)|dynamic formula", r"xoff|headroom|size", _formula),
    (r"table|shipped|static", r"size|headroom|xoff", _shipped),
    (r"dcqcn buffer|mark(?:s|ing) before pause|thresholds?", r"t_pfc|t_ecn|mark|pause", _threshold),
    (r"incast.*fill|fill", r"time|full", _fill),
    (r"buffer drain|buffer time|buffer", r"drain|time|needed", _drain),
    (r"credit", r"outstanding|in flight|most|reach|cable|length|round trip", _credits),
    (r"go-?back|selective|loss", r"goodput|share|throughput", _repeated),
    (r"dctcp", r"threshold|bound|\bk\b", _dctcp),
    (r"dcqcn.*(?:equations|fluid dde|packets|discrete)", r"mean queue|queue mean", _engine),
)

# ---------------------------------------------------------------- recorded runs of simulators

_WORDS: tuple[tuple[str, str], ...] = (
    (r"\b(?:theta|θ)-?powertcp", "theta-PowerTCP"), (r"powertcp", "PowerTCP"), (r"hpcc", "HPCC"),
    (r"timely", "TIMELY"), (r"dctcp", "DCTCP"), (r"dcqcn\s*(?:\+|,|with)\s*win", "DCQCN, window"),
    (r"dcqcn", "DCQCN"), (r"nscc.*one path", "NSCC, one path"), (r"nscc", "NSCC"), (r"rccc", "RCCC"),
    (r"(?:pauses|pfc)[ -]?(?:only)?.*adaptive", "pauses, adaptive"),
    (r"(?:pauses|pfc)[ -]?(?:only)?.*(?:in turn|round robin)", "pauses, in turn"), (r"pauses|pfc", "pauses"),
)  # fmt: skip
_METRICS = (("mean|average", "mean"), ("last|max", "last"), ("first|min", "first"), ("peak", "peak"),
            ("steady|standing", "steady"))  # fmt: skip


def case_of(asked: Asked) -> Case:
    """The run that a row of a simulator is about."""
    peer = "htsim" if "htsim" in asked.scenario else "ns-3"
    law = next((law for words, law in _WORDS if asked.says(words)), "")
    named = (("incast", "incast"), ("perm", "permutation"), ("all-to-all|a2a", "all-to-all"))
    scenario = next((name for words, name in named if asked.says(words)), "")
    many = re.search(r"\b(\d{1,6}):1\b|\b(?:perm|permutation|a2a|all-to-all) ?(\d{1,6})\b", asked.text)
    hosts = float(many[1] or many[2]) if many else asked.get("hosts", asked.get("flows", 0.0))
    ramp = re.search(r"(\d+)\s?/\s?(\d+)\s?KB", asked.text)
    if not (law and scenario and hosts):
        raise Unanswerable("the control, the scenario or the number of hosts is not stated")
    held = LAWS.get((peer, law))
    if held is None:
        raise Unanswerable(f"{law} is not set up as in {peer}")
    marked = held.marks and peer == "ns-3"
    if marked and not ramp:
        raise Unanswerable("the thresholds of the marks are not stated")
    low, high = (float(ramp[1]) * 1e3, float(ramp[2]) * 1e3) if ramp and marked else (0.0, 0.0)
    spread = scenario == "incast" and (not held.marks or asked.says("starts? spread"))
    return Case(peer, law, scenario, int(hosts), asked.number("size"), low, high, spread)


def _peer(asked: Asked) -> Prediction:
    what = next((name for words, name in _METRICS if re.search(words, asked.metric)), None)
    if what is None:
        raise Unanswerable("a run has first, mean and last finish, a peak queue and a standing queue")
    case = case_of(asked)
    seen = run_or_recorded(case)
    unit = "B" if what in ("peak", "steady") else "s"
    runs = f"mean of {seen.seeds} runs" if seen.seeds > 1 else "one run"
    return Prediction(_of(seen, what), unit, f"{described(case, what)}; {runs}", _group(case, what))


def described(case: Case, what: str) -> str:
    """What was run and what of it is compared (`what` as in `Runs`), in words.

    >>> described(Case("htsim", "pauses", "permutation", 128, 2e6), "last")
    'htsim, permutation, 128 hosts, pauses only, one path, last finish'
    >>> described(Case("ns-3", "DCQCN", "incast", 8, 2e6, 100e3, 400e3), "peak")
    'ns-3, incast, 8:1, DCQCN, 100/400 KB, peak queue'
    """
    incast = case.scenario == "incast"
    parts = [case.peer, case.scenario, f"{case.hosts}:1" if incast else f"{case.hosts} hosts"]
    parts.append(re.sub("^pauses", "pauses only", case.law))
    if case.k_max:
        parts.append(f"{case.k_min / 1e3:g}/{case.k_max / 1e3:g} KB")
    many = case.scenario == "permutation" or (case.scenario, case.peer) == ("all-to-all", "htsim")  # on a fat tree
    if many and LAWS[case.peer, case.law].spread is None and "one path" not in case.law:
        parts.append("one path")
    if case.spread and LAWS[case.peer, case.law].marks:
        parts.append("starts spread")
    named = {"peak": "peak queue", "steady": "standing queue"}
    return ", ".join([*parts, named.get(what, f"{what} finish")])


def _of(seen: Runs, what: str) -> float:
    return float(getattr(seen, what))


def _group(case: Case, what: str) -> tuple[str, str]:
    if what == "steady" and case.law in ("HPCC", "PowerTCP", "RCCC"):
        return AIMS_AT_NONE
    if what in ("peak", "steady"):
        return ("standing queue", "of the others") if what == "steady" else ("peak queue", "of an incast")
    if case.scenario == "permutation":
        return SPRAYED if LAWS[case.peer, case.law].spread else PERMUTED
    if case.scenario == "all-to-all":
        return EVERYBODY
    return (f"{case.peer}, incast", "last finish" if what == "last" else f"{what} finish")


PEERS = {
    ("ns-3, incast", "first finish"): 0.10,
    ("ns-3, incast", "mean finish"): 0.10,
    ("ns-3, incast", "last finish"): 0.10,
    ("htsim, incast", "first finish"): 0.10,
    ("htsim, incast", "mean finish"): 0.10,
    ("htsim, incast", "last finish"): 0.01,
    ("peak queue", "of an incast"): 0.15,
    ("standing queue", "of the others"): 0.15,
    AIMS_AT_NONE: 0.028,  # 5 kB of a BDP
    PERMUTED: 0.10,
    SPRAYED: 0.10,
    EVERYBODY: 0.10,
    FLUID: 0.01,
    PACKETS: 0.12,  # programs of packets differ in what they mark and draw; fixed points are 14 % off and more
}
"""Largest |error| that counts as a hit, by group of runs."""
