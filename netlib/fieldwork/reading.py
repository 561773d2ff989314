"""What an nccl-tests table says, and what it cannot say.

`observations` returns sentences, each with its evidence. Causes are named only as what is usual: a table shows how
long a collective took, not why. Read with the chapter "Collectives", section "Reading a log".
Sources of the rules: nccl-tests doc/PERFORMANCE.md; NVIDIA/nccl-tests issues 309 (two nodes) and 130 (alltoall).
"""

import numpy as np

from netlib.arguments import Floats
from netlib.fieldwork import curve
from netlib.fieldwork.nccl_check import disagreements
from netlib.fieldwork.nccl_tests import NcclTests, measured
from netlib.hardware import Node
from netlib.units import GB, KiB, MiB, show, size_name


def observations(table: NcclTests, node: Node | None = None) -> list[str]:
    """An honest reading: one sentence per finding, in the order in which to read them.

    `node`, from the hardware registry, gives the link rates to hold the peak against; without it no rate is called good
    or bad.

    >>> from netlib.fieldwork import read_nccl_tests
    >>> row = "1073741824 268435456 float sum -1 4484.9 239.41 448.90 0 4470.2 240.20 450.37 0"
    >>> observations(read_nccl_tests(row))[1]
    'Peak busbw is 450 GB/s at 1 GiB (in-place), the largest size: the plateau may lie higher.'
    """
    said = [_identity(table)]
    if alone := _no_network(table):
        return [alone, *said]
    said += _validation(table)
    for name in table.types:
        prefix = f"{name}: " if len(table.types) > 1 else ""
        said += [prefix + sentence for sentence in _curve(table, name)]
    return said + _average(table) + _ceiling(table, node) + disagreements(table)


_WITNESS = {
    "given": "as given",
    "device list": "from the device list",
    "last device line": "inferred from the last device line",
    "size / count": "inferred from size / count",
    "busbw / algbw": "inferred from busbw / algbw",
    "log": "from a line of the text",
}


def _identity(table: NcclTests) -> str:
    op = table.op or f"{' or '.join(table.candidates) or 'an unknown collective'} (cannot tell which)"
    how = {"columns": " (inferred from the numbers)", "given": " (as given)"}.get(table.op_from, "")
    if table.ranks is None:
        return f"{op}{how}; cannot tell the number of ranks."
    hosts = f" on {len(table.hosts)} host{'s' * (len(table.hosts) != 1)}" if table.hosts else ""
    return f"{op}{how}, {table.ranks} rank{'s' * (table.ranks != 1)}{hosts} ({_WITNESS[table.ranks_from]})."


def _no_network(table: NcclTests) -> str:
    """Why the run tells nothing about a network, or "" if it may."""
    if table.ranks == 1:
        return (
            "Every process ran alone (1 rank), so nothing here measures a network; busbw is a formula of the rank "
            "count and is 0 for one rank. Usual cause, if more were meant: nccl-tests built without MPI (make MPI=1)."
        )
    if table.copies > 1:
        return (
            f"{table.copies} runs printed into one table, so no row surely belongs to the run it seems to. Usual "
            "cause: nccl-tests built without MPI (make MPI=1); each process then tests its own GPUs, at the same time."
        )
    return ""


def _validation(table: NcclTests) -> list[str]:
    said = []
    wrong = np.concatenate([table.out.wrong, table.inplace.wrong])
    bad = int((wrong > 0).sum())
    if table.counts_wrong and bad:
        first = size_name(float(table.size[np.argmax((table.out.wrong > 0) | (table.inplace.wrong > 0))]))
        said.append(
            f"WRONG RESULTS: {bad} cells count wrong elements (up to {np.nanmax(wrong):.0f}), first at {first}; "
            "the speed of a wrong result means nothing."
        )
    if table.out_of_bounds:
        said.append(f"WRONG RESULTS: the footer counts {table.out_of_bounds} values out of bounds.")
    if not np.isfinite(wrong).any():
        said.append("No cell says whether the results are right (N/A as with -c 0, or no such column).")
    elif not table.counts_wrong and np.nanmax(wrong) >= 0.1 and not table.out_of_bounds:
        excuse = "; alltoall in place is not validated, so its cell says nothing" * (table.op == "alltoall")
        said.append(f"The error column reaches {np.nanmax(wrong):g}, a relative error{excuse}.")
    if table.cpu_time:
        said.append("Times are CPU times (-C): how long the calls took to launch, not how long the bytes took.")
    return said


