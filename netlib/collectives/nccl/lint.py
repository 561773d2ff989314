"""Lint: what each line of a pasted NCCL configuration does, with the reason and the source.

Most such lines are copied from another cluster and another year. The lint compares with the default of the version in
use, and where a variable takes choices away from NCCL it asks the cost model for the price.
Read with the chapter "Collectives", section "NCCL decides".
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from netlib.arguments import declared, floats, quoted
from netlib.collectives.nccl.bandwidth import OPS
from netlib.collectives.nccl.graph import Cluster, named
from netlib.collectives.nccl.pastes import Setting, pasted_settings
from netlib.collectives.nccl.selection import selected
from netlib.collectives.nccl.tables import ALGORITHMS, PROTOCOLS, edition, integer, numbers
from netlib.collectives.nccl.tuning import tune
from netlib.collectives.nccl.variables import Variable, known_variables, meant, variable
from netlib.topology.collisions import expected_max_load

VERDICTS = {
    "no-op": "changes nothing: the default, or not read by this version",
    "harmful": "takes something away that NCCL would have used",
    "deprecated": "an old name, or gone",
    "discouraged": "allowed, with no gain to expect",
    "useful-if": "helps under the condition named",
    "depends": "a trade with two sides, both named",
    "site": "describes this site, and cannot be judged from here",
    "debug": "for looking, not for production",
    "unknown": "not a variable of NCCL that is known here",
    "malformed": "a value that NCCL does not understand",
    "overwritten": "set again further down, where the value that counts stands",
    "unread": "a line that sets nothing; the others are judged without it",
}
_SMS = {
    "Volta": 80,
    "Ampere": 108,
    "Hopper": 132,
    "Blackwell": 148,
}  # NVIDIA's architecture papers: V100, A100, H100, B200
MOST = 1000  # variables in one paste: several times as many as NCCL has
_SIZES = 2.0 ** np.arange(10, 35)


@dataclass(frozen=True)
class Verdict:
    """What one variable does: `verdict` is a key of `VERDICTS`. A line without a variable has its text as `value`."""

    name: str
    value: str
    verdict: str
    reason: str
    source: str

    @property
    def line(self) -> str:
        """What was pasted.

        >>> Verdict("NCCL_DEBUG", "INFO", "debug", "", "").line
        'NCCL_DEBUG=INFO'
        """
        return f"{self.name}={self.value}" if self.name else self.value


@declared
def lint_nccl_env(
    settings: Mapping[str, str] | str, version: str = "2.30.7", cluster: Cluster | None = None, size: float = 2.0**28
) -> list[Verdict]:
    """One verdict for each variable of a dictionary or of a pasted block of export lines.

    A line that sets nothing, and a value that a later line overwrites, get a verdict too. For a version that nobody has
    read yet, the nearest earlier one answers, and the reasons say so. `cluster` (128 DGX H100 by default) and `size`
    (256 MiB) are what the price of a forced choice is computed for.

    >>> [each.verdict for each in lint_nccl_env({"NCCL_IB_RETRY_CNT": "7", "NCCL_MIN_NCHANNELS": "32"})]
    ['no-op', 'deprecated']
    >>> lint_nccl_env("export NCCL_IB_TIMEOUT=22")[0].reason[:60]
    'waits 17.2 s for each of 7 tries, 2.0 min in all (default 20'
    """
    lines = pasted_settings(settings) if isinstance(settings, str) else []
    given = {each.name: each.value for each in lines if each.name} if lines else {}
    if not isinstance(settings, str):
        given = dict(settings)
    for name, value in given.items():
        if not (isinstance(name, str) and isinstance(value, str)):
            told = f"settings[{quoted(name)}] = {quoted(value)}"
            raise ValueError(f"{told} must be text, as in a shell, name and value; write it in quotes")
    if (many := max(len(given), len(lines))) > MOST:
        raise ValueError(f"settings hold {many:,} variables, more than {MOST:,}; paste those of NCCL")
    numbers(version)
    job = named("dgx-h100", 128) if cluster is None else cluster
    if not job.ranks.size:
        raise ValueError("cluster has no nodes; give at least one")
    floats("size", size)
    told = _in_words(version)
    judged = {name: _judged(name, value.strip(), given, version, told, job, size) for name, value in given.items()}
    return [_of_line(each, lines[number + 1 :], judged) for number, each in enumerate(lines)] or [*judged.values()]


def _in_words(version: str) -> str:
    """The version, and which one answers for it where its file was not read; the first tables are those of 2.4.8."""
    asked = edition(version) if numbers(version) >= (2, 4, 8) else None
    return f"{version}, answered with that of {asked.last}" if asked and asked.note else version


def _of_line(line: Setting, later: list[Setting], judged: Mapping[str, Verdict]) -> Verdict:
    """The verdict on one pasted assignment: its variable's, if no later line sets it again."""
    if line.trouble:
        return Verdict("", line.text, "unread", line.trouble, "")
    if any(each.name == line.name for each in later):
        return Verdict(line.name, line.value, "overwritten", "set again further down: the last one counts", "")
    return judged[line.name]


