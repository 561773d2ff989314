"""Tables of the chapter "Congestion control": presets side by side, how old a signal may be by two accounts, questions
put to three models, and our packets beside those of two simulators.

What takes longer than a moment is read from tables that tests compute again (`rest_runs`, `congestion_runs`).
"""

from collections.abc import Iterator

import numpy as np

from netlib.congestion import Hpcc, differences, preset, preset_record
from netlib.congestion.comparison import shown_in_unit
from netlib.congestion.fluid import (
    critical_delays,
    dcqcn_loop,
    dcqcn_run,
    hpcc_rest,
    phase_margin,
    published_loop,
    window_run,
)
from netlib.fidelity.agreements.congestion import fill_time, fill_time_run, first_burst, first_burst_run
from netlib.fidelity.congestion_runs import runs_of
from netlib.fidelity.peers import LAWS, NS3_RTT, RATE, Case
from netlib.fidelity.rest_runs import CASES, RestCase, Stood, event_queue, rest_queue, rests
from netlib.fidelity.rows import published_rows
from netlib.fidelity.score import Judged, judge

COPY = "ns-3, PowerTCP's copy"
_FLOWS = (2, 4, 8, 10, 12)


def presets() -> str:
    """DCQCN of the paper beside that of a card and of a simulator, as Markdown: what differs, and what it does.

    A row for each field in which the card differs from the paper in what it does. What the card's maker does not
    document is said to be so; runs with the card have it off.

    >>> presets().splitlines()[0]
    "| parameter | paper | ConnectX | ns-3, PowerTCP's copy | what it does, paper against ConnectX |"
    """
    paper, card, copy = (preset("dcqcn", name) for name in ("paper", "connectx-timer", "ns3-datacenter"))
    unknown = preset_record("dcqcn", "connectx").missing
    lines = [f"| parameter | paper | ConnectX | {COPY} | what it does, paper against ConnectX |"]
    lines.append("|---|--:|--:|--:|---|")
    for row in differences(paper, card):
        cells = [shown_in_unit(getattr(each, row.field), row.dimension) for each in (paper, card, copy)]
        if row.alike:
            continue
        effect = row.effect
        if row.field in unknown:
            documented = effect.rsplit(" against ", 1)[0]
            cells[1], effect = "not documented (off here)", f"{documented}; how often the card's does is not documented"
        lines.append(f"| `{row.field}` | {' | '.join(cells)} | {effect} |")
    return "\n".join(lines)


def verdicts() -> str:
    """Margins of ten flows and fewer at 50 us, and critical delays, published and exact, as Markdown.

    >>> verdicts().splitlines()[0]
    '| flows | margin at 50 µs, published | exact | swings from, published | exact |'
    """
    control, marking, rate = preset("dcqcn", "fluid"), preset("marking", "dcqcn-paper"), 5e9
    early, late = critical_delays(control, marking, rate, _FLOWS)
    rough = phase_margin(published_loop(control, marking, rate, _FLOWS), 50e-6, "delay")
    exact = phase_margin(dcqcn_loop(control, marking, rate, _FLOWS), 50e-6)
    lines = [
        "| flows | margin at 50 µs, published | exact | swings from, published | exact |",
        "|--:|--:|--:|--:|--:|",
    ]
    for row in zip(_FLOWS, rough, exact, early * 1e6, late * 1e6, strict=True):
        lines.append("| {} | {:.1f}° | {:.1f}° | {:.1f} µs | {:.1f} µs |".format(*row))
    return "\n".join(lines)


# ---------------------------------------------------------------- one question, three models


def three_models() -> str:
    """Closed form, fluid and packets side by side, as Markdown, with the gap between the last two and why.

    >>> three_models().splitlines()[0]
    '| question | closed form | fluid | packets | packets to fluid | why |'
    """
    lines = ["| question | closed form | fluid | packets | packets to fluid | why |", "|---|--:|--:|--:|--:|---|"]
    for question, closed, fluid, packets, unit, why in (*_bursts(), *_rests(), *_empty()):
        gap = f"{packets / fluid - 1:+.0%}" if fluid > 1 else ""
        cells = ("none" if np.isnan(each) else f"{each:.3g} {unit}" for each in (closed, fluid, packets))
        lines.append(f"| {question} | {' | '.join(cells)} | {gap} | {why} |")
    return "\n".join(lines)


Line = tuple[str, float, float, float, str, str]


def _bursts() -> Iterator[Line]:
    """Before anybody is told, the fluid is that of senders at line rate: any law's will do."""
    trip = 4 * 2e-6 + 2 * 1000 / RATE  # s, of the agreements' cables and packets
    law, ramp = preset("dcqcn", "fluid"), preset("marking", "dcqcn-paper")
    seen = dcqcn_run(law, ramp, RATE, [8], 20e-6, 20e-6, step=0.05e-6, every=1)
    burst = float(np.interp(trip, seen.time, seen.queue[0]))
    yield (
        "first burst of 8 senders, 8 µs", first_burst(8, RATE) / 1e3, burst / 1e3, first_burst_run(8, RATE) / 1e3,
        "kB", "packets come whole",
    )  # fmt: skip
    full = float(np.interp(1e6, seen.queue[0], seen.time))
    yield (
        "8 senders fill 1 MB", fill_time(1e6, 8, RATE) * 1e6, full * 1e6, fill_time_run(1e6, 8, RATE) * 1e6,
        "µs", "packets come whole",
    )  # fmt: skip


