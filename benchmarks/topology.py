"""Fabrics, routes and rates against networkx, scipy, plain Python and SimGrid; and how time grows with hosts.

All peers must give the same numbers, or this stops. Seconds are the processor's, on one core: what else the machine
does is not counted. SimGrid's columns stay empty without it: Debian has it as `libsimgrid-dev` (3.32), and its program,
simgrid_flows.cpp, is compiled here. `python -m benchmarks.topology --growth` measures seconds and memory of each step
at seven sizes: the table that the book draws.
"""

import argparse
import json
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from shutil import which

import numpy as np

from netlib.links import Link
from netlib.topology import (
    Fabric,
    all_to_all_ledger,
    completion_times,
    diameter,
    distances,
    ecmp,
    fat_tree,
    is_max_min,
    max_min_rates,
    routes,
)
from tests.topology.filling import filled, heaped

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
LINK = Link(1e-6, 50e9)
TABLE = ROOT / "netlib" / "topology" / "growth.csv"
SIZES = (4, 8, 16, 24, 32, 48, 64)
STEPS = ("build", "route", "paths", "rates")
NEAR = 1e-9


def row(name: str, size: int, ours: float, peer: str | None = None, peer_s: float | None = None) -> dict[str, object]:
    """A row as run.py wants it."""
    fields = {"name": name, "size": size, "ours_s": ours, "peer": peer, "peer_s": peer_s}
    return {**fields, "ratio": None if peer_s is None else ours / peer_s}


def timed(call: Callable[[], object], repeat: int = 1) -> tuple[float, object]:
    """The least processor seconds of some calls, and what the last one gave."""
    best = np.inf
    for _ in range(repeat):
        begun = time.process_time()
        result = call()
        best = min(best, time.process_time() - begun)
    return float(best), result


def permutation(fabric: Fabric) -> tuple[np.ndarray, np.ndarray]:
    """Each host sends to another one and gets from another one."""
    hosts = fabric.hosts.size
    order = np.random.default_rng(0).permutation(hosts)
    target = np.empty(hosts, int)
    target[order] = np.roll(order, 1)
    return np.arange(hosts), target


def steps(k: int) -> dict[str, object]:
    """Seconds of each step from nothing to the rates of a permutation on a fat-tree, and this process's memory."""
    build_s, fabric = timed(lambda: fat_tree(k, LINK))
    route_s, found = timed(lambda: routes(fabric))
    source, target = permutation(fabric)
    paths_s, paths = timed(lambda: ecmp(found, source, target))
    rates_s, rates = timed(lambda: max_min_rates(paths, fabric.capacity))
    assert is_max_min(paths, rates, fabric.capacity)
    seconds = dict(zip(STEPS, (build_s, route_s, paths_s, rates_s), strict=True))
    return {"k": k, "hosts": fabric.hosts.size, "links": fabric.links, **seconds, "gib": memory()}


def all_to_all(k: int) -> dict[str, object]:
    """Seconds and memory of the ledger of an all-to-all whose flows are hashed one by one."""
    fabric = fat_tree(k, LINK)
    begun = time.process_time()
    found = routes(fabric)
    held = all_to_all_ledger(found, 1.0, ecmp)
    seconds = time.process_time() - begun
    hosts = fabric.hosts.size
    first = np.isin(fabric.source, fabric.hosts)
    assert np.all(held.bytes[first] == hosts - 1), "each host sends to each other host"
    assert held.bytes[~first & (fabric.tier[fabric.target] == 0)].sum() == hosts * (hosts - 1)
    return {"hosts": hosts, "seconds": seconds, "gib": memory()}


