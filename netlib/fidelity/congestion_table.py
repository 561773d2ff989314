"""Tables of the chapter "Congestion control": presets side by side, and how old a signal may be, by two accounts."""

from netlib.congestion import differences, preset
from netlib.congestion.comparison import shown_in_unit
from netlib.congestion.fluid import critical_delays, dcqcn_loop, phase_margin, published_loop

_BESIDE = {"ConnectX": "connectx-timer", "ns-3": "ns3-datacenter"}
_FLOWS = (2, 4, 8, 10, 12)


def presets() -> str:
    """DCQCN of the paper beside that of a card and of a simulator, as Markdown: what differs, and what it does.

    >>> presets().splitlines()[0]
    '| parameter | paper | ConnectX | ns-3 | what it does, paper against ns-3 |'
    """
    paper = preset("dcqcn", "paper")
    others = {name: preset("dcqcn", each) for name, each in _BESIDE.items()}
    lines = [
        f"| parameter | paper | {' | '.join(others)} | what it does, paper against ns-3 |",
        f"|---{'|--:' * (1 + len(others))}|---|",
    ]
    for row in differences(paper, others["ns-3"]):
        cells = [shown_in_unit(getattr(each, row.field), row.dimension) for each in (paper, *others.values())]
        lines.append(f"| `{row.field}` | {' | '.join(cells)} | {row.effect} |")
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