_WHY = (  # one for each of CASES but the last
    "a cut is followed by a silence",
    "the same, and the end of the ramp bounds it",
    "the same silence",
    "more flows share chance: less swing, nearly the same gap",
    "without the silence",
    "no rest on the ramp: the end of it is one",
    "a mark waits in the queue that it reports",
    "the signal is too old to rest",
)


def _rests() -> Iterator[Line]:
    for case, why in zip(CASES, _WHY, strict=False):
        fluid, packets = (rests()[engine, case] for engine in ("fluid", "packets"))
        parts = [why, f"fluid {_range(fluid)}, packets {_range(packets)} kB"]
        if case.delay < 5e-6 and not np.isnan(events := event_queue(case)):
            parts.insert(1, f"counted by events {events / 1e3:.3g}")
        if not (fluid.settled and packets.settled):
            parts.append("not settled")
        yield _named_rest(case), rest_queue(case) / 1e3, fluid.mean / 1e3, packets.mean / 1e3, "kB", "; ".join(parts)


def _named_rest(case: RestCase) -> str:
    named = f"queue of {case.flows} flows of DCQCN, signal {case.delay * 1e6:.0f} µs old"
    told = {
        "packets marked on arrival": case.when == "arrival",
        "ramp drawn out": case.ramp != "dcqcn-paper",
        f"all {case.times} times as large": case.times > 1,
        f"notices {case.silence * 1e6:.0f} µs apart": case.silence < case.control.alpha_timer / 2,
    }
    return ", ".join([named, *(text for text, true in told.items() if true)])


def _range(seen: Stood) -> str:
    """Where the queue is for nine tenths of the time, in kB; one number where it stands still."""
    low, high = f"{seen.low / 1e3:.0f}", f"{seen.high / 1e3:.0f}"
    return low if low == high else f"{low} to {high}"


def _empty() -> Iterator[Line]:
    law, seen = LAWS["ns-3", "HPCC"].control, runs_of(Case("ns-3", "HPCC", "incast", 8, 2e6, spread=True))
    assert isinstance(law, Hpcc)
    assert seen is not None
    closed = float(hpcc_rest(law, RATE, 8, NS3_RTT)[1])
    fluid = float(window_run(law, RATE, [8], NS3_RTT, 1e-3).settled(0.5e-3).mean[0])
    yield "queue of 8 flows of HPCC", closed / 1e3, fluid / 1e3, seen.steady / 1e3, "kB", "a packet now and then"


# ---------------------------------------------------------------- ours beside two simulators

_SHOWN = {"mean finish": ("ms", 1e3), "last finish": ("ms", 1e3), "peak queue": ("MB", 1e-6)}
_UNITS = {"us": 1e-6, "B": 1.0}


def peers() -> str:
    """Incasts beside ns-3's and htsim's, as Markdown: ours / theirs, and how far off; bold beyond the tolerance.

    >>> peers().splitlines()[0]
    '| traffic | simulator | control | mean finish, ms | last finish, ms | peak queue, MB |'
    """
    return _beside(("incast",), tuple(_SHOWN))


def peers_on_fabrics() -> str:
    """The same for permutations of 128 hosts and an all-to-all of 16.

    >>> peers_on_fabrics().splitlines()[0]
    '| traffic | simulator | control | mean finish, ms | last finish, ms |'
    """
    return _beside(("permutation", "all-to-all"), ("mean finish", "last finish"))


def _beside(kinds: tuple[str, ...], metrics: tuple[str, ...]) -> str:
    table: dict[tuple[int, int, str, str], dict[str, Judged]] = {}
    rows = [row for row in published_rows() if row["confidence"] == "simulated" and "20 MB" not in row["params"]]
    for row, seen in zip(rows, judge(rows), strict=True):
        peer, kind = row["scenario"].split(", ")
        if kind in kinds:
            control, many = _named(row["params"])
            table.setdefault((kinds.index(kind), many, peer, control), {})[row["metric"]] = seen
    heads = ["traffic", "simulator", "control", *(f"{name}, {_SHOWN[name][0]}" for name in metrics)]
    lines = [f"| {' | '.join(heads)} |", f"|---|---|---|{'--:|' * len(metrics)}"]
    for (kind_, many, peer, control), found in sorted(table.items()):
        traffic = f"{many}:1" if kinds[kind_] == "incast" else f"{kinds[kind_]}, {many} hosts"
        cells = [_cell(found.get(name), name) for name in metrics]
        lines.append(f"| {traffic} | {peer} | {control} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _named(params: str) -> tuple[str, int]:
    """("DCQCN, 100/400 KB", 8) of "DCQCN; K=100/400 KB; N=8; size=2 MB"."""
    parts = dict(part.split("=") for part in params.split("; ")[1:])
    control = params.split("; ")[0] + (f", {parts['K']}" if "K" in parts else "")
    return control, int(parts.get("N") or parts["hosts"])


def _cell(seen: Judged | None, metric: str) -> str:
    if seen is None or seen.model is None or seen.published is None or seen.rel_error is None:
        return ""
    scale = _SHOWN[metric][1] * _UNITS[seen.unit]
    shown = f"{seen.model * scale:#.3g} / {seen.published * scale:#.3g}, {seen.rel_error:+.1%}"
    return shown if seen.ok else f"**{shown}**"