def memory() -> float:
    """The most that this process has held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def alone(what: str, k: int) -> dict[str, object]:
    """`steps` or `all_to_all` in a process of its own, whose memory is then its own too."""
    words = [sys.executable, "-m", "benchmarks.topology", "--one", what, str(k)]
    return json.loads(subprocess.run(words, check=True, capture_output=True, text=True, cwd=ROOT).stdout)


def distance_rows(k: int = 16) -> list[dict[str, object]]:
    """All distances between hosts, and the diameter."""
    import networkx as nx
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    fabric = fat_tree(k, LINK)
    hosts, size = fabric.hosts, fabric.hosts.size
    every = np.arange(size)
    ours, (matrix, most) = timed(lambda: (distances(fabric).between(every[:, None], every), diameter(fabric)), 5)

    graph = nx.Graph(zip(fabric.source.tolist(), fabric.target.tolist(), strict=True))

    def with_networkx() -> list[list[int]]:
        return [[near[b] for b in hosts] for near in (nx.single_source_shortest_path_length(graph, a) for a in hosts)]

    ends = (fabric.source, fabric.target)
    sparse = csr_array((np.ones(fabric.links), ends), shape=(fabric.vertices, fabric.vertices))
    found = []
    for peer, call, repeat in (
        ("networkx 3.6", with_networkx, 1),
        ("scipy 1.17 csgraph", lambda: shortest_path(sparse, unweighted=True, indices=hosts)[:, hosts], 3),
    ):
        seconds, theirs = timed(call, repeat)
        assert np.array_equal(matrix, theirs), peer
        assert most == np.max(theirs), peer
        found.append(row("host distances, diameter", size, ours, peer, seconds))
    return found


def rate_rows() -> list[dict[str, object]]:
    """Max-min rates of a permutation against plain Python: looking through all links, and with a heap."""
    found = []
    for k, peer, filling in ((16, "Python, scan", filled), (32, "Python, scan", filled), (32, "Python, heap", heaped)):
        fabric = fat_tree(k, LINK)
        paths = ecmp(routes(fabric), *permutation(fabric))
        ours, rates = timed(lambda paths=paths, fabric=fabric: max_min_rates(paths, fabric.capacity), 5)
        rows, capacity = paths.tolist(), fabric.capacity.tolist()
        seconds, theirs = timed(lambda filling=filling, rows=rows, capacity=capacity: filling(rows, capacity))
        np.testing.assert_allclose(rates, theirs, rtol=NEAR)
        found.append(row("max-min rates, permutation", fabric.hosts.size, ours, peer, seconds))
    return found


def simgrid(fabric: Fabric, paths: np.ndarray, size: np.ndarray) -> tuple[float, np.ndarray] | None:
    """SimGrid's seconds for the simulation alone, and when each flow ends; None where it is not installed."""
    if which("g++") is None:
        return None
    source, target = permutation(fabric)
    lines = [f"{len(paths)} {fabric.links} {fabric.hosts.size}", " ".join(map(repr, fabric.capacity.tolist()))]
    for a, b, flow, path in zip(source, target, size.tolist(), paths, strict=True):
        held = path[path >= 0]
        lines.append(f"{a} {b} {flow!r} {held.size} {' '.join(map(str, held))}")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "flows"
        make = ["g++", "-O2", "-std=c++17", HERE / "simgrid_flows.cpp", "-o", program, "-lsimgrid"]
        if subprocess.run([*map(str, make)], capture_output=True).returncode:
            return None
        words = [str(program), "--log=root.thresh:warning"]
        done = subprocess.run(words, input="\n".join(lines), capture_output=True, text=True, check=True)
    first, *ends = done.stdout.split("\n")
    return float(first.split()[1]), np.array([float(end) for end in ends if end])


def completion_rows() -> list[dict[str, object]]:
    """Completion times of a permutation, equal sizes and mixed ones, against SimGrid's fluid model."""
    found = []
    rng = np.random.default_rng(1)
    for k, name in ((16, "equal"), (32, "equal"), (16, "mixed")):
        fabric = fat_tree(k, LINK)
        paths = ecmp(routes(fabric), *permutation(fabric))
        size = np.full(len(paths), 1e9) if name == "equal" else rng.uniform(1e8, 2e9, len(paths))
        ours, ends = timed(lambda p=paths, s=size, f=fabric: completion_times(p, s, f.capacity))
        theirs = simgrid(fabric, paths, size)
        if theirs:
            np.testing.assert_allclose(ends, theirs[1], rtol=1e-7)  # it ends flows that have a billionth left
        peer = "SimGrid 3.32" if theirs else None
        label = f"completion times, {name} sizes" + ("" if theirs else " (no SimGrid)")
        found.append(row(label, fabric.hosts.size, ours, peer, theirs[0] if theirs else None))
    return found


def rows() -> list[dict[str, object]]:
    """Peers where there are any; then the largest cases, each in a process of its own, with what it held at most."""
    found = [*distance_rows(), *rate_rows(), *completion_rows()]
    for k in (32, 64):
        one = alone("steps", k)
        total = sum(one[step] for step in STEPS)
        found.append(row(f"permutation, all steps, {one['gib']:.2f} GiB", one["hosts"], total))
    for k in (16, 32):
        one = alone("all-to-all", k)
        found.append(row(f"all-to-all ledger, {one['gib']:.2f} GiB", one["hosts"], one["seconds"]))
    return found


def processor() -> str:
    """The processor's name as Linux tells it."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return f"{names[0].partition(': ')[2] if names else platform.machine()}, {len(names)} cores"


def growth() -> None:
    """Measure all sizes, the best of three, and write the table."""
    lines = [
        "# Seconds and memory from nothing to max-min rates of a random permutation on a fat-tree of k-port switches.",
        f"# machine: {processor()}; Python {platform.python_version()}, numpy {np.__version__}",
        f"# date: {datetime.now(UTC):%Y-%m-%d}; command: python -m benchmarks.topology --growth",
        ",".join(("k", "hosts", "links", *STEPS, "gib")),
    ]
    for k in SIZES:
        runs = [alone("steps", k) for _ in range(3)]
        counts = [str(runs[0][name]) for name in ("k", "hosts", "links")]
        least = [f"{min(run[name] for run in runs):.3g}" for name in (*STEPS, "gib")]
        lines.append(",".join([*counts, *least]))
        print(lines[-1], flush=True)
    TABLE.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--growth", action="store_true", help=f"write {TABLE.relative_to(ROOT)}")
    parser.add_argument("--one", nargs=2, metavar=("WHAT", "K"), help="one case, as JSON")
    given = parser.parse_args()
    if given.one:
        print(json.dumps({"steps": steps, "all-to-all": all_to_all}[given.one[0]](int(given.one[1]))))
    elif given.growth:
        growth()
    else:
        for each in rows():
            print(each)
