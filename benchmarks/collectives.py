"""Closed forms and NCCL's tuner against mlsysim, a simulated ring against SimGrid; what both compute must agree.

mlsysim lives in an environment of its own (build/peers, made on first use); without a network its columns stay empty.
SimGrid's stay empty without it: Debian has it as `libsimgrid-dev` (3.32), and its program, simgrid_ring.cpp, is
compiled here. Simulations are timed by the processor's seconds, on one core: ours from nothing (schedule, fabric,
routes, bytes of every link, time), SimGrid's without setting up.
"""

import json
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path
from shutil import which

import numpy as np

from netlib.collectives import (
    double_tree_allreduce_time,
    multirail_ring_allreduce_time,
    ring_allreduce,
    ring_allreduce_time,
    simulate,
    tree_allreduce_time,
)
from netlib.collectives.nccl import named, tune
from netlib.fidelity import judge, published_rows
from netlib.links import Link
from netlib.topology import one_switch

HERE = Path(__file__).resolve().parent
HOME = HERE.parent / "build" / "peers"
GIB = 2**30
SIZES = np.geomspace(1e3, 1e11, 1000)
RANKS = np.arange(2, 1002)[:, None]
SOME = [(float(SIZES[i]), int(RANKS[-i - 1, 0])) for i in range(0, 1000, 37)]  # points of the grid that are compared
PEER = """
import json, sys, timeit
from mlsysim.physics import communication as c
forms = c.calc_ring_allreduce_time, c.calc_tree_allreduce_time, c.calc_double_binary_tree_allreduce_time
sizes, some = json.loads(sys.argv[1])
def curve(): return [float(forms[0](size, 1024, 100e9, 5e-6).magnitude) for size in sizes]
def single(form): return min(timeit.repeat(lambda: form(140e9, 1024, 100e9, 5e-6), number=200, repeat=5)) / 200
grids = [[float(form(size, n, 100e9, 5e-6).magnitude) for size, n in some] for form in forms]
print(json.dumps([list(map(single, forms)), min(timeit.repeat(curve, number=1, repeat=3)), curve(), grids]))
"""


def peer() -> list | None:
    """The peer's seconds for one call of each form and for the curve, its curve, some points of each form; None where
    it cannot be had."""
    python = HOME / "bin" / "python"
    if not python.exists():
        make = [sys.executable, "-m", "uv"]
        for words in (["venv", "-q", "--python", sys.executable, HOME],
                      ["pip", "install", "-q", "--python", python, "-r", HERE / "peers.txt"]):  # fmt: skip
            if subprocess.run([*make, *map(str, words)], capture_output=True).returncode:
                return None
    given = json.dumps([SIZES.tolist(), SOME])
    done = subprocess.run([python, "-c", PEER, given], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def best(function, number: int) -> float:
    """The least seconds of one call: everything above it is the machine's other work."""
    return min(timeit.repeat(function, number=number, repeat=5)) / number


def row(name: str, size: int, ours: float, beside: str | None = None, their: float | None = None) -> dict[str, object]:
    """A row as run.py wants it."""
    fields = {"name": name, "size": size, "ours_s": ours, "peer": beside if their else None, "peer_s": their}
    return {**fields, "ratio": their and ours / their}


def formula_rows() -> list[dict[str, object]]:
    """One call and a curve beside the peer; grids beside as many of its calls; the scoreboard alone."""
    link, theirs = Link(5e-6, 100e9), peer()
    forms = {"ring": ring_allreduce_time, "tree": tree_allreduce_time, "double tree": double_tree_allreduce_time}
    calls: list[float | None] = [None] * len(forms)
    if theirs:
        calls = theirs[0]
        np.testing.assert_allclose(ring_allreduce_time(SIZES, 1024, link), theirs[2], rtol=1e-9)
        for name, their in zip(("ring", "tree"), theirs[3], strict=False):  # of the double tree it has another model
            size, n = (np.array(each) for each in zip(*SOME, strict=True))
            np.testing.assert_allclose(forms[name](size, n, link), their, rtol=1e-9)
    nodes, g = np.arange(1, 1025)[:, None, None], np.array([1, 4, 8, 72])[:, None]
    points = SIZES.size * RANKS.size
    cases = (
        ("ring all-reduce, one call", 1, lambda: ring_allreduce_time(140e9, 1024, link), 200, calls[0]),
        (
            "ring all-reduce, a curve",
            SIZES.size,
            lambda: ring_allreduce_time(SIZES, 1024, link),
            50,
            theirs and theirs[1],
        ),
        *(
            (f"{name}, sizes x ranks", points, lambda f=form: f(SIZES, RANKS, link), 1, one and one * points)
            for (name, form), one in zip(forms.items(), calls, strict=True)
        ),
        tuner_case(calls[0]),
        (
            "multi-rail ring, a grid",
            SIZES.size * 1024 * 4,
            lambda: multirail_ring_allreduce_time(SIZES, g, nodes, link, link),
            1,
            None,
        ),
        ("fidelity, every row", len(published_rows()), lambda: judge(published_rows()), 1, None),
    )
    return [row(name, size, best(call, number), "mlsysim 0.3.0", their) for name, size, call, number, their in cases]


def tuner_case(single: float | None) -> tuple:
    """NCCL's choice and time for every size on 1 to 1,000 nodes, beside as many calls of the peer's ring."""
    nodes = np.arange(1, 1001)[:, None]
    points = SIZES.size * nodes.size

    def chosen() -> object:
        return tune("2.30.7", named("dgx-h100", nodes)).choose(SIZES)

    return ("NCCL's tuner, sizes x nodes", points, chosen, 1, single and single * points)


def simgrid(n: int, link: Link, late: float = 0.0) -> tuple[float, np.ndarray] | None:
    """SimGrid's seconds for a ring all-reduce of 1 GiB, and when each rank is done; None where it is not installed.

    Rank n // 3 comes `late` seconds after the others.
    """
    if which("g++") is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "ring"
        make = ["g++", "-O2", "-std=c++17", HERE / "simgrid_ring.cpp", "-o", program, "-lsimgrid"]
        if subprocess.run([*map(str, make)], capture_output=True).returncode:
            return None
        words = [program, n, GIB, link.bandwidth, 2 * link.alpha, n // 3, late, "--log=root.thresh:warning"]
        done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=True)
    first, *ends = done.stdout.split("\n")
    return float(first.split()[1]), np.array([float(end) for end in ends if end])


def simulation_rows() -> list[dict[str, object]]:
    """A ring all-reduce of 1 GiB: step by step and each rank at its own pace, even and disturbed."""
    found, link = [], Link(2.5e-6, 50e9)
    for n in (256, 1024, 4096):
        late = np.zeros(n)
        late[n // 3] = 1e-3
        even = simgrid(n, link) if n <= 1024 else None
        for name, given, theirs in (
            ("steps", {}, even),
            ("own pace", {"pace": "rank"}, even),
            ("one rank late", {"pace": "rank", "late": late}, simgrid(n, link, 1e-3) if n < 1024 else None),
        ):
            seconds = []
            for _ in range(5):
                begun = time.process_time()
                run = simulate(ring_allreduce(n), one_switch(n, link), GIB, **given)
                seconds.append(time.process_time() - begun)
            if theirs:
                np.testing.assert_allclose(run.finish, theirs[1], rtol=1e-6)
            found.append(row(f"ring of 1 GiB, {name}", n, min(seconds), "SimGrid 3.32", theirs and theirs[0]))
    return found


def rows() -> list[dict[str, object]]:
    """Simulations beside SimGrid, formulas beside mlsysim."""
    return [*simulation_rows(), *formula_rows()]