def _judged(
    name: str, value: str, given: Mapping[str, str], version: str, told: str, cluster: Cluster, size: float
) -> Verdict:
    names = {each.name.lower(): each.name for each in known_variables()}
    if name.lower() not in names:
        if not name.upper().startswith("N"):
            return Verdict(name, value, "unknown", "not one of NCCL's variables; not judged", "")
        return Verdict(name, value, "unknown", f"not among the variables known here; {meant(name)}", "")
    if name != names[name.lower()]:
        right = names[name.lower()]
        return Verdict(
            name, value, "unknown", f"names are case-sensitive; did you mean {right}?", variable(right).source
        )
    known = variable(name)
    verdict, reason = _rule(known, value, given, version, told, cluster, size)
    return Verdict(name, value, verdict, reason, known.source)


def _rule(
    known: Variable, value: str, given: Mapping[str, str], version: str, told: str, cluster: Cluster, size: float
) -> tuple[str, str]:
    """Verdict and reason, the first rule that applies; `told` is the version in words."""
    asked = numbers(version)
    instead = f"; use {known.instead}" if known.instead else ""
    if not value:
        return "no-op", "empty, which NCCL reads as not set"
    if known.removed and asked >= numbers(known.removed):
        return "deprecated", f"removed in {known.removed}: NCCL {told} ignores it{instead}"
    if asked < numbers(known.since)[: len(asked)]:
        return "no-op", f"read from {known.since} on; NCCL {told} ignores it"
    if fault := malformed(known, value, version):
        return "malformed", fault
    if known.deprecated and asked >= numbers(known.deprecated)[: len(asked)]:
        return "deprecated", f"deprecated since {known.deprecated}{instead}" + _sms(known, value, cluster)
    default = known.at(version)
    if default is not None and value.upper() == default.upper():
        return "no-op", f"{default} is the default of NCCL {told}"
    if known.name in ("NCCL_ALGO", "NCCL_PROTO", "NCCL_NVLS_ENABLE"):
        return _forced(known, value, version, told, cluster, size)
    if known.name == "NCCL_IB_TIMEOUT":
        return _timeout(value, given, default)
    if known.kind == "level" and (number := integer(value)) is not None:
        meant = known.choices[min(number, len(known.choices) - 1)] if known.name != "NCCL_P2P_LEVEL" else ""
        path = f" (here {meant}{': even across CPU sockets' if meant == 'SYS' else ''})" if meant else ""
        return (
            "discouraged",
            f"numbers change their meaning between versions; write a path{path}; useful if {known.because}",
        )
    if known.name == "NCCL_IB_SPLIT_DATA_ON_QPS" and given.get("NCCL_IB_QPS_PER_CONNECTION", "1").strip() == "1":
        return "no-op", "with one queue pair there is nothing to split"
    if known.name == "NCCL_IB_QPS_PER_CONNECTION":
        one, more = expected_max_load([8, 8 * int(value)], 8) / np.array([1, int(value)])
        hot = f"over 8 links the hottest carries {one:.2f} times the mean with one flow each, {more:.2f} with {value}"
        return known.advice, f"useful if {known.because}: {hot}"
    if known.advice == "deprecated":  # by a later version than this
        return "discouraged", f"{known.effect}; later versions know it no more{instead}"
    condition = f"useful if {known.because}" if known.advice == "useful-if" else known.because
    return known.advice, f"{known.effect}; {condition}" + _sms(known, value, cluster)


