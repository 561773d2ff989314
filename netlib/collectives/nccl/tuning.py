"""Tuning: NCCL's own decision, as an array that can be looked at.

For each algorithm and protocol NCCL keeps a latency and a bandwidth, fixed when the communicator is made. When a
collective is called it computes T = latency x c + size / (bandwidth x k) for all of them and takes the least; c counts
aggregated operations, k corrects trees at medium sizes. That is all: no measurement, no memory of the last call.
`tune` rebuilds these numbers for a version and a cluster. They are NCCL's opinion, not a measurement: see `notes`.
Read with the chapter "Collectives", section "NCCL decides".
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netlib.arguments import Floats, clash, declared, floats, quoted, written
from netlib.collectives.nccl.bandwidth import OPS, bandwidths, generation
from netlib.collectives.nccl.closed import closed_form
from netlib.collectives.nccl.graph import Cluster
from netlib.collectives.nccl.latency import latencies
from netlib.collectives.nccl.rules import enabled
from netlib.collectives.nccl.settings import limited, overhead, overlooked
from netlib.collectives.nccl.tables import ROWS, Edition, correction, edition, scalar
from netlib.collectives.nccl.variables import MODELLED, variable
from netlib.names import nearest

Names = NDArray[np.str_]


@dataclass(frozen=True, eq=False)
class Choice:
    """What is chosen for each size: `name` such as "Ring/LL", `row` its index, `seconds` the model's time."""

    name: Names
    row: NDArray[np.int64]
    seconds: Floats