def _curve(table: NcclTests, name: str) -> list[str]:
    """What the rows of one element type show."""
    keep = (table.type == name) & (table.size > 0)
    best_time = np.fmin(table.out.time, table.inplace.time)
    keep &= best_time > 0
    size, time, busbw = curve.by_size(
        table.size[keep], best_time[keep], np.fmax(table.out.busbw, table.inplace.busbw)[keep]
    )
    if len(size) == 0:
        return ["No row has both bytes and a time: there is no bandwidth to read."]
    said = []
    if size[-1] < MiB:
        said.append(f"The largest size is {size_name(float(size[-1]))}: latency only, no bandwidth to read.")
    elif np.isfinite(busbw).any() and np.nanmax(busbw) > 0:
        said += _peak(table, size, busbw)
    said += [_floor(size, time), *_outliers(table, name)]
    for begin, end, wait in curve.stalls(*curve.by_size(*measured(table, name))[:2]):
        said.append(
            f"From {size_name(begin)} to {size_name(end)} every message takes about {show(wait, 'ms')}, "
            "and larger ones are faster: a stall of fixed length, not a bandwidth."
        )
    for small, large in curve.faster_when_larger(size, time):
        said.append(
            f"{size_name(large)} takes less than half the time of {size_name(small)}: "
            "another protocol or algorithm, or a stall; cannot tell which."
        )
    for at, before, there in curve.dips(size, busbw):
        said.append(
            f"busbw dips at {size_name(at)} ({show(there, 'GB/s')} after {show(before, 'GB/s')}) and recovers: usually "
            "an algorithm or protocol switch; NCCL_DEBUG_SUBSYS=TUNING would tell."
        )
    return said


def _floor(size: Floats, time: Floats) -> str:
    floor = curve.latency_floor(size, time)
    if floor is None and len(size) == 1:
        return "Cannot tell the latency floor: there is one size only."
    if floor is None:
        return f"Cannot tell the latency floor: time still changes with size at {size_name(float(size[0]))}."
    flat = f"{show(floor.time, 'us')} from {size_name(floor.first)} to {size_name(floor.last)}"
    if floor.first > 64 * KiB:
        return f"Time hardly changes ({flat}), but smaller sizes were not run: cannot tell the latency floor."
    slow = " Tens of microseconds are usual: milliseconds point to a fixed wait." if floor.time > 1e-3 else ""
    return f"Latency floor {flat}.{slow}"


def _peak(table: NcclTests, size: Floats, busbw: Floats) -> list[str]:
    """The peak, whether it is a plateau, and where half of it is reached."""
    best = int(np.nanargmax(busbw))
    peak, last = float(busbw[best]), float(busbw[-1])
    half = "out-of-place" if np.any(table.out.busbw[table.size == size[best]] == peak) else "in-place"
    what = f"Peak busbw is {show(peak, 'GB/s')} at {size_name(float(size[best]))} ({half})"
    if best == len(size) - 1:
        rising = len(size) < 2 or peak > 1.03 * float(busbw[-2])
        what += ", the largest size: the plateau may lie higher." if rising else ", where it has levelled off."
    elif last < 0.95 * peak:
        what += f" and {show(last, 'GB/s')} at {size_name(float(size[-1]))}: it falls; cannot tell why from a table."
    else:
        what += "."
    begins = curve.half_peak(size, busbw)
    if begins is None:
        return [what, "Cannot tell the half-peak size: the smallest size here already reaches half of the peak."]
    return [what, f"Half of the peak is first reached between {size_name(begins[0])} and {size_name(begins[1])}."]