def malformed(known: Variable, value: str, version: str) -> str:
    """Why NCCL does not understand a value, "" if it does.

    >>> malformed(variable("NCCL_IB_RETRY_CNT"), "8", "2.30.7")
    'must be from 0 to 7'
    """
    if known.kind == "int":
        number = integer(value)
        if number is None:
            return "must be a whole number"
        low, high = known.low, known.high
        if known.name.endswith(("CTAS", "NCHANNELS")) and numbers(version) < (2, 25):
            high = 32
        if (low is not None and number < low) or (high is not None and number > high):
            return f"must be from {low} to {high}" if high is not None else f"must be at least {low}"
    if known.kind == "choice" and value.upper() not in known.choices:
        return f"must be one of {', '.join(known.choices)}"
    if known.kind == "level" and value.upper() not in known.choices and (integer(value) is None or value < "0"):
        return f"must be one of {', '.join(known.choices)}"
    if known.kind == "names":
        try:
            for op in OPS:
                selected(value, op, version, ALGORITHMS if known.name == "NCCL_ALGO" else PROTOCOLS)
        except ValueError as error:
            return str(error)
    return ""


def _sms(known: Variable, value: str, cluster: Cluster) -> str:
    """What a number of channels costs the model that computes meanwhile."""
    if known.name not in ("NCCL_MIN_NCHANNELS", "NCCL_MIN_CTAS", "NCCL_MIN_NRINGS"):
        return ""
    sms = _SMS[cluster.gpu]
    return (
        f"; {value} channels hold up to {value} of {sms} SMs ({100 * int(value) / sms:.0f} %) and slow small messages"
    )


def _timeout(value: str, given: Mapping[str, str], default: str | None) -> tuple[str, str]:
    """4.096 us x 2^value, times the retries."""
    if value == "0":
        return "harmful", "0 waits for ever: a dead link hangs the job in place of ending it"
    tries = integer(given.get("NCCL_IB_RETRY_CNT", "7"))
    tries = 7 if tries is None else tries
    each = 4.096e-6 * 2 ** int(value)
    usual = f"default {default}: {4.096e-6 * 2 ** int(default or 20):.1f} s"
    longer = int(value) > int(default or 20)
    trade = (
        "rides out longer flaps, and finds a dead link later"
        if longer
        else "finds a dead link sooner, and ends jobs at shorter flaps"
    )
    return (
        "depends",
        f"waits {each:.1f} s for each of {tries} tries, {each * tries / 60:.1f} min in all ({usual}): {trade}",
    )


def _forced(known: Variable, value: str, version: str, told: str, cluster: Cluster, size: float) -> tuple[str, str]:
    """The price of taking choices away, by the cost model; operations that lose their last algorithm fail."""
    setting = {known.name: value}
    failing = [op for op in OPS if not tune(version, cluster, op, variables=setting).enabled.any(axis=0).all()]
    if failing:
        hint = "; name the operation, as in allreduce:tree" if known.name == "NCCL_ALGO" else ""
        return (
            "harmful",
            f"leaves no algorithm for {', '.join(failing)}, which fail (since 2.24 nothing falls back){hint}",
        )
    free, forced = tune(version, cluster), tune(version, cluster, variables=setting)
    if (
        known.name == "NCCL_PROTO"
        and not free.enabled[free.row("Ring/LL128")].all()
        and forced.enabled[forced.row("Ring/LL128")].any()
    ):
        return (
            "harmful",
            f"forces LL128 where it is not supported ({free.why[free.row('Ring/LL128')][0]}): can corrupt data",
        )
    sizes = np.append(_SIZES, size)[(...,) + (None,) * np.ndim(free.enabled[0])]
    before, after = free.choose(sizes), forced.choose(sizes)
    ratio = after.seconds / before.seconds
    worst = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
    if ratio[worst] < 1.005:
        return "no-op", f"by the cost model NCCL {told} chooses the same on this cluster without it"
    text = f"at worst {ratio[worst]:.3g} times the time, at {_binary(sizes.ravel()[worst[0]])}"
    if ratio[-1].max() > 1.005:
        at = int(np.argmax(ratio[-1]))
        pairs = [(np.ravel(each.seconds[-1])[at] * 1e3, np.ravel(each.name[-1])[at]) for each in (after, before)]
        now, then = (f"{ms:.2f} ms ({name})" for ms, name in pairs)
        ranks = int(np.ravel(np.broadcast_to(cluster.ranks, ratio[-1].shape))[at])
        text = f"all-reduce of {_binary(size)} on {ranks} GPUs: {now} in place of {then}; {text}"
    # a tenth is within what the plan misses by
    return "harmful" if ratio[worst] > 1.1 else "discouraged", f"{text} (cost model of NCCL {told})"


def _binary(size: float) -> str:
    """Bytes as KiB, MiB or GiB."""
    power = min(max((int(size).bit_length() - 1) // 10, 1), 3)
    return f"{size / 2 ** (10 * power):g} {' KMG'[power]}iB"
