"""The closed forms against mlsysim's, which must agree: one call, and a whole curve.

The peer lives in an environment of its own (build/peers, made on first use); without a network its columns stay empty.
"""

import json
import subprocess
import sys
import timeit
from pathlib import Path

import numpy as np

from netlib.collectives import multirail_ring_allreduce_time, ring_allreduce_time
from netlib.fidelity import judge, published_rows
from netlib.links import Link

HERE = Path(__file__).resolve().parent
HOME = HERE.parent / "build" / "peers"
SIZES = np.geomspace(1e3, 1e11, 1000)
PEER = """
import json, sys, timeit
from mlsysim.physics.communication import calc_ring_allreduce_time as ring
sizes = json.loads(sys.argv[1])
def curve(): return [float(ring(size, 1024, 100e9, 5e-6).magnitude) for size in sizes]
def one(): return ring(140e9, 1024, 100e9, 5e-6)
single = min(timeit.repeat(one, number=200, repeat=5)) / 200
print(json.dumps([single, min(timeit.repeat(curve, number=1, repeat=3)), curve()]))
"""


def peer() -> list | None:
    """The peer's seconds for one call and for the curve, and its curve; None where it cannot be had."""
    python = HOME / "bin" / "python"
    if not python.exists():
        make = [sys.executable, "-m", "uv"]
        for words in (["venv", "-q", "--python", sys.executable, HOME],
                      ["pip", "install", "-q", "--python", python, "-r", HERE / "peers.txt"]):  # fmt: skip
            if subprocess.run([*make, *map(str, words)], capture_output=True).returncode:
                return None
    done = subprocess.run([python, "-c", PEER, json.dumps(SIZES.tolist())], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode == 0 else None


def best(function, number: int) -> float:
    """The least seconds of one call: everything above it is the machine's other work."""
    return min(timeit.repeat(function, number=number, repeat=5)) / number


def rows() -> list[dict[str, object]]:
    """One call and a curve of a thousand sizes beside the peer; a grid and the scoreboard alone."""
    link, theirs = Link(5e-6, 100e9), peer()
    if theirs:
        np.testing.assert_allclose(ring_allreduce_time(SIZES, 1024, link), theirs[2], rtol=1e-9)
    nodes, g = np.arange(1, 1025)[:, None, None], np.array([1, 4, 8, 72])[:, None]
    cases = (
        ("ring all-reduce, one call", 1, lambda: ring_allreduce_time(140e9, 1024, link), 200, 0),
        ("ring all-reduce, a curve", SIZES.size, lambda: ring_allreduce_time(SIZES, 1024, link), 50, 1),
        (
            "multi-rail ring, a grid",
            SIZES.size * 1024 * 4,
            lambda: multirail_ring_allreduce_time(SIZES, g, nodes, link, link),
            1,
            None,
        ),
        ("fidelity, every row", len(published_rows()), lambda: judge(published_rows()), 1, None),
    )
    found = []
    for name, size, call, number, place in cases:
        ours = best(call, number)
        their = theirs[place] if theirs and place is not None else None
        beside = "mlsysim 0.3.0" if their else None
        found.append(
            {
                "name": name,
                "size": size,
                "ours_s": ours,
                "peer": beside,
                "peer_s": their,
                "ratio": their and ours / their,
            }
        )
    return found