def _outliers(table: NcclTests, name: str) -> list[str]:
    """Rows whose two halves differ by more than 2 x: one measurement was disturbed."""
    both = (table.type == name) & (table.size > 0) & (table.out.time > 0) & (table.inplace.time > 0)
    ratio = np.where(both, table.out.time, 1.0) / np.where(both, table.inplace.time, 1.0)
    rows = np.flatnonzero((ratio > 2) | (ratio < 0.5))
    said = []
    for i in rows[:3]:
        out, inside = show(float(table.out.time[i]), "us"), show(float(table.inplace.time[i]), "us")
        cold = "the first row, so probably a cold start" if i == 0 else "one of the two was disturbed"
        said.append(f"{size_name(float(table.size[i]))} took {out} out-of-place and {inside} in-place: {cold}.")
    if len(rows) > 3:
        said.append(f"{len(rows) - 3} more rows differ by more than 2 x between out-of-place and in-place.")
    return said


def _average(table: NcclTests) -> list[str]:
    cells = np.concatenate([table.out.busbw, table.inplace.busbw])
    if table.average is None or not np.isfinite(cells).any():
        return []
    said, average, peak, mean = [], table.average, float(np.nanmax(cells)), float(np.nanmean(cells))
    if average < 0.8 * peak:
        said.append(
            f"Avg bus bandwidth, {show(average, 'GB/s')}, is the mean over all sizes and both halves: it moves with -b "
            f"and -e and is misleading beside a link rate (the peak is {show(peak, 'GB/s')})."
        )
    if table.inplace.present and abs(mean - average) > 0.01 * average + 0.01 * GB:
        said.append(
            f"The rows here average {show(mean, 'GB/s')}, the footer says {show(average, 'GB/s')}: rows are missing."
        )
    return said


def _ceiling(table: NcclTests, node: Node | None) -> list[str]:
    """The peak against the links, where the number of nodes is known."""
    cells = np.concatenate([table.out.busbw, table.inplace.busbw])
    if table.ranks is None or table.op is None or not np.isfinite(cells).any():
        return ["Cannot hold the peak against a link rate: the collective or the rank count is not known."]
    peak, n, nodes = float(np.nanmax(cells)), table.ranks, len(table.hosts)
    if not nodes and node is not None and (n <= node.gpus or n % node.gpus == 0):
        nodes = max(1, n // node.gpus)
    said = []
    if nodes == 2 and table.op == "all_reduce" and n > 2:
        said.append(
            "On two nodes a tree sends each byte over the network once where a ring sends it nearly twice, so busbw "
            "can reach almost 2 x the NICs: if a tree ran, the NICs of a node carried "
            f"{show(peak * n / (2 * n - 2), 'GB/s')} each way. "
            "More nodes will not repeat this number; NCCL_ALGO=Ring shows the fabric."
        )
    if node is None:
        unknown = "" if nodes else ", nor does the table name the nodes"
        return [*said, f"Cannot tell whether the peak is good: no link rates were given{unknown}."]
    if not nodes:
        return [*said, f"Cannot tell the number of nodes: {n} ranks are no multiple of {node.gpus} GPUs."]
    ceiling, what = link_ceiling(table.op, n, nodes, node)
    if not ceiling:
        return [*said, f"Cannot hold {table.op} against a link rate: it depends on which ranks share a node."]
    share = f"{show(peak, 'GB/s')} is {show(peak / ceiling, '%')} of {show(ceiling, 'GB/s')}, {what}"
    if peak <= ceiling:
        return [*said, f"{share}."]
    return [
        *said,
        f"{share}: busbw is a formula for rings, not a wire. Above the link, either an algorithm ran that sends fewer "
        "bytes (NVLS or SHARP reduce in the switch; a tree on two nodes) or the link rate given is wrong.",
    ]


def link_ceiling(op: str, n: int, nodes: int, node: Node) -> tuple[float, str]:
    """The busbw (bytes/s) at which the links are full, and which links; 0 where that depends on placement.

    Rings: one node, the NVLink of a GPU; more nodes, the NICs of a node. alltoall: a GPU's share of the NICs carries
    only what leaves the node, (nodes-1)/nodes of size.

    >>> from netlib import hardware
    >>> link_ceiling("all_reduce", 16, 2, hardware.node("dgx-h100"))[0]
    400000000000.0
    """
    if nodes == 1:
        return node.up, "the NVLink rate of a GPU one way"
    if op == "alltoall":
        return node.out * nodes / (nodes - 1) * (n - 1) / n, "where a GPU's share of the NICs is full"
    if op in ("all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce"):
        return node.gpus * node.out, "the NICs of a node together, one way"
    return 0.0, ""