@dataclass(frozen=True, eq=False)
class Tuning:
    """The numbers behind NCCL's choice for one operation on one cluster.

    names      (rows,) "Ring/LL", "Tree/Simple", ...
    latency    (rows, *nodes) seconds; bandwidth: (rows, *nodes) bytes/s of the buffer
    enabled    (rows, *nodes) taken into account; `why` gives for each row the reasons why not
    notes      what a reader must know about these numbers
    """

    edition: Edition
    cluster: Cluster
    op: str
    operations: int
    variables: Mapping[str, str]
    names: tuple[str, ...]
    latency: Floats
    bandwidth: Floats
    enabled: NDArray[np.bool_]
    why: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    @declared
    def row(self, name: str) -> int:
        """The index of "Ring/LL" and the like.

        >>> from netlib.collectives.nccl import named, tune
        >>> tune("2.30.7", named("dgx-h100")).row("Ring/LL")
        3
        """
        if name not in self.names:
            raise ValueError(f"name = {name[:40]!r} is no algorithm/protocol here; {nearest(name, self.names)}")
        return self.names.index(name)

    @declared
    def time(self, name: str, sizes: ArrayLike) -> Floats:
        """Seconds that NCCL expects of one combination, on or off; `sizes` bytes broadcast with the nodes.

        >>> from netlib.collectives.nccl import named, tune
        >>> round(float(tune("2.30.7", named("dgx-h100")).time("Ring/LL", 2**20)) * 1e6, 1)
        28.0
        """
        return self._seconds(self.row(name), self._sized(sizes))

    @written
    def times(self, sizes: ArrayLike) -> Floats:
        """(rows, *broadcast of sizes and nodes) seconds; inf where a combination is off.

        >>> from netlib.collectives.nccl import named, tune
        >>> tune("2.30.7", named("dgx-h100")).times([2**20, 2**21]).shape
        (12, 2)
        """
        size = self._sized(sizes)
        shape = np.broadcast_shapes(size.shape, self.enabled.shape[1:])
        out = np.full((len(self.names), *shape), np.inf)
        for row in np.flatnonzero(self.enabled.reshape(len(self.names), -1).any(axis=1)):
            out[row] = np.where(self.enabled[row], self._seconds(int(row), size), np.inf)
        return out

    @written
    def choose(self, sizes: ArrayLike) -> Choice:
        """The combination with the least time for each size, and that time; the first of equals.

        Where every combination is switched off NCCL fails, and so does this.

        >>> from netlib.collectives.nccl import named, tune
        >>> tune("2.27.7", named("dgx-h200")).choose([2**20, 2**21]).name.tolist()
        ['Ring/LL', 'NVLS/Simple']
        """
        size = self._sized(sizes)
        if not self.enabled.any(axis=0).all():
            told = ", ".join(f"{name}={value}" for name, value in self.variables.items())
            raise ValueError(
                f"variables = {told!r} leave no algorithm for {self.op}; NCCL fails here: allow one, such as ring"
            )
        shape = np.broadcast_shapes(size.shape, self.enabled.shape[1:])
        best, row = np.full(shape, np.inf), np.zeros(shape, dtype=np.int64)
        for each in np.flatnonzero(self.enabled.reshape(len(self.names), -1).any(axis=1)):
            seconds = self._seconds(int(each), size)
            if not self.enabled[each].all():
                seconds = np.where(self.enabled[each], seconds, np.inf)
            better = seconds < best
            np.copyto(best, seconds, where=better)
            row[better] = each
        return Choice(np.array(self.names)[row], row, best)

    def jumps(self) -> Floats:
        """(jumps, *nodes) bytes at which the time of some row jumps; between two of them each is a straight line.

        They are the powers of two from 64 B on, where a tree's correction changes, and the plateau of a Simple ring.

        >>> from netlib.collectives.nccl import named, tune
        >>> tune("2.30.7", named("dgx-h100", [1, 4])).jumps()[[0, 23, 24]].tolist()
        [[64.0, 64.0], [536870912.0, 536870912.0], [12288.0, 32768.0]]
        """
        shape = self.enabled.shape[1:]
        twos = 64 * 2.0 ** np.arange(24).reshape(-1, *[1] * len(shape))  # 23 factors, and where the last one ends
        return np.concatenate([np.broadcast_to(twos, (24, *shape)), np.broadcast_to(self._plateau_size(), (1, *shape))])

    def _sized(self, sizes: ArrayLike) -> Floats:
        size = floats("sizes", sizes)
        if sentence := clash({"sizes": size.shape, "nodes": self.enabled.shape[1:]}):
            raise ValueError(sentence + "; for a grid give sizes[:, None]")
        return size

    def _seconds(self, row: int, size: Floats) -> Floats:
        """T of one row. The correction depends on sizes only, so it is looked up before sizes meet nodes."""
        algorithm, protocol = self.names[row].split("/")
        lat = self.latency[row] * self._repeats(algorithm)
        none = self.bandwidth[row] == 0  # no kernel: no time
        per_byte = 1 / np.where(none, 1.0, self.bandwidth[row])
        seconds: Floats = (size / self._corrected(algorithm, protocol, size)) * per_byte + lat
        if none.any():
            seconds = np.where(none, np.inf, seconds)
        if (algorithm, protocol, self.op) == ("Ring", "Simple", "all_reduce"):
            seconds = self._plateau(size, seconds, lat)
        return seconds

    def _repeats(self, algorithm: str) -> int:
        """How many times aggregated operations pay the latency: a ring each time, others once for each batch."""
        batch = scalar(self.edition, "work batch")
        if batch is None:
            return 1
        return self.operations if algorithm == "Ring" else -(-self.operations // int(batch))

    def _corrected(self, algorithm: str, protocol: str, size: Floats) -> Floats:
        """k: below 64 B old versions take the first bucket, and beyond the last bucket it is 1."""
        x86 = self.cluster.cpu in ("Intel", "AMD")
        factors = correction(self.edition, algorithm, protocol, self.cluster.gpu)
        if self.op != "all_reduce" or not len(factors) or (algorithm == "NVLSTree" and not x86):
            return np.asarray(1.0)
        bucket = np.frexp(np.maximum(np.floor(size / 64), 1))[1] - 1
        first = self.edition.key < (2, 23)
        inside = (bucket < len(factors)) & ((size >= 64) | first)
        return np.where(inside, factors[np.minimum(bucket, len(factors) - 1)], 1.0)

    def _plateau(self, size: Floats, seconds: Floats, lat: Floats) -> Floats:
        """Between nodes a Simple ring pays 1.4 times its latency (1.9 on Volta) once each rank has enough bytes."""
        volta = generation(self.edition, self.cluster) == "Volta"
        factor = scalar(self.edition, "plateau factor Volta" if volta else "plateau factor")
        if factor is None:
            return seconds
        extra = np.where(np.asarray(self.cluster.nodes) > 1, (factor - 1) * lat, 0.0)
        return np.asarray(seconds + extra * (size >= self._plateau_size()))

    def _plateau_size(self) -> Floats:
        """Bytes from which it does so. NCCL divides whole numbers: floor(size / (channels x ranks)) >= 64 is the same.

        A version without a plateau gives 0, where nothing jumps.
        """
        each = scalar(self.edition, "plateau bytes per rank and channel")
        if each is None:
            return self.cluster.ranks * (scalar(self.edition, "plateau bytes per rank") or 0.0)
        count = self.cluster.ring.count if self.cluster.channels is None else self.cluster.channels
        return np.asarray(self.cluster.ranks * (each * np.asarray(count)))


@declared
def tune(
    version: str,
    cluster: Cluster,
    op: str = "all_reduce",
    *,
    operations: int = 1,
    variables: Mapping[str, str] | None = None,
) -> Tuning:
    """The latency and bandwidth of every algorithm and protocol in a version of NCCL, and which are switched on.

    `op` is all_reduce, all_gather, reduce_scatter, broadcast or reduce; sizes are then whole buffers (n shards).
    Send, receive and all-to-all have no tuner: NCCL only chooses LL or Simple for them by size. `operations` counts
    operations aggregated in one group. `variables` are NCCL's environment variables; those that the cost model reads
    take effect (`MODELLED` lists them).

    >>> from netlib.collectives.nccl import named
    >>> pod = tune("2.30.7", named("dgx-h100", 128))
    >>> pod.choose([2**28, 2**30]).name.tolist()
    ['Tree/LL128', 'NVLSTree/Simple']
    """
    if op not in OPS:
        told = "send, receive and all-to-all have no tuner" if str(op) in ("send", "recv", "all_to_all") else ""
        raise ValueError(f"op = {op[:40]!r} is not one of {', '.join(OPS)}{'; ' if told else ''}{told}")
    if operations < 1:
        raise ValueError(f"operations = {operations} must be at least 1; give the operations of one group")
    chosen, given = edition(version), dict(variables or {})
    for name, value in given.items():
        if not (isinstance(name, str) and isinstance(value, str)):
            told = f"variables[{quoted(name)}] = {quoted(value)}"
            raise ValueError(f"{told} must be text, as in a shell, name and value; write it in quotes")
    unseen = overlooked(given)
    given = {name: value for name, value in given.items() if value.strip()}  # empty is not set
    cluster = limited(cluster, given)
    notes = _notes(chosen, cluster) + unseen
    if chosen.key < (2, 5):
        names, lat, bandwidth, on, why = closed_form(chosen, cluster, op)
        return Tuning(chosen, cluster, op, operations, given, names, lat, bandwidth, on, why, notes)
    on, why = enabled(chosen, cluster, op, given)
    bandwidth = bandwidths(chosen, cluster, op)
    lat = latencies(chosen, cluster, op, overhead(given))
    names = tuple("/".join(pair) for pair in ROWS)
    return Tuning(chosen, cluster, op, operations, given, names, lat, bandwidth, on & (bandwidth > 0), why, notes)


@declared
def with_variables(tuning: Tuning, settings: Mapping[str, str]) -> Tuning:
    """The same tuning with variables set; those that are not in `MODELLED` raise ValueError: they change nothing here.

    >>> from netlib.collectives.nccl import named
    >>> free = tune("2.30.7", named("dgx-h100", 128))
    >>> ring = with_variables(free, {"NCCL_ALGO": "Ring"})
    >>> [round(float(each.choose(2**28).seconds) * 1e3, 2) for each in (free, ring)]
    [1.77, 5.95]
    """
    for name in settings:
        if not variable(name).modelled:
            told = ", ".join(MODELLED)
            raise ValueError(f"settings[{name!r}] changes the run, not the plan: the cost model sees only {told}")
    merged = {**tuning.variables, **settings}
    return tune(tuning.edition.asked, tuning.cluster, tuning.op, operations=tuning.operations, variables=merged)


def _notes(chosen: Edition, cluster: Cluster) -> tuple[str, ...]:
    """What these numbers are and are not."""
    found = [chosen.note] if chosen.note else []
    found.append(f"constants: {chosen.source}")
    if chosen.key == (2, 23, 4):
        found.append("the file of 2.23.4 was not read: it is taken as 2.24 with the older share for PAT")
    if chosen.key == (2, 29, 7):
        found.append(
            "the file of 2.29.7 was not read: latencies and LL caps are those read in the file of 2.28.9, and other "
            "caps rest on somebody else's reading, not checked here"
        )
    found.append(
        "a plan, not a measurement: launch (15 to 27 us in benchmarks), contention and late ranks are not in it"
    )
    if cluster.about:
        found.append(f"channels: {cluster.about}")
    if np.max(cluster.per_node, initial=0) > 8:
        found.append("beyond 8 GPUs in an NVLink domain the switch's share is extrapolated; racks measure less")
    if cluster.gpu == "Blackwell" and chosen.key < (2, 25):
        found.append(f"NCCL {chosen.first} is older than Blackwell and treats it as its newest GPU")
    return tuple(found)
